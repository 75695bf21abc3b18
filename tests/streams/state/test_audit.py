"""The audit: what it finds, what it leaves alone, and that workers may go on meanwhile."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.buckets import Span
from streams.state.audit import HOUR, MINUTE, TOTAL, Audit, Bucket, Drift, audit, digest
from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.building import DEFAULT, at, events, prompt, retrieval, user
from tests.properties import running
from tests.streams.state.memory_contents import MemoryContents, lose

FIRST = at(0) // 60_000 // 1440 * 1440
MINUTES = range(FIRST, FIRST + 1440)
TEN = at(0) // 60_000
EVENTS = (
    prompt(),
    retrieval("r1", ["a1"], request_id="q1"),
    retrieval("r2", ["a2"], 61, request_id="q2"),
    user("export", 120, consumed_asset_id="a1", source_retrieval_id="r1"),
)


def state(*sent):
    return running.settle_in_memory([events(*(sent or EVENTS))], DEFAULT)


def contents(*sent, looking=lambda what: None):
    return MemoryContents(state(*sent), MINUTES, looking)


def settle_more(store: MemoryStore, *sent) -> None:
    async def work():
        await drive(events(*sent), DEFAULT, store, await store.open(), "more")

    asyncio.run(work())


def test_a_state_that_is_whole_has_no_drift():
    """Minutes, hours and the total are the sums of their entities, whatever happened."""
    found = audit(contents(), DEFAULT)
    assert found.drift == ()
    assert (found.size, found.lost, found.changed) == (0, {}, 0)
    assert found.entities == len(state().entities())
    assert found.minutes == 3


def test_an_entity_that_is_gone_is_found_with_all_that_it_counted():
    """Which counters of which minute, and how many entities of which kind are lost."""
    whole = contents()
    lose(whole.store, "retrieval:r1", "action:user-export")
    found = audit(whole, DEFAULT)
    assert found.lost == {"action": 1, "retrieval": 1}
    assert Drift(MINUTE, TEN, "retrievals|unspecified|unknown", 0, 1) in found.drift
    assert Drift(MINUTE, TEN + 2, "actions|explicit", 0, 1) in found.drift
    assert {one.level for one in found.drift} == {MINUTE}, "hours and total hold what their minutes hold"
    assert {one.number for one in found.drift} == {TEN, TEN + 2}
    assert found.size == sum(abs(one.expected - one.found) for one in found.drift) >= 2


@pytest.mark.parametrize(
    "bucket", [Bucket(MINUTE, TEN + 7), Bucket(HOUR, TEN // 60), Bucket(TOTAL, 0)], ids=lambda one: one.level
)
@pytest.mark.parametrize("delta", [3, -1])
def test_a_bucket_that_somebody_changed_is_found(bucket, delta):
    """At every level, in a counter that is there or not, and nowhere else."""
    whole = contents()
    before = whole.store.sums([_span(bucket)])[0]
    whole.tampered[bucket] = {"prompts|chat": delta}
    found = audit(whole, DEFAULT)
    ours = [one for one in found.drift if one.level == bucket.level]
    was = before.get("prompts|chat", 0)
    assert ours == [Drift(*bucket, "prompts|chat", was, was + delta)]
    above = {MINUTE: {HOUR, TOTAL}, HOUR: set(), TOTAL: set()}[bucket.level]
    assert {one.level for one in found.drift} == {bucket.level} | above


def _span(bucket):
    length = {MINUTE: 1, HOUR: 60, TOTAL: 10**9}[bucket.level]
    return Span(bucket.number * length, (bucket.number + 1) * length)


@pytest.mark.parametrize("moment", range(4))
def test_what_is_written_meanwhile_is_no_drift(moment):
    """Before any look a worker settles more: what it wrote then is left for the next audit."""
    looks = []

    def looking(what):
        looks.append(what)
        if len(looks) == moment + 1:
            settle_more(whole.store, user("share", 122, event_id="x", source_retrieval_id="r1"))

    whole = contents(looking=looking)
    found = audit(whole, DEFAULT)
    assert looks == ["buckets", "entities", "buckets"]
    assert found.drift == ()
    assert (found.changed > 0) == (moment in (1, 2))


def test_a_loss_is_found_although_other_minutes_are_written():
    """What is quiet is judged, whatever goes on beside it."""
    chance = iter(range(100))

    def looking(what):
        settle_more(whole.store, user("share", 3600 + 60 * next(chance), event_id=f"x{next(chance)}"))

    whole = contents(looking=looking)
    lose(whole.store, "retrieval:r2")
    found = audit(whole, DEFAULT)
    assert found.lost == {"retrieval": 1}
    assert {one.number for one in found.drift} == {TEN + 1}
    assert found.changed > 0


def test_a_difference_that_the_second_reading_does_not_find_is_no_drift():
    """An entity missed at first, as when the keys of a server are moved while they are scanned."""
    whole = contents()
    looks = iter(range(100))
    entities = whole.entities

    def missing_one_at_first():
        first = next(looks) == 0
        for page in entities():
            yield {key: one for key, one in page.items() if not first or key != "retrieval:r1"}

    whole.entities = missing_one_at_first
    found = audit(whole, DEFAULT)
    assert (found.drift, found.changed) == ((), 1)


def test_an_entity_that_comes_twice_counts_once():
    """A scan of Redis may give a key more than once."""
    whole = contents()
    whole.twice = True
    assert audit(whole, DEFAULT).drift == ()


def test_minutes_of_which_entities_may_have_expired_are_not_judged():
    """Neither they nor the total."""
    whole = contents()
    lose(whole.store, "retrieval:r1")
    whole.tampered[Bucket(TOTAL, 0)] = {"prompts|chat": 1}
    found = audit(whole, DEFAULT, since=TEN + 1)
    assert (found.drift, found.since) == ((), TEN + 1)
    assert audit(whole, DEFAULT, since=TEN).lost == {"retrieval": 1}


def test_at_most_so_many_buckets_are_looked_into(monkeypatch):
    """The others are counted: a state that lost everything is told in bounded memory."""
    monkeypatch.setattr("streams.state.audit.MOST_SUSPECTS", 2)
    whole = contents()
    lose(whole.store, *whole.store.entities())
    found = audit(whole, DEFAULT)
    assert found.more == 1
    assert {one.number for one in found.drift} == {TEN + 1, TEN + 2}


def test_lost_counts_entities_and_not_their_counters():
    """An invented entity is no lost one."""
    drift = (
        Drift(MINUTE, 1, "retrievals|browse|chat", 1, 3),
        Drift(MINUTE, 1, "retrievals_null|browse|chat", 0, 2),
        Drift(MINUTE, 2, "sessions|chat", 2, 1),
        Drift(HOUR, 0, "retrievals|browse|chat", 1, 3),
    )
    assert Audit(None, 1, 1, 0, drift, 0).lost == {"retrieval": 2}


counters = st.dictionaries(st.text(max_size=5), st.integers(-(10**12), 10**12), max_size=4)


@given(counters, counters)
@settings(deadline=None)
def test_the_digest_of_a_sum_is_the_sum_of_digests(some, more):
    """So the digests of entities add up to that of their bucket, and different counters differ."""
    total = {name: some.get(name, 0) + more.get(name, 0) for name in some.keys() | more.keys()}
    assert digest(total) == (digest(some) + digest(more)) % (2**61 - 1)
    plain = {name: value for name, value in total.items() if value}
    assert digest(total) == digest(plain)
    assert (digest(some) == digest(more)) == (
        {name: value for name, value in some.items() if value}
        == {name: value for name, value in more.items() if value}
    )


def test_kinds_that_count_nothing_do_not_matter():
    """A document that is lost is in no counter: only a rebuild would tell."""
    whole = contents(*EVENTS, {**user("edit", 200, event_id="e"), "document_id": "d1"})
    lose(whole.store, "document:d1")
    assert audit(whole, DEFAULT).drift == ()
