"""The document: it resolves its actions and placings, and tells who will answer."""

import pytest

from attribution.documents import speak_document
from attribution.statements import Address, Decision, Excluded, Offer, Placed, Route, Seen
from tests.building import DEFAULT, act, at, entity, event, placement

OFFER = Address("retrieval:r1", "offer", "x")
DECISION = Address("action:x", "decision", "x")
PLACE = Address("action:place:d1/p1", "decision", "place:d1/p1")


def document(*placements, acts=(), excluded_records=(), excluded_retrievals=()):
    placed = [
        (f"placement:{one['event_id']}", "", Placed(event(one), one["event_id"] in excluded_records))
        for one in placements
    ]
    told = entity(
        placement=placed,
        act=[(f"action:{one.id}", one.id, one) for one in acts],
        retrieval_excluded=[(f"retrieval:{name}", "document:d1", Excluded()) for name in excluded_retrievals],
    )
    return speak_document("d1", told, DEFAULT)


def on_asset(**fields):
    return act("edit", **{"document_id": "d1", "asset_id": "a1", **fields})


def test_a_resolved_action_is_told_its_rule_and_its_retrieval_is_offered_it():
    """Both hear it under the action's own id."""
    said = document(placement(source_retrieval_id="r1"), acts=[on_asset()])
    assert said == {
        DECISION: Decision("inherited", ("r1",)),
        OFFER: Offer(on_asset(), "inherited", (Route(("a1",), ("a1",), ("p1",)),)),
    }


def test_an_action_that_no_rule_of_the_document_fits_goes_on_to_its_request():
    """The request alone decides then."""
    assert document(acts=[on_asset()]) == {Address("request:q1", "act", "x"): on_asset()}


def test_an_action_that_names_no_request_either_belongs_to_none():
    """There is nobody left to ask."""
    assert document(acts=[on_asset(request_id=None)]) == {DECISION: Decision("none")}


def test_what_the_document_decides_the_request_is_not_asked():
    """A decision of none is one."""
    assert document(placement(), acts=[on_asset()]) == {DECISION: Decision("none")}


def test_a_first_placement_by_somebody_is_an_action_place():
    """Its session, request, surface, time and asset are those of the placement's first record."""
    first = placement(
        actor="agent", source_retrieval_id="r1", request_id="q1", surface="editor", session_guid="s7"
    )
    again = placement(seconds=90, actor="user", session_guid="s8")
    placing = act(
        "place", 60, id="place:d1/p1", actor="agent", session_guid="s7", surface="editor", request_id="q1",
        asset_id="a1", document_id="d1", placement_id="p1",
    )  # fmt: skip
    assert document(first, again) == {
        Address("session:s7", "seen", "place:d1/p1"): Seen(placing, placing=True),
        PLACE: Decision("inherited", ("r1",), act=placing),
        Address("retrieval:r1", "offer", "place:d1/p1"): Offer(
            placing, "inherited", (Route(("a1",), ("a1",), ("p1",)),)
        ),
    }


@pytest.mark.parametrize(
    "sent",
    [
        [placement()],
        [placement(seconds=50), placement(seconds=60, actor="user")],
        [placement(op="remove", actor="user")],
    ],
    ids=["by nobody", "first by nobody", "only removed"],
)
def test_a_placement_without_a_first_actor_is_no_action(sent):
    """Who placed it again, or removed it, did not place it."""
    assert document(*sent) == {}


def test_a_placing_is_live_in_its_own_minute_whatever_follows():
    """A removal a moment later changes nothing; one at the same moment neither."""
    said = document(
        placement(actor="user", source_retrieval_id="r1"), placement(seconds=60, op="remove", event_id="x")
    )
    assert said[PLACE].rule == "inherited"
    assert said[PLACE].act.ts == at(60)


def test_an_excluded_placement_is_none_and_its_placing_excluded():
    """What names it is excluded, what merely names its asset does not find it."""
    sent = placement(actor="user", source_retrieval_id="r-robot")
    by_id, by_asset = on_asset(id="x", placement_id="p1"), on_asset(id="y", request_id=None)
    said = document(sent, acts=[by_id, by_asset], excluded_retrievals=["r-robot"])
    assert said[DECISION] == Decision("excluded")
    assert said[Address("action:y", "decision", "y")] == Decision("none")
    assert (said[PLACE].rule, said[PLACE].act.placement_id) == ("excluded", "p1")
    assert not any(address.topic == "offer" for address in said)


def test_a_synthetic_record_is_told_by_its_placement():
    """The document takes the placement's word for it."""
    sent = placement(source_retrieval_id="r1")
    assert document(sent, acts=[on_asset(request_id=None)], excluded_records=[sent["event_id"]]) == {
        DECISION: Decision("none")
    }


def test_an_export_of_the_document_is_offered_to_each_retrieval_behind_it():
    """One decision names them all."""
    said = document(
        placement("p1", source_retrieval_id="r1"),
        placement("p2", "a2", source_retrieval_id="r2"),
        acts=[act(document_id="d1")],
    )
    assert said.pop(DECISION) == Decision("document", ("r1", "r2"))
    assert {address.receiver: content.rule for address, content in said.items()} == {
        "retrieval:r1": "document",
        "retrieval:r2": "document",
    }
