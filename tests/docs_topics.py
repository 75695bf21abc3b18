"""docs/topics.md: topics, their configuration, every field of events and outputs, reasons of dead letters."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from attribution.descriptions import EVENT_FIELDS, described
from attribution.parsing import CHOICES, FORMS, JUDGEMENT_NEEDS, REASONS
from streams.commands.schemas.asyncapi import KEYS, MEANINGS, message_of
from streams.commands.schemas.outputs import PARTS, RECORDS, output_schemas
from streams.settings import RETENTION_DAYS
from streams.topics import RETENTION_MS, TOPICS, configuration
from tests.docs_markdown import code, sentence, table

VALUES: Final[Mapping[str, str]] = {
    "id": "id",
    "ids": "list of ids",
    "text": "text",
    "flag": "`true`, `false`",
    "whole": "whole number",
    "count": "whole number ≥ 0",
    "amount": "number ≥ 0",
    "verb": "lower-case word",
    "timestamp": "timestamp",
    **{kind: code(words) for kind, words in CHOICES.items()},
}
JSON_VALUES: Final[Mapping[str, str]] = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true`, `false`",
    "null": "`null`",
}


def topics_markdown() -> str:
    """The whole section."""
    parts = (
        _topic_table(),
        "Created by `lara topics create` with this configuration (with a replication of 1 and the default "
        f"retention of {RETENTION_DAYS} days; `LARA_REPLICATION`, `LARA_RETENTION_DAYS`):",
        _configuration_table(),
        "`segment.ms` follows the retention. `min.insync.replicas` is the replication less one, at least 1.",
        "## Fields of events",
        "An id is text of 1 to 256 code points, or a whole number. A timestamp is RFC 3339 text with an offset, "
        'or whole milliseconds since the epoch. `null` and `""` mean absent. Unknown fields are ignored; a '
        "known field of the wrong type makes the record a dead letter.",
        table(("field", "value", "required of", "optional of", "what it says"), _event_rows()),
        f"A judgement also needs: {_judgement_needs()}.",
        "## Fields of outputs",
        "Sent at least once. Fields in **bold** are in every record; of the others, what is not there is false, "
        "empty or not known.",
        *_output_parts(),
        "## Why a record becomes a dead letter",
        table(("reason", "what it means"), [(f"`{reason}`", text) for reason, text in REASONS.items()]),
        "A dead letter holds the value only if `LARA_DEADLETTER_PAYLOADS` is on.",
    )
    return "\n\n".join(parts) + "\n"


def _topic_table() -> str:
    rows = [
        (
            f"`lara.{topic.kind}`",
            "in" if topic.is_input else "out",
            topic.cleanup,
            "free" if topic.is_input else KEYS[topic.kind],
            MEANINGS[message_of(topic)],
        )
        for topic in TOPICS
    ]
    return table(("topic", "direction", "cleanup", "key", "one record is"), rows)


def _configuration_table() -> str:
    kept, compacted = (
        configuration(next(topic for topic in TOPICS if topic.cleanup == cleanup), RETENTION_MS, 1)
        for cleanup in ("delete", "compact")
    )
    rows = [(f"`{name}`", f"`{value}`", f"`{compacted.get(name, '–')}`") for name, value in kept.items()]
    return table(("setting", "topics kept by age", "compacted topics"), rows)


def _event_rows() -> Iterator[tuple[str, ...]]:
    """A row for each field: those of every event first, then those of their own."""
    kinds = {name: kind for form in FORMS.values() for name, kind in form.kinds.items()}
    of = {name: [event_type for event_type, form in FORMS.items() if name in form.kinds] for name in kinds}
    yield ("`type`", code(FORMS), "every event", "–", described(EVENT_FIELDS, "", "type"))
    for name in sorted(kinds, key=lambda name: len(of[name]) < len(FORMS)):
        required = [event_type for event_type in of[name] if name in FORMS[event_type].required]
        optional = [event_type for event_type in of[name] if event_type not in required]
        yield (
            f"`{name}`",
            VALUES[kinds[name]],
            _events(required),
            _events(optional),
            _meaning(name, of[name]),
        )


def _events(types: list[str]) -> str:
    return "every event" if len(types) == len(FORMS) else code(types) or "–"


def _meaning(name: str, types: list[str]) -> str:
    """What a field says; where events differ, of which events what."""
    meanings: dict[str, list[str]] = {}
    for event_type in types:
        meanings.setdefault(described(EVENT_FIELDS, event_type, name), []).append(event_type)
    if len(meanings) == 1:
        return next(iter(meanings))
    return " ".join(f"{code(of)}: {text}" for text, of in meanings.items())


def _judgement_needs() -> str:
    return " · ".join(
        f"`{kind}`: {', '.join(' or '.join(f'`{name}`' for name in names) for names in needs)}"
        for kind, needs in JUDGEMENT_NEEDS.items()
    )


def _output_parts() -> Iterator[str]:
    """A table for each record, and for what lies inside of records."""
    forms = {
        form["title"]: form
        for schema in output_schemas().values()
        for form in schema.get("anyOf", [{**schema, "title": "Outcome"}])
    }
    fields = forms["Outcome"]["properties"]
    correction = fields["replaces"]
    forms |= {"Credit": fields["credits"]["items"], "Correction": correction}
    forms |= {"Cause": correction["properties"]["because"]["items"]}
    for struct in [*(record for records in RECORDS.values() for record in records), *PARTS]:
        form = forms[struct.__name__]
        rows = [
            (f"**`{name}`**" if name in form["required"] else f"`{name}`", _shape(rule), rule["description"])
            for name, rule in form["properties"].items()
        ]
        assert len(rows) == len(msgspec.structs.fields(struct))
        yield f"### {struct.__name__}"
        yield sentence(struct)
        yield table(("field", "value", "what it says"), rows)


def _shape(rule: Mapping[str, Any]) -> str:
    """The values of an output's field in a few words."""
    if "enum" in rule:
        return code(rule["enum"])
    if "anyOf" in rule:
        return " or ".join(map(_shape, rule["anyOf"]))
    if rule["type"] == "array":
        return f"list of {_shape(rule['items'])}"
    if rule["type"] == "object":
        within = rule.get("additionalProperties")
        return rule.get("title") or (f"by name: {_shape(within)}" if within else "by name: any value")
    return JSON_VALUES[rule["type"]]
