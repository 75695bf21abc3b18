"""From a record's value to an event, or to the reason why it is none.

Rules:
- null and "" are absent, in any field and in any list. Unknown fields are ignored.
- A known field of the wrong type makes the whole record invalid; so does a missing required one.
- Nothing raises: a bad value is a `Rejected` with one of the literal reasons below.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from attribution.events import EVENT_TYPES, SESSION_REQUIRED, Event

MAXIMUM_EVENT_BYTES: Final = 1_048_576  # the broker's own default for a record
MAXIMUM_ID_CODE_POINTS: Final = 256
LATEST_MS: Final = 253_402_300_800_000  # the year 10000, which RFC 3339 cannot write
WHOLE_LIMIT: Final = 2**63  # whole numbers are of 64 bits
VERB: Final = "[a-z][a-z0-9_]*"

REASONS: Final = {
    "oversize": "the value is longer than a record may be",
    "not_json": "the value is not UTF-8 JSON",
    "not_an_object": "the value is JSON, but not an object",
    "unknown_type": "`type` is missing or names no event of the contract",
    "missing_field": "a required field is absent, null or empty",
    "wrong_type": "a known field has another type than the contract gives it",
    "out_of_range": "a known field has the right type and an impossible value",
    "retrieval_id_reused": "another retrieval stands under this `retrieval_id`",
    "request_id_reused": "another prompt stands under this `request_id`",
    "late": "`ts` is more than 7 days before the record's broker timestamp",
}


class Rejected(NamedTuple):
    """A record that is no event: one of `REASONS`, and a sentence for whoever sent it."""

    reason: str
    detail: str
    event_type: str = "unknown"


class _Invalid(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        self.rejected = (reason, detail)


_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_VERB = re.compile(VERB, re.ASCII)
_EPOCH = datetime(1970, 1, 1)


def _id(value: Any) -> str:
    if type(value) is int:
        value = str(value)
    if type(value) is not str:
        raise _Invalid("wrong_type", "an id: text or a whole number")
    if len(value) > MAXIMUM_ID_CODE_POINTS:
        raise _Invalid("out_of_range", f"an id of at most {MAXIMUM_ID_CODE_POINTS} code points")
    return value


def _ids(value: Any) -> tuple[str | None, ...]:
    if type(value) is not list:
        raise _Invalid("wrong_type", "a list of ids")
    return tuple(None if item is None or item == "" else _id(item) for item in value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise _Invalid("wrong_type", "text")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _Invalid("wrong_type", "true or false")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise _Invalid("wrong_type", "a whole number")
    if not -WHOLE_LIMIT <= value < WHOLE_LIMIT:
        raise _Invalid("out_of_range", "a whole number of 64 bits")
    return value


def _count(value: Any) -> int:
    if _whole(value) < 0:
        raise _Invalid("out_of_range", "a whole number, zero or more")
    return int(value)


def _amount(value: Any) -> float:
    if type(value) not in (int, float):
        raise _Invalid("wrong_type", "a number")
    if not 0 <= value < WHOLE_LIMIT:
        raise _Invalid("out_of_range", "a number, zero or more")
    return value  # type: ignore[no-any-return]  # an int or a float, as just checked


def _one_of(*allowed: str) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        if _text(value) not in allowed:
            raise _Invalid("out_of_range", "one of " + ", ".join(allowed))
        return str(value)

    return convert


def _verb(value: Any) -> str:
    if not _VERB.fullmatch(_text(value)):
        raise _Invalid("out_of_range", "a verb such as export: lower case letters, digits and _")
    return str(value)


def _timestamp(value: Any) -> int:
    """Milliseconds since the epoch, from RFC 3339 text with an offset (truncated) or from an integer."""
    milliseconds = value if type(value) is int else _rfc3339(_text(value))
    if not 0 <= milliseconds < LATEST_MS:
        raise _Invalid("out_of_range", "a time from 1970 to 9999")
    return int(milliseconds)


def _rfc3339(text: str) -> int:
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise _Invalid("wrong_type", "RFC 3339 text with an offset, or whole milliseconds since the epoch")
    day, clock, fraction, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}")
        offset = _offset(int(hours or 0), int(minutes or 0))
        elapsed = moment - (-offset if sign == "-" else offset) - _EPOCH
    except (ValueError, OverflowError) as error:
        raise _Invalid("out_of_range", f"no such moment: {error}") from None
    return (elapsed.days * 86_400 + elapsed.seconds) * 1000 + int((fraction or "0")[:3].ljust(3, "0"))


def _offset(hours: int, minutes: int) -> timedelta:
    if hours > 23 or minutes > 59:
        raise ValueError("an offset is at most 23:59")
    return timedelta(hours=hours, minutes=minutes)


# Which fields a judgement of each kind needs; of a tuple, one is enough.
JUDGEMENT_NEEDS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "relevance": (("retrieval_id", "query"), ("asset_id",), ("grade",)),
    "intent": (("request_id",), ("retrieval_intents",)),
    "goal": (("request_id", "retrieval_id"), ("reached",)),
}

# The kinds of field that take one of a few words.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "actor": ("user", "agent"),
    "operation": ("place", "remove"),
    "judgement_kind": tuple(JUDGEMENT_NEEDS),
}

_CONVERTERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "id": _id,
    "ids": _ids,
    "text": _text,
    "flag": _flag,
    "whole": _whole,
    "count": _count,
    "amount": _amount,
    "verb": _verb,
    "timestamp": _timestamp,
    **{kind: _one_of(*words) for kind, words in CHOICES.items()},
}


class Form(NamedTuple):
    """What an event of one type is read by: the kind and converter of each field, and what must be there."""

    make: type[Event]
    kinds: Mapping[str, str]
    converters: Mapping[str, Callable[[Any], Any]]
    required: tuple[str, ...]


def _kind(annotation: Any) -> str:
    """The `kind` of a field, found in its annotation."""
    for part in (annotation, *getattr(annotation, "__args__", ())):
        for meta in getattr(part, "__metadata__", ()):
            if meta.extra:
                return str(meta.extra["kind"])
    raise TypeError(f"no kind in {annotation}")


def _form(event_type: str, make: type[Event]) -> Form:
    fields = [field for field in msgspec.structs.fields(make) if field.name != "digest"]
    kinds = {field.name: _kind(field.type) for field in fields}
    converters = {name: _CONVERTERS[kind] for name, kind in kinds.items()}
    required = {field.name for field in fields if field.required}
    if event_type in SESSION_REQUIRED:
        required.add("session_guid")
    if event_type == "prompt":
        required.add("request_id")
    return Form(make, kinds, converters, tuple(sorted(required)))


FORMS: Final = {event_type: _form(event_type, make) for event_type, make in EVENT_TYPES.items()}
_decode = msgspec.json.Decoder().decode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def parse(value: bytes) -> Event | Rejected:
    """Read one record's value (UTF-8 JSON). Never raises."""
    if len(value) > MAXIMUM_EVENT_BYTES:
        return Rejected("oversize", f"{len(value)} bytes, at most {MAXIMUM_EVENT_BYTES}")
    try:
        sent = _decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Rejected("not_json", str(error))
    if type(sent) is not dict:
        return Rejected("not_an_object", f"a JSON {type(sent).__name__}")
    event_type = sent.get("type")
    form = FORMS.get(event_type) if type(event_type) is str else None
    if form is None:
        return Rejected("unknown_type", "`type` is one of " + ", ".join(FORMS))
    return _read(str(event_type), form, sent)


def _read(event_type: str, form: Form, sent: Mapping[str, Any]) -> Event | Rejected:
    present: dict[str, Any] = {}
    for name, convert in form.converters.items():
        raw = sent.get(name)
        if raw is None or raw == "":
            continue
        try:
            present[name] = convert(raw)
        except _Invalid as invalid:
            reason, detail = invalid.rejected
            return Rejected(reason, f"`{name}` must be {detail}", event_type)
    missing = _missing(form, present)
    if missing:
        return Rejected("missing_field", f"`{missing}` is required", event_type)
    digest = hashlib.sha256(_encode_sorted({**present, "type": event_type})).digest()
    return form.make(digest=digest, **present)


def _missing(form: Form, present: Mapping[str, Any]) -> str | None:
    for name in form.required:
        if name not in present:
            return name
    for names in JUDGEMENT_NEEDS.get(present.get("kind", ""), ()):
        if not any(name in present for name in names):
            return " or ".join(names)
    return None
