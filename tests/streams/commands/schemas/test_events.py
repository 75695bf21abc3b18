"""The JSON Schemas of events and the parser accept the same, both ways, but for what a schema cannot say."""

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from attribution.parsing import FORMS, MAXIMUM_EVENT_BYTES, Rejected, parse
from streams.commands.schemas.events import MOMENT, event_schemas
from tests.contract import keeping

SCHEMAS = event_schemas()
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}
# One event of each shape, with every field.
FULL = [event for event in keeping.values("v1", "events") if str(event.get("event_id")).endswith("text")]
DAYS_THAT_ARE_NONE = ("2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2100-02-29T00:00:00Z")
MOMENTS_OUT_OF_RANGE = ("1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01")
NUMBERS = {"id", "ids", "whole", "count", "timestamp"}  # the kinds that take whole numbers


class Exceptional(NamedTuple):
    """What a schema accepts and the parser does not: why the schema cannot say it, and an event that shows it."""

    why: str
    event: dict[str, Any]
    reason: str


ACTION = {"type": "action", "actor": "user", "action": "export", "session_guid": "s", "ts": 5}
PROMPT = {"type": "prompt", "request_id": "q", "session_guid": "s", "ts": 5}
PLACED = {"type": "placement", "placement_id": "p", "document_id": "d", "asset_id": "a", "ts": 5}
EXCEPTIONS = {
    "fraction": Exceptional(
        "to JSON Schema 1.0 and 1 are one number; lara takes a number written with a fraction or an exponent for no "
        "whole one, since its digits may be rounded",
        {**PROMPT, "request_id": 1.0},
        "wrong_type",
    ),
    "long number": Exceptional(
        "an id has 256 code points; a schema counts those of text, not those of a number",
        {**PROMPT, "request_id": 10**256},
        "out_of_range",
    ),
    "day": Exceptional(
        "which days a month has is beyond a pattern",
        {**PROMPT, "ts": DAYS_THAT_ARE_NONE[0]},
        "out_of_range",
    ),
    "range": Exceptional(
        "a pattern cannot take off the offset: the moment may lie before 1970 or after 9999",
        {**PROMPT, "ts": MOMENTS_OUT_OF_RANGE[0]},
        "out_of_range",
    ),
    "line feed": Exceptional(
        "`$` is the end of the text to JSON Schema; Python's validator also lets a line feed follow",
        {**ACTION, "action": "export\n"},
        "out_of_range",
    ),
}  # fmt: skip
# What a schema never sees, because it is about values and not about how they are written.
WRITTEN = {
    "oversize": (json.dumps({**PROMPT, "text": "x" * MAXIMUM_EVENT_BYTES}), "oversize"),
    "half of a character": ('{"type":"prompt","request_id":"q","session_guid":"s","ts":5,"text":"\\ud800"}', "not_json"),
    "a number out of range": ('{"type":"prompt","request_id":"q","session_guid":"s","ts":5,"other":1e400}', "not_json"),
}  # fmt: skip


def is_exceptional(event: dict[str, Any]) -> bool:
    """Does an exception of the table apply to one of the fields?"""
    form = FORMS[event["type"]]
    return any(_exceptional(form.kinds[name], value) for name, value in event.items() if name in form.kinds)


def _exceptional(kind: str, value: Any) -> bool:
    if kind == "ids" and isinstance(value, list):
        return any(_exceptional("id", item) for item in value)
    if isinstance(value, float):
        return kind in NUMBERS and value.is_integer()
    if isinstance(value, int):
        return kind == "id" and len(str(value)) > 256
    if not isinstance(value, str):
        return False
    if kind == "timestamp":
        return value.endswith("\n") or isinstance(
            parse(json.dumps({**PROMPT, "ts": value}).encode()), Rejected
        )
    return kind == "verb" and value.endswith("\n")


def agree(sent: Any) -> bool:
    """Whether the parser accepts; asserts that the schema says the same."""
    found = parse(json.dumps(sent).encode())
    accepted = not isinstance(found, Rejected)
    event_type = sent.get("type") if isinstance(sent, dict) else None
    if not isinstance(event_type, str) or event_type not in VALIDATORS:
        assert not accepted
        assert not any(validator.is_valid(sent) for validator in VALIDATORS.values())
        return accepted
    valid = VALIDATORS[event_type].is_valid(sent)
    if accepted != valid:
        assert valid, (sent, "the parser accepts, the schema does not")
        assert is_exceptional(sent), (sent, found)
    return accepted


# --- both ways --------------------------------------------------------------------------------------

EDGES = [
    None, "", True, False, 0, 1, -1, 7, 2**53, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**255, 10**256, -(10**255),
    0.0, -0.0, 0.5, -0.5, 1.0, 1e300, 9.2e18, 9.3e18, "x", "7", " ", "\n", "x" * 256, "x" * 257, "👋" * 256, "👋" * 257,
    [], [None, "", "a", 7], [1.5], [1.0], [True], [[]], ["x" * 257], [10**256], {}, {"a": 1}, "user", "agent", "User",
    "place", "remove", "relevance", "intent", "goal", "export", "a_1", "_a", "1a", "A", "é", "export\n", "use it",
    0, 253_402_300_799_999, 253_402_300_800_000, "2026-03-02T10:00:00Z", "2026-03-02t10:00:00.123456z",
    "2026-03-02T10:00:00+23:59", "2026-03-02T10:00:00-00:00", "2026-03-02T10:00:00", "2026-03-02 10:00:00Z",
    "2026-03-02T10:00:00+24:00", "2026-03-02T10:00:00+01:60", "2026-03-02T24:00:00Z", "2026-03-02T10:60:00Z",
    "2026-03-02T10:00:60Z", "2026-13-02T10:00:00Z", "2026-00-02T10:00:00Z", "2026-03-00T10:00:00Z",
    "2026-03-32T10:00:00Z", "2026-03-02T10:00:00.Z", "2026-03-02T10:00:00,5Z", "2024-02-29T10:00:00Z",
    "1969-12-31T23:00:00-02:00", "1968-12-31T23:00:00-02:00", "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z", "२०२६-03-02T10:00:00Z", "2026-03-02T10:00:00Z\n", "2026-03-02", "yesterday",
    *DAYS_THAT_ARE_NONE, *MOMENTS_OUT_OF_RANGE,
]  # fmt: skip


def named(event: dict[str, Any]) -> str:
    return f"{event['type']} {event.get('kind', '')} {event['event_id']}"


@pytest.mark.parametrize("sent", FULL, ids=named)
def test_schema_and_parser_agree_on_every_edge_of_every_field(sent):
    """Each field of a full event with each of a hundred values, and left out."""
    results = set()
    for name in [*sent, "other"]:
        results |= {agree({**sent, name: value}) for value in EDGES}
        results.add(agree({key: value for key, value in sent.items() if key != name}))
    assert results == {True, False}


scalars = st.one_of(
    st.sampled_from(EDGES), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4), st.from_regex(MOMENT, fullmatch=True),
)  # fmt: skip
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("ab", max_size=2), inner, max_size=3)
    ),
    max_leaves=5,
)
names = st.sampled_from(sorted({name for form in FORMS.values() for name in form.kinds}))
objects = st.builds(
    lambda event_type, fields: {**fields, **event_type},
    st.one_of(
        st.sampled_from([{"type": name} for name in FORMS]),
        st.just({}),
        anything.map(lambda one: {"type": one}),
    ),
    st.dictionaries(st.one_of(names, st.text(max_size=3)), anything, max_size=8),
)


@pytest.mark.slow
@given(st.one_of(objects, anything))
@settings(max_examples=150, deadline=None)
def test_schema_and_parser_agree_on_any_json(sent):
    """Objects with fields of the contract and others, and what is no object."""
    agree(sent)


def spoilt(sent: dict[str, Any], left_out: set[str], changed: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**sent, **changed}.items() if name not in left_out}


events = st.sampled_from(FULL).flatmap(
    lambda sent: st.builds(
        spoilt,
        st.just(sent),
        st.sets(st.sampled_from(sorted(sent)), max_size=3),
        st.dictionaries(st.sampled_from(sorted(sent)), scalars, max_size=3),
    )
)


@pytest.mark.slow
@given(events)
@example(
    {
        "type": "judgement",
        "ts": 5,
        "kind": "relevance",
        "query": "",
        "retrieval_id": None,
        "asset_id": 1,
        "grade": 1,
    }
)
@settings(max_examples=150, deadline=None)
def test_schema_and_parser_agree_on_mutated_events(sent):
    """Up to three fields changed and three left out: needs that hang together are seen together."""
    agree(sent)


def test_what_comes_twice_counts_as_it_came_last():
    """For the parser as for whoever reads JSON into a value."""
    for last in ("5", '"yesterday"'):
        value = b'{"type":"prompt","request_id":"q","session_guid":"s","ts":true,"ts":%s}' % last.encode()
        assert VALIDATORS["prompt"].is_valid(json.loads(value)) is not isinstance(parse(value), Rejected)


# --- exceptions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("exceptional", EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_every_exception_is_one(exceptional):
    """The schema accepts what the parser rejects: else the row is out of date."""
    found = parse(json.dumps(exceptional.event).encode())
    assert VALIDATORS[exceptional.event["type"]].is_valid(exceptional.event)
    assert isinstance(found, Rejected)
    assert (found.reason, is_exceptional(exceptional.event)) == (exceptional.reason, True)


@pytest.mark.parametrize(("value", "reason"), WRITTEN.values(), ids=WRITTEN)
def test_how_a_value_is_written_is_not_seen_by_a_schema(value, reason):
    """The value is valid, the writing is not."""
    found = parse(value.encode())
    assert VALIDATORS["prompt"].is_valid(json.loads(value))
    assert isinstance(found, Rejected)
    assert found.reason == reason


# --- form -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_is_one_in_both_dialects(schema):
    """AsyncAPI reads draft 07, the files say 2020-12."""
    Draft202012Validator.check_schema(schema)
    Draft7Validator.check_schema(schema)


@given(events)
@settings(max_examples=50, deadline=None)
def test_a_schema_means_the_same_in_both_dialects(sent):
    """No keyword is used that one of them does not know."""
    event_type = sent.get("type")
    if isinstance(event_type, str) and event_type in SCHEMAS:
        found = VALIDATORS[event_type].is_valid(sent)
        assert Draft7Validator(SCHEMAS[event_type]).is_valid(sent) is found


def test_a_schema_says_what_every_field_means():
    """With the type that the type has."""
    for event_type, schema in SCHEMAS.items():
        assert list(schema["properties"]) == ["type", *FORMS[event_type].kinds]
        assert all(rule["description"] for rule in schema["properties"].values())
        assert schema["properties"]["type"]["const"] == event_type


def test_a_mistake_is_told_where_it_is():
    """Whoever validates in a pipeline reads the field and what it may be."""
    (error,) = VALIDATORS["placement"].iter_errors({**PLACED, "op": "move"})
    assert (list(error.path), error.message) == (["op"], "'move' is not one of ['place', 'remove', '', None]")
