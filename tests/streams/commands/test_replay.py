"""`lara replay`, as far as it needs no broker: which records are sent, and stamped with which time."""

import json

import pytest

from attribution.parsing import Rejected, parse
from streams.commands.replay import KINDS, Record, rebased, records_of
from streams.topics import input_topics
from tests.building import at, encoded, judgement, placement, prompt, retrieval, user

GOAL = judgement("goal", request_id="q1", reached=True)


def records(*values):
    return list(records_of(encoded(value) for value in values))


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (prompt(), "prompts"),
        (retrieval(), "retrievals"),
        (placement(), "placements"),
        (user("edit"), "actions"),
        (GOAL, "judgements"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_event_goes_to_the_topic_of_its_type_with_its_own_time(sent, kind):
    """The value is sent as it stands in the file."""
    assert records(sent) == [Record(kind, encoded(sent), sent["ts"])]


def test_there_is_a_topic_for_every_kind():
    """No line is without a place."""
    assert set(KINDS.values()) == set(input_topics("lara"))


def test_a_time_as_text_is_the_same_time():
    """The record's timestamp is in milliseconds."""
    assert records(retrieval(ts="2026-03-02T11:00:05+01:00"))[0].ts == at(5)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"{", "actions"),
        (b'{"type":"hologram"}', "actions"),
        (encoded(prompt(ts="yesterday")), "prompts"),
        (encoded(retrieval(session_guid="")), "retrievals"),
    ],
)
def test_a_line_that_is_no_event_is_sent_too(line, kind):
    """To the topic that its type names, stamped as the event before it: it must arrive as a dead letter."""
    assert records(retrieval(seconds=9), line)[1] == Record(kind, line, at(9))


def test_records_are_made_as_they_are_asked_for():
    """A file of any length is sent without being held."""
    endless = iter(lambda: encoded(retrieval()), None)
    assert next(records_of(endless)).kind == "retrievals"


NOW = at(10**6)


def test_the_latest_record_is_now_and_all_others_keep_their_distance():
    """In the record's time and in the event's."""
    moved = rebased(records(retrieval(seconds=1), user("edit", 61), prompt(seconds=31)), NOW)
    assert [record.ts for record in moved] == [NOW - 60_000, NOW, NOW - 30_000]
    assert [parse(record.value).ts for record in moved] == [record.ts for record in moved]


def test_nothing_but_the_time_is_changed():
    """Unknown fields, ids and absent ones stay as they were."""
    sent = retrieval(7, [1, None, ""], query="", page=2, ts="2026-03-02T10:00:00.5Z")
    (moved,) = rebased(records(sent), NOW)
    assert json.loads(moved.value) == {**sent, "ts": NOW}
    assert moved.kind == "retrievals"


def test_lines_that_are_no_events_move_with_their_neighbours():
    """Their value stays as it is, wrong time included."""
    broken = encoded(prompt(ts="yesterday"))
    moved = rebased(records(retrieval(seconds=0), broken, b"{", user("edit", 60)), NOW)
    assert [record.value for record in moved[1:3]] == [broken, b"{"]
    assert [record.ts for record in moved] == [NOW - 60_000, NOW - 60_000, NOW - 60_000, NOW]
    assert all(isinstance(parse(record.value), Rejected) for record in moved[1:3])


def test_nothing_to_move_is_no_mistake():
    """An empty file is sent as it is."""
    assert rebased([], NOW) == []
