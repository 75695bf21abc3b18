"""A JSON Schema for each event, as a producer sends it, from the table that the parser reads by.

Rules:
- A schema accepts what `attribution.parsing.parse` accepts: it describes the wire, which is wider than the
  struct. What a schema cannot say is a table in `tests/streams/commands/schemas/test_events.py`.
- A field that may be absent may also be null or "".
- Only keywords that draft 07 and 2020-12 read alike, and no references: AsyncAPI takes the same schema.
"""

import inspect
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from attribution.descriptions import EVENT_FIELDS, described
from attribution.parsing import (
    CHOICES,
    FORMS,
    JUDGEMENT_NEEDS,
    LATEST_MS,
    MAXIMUM_ID_CODE_POINTS,
    VERB,
    WHOLE_LIMIT,
    Form,
)

Schema: TypeAlias = dict[str, Any]

# What may be a moment: a day that the month has not, or an offset that moves it out of range, is not seen.
MOMENT: Final = (
    "^(1969|19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?"
    "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
ABSENT: Final = ["", None]

_ID: Final[Schema] = {"type": ["string", "integer"], "minLength": 1, "maxLength": MAXIMUM_ID_CODE_POINTS}
_ID_OR_GAP: Final[Schema] = {"type": ["string", "integer", "null"], "maxLength": MAXIMUM_ID_CODE_POINTS}

# The form of a present field, by the kind of its annotation in `attribution/events.py`.
KINDS: Final[Mapping[str, Schema]] = {
    "id": _ID,
    "ids": {"type": "array", "items": _ID_OR_GAP},
    "text": {"type": "string", "minLength": 1},
    "flag": {"type": "boolean"},
    "whole": {"type": "integer", "minimum": -WHOLE_LIMIT, "maximum": WHOLE_LIMIT - 1},
    "count": {"type": "integer", "minimum": 0, "maximum": WHOLE_LIMIT - 1},
    "amount": {"type": "number", "minimum": 0, "exclusiveMaximum": WHOLE_LIMIT},
    "verb": {"type": "string", "pattern": f"^{VERB}$"},
    "timestamp": {
        "type": ["string", "integer"],
        "pattern": MOMENT,
        "minimum": 0,
        "maximum": LATEST_MS - 1,
    },
    **{kind: {"type": "string", "enum": list(words)} for kind, words in CHOICES.items()},
}


def event_schemas() -> dict[str, Schema]:
    """The schema of each event type."""
    return {event_type: _event(event_type, form) for event_type, form in FORMS.items()}


def _event(event_type: str, form: Form) -> Schema:
    properties: dict[str, Schema] = {"type": {"const": event_type}}
    for name, kind in form.kinds.items():
        properties[name] = KINDS[kind] if name in form.required else _or_absent(KINDS[kind])
    return {
        "title": event_type,
        "description": inspect.getdoc(form.make),
        "type": "object",
        "properties": {
            name: {"description": described(EVENT_FIELDS, event_type, name), **schema}
            for name, schema in properties.items()
        },
        "required": ["type", *(name for name in form.kinds if name in form.required)],
        "additionalProperties": True,
        **({"oneOf": _judgements(form)} if event_type == "judgement" else {}),
    }


def _or_absent(present: Schema) -> Schema:
    """The form of a field that may be left out: null and "" too."""
    if "pattern" in present:
        return {"anyOf": [present, {"enum": ABSENT}]}
    types = [present["type"]] if isinstance(present["type"], str) else present["type"]
    form = {name: rule for name, rule in present.items() if name != "minLength"}
    form["type"] = [*types, *(name for name in ("string", "null") if name not in types)]
    if "enum" in present:
        return {**form, "enum": [*present["enum"], *ABSENT]}
    return form if "string" in types else {**form, "maxLength": 0}


def _judgements(form: Form) -> list[Schema]:
    """What a judgement of each kind needs besides."""
    return [_judgement(form, kind, needs) for kind, needs in JUDGEMENT_NEEDS.items()]


def _judgement(form: Form, kind: str, needs: tuple[tuple[str, ...], ...]) -> Schema:
    every = [names[0] for names in needs if len(names) == 1]
    choices = [{"anyOf": [_with(form, [name]) for name in names]} for names in needs if len(names) > 1]
    needed = _with(form, every)
    return {
        "title": kind,
        "properties": {"kind": {"const": kind}, **needed["properties"]},
        "required": ["kind", *every],
        **({"allOf": choices} if choices else {}),
    }


def _with(form: Form, names: list[str]) -> Schema:
    """An object in which these fields are present."""
    return {"properties": {name: KINDS[form.kinds[name]] for name in names}, "required": names}
