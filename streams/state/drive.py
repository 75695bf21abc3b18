"""Drive the engine's settling against a store: the only place where the two meet.

Rule: a batch saved whole and lost to another worker is settled twice, so after a loss the next two batches
are settled layer by layer at once, and twice as many after each further loss in a row.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from attribution.engine import Load, settle
from attribution.entities import Entity
from attribution.events import Event
from attribution.semantics import Semantics
from streams.state.store import Due, Store, Term, due_of

LONGEST: Final = 64  # batches settled layer by layer before a whole save is tried again


class Settled(NamedTuple):
    """What became of a batch: each event's disposition, and the entities whose outputs are due."""

    dispositions: list[str]
    due: Mapping[Due, Entity]
    retries: int
    bounded: Mapping[str, int]


class Pace:
    """How one worker saves its batches: whole, while nobody else writes the same entities."""

    def __init__(self) -> None:
        self._step = 1
        self._left = 0  # batches to settle layer by layer

    def whole(self) -> bool:
        """Should the next batch be saved whole?"""
        if self._left:
            self._left -= 1
            return False
        return True

    def saved(self, lost: bool) -> None:
        """A whole save was kept, or lost to another worker."""
        self._step = min(2 * self._step, LONGEST) if lost else 1
        self._left = self._step if lost else 0


async def drive(
    events: Sequence[Event],
    semantics: Semantics,
    store: Store,
    term: Term,
    token: str,
    pace: Pace | None = None,
) -> Settled:
    """Settle events under a term; without a pace of several batches, whole where the store can.

    Whatever stops it (`Refused`, a lost connection, the process) may leave some layers saved and others not:
    the same events settled again, by anybody, mend that.
    """
    pace = pace or Pace()
    settling = settle(events, semantics, term.floor, whole=store.whole and pace.whole())
    answer: object = None
    saved: dict[str, Entity] = {}
    due: dict[str, Due] = {}
    retries = 0
    while True:
        try:
            request = settling.send(answer)
        except StopIteration as finished:
            settlement = finished.value
            announced = {mark: saved[key] for key, mark in due.items()}
            return Settled(settlement.dispositions, announced, retries, settlement.bounded)
        if isinstance(request, Load):
            answer = await store.load(request.keys)
        else:
            answer = lost = await store.save(request.writes, term, token, whole=request.whole)
            if request.whole:
                pace.saved(lost=bool(lost))
            retries += len(lost)
            written = [write for write in request.writes if write.key not in lost]
            saved.update((write.key, write.entity) for write in written)
            due.update((write.key, due_of(write, token)) for write in written if write.due)
