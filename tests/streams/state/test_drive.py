"""Driving the engine against a store: what becomes due for publication."""

import pytest

from streams.state.drive import LONGEST, Pace, drive
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


class Contended(MemoryStore):
    """A store where another worker is first at whatever is saved whole."""

    def __init__(self, semantics):
        super().__init__(semantics)
        self.whole_saves = 0

    async def save(self, writes, term, token, *, whole=False):
        self.whole_saves += whole
        return frozenset(write.key for write in writes) if whole else await super().save(writes, term, token)


async def test_what_is_lost_again_and_again_is_tried_whole_ever_less_often():
    """100 batches that would all be lost whole: each one that is tried costs twice as long a pause."""
    store, pace = Contended(DEFAULT), Pace()
    term = await store.open()
    tried = []
    for number in range(100):
        before = store.whole_saves
        settled = await drive(events(retrieval(f"r{number}")), DEFAULT, store, term, "t", pace)
        assert settled.dispositions == ["applied"]
        tried += [number] * (store.whole_saves - before)
    assert tried == [0, 3, 8, 17, 34, 67]


@pytest.mark.parametrize("losses", [1, 20])
def test_one_whole_save_that_is_kept_forgets_the_losses(losses):
    """After it, whole saves are tried at once, and the next loss costs as little as the first."""
    pace = Pace()
    for _ in range(losses):
        pace.saved(lost=True)
    waited = next(count for count in range(LONGEST + 1) if pace.whole())
    assert waited == min(2**losses, LONGEST)
    pace.saved(lost=False)
    assert pace.whole() and pace.whole()
