"""The canary without services: what it sends, what it counts, and what it says of itself."""

import json
from itertools import permutations

import pytest

from attribution.derived import outputs_of
from attribution.parsing import parse
from metrics.buckets import Span
from metrics.canary_metrics import CanaryMetrics
from streams.commands import canary
from streams.commands.canary import Keeper, Trip, new_canary
from streams.settings import Settings
from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.building import DEFAULT

SETTINGS = Settings(canary_interval_seconds=60, canary_timeout_seconds=30)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def trips(monkeypatch):
    """How the next canaries fare, in this order."""
    coming: list[Trip] = []

    async def fly(settings: Settings) -> Trip:
        return coming.pop(0)

    monkeypatch.setattr(canary, "fly", fly)
    return coming


def values(metrics: CanaryMetrics) -> dict[str, float]:
    return {
        sample.name.removeprefix("lara_canary_"): sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_it_is_a_retrieval_a_placement_and_an_export_in_this_order():
    """Each a valid event, marked synthetic, stamped with its time and keyed alike."""
    records, _ = new_canary(5_000)
    events = [json.loads(record.value) for record in records]
    assert [(one["type"], one["ts"], one["synthetic"]) for one in events] == [
        ("retrieval", 5_000, True),
        ("placement", 5_001, True),
        ("action", 5_002, True),
    ]
    assert [record.ts for record in records] == [one["ts"] for one in events]
    assert len({record.key for record in records}) == 1
    assert events[2]["action"] == "export" and events[2]["document_id"] == events[1]["document_id"]
    assert events[1]["source_retrieval_id"] == events[0]["retrieval_id"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_it_counts_nowhere_and_each_event_has_its_answer(order):
    """Whichever is settled first: no counter has moved after any of them, and all three answers are due."""
    records, answers = new_canary(5_000)
    store = MemoryStore(DEFAULT)
    term = await store.open()
    for number in order:
        event = parse(records[number].value)
        settled = await drive([event], DEFAULT, store, term, "canary")
        assert settled.dispositions == ["synthetic"]
        assert store.sums([Span(None, 1)]) == [{}]
    due = [one.key for one in await store.due(10)]
    entities = await store.load(due)
    outputs = [one for key in due for one in outputs_of(key, entities[key], DEFAULT)]
    assert {(one.topic, one.key) for one in outputs} == answers


def test_no_two_have_an_id_in_common():
    """A second sending is no duplicate of the first."""
    first, second = new_canary(1), new_canary(1)
    assert not first.answers & second.answers


async def test_what_was_sent_came_back_or_was_lost(trips):
    """The round trip and the time are those of the last that came back."""
    metrics, clock = CanaryMetrics(), Clock()
    keeper = Keeper(SETTINGS, metrics, clock, clock)
    assert "round_trip_seconds" not in values(metrics)
    trips += [Trip(0.25), Trip(30.0, "nobody there")]
    await keeper.send_one()
    clock.now = 1_100.0
    await keeper.send_one()
    assert values(metrics) == {
        "sent_total": 2,
        "returned_total": 1,
        "lost_total": 1,
        "last_returned_timestamp_seconds": 1_000.0,
        "round_trip_seconds": 0.25,
    }


async def test_it_is_ready_when_the_last_one_came_back(trips):
    """And says how the last one fared."""
    keeper = Keeper(SETTINGS, CanaryMetrics(), Clock(), Clock())
    assert keeper.ready() == (False, "no canary has come back yet")
    trips += [Trip(30.0, "nobody there"), Trip(0.25)]
    await keeper.send_one()
    assert keeper.ready() == (False, "the last canary is lost: nobody there")
    await keeper.send_one()
    assert keeper.ready() == (True, "the last canary came back after 0.250 s")


@pytest.mark.parametrize(("silent", "live"), [(150, True), (151, False)])
async def test_it_is_alive_as_long_as_it_sends(silent, live):
    """Interval, timeout, and what a client takes to give a broker up."""
    clock = Clock()
    keeper = Keeper(SETTINGS, CanaryMetrics(), clock, clock)
    clock.now += silent
    assert keeper.live().ok is live
