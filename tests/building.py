"""Builders for the tests of the product: records as producers send them, with plain fields where none matter.

Times are seconds after 2026-03-02T10:00:00Z; a field given as None is not sent.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from attribution.entities import Entity, Said
from attribution.events import Event
from attribution.parsing import Rejected, parse
from attribution.semantics import Semantics
from attribution.statements import Act, Content
from streams.state.memory import MemoryStore
from tests.properties import running

BASE = 1_772_445_600_000  # 2026-03-02T10:00:00Z
MINUTE = 60
DAY = 86_400
LONG_AFTER = 30 * DAY
DEFAULT = Semantics()

Sent = dict[str, Any]


def at(seconds: float) -> int:
    """Milliseconds since the epoch."""
    return BASE + round(seconds * 1000)


def record(event_type: str, seconds: float, /, **fields: Any) -> Sent:
    sent = {"type": event_type, "ts": at(seconds), "session_guid": "s1", **fields}
    return {name: value for name, value in sent.items() if value is not None}


def prompt(request_id: Any = "q1", seconds: float = 0, **fields: Any) -> Sent:
    plain = {"event_id": f"e-{request_id}", "request_id": request_id}
    return record("prompt", seconds, **{**plain, **fields})


def retrieval(
    retrieval_id: Any = "r1", returned: Any = ("a1", "a2"), seconds: float = 0, **fields: Any
) -> Sent:
    listed = None if returned is None else list(returned)
    plain = {"event_id": f"e-{retrieval_id}", "retrieval_id": retrieval_id, "returned_asset_ids": listed}
    return record("retrieval", seconds, **{**plain, **fields})


def placement(placement_id: Any = "p1", asset: Any = "a1", seconds: float = 60, **fields: Any) -> Sent:
    plain = {"event_id": f"e-{placement_id}-{seconds}", "document_id": "d1", "placement_id": placement_id}
    return record("placement", seconds, **{**plain, "asset_id": asset, **fields})


def user(action: str, seconds: float = 120, **fields: Any) -> Sent:
    plain = {"event_id": f"user-{action}", "actor": "user", "action": action}
    return record("action", seconds, **{**plain, **fields})


def agent(action: str, seconds: float = 120, **fields: Any) -> Sent:
    plain = {"event_id": f"agent-{action}", "actor": "agent", "action": action}
    return record("action", seconds, **{**plain, **fields})


def judgement(kind: str, **fields: Any) -> Sent:
    return record("judgement", 0, **{"event_id": f"e-{kind}", "kind": kind, **fields})


def encoded(sent: object) -> bytes:
    return sent if isinstance(sent, bytes) else json.dumps(sent).encode()


def event(sent: Sent) -> Event:
    """The event of a record that is one."""
    found = parse(encoded(sent))
    assert not isinstance(found, Rejected), found
    return found


def events(*sent: Sent) -> list[Event]:
    return [event(one) for one in sent]


def entity(*own: Sent, **said: Iterable[tuple[str, str, Content | None]]) -> Entity:
    """An entity with these records and, under each topic, these (sender, subject, content), all at version 1."""
    heard = {
        topic: {(sender, subject): Said(1, content) for sender, subject, content in statements}
        for topic, statements in said.items()
    }
    return Entity(1, tuple(sorted(events(*own), key=lambda one: (one.ts, one.digest))), heard)


def act(verb: str = "export", seconds: float = 120, **fields: Any) -> Act:
    """What an action of a user in session s1 and request q1 says to other entities."""
    plain = {"id": "x", "actor": "user", "session_guid": "s1", "surface": None, "request_id": "q1"}
    return Act(**{**plain, "ts": at(seconds), "verb": verb, **fields})


class Found(NamedTuple):
    """What the product makes of some records."""

    store: MemoryStore
    semantics: Semantics
    attributions: dict[str, Any]
    outcomes: dict[str, Any]
    letters: dict[str, Any]

    def credit(self, action_id: str) -> tuple[str, list[str]]:
        """The resolution of an action and the retrievals it credits."""
        found = self.attributions[action_id]
        return found["resolution"], found["retrieval_ids"]

    def figure(self, name: str, seconds: float = LONG_AFTER, **labels: str) -> float | None:
        """The sum of a figure over the label sets that have these labels; None where it is absent."""
        labels = {"window": "all", **labels}
        rows = running.metrics_of(self.store, at(seconds), self.semantics)
        values = [
            value for (row, of), value in rows.items() if row == name and labels.items() <= dict(of).items()
        ]
        return sum(values) if values else None

    def figures(self, seconds: float = LONG_AFTER) -> dict[Any, float]:
        return running.metrics_of(self.store, at(seconds), self.semantics)


def settle(*sent: object, semantics: Semantics = DEFAULT, one_by_one: bool = False) -> Found:
    """Settle records in this order, at once or one by one."""
    accepted = running.accepted([encoded(one) for one in sent])
    batches = [[one] for one in accepted] if one_by_one else [accepted]
    store = running.settle_in_memory(batches, semantics)
    outputs = running.outputs_in(store, semantics)
    attributions, outcomes = running.attributions_in(outputs), running.outcomes_in(outputs)
    return Found(store, semantics, attributions, outcomes, outputs.get("deadletters", {}))
