"""Dead letters: which count, what becomes of their records, and what is printed of them."""

import json
from typing import Any

import pytest
from aiokafka.structs import ConsumerRecord

from streams.codec import decode
from streams.commands import deadletters
from streams.commands.deadletter_pages import as_data, described
from streams.commands.deadletters import DeadLetter, Original, counts, fate, newest
from tests.building import DAY, at, encoded, retrieval

LATE = retrieval("r1", ["a1"])


def record(value: Any, seconds: float = 0) -> ConsumerRecord:
    return ConsumerRecord("lara.retrievals", 2, 7, at(seconds), 0, b"k", encoded(value), None, 0, 0, ())


def published(**fields: Any) -> bytes:
    return json.dumps({"reason": "late", "type": "retrieval", **fields}).encode()


# --- which count ------------------------------------------------------------------------------------


def test_of_one_key_the_newest_version_counts():
    """Whatever the order; of equal versions the later record."""
    found = newest(
        [
            ("x", 1, published(version=5, detail="newest")),
            ("x", 2, published(version=4, detail="older, again")),
            ("y", 3, published(detail="first")),
            ("y", 4, published(detail="again")),
        ]
    )
    assert {key: (one.detail, one.at) for key, one in found.items()} == {
        "x": ("newest", 1),
        "y": ("again", 4),
    }


def test_a_dead_letter_is_read_as_the_worker_wrote_it():
    """Reason, place and SHA-256 come back, and with them the record can be looked up."""
    late = record(LATE, 8 * DAY)
    (letter,) = decode([late], False).letters
    (found,) = newest([(letter.key.decode(), 1, letter.value)]).values()
    assert (found.reason, found.type, found.place, found.offset) == (
        "late",
        "retrieval",
        ("lara.retrievals", 2),
        7,
    )
    assert found.sha256 == found.key == letter.key.decode()


def test_they_are_counted_by_reason_type_and_topic():
    """One that is about an id has no topic."""
    letters = [
        DeadLetter(reason="late", type="action", topic="lara.actions"),
        DeadLetter(reason="late", type="action", topic="lara.actions"),
        DeadLetter(reason="retrieval_id_reused", type="retrieval"),
    ]
    assert counts(letters) == {
        ("late", "action", "lara.actions"): 2,
        ("retrieval_id_reused", "retrieval", "–"): 1,
    }


# --- what becomes of a record -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "seconds", "as_on_time", "outcome", "stamp"),
    [
        (LATE, 60, False, deadletters.SENT, 60),
        (LATE, 8 * DAY, False, deadletters.LATE, 8 * DAY),
        (LATE, 8 * DAY, True, deadletters.SENT, 0),
        (LATE, 60, True, deadletters.SENT, 60),
        (b"{", 60, False, deadletters.REFUSED, 60),
        (b"{", 60, True, deadletters.REFUSED, 60),
    ],
    ids=["accepted now", "late", "late as on time", "not late as on time", "no event", "no event as on time"],
)
def test_a_record_is_sent_again_only_if_it_would_now_be_accepted(value, seconds, as_on_time, outcome, stamp):
    """With its own time; a late one, if that is asked for, with the time of its event."""
    assert fate(record(value, seconds), as_on_time, None) == (outcome, at(stamp))


@pytest.mark.parametrize(("oldest", "outcome"), [(at(0), deadletters.SENT), (at(0.001), deadletters.OLD)])
def test_an_event_is_not_sent_once_what_it_belongs_to_may_have_expired(oldest, outcome):
    """It would be counted apart from it."""
    assert fate(record(LATE, 60), False, oldest)[0] == outcome


# --- what is printed --------------------------------------------------------------------------------


def test_what_a_dead_letter_holds_is_not_printed_with_it():
    """Neither in the list for programs nor when one is shown: it may be personal data."""
    letter = DeadLetter(
        reason="late", type="action", topic="lara.actions", partition=1, offset=4, value="secret"
    )
    found = Original(record(LATE, 60))
    assert "secret" not in str(as_data([letter])) + str(described(letter, found))
    assert "a1" not in str(described(letter, found))


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (
            Original(record(LATE, 60)),
            "still there, with the same SHA-256, of 2026-03-02T10:01:00Z; --payload prints it",
        ),
        (Original(None, deadletters.GONE), "the record is no longer in its topic"),
        (Original(None, deadletters.ANOTHER), "another record lies in its place"),
        (Original(None, deadletters.STANDING), "its id belongs to another event"),
    ],
    ids=["there", "gone", "another", "reused"],
)
def test_showing_one_says_what_became_of_its_record(found, told):
    """The last line; before it everything that is known."""
    lines = described(DeadLetter(reason="late", type="action", detail="because", key="abc"), found)
    assert lines[-1].split(maxsplit=1) == ["record", told]
    assert {"reason": "late", "detail": "because", "key": "abc"}.items() <= dict(
        line.split(maxsplit=1) for line in lines
    ).items()


class Shelf:
    """Logs in which one record lies, or none."""

    def __init__(self, found: ConsumerRecord | None) -> None:
        self.found = found

    async def record_at(self, partition, offset):
        assert (partition, offset) == (("lara.retrievals", 2), 7)
        return self.found


@pytest.mark.parametrize(
    ("there", "missing"),
    [
        (record(LATE, 8 * DAY), ""),
        (record(retrieval("r2"), 0), deadletters.ANOTHER),
        (None, deadletters.GONE),
    ],
    ids=["the same", "another", "none"],
)
async def test_a_record_is_the_one_meant_only_by_its_hash(there, missing):
    """At the same offset of a topic that was made anew lies something else."""
    (letter,) = decode([record(LATE, 8 * DAY)], False).letters
    (about,) = newest([("k", 1, letter.value)]).values()
    found = await deadletters.original(about, Shelf(there))
    assert found == (Original(there) if not missing else Original(None, missing))
