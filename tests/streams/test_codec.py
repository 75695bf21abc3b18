"""From fetched records to events, dead letters and counts."""

import hashlib

import msgspec
import pytest
from aiokafka.structs import ConsumerRecord
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.events import type_of
from streams.codec import decode
from tests.building import DAY, MINUTE, at, encoded, judgement, placement, prompt, retrieval, user
from tests.properties.strategies import records as any_records

NOW = at(0)


def fetched(value: object, behind: float = 0, offset: int = 7) -> ConsumerRecord:
    """A record whose broker timestamp is so many seconds after 10:00."""
    encoding = value if value is None or isinstance(value, bytes) else encoded(value)
    return ConsumerRecord("lara.retrievals", 2, offset, at(behind), 0, b"key", encoding, None, 3, 0, ())


def one(value: object, behind: float = 0, with_payload: bool = False):
    return decode([fetched(value, behind)], with_payload)


def letter(value: bytes, **fields: bool) -> dict:
    (found,) = one(value, **fields).letters
    assert found.topic == "deadletters"
    return msgspec.json.decode(found.value)


def test_a_null_value_is_a_tombstone():
    """It is no event and no mistake."""
    found = one(None)
    assert (found.events, found.letters, found.tally) == ([], [], {("unknown", "tombstone"): 1})


def test_an_event_is_handed_on_and_not_counted_here():
    """Its disposition is the engine's to find."""
    found = one(retrieval())
    assert [type_of(event) for event in found.events] == ["retrieval"]
    assert (found.letters, found.tally, found.ahead) == ([], {}, 0)


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        (b"{", "unknown", "not_json"),
        (b"[]", "unknown", "not_an_object"),
        (b'{"type":"hologram"}', "unknown", "unknown_type"),
        (encoded(prompt(ts=True)), "prompt", "wrong_type"),
        (encoded(retrieval(retrieval_id="x" * 257)), "retrieval", "out_of_range"),
        (encoded(user("export", session_guid="")), "action", "missing_field"),
        (b" " * 1_048_577, "unknown", "oversize"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_event_is_counted_as_invalid_and_dead_lettered(value, kind, reason):
    """With its reason, where it lay, and the SHA-256 of its value."""
    assert one(value).tally == {(kind, "invalid"): 1}
    found = letter(value)
    assert (found["reason"], found["type"]) == (reason, kind)
    assert (found["topic"], found["partition"], found["offset"]) == ("lara.retrievals", 2, 7)
    assert found["sha256"] == hashlib.sha256(value).hexdigest()


def test_a_dead_letter_carries_the_value_only_if_that_is_switched_on():
    """It may hold personal data; what is no UTF-8 is escaped."""
    assert "value" not in letter(b'{"mail": "a@b"')
    assert letter(b'{"mail": "\xff"', with_payload=True)["value"] == '{"mail": "\\xff"'


@pytest.mark.parametrize(
    ("behind", "late"),
    [(0, False), (7 * DAY, False), (7 * DAY + 0.001, True), (365 * DAY, True), (-7 * DAY, False)],
    ids=["now", "7 days", "a millisecond more", "a year", "ahead"],
)
def test_an_event_more_than_seven_days_behind_its_record_is_late(behind, late):
    """It is dead-lettered, and in no figure."""
    found = one(retrieval(), behind)
    assert found.tally == ({("retrieval", "late"): 1} if late else {})
    assert len(found.events) == (not late)
    assert [msgspec.json.decode(of.value)["reason"] for of in found.letters] == (["late"] if late else [])


@pytest.mark.parametrize(
    ("before", "ahead"),
    [(0, 0), (5 * MINUTE, 0), (5 * MINUTE + 0.001, 1), (DAY, 1)],
    ids=["now", "5 minutes", "a millisecond more", "a day"],
)
def test_an_event_ahead_of_its_record_is_counted_and_takes_part(before, ahead):
    """It is an event like any other, but says nothing of how fresh the figures are."""
    found = one(retrieval(), -before)
    assert (len(found.events), found.ahead, found.letters) == (1, ahead, [])
    assert found.newest == ({} if ahead else {"retrieval": NOW})


def test_the_newest_event_time_is_noted_by_type():
    """Of events that are neither late nor ahead."""
    sent = [
        retrieval(seconds=1),
        retrieval(seconds=9),
        retrieval(seconds=DAY),
        placement(seconds=5),
        b"{",
        None,
    ]
    found = decode([fetched(value, 60) for value in sent], False)
    assert found.newest == {"retrieval": at(9), "placement": at(5)}


@pytest.mark.parametrize(
    "sent",
    [prompt(), retrieval(), placement(), user("export"), judgement("goal", request_id="q", reached=True)],
    ids=lambda sent: sent["type"],
)
def test_a_topic_does_not_say_what_a_record_is(sent):
    """Every type is read wherever it lies."""
    assert [type_of(event) for event in one(sent, 120).events] == [sent["type"]]


@given(st.lists(any_records, max_size=12))
@settings(max_examples=40, deadline=None)
def test_every_record_is_exactly_one_of_event_letter_or_tombstone(values):
    """They sum to the records read, whatever these hold."""
    found = decode([fetched(value, 60) for value in values], False)
    tombstones = found.tally["unknown", "tombstone"]
    assert len(found.events) + sum(found.tally.values()) == len(values)
    assert len(found.letters) == sum(found.tally.values()) - tombstones
    assert tombstones == values.count(None)
