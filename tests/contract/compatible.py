"""Does a new contract break whoever holds to the old one? Decided from the schemas alone.

Rules:
- What a writer by one schema may write, a reader by the other must accept. Events go in: the producer writes by
  the old schema, lara reads by the new one. Outputs go out: lara writes by the new one, the consumer reads by
  the old one.
- A field that the old schema names stays, and so do its default and its place in the list of required fields.
- A new optional field is no break. To a schema it could be: it may refuse what was ignored until now. But a
  name that the contract did not give is nobody's.
- In doubt it is a break: what is the same by a proof that is not tried here (a pattern written otherwise, a
  rule moved into a branch) is reported, and so is every keyword that is not known here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

Schema = Mapping[str, Any]

IN, OUT = "in", "out"
JSON_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
# Keyword → the JSON types that it is about, and whether a reader may have a greater value than the writer.
BOUNDS = {
    "minLength": ({"string"}, False),
    "maxLength": ({"string"}, True),
    "minimum": ({"integer", "number"}, False),
    "maximum": ({"integer", "number"}, True),
    "exclusiveMinimum": ({"integer", "number"}, False),
    "exclusiveMaximum": ({"integer", "number"}, True),
    "minItems": ({"array"}, False),
    "maxItems": ({"array"}, True),
}  # fmt: skip
ALTERNATIVES = ("anyOf", "oneOf")
NOTES = ("$schema", "title", "description", "default", "examples")  # no rules; defaults are compared apart
KNOWN = {
    *NOTES, *BOUNDS, *ALTERNATIVES, "allOf", "type", "const", "enum", "pattern", "items", "properties", "required",
    "additionalProperties",
}  # fmt: skip


def breaks(old: Schema, new: Schema, direction: str) -> list[str]:
    """What the new schema breaks, a sentence each; none if it is compatible."""
    writer, reader = (old, new) if direction == IN else (new, old)
    return [*_lost(old, new, ""), *_refused(writer, reader, "")]


def document_breaks(old: Schema, new: Schema) -> list[str]:
    """What a new AsyncAPI document breaks of the old one's topics, directions, messages and payloads."""
    found = []
    for name, operation in old["operations"].items():
        now = new["operations"].get(name)
        before = _resolved(old, operation)
        if now is None:
            found.append(f"{name}: no such operation any more")
            continue
        after = _resolved(new, now)
        found += [
            f"{name}: {part} was {before[part]}"
            for part in ("action", "address")
            if before[part] != after[part]
        ]
        for message, payload in before["payloads"].items():
            if message not in after["payloads"]:
                found.append(f"{name}: no message {message} any more")
                continue
            direction = IN if before["action"] == "receive" else OUT
            found += [f"{name}: {one}" for one in breaks(payload, after["payloads"][message], direction)]
    return found


def _resolved(document: Schema, operation: Schema) -> dict[str, Any]:
    """An operation with its topic and the schemas of its messages."""
    messages = {
        one["$ref"].rsplit("/", 1)[1]: _at(document, _at(document, one)) for one in operation["messages"]
    }
    return {
        "action": operation["action"],
        "address": _at(document, operation["channel"])["address"],
        "payloads": {name: _at(document, message["payload"]) for name, message in messages.items()},
    }


def _at(document: Schema, reference: Schema) -> Any:
    found: Any = document
    for step in reference["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def _lost(old: Schema, new: Schema, path: str) -> Iterator[str]:
    """Fields that are named no more, or whose default says something else, at any depth."""
    for name, before in old.get("properties", {}).items():
        after = new.get("properties", {}).get(name)
        if after is None:
            yield f"{path}/{name}: the field is gone"
            continue
        if before.get("default", ...) != after.get("default", ...):
            yield f"{path}/{name}: the default was {before.get('default', 'none')}"
        yield from _lost(before, after, f"{path}/{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(old.get(name), Mapping):
            yield from _lost(
                old[name], new.get(name) if isinstance(new.get(name), Mapping) else {}, f"{path}/{name}"
            )
    for name in ALTERNATIVES:
        later = {branch.get("title"): branch for branch in new.get(name, ())}
        for number, branch in enumerate(old.get(name, ())):
            if "title" in branch and branch.get("type") == "object":
                yield from _lost(branch, later.get(branch["title"], {}), f"{path}/{name}/{number}")


def _refused(writer: Schema, reader: Schema, path: str) -> Iterator[str]:
    """What the writer may write and the reader does not accept."""
    if not reader:
        return
    written = _values(writer)
    if written is not None:
        accepts = Draft202012Validator(reader).is_valid
        yield from (f"{path}: {value!r} is refused" for value in written if not accepts(value))
        return
    if _values(reader) is not None:
        yield f"{path}: only {_values(reader)} is accepted"
    types = _types(writer)
    yield from (f"{path}: {name} is refused" for name in sorted(types - _types(reader)))
    yield from _refused_ranges(writer, reader, path, types)
    if "object" in types:
        yield from _refused_fields(writer, reader, path)
    if "array" in types and "items" in reader:
        yield from _refused(writer.get("items", {}), reader["items"], f"{path}/items")
    yield from _refused_branches(writer, reader, path)
    yield from (
        f"{path}: {name} cannot be compared"
        for name in sorted(reader.keys() - KNOWN)
        if writer.get(name, ...) != reader[name]
    )


def _types(schema: Schema) -> set[str]:
    stated = schema.get("type", JSON_TYPES)
    types = {stated} if isinstance(stated, str) else set(stated)
    return types | ({"integer"} if "number" in types else set())


def _values(schema: Schema) -> list[Any] | None:
    """The values that a schema lists; None if it lists none."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _refused_ranges(writer: Schema, reader: Schema, path: str, types: set[str]) -> Iterator[str]:
    """Bounds and patterns, of the types that the writer writes at all."""
    for name, (about, may_grow) in BOUNDS.items():
        if name in reader and types & about:
            mine, theirs = reader[name], writer.get(name)
            if theirs is None or (mine < theirs if may_grow else mine > theirs):
                yield f"{path}: {name} is {mine}, and was {'free' if theirs is None else theirs}"
    if "pattern" in reader and "string" in types and writer.get("pattern") != reader["pattern"]:
        yield f"{path}: the pattern is another"


def _refused_fields(writer: Schema, reader: Schema, path: str) -> Iterator[str]:
    written, read = writer.get("properties", {}), reader.get("properties", {})
    yield from (
        f"{path}/{name}: is required"
        for name in reader.get("required", ())
        if name not in writer.get("required", ())
    )
    for name in sorted(read.keys() & _named(writer)):
        yield from _refused(written.get(name, {}), read[name], f"{path}/{name}")
    others, accepted = writer.get("additionalProperties", True), reader.get("additionalProperties", True)
    for name in sorted(written.keys() - read.keys()):
        yield from _refused(written[name], _schema(accepted), f"{path}/{name}")
    if others is not False:
        yield from _refused(_schema(others), _schema(accepted), f"{path}/*")


def _named(schema: Schema) -> set[str]:
    """The fields that a schema names, itself or in a branch."""
    branches = (branch for name in (*ALTERNATIVES, "allOf") for branch in schema.get(name, ()))
    return set(schema.get("properties", ())).union(*map(_named, branches))


def _schema(stated: Schema | bool) -> Schema:
    """What `additionalProperties` says, as a schema: false is a list of no values."""
    return stated if isinstance(stated, Mapping) else {} if stated else {"enum": []}


def _refused_branches(writer: Schema, reader: Schema, path: str) -> Iterator[str]:
    """Each alternative of the writer must fit one of the reader's; each further rule must be one of the writer's."""
    plain = {name: rule for name, rule in writer.items() if name not in (*ALTERNATIVES, "allOf")}
    for name in ALTERNATIVES:
        if name == "oneOf" and writer.get(name) != reader.get(name) and not _told_apart(reader):
            yield f"{path}/{name}: the alternatives cannot be told apart"
        options = [_both(plain, option) for one in ALTERNATIVES for option in writer.get(one, ())] or [plain]
        for number, option in enumerate(options if name in reader else ()):
            if not any(_fits(option, accepted) for accepted in reader[name]):
                yield f"{path}/{name}/{number}: {option.get('title', 'what is written')} fits no alternative"
    held = [writer, *(_both(plain, rule) for rule in writer.get("allOf", ()))]
    for number, rule in enumerate(reader.get("allOf", ())):
        if not any(_fits(one, rule) for one in held):
            yield f"{path}/allOf/{number}: is a new rule"


def _both(plain: Schema, branch: Schema) -> Schema:
    """What holds under a branch: at most what both say, so never more than is true."""
    properties = {**plain.get("properties", {}), **branch.get("properties", {})}
    required = [*plain.get("required", ()), *branch.get("required", ())]
    return {**plain, **branch, "properties": properties, "required": required}


def _told_apart(schema: Schema) -> bool:
    """Is everything an object, with a required field that has another constant in every alternative?"""
    constants = [
        {
            name: part["const"]
            for name, part in one.get("properties", {}).items()
            if "const" in part and name in one.get("required", ())
        }
        for one in schema.get("oneOf", ())
    ]
    shared = set.intersection(*map(set, constants)) if constants else set()
    apart = any(len({str(one[name]) for one in constants}) == len(constants) for name in shared)
    return not constants or (apart and schema.get("type") == "object")


def _fits(writer: Schema, reader: Schema) -> bool:
    return next(_refused(writer, reader, ""), None) is None
