"""From fetched records to events, dead letters and counts: each record is exactly one of these.

Intake, first that fits (contract §1): tombstone, invalid, late; the rest are events, whose disposition the
engine finds. A record ahead of its broker timestamp is an event like any other, and counted as ahead.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from aiokafka.structs import ConsumerRecord

from attribution.events import Event, type_of
from attribution.parsing import Rejected, parse
from attribution.semantics import LATENESS_MS, MINUTE_MS
from streams.publisher import Letter, dead_letter

AHEAD_MS: Final = 5 * MINUTE_MS
Tally = Counter[tuple[str, str]]  # (event type, disposition) -> records


class Decoded(NamedTuple):
    """What a set of records holds. `newest`: event type -> newest event time (ms) that is not ahead."""

    events: list[Event]
    letters: list[Letter]
    tally: Tally
    ahead: int
    newest: dict[str, int]


def decode(records: Iterable[ConsumerRecord[Any, Any]], with_payload: bool) -> Decoded:
    """Read the records of some batches. Never raises."""
    decoded = Decoded([], [], Counter(), 0, {})
    ahead = 0
    for record in records:
        found = _read(record)
        if found is None:
            decoded.tally["unknown", "tombstone"] += 1
        elif isinstance(found, Rejected):
            disposition = "late" if found.reason == "late" else "invalid"
            decoded.tally[found.event_type, disposition] += 1
            decoded.letters.append(dead_letter(record, found, with_payload))
        else:
            decoded.events.append(found)
            if found.ts > record.timestamp + AHEAD_MS:
                ahead += 1
            else:
                kind = type_of(found)
                decoded.newest[kind] = max(found.ts, decoded.newest.get(kind, 0))
    return decoded._replace(ahead=ahead)


def _read(record: ConsumerRecord[Any, Any]) -> Event | Rejected | None:
    if record.value is None:
        return None
    found = parse(record.value)
    if not isinstance(found, Rejected) and found.ts < record.timestamp - LATENESS_MS:
        return Rejected("late", "more than 7 days behind its record's timestamp", type_of(found))
    return found
