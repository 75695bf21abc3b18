"""Drive the engine's settling against a store: the only place where the two meet."""

from collections.abc import Sequence

from attribution.engine import Load, settle
from attribution.events import Event
from attribution.semantics import Semantics
from streams.state.store import Store, Term


async def drive(
    events: Sequence[Event], semantics: Semantics, store: Store, term: Term, token: str
) -> list[str]:
    """Settle events under a term; returns their dispositions.

    Whatever stops it (`Refused`, a lost connection, the process) may leave some layers saved and others not:
    the same events settled again, by anybody, mend that.
    """
    settling = settle(events, semantics, term.floor)
    answer: object = None
    while True:
        try:
            request = settling.send(answer)
        except StopIteration as finished:
            return list(finished.value)
        if isinstance(request, Load):
            answer = await store.load(request.keys)
        else:
            answer = await store.save(request.writes, term, token)
