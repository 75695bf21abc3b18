"""The checker itself: it sees each kind of break, calls nothing else one, and is right about values."""

import copy
import itertools

import pytest
from jsonschema import Draft202012Validator

from attribution.parsing import FORMS
from streams.commands.schemas.asyncapi import document, schemas
from streams.commands.schemas.events import event_schemas
from streams.commands.schemas.outputs import output_schemas
from tests.contract.compatible import BOUNDS, IN, OUT, breaks, document_breaks

OBJECT = {
    "type": "object",
    "properties": {
        "id": {"type": ["string", "integer"], "minLength": 1, "maxLength": 256},
        "name": {"type": ["string", "null"], "pattern": "^[a-z]*$"},
        "actor": {"type": "string", "enum": ["user", "agent"]},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
        "list": {"type": "array", "items": {"type": ["string", "null"]}, "default": []},
        "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
    },
    "required": ["id"],
}


def changed(schema, *path, **rules):
    """A copy in which the part at a path has other rules; ... takes one away."""
    copied = copy.deepcopy(schema)
    part = copied
    for step in path:
        part = part[step]
    for name, rule in rules.items():
        if rule is ...:
            del part[name]
        else:
            part[name] = rule
    return copied


def replaced(schema, *path):
    """A copy with another value, the last one given, at a path."""
    *path, last, value = path
    copied = copy.deepcopy(schema)
    part = copied
    for step in path:
        part = part[step]
    part[last] = value
    return copied


def field(name, **rules):
    return changed(OBJECT, "properties", name, **rules)


WITHOUT_COUNT = changed(OBJECT, "properties", count=...)
WITH_MORE = changed(OBJECT, "properties", more={"type": "integer"})
# What was done, the new schema, and whether it breaks producers (in) and consumers (out).
CHANGES = [
    ("nothing", OBJECT, False, False),
    ("another description", changed(OBJECT, description="new"), False, False),
    ("an optional field more", WITH_MORE, False, False),
    ("an optional field less", WITHOUT_COUNT, True, True),
    ("a required field more", changed(WITH_MORE, required=["id", "more"]), True, False),
    ("an optional field is required", changed(OBJECT, required=["id", "name"]), True, False),
    ("a required field is optional", changed(OBJECT, required=[]), False, True),
    ("a type less", field("id", type="string"), True, False),
    ("a type more", field("id", type=["string", "integer", "null"]), False, True),
    ("another type", field("count", type="boolean"), True, True),
    ("any number for a whole one", field("count", type="number"), False, True),
    ("a word less", field("actor", enum=["user"]), True, False),
    ("a word more", field("actor", enum=["user", "agent", "tool"]), False, True),
    ("any word", field("actor", enum=...), False, True),
    ("words for any text", field("name", enum=["a", None]), True, False),
    ("another pattern", field("name", pattern="^[a-y]*$"), True, True),
    ("no pattern", field("name", pattern=...), False, True),
    ("a greater minLength", field("id", minLength=2), True, False),
    ("a smaller minLength", field("id", minLength=0), False, True),
    ("a smaller maxLength", field("id", maxLength=255), True, False),
    ("a greater maxLength", field("id", maxLength=257), False, True),
    ("no maxLength", field("id", maxLength=...), False, True),
    ("a smaller maximum", field("count", maximum=8), True, False),
    ("a greater minimum", field("count", minimum=1), True, False),
    ("no minimum", field("count", minimum=...), False, True),
    ("a bound where none was", field("list", maxItems=9), True, False),
    ("a type of items less", field("list", items={"type": "string"}), True, False),
    ("a type of items more", field("list", items={"type": ["string", "null", "integer"]}), False, True),
    ("any items", field("list", items=...), False, True),
    ("another type in a map", field("map", additionalProperties={"type": "integer"}), True, True),
    ("another default", field("list", default=["x"]), True, True),
    ("no default", field("list", default=...), True, True),
    ("unknown fields refused", changed(OBJECT, additionalProperties=False), True, False),
    ("a new rule", changed(OBJECT, allOf=[{"required": ["name"]}]), True, False),
    ("a keyword that is not known here", changed(OBJECT, minProperties=1), True, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "breaks_in", "breaks_out"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_each_kind_of_break_is_seen_and_nothing_else(new, breaks_in, breaks_out):
    """A change that widens breaks consumers, one that narrows breaks producers."""
    assert bool(breaks(OBJECT, new, IN)) is breaks_in
    assert bool(breaks(OBJECT, new, OUT)) is breaks_out


@pytest.mark.parametrize("direction", [IN, OUT])
def test_a_break_says_where_it_is(direction):
    """The path of the field is in the sentence."""
    assert breaks(OBJECT, WITHOUT_COUNT, direction) == ["/count: the field is gone"]
    assert breaks(field("list", items={"type": "object", "properties": {"x": {}}}), OBJECT, direction)[
        0
    ].startswith("/list/items/x")


# --- the real schemas -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "schema"), schemas().items(), ids=schemas())
def test_a_schema_is_compatible_with_itself(name, schema):
    """Else every change would look like a break."""
    assert breaks(schema, copy.deepcopy(schema), IN) == breaks(schema, schema, OUT) == []


@pytest.mark.parametrize("event_type", FORMS)
def test_every_field_of_an_event_is_held(event_type):
    """Taken away, required, of fewer types or under another name: each is seen, of each field."""
    schema = event_schemas()[event_type]
    for name, part in schema["properties"].items():
        assert breaks(schema, changed(schema, "properties", **{name: ...}), IN), name
        narrowed = {**part, "enum": ["only"]}
        assert breaks(schema, replaced(schema, "properties", name, narrowed), IN), name
        if name not in schema["required"]:
            assert breaks(schema, changed(schema, required=[*schema["required"], name]), IN), name


@pytest.mark.parametrize(("topic", "schema"), output_schemas().items(), ids=output_schemas())
def test_every_field_of_an_output_is_held(topic, schema):
    """Taken away, sent no more always, of another type or null: each is seen, of each field of each record."""
    places = [("anyOf", number) for number in range(len(schema.get("anyOf", ())))] or [()]
    for place in places:
        record = schema if not place else schema["anyOf"][place[1]]
        for name in record["properties"]:
            assert breaks(schema, changed(schema, *place, "properties", **{name: ...}), OUT), name
            assert breaks(schema, replaced(schema, *place, "properties", name, {"type": "null"}), OUT), name
        for name in record["required"]:
            fewer = [one for one in record["required"] if one != name]
            assert breaks(schema, changed(schema, *place, required=fewer), OUT), name


JUDGEMENT = event_schemas()["judgement"]
FEWER = JUDGEMENT["oneOf"][:2]
INTENT = JUDGEMENT["oneOf"][1]


@pytest.mark.parametrize(
    ("new", "breaking"),
    [
        (changed(JUDGEMENT, oneOf=FEWER), True),
        (changed(JUDGEMENT, oneOf=[*JUDGEMENT["oneOf"], {"properties": {"kind": {"const": "new"}}, "required": ["kind"]}]), False),
        (changed(JUDGEMENT, oneOf=[*JUDGEMENT["oneOf"], {"required": ["grade"]}]), True),
        (changed(JUDGEMENT, oneOf=...), False),
        (changed(JUDGEMENT, "oneOf", 0, allOf=...), False),
        (changed(JUDGEMENT, "oneOf", 0, required=["kind", "grade"]), False),
        (changed(JUDGEMENT, "oneOf", 1, required=[*INTENT["required"], "judge"]), True),
        (changed(JUDGEMENT, "oneOf", 1, "properties", judge={"const": "human"}), True),
        (replaced(JUDGEMENT, "oneOf", 2, "allOf", 0, "anyOf", [{"required": ["request_id"]}]), True),
    ],
    ids=["a kind less", "a kind more", "a kind that overlaps", "no kinds", "a choice less", "a need less", "a need more",
         "a narrower field", "one of two ways less"],
)  # fmt: skip
def test_the_kinds_of_a_judgement_are_held(new, breaking):
    """What a judgement of a kind needed is enough for ever; more kinds may come, if they can be told apart."""
    assert bool(breaks(JUDGEMENT, new, IN)) is breaking


# --- the document -----------------------------------------------------------------------------------

DOCUMENT = document("lara", 1)


@pytest.mark.parametrize(
    ("new", "breaking"),
    [
        (DOCUMENT, False),
        (changed(DOCUMENT, "operations", receiveFeedback=DOCUMENT["operations"]["receiveActions"]), False),
        (changed(DOCUMENT, "operations", receivePrompts=...), True),
        (changed(DOCUMENT, "operations", "receivePrompts", action="send"), True),
        (changed(DOCUMENT, "channels", "prompts", address="lara.turns"), True),
        (changed(DOCUMENT, "operations", "sendOutcomes", messages=[]), True),
        (changed(DOCUMENT, "components", "schemas", "prompt", "properties", text=...), True),
        (changed(DOCUMENT, "components", "schemas", "outcomes", required=[]), True),
        (changed(DOCUMENT, "components", "schemas", "prompt", required=["type"]), False),
    ],
    ids=["the same", "an operation more", "an operation less", "the other direction", "another topic", "a message less",
         "a field less", "an output field no more always", "an input field no more required"],
)  # fmt: skip
def test_topics_directions_and_messages_are_held(new, breaking):
    """And their payloads, each in its direction."""
    assert bool(document_breaks(DOCUMENT, new)) is breaking


# --- right about values -----------------------------------------------------------------------------

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
A = {"properties": {"a": {"type": "string"}}}
TAGGED = [
    {"properties": {"b": {"const": tag}, "a": {"type": "string"}}, "required": ["b"]} for tag in ("x", "y")
]
SMALL = [
    {},
    *({"type": name} for name in TYPES),
    *({"type": list(names)} for names in itertools.combinations(TYPES, 2)),
    *({"type": ["string", "integer"], name: bound} for name in BOUNDS for bound in (0, 1, 2)),
    *({"type": ["array", "integer"], name: bound} for name in BOUNDS for bound in (1, 2)),
    *({"pattern": pattern} for pattern in ("^a", "b$")),
    *({"type": "string", "maxLength": bound, "pattern": "^a"} for bound in (1, 2)),
    *({"enum": values} for values in ([], ["a"], ["a", "bb"], ["a", 1], [1, True], [None])),
    {"const": "a"},
    {"type": "string", "enum": ["a", 1]},
    *({"items": items} for items in ({"type": "string"}, {"type": ["string", "null"]}, {"maxLength": 1})),
    A,
    {**A, "required": ["a"]},
    {**A, "required": ["a", "b"]},
    {**A, "type": "object"},
    {**A, "additionalProperties": False},
    {**A, "additionalProperties": {"type": "string"}},
    {"additionalProperties": {"type": ["string", "integer"]}},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]},
    {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"allOf": [{"type": ["string", "integer"]}, {"maxLength": 1}]},
    {"allOf": [{"maxLength": 1}]},
    {"allOf": [{"maxLength": 2}]},
    {"allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}]},
    {"oneOf": [{"type": "string"}, {"type": "null"}]},
    {"oneOf": [{"type": "string"}, {"maxLength": 1}]},
    {"oneOf": [{"type": "string"}, {"type": "string", "maxLength": 1}, {"type": "null"}]},
    {"oneOf": TAGGED},
    *({"type": "object", "oneOf": some} for some in (TAGGED[:1], TAGGED, [*TAGGED, {"required": ["a"]}])),
    {**A, "oneOf": [TAGGED[0], {**TAGGED[1], "required": ["a", "b"]}]},
    {"minProperties": 1},
]  # fmt: skip
SCALARS = [None, True, False, 0, 1, 2, 3, -1, 0.5, 1.5, "", "a", "bb", "ab", "aaa", "x"]
VALUES = [
    *SCALARS,
    *([one] for one in SCALARS),
    *([one, "a"] for one in (None, 1, "ab")),
    [], ["a", "a", "a"], {}, *({"a": one} for one in SCALARS),
    *({"b": one} for one in (None, 1, "x", "y")),
    *({"a": one, "b": other} for one in (1, "a", None) for other in ("x", "y", 1)),
]  # fmt: skip
WRAPPED = {
    "alone": (lambda one: one, lambda value: value),
    "in a field": (lambda one: {"properties": {"f": one}}, lambda value: {"f": value}),
    "in a map": (lambda one: {"additionalProperties": one}, lambda value: {"f": value}),
    "in a list": (lambda one: {"items": one}, lambda value: [value]),
    "in an alternative": (lambda one: {"anyOf": [one, {"const": "never"}]}, lambda value: value),
    "in a rule": (lambda one: {"allOf": [one]}, lambda value: value),
}


def mentioned(schema):
    """Every field that a schema names anywhere."""
    if isinstance(schema, dict):
        return set(schema.get("properties", ())).union(*map(mentioned, schema.values()))
    return set().union(*map(mentioned, schema)) if isinstance(schema, list) else set()


@pytest.mark.parametrize(
    "wrapped", [name if name == "alone" else pytest.param(name, marks=pytest.mark.slow) for name in WRAPPED]
)
def test_what_is_called_compatible_accepts_all_that_was_written(wrapped):
    """Of all pairs of small schemas: no value that the writer's allows is refused by a reader's called compatible."""
    wrap, put = WRAPPED[wrapped]
    accepted = [
        {
            number
            for number, value in enumerate(VALUES)
            if Draft202012Validator(wrap(one)).is_valid(put(value))
        }
        for one in SMALL
    ]
    called_compatible = 0
    for (writer, written), (reader, read) in itertools.product(zip(SMALL, accepted, strict=True), repeat=2):
        # A name that the writer's contract did not give is nobody's.
        if mentioned(reader) <= mentioned(writer) and not breaks(wrap(writer), wrap(reader), IN):
            called_compatible += 1
            assert written <= read, (writer, reader, [VALUES[number] for number in written - read])
    assert called_compatible > 3 * len(SMALL)
