"""1. Parse: a record is its known, present fields, or it is invalid (contract, section 1)."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.second_reading.rules import HOUR, MINUTE


class Invalid(Exception):
    """The record is no event."""


def as_text(value: Any) -> str:
    if type(value) is not str:
        raise Invalid("not text")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise Invalid("half a surrogate pair is no text")
    return value


def as_id(value: Any) -> str:
    text = str(value) if type(value) is int else as_text(value)
    if not 1 <= len(text) <= 256:
        raise Invalid("an id has 1 to 256 code points")
    return text


def as_id_list(value: Any) -> list[str | None]:
    if type(value) is not list:
        raise Invalid("not a list")
    return [None if is_absent(element) else as_id(element) for element in value]


def as_bool(value: Any) -> bool:
    if type(value) is not bool:
        raise Invalid("not true or false")
    return value


def as_int(value: Any) -> int:
    if type(value) is not int:
        raise Invalid("not an integer")
    return value


def as_number(value: Any) -> int | float:
    if type(value) not in (int, float) or value in (math.inf, -math.inf):
        raise Invalid("not a number")
    return value


def as_count(value: Any) -> int:
    if as_int(value) < 0:
        raise Invalid("below 0")
    return value


def one_of(*allowed: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if as_text(value) not in allowed:
            raise Invalid(f"not one of {allowed}")
        return value

    return check


def as_action(value: Any) -> str:
    if not re.fullmatch("[a-z][a-z0-9_]*", as_text(value)):
        raise Invalid("not the name of an action")
    return value


RFC_3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z


def as_time(value: Any) -> int:
    """Milliseconds since the epoch, of an integer or of RFC 3339 text."""
    ms = value if type(value) is int else rfc_3339_ms(as_text(value))
    if not 0 <= ms <= LAST_MS:
        raise Invalid("outside of the years 1970 to 9999")
    return ms


def rfc_3339_ms(text: str) -> int:
    match = RFC_3339.fullmatch(text)
    if match is None:
        raise Invalid("not RFC 3339 with an offset")
    year, month, day, hour, minute, second, fraction, sign, offset_hours, offset_minutes = match.groups()
    if int(offset_hours or 0) > 23 or int(offset_minutes or 0) > 59:
        raise Invalid("no such offset")
    try:
        local = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError as error:
        raise Invalid("no such time") from error
    offset_ms = int(offset_hours or 0) * HOUR + int(offset_minutes or 0) * MINUTE
    ms = (local - EPOCH) // timedelta(milliseconds=1) + int(((fraction or "") + "000")[:3])
    return ms + offset_ms if sign == "-" else ms - offset_ms


COMMON = {
    "type": as_text,
    "event_id": as_id,
    "ts": as_time,
    "session_guid": as_id,
    "conversation_id": as_id,
    "request_id": as_id,
    "surface": as_text,
    "user_id": as_id,
    "synthetic": as_bool,
}
KNOWN: dict[str, dict[str, Callable[[Any], Any]]] = {
    "prompt": {"text": as_text, "route": as_text, "reformulation": as_bool},
    "retrieval": {
        "retrieval_id": as_id,
        "role": as_text,
        "query": as_text,
        "need_id": as_id,
        "reformulates_retrieval_id": as_id,
        "page_of": as_id,
        "returned_asset_ids": as_id_list,
        "retriever": as_text,
        "latency_ms": as_number,
        "tokens": as_int,
    },
    "placement": {
        "placement_id": as_id,
        "document_id": as_id,
        "asset_id": as_id,
        "op": one_of("place", "remove"),
        "source_retrieval_id": as_id,
        "source_placement_id": as_id,
        "derived_from_asset_id": as_id,
        "actor": one_of("user", "agent"),
    },
    "action": {
        "actor": one_of("user", "agent"),
        "action": as_action,
        "consumed_asset_id": as_id,
        "source_retrieval_id": as_id,
        "placement_id": as_id,
        "document_id": as_id,
        "shown_asset_ids": as_id_list,
        "reason": as_text,
        "latency_ms": as_number,
        "tokens": as_int,
    },
    "judgement": {
        "kind": one_of("relevance", "intent", "goal"),
        "retrieval_id": as_id,
        "query": as_text,
        "asset_id": as_id,
        "grade": as_int,
        "retrieval_intents": as_count,
        "reached": as_bool,
        "judge": as_text,
    },
}
# Each entry is met by any one of its alternatives. A judgement's second half goes by its kind.
REQUIRED = {
    "prompt": ["request_id", "ts", "session_guid"],
    "retrieval": ["retrieval_id", "ts", "session_guid"],
    "placement": ["placement_id", "document_id", "asset_id", "ts"],
    "action": ["actor", "action", "ts", "session_guid"],
    "judgement": ["kind", "ts"],
    "relevance": ["retrieval_id|query", "asset_id", "grade"],
    "intent": ["request_id", "retrieval_intents"],
    "goal": ["request_id|retrieval_id", "reached"],
}


@dataclass(frozen=True, eq=False)  # a record is itself, not its content
class Record:
    """A valid record: what was read, and what follows from it alone."""

    type: str
    fields: dict[str, Any]
    ts: int
    digest: str

    def __getitem__(self, name: str) -> Any:
        """The value of a field; None if it is absent."""
        return self.fields.get(name)

    @property
    def identity(self) -> str:
        named = {"retrieval": "retrieval_id", "prompt": "request_id"}.get(self.type, "event_id")
        return self[named] or self.digest

    @property
    def request(self) -> str | None:
        """The request it belongs to; a retrieval's is its retrieval_id by default."""
        return self["request_id"] or (self["retrieval_id"] if self.type == "retrieval" else None)

    @property
    def conversation(self) -> str | None:
        return self["conversation_id"] or self["session_guid"]

    @property
    def is_page(self) -> bool:
        return self["page_of"] is not None

    @property
    def order(self) -> tuple[int, str]:
        return self.ts, self.digest


def is_absent(value: Any) -> bool:
    return value is None or (type(value) is str and value == "")


def parse(value: bytes) -> Record:
    raw = parse_json_object(value)
    kind = raw.get("type")
    if type(kind) is not str or kind not in KNOWN:
        raise Invalid("unknown type")
    known = COMMON | KNOWN[kind]
    fields = {name: known[name](v) for name, v in raw.items() if name in known and not is_absent(v)}
    for table in (kind, fields.get("kind")):
        for alternatives in REQUIRED.get(table, []):
            if not any(name in fields for name in alternatives.split("|")):
                raise Invalid(f"{alternatives} is missing")
    return Record(kind, fields, fields["ts"], digest_of(fields))


def parse_json_object(value: bytes) -> dict[str, Any]:
    def no_constant(name: str) -> None:
        raise Invalid(f"{name} is not JSON")

    try:
        raw = json.loads(value.decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError) as error:  # bad UTF-8 and bad JSON are both ValueErrors
        raise Invalid("not JSON") from error
    if type(raw) is not dict:
        raise Invalid("not an object")
    return raw


def digest_of(fields: dict[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
