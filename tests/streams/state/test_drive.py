"""Driving the engine against a store: what becomes due for publication."""

from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.building import DEFAULT, events, placement, retrieval, user


async def test_an_action_that_moves_is_announced_for_the_old_and_the_new_retrieval():
    """An earlier record of its placement names another retrieval: the action and both retrievals are due."""
    store = MemoryStore(DEFAULT)
    term = await store.open()
    later = placement(source_retrieval_id="r1", seconds=20)
    first = events(retrieval("r1"), retrieval("r2"), later, user("export", document_id="d1", event_id="x"))
    before = await drive(first, DEFAULT, store, term, "t")
    earlier = events(placement(source_retrieval_id="r2", seconds=10))
    after = await drive(earlier, DEFAULT, store, term, "t")
    assert {"retrieval:r1", "action:x"} <= {due.key for due in before.due}
    assert {"retrieval:r1", "retrieval:r2", "action:x"} == {due.key for due in after.due}
