"""What a new output record takes the place of, and why: for readers of the output topics, not for figures.

Rules:
- A correction exists where something had been said of the action or retrieval and what was decided changed.
- It names the old values of what changed, and whatever newly reached the entity: records and statements.
- It tells how this deployment came to know, so it depends on arrival. The record beside it does not.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from attribution.entities import Entity

MOST_CAUSES: Final = 5

# Record type -> the fields that are decided, of those it has.
DECIDED: Final[Mapping[str, tuple[str, ...]]] = {
    "Attribution": ("resolution", "retrieval_ids"),
    "Withdrawn": ("resolution", "retrieval_ids"),
    "Outcome": (
        *("excluded", "positive", "agent_consumed", "delegated", "failed", "failure_signals", "corrected"),
        *("misrouted", "diagnosis", "completed", "goal_reached"),
    ),
}


class Cause(Struct, frozen=True):
    """What newly reached the entity: a statement (by its topic) of another entity, or an event record."""

    what: str
    sender: str


class Correction(Struct, frozen=True, omit_defaults=True):
    """What the record before said where this one differs, and the causes, at most `MOST_CAUSES`."""

    said: dict[str, Any]
    because: tuple[Cause, ...] = ()
    more_causes: int = 0


def correction(
    before: Entity, after: Entity, said: Sequence[Struct], says: Sequence[Struct]
) -> Correction | None:
    """The correction from what an entity said (its records before) to what it says now."""
    old, new = (_decided(records) for records in (said, says))
    changed = {name: value for name, value in old.items() if new and new.get(name) != value}
    if not changed:
        return None
    causes = list(_causes(before, after))
    return Correction(changed, tuple(causes[:MOST_CAUSES]), max(0, len(causes) - MOST_CAUSES))


def _decided(records: Sequence[Struct]) -> dict[str, Any]:
    """What the entity's own record decides, as plain data; nothing if it has none."""
    for record in records:
        names = DECIDED.get(type(record).__name__)
        if names is not None:
            return {name: msgspec.to_builtins(getattr(record, name, None)) for name in names}
    return {}


def _causes(before: Entity, after: Entity) -> Iterator[Cause]:
    known = {record.digest for record in before.own}
    yield from (Cause("record", one.digest.hex()) for one in after.own if one.digest not in known)
    for topic, statements in after.said.items():
        earlier = before.said.get(topic, {})
        for key, statement in statements.items():
            was = earlier.get(key)
            if statement.content != (None if was is None else was.content):
                yield Cause(topic, key[0])
