"""Events: their fields, identities and defaults."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.events import (
    EVENT_TYPES,
    ROLES,
    identity,
    placing_id,
    request_of,
    role_of,
    standing_order,
    type_of,
)
from tests.building import agent, event, judgement, placement, prompt, retrieval

COMMON = {
    "ts",
    "event_id",
    "session_guid",
    "conversation_id",
    "request_id",
    "surface",
    "user_id",
    "synthetic",
}
# The table of the contract, beside the common fields.
FIELDS = {
    "prompt": {"text", "route", "reformulation"},
    "retrieval": {
        *("retrieval_id", "role", "query", "need_id", "reformulates_retrieval_id", "page_of"),
        *("returned_asset_ids", "retriever", "latency_ms", "tokens"),
    },
    "placement": {
        *("placement_id", "document_id", "asset_id", "op", "source_retrieval_id", "source_placement_id"),
        *("derived_from_asset_id", "actor"),
    },
    "action": {
        *("actor", "action", "consumed_asset_id", "source_retrieval_id", "placement_id", "document_id"),
        *("shown_asset_ids", "reason", "latency_ms", "tokens"),
    },
    "judgement": {
        *("kind", "retrieval_id", "query", "asset_id", "grade", "retrieval_intents", "reached", "judge"),
    },
}
GOAL = judgement("goal", request_id="q1", reached=True)
SENT = {
    "prompt": prompt(),
    "retrieval": retrieval(),
    "placement": placement(),
    "action": agent("use"),
    "judgement": GOAL,
}


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_an_event_has_the_fields_of_the_contract(kind):
    """No field of the table is missing, and none is there that is not in it, but the digest."""
    fields = {field.name for field in msgspec.structs.fields(EVENT_TYPES[kind])}
    assert fields == COMMON | FIELDS[kind] | {"digest"}


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_the_type_of_an_event_is_the_one_it_was_sent_under(kind):
    """What is parsed as a type says so."""
    assert type_of(event(SENT[kind])) == kind


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (retrieval("r7"), "r7"),
        (prompt("q7"), "q7"),
        (placement("p7", event_id="e7"), "e7"),
        (agent("use", event_id="e7"), "e7"),
        (judgement("goal", event_id="e7", request_id="q1", reached=True), "e7"),
        (retrieval(7), "7"),
    ],
    ids=["retrieval", "prompt", "placement", "action", "judgement", "integer"],
)
def test_identity_is_the_stated_id(sent, expected):
    """A retrieval is its retrieval_id, a prompt its request_id, all else its event_id."""
    assert identity(event(sent)) == expected


@pytest.mark.parametrize(
    "sent", [placement(event_id=None), agent("use", event_id=None), {**GOAL, "event_id": ""}]
)
def test_an_event_without_any_id_is_known_by_its_digest(sent):
    """Two records that say the same are then the same event."""
    assert identity(event(sent)) == event(sent).digest.hex()


@pytest.mark.parametrize(
    ("event_id", "expected"),
    [
        ("place:d1/p1", "event:place:d1/p1"),
        ("event:x", "event:event:x"),
        ("place", "place"),
        ("xplace:1", "xplace:1"),
    ],
)
def test_no_action_takes_the_id_of_a_placing(event_id, expected):
    """An event_id that begins like one, or like its prefix, is kept apart; other types need no prefix."""
    assert identity(event(agent("use", event_id=event_id))) == expected
    assert identity(event(placement(event_id=event_id))) == event_id


@pytest.mark.parametrize(
    ("document", "name", "expected"),
    [
        ("d1", "p1", "place:d1/p1"),
        ("a/b", "p1", "place:a%2Fb/p1"),
        ("a%2Fb", "p1", "place:a%252Fb/p1"),
        ("d1", "p/1%", "place:d1/p/1%"),
    ],
)
def test_the_id_of_a_placing_is_made_of_document_and_placement(document, name, expected):
    """/ and % are escaped in the document's id alone: the first / ends it."""
    assert placing_id(event(placement(name, document_id=document))) == expected


IDS = st.text(alphabet="/%25Fab:", min_size=1, max_size=6)


@given(IDS, IDS, IDS, IDS)
def test_two_placings_have_one_id_only_if_they_are_one(document, name, other_document, other_name):
    """However their ids are cut, and never that of an action with an event of its own."""
    one, other = placement(name, document_id=document), placement(other_name, document_id=other_document)
    same = placing_id(event(one)) == placing_id(event(other))
    assert same == ((document, name) == (other_document, other_name))
    assert identity(event(agent("use", event_id=placing_id(event(one))))) != placing_id(event(one))


def test_the_first_by_time_and_then_digest_stands():
    """The order of records with one identity is that of (ts, digest)."""
    early, late = event(retrieval(seconds=1)), event(retrieval(seconds=2))
    other = event(retrieval(seconds=1, query="card"))
    assert standing_order(early) < standing_order(late)
    assert (standing_order(early) < standing_order(other)) == (early.digest < other.digest)


def test_a_retrieval_without_request_is_a_request_of_its_own():
    """The request defaults to the retrieval_id."""
    assert request_of(event(retrieval("r1"))) == "r1"
    assert request_of(event(retrieval("r1", request_id="q1"))) == "q1"


@pytest.mark.parametrize("role", [*ROLES, None, "", "sing", "Browse"])
def test_a_role_is_one_of_six_or_unspecified(role):
    """Whatever else is sent, the label has seven values."""
    expected = role if role in ROLES else "unspecified"
    assert role_of(event(retrieval(role=role))) == expected


def test_events_are_frozen():
    """An event that was read is not changed by anybody."""
    with pytest.raises(AttributeError):
        event(retrieval()).ts = 1
