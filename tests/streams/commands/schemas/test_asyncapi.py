"""The AsyncAPI document: valid by the specification's own schema, and about the real topics."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from aiokafka.structs import ConsumerRecord
from jsonschema import Draft7Validator

from attribution.parsing import Rejected, parse
from streams.commands.replay import KINDS
from streams.commands.schemas.asyncapi import KEYS, MEANINGS, document, schemas
from streams.commands.schemas.examples import EXAMPLES
from streams.publisher import dead_letter
from streams.topics import FOREVER, RETENTION_MS, TOPICS, input_topics, output_topics
from tests.contract import keeping
from tests.docs_pages import ROOT

DOCUMENT = document("lara", RETENTION_MS)
SPECIFICATION = Path(keeping.HERE / "asyncapi-3.0.0.json")
EXAMPLE = (ROOT / "docs/example.jsonl").read_bytes().splitlines()


@cache
def specification() -> Draft7Validator:
    return Draft7Validator(json.loads(SPECIFICATION.read_text("utf-8")))


def references(part) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


def at(reference: str):
    found = DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found


@pytest.mark.parametrize("retention_ms", [RETENTION_MS, FOREVER])
def test_the_document_is_valid_by_the_specification(retention_ms):
    """The official JSON Schema of AsyncAPI 3.0.0, with the Kafka bindings."""
    specification().validate(json.loads(json.dumps(document("lara", retention_ms))))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("info", "version"), 1),
        (("channels", "prompts", "adress"), "x"),
        (("operations", "receivePrompts", "action"), "publish"),
        (("components", "messages", "prompt", "bindings", "kafka", "key"), 7),
        (("components", "schemas", "prompt", "type"), "event"),
        (("channels", "prompts", "bindings", "kafka", "topicConfiguration", "cleanup.policy"), "delete"),
    ],
)
def test_the_specification_refuses_a_spoilt_document(path, value):
    """The check above can fail."""
    spoilt = json.loads(json.dumps(DOCUMENT))
    part = spoilt
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    assert not specification().is_valid(spoilt)


def test_every_reference_leads_somewhere_in_the_document():
    """And every schema and message is referred to."""
    found = set(references(DOCUMENT))
    assert all(at(reference) for reference in found)
    for kind in ("schemas", "messages"):
        assert {f"#/components/{kind}/{name}" for name in DOCUMENT["components"][kind]} <= found


def test_lara_receives_events_and_sends_outputs_on_its_topics():
    """Addresses, directions and messages are those of the topics' table and of the parser."""
    found = {
        at(one["channel"]["$ref"])["address"]: (
            one["action"],
            at(at(one["messages"][0]["$ref"])["$ref"])["name"],
        )
        for one in DOCUMENT["operations"].values()
    }
    expected = {
        name: ("receive", event_type)
        for event_type, kind in KINDS.items()
        for name in [input_topics("lara")[kind]]
    }
    assert found == expected | {name: ("send", kind) for kind, name in output_topics("lara").items()}
    assert len(found) == len(DOCUMENT["channels"]) == len(TOPICS)


def test_names_and_retention_are_those_of_the_deployment():
    """Another prefix gives other topics and another group; compacted topics have no retention."""
    other = document("acme", FOREVER)
    assert other["channels"]["prompts"]["address"] == "acme.prompts"
    assert other["operations"]["receivePrompts"]["bindings"]["kafka"]["groupId"]["enum"] == ["acme"]
    kept = {
        name: channel["bindings"]["kafka"]["topicConfiguration"]
        for name, channel in other["channels"].items()
    }
    assert kept["prompts"] == {"cleanup.policy": ["delete"], "retention.ms": FOREVER}
    assert kept["outcomes"] == {"cleanup.policy": ["compact"]}


def test_every_message_has_a_meaning_a_key_and_a_payload():
    """The same schemas that stand alone in the files."""
    assert DOCUMENT["components"]["schemas"] == schemas()
    assert set(MEANINGS) == set(schemas()) == set(KEYS) | set(KINDS)
    for name, message in DOCUMENT["components"]["messages"].items():
        assert message["summary"] == MEANINGS[name]
        assert message["bindings"]["kafka"]["key"]["description"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_valid(name):
    """By the schema of its message."""
    Draft7Validator(schemas()[name]).validate(EXAMPLES[name])
    assert DOCUMENT["components"]["messages"][name]["examples"][0]["payload"] == EXAMPLES[name]


def test_the_examples_are_those_of_the_docs_and_what_lara_says_of_them():
    """Events are lines of docs/example.jsonl, outputs are what they come to."""
    sent = [json.loads(line) for line in EXAMPLE]
    assert all(EXAMPLES[name] in sent for name in KINDS)
    told = [(one["topic"], one["record"]) for one in keeping.records_of(EXAMPLE)]
    for topic in ("attributions", "outcomes"):
        expected = {**EXAMPLES[topic], "version": 0}
        said = [{**record, "version": 0, "replaces": None} for name, record in told if name == topic]
        assert {**expected, "replaces": None} in said
    rejected = parse(b"[]")
    assert isinstance(rejected, Rejected)
    record = ConsumerRecord("lara.actions", 4, 99, 0, 0, None, b"[]", None, 0, 0, ())
    assert json.loads(dead_letter(record, rejected, with_payload=False).value) == EXAMPLES["deadletters"]
