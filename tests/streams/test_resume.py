"""Where partitions go on: watermarks that mean something, and four ways in which they do not."""

import pytest
from aiokafka import TopicPartition

from metrics.worker_metrics import WorkerMetrics
from streams.resume import Bounds, ResumePoints
from streams.state.memory import MemoryStore, State
from streams.state.store import Log, Partition, Refused
from tests.building import DEFAULT

P, Q = TopicPartition("lara.actions", 0), TopicPartition("lara.actions", 1)


class Broker:
    """Logs, by partition, and the identity of the one topic."""

    def __init__(self, identity="east/1"):
        self.identity = identity
        self.logs = {P: Bounds(0, 100), Q: Bounds(0, 100)}

    async def bounds(self, partitions):
        return {partition: self.logs[partition] for partition in partitions}

    async def identities(self, topics):
        return dict.fromkeys(topics, self.identity)


class Reader:
    """One worker's resume points on a shared state."""

    def __init__(self, state, broker):
        self.store, self.broker, self.metrics = MemoryStore(DEFAULT, state), broker, WorkerMetrics()
        self.points = ResumePoints(self.store, self.metrics)

    async def take(self, *partitions):
        self.term = await self.store.open()
        self.points.want(partitions)
        return await self.points.take(partitions, self.broker, self.term)

    async def settle(self, marks):
        """As the pipeline: write, then note."""
        names = {Partition(*one): at for one, at in marks.items()}
        await self.store.advance(names, self.term, logs=self.points.logs_of(names))
        self.points.raised(marks)

    async def watermark(self):
        return (await self.store.watermarks([Partition(*P)])).get(Partition(*P))

    def losses(self):
        return {
            sample.labels["reason"]: sample.value
            for family in self.metrics.losses.collect()
            for sample in family.samples
            if sample.name == "lara_losses_total"
        }


@pytest.fixture
def state():
    return State()


async def reader(state, broker=None, mark=None):
    """A reader of P, which settled up to a mark."""
    one = Reader(state, broker or Broker())
    await one.take(P)
    if mark is not None:
        await one.settle({P: mark})
    return one


# --- losses -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("identity", "bounds", "reason"),
    [
        ("east/2", Bounds(0, 100), "recreated"),
        ("west/2", Bounds(0, 100), "cluster"),
        ("east/1", Bounds(0, 20), "truncated"),
    ],
)
async def test_a_watermark_of_another_log_is_forgotten(state, identity, bounds, reason):
    """Counted once by its reason, and read from the start of the log, also where that has grown past it."""
    await reader(state, mark=50)
    broker = Broker(identity)
    broker.logs[P] = bounds
    one = Reader(state, broker)
    assert await one.take(P) == {P: 0}
    assert one.losses() == {reason: 1}
    assert await one.watermark() == 0
    await one.settle({P: 7})
    again = Reader(state, broker)
    assert await again.take(P) == {P: 7}
    assert again.losses() == {}


async def test_retention_raises_the_watermark_to_the_start_of_the_log(state):
    """Once: also if nothing is ever written again, the next reader finds no new loss, and no step back."""
    await reader(state, mark=50)
    broker = Broker()
    broker.logs[P] = Bounds(80, 80)
    one = Reader(state, broker)
    assert await one.take(P) == {P: 80}
    assert one.losses() == {"retention": 1}
    assert await one.watermark() == 80
    assert not await one.points.went_back()
    again = Reader(state, broker)
    assert await again.take(P) == {P: 80}
    assert again.losses() == {}


async def test_records_deleted_before_the_first_was_read_are_a_loss(state):
    """A log that was taken has a watermark, though nothing of it is settled; one never seen has no loss."""
    await reader(state)
    broker = Broker()
    broker.logs = {P: Bounds(20, 30), Q: Bounds(20, 30)}
    one = Reader(state, broker)
    assert await one.take(P, Q) == {P: 20, Q: 20}
    assert one.losses() == {"retention": 1}
    assert await one.watermark() == 20


async def test_a_topic_made_anew_before_anything_was_settled_is_a_loss_too(state):
    """What was in it is gone."""
    await reader(state)
    one = Reader(state, Broker("east/2"))
    assert await one.take(P) == {P: 0}
    assert one.losses() == {"recreated": 1}


async def test_a_broker_that_tells_no_identity_is_believed(state):
    """Unknown is no other log, before and after one is known."""
    await reader(state, Broker(""), mark=50)
    for identity in ("east/1", "", "east/1"):
        one = Reader(state, Broker(identity))
        assert await one.take(P) == {P: 50}
        assert one.losses() == {}
    assert await one.store.logs([Partition(*P)]) == {Partition(*P): Log("east/1", 0)}


async def test_a_partition_that_was_added_is_read_from_its_start(state):
    """It is no loss."""
    await reader(state, mark=50)
    broker = Broker()
    broker.logs[Q] = Bounds(0, 3)
    one = Reader(state, broker)
    assert await one.take(P, Q) == {P: 50, Q: 0}
    assert one.losses() == {}


# --- several workers --------------------------------------------------------------------------------


async def test_a_late_worker_cannot_raise_the_watermark_of_the_log_after_its_own(state):
    """Its offsets are another log's; taken again, it reads on with the others."""
    late = await reader(state, mark=50)
    one = Reader(state, Broker("east/2"))
    await one.take(P)
    with pytest.raises(Refused):
        await late.settle({P: 60})
    assert await one.watermark() == 0
    await one.settle({P: 10})
    late.broker = one.broker
    assert await late.take(P) == {P: 10}
    assert late.losses() == {}


async def test_two_workers_that_see_the_new_log_at_once_forget_once(state):
    """The second finds it done: what the first has settled since stands."""
    await reader(state, mark=50)
    first, second = (Reader(state, Broker("east/2")) for _ in range(2))
    begin = second.store.begin

    async def overtaken(logs, term):
        await first.take(P)
        await first.settle({P: 30})
        await begin(logs, term)

    second.store.begin = overtaken
    await second.take(P)
    assert await first.watermark() == 30


async def test_a_worker_with_stale_news_cannot_bring_the_old_log_back_unseen(state):
    """A log was begun anew between its look and its word: it is refused and looks again."""
    await reader(state, mark=50)
    stale, other = Reader(state, Broker("east/2")), Reader(state, Broker("east/3"))
    begin = stale.store.begin

    async def overtaken(logs, term):
        await other.take(P)
        await begin(logs, term)

    stale.store.begin = overtaken
    with pytest.raises(Refused):
        await stale.take(P)


async def test_what_another_worker_settles_meanwhile_is_no_log_cut_short(state):
    """The log grows between two questions: its end is asked for after the watermark."""
    late = await reader(state, mark=50)
    one = Reader(state, Broker())

    async def growing(partitions):
        found = {P: Bounds(0, 100)}
        await late.settle({P: 120})
        return found

    one.broker.bounds = growing
    assert await one.take(P) == {P: 50}
    assert one.losses() == {}
    assert await one.watermark() == 120


async def test_a_mark_of_a_newer_log_is_not_taken_for_the_older_one_s(state):
    """Begun anew and read on between the look at the log and the look at its mark: refused."""
    await reader(state, mark=50)
    one, other = Reader(state, Broker()), Reader(state, Broker("east/2"))
    watermarks = one.store.watermarks

    async def overtaken(partitions):
        await other.take(P)
        await other.settle({P: 90})
        return await watermarks(partitions)

    one.store.watermarks = overtaken
    with pytest.raises(Refused):
        await one.take(P)
    assert await other.watermark() == 90


async def test_a_crash_while_forgetting_is_mended(state):
    """Some shards have begun anew, some have not: the next worker brings all to one log."""
    await reader(state, mark=50)
    for shard in state.shards[:3]:
        shard.logs[Partition(*P)] = Log("east/2", 1)
        del shard.watermarks[Partition(*P)]
    one = Reader(state, Broker("east/2"))
    assert await one.take(P) == {P: 0}
    await one.settle({P: 5})
    assert await one.watermark() == 5


# --- while held -------------------------------------------------------------------------------------


async def test_a_log_that_changes_while_it_is_held_is_named(state):
    """One that a broker does not tell of, for a moment, is not."""
    one = await reader(state, mark=50)
    assert await one.points.renewed(one.broker) == []
    one.broker.identity = ""
    assert await one.points.renewed(one.broker) == []
    one.broker.identity = "east/2"
    assert await one.points.renewed(one.broker) == [P]


async def test_what_was_given_up_meanwhile_is_not_taken(state):
    """A partition that waits for its broker does not hold up those that came since."""
    one = await reader(state, mark=50)
    one.points.release([P])
    assert await one.points.take([P], one.broker, one.term) == {}
    assert one.points.marks == {}
