"""The order of effects of a worker, on the in-memory store and a publisher that remembers, or fails.

Nothing here is Kafka or Redis: batches are handed over as the transport would, and rewinds are noted.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import pytest
from aiokafka import TopicPartition
from aiokafka.errors import KafkaConnectionError
from aiokafka.structs import ConsumerRecord
from redis import ConnectionError as RedisConnectionError
from redis import OutOfMemoryError

from metrics.worker_metrics import WorkerMetrics
from streams import pipeline as module
from streams.pipeline import StatePipeline
from streams.publisher import Letter, said
from streams.resume import Bounds
from streams.state.memory import MemoryStore, State
from streams.state.store import Partition
from streams.transport import Fetched
from tests.building import DEFAULT, at, encoded, retrieval, user
from tests.properties import running

R, A = TopicPartition("lara.retrievals", 0), TopicPartition("lara.actions", 0)
R1 = TopicPartition("lara.retrievals", 1)
CLAIM = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}


class Shell:
    """What the pipeline asks of the consumer: to read again, and where logs begin and end."""

    def __init__(self) -> None:
        self.rewinds: list[dict[TopicPartition, int]] = []
        self.logs: dict[TopicPartition, Bounds] = {}
        self.ids: dict[str, str] = {}

    async def __call__(self, positions) -> None:
        self.rewinds.append(dict(positions))

    async def bounds(self, partitions):
        return {partition: self.logs.get(partition, Bounds(0, 1000)) for partition in partitions}

    async def identities(self, topics):
        return {topic: self.ids.get(topic, "kafka/1") for topic in topics}

    def lag(self):
        return {}


class Recorder:
    """A publisher in memory. `before` is called at each publication, and may raise."""

    def __init__(self) -> None:
        self.published: list[list[Letter]] = []
        self.before: Callable[[], Any] = lambda: None

    async def publish(self, letters: Sequence[Letter]) -> None:
        waiting = self.before()
        if waiting is not None:
            await waiting
        self.published.append(list(letters))

    async def since(self, ms: int):
        for letter in self.letters:
            yield said(letter)

    @property
    def letters(self) -> list[Letter]:
        return [letter for letters in self.published for letter in letters]


class Worker(NamedTuple):
    pipeline: StatePipeline
    store: MemoryStore
    shell: Shell
    publisher: Recorder
    metrics: WorkerMetrics

    def value(self, name: str, **labels: str) -> float:
        return self.metrics.registry.get_sample_value(name, labels) or 0

    async def watermark(self, partition: TopicPartition) -> int | None:
        return (await self.store.watermarks([Partition(*partition)])).get(Partition(*partition))

    async def due(self) -> set[str]:
        return {due.key for due in await self.store.due(100)}


def worker(
    state: State | None = None, seconds: float = 600, store: type[MemoryStore] = MemoryStore, **options
) -> Worker:
    shell, publisher, metrics = Shell(), Recorder(), WorkerMetrics()
    memory = store(DEFAULT, state)
    pipeline = StatePipeline(
        memory, publisher, DEFAULT, metrics, worker="w1", clock=lambda: at(seconds) / 1000, **options
    )
    pipeline.bind(shell)
    return Worker(pipeline, memory, shell, publisher, metrics)


async def started(*partitions: TopicPartition, **options) -> Worker:
    one = worker(**options)
    await one.pipeline.resume(partitions or (R, A))
    return one


def batch(source: TopicPartition, position: int, *values: Any, holes: int = 0) -> Fetched:
    """Records from `position` on, and so many offsets behind them that hold none."""
    records = tuple(
        ConsumerRecord(
            source.topic, source.partition, offset, at(60), 0, None,
            value if value is None or isinstance(value, bytes) else encoded(value), None, 0, 0, (),
        )
        for offset, value in enumerate(values, position)
    )  # fmt: skip
    return Fetched(source.topic, source.partition, position, position + len(values) + holes, records)


def bodies(letters: Sequence[Letter]) -> dict[tuple[str, str], dict[str, Any]]:
    """The newest record of every topic and key."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for letter in letters:
        body, key = msgspec.json.decode(letter.value), (letter.topic, letter.key.decode())
        if body["version"] >= found.get(key, body)["version"]:
            found[key] = body
    return found


# --- resuming ---------------------------------------------------------------------------------------


async def test_a_partition_without_watermark_is_read_from_the_start_of_its_log():
    """Kafka's committed offset is nobody's business."""
    one = worker()
    one.shell.logs[R] = Bounds(5, 50)
    assert await one.pipeline.resume([R]) == {R: 5}


async def test_a_partition_is_resumed_at_its_watermark():
    """Another worker may have raised it."""
    state = State()
    first = await started(state=state)
    await first.pipeline.handle(batch(R, 0, retrieval(), holes=2))
    assert await worker(state).pipeline.resume([R, A]) == {R: 3, A: 0}


@pytest.mark.parametrize(
    ("log", "position", "reason"),
    [(Bounds(20, 50), 20, "retention"), (Bounds(0, 5), 0, "truncated")],
    ids=["start", "end"],
)
async def test_a_watermark_outside_the_log_is_a_loss_that_is_counted(log, position, reason):
    """Records were deleted before they were read, or the log was cut short: never silent, read from its start."""
    state = State()
    first = await started(state=state)
    await first.pipeline.handle(batch(R, 0, *[None] * 10))
    second = worker(state)
    second.shell.logs[R] = log
    assert await second.pipeline.resume([R]) == {R: position}
    assert second.value("lara_losses_total", topic="lara.retrievals", reason=reason) == 1


# --- one batch --------------------------------------------------------------------------------------


async def test_a_batch_is_settled_published_and_marked_in_this_order():
    """While it publishes, the watermark is not raised and the marks are set; afterwards the other way round."""
    one = await started()
    seen = []

    async def look():
        seen.append((await one.watermark(R), await one.due()))

    one.publisher.before = look
    await one.pipeline.handle(batch(R, 0, retrieval(), None, holes=3))
    assert seen == [(0, {"retrieval:r1"})]
    assert (await one.watermark(R), await one.due()) == (5, set())
    assert one.shell.rewinds == []


async def test_what_is_published_is_the_present_state_with_its_version():
    """Attribution and outcome, each under its key."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval()))
    await one.pipeline.handle(batch(A, 0, user("export", **CLAIM)))
    found = bodies(one.publisher.letters)
    assert found["attributions", "user-export"]["resolution"] == "explicit"
    assert [credit["action_id"] for credit in found["outcomes", "r1"]["credits"]] == ["user-export"]
    entities = one.store.entities()
    assert found["outcomes", "r1"]["version"] == entities["retrieval:r1"].version
    assert found["attributions", "user-export"]["version"] == entities["action:user-export"].version


async def test_dead_letters_are_published_with_the_batch():
    """With the value only where that is switched on."""
    for with_payload in (False, True):
        one = await started(deadletter_payloads=with_payload)
        await one.pipeline.handle(batch(R, 40 - 40, b"{", retrieval()))
        (letter,) = [
            body for (topic, _), body in bodies(one.publisher.letters).items() if topic == "deadletters"
        ]
        assert (letter["reason"], letter["offset"]) == ("not_json", 0)
        assert ("value" in letter) is with_payload


async def test_every_record_counts_once_by_what_became_of_it():
    """Dispositions sum to the records read."""
    one = await started()
    other = retrieval(seconds=1, event_id="other")
    late = retrieval("r9", ts=1)
    robot = retrieval("r8", synthetic=True)
    sent = [retrieval(), retrieval(), other, robot, late, None, b"{", retrieval("r7", seconds=3600)]
    await one.pipeline.handle(batch(R, 0, *sent))
    expected = {"applied": 2, "duplicate": 1, "conflict": 1, "synthetic": 1, "late": 1}
    for disposition, count in expected.items():
        assert one.value("lara_events_total", type="retrieval", disposition=disposition) == count
    assert one.value("lara_events_total", type="unknown", disposition="tombstone") == 1
    assert one.value("lara_events_total", type="unknown", disposition="invalid") == 1
    assert one.value("lara_events_ahead_total") == 1


async def test_a_batch_of_nothing_but_holes_raises_its_watermark():
    """Markers and compacted records are no gap."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, holes=7))
    assert await one.watermark(R) == 7
    await one.pipeline.handle(batch(R, 7, retrieval()))
    assert await one.watermark(R) == 8


async def test_a_worker_tells_how_far_behind_it_is_and_how_long_evidence_took():
    """The newest record is 9 minutes old; the action came 2 minutes after its retrieval."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval()))
    await one.pipeline.handle(batch(A, 0, user("export", 120, **CLAIM)))
    assert one.value("lara_lag_seconds", topic="lara.actions", partition="0") == 540
    assert one.value("lara_evidence_delay_seconds_count") == 1
    assert one.value("lara_evidence_delay_seconds_sum") == 120


# --- gaps and redelivery ----------------------------------------------------------------------------


async def test_a_batch_from_beyond_the_watermark_is_a_gap():
    """It is dropped, nothing moves, and the partition is read again from its watermark."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval()))
    await one.pipeline.handle(batch(R, 5, retrieval("r5")))
    assert one.shell.rewinds == [{R: 1}]
    assert await one.watermark(R) == 1
    assert "retrieval:r5" not in one.store.entities()
    assert one.value("lara_rewinds_total", reason="gap") == 1
    await one.pipeline.handle(
        batch(R, 1, retrieval("r2"), retrieval("r3"), retrieval("r4"), None, retrieval("r5"))
    )
    assert await one.watermark(R) == 6


async def test_a_log_whose_start_has_overtaken_its_reader_is_no_gap():
    """The consumer goes on at the start: what lies between is lost, counted once, and not asked for again."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval()))
    one.shell.logs[R] = Bounds(20, 50)
    await one.pipeline.handle(batch(R, 20, retrieval("r2")))
    await one.pipeline.handle(batch(R, 21, retrieval("r3")))
    assert one.shell.rewinds == []
    assert one.value("lara_losses_total", topic=R.topic, reason="retention") == 1
    assert await one.watermark(R) == 22


async def test_a_log_that_begins_again_under_its_reader_is_another():
    """The consumer goes back to the start of it: its watermark is forgotten, and follows what is read."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, *[None] * 30))
    one.shell.ids[R.topic], one.shell.logs[R] = "kafka/2", Bounds(0, 2)
    await one.pipeline.handle(batch(R, 0, retrieval()))
    assert one.shell.rewinds == []
    assert one.value("lara_losses_total", topic=R.topic, reason="recreated") == 1
    assert await one.watermark(R) == 1


async def test_a_batch_of_a_log_that_another_worker_began_anew_is_dropped():
    """Its offsets say nothing any more; the worker reads on at the watermark of the new log."""
    state = State()
    late, other = await started(state=state), worker(state)
    await late.pipeline.handle(batch(R, 0, retrieval()))
    other.shell.ids[R.topic] = "kafka/2"
    await other.pipeline.resume([R])
    await other.pipeline.handle(batch(R, 0, *[None] * 5))
    late.shell.ids[R.topic] = "kafka/2"
    await late.pipeline.handle(batch(R, 1, *[None] * 90))
    assert late.shell.rewinds == [{R: 5, A: 0}]
    assert await late.watermark(R) == 5
    assert late.value("lara_losses_total", topic=R.topic, reason="recreated") == 0


async def test_a_batch_that_comes_again_changes_nothing():
    """Positions before the watermark are no gap, and do not lower it: what follows it is none either."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval(), retrieval("r2")))
    before = running.metrics_of(one.store, at(3600), DEFAULT)
    await one.pipeline.handle(batch(R, 0, retrieval()))
    assert running.metrics_of(one.store, at(3600), DEFAULT) == before
    assert await one.watermark(R) == 2
    await one.pipeline.handle(batch(R, 2, retrieval("r3")))
    assert await one.watermark(R) == 3
    assert one.shell.rewinds == []


async def test_a_partition_that_is_revoked_while_its_batch_is_at_work_is_not_held_again():
    """Its watermark is raised, which is true; what comes of it later is dropped."""
    one = await started()
    one.publisher.before = lambda: one.pipeline.revoke([R])
    await one.pipeline.handle(batch(R, 0, retrieval()))
    assert await one.watermark(R) == 1
    await one.pipeline.handle(batch(R, 1, retrieval("r2")))
    assert await one.watermark(R) == 1
    assert "retrieval:r2" not in one.store.entities()


async def test_a_batch_of_a_partition_that_is_no_longer_held_is_dropped():
    """Its new owner reads it from the watermark."""
    one = await started()
    await one.pipeline.revoke([R])
    await one.pipeline.handle(batch(R, 0, retrieval()))
    assert await one.watermark(R) == 0
    assert one.store.entities() == {}
    assert one.shell.rewinds == []


async def test_partitions_of_one_topic_have_watermarks_of_their_own():
    """What one has read says nothing of the other."""
    one = await started(R, R1)
    await one.pipeline.handle(batch(R, 0, retrieval(), retrieval("r2")))
    await one.pipeline.handle(batch(R1, 0, retrieval("r3")))
    assert (await one.watermark(R), await one.watermark(R1)) == (2, 1)
    await one.pipeline.handle(batch(R1, 2, retrieval("r4")))
    assert one.shell.rewinds == [{R1: 1}]


# --- batches that wait together ---------------------------------------------------------------------


async def waiting_together(one: Worker, *batches: Fetched) -> None:
    """Hold the first batch in its publication until all others wait, then let go."""
    release = asyncio.Event()
    one.publisher.before = release.wait
    handling = [asyncio.create_task(one.pipeline.handle(fetched)) for fetched in batches]
    for _ in range(50):
        await asyncio.sleep(0)
    one.publisher.before = lambda: None
    release.set()
    await asyncio.gather(*handling)


async def test_batches_that_wait_together_settle_together():
    """Three batches, two settlings: the first, and the two that waited for it."""
    one = await started(R, A, R1)
    first = batch(R, 0, retrieval())
    await waiting_together(one, first, batch(A, 0, user("export", **CLAIM)), batch(R1, 0, retrieval("r2")))
    assert len(one.publisher.published) == 2
    assert [await one.watermark(partition) for partition in (R, A, R1)] == [1, 1, 1]
    assert bodies(one.publisher.letters)["attributions", "user-export"]["resolution"] == "explicit"


async def test_a_gap_in_one_partition_does_not_hold_up_those_that_wait_with_it():
    """The others are settled, and only that one is read again."""
    one = await started(R, A, R1)
    await waiting_together(
        one, batch(R, 0, retrieval()), batch(A, 9, user("export")), batch(R1, 0, retrieval("r2"))
    )
    assert one.shell.rewinds == [{A: 0}]
    assert [await one.watermark(partition) for partition in (R, A, R1)] == [1, 0, 1]


# --- failures ---------------------------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch):
    """Pauses are there, and short."""
    monkeypatch.setattr(module, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(module, "SWEEP_SECONDS", 0.001)


def failing(*errors: BaseException) -> Callable[[], None]:
    left = list(errors)

    def before() -> None:
        if left:
            raise left.pop(0)

    return before


async def test_a_broker_out_of_reach_is_waited_for_in_place(hasty):
    """Then it is published once, and each record counts once, as what it was at first."""
    one = await started()
    one.publisher.before = failing(KafkaConnectionError(), OSError())
    await one.pipeline.handle(batch(R, 0, retrieval()))
    assert len(one.publisher.published) == 1
    assert [letter.key for letter in one.publisher.letters] == [b"r1"]
    assert (await one.watermark(R), await one.due()) == (1, set())
    assert one.value("lara_events_total", type="retrieval", disposition="applied") == 1
    assert one.value("lara_events_total", type="retrieval", disposition="duplicate") == 0
    assert one.shell.rewinds == []


class Flaky(MemoryStore):
    """A store that is out of reach once at each of its effects, after having done what was asked."""

    failed: set[str]

    async def _once(self, name: str, effect: Any) -> Any:
        found = await effect
        self.failed = getattr(self, "failed", set())
        if name not in self.failed:
            self.failed.add(name)
            raise RedisConnectionError(f"the answer to {name} was lost")
        return found

    async def open(self):
        return await self._once("open", super().open())

    async def load(self, keys):
        return await self._once("load", super().load(keys))

    async def save(self, writes, term, token, *, whole=False):
        return await self._once("save", super().save(writes, term, token, whole=whole))

    async def advance(self, *arguments, **logs):
        name = "start" if logs else "advance"
        return await self._once(name, super().advance(*arguments, **logs))

    async def clear(self, published):
        return await self._once("clear", super().clear(published))

    async def watermarks(self, partitions):
        return await self._once("watermarks", super().watermarks(partitions))

    async def begin(self, logs, term):
        return await self._once("begin", super().begin(logs, term))

    async def logs(self, partitions):
        return await self._once("logs", super().logs(partitions))


async def test_a_store_out_of_reach_is_waited_for_in_place(hasty):
    """Also where it did what was asked and only its answer was lost: every figure is as if nothing had been."""
    one = await started(store=Flaky)
    sent = [retrieval(), user("export", **CLAIM)]
    await one.pipeline.handle(batch(R, 0, *sent))
    assert one.store.failed == {
        "open",
        "load",
        "save",
        "advance",
        "clear",
        "watermarks",
        "begin",
        "logs",
        "start",
    }
    assert one.value("lara_redis_errors_total") == 9
    assert await one.watermark(R) == 2
    plain = running.metrics_of(
        await running.settled([running.accepted(map(encoded, sent))], DEFAULT), at(3600), DEFAULT
    )
    assert running.metrics_of(one.store, at(3600), DEFAULT) == plain


async def test_any_other_error_escapes_and_the_watermark_stays():
    """A mistake of the program ends it before the offset moves."""
    one = await started()
    one.publisher.before = failing(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await one.pipeline.handle(batch(R, 0, retrieval()))
    assert await one.watermark(R) == 0
    assert await one.due() == {"retrieval:r1"}


async def test_a_server_that_restarted_begins_a_new_term():
    """What it forgot is read again from the watermarks that it kept; the batch at hand is dropped."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval()))
    snapshot = one.store.snapshot()
    await one.pipeline.handle(batch(R, 1, retrieval("r2")))
    version = one.store.entities()["retrieval:r1"].version
    one.store.roll_back(snapshot)
    await one.pipeline.handle(batch(A, 0, user("export", **CLAIM)))
    assert one.shell.rewinds == [{R: 1, A: 0}]
    assert one.value("lara_rewinds_total", reason="restart") == 1
    assert await one.watermark(A) == 0
    await one.pipeline.handle(batch(R, 1, retrieval("r2")))
    await one.pipeline.handle(batch(A, 0, user("export", **CLAIM)))
    assert (await one.watermark(R), await one.watermark(A)) == (2, 1)
    assert one.store.entities()["retrieval:r1"].version > version + 1
    assert bodies(one.publisher.letters)["outcomes", "r1"]["positive"]["strict"] is True


# --- while idle -------------------------------------------------------------------------------------


async def test_what_was_published_from_lost_state_is_taken_back(hasty):
    """Read again in one batch, the export is none of the retrieval's at all: nobody would say so by itself."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval()))
    snapshot = one.store.snapshot()
    await one.pipeline.handle(batch(A, 0, user("export", **CLAIM, event_id="x")))
    assert bodies(one.publisher.letters)["outcomes", "r1"]["positive"]["strict"] is True
    one.store.roll_back(snapshot)
    earlier = user("export", seconds=90, event_id="x")
    for _ in range(2):  # the first is dropped, since the term began anew
        await one.pipeline.handle(batch(A, 0, user("export", **CLAIM, event_id="x"), earlier))
    await watched(one, lambda: bodies(one.publisher.letters)["outcomes", "r1"]["positive"]["strict"] is False)
    assert bodies(one.publisher.letters)["attributions", "x"]["resolution"] == "none"
    assert await one.store.unsaid() is None


async def test_a_worker_that_published_under_a_term_that_ended_says_it_again(hasty):
    """The server restarts between its publication and its watermark, and another worker is first to notice."""
    state = State()
    one = await started(state=state)
    await one.pipeline.handle(batch(R, 0, retrieval()))
    snapshot, version = one.store.snapshot(), one.store.entities()["retrieval:r1"].version

    async def lose():
        one.store.roll_back(snapshot)
        other = await started(state=state)
        assert await other.store.unsaid() is None
        one.publisher.before = lambda: None

    one.publisher.before = lose
    await one.pipeline.handle(batch(A, 0, user("export", **CLAIM)))
    assert one.store.entities()["retrieval:r1"].version > version
    assert "retrieval:r1" in await one.due()


async def watched(one: Worker, until: Callable[[], Any]) -> None:
    """Let the worker watch until something holds; it must, soon."""
    watching = asyncio.create_task(one.pipeline.watch())
    try:
        async with asyncio.timeout(2):
            while not until() and not watching.done():
                await asyncio.sleep(0.001)
    finally:
        watching.cancel()
    assert not watching.done() or watching.exception() is None


async def crashed(state: State, seconds: float, *batches: Fetched) -> None:
    """A worker that settles, and ends before it publishes."""
    one = await started(state=state, seconds=seconds)
    one.publisher.before = failing(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await one.pipeline.handle(*batches or (batch(R, 0, retrieval()),))


async def test_what_a_crash_left_unpublished_is_published_by_any_worker(hasty):
    """Its marks are old, and are taken back once all is told."""
    state = State()
    await crashed(state, seconds=600)
    other = await started(A, state=state, seconds=620)
    await watched(other, lambda: other.publisher.published)
    assert bodies(other.publisher.letters)["outcomes", "r1"]["retrieval_id"] == "r1"
    assert await other.due() == set()
    assert await other.watermark(R) == 0


async def test_a_mark_that_is_young_is_left_to_the_worker_that_set_it(hasty):
    """It is being published."""
    state = State()
    await crashed(state, seconds=600)
    other = await started(A, state=state, seconds=610)
    sweeps = []
    due = other.store.due
    other.store.due = lambda limit: sweeps.append(limit) or due(limit)
    await watched(other, lambda: len(sweeps) > 2)
    assert other.publisher.published == []
    assert await other.due() == {"retrieval:r1"}


async def test_a_mark_that_was_renewed_meanwhile_is_not_taken_back(hasty):
    """The present state is published; a newer version has its own mark."""
    state = State()
    await crashed(state, seconds=600)
    other = await started(R, state=state, seconds=620)
    other.publisher.before = lambda: crashed(state, 621, batch(A, 0, user("export", **CLAIM)))
    await watched(other, lambda: other.publisher.published)
    assert {due.mark.partition(" ")[0] for due in await other.store.due(9)} == {f"{at(621)}/w1"}


async def test_a_restart_is_noticed_while_idle(hasty):
    """Without any batch, everything held is read again from the watermarks."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval()))
    one.store.roll_back(one.store.snapshot())
    await watched(one, lambda: one.shell.rewinds)
    assert one.shell.rewinds[0] == {R: 1, A: 0}
    assert await one.store.restarted() is False


async def test_a_watermark_that_went_back_is_noticed_while_idle(hasty):
    """A state that is older than it was is read up again, also where no server is known to have restarted."""
    state = State()
    one = await started(state=state)
    await one.pipeline.handle(batch(R, 0, retrieval(), retrieval("r2")))
    state.shards[3].watermarks[Partition(*R)] = 1
    await watched(one, lambda: one.shell.rewinds)
    assert one.shell.rewinds[0] == {R: 1, A: 0}


async def test_a_topic_made_anew_is_noticed_while_idle(hasty):
    """It is read from its start, counted as a loss, and its watermark is its own."""
    one = await started()
    await one.pipeline.handle(batch(R, 0, retrieval(), retrieval("r2")))
    one.shell.ids[R.topic] = "kafka/2"
    await watched(one, lambda: one.shell.rewinds)
    assert one.shell.rewinds == [{R: 0}]
    assert one.value("lara_rewinds_total", reason="log") == 1
    assert one.value("lara_losses_total", topic=R.topic, reason="recreated") == 1
    assert await one.watermark(R) == 0
    await one.pipeline.handle(batch(R, 0, retrieval("r3")))
    assert await one.watermark(R) == 1


async def test_a_mark_whose_entity_has_expired_is_taken_back(hasty):
    """Nobody can publish it any more."""
    state = State()
    await crashed(state, seconds=600)
    for shard in state.shards:
        shard.entities.clear()
    other = await started(A, state=state, seconds=620)
    assert await other.due() == {"retrieval:r1"}
    await watched(other, lambda: not any(shard.due for shard in state.shards))
    assert other.publisher.letters == []


async def test_a_store_that_takes_no_writes_is_noticed_while_idle(hasty):
    """Reading alone would look well."""
    one = await started()
    advance = one.store.advance
    full = [OutOfMemoryError("full"), OutOfMemoryError("full")]

    async def refusing(*arguments):
        if full:
            raise full.pop()
        await advance(*arguments)

    one.store.advance = refusing
    one.pipeline.progress.beat({R: 0})
    seen = []
    failed = one.pipeline.progress.failed
    one.pipeline.progress.failed = lambda error: (failed(error), seen.append(one.pipeline.progress.ready()))
    await watched(one, lambda: not full and one.pipeline.progress.ready().ok)
    assert set(seen) == {(False, "Redis does not do its part: OutOfMemoryError: full")}


async def test_a_worker_that_has_not_begun_has_nothing_to_sweep(hasty):
    """Before its first partitions it has no term."""
    one = worker()
    watching = asyncio.create_task(one.pipeline.watch())
    await asyncio.sleep(0.02)
    assert not watching.done()
    watching.cancel()
    assert one.publisher.published == []
