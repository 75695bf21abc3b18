"""What was promised is kept: events, schemas and outputs of every version of the contract (`keeping.py`)."""

import json
from functools import cache

import pytest
from jsonschema import Draft202012Validator

from streams.commands.schemas import asyncapi
from streams.topics import RETENTION_MS, TOPICS
from tests.contract import keeping
from tests.contract.compatible import IN, OUT, breaks, document_breaks
from tests.contract.keeping import HERE, VERSIONS, lines, values

NEW = asyncapi.schemas()
OUTPUTS = {topic.kind for topic in TOPICS if not topic.is_input}
KEPT = [(version, name) for version in VERSIONS for name in keeping.schemas(version)]
JSON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
    list: "array",
}
NOT_PROMISED = {"version", "detail", "replaces"}  # how often saved, for people, and how it became known

each_version = pytest.mark.parametrize("version", VERSIONS)
each_schema = pytest.mark.parametrize(("version", "name"), KEPT)
each_event = pytest.mark.parametrize(("version", "name"), [one for one in KEPT if one[1] not in OUTPUTS])
each_output = pytest.mark.parametrize(("version", "name"), [one for one in KEPT if one[1] in OUTPUTS])


@cache
def validator(version, name):
    """By the kept schema of a version, or by the one of now."""
    return Draft202012Validator(NEW[name] if version == "now" else keeping.schemas(version)[name])


def test_the_first_version_is_kept():
    """And what is kept is of every event and output that there was."""
    assert "v1" in VERSIONS
    assert {name for version, name in KEPT if version == "v1"} == {
        "prompt", "retrieval", "placement", "action", "judgement", "attributions", "outcomes", "deadletters",
    }  # fmt: skip


# --- schemas ----------------------------------------------------------------------------------------


@each_schema
def test_a_kept_schema_is_not_broken(version, name):
    """Producers that hold to it are accepted, consumers that hold to it understand."""
    direction = OUT if name in OUTPUTS else IN
    assert breaks(keeping.schemas(version)[name], NEW[name], direction) == []


@each_version
def test_no_kept_topic_is_gone_or_means_something_else(version):
    """Names, directions and messages of the AsyncAPI document."""
    kept = json.loads((HERE / version / "schemas/asyncapi.json").read_text("utf-8"))
    assert document_breaks(kept, asyncapi.document("lara", RETENTION_MS)) == []


# --- events -----------------------------------------------------------------------------------------


@each_version
def test_a_kept_event_is_still_the_same_event(version):
    """Its type, its identity and its digest: a record sent again by an old producer stays a duplicate."""
    assert [keeping.digest_of(line) for line in lines(version, "events")] == values(version, "digests")


@each_version
def test_a_kept_event_fits_its_schema_then_and_now(version):
    """What was valid in a producer's pipeline is valid for ever."""
    for event in values(version, "events"):
        for schema in (version, "now"):
            validator(schema, event["type"]).validate(event)


@each_event
def test_kept_events_have_every_field_in_every_form(version, name):
    """Each field with each JSON type that its schema allows, and each word; "" where the field may be absent."""
    events = [event for event in values(version, "events") if event["type"] == name]
    for field, rule in keeping.schemas(version)[name]["properties"].items():
        seen = [event[field] for event in events if field in event]
        forms = {JSON_TYPES[type(value)] for value in seen}
        stated = rule.get("type", "string")
        assert forms >= ({stated} if isinstance(stated, str) else set(stated)), field
        assert all(word in seen for word in rule.get("enum", ())), field
        assert "null" not in forms or "" in seen, field
        if "items" in rule:
            items = [item for value in seen if isinstance(value, list) for item in value]
            assert {JSON_TYPES[type(item)] for item in items} == set(rule["items"]["type"]), field


# --- outputs ----------------------------------------------------------------------------------------


@each_version
def test_a_kept_story_is_still_told_the_same(version):
    """Every record of then is there, under its key, and says at least what it said."""
    now = {(one["topic"], one["key"]): one["record"] for one in keeping.records_of(lines(version, "story"))}
    for one in values(version, "outputs"):
        record = now[one["topic"], one["key"]]
        said = {name: value for name, value in one["record"].items() if name not in NOT_PROMISED}
        assert {name: value for name, value in record.items() if name in said} == said


@each_version
def test_what_is_told_now_fits_the_schemas_of_then_and_now(version):
    """Of the kept story, and as it was told then."""
    for one in [*values(version, "outputs"), *keeping.records_of(lines(version, "story"))]:
        for schema in (version, "now"):
            validator(schema, one["topic"]).validate(one["record"])


@each_output
def test_kept_outputs_have_every_field(version, name):
    """Of each kind of record, and of the records inside."""
    records = [one["record"] for one in values(version, "outputs") if one["topic"] == name]
    schema = keeping.schemas(version)[name]
    for form in schema.get("anyOf", [schema]):
        of_form = [record for record in records if Draft202012Validator(form).is_valid(record)]
        assert set().union(*of_form) == set(form["properties"])
        for field, rule in form["properties"].items():
            inside = rule.get("items", {}).get("properties", {})
            parts = [part for record in of_form if inside for part in record.get(field, ())]
            assert set().union(*parts) == set(inside)
