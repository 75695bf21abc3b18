"""The transport's bookkeeping without a broker: aiokafka's own fetcher, fed with record batches made here."""

import asyncio
import struct
from collections import OrderedDict
from collections.abc import Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import TopicPartition
from aiokafka.consumer.fetcher import READ_COMMITTED, Fetcher, FetchError, FetchResult, PartitionRecords
from aiokafka.consumer.subscription_state import SubscriptionState
from aiokafka.errors import CorruptRecordException, KafkaConnectionError
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords

from streams import app as shell
from streams import transport
from streams.topics import FOREVER, TOPICS, configuration, input_topics
from streams.transport import BatchThread, Fetched, Ledger

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def fetched(position: int, partition: TopicPartition = A) -> Fetched:
    return Fetched(partition.topic, partition.partition, position, position + 10, ())


def placed(*partitions: TopicPartition) -> tuple[Ledger, int]:
    ledger = Ledger()
    claim = ledger.claim(partitions)
    ledger.place(dict.fromkeys(partitions, 0), claim)
    return ledger, claim


class TestLedger:
    def test_nothing_is_read_before_it_is_placed(self) -> None:
        """A partition that is held but not placed is not read: its position may be the committed one."""
        ledger = Ledger()
        claim = ledger.claim([A, B])
        assert not ledger.readable
        ledger.place({A: 5}, claim)
        assert (ledger.readable, ledger.passed) == ({A}, {A: 5})

    async def test_bound(self) -> None:
        """Two batches of a partition are in flight at most, and a full partition holds up no other."""
        ledger, claim = placed(A, B)
        calls: list[None] = []
        ledger.on_readable = lambda: calls.append(None)
        first = fetched(0)
        assert ledger.admit(first, claim) and ledger.admit(fetched(10), claim)
        assert ledger.readable == {B}
        assert ledger.begin(first)
        assert (ledger.readable, calls) == ({B}, [])
        ledger.end(first)
        assert (ledger.readable, calls) == ({A, B}, [None])

    async def test_old_claim(self) -> None:
        """What was fetched or queued under an older claim is dropped, what comes under the new one is not."""
        ledger, old = placed(A)
        queued = fetched(0)
        assert ledger.admit(queued, old)
        new = ledger.claim([A])
        assert not ledger.readable
        assert not ledger.begin(queued)
        assert not ledger.admit(fetched(0), new)
        ledger.place({A: 0}, new)
        assert not ledger.begin(queued)
        assert not ledger.admit(fetched(10), old)
        assert ledger.admit(fetched(0), new)

    def test_late_placement(self) -> None:
        """A placement that comes after a newer claim places nothing."""
        ledger, old = Ledger(), 0
        old = ledger.claim([A])
        ledger.claim([A])
        ledger.place({A: 7}, old)
        assert (ledger.readable, ledger.passed) == (frozenset(), {})

    async def test_rewind_at_work(self) -> None:
        """A batch at work when its partition is rewound ends without moving what is passed."""
        ledger, claim = placed(A)
        batch = fetched(0)
        ledger.admit(batch, claim)
        ledger.begin(batch)
        ledger.place({A: 3}, ledger.claim([A]))
        again = fetched(3)
        ledger.admit(again, claim + 1)
        ledger.end(batch)
        assert (ledger.passed, ledger.readable) == ({A: 3}, {A})
        assert ledger.begin(again)

    async def test_lost_in_faust(self, caplog: pytest.LogCaptureFixture) -> None:
        """A batch that Faust lost is told, and the next one is handed on for the watermark to see the gap."""
        ledger, claim = placed(A)
        lost, after = fetched(0), fetched(10)
        ledger.admit(lost, claim)
        ledger.admit(after, claim)
        assert ledger.begin(after)
        assert "lost on its way" in caplog.text
        assert not ledger.begin(lost)

    async def test_idle(self) -> None:
        """Waiting for the batch at work ends with it, or with its time, and cancels nothing."""
        ledger, claim = placed(A)
        batch = fetched(0)
        ledger.admit(batch, claim)
        ledger.begin(batch)
        ledger.release([A])
        assert not await ledger.idle(0.01)
        waiting = asyncio.create_task(ledger.idle(5))
        await asyncio.sleep(0)
        ledger.end(batch)
        assert await waiting
        assert ledger.passed == {}

    async def test_close(self) -> None:
        """After closing, an assignment brings no work any more."""
        ledger, claim = placed(A)
        batch = fetched(0)
        ledger.admit(batch, claim)
        ledger.close()
        assert not ledger.begin(batch)
        ledger.place({A: 0}, ledger.claim([A]))
        assert not ledger.readable


def record_batch(first: int, count: int, producer: int = -1) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=producer >= 0, producer_id=producer, producer_epoch=0,
        base_sequence=0, batch_size=2**20,
    )  # fmt: skip
    for number in range(count):
        builder.append(number, timestamp=1, key=None, value=b"x", headers=[])
    # The broker sets the first offset; it lies outside of what the checksum covers.
    return struct.pack(">q", first) + bytes(builder.build())[8:]


class Thread(BatchThread):
    """The consumer thread with its loop being the test's, and nobody who fetches."""

    def __init__(self, max_records: int = 100) -> None:
        self._claims, self._waiter = {}, None
        self.thread_loop = asyncio.get_running_loop()
        subscriptions = SubscriptionState()
        subscriptions.subscribe({"t"})
        subscriptions.assign_from_subscribed({A, B})
        fetcher = Fetcher.__new__(Fetcher)
        fetcher._records, fetcher._subscriptions, fetcher._closed = OrderedDict(), subscriptions, False
        fetcher._fetch_waiters, fetcher._wait_consume_future = set(), None
        fetcher._loop = self.thread_loop
        self._consumer = SimpleNamespace(
            _closed=False, _fetcher=fetcher, _subscription=subscriptions, _max_poll_records=max_records,
            seek=subscriptions.seek,
        )  # fmt: skip

    def answer(self, partition: TopicPartition, position: int, *batches: bytes, aborted: Any = ()) -> None:
        """The broker's answer to a fetch from this position."""
        records = PartitionRecords(
            partition, MemoryRecords(b"".join(batches)), aborted, position, None, None, True, READ_COMMITTED
        )
        self._consumer._fetcher._records[partition] = FetchResult(
            partition,
            assignment=self._consumer._subscription.subscription.assignment,
            partition_records=records,
            backoff=0,
        )

    async def read(self, *partitions: TopicPartition) -> list[tuple[int, int, int, list[int]]]:
        batches = await self._drain(frozenset(partitions or (A, B)))
        return sorted(
            (claim, batch.position, batch.next_position, [record.offset for record in batch.records])
            for claim, batch in batches
        )


class TestThread:
    async def test_holes(self) -> None:
        """Positions are what was asked for and what is asked for next, whatever offsets the records have."""
        thread = Thread()
        await thread.place({A: 3}, 1)
        thread.answer(A, 3, record_batch(5, 2), record_batch(9, 1))
        assert await thread.read() == [(1, 3, 10, [5, 6, 9])]

    async def test_only_holes(self) -> None:
        """A fetch of nothing but aborted records is delivered without records and moves the position."""
        thread = Thread()
        await thread.place({A: 0}, 1)
        thread.answer(A, 0, record_batch(0, 4, producer=7), aborted=[(7, 0)])
        assert await thread.read() == [(1, 0, 4, [])]
        assert await thread.read() == []

    async def test_limit(self) -> None:
        """A large fetch is delivered in batches of the limit, each from where the one before it ended."""
        thread = Thread(max_records=4)
        await thread.place({A: 0}, 1)
        thread.answer(A, 0, record_batch(0, 5), record_batch(7, 3))
        assert await thread.read() == [(1, 0, 4, [0, 1, 2, 3])]
        assert await thread.read() == [(1, 4, 10, [4, 7, 8, 9])]

    async def test_seek_drops(self) -> None:
        """What was fetched before a seek is not delivered after it."""
        thread = Thread()
        await thread.place({A: 0}, 1)
        thread.answer(A, 0, record_batch(0, 5))
        assert await thread.place({A: 2}, 2) == {A: 2}
        assert await thread.read() == []
        thread.answer(A, 2, record_batch(0, 5))
        assert await thread.read() == [(2, 2, 5, [2, 3, 4])]

    async def test_late_seek(self) -> None:
        """A seek after a newer one, or for a partition that is not ours, does nothing and says so."""
        thread = Thread()
        await thread.place({A: 5}, 2)
        assert await thread.place({A: 0, TopicPartition("t", 9): 0}, 1) == {}
        thread.answer(A, 5, record_batch(5, 1))
        assert await thread.read() == [(2, 5, 6, [5])]

    async def test_not_readable(self) -> None:
        """A partition that has enough in flight keeps what was fetched for it until it is read again."""
        thread = Thread()
        await thread.place({A: 0, B: 0}, 1)
        thread.answer(A, 0, record_batch(0, 1))
        thread.answer(B, 0, record_batch(0, 2))
        assert await thread.read(B) == [(1, 0, 2, [0, 1])]
        assert await thread.read(A, B) == [(1, 0, 1, [0])]

    async def test_partial_failure(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An error of one partition loses no batch of another and moves no position."""
        monkeypatch.setattr(transport, "RETRY_SECONDS", 0)
        thread = Thread()
        await thread.place({A: 0, B: 0}, 1)
        thread._consumer._fetcher._records[A] = FetchError(error=CorruptRecordException(), backoff=0)
        thread.answer(B, 0, record_batch(0, 2))
        assert await thread.read() == [(1, 0, 2, [0, 1])]
        thread.answer(A, 0, record_batch(0, 1))
        assert await thread.read() == [(1, 0, 1, [0])]

    async def test_corrupt_batch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Records before a corrupt batch are not lost with it: all of the fetch is asked for again."""
        monkeypatch.setattr(transport, "RETRY_SECONDS", 0)
        thread = Thread()
        await thread.place({A: 0}, 1)
        thread.answer(A, 0, record_batch(0, 2), record_batch(2, 2)[:-1] + b"!")
        assert await thread.read() == []
        assert await thread.read() == []
        thread.answer(A, 0, record_batch(0, 4))
        assert await thread.read() == [(1, 0, 4, [0, 1, 2, 3])]

    async def test_reassignment(self) -> None:
        """While the group is reassigned nothing is read, and nobody waits for the end of that."""
        thread = Thread()
        await thread.place({A: 0}, 1)
        thread.answer(A, 0, record_batch(0, 1))
        thread._consumer._subscription.begin_reassignment()
        assert await asyncio.wait_for(thread.read(), 1) == []

    async def test_nudge(self) -> None:
        """A fetch that waits for data learns at once of a partition that may be read again."""
        thread = Thread()
        ledger, _ = placed(A)
        await thread.place({A: 0}, 1)
        full = [fetched(0), fetched(10)]
        for batch in full:
            ledger.admit(batch, 1)
        ledger.on_readable = thread.nudge
        thread.answer(A, 0, record_batch(0, 1))
        fetching = asyncio.create_task(thread.fetch(ledger))
        await asyncio.sleep(0.01)
        assert not fetching.done()
        ledger.begin(full[0])
        ledger.end(full[0])
        assert [batch.next_position for _, batch in await asyncio.wait_for(fetching, 0.2)] == [1]


class Ended(BaseException):
    """Instead of the end of the process."""


class Pipeline:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error, self.revoked, self.handled = error, [], []  # type: ignore[var-annotated]

    def bind(self, rewind: shell.Rewind) -> None:
        self.rewind = rewind

    async def resume(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        return {A: 41}

    async def revoke(self, partitions: Collection[TopicPartition]) -> None:
        self.revoked.append(partitions)

    async def handle(self, batch: Fetched) -> None:
        self.handled.append(batch)
        if self.error:
            raise self.error


class App(SimpleNamespace):
    """What the hooks use of a Faust app."""

    def __init__(self, unanswered: int = 0) -> None:
        self.unanswered = unanswered
        super().__init__(should_stop=False, transport=SimpleNamespace(ledger=Ledger()), consumer=self)
        self.conf = SimpleNamespace(broker_rebalance_timeout=0.3)

    async def place(self, positions: Mapping[TopicPartition, int], claim: int) -> None:
        self.transport.ledger.place(positions, claim)

    async def earliest_offsets(self, *partitions: TopicPartition) -> Mapping[TopicPartition, int]:
        self.unanswered -= 1
        if self.unanswered >= 0:
            raise KafkaConnectionError
        return dict.fromkeys(partitions, 12)


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    codes: list[int] = []

    def end(code: int) -> None:
        codes.append(code)
        raise Ended

    monkeypatch.setattr(shell.os, "_exit", end)
    monkeypatch.setattr(shell.logging, "shutdown", lambda: None)
    return codes


class TestHooks:
    async def test_assigned(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Reading begins at the watermark, and without one at the log's start, asked for until it is told."""
        monkeypatch.setattr(shell, "RETRY_SECONDS", 0)
        app = App(unanswered=2)
        await shell._assigned(app, Pipeline(), {A, B})
        assert app.transport.ledger.passed == {A: 41, B: 12}

    async def test_revoked(self) -> None:
        """The pipeline is told after the batch at work; one that takes too long is left to its fence."""
        app, pipeline = App(), Pipeline()
        ledger, batch = app.transport.ledger, fetched(0)
        ledger.place({A: 0}, ledger.claim([A]))
        ledger.admit(batch, 1)
        ledger.begin(batch)
        telling = asyncio.create_task(shell._revoked(app, pipeline, {A}))
        await asyncio.sleep(0.02)
        assert (ledger.claims, pipeline.revoked) == ({}, [])
        ledger.end(batch)
        await telling
        assert pipeline.revoked == [{A}]
        ledger.place({A: 0}, ledger.claim([A]))
        ledger.admit(batch, 2)
        ledger.begin(batch)
        await asyncio.wait_for(shell._revoked(app, pipeline, {A}), 1)
        assert pipeline.revoked == [{A}, {A}]

    async def test_error(self, ends: list[int], caplog: pytest.LogCaptureFixture) -> None:
        """An error that escapes the pipeline ends the process before the batch counts as passed."""
        app, pipeline = App(), Pipeline(ZeroDivisionError("oh"))
        ledger, batch = app.transport.ledger, fetched(0)
        ledger.place({A: 0}, ledger.claim([A]))
        ledger.admit(batch, 1)
        with pytest.raises(Ended), shell._nothing_escapes(app, "the test"):
            await shell._work(ledger, pipeline, batch)
        assert (ends, ledger.passed) == ([70], {A: 0})
        assert "ZeroDivisionError: oh" in caplog.text

    async def test_cancelled(self, ends: list[int]) -> None:
        """A cancellation is let through while the app stops, and is an error of the program before."""
        app = App()
        with pytest.raises(Ended), shell._nothing_escapes(app, "the test"):
            raise asyncio.CancelledError
        app.should_stop = True
        with pytest.raises(asyncio.CancelledError), shell._nothing_escapes(app, "the test"):
            raise asyncio.CancelledError
        assert ends == [70]

    async def test_rewind_of_what_is_not_held(self) -> None:
        """A rewind before the start, or after the end, asks nobody and waits for nobody."""
        await shell.Rewind(SimpleNamespace(), Ledger())({A: 5})


async def test_app(tmp_path: Path) -> None:
    """The app has an agent a topic, without acks, its web is off, and the transport is ours."""
    pipeline = Pipeline()
    settings = shell.AppSettings(("kafka://127.0.0.1:9",), "g", input_topics("lara"), tmp_path)
    app = shell.make_app(settings, pipeline)
    assert sorted(app.agents) == ["actions", "judgements", "placements", "prompts", "retrievals"]
    assert all(not agent.channel.acks for agent in app.agents.values())
    assert not app.conf.web_enabled
    assert pipeline.rewind._ledger is app.transport.ledger


def test_topics() -> None:
    """Input is kept by age, in few files, outputs by key, and one broker may be missing."""
    policies = {topic.kind: configuration(topic, 1000, 3) for topic in TOPICS}
    assert {kind for kind, policy in policies.items() if policy["cleanup.policy"] == "compact"} == {
        "attributions",
        "outcomes",
    }
    assert policies["actions"]["retention.ms"] == policies["actions"]["segment.ms"] == "1000"
    assert {policy["min.insync.replicas"] for policy in policies.values()} == {"2"}
    assert configuration(TOPICS[0], FOREVER, 1)["retention.ms"] == "-1"
    assert configuration(TOPICS[0], FOREVER, 1)["segment.ms"] == str(2**63 - 1)
