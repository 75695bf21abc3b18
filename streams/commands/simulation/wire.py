"""How events reach the topics: ids, times and fields as careless producers send them, and what is no event.

`Wire.send` is the one place where a record is made, and where its disposition is booked.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Any

from .rates import Rates
from .truth import Truth

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
TYPES = ("prompt", "retrieval", "placement", "action", "judgement")
ENCODERS = (json.JSONEncoder(), json.JSONEncoder(ensure_ascii=False, separators=(",", ":")))
ZONES = (UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8)))
# Optional fields that may be sent as "" or null when they are absent, which means the same.
BLANKS = {
    "prompt": ("text", "route", "user_id", "event_id"),
    "retrieval": (
        "role",
        "query",
        "need_id",
        "page_of",
        "reformulates_retrieval_id",
        "request_id",
        "event_id",
        "returned_asset_ids",
    ),
    "placement": (
        "source_retrieval_id",
        "source_placement_id",
        "derived_from_asset_id",
        "request_id",
        "actor",
    ),
    "action": (
        "consumed_asset_id",
        "source_retrieval_id",
        "placement_id",
        "document_id",
        "request_id",
        "reason",
    ),
    "judgement": ("judge", "session_guid"),
}

LISTS = frozenset({"returned_asset_ids", "shown_asset_ids"})
PLAIN = frozenset({
    "op", "actor", "action", "surface", "synthetic", "role", "query", "text", "latency_ms", "reason", "kind",
    "grade", "retrieval_intents", "reached", "judge", "route", "reformulation", "tokens",
})  # what is no id  # fmt: skip

Body = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """One record of a topic. `ts` is the time it is sent: that of the event, later if it is sent again."""

    topic_type: str
    ts: int
    value: bytes | None
    key: bytes


class Ended(Exception):
    """The next event of this course would fall outside the simulated time: nothing more happens in it."""


class Wire:
    """Takes what is meant, and writes what is sent."""

    def __init__(self, rng: Random, rates: Rates, seed: int, end_ms: int, truth: Truth) -> None:
        self.rng, self.rates, self.seed, self.end_ms, self.truth = rng, rates, seed, end_ms, truth
        self._sent: list[tuple[int, int, str, Record]] = []  # time, sequence, disposition, record
        self._bodies: set[str] = set()
        self._ids = 0

    def chance(self, rate: float) -> bool:
        """Whether something of this rate happens now."""
        return self.rng.random() < rate

    def new_id(self, kind: str) -> str:
        """An id nobody has had, in any simulation of another seed either."""
        self._ids += 1
        if self.chance(self.rates.numeric_id):
            return str(self.seed % 10**6 * 10**9 + self._ids)
        return f"{kind}{self.seed}-{self._ids}"

    def send(self, kind: str, ts: int, body: Body) -> str | None:
        """Send an event of this time, with what may befall it, and answer its event_id if it has one."""
        if ts >= self.end_ms:
            raise Ended
        body = {name: value for name, value in body.items() if value is not None}
        event_id = self._event_id(kind, ts, body)
        if event_id is not None:
            body["event_id"] = event_id
        disposition = "synthetic" if body.get("synthetic") else "applied"
        record = self._record(kind, ts, body, disposition)
        self._resend(record, disposition)
        if event_id is not None and disposition == "applied":
            self._revise(kind, ts, body)
        if kind in ("prompt", "retrieval") and event_id is not None and disposition == "applied":
            self._conflict(kind, ts, body)
        self._garbage(ts)
        return event_id

    def send_excluded(self, kind: str, ts: int, body: Body) -> None:
        """Send an event that is excluded for what it names, not for what it says.

        Intake counts it as applied, since what it names may come later.
        """
        if ts >= self.end_ms:
            raise Ended
        disposition = "synthetic" if body.get("synthetic") else "applied"
        self._record(kind, ts, {**body, "event_id": self.new_id("e")}, disposition)

    def records(self) -> list[Record]:
        """All that was sent, in time order; what reading it comes to is booked."""
        self._sent.sort(key=lambda sent: sent[:2])
        for _, _, disposition, record in self._sent:
            self.truth.read(disposition)
            self.truth.note(f"topic {record.topic_type}")
        return [record for *_, record in self._sent]

    def _append(self, record: Record, disposition: str) -> None:
        self._sent.append((record.ts, len(self._sent), disposition, record))

    def _event_id(self, kind: str, ts: int, body: Body) -> str | None:
        """Mostly an id; always one where the digest would be that of another event."""
        if not self.chance(self.rates.no_event_id):
            return self.new_id("e")
        known = repr((kind, ts, sorted(body.items())))
        if known in self._bodies:
            return self.new_id("e")
        self._bodies.add(known)
        self.truth.note("event without event_id")
        return None

    def _record(self, kind: str, ts: int, body: Body, disposition: str) -> Record:
        record = Record(kind, ts, self._render(kind, ts, body), str(body.get("session_guid", "")).encode())
        self._append(record, disposition)
        return record

    def _resend(self, record: Record, disposition: str) -> None:
        again = record.ts + self.rng.randint(0, 10 * MINUTE)
        if self.chance(self.rates.resent) and again < self.end_ms:
            copy = Record(record.topic_type, again, record.value, record.key)
            self._append(copy, "duplicate" if disposition == "applied" else disposition)

    def _revise(self, kind: str, ts: int, body: Body) -> None:
        """The event is sent again under its event_id with other content: the first of its time stands."""
        later = ts + self.rng.randint(SECOND, 10 * MINUTE)
        if self.chance(self.rates.revised) and later < self.end_ms:
            self._record(kind, later, {**body, "surface": "revised"}, "duplicate")
            self.truth.note("event_id sent again with other content")

    def _conflict(self, kind: str, ts: int, body: Body) -> None:
        """A later event of another id uses the prompt's or retrieval's id again."""
        later = ts + self.rng.randint(SECOND, 60 * MINUTE)
        if not self.chance(self.rates.conflicting) or later >= self.end_ms:
            return
        changed = {**body, "event_id": self.new_id("e"), "session_guid": self.new_id("s")}
        if kind == "retrieval":
            changed |= {"returned_asset_ids": ["elsewhere"], "request_id": self.new_id("q")}
        self._record(kind, later, changed, "conflict")
        self.truth.note(f"conflict of a {kind}")

    def _garbage(self, ts: int) -> None:
        """Now and then a record that is no event."""
        later = min(ts + self.rng.randint(0, MINUTE), self.end_ms - 1)
        if self.chance(self.rates.tombstone):
            self._append(Record(self.rng.choice(TYPES), later, None, self.new_id("k").encode()), "tombstone")
        if self.chance(self.rates.invalid):
            kind, spoilt = self.rng.choice(GARBAGE)
            self._append(Record(kind, later, spoilt(later), b""), "invalid")
            self.truth.note(f"invalid {spoilt.__name__}")

    def _render(self, kind: str, ts: int, body: Body) -> bytes:
        sent: Body = {"type": kind, "ts": self._time(ts)}
        for name, value in body.items():
            if name in LISTS:
                sent[name] = [self._id(item) for item in value]
            else:
                sent[name] = value if name in PLAIN else self._id(value)
        if self.chance(self.rates.blank_field):
            absent = [name for name in BLANKS[kind] if name not in sent]
            sent |= {name: self.rng.choice(("", None)) for name in absent if self.chance(0.5)}
            self.truth.note("blank field")
        if self.chance(self.rates.unknown_field):
            sent["trace"] = {"span": self.rng.random()}
            self.truth.note("unknown field")
        return self.rng.choice(ENCODERS).encode(sent).encode()

    def _time(self, ts: int) -> int | str:
        if not self.chance(self.rates.text_time):
            return ts
        self.truth.note("timestamp as text")
        zone = self.rng.choice(ZONES)
        moment = datetime.fromtimestamp(ts // SECOND, zone).replace(microsecond=ts % SECOND * 1000)
        if zone is UTC:
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return moment.replace(microsecond=moment.microsecond + self.rng.randint(0, 999)).isoformat()

    def _id(self, value: str | None) -> str | int | None:
        """The id as sent: a decimal one is a JSON integer half of the time, an absent one null or ""."""
        if value is None:
            return self.rng.choice((None, ""))
        if value.isdecimal() and self.rng.random() < 0.5:
            self.truth.note("integer id")
            return int(value)
        return value


def broken_json(ts: int) -> bytes:
    return b'{"type": "action", "ts": %d, "actor": "us' % ts


def wrong_type(ts: int) -> bytes:
    return json.dumps({"type": "retrieval", "retrieval_id": 1.5, "ts": ts, "session_guid": "s"}).encode()


def missing_field(ts: int) -> bytes:
    return json.dumps({"type": "placement", "placement_id": "p", "asset_id": "a", "ts": ts}).encode()


def unknown_actor(ts: int) -> bytes:
    body = {"type": "action", "actor": "robot", "action": "export", "ts": ts, "session_guid": "s"}
    return json.dumps(body).encode()


def no_object(ts: int) -> bytes:
    return json.dumps([ts]).encode()


def no_offset(ts: int) -> bytes:
    body = {"type": "prompt", "request_id": "q", "session_guid": "s", "ts": "2026-01-01T00:00:00"}
    return json.dumps(body).encode()


def long_id(ts: int) -> bytes:
    return json.dumps({"type": "prompt", "request_id": "q" * 257, "session_guid": "s", "ts": ts}).encode()


GARBAGE: tuple[tuple[str, Callable[[int], bytes]], ...] = (
    ("action", broken_json),
    ("retrieval", wrong_type),
    ("placement", missing_field),
    ("action", unknown_actor),
    ("judgement", no_object),
    ("prompt", no_offset),
    ("prompt", long_id),
)
