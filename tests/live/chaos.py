"""Chaos: three workers under steady load, and one fault after another. `python -m tests.live.chaos --seconds 600`

Real Kafka and real Redis of their own. What is done is chosen by a seed and printed as it happens. At the end
everything is drained, and `report` must equal `backtest`, key by key, and so must the output topics.
"""

import argparse
import asyncio
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from redis import Redis, RedisError

from streams.commands.replay import Ends, Record, send
from streams.commands.simulator import COVERAGE, lines, simulate
from streams.services import HOST, Service, kafka, redis
from streams.topics import input_topics
from tests.live.conftest import JARS
from tests.live.fleet import Fleet, Worker, settings_for
from tests.live.proxy import Proxy
from tests.live.test_main_job import compare

START: Final = 1_772_445_600_000
END: Final = START + 26 * 3_600_000
WORKERS: Final = 3
SEND_PATIENCE_SECONDS: Final = 30.0  # for one second's worth of records; then it is sent again


class World:
    """The servers, the workers, and the log of what was done to them."""

    def __init__(self, broker: Service, state: Service, proxy: Proxy, fleet: Fleet, outage: float) -> None:
        self.broker, self.state, self.proxy, self.fleet = broker, state, proxy, fleet
        self.outage = outage
        self.chance = random.Random(0)
        self.stack = ExitStack()
        self.done: list[str] = []
        self.restarted = 0
        self._began = time.monotonic()

    def note(self, what: str) -> None:
        """Print what was done, with the second."""
        line = f"{time.monotonic() - self._began:7.1f} s  {what}"
        self.done.append(line)
        print(line, flush=True)

    def living(self) -> list[Worker]:
        """The workers that run."""
        return [worker for worker in self.fleet.workers if worker.process.poll() is None]

    async def keep_staffed(self) -> None:
        """What a supervisor does: a worker that ended is started again. Endless."""
        while True:
            await asyncio.sleep(0.5)
            for worker in [one for one in self.fleet.workers if one.process.poll() is not None]:
                self.fleet.workers.remove(worker)
                worker.close()
                self.restarted += 1
                self.note(f"a worker ended with code {worker.process.returncode}: another begins")
                self.fleet.start()

    def redis(self) -> Redis:
        """A client of the state's server itself, past the proxy."""
        return Redis(host=HOST, port=self.state.port)


async def kill_a_worker(world: World) -> None:
    """SIGKILL: whatever it was doing is half done."""
    world.chance.choice(world.living()).process.send_signal(signal.SIGKILL)


async def freeze_a_worker(world: World) -> None:
    """SIGSTOP beyond its session: it wakes up as a zombie, with a batch in hand."""
    worker = world.chance.choice(world.living())
    worker.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(min(12.0, 2 * world.outage))
    worker.process.send_signal(signal.SIGCONT)


async def restart_the_broker(world: World) -> None:
    """In order, and at once half the times."""
    crash = world.chance.random() < 0.5
    await asyncio.to_thread(world.broker.kill if crash else world.broker.stop)
    await asyncio.to_thread(world.broker.start)


async def crash_redis(world: World) -> None:
    """SIGKILL with an append-only file that is synced every second."""
    await asyncio.to_thread(world.state.kill)
    await asyncio.sleep(world.chance.uniform(0, 2))
    await asyncio.to_thread(world.state.start)


async def restore_an_older_redis(world: World) -> None:
    """Killed, and started from a copy of its append-only file that is some seconds old."""
    log, copy = (world.state.directory / name for name in ("appendonlydir", "older"))
    shutil.rmtree(copy, ignore_errors=True)
    await asyncio.to_thread(shutil.copytree, log, copy)
    await asyncio.sleep(world.chance.uniform(1, 5))
    await asyncio.to_thread(world.state.kill)
    shutil.rmtree(log)
    copy.rename(log)
    await asyncio.to_thread(world.state.start)


async def promote_a_replica(world: World) -> None:
    """A replica takes the place of its primary in the middle of the load; the primary never comes back."""
    options = {"replicaof": f"{HOST} {world.state.port}", "repl-diskless-sync-delay": "0"}
    replica = redis(Path(tempfile.mkdtemp(dir=world.fleet.directory)), options=options)
    world.stack.enter_context(replica)
    with Redis(host=HOST, port=replica.port) as client:
        while client.info("replication")["master_link_status"] != "up":
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)
        await asyncio.to_thread(world.state.kill)
        client.replicaof("NO", "ONE")  # type: ignore[no-untyped-call]
    replica.command = redis(replica.directory, port=replica.port).command  # a primary from now on
    world.proxy.target = replica.port
    world.state = replica


async def cut_redis_off(world: World) -> None:
    """Nobody reaches Redis."""
    world.proxy.cut()
    await asyncio.sleep(world.outage)
    world.proxy.up = True


async def freeze_the_broker(world: World) -> None:
    """Kafka's connections stay open and nothing answers."""
    world.broker.pause()
    await asyncio.sleep(world.outage)
    world.broker.resume()


async def fill_redis(world: World) -> None:
    """Writes are refused at `maxmemory`, with `noeviction`."""
    with world.redis() as client:
        client.config_set("maxmemory", client.info("memory")["used_memory"])
        await asyncio.sleep(min(10.0, world.outage))
        client.config_set("maxmemory", 0)


Fault: TypeAlias = Callable[[World], Awaitable[None]]
FAULTS: Final[tuple[Fault, ...]] = (
    kill_a_worker,
    freeze_a_worker,
    restart_the_broker,
    crash_redis,
    restore_an_older_redis,
    promote_a_replica,
    cut_redis_off,
    freeze_the_broker,
    fill_redis,
)


async def load(world: World, records: list[Record], rate: int) -> None:
    """Send steadily; what was not acknowledged is sent again, and arrives twice."""
    settings = world.fleet.settings
    for first in range(0, len(records), rate):
        while True:
            with suppress(KafkaError, TimeoutError):
                async with asyncio.timeout(SEND_PATIENCE_SECONDS):
                    await send(settings.bootstrap, settings.prefix, records[first : first + rate], rate)
                break


async def disturb(world: World, seconds: float, pause: float) -> None:
    """One fault after another: each once, in any order, then any."""
    ends = time.monotonic() + seconds
    waiting = world.chance.sample(FAULTS, len(FAULTS))
    while time.monotonic() < ends:
        await asyncio.sleep(world.chance.uniform(0.5, 1.5) * pause)
        fault = waiting.pop() if waiting else world.chance.choice(FAULTS)
        world.note(f"{fault.__name__.replace('_', ' ')}")
        await fault(world)


async def log_ends(world: World) -> Ends:
    """Where the input topics end."""
    settings = world.fleet.settings
    consumer: Any = AIOKafkaConsumer(bootstrap_servers=settings.bootstrap)
    await consumer.start()
    try:
        every = [
            TopicPartition(topic, number)
            for topic in input_topics(settings.prefix).values()
            for number in range(settings.partitions)
        ]
        return {(one.topic, one.partition): end for one, end in (await consumer.end_offsets(every)).items()}
    finally:
        await consumer.stop()


async def until_drained(world: World, seconds: float) -> None:
    """Every watermark at the end, and every output published."""
    ends = await log_ends(world)
    async with asyncio.timeout(seconds):
        while True:
            with suppress(RedisError):
                if await world.fleet.is_drained(ends):
                    return
            await asyncio.sleep(0.5)


async def chaos(
    directory: Path, prefix: str, seconds: float, *, seed: int, outage: float, pause: float, rate: int = 60
) -> World:
    """Run it all; raises `AssertionError` where live and batch differ."""
    prompts = int(seconds * rate / 11)
    made, _ = simulate(seed=seed, start_ms=START, end_ms=END, prompts=prompts, rates=COVERAGE)
    file = directory / "simulated.jsonl"
    file.write_bytes(b"\n".join(lines(made)))
    records = [Record(one.topic_type + "s", one.value, one.ts, one.key) for one in made]
    random.Random(seed).shuffle(records)
    with (
        kafka(directory / "kafka", jars=JARS) as broker,
        redis(directory / "redis") as state,
        Proxy(state.port) as proxy,
    ):
        settings = settings_for(broker.address, f"redis://{HOST}:{proxy.port}", prefix)
        settings = settings.model_copy(update={"partitions": 2 * WORKERS})
        async with Fleet(settings, directory) as fleet:
            world = World(broker, state, proxy, fleet, outage)
            world.chance.seed(seed)
            with world.stack:
                await disturbed(world, records, rate, seconds, pause)
                await compare(fleet, file, str(END))
                world.note(f"report equals backtest: {len(records)} records, {world.restarted} restarts")
                return world


async def disturbed(world: World, records: list[Record], rate: int, seconds: float, pause: float) -> None:
    """Load and faults together, until all is drained."""
    for _ in range(WORKERS):
        world.fleet.start()
    await world.fleet.until_shared(120)
    world.note(f"{len(records)} records at {rate} a second to {WORKERS} workers")
    staffing = asyncio.create_task(world.keep_staffed())
    try:
        await asyncio.gather(load(world, records, rate), disturb(world, seconds, pause))
        world.note("draining")
        await until_drained(world, 300)
    finally:
        staffing.cancel()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--outage", type=float, default=60, help="seconds that a server is out of reach")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    with tempfile.TemporaryDirectory() as directory:
        arguments = (Path(directory), "chaos", given.seconds)
        asyncio.run(chaos(*arguments, seed=given.seed, outage=given.outage, pause=8))


if __name__ == "__main__":
    main()
