"""A JSON Schema for the records of each output topic, from the structs that are sent.

Rules:
- A topic that carries several structs has one schema: any of them.
- Every record has a `version`. A field that has its default is left out, so that null is never sent for it.
- Words such as a resolution are text, with the known ones in the description: a new one breaks no reader.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from attribution.corrections import Cause, Correction
from attribution.descriptions import OUTPUT_FIELDS, described
from attribution.outputs import (
    ATTRIBUTIONS,
    DEADLETTERS,
    OUTCOMES,
    Attribution,
    Credit,
    Outcome,
    Reused,
    Withdrawn,
)
from streams.commands.schemas.events import Schema
from streams.publisher import Rejection

RECORDS: Final[Mapping[str, tuple[type[Struct], ...]]] = {
    ATTRIBUTIONS: (Attribution, Withdrawn),
    OUTCOMES: (Outcome,),
    DEADLETTERS: (Rejection, Reused),
}
PARTS: Final[tuple[type[Struct], ...]] = (Credit, Correction, Cause)  # structs inside of records
REFERENCE: Final = "{name}"


def output_schemas() -> dict[str, Schema]:
    """The schema of each output topic, by its short name."""
    records = [record for of_topic in RECORDS.values() for record in of_topic]
    structs: dict[str, type[Struct]] = {struct.__name__: struct for struct in (*records, *PARTS)}
    _, components = msgspec.json.schema_components(structs.values(), ref_template=REFERENCE)
    for name, schema in components.items():
        _complete(schema, structs[name])
    return {topic: _topic(topic, of_topic, components) for topic, of_topic in RECORDS.items()}


def _complete(schema: Schema, struct: type[Struct]) -> None:
    """Add to msgspec's schema what it does not know: meanings, and what is never or always sent."""
    always = _always_sent(struct)
    for name, field in schema["properties"].items():
        form = {rule: value for rule, value in field.items() if rule != "default" or name not in always}
        if form.get("default", ...) is None:
            form = _without_null(form)
        meaning = {"description": described(OUTPUT_FIELDS, struct.__name__, name)}
        schema["properties"][name] = {**meaning, **form}
    schema["required"] = always
    schema["additionalProperties"] = True


def _always_sent(struct: type[Struct]) -> list[str]:
    """The fields that no record is without: a version is never the default, because it is set on sending."""
    fields = msgspec.structs.fields(struct)
    leaves_out = struct.__struct_config__.omit_defaults
    return [
        field.name
        for field in fields
        if field.required or field.name == "version" or not (leaves_out or field.default is msgspec.UNSET)
    ]


def _without_null(field: Schema) -> Schema:
    """A field that is left out instead of being null."""
    (form,) = (form for form in field["anyOf"] if form != {"type": "null"})
    return dict(form)


def _topic(topic: str, records: tuple[type[Struct], ...], components: Mapping[str, Schema]) -> Schema:
    forms = [_inlined(components[record.__name__], components) for record in records]
    return {**forms[0], "title": topic} if len(forms) == 1 else {"title": topic, "anyOf": forms}


def _inlined(schema: Any, components: Mapping[str, Schema]) -> Any:
    """The schema with what it refers to in its place."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(components[schema["$ref"]], components)
        return {name: _inlined(part, components) for name, part in schema.items()}
    return [_inlined(part, components) for part in schema] if isinstance(schema, (list, tuple)) else schema
