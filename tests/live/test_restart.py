"""Servers that go away: a state server that crashes and comes back, an exporter that loses sight of it."""

import asyncio
import urllib.request
from pathlib import Path

from streams.commands.replay import Record, send
from streams.commands.simulator import COVERAGE, lines, simulate
from streams.services import HOST, free_port, redis
from streams.settings import Settings
from tests.live.fleet import Fleet, settings_for, start_lara
from tests.live.test_main_job import compare

START = 1_772_445_600_000
END = START + 26 * 3_600_000


def simulated(directory: Path, seed: int, prompts: int) -> tuple[list[Record], Path]:
    """A stream, and the file that a backtest reads."""
    made, _ = simulate(seed=seed, start_ms=START, end_ms=END, prompts=prompts, rates=COVERAGE)
    file = directory / "simulated.jsonl"
    file.write_bytes(b"\n".join(lines(made)))
    return [Record(one.topic_type + "s", one.value, one.ts, one.key) for one in made], file


async def test_a_state_server_that_crashes_and_comes_back_costs_nothing(bootstrap, prefix, tmp_path):
    """Redis killed in the flow and started again on its data: the worker waits, seeks, and stays exact."""
    records, file = simulated(tmp_path, seed=6, prompts=400)
    with redis(tmp_path / "redis") as server:
        async with Fleet(settings_for(bootstrap, f"redis://{HOST}:{server.port}", prefix), tmp_path) as fleet:
            worker = fleet.start()
            await fleet.until_shared()
            sending = asyncio.create_task(send(bootstrap, prefix, records, len(records) / 8))
            while await fleet.settled() < len(records) / 3:
                await asyncio.sleep(0.05)
            server.kill()
            await asyncio.sleep(2)
            server.start()
            await fleet.until_drained(await sending)
            await compare(fleet, file, str(END))
            assert worker.process.poll() is None
            assert "restart" in scrape(worker.port)


async def test_the_exporter_without_its_state_says_so_and_still_answers(tmp_path, prefix):
    """Redis down: `lara_exporter_up 0`, no quality figure, HTTP 200; Redis back: the figures again."""
    with redis(tmp_path / "redis") as server:
        port = free_port()
        settings = Settings(redis_url=f"redis://{HOST}:{server.port}", prefix=prefix, exporter_port=port)
        with start_lara(settings, "exporter", log=tmp_path / "exporter.log"):
            assert "lara_exporter_up 1.0" in await eventually(port)
            server.kill()
            page = scrape(port)
            assert "lara_exporter_up 0.0" in page
            assert "lara_retrievals{" not in page
            server.start()
            assert "lara_exporter_up 1.0" in scrape(port)


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://{HOST}:{port}/metrics", timeout=10) as answer:
        assert answer.status == 200
        return answer.read().decode()


async def eventually(port: int) -> str:
    async with asyncio.timeout(20):
        while True:
            try:
                return scrape(port)
            except OSError:
                await asyncio.sleep(0.1)
