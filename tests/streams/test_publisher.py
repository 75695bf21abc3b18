"""What leaves lara: keys, versions, and how long evidence took."""

import dataclasses

import msgspec
import pytest
from aiokafka.structs import ConsumerRecord

from attribution.derived import outputs_of
from attribution.outputs import Attribution, Outcome
from attribution.parsing import Rejected
from attribution.statements import Decision
from streams.publisher import LARGEST_BYTES, Letter, Said, dead_letter, evidence_delays, letters_of, said
from tests.building import DEFAULT, at, entity, retrieval, user


def letters(key, told):
    return letters_of(outputs_of(key, told, DEFAULT), told)


def body(letter):
    return msgspec.json.decode(letter.value)


def test_every_output_carries_its_entitys_version():
    """The newest version of a key is the truth."""
    told = entity(retrieval(), retrieval(seconds=1, event_id="other"))._replace(version=17)
    found = letters("retrieval:r1", told)
    assert [(letter.topic, body(letter)["version"]) for letter in found] == [
        ("outcomes", 17),
        ("deadletters", 17),
    ]


def test_an_outcome_is_keyed_by_its_retrieval_and_an_attribution_by_its_action():
    """So that compaction keeps the last of each."""
    assert letters("retrieval:r1", entity(retrieval()))[0].key == b"r1"
    decision = [("action:ü", "ü", Decision("none"))]
    (attribution,) = letters("action:ü", entity(user("export"), decision=decision))
    assert (attribution.topic, attribution.key, body(attribution)["resolution"]) == (
        "attributions",
        "ü".encode(),
        "none",
    )


def test_what_has_nothing_to_tell_makes_no_letter():
    """A request without conflict is announced to nobody."""
    assert letters("request:q1", entity()) == []


RECORD = ConsumerRecord("lara.actions", 4, 99, 0, 0, None, b"\xff{", None, 0, 0, ())


def test_a_dead_letter_says_what_was_wrong_and_where_it_lay():
    """Its key is the SHA-256 of the value, which it does not carry."""
    letter = dead_letter(RECORD, Rejected("not_json", "bad", "unknown"), with_payload=False)
    found = body(letter)
    assert letter.key == found["sha256"].encode()
    assert found == {
        "reason": "not_json", "detail": "bad", "type": "unknown", "topic": "lara.actions", "partition": 4,
        "offset": 99, "sha256": found["sha256"], "version": 0,
    }  # fmt: skip
    assert body(dead_letter(RECORD, Rejected("not_json", "bad"), with_payload=True))["value"] == "\\xff{"


def test_a_dead_letter_too_long_for_kafka_goes_without_the_value():
    """Nobody would ever take it, and the partition would stand still; it says where the value lies."""
    large = dataclasses.replace(RECORD, value=b"\xff" * 300_000)
    letter = dead_letter(large, Rejected("not_json", "bad"), with_payload=True)
    assert "value" not in body(letter)
    assert body(letter)["offset"] == 99


@pytest.mark.parametrize(
    ("key", "event", "left_out"),
    [
        ("retrieval:r1", retrieval(query="q" * 1_000_000), ["query"]),
        ("retrieval:r1", retrieval(returned=["a" * 256] * 3_900, query="q" * 20_000), ["returned_asset_ids"]),
        ("action:x", user("v" * 1_000_000, event_id="x"), ["action"]),
    ],
    ids=["query", "list", "verb"],
)
def test_an_output_too_long_for_kafka_goes_without_its_largest_fields(key, event, left_out):
    """And names them, so that nobody takes what is missing for what is not there."""
    told = entity(event, decision=[(key, "x", Decision("none"))] if key == "action:x" else [])
    (letter,) = letters(key, told)
    assert len(letter.value) < LARGEST_BYTES
    assert body(letter)["left_out"] == left_out


def attribution(*retrieval_ids, seconds):
    return Attribution(
        action_id="x",
        ts=at(seconds),
        actor="user",
        action="export",
        resolution="document",
        retrieval_ids=retrieval_ids,
    )


@pytest.mark.parametrize(
    ("records", "delays"),
    [
        ([Outcome(retrieval_id="r1", ts=at(0)), attribution("r1", seconds=90)], [(90.0, "r1")]),
        ([attribution("r1", "r2", seconds=90), Outcome(retrieval_id="r2", ts=at(60))], [(30.0, "r2")]),
        ([attribution("r1", seconds=90)], []),
        ([Outcome(retrieval_id="r1", ts=at(0))], []),
        ([attribution("r1", seconds=90), Outcome(retrieval_id="r1", excluded=True)], []),
        ([], []),
    ],
    ids=["both", "one of two", "action alone", "retrieval alone", "excluded", "nothing"],
)
def test_a_delay_is_seen_where_action_and_retrieval_are_announced_together(records, delays):
    """From the retrieval to the action credited to it, in seconds."""
    assert evidence_delays(iter(records)) == delays


@pytest.mark.parametrize(
    ("value", "version"), [(b'{"version":7,"x":1}', 7), (b"{}", 0), (b"", 0), (b'{"version":"7"}', 0)]
)
def test_the_version_of_what_was_published_is_read_back(value, version):
    """What somebody else wrote into the topic has none, and stops nobody."""
    assert said(Letter("outcomes", b"r1", value)) == Said("outcomes", "r1", version)
