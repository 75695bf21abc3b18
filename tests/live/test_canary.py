"""The canary against a real Kafka, Redis and worker: it comes back, is in no figure, and misses a worker."""

import asyncio
import time

from redis import Redis

from streams.services import free_port
from tests.live.fleet import Fleet, ended, figures_of, lara, settings_for, start_lara
from tests.live.test_always_on import scraped, until_ready
from tests.live.test_main_job import simulated

ROUND_TRIP = "lara_canary_round_trip_seconds"


def counted(port: int) -> dict[str, int]:
    """Sent, returned and lost so far."""
    found = scraped(port)
    return {name: int(found[f"lara_canary_{name}_total", ()]) for name in ("sent", "returned", "lost")}


async def until_counted(port: int, name: str, more_than: int, seconds: float = 20) -> dict[str, int]:
    async with asyncio.timeout(seconds):
        while (counts := counted(port))[name] <= more_than:
            await asyncio.sleep(0.1)
    return counts


async def test_a_canary_comes_back_and_is_in_no_figure(bootstrap, redis_url, prefix, tmp_path):
    """The round trip is measured, and the report is the same before and after. What it leaves is little."""
    own = settings_for(bootstrap, redis_url, prefix)
    async with Fleet(own, tmp_path) as fleet:
        fleet.start()
        await fleet.settle(simulated(seed=7, prompts=40))
        as_of = str(int(time.time() * 1000) + 120_000)
        before = figures_of(lara(own, "report", "--json", "--as-of", as_of))
        with Redis.from_url(redis_url) as client:
            keys = set(client.scan_iter(f"{prefix}:*"))
            code, out, errors = await ended(own, "canary", "--once")
            left = set(client.scan_iter(f"{prefix}:*")) - keys
            size = sum(client.memory_usage(key) for key in left)
        assert (code, errors) == (0, "")
        assert out.startswith("came back after ")
        assert 0 < float(out.split()[3]) < 5
        assert figures_of(lara(own, "report", "--json", "--as-of", as_of)) == before
        print(f"{out.strip()}; it leaves {len(left)} keys of {size} bytes")
        assert len(left) <= 6 and size < 3_000


async def test_a_canary_misses_the_worker_and_finds_it_again(bootstrap, redis_url, prefix, tmp_path):
    """Without a worker it is lost and says so; the next one comes back. Every one is counted once."""
    changes = {"canary_port": free_port(), "canary_interval_seconds": 1.0, "canary_timeout_seconds": 3.0}
    own = settings_for(bootstrap, redis_url, prefix).model_copy(update=changes)
    port = own.canary_port
    async with Fleet(own, tmp_path) as fleet:
        worker = fleet.start()
        with start_lara(own, "canary", log=tmp_path / "canary.log") as canary:
            await until_ready(port, why="came back")
            assert 0 < scraped(port)[ROUND_TRIP, ()] < 3
            assert worker.terminate() == 0
            await until_ready(port, ready=False, why="nothing came on")
            await until_counted(port, "lost", 0)
            fleet.start()
            back = await until_counted(port, "returned", counted(port)["returned"])
            await until_ready(port, why="came back")
            assert back["sent"] - back["returned"] - back["lost"] in (0, 1)
            canary.terminate()
            assert await asyncio.to_thread(canary.wait, 10) == 0


async def test_a_canary_without_a_broker_is_lost(redis_url, prefix):
    """And says what is out of reach."""
    code, out, errors = await ended(
        settings_for(f"127.0.0.1:{free_port()}", redis_url, prefix), "canary", "--once"
    )
    assert (code, out) == (1, "")
    assert "\nlost: Kafka does not do its part: KafkaConnectionError" in errors
