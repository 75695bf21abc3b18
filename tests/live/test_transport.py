"""The Faust shell on a real Kafka: what is delivered, and what is left of it by kills, joins and rewinds.

The pipeline here is a dummy. It keeps its watermarks and a log of the batches it handled in files, so that
several worker processes (this file, run as a program) share the one and leave the other behind.
"""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer, TopicPartition

from streams.app import AppSettings, Rewind, make_app, run
from streams.services import Service
from streams.topics import FOREVER, create_topics, input_topics
from streams.transport import Fetched

ROOT = Path(__file__).parents[2]
PARTITIONS = 2
USED = ("prompts", "actions")  # the kinds the tests write to; the workers read all five
WAIT_SECONDS = 40.0


@dataclass
class Dummy:
    """A pipeline that follows the rules of the watermark and checks what it is given."""

    directory: Path
    name: str = "here"
    pause_seconds: float = 0.0
    fail_at: int | None = None
    batches: list[Fetched] = field(default_factory=list)
    gaps: int = 0

    def bind(self, rewind: Rewind) -> None:
        self.rewind = rewind

    async def resume(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        self._log(event="resume", partitions=len(partitions))
        marks = {tp: self.mark(tp) for tp in partitions}
        return {tp: mark for tp, mark in marks.items() if mark is not None}

    async def revoke(self, partitions: Collection[TopicPartition]) -> None:
        self._log(event="revoke", partitions=len(partitions))

    async def handle(self, fetched: Fetched) -> None:
        mark = self.mark(fetched.source) or 0
        if fetched.position > mark:
            self.gaps += 1
            self._log(event="gap", position=fetched.position, mark=mark)
            await self.rewind({fetched.source: mark})
            return
        offsets = [record.offset for record in fetched.records]
        assert offsets == sorted(set(offsets))
        assert all(fetched.position <= offset < fetched.next_position for offset in offsets)
        if self.fail_at is not None and self.fail_at in offsets:
            raise ZeroDivisionError("a programming error")
        await asyncio.sleep(self.pause_seconds)
        self.batches.append(fetched)
        self._log(
            event="batch", tp=list(fetched.source), mark=mark, position=fetched.position, offsets=offsets
        )
        # Read again: another worker may have moved it during the pause.
        self._set_mark(fetched.source, max(self.mark(fetched.source) or 0, fetched.next_position))

    def mark(self, partition: TopicPartition) -> int | None:
        file = self._file(partition)
        return int(file.read_text()) if file.exists() else None

    def _set_mark(self, partition: TopicPartition, mark: int) -> None:
        part = self._file(partition).with_suffix(f".{self.name}")
        part.write_text(str(mark))
        part.replace(self._file(partition))

    def _file(self, partition: TopicPartition) -> Path:
        return self.directory / f"{partition.topic}-{partition.partition}.mark"

    def _log(self, **entry: Any) -> None:
        with (self.directory / f"{self.name}.log").open("a") as log:
            log.write(json.dumps(entry) + "\n")

    def entries(self, name: str, event: str) -> list[dict[str, Any]]:
        file = self.directory / f"{name}.log"
        lines = file.read_text().splitlines() if file.exists() else []
        return [entry for entry in map(json.loads, lines) if entry["event"] == event]


def settings(address: str, prefix: str, directory: Path, max_records: int) -> AppSettings:
    return AppSettings(
        broker_urls=(f"kafka://{address}",),
        group=prefix,
        topics=input_topics(prefix),
        data_directory=directory / "faust",
        max_records=max_records,
        session_timeout_seconds=6,
        heartbeat_interval_seconds=1,
        rebalance_timeout_seconds=9,
        request_timeout_seconds=20,
        commit_interval_seconds=1,
    )


def main(address: str, prefix: str, directory: str, options: str) -> None:
    """A worker process."""
    logging.basicConfig(level=logging.WARNING)
    known = json.loads(options)
    max_records = known.pop("max_records")
    dummy = Dummy(Path(directory), **known)

    async def work() -> None:
        await run(make_app(settings(address, prefix, dummy.directory, max_records), dummy))

    asyncio.run(work())
    print("left in order")


@dataclass
class Worker:
    """A worker process; what it says goes to a file, since a full pipe would stop it."""

    process: subprocess.Popen[bytes]
    said: Path

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def end(self) -> tuple[int, str]:
        code = await asyncio.to_thread(self.process.wait, WAIT_SECONDS)
        return code, self.said.read_text()


@contextmanager
def worker(address: str, prefix: str, directory: Path, name: str, **options: Any) -> Iterator[Worker]:
    said = directory / f"{name}.out"
    arguments = (address, prefix, str(directory), json.dumps({"name": name, **options}))
    with said.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, __file__, *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Worker(process, said)
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def working(address: str, prefix: str, dummy: Dummy, max_records: int = 500) -> AsyncIterator[Any]:
    stop = asyncio.Event()
    app = make_app(settings(address, prefix, dummy.directory, max_records), dummy)
    task = asyncio.create_task(run(app, stop))
    try:
        yield app
    finally:
        stop.set()
        await task


async def until(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not done():
        assert time.monotonic() < deadline, f"not in time: {what}"
        await asyncio.sleep(0.02)


async def produce(address: str, prefix: str, count: int, size: int = 100) -> Mapping[TopicPartition, int]:
    """`count` records in each used partition; each record's value tells its place. Returns the ends."""
    await create_topics(address, prefix, PARTITIONS, FOREVER)
    ends = dict.fromkeys(used(prefix), count)
    async with AIOKafkaProducer(
        bootstrap_servers=address, linger_ms=20, max_batch_size=2**18, acks=1
    ) as producer:
        for number in range(count):
            for tp in ends:
                await producer.send(tp.topic, value(number, size), partition=tp.partition)
    return ends


def used(prefix: str) -> list[TopicPartition]:
    return [TopicPartition(f"{prefix}.{kind}", number) for kind in USED for number in range(PARTITIONS)]


def value(number: int, size: int = 100) -> bytes:
    return str(number).encode().ljust(size)


def finished(dummy: Dummy, ends: Mapping[TopicPartition, int]) -> Callable[[], bool]:
    return lambda: all((dummy.mark(tp) or 0) >= end for tp, end in ends.items())


def check_union(dummy: Dummy, names: Collection[str], ends: Mapping[TopicPartition, int]) -> None:
    """Every offset was handled, and no batch that was handled began beyond the watermark of its time."""
    entries = [entry for name in names for entry in dummy.entries(name, "batch")]
    assert all(entry["position"] <= entry["mark"] for entry in entries)
    for tp, end in ends.items():
        seen = {offset for entry in entries if entry["tp"] == list(tp) for offset in entry["offsets"]}
        assert seen == set(range(end)), f"{tp}: {end - len(seen)} are missing"
    assert not any(dummy.entries(name, "gap") for name in names)


async def test_order(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """Every record is delivered once and in order, in batches whose positions follow one another."""
    ends = await produce(kafka_server.address, prefix, 3000)
    dummy = Dummy(tmp_path)
    async with working(kafka_server.address, prefix, dummy):
        await until(finished(dummy, ends), "everything")
    for tp in ends:
        batches = [batch for batch in dummy.batches if batch.source == tp]
        positions = [batch.position for batch in batches] + [batches[-1].next_position]
        assert positions == [0] + [batch.next_position for batch in batches]
        records = [record for batch in batches for record in batch.records]
        assert [(record.offset, record.value) for record in records] == [(n, value(n)) for n in range(3000)]
        assert max(len(batch.records) for batch in batches) <= 500


async def test_holes(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """Markers and aborted records are no gaps, the position passes them also at the end of the log."""
    await create_topics(kafka_server.address, prefix, PARTITIONS, FOREVER)
    tp, committed, end = used(prefix)[0], [], 0
    async with AIOKafkaProducer(
        bootstrap_servers=kafka_server.address, transactional_id=f"{prefix}-producer"
    ) as producer:
        for turn in range(30):
            await producer.begin_transaction()
            for _ in range(20):
                await producer.send_and_wait(tp.topic, b"x", partition=tp.partition)
            await (producer.abort_transaction() if turn % 3 == 2 else producer.commit_transaction())
            committed += [] if turn % 3 == 2 else range(end, end + 20)
            end += 21  # the marker takes an offset
    dummy = Dummy(tmp_path)
    async with working(kafka_server.address, prefix, dummy, max_records=7):
        await until(finished(dummy, {tp: end}), "the aborted transaction at the end")
        assert await dummy.rewind.bounds([tp]) == {tp: (0, end)}
    assert dummy.gaps == 0
    assert dummy.mark(tp) == end
    assert [record.offset for batch in dummy.batches for record in batch.records] == committed


async def test_kill(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """A worker that is killed loses nothing: another one goes on at the watermarks."""
    ends = await produce(kafka_server.address, prefix, 4000)
    dummy = Dummy(tmp_path)
    with worker(
        kafka_server.address, prefix, tmp_path, name="a", pause_seconds=0.05, max_records=50
    ) as first:
        await until(lambda: len(dummy.entries("a", "batch")) >= 20, "the first worker at work")
        first.send(signal.SIGKILL)
        await first.end()
    assert not finished(dummy, ends)()
    with worker(kafka_server.address, prefix, tmp_path, name="b", max_records=500):
        await until(finished(dummy, ends), "the second worker")
    check_union(dummy, "ab", ends)


async def test_zombie(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """A worker that is frozen beyond its session, and wakes up after another took over, does no harm."""
    ends = await produce(kafka_server.address, prefix, 3000)
    dummy = Dummy(tmp_path)
    slow = {"pause_seconds": 0.05, "max_records": 50}
    with worker(kafka_server.address, prefix, tmp_path, name="a", **slow) as frozen:
        await until(lambda: len(dummy.entries("a", "batch")) >= 10, "the first worker at work")
        frozen.send(signal.SIGSTOP)
        with worker(kafka_server.address, prefix, tmp_path, name="b", **slow):
            await until(lambda: len(dummy.entries("b", "batch")) >= 10, "the second worker at work")
            frozen.send(signal.SIGCONT)
            await until(lambda: len(dummy.entries("a", "resume")) >= 2, "the first worker again")
            await until(finished(dummy, ends), "everything")
    check_union(dummy, "ab", ends)


async def test_broker_killed(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """A broker that is killed and comes back costs nothing but time."""
    ends = await produce(kafka_server.address, prefix, 1500, size=5000)
    dummy = Dummy(tmp_path, name="a", pause_seconds=0.02)
    async with working(kafka_server.address, prefix, dummy, max_records=50):
        await until(lambda: len(dummy.batches) >= 10, "the worker at work")
        kafka_server.kill()
        await asyncio.to_thread(kafka_server.start)
        assert not finished(dummy, ends)()
        await until(finished(dummy, ends), "everything")
    check_union(dummy, "a", ends)


async def test_join_and_leave(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """A worker that joins and leaves in order loses nothing, and leaves well within ten seconds."""
    ends = await produce(kafka_server.address, prefix, 4500)
    dummy = Dummy(tmp_path)
    slow = {"pause_seconds": 0.05, "max_records": 50}
    with (
        worker(kafka_server.address, prefix, tmp_path, name="a", **slow) as first,
        worker(kafka_server.address, prefix, tmp_path, name="b", **slow) as second,
    ):
        for name in "ab":
            await until(lambda name=name: len(dummy.entries(name, "batch")) >= 10, f"{name} at work")
        asked = time.monotonic()
        second.send(signal.SIGTERM)
        code, said = await second.end()
        assert code == 0
        assert said.endswith("left in order\n")
        assert time.monotonic() - asked < 5
        assert not finished(dummy, ends)()
        await until(finished(dummy, ends), "the worker that stays")
        first.send(signal.SIGINT)
        assert (await first.end())[0] == 0
    check_union(dummy, "ab", ends)


async def test_rewind(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """A rewind drops what was fetched and delivers again from the position that was asked for."""
    await produce(kafka_server.address, prefix, 3000)
    dummy = Dummy(tmp_path, pause_seconds=0.01)
    tp, others = used(prefix)[0], used(prefix)[1:]
    batches = lambda: [batch.position for batch in dummy.batches if batch.source == tp]  # noqa: E731
    async with working(kafka_server.address, prefix, dummy, max_records=100) as app:
        for position in range(50, 55):
            reached = len(batches()) + 4
            await until(lambda reached=reached: len(batches()) >= reached, "some batches")
            before = batches()
            await dummy.rewind({tp: position, TopicPartition("not-held", 0): 7})
            await until(lambda at=position: at in batches(), "the position asked for")
            between = batches()[len(before) : batches().index(position)]
            assert len(between) <= 1, "at most the batch that was at work"
        await until(finished(dummy, dict.fromkeys([tp, *others], 3000)), "everything")
        await until(lambda: batches()[-1] >= 2900, "the end, again")
        assert all(app.transport.ledger.passed[other] == 3000 for other in others)
    assert dummy.gaps == 0


async def test_gap(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """A pipeline that finds a gap while it handles a batch has it closed by a rewind from within."""
    ends = await produce(kafka_server.address, prefix, 1000)
    dummy = Dummy(tmp_path)
    async with working(kafka_server.address, prefix, dummy, max_records=100):
        await until(finished(dummy, ends), "everything")
        tp = used(prefix)[0]
        dummy._set_mark(tp, 300)  # the state was rolled back
        await dummy.rewind({tp: 700})
        await until(finished(dummy, ends), "the gap to be closed")
    assert dummy.gaps >= 1
    again = [record.offset for batch in dummy.batches[-8:] for record in batch.records]
    assert set(range(300, 1000)) <= set(again)


async def test_programming_error(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """An error that escapes the pipeline ends the process with code 70, and the watermark has not moved."""
    ends = await produce(kafka_server.address, prefix, 1000)
    dummy, tp = Dummy(tmp_path), used(prefix)[0]
    with worker(kafka_server.address, prefix, tmp_path, name="a", fail_at=450, max_records=100) as broken:
        code, said = await broken.end()
    assert code == 70
    assert "ZeroDivisionError: a programming error" in said
    assert all((dummy.mark(partition) or 0) <= 450 for partition in ends)
    assert any(dummy.mark(partition) == 400 for partition in ends)
    with worker(kafka_server.address, prefix, tmp_path, name="b", max_records=100):
        await until(finished(dummy, ends), "a worker without the error")
    check_union(dummy, "ab", ends)
    assert (dummy.mark(tp), dummy.gaps) == (1000, 0)


async def test_stop_before_start(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """A worker that is stopped while it still joins ends in order, and one without a broker says so."""
    await create_topics(kafka_server.address, prefix, PARTITIONS, FOREVER)
    async with working(kafka_server.address, prefix, Dummy(tmp_path)):
        await asyncio.sleep(0.5)
    with worker("127.0.0.1:9", prefix, tmp_path, name="a", max_records=1) as lost:
        code, said = await lost.end()
    assert code == 75
    assert "KafkaConnectionError" in said


async def test_topics(kafka_server: Service, prefix: str) -> None:
    """Topics are created once, differences are told, and records are taken that are old or a little ahead."""
    report = await create_topics(kafka_server.address, prefix, 2, FOREVER)
    assert len(report.created) == 8
    report = await create_topics(kafka_server.address, prefix, 2, FOREVER)
    assert (report.created, len(report.existing), report.differing) == ((), 8, ())
    report = await create_topics(kafka_server.address, prefix, 3, 1000)
    assert f"{prefix}.prompts: 2 partitions, wanted 3" in report.differing
    assert f"{prefix}.prompts: retention.ms is -1, wanted 1000" in report.differing
    async with AIOKafkaProducer(bootstrap_servers=kafka_server.address) as producer:
        for hours in (-24 * 365 * 20, 12):
            stamp = int((time.time() + hours * 3600) * 1000)
            await producer.send_and_wait(f"{prefix}.prompts", b"x", timestamp_ms=stamp)


async def test_throughput(kafka_server: Service, prefix: str, tmp_path: Path) -> None:
    """How fast the bare transport is: printed, not asserted."""
    ends = await produce(kafka_server.address, prefix, 75_000, size=200)

    class Counter(Dummy):
        async def resume(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
            self.started = time.perf_counter()
            self.count = 0
            return {}

        async def handle(self, fetched: Fetched) -> None:
            self.count += len(fetched.records)
            self.ended = time.perf_counter()

    counter = Counter(tmp_path)
    async with working(kafka_server.address, prefix, counter, max_records=2000):
        await until(lambda: getattr(counter, "count", 0) >= sum(ends.values()), "everything")
    rate = counter.count / (counter.ended - counter.started)
    print(f"\nbare transport: {rate:,.0f} records/s of 200 bytes, four partitions")


if __name__ == "__main__":
    main(*sys.argv[1:])
