"""What the doctor counts: fields from the event structs, examples whatever the order."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.events import EVENT_TYPES
from attribution.parsing import FORMS
from streams.commands import doctor_notes
from streams.commands.doctor_findings import CHECKS
from streams.commands.doctor_ladder import LADDER
from streams.commands.doctor_notes import EXAMPLES, OPTIONAL, Name, Notes, applies
from tests.building import agent, event, judgement, placement, prompt, retrieval, user


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_every_field_of_an_event_is_optional_or_required(event_type):
    """A field added to a struct is told of from then on."""
    fields = {field.name for field in msgspec.structs.fields(EVENT_TYPES[event_type])} - {"digest"}
    assert {*OPTIONAL[event_type], *FORMS[event_type].required} == fields


def test_every_name_is_asked_for_by_a_rung_or_a_check():
    """Nothing is counted that nobody reads."""
    rungs = {name for rung in LADDER for need in rung.needs for name in (need.logged, need.among)}
    assert rungs | {name for check in CHECKS for name in (check.counted, check.among)} == set(get_args(Name))


@pytest.mark.parametrize(
    ("sent", "field", "can"),
    [
        (user("export"), "consumed_asset_id", True),
        (agent("show"), "consumed_asset_id", False),
        (agent("show"), "shown_asset_ids", True),
        (user("export"), "shown_asset_ids", False),
        (user("reject"), "reason", True),
        (user("export"), "reason", False),
        (judgement("relevance", query="q", asset_id="a", grade=1), "retrieval_id", True),
        (judgement("relevance", query="q", asset_id="a", grade=1), "reached", False),
        (judgement("intent", request_id="q1", retrieval_intents=1), "grade", False),
        (judgement("intent", request_id="q1", retrieval_intents=1), "judge", True),
        (judgement("goal", request_id="q1", reached=True), "retrieval_id", True),
        (retrieval(), "page_of", True),
        (placement(), "op", True),
    ],
)
def test_a_field_is_missed_only_where_it_can_be(sent, field, can):
    """A grade in a label of intents is not missing."""
    assert applies(event(sent), field) is can


def test_missing_fields_are_counted_by_type():
    """Of those that can have them."""
    notes = Notes()
    for sent in (prompt(text="x"), prompt("q2"), user("reject"), user("export")):
        notes.fields(event(sent))
    assert notes.records == {"prompt": 2, "retrieval": 0, "placement": 0, "action": 2, "judgement": 0}
    assert (notes.missing["prompt", "text"], notes.expected["prompt", "text"]) == (1, 2)
    assert (notes.missing["action", "reason"], notes.expected["action", "reason"]) == (1, 1)
    assert ("prompt", "ts") not in notes.expected


@given(st.lists(st.text("ab", min_size=1, max_size=4), max_size=20), st.randoms(use_true_random=False))
def test_examples_do_not_depend_on_the_order(ids, chance):
    """The shortest ids, each once: a live state is read in no order."""
    shuffled = list(ids)
    chance.shuffle(shuffled)
    one, other = Notes(), Notes()
    for identity in ids:
        one.note("holes", True, identity)
    for identity in shuffled:
        other.note("holes", True, identity)
    expected = sorted(set(ids), key=lambda text: (len(text), text))[:EXAMPLES]
    assert one.examples("holes") == other.examples("holes") == tuple(expected)
    assert one.counts["holes"] == len(ids)


def test_what_does_not_hold_is_not_counted():
    """Neither with its id nor with its value."""
    notes = Notes()
    notes.note("other roles", False, "r1", "muse")
    assert (notes.counts["other roles"], notes.examples("other roles"), notes.values) == (0, (), {})


def test_values_are_bounded(monkeypatch):
    """Whoever puts a text into the surface does not fill the memory."""
    monkeypatch.setattr(doctor_notes, "MAXIMUM_VALUES", 2)
    notes = Notes()
    for value in ("x", "y", "z", "x"):
        notes.note("other surfaces", True, None, value)
    assert (notes.values["other surfaces"], notes.counts["other surfaces"]) == ({"x": 2, "y": 1}, 4)
