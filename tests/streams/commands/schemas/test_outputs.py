"""The JSON Schemas of outputs: what lara sends fits them, now and by the kept versions."""

import json
from functools import cache

import pytest
from aiokafka.structs import ConsumerRecord
from jsonschema import Draft7Validator, Draft202012Validator

from attribution.derived import outputs_of
from attribution.parsing import Rejected, parse
from attribution.semantics import Semantics
from streams.commands.schemas.examples import EXAMPLES
from streams.commands.schemas.outputs import RECORDS, output_schemas
from streams.commands.simulator import COVERAGE, simulate
from streams.publisher import dead_letter, letters_of
from streams.topics import output_topics
from tests.contract import keeping
from tests.properties import running

SCHEMAS = output_schemas()
START = 1_790_000_000_123
HOUR = 3_600_000
SEMANTICS = Semantics()


def test_every_output_topic_has_a_schema():
    """Under its short name."""
    assert set(SCHEMAS) == set(RECORDS) == set(output_topics("lara"))


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_is_one_in_both_dialects(schema):
    """AsyncAPI reads draft 07, the files say 2020-12."""
    Draft202012Validator.check_schema(schema)
    Draft7Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("topic", SCHEMAS)
def test_every_field_says_what_it_means(topic):
    """In the record and in the records inside."""
    for form in SCHEMAS[topic].get("anyOf", [SCHEMAS[topic]]):
        for rule in form["properties"].values():
            assert rule["description"]
            assert all(inner["description"] for inner in rule.get("items", {}).get("properties", {}).values())


@pytest.mark.parametrize(
    ("topic", "spoilt"),
    [
        ("attributions", {"ts": ...}),
        ("attributions", {"resolution": "withdrawn", "ts": ..., "version": ...}),
        ("attributions", {"session_guid": None}),
        ("outcomes", {"version": ...}),
        ("outcomes", {"ranks": {"a": "first"}}),
        ("outcomes", {"credits": [{"action_id": "x"}]}),
        ("outcomes", {"returned_asset_ids": None}),
        ("outcomes", {"query": None}),
        ("deadletters", {"offset": ...}),
        ("deadletters", {"reason": 7}),
    ],
)
def test_a_schema_refuses_what_is_never_sent(topic, spoilt):
    """A field that is always there, a null where a field would be left out, another type."""
    record = {name: value for name, value in {**EXAMPLES[topic], **spoilt}.items() if value is not ...}
    assert Draft202012Validator(SCHEMAS[topic]).is_valid(EXAMPLES[topic])
    assert not Draft202012Validator(SCHEMAS[topic]).is_valid(record)


@cache
def simulated() -> list[tuple[str, dict]]:
    """Topic and record of all that is said of simulated traffic, half-way and at its end."""
    sent = [
        one.value
        for one in simulate(seed=5, start_ms=START, end_ms=START + 26 * HOUR, prompts=150, rates=COVERAGE)[0]
    ]
    accepted = running.accepted(sent)
    letters = []
    for part in (accepted[1::2], accepted):
        store = running.settle_in_memory([part], SEMANTICS)
        for key, entity in store.entities().items():
            letters += letters_of(outputs_of(key, entity, SEMANTICS), entity)
    for offset, value in enumerate(one for one in sent if one is not None):
        found = parse(value)
        if isinstance(found, Rejected):
            record = ConsumerRecord("lara.actions", 0, offset, 0, 0, None, value, None, 0, 0, ())
            letters += [dead_letter(record, found, with_payload) for with_payload in (True, False)]
    return [(letter.topic, json.loads(letter.value)) for letter in letters]


@pytest.mark.slow
@pytest.mark.parametrize(
    "schemas", [SCHEMAS, *map(keeping.schemas, keeping.VERSIONS)], ids=["now", *keeping.VERSIONS]
)
@pytest.mark.parametrize("topic", SCHEMAS)
def test_every_output_of_simulated_traffic_fits_its_schema(schemas, topic):
    """By the schemas of now and of every kept version, with every kind of record."""
    records = [record for one, record in simulated() if one == topic]
    validator = Draft202012Validator(schemas[topic])
    for record in records:
        validator.validate(record)
    forms = SCHEMAS[topic].get("anyOf", [SCHEMAS[topic]])
    found = {
        form["title"] for form in forms for record in records if Draft202012Validator(form).is_valid(record)
    }
    assert found >= {form["title"] for form in forms} - {"Withdrawn"}  # no simulated action is taken back
