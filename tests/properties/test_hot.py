"""What a robot, a loop or a hostile producer does: one entity that everything happens to.

State and time of a batch stay bounded: the biggest entity is measured, and work is counted in bytes written,
not in seconds, which a busy machine would blur.
"""

import itertools

import pytest

from attribution.entities import encode
from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.building import DEFAULT, events, placement, retrieval, user
from tests.properties import running

BATCH = 1000
LARGEST = 500_000  # bytes of one entity: `maximum_statements` of a few hundred each, of a few topics


def actions_on_one_retrieval(count):
    yield retrieval("r1", ["a1"])
    for number in range(count):
        own = {"session_guid": f"s{number}", "request_id": f"q{number}", "event_id": f"x{number:06}"}
        yield user("click", 100 + number, source_retrieval_id="r1", consumed_asset_id="a1", **own)


def placements_in_one_document(count):
    yield retrieval("r1", ["a1"])
    for number in range(count):
        yield placement(f"p{number:06}", "a1", 10 + number, source_retrieval_id="r1")
    yield user("export", 10 + count, document_id="d1", event_id="whole")


def retrievals_in_one_session(count):
    for number in range(count):
        own = {"query": f"cats {number % 7}", "need_id": f"n{number % 5}", "request_id": f"q{number}"}
        yield retrieval(f"r{number:06}", ["a1"], number, **own)


async def settled(sent):
    """A store, and the biggest entity in bytes of each batch."""
    store = MemoryStore(DEFAULT)
    term, biggest = await store.open(), []
    while batch := list(itertools.islice(sent, BATCH)):
        await drive(events(*batch), DEFAULT, store, term, "t")
        biggest.append(max(len(encode(entity)) for entity in store.entities().values()))
    return store, biggest


CASES = [
    (actions_on_one_retrieval, 3_000, 100_000),
    (placements_in_one_document, 3_000, 10_000),
    (retrievals_in_one_session, 3_000, 10_000),
]


async def stays_bounded(sent, count):
    store, biggest = await settled(sent(count))
    assert max(biggest) <= LARGEST
    assert biggest[-1] <= 1.2 * max(biggest[:2]), "the biggest entity goes on growing"
    return running.outputs_in(store, DEFAULT)


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "count", "_"), CASES)
async def test_a_hot_entity_stays_bounded(sent, count, _):
    """Three times the bound: the biggest entity of the third batch is that of the second."""
    await stays_bounded(sent, count)


@pytest.mark.prove
@pytest.mark.parametrize(("sent", "_", "count"), CASES)
async def test_a_very_hot_entity_stays_bounded(sent, _, count):
    """100,000 actions, 10,000 placements, 10,000 retrievals."""
    await stays_bounded(sent, count)


@pytest.mark.slow
async def test_every_action_on_a_hot_retrieval_is_attributed():
    """Beyond the bound they are no evidence any more, but each knows where it belongs."""
    outputs = await stays_bounded(actions_on_one_retrieval, 3_000)
    assert {one["resolution"] for one in outputs["attributions"].values()} == {"explicit"}
    assert len(outputs["attributions"]) == 3_000
    assert len(outputs["outcomes"]["r1"]["credits"]) == DEFAULT.maximum_statements
