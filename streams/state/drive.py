"""Drive the engine's settling against a store: the only place where the two meet."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attribution.engine import Load, settle
from attribution.entities import Entity
from attribution.events import Event
from attribution.semantics import Semantics
from streams.state.store import Due, Store, Term, due_of


class Settled(NamedTuple):
    """What became of a batch: each event's disposition, and the entities whose outputs are due."""

    dispositions: list[str]
    due: Mapping[Due, Entity]
    retries: int
    bounded: Mapping[str, int]


async def drive(
    events: Sequence[Event], semantics: Semantics, store: Store, term: Term, token: str
) -> Settled:
    """Settle events under a term.

    Whatever stops it (`Refused`, a lost connection, the process) may leave some layers saved and others not:
    the same events settled again, by anybody, mend that.
    """
    settling = settle(events, semantics, term.floor, whole=store.whole)
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
            retries += len(lost)
            written = [write for write in request.writes if write.key not in lost]
            saved.update((write.key, write.entity) for write in written)
            due.update((write.key, due_of(write, token)) for write in written if write.due)
