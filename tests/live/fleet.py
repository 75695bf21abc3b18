"""A fleet of real workers for live tests: started, watched, killed, and compared with a backtest."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from aiokafka import AIOKafkaConsumer
from aiokafka.structs import ConsumerRecord
from prometheus_client.parser import text_string_to_metric_families
from redis import RedisError

from streams.commands.demo import as_text
from streams.commands.replay import KINDS, Ends, Record, send
from streams.connections import store_of
from streams.services import HOST, free_port
from streams.settings import Settings
from streams.state.store import Partition
from streams.topics import FOREVER, create_topics, input_topics, output_topics

LARA = (sys.executable, "-c", "from streams.commands.cli import main; main()")


class Worker:
    """One `lara worker` process and what it last said of itself."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self.port = free_port()
        self.handled = 0
        self.partitions = 0
        self._log = log.open("ab")
        environment = {**os.environ, **environment_of(settings), "LARA_WORKER_PORT": str(self.port)}
        self.process = subprocess.Popen(
            [*LARA, "worker"], env=environment, stdout=self._log, stderr=self._log
        )

    def look(self) -> int:
        """Records it has handled so far, by its own counters."""
        with suppress(OSError):
            self.partitions = 0
            page = urllib.request.urlopen(f"http://{HOST}:{self.port}/metrics", timeout=2).read().decode()
            samples = (one for family in text_string_to_metric_families(page) for one in family.samples)
            values = [(one.name, one.value) for one in samples]
            self.handled = int(sum(value for name, value in values if name == "lara_events_total"))
            self.partitions = int(sum(value for name, value in values if name == "lara_assigned_partitions"))
        return self.handled

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def terminate(self, seconds: float = 15) -> int:
        """Ask it to stop; returns its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=seconds)

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        self._log.close()


def settings_for(bootstrap: str, redis_url: str, prefix: str) -> Settings:
    return Settings(
        bootstrap=bootstrap,
        redis_url=redis_url,
        prefix=prefix,
        partitions=4,
        broker_session_timeout_seconds=6.0,
        broker_rebalance_timeout_seconds=6.0,
        max_records=200,
    )


def environment_of(settings: Settings) -> dict[str, str]:
    changed = settings.model_dump(exclude_defaults=True)
    return {f"LARA_{name.upper()}": as_text(value) for name, value in changed.items()}


@contextmanager
def start_lara(settings: Settings, *arguments: str, log: Path) -> Iterator[subprocess.Popen]:
    """A command that runs until it is ended."""
    environment = {**os.environ, **environment_of(settings)}
    with log.open("ab") as out:
        process = subprocess.Popen([*LARA, *arguments], env=environment, stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=15)


def lara(settings: Settings, *arguments: str) -> str:
    """What a command prints; fails the test with its errors if it fails."""
    environment = {**os.environ, **environment_of(settings)}
    done = subprocess.run([*LARA, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def ended(settings: Settings, *arguments: str) -> tuple[int, str, str]:
    """Code, output and errors of a command that may fail."""
    process = await asyncio.create_subprocess_exec(
        *LARA,
        *arguments,
        env={**os.environ, **environment_of(settings), "COLUMNS": "150"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    return process.returncode or 0, out.decode(), errors.decode()


def records_of(*sent: dict, behind_ms: int = 0) -> list[Record]:
    """Records stamped with the time of their event, or so much later."""
    return [Record(KINDS[one["type"]], json.dumps(one).encode(), one["ts"] + behind_ms) for one in sent]


def row(name: str, **labels: str) -> tuple:
    """The key of a row in `figures_of`."""
    return name, tuple(sorted(labels.items()))


def figures_of(printed: str) -> dict[tuple, float]:
    """The rows of a `--json` answer."""
    rows = msgspec.json.decode(printed)["metrics"]
    return {(row["name"], tuple(sorted(row["labels"].items()))): row["value"] for row in rows}


class Fleet:
    """Some workers on one prefix, and the state they share."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        self.settings = settings
        self.directory = directory
        self.workers: list[Worker] = []
        self.ends: Ends = {}
        self.store = store_of(settings)

    async def __aenter__(self) -> "Fleet":
        await create_topics(self.settings.brokers, self.settings.prefix, self.settings.partitions, FOREVER)
        return self

    async def __aexit__(self, *error: object) -> None:
        for worker in self.workers:
            worker.close()
        await self.store.close()
        if error[0] is not None:
            for log in sorted(self.directory.glob("worker-*.log")):
                print(f"--- {log.name}\n" + "\n".join(log.read_text().splitlines()[-40:]))

    def start(self) -> Worker:
        worker = Worker(self.settings, self.directory / f"worker-{len(self.workers)}.log")
        self.workers.append(worker)
        return worker

    async def settle(self, records: Iterable[Record]) -> None:
        """Send records and wait until they are counted."""
        self.ends |= await send(self.settings.brokers, self.settings.prefix, records)
        await self.until_drained(self.ends)

    async def until_shared(self, seconds: float = 60) -> None:
        """Every worker that runs reads some partitions."""
        async with asyncio.timeout(seconds):
            running = [worker for worker in self.workers if worker.process.poll() is None]
            while not all(worker.look() >= 0 and worker.partitions for worker in running):
                await asyncio.sleep(0.2)

    async def settled(self) -> int:
        """How many records lie below the watermarks."""
        topics = input_topics(self.settings.prefix).values()
        every = [Partition(topic, n) for topic in topics for n in range(self.settings.partitions)]
        return sum((await self.store.watermarks(every)).values())

    async def until_drained(self, ends: Ends, seconds: float = 300) -> None:
        """Every watermark at the end, and every output published."""
        deadline = time.monotonic() + seconds
        while not await self.is_drained(ends):
            assert time.monotonic() < deadline, "not drained in time"
            dead = [worker.process.returncode for worker in self.workers if worker.process.poll()]
            assert not [code for code in dead if code != -signal.SIGKILL], f"a worker ended by itself: {dead}"
            await asyncio.sleep(0.2)

    async def is_drained(self, ends: Ends) -> bool:
        """Whether every watermark is at the end, and every output published."""
        with suppress(RedisError):  # a server that restarts under the test
            marks = await self.store.watermarks([Partition(*where) for where in ends])
            settled = all(marks.get(Partition(*where), 0) >= end for where, end in ends.items())
            return settled and not await self.store.due(1)
        return False


async def newest_outputs(settings: Settings) -> dict[str, dict[str, dict]]:
    """topic → key → the record with the newest version, as the output topics hold them."""
    newest: dict[str, dict[str, dict]] = {}
    for kind, topic in output_topics(settings.prefix).items():
        known = newest.setdefault(kind, {})
        for record in await whole_topic(settings.bootstrap, topic):
            body, key = msgspec.json.decode(record.value), record.key.decode()
            if key not in known or body["version"] >= known[key]["version"]:
                known[key] = body
    return newest


async def whole_topic(bootstrap: str, topic: str) -> list[ConsumerRecord]:
    """Every record of a topic."""
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    found: list[ConsumerRecord] = []
    try:
        partitions = consumer.assignment()
        ends = await consumer.end_offsets(partitions)
        while partitions:
            for batch in (await consumer.getmany(timeout_ms=500)).values():
                found += batch
            partitions = [one for one in partitions if await consumer.position(one) < ends[one]]
    finally:
        await consumer.stop()
    return found
