"""The placement record: which record stands, and what it tells."""

import pytest

from attribution.placements import is_excluded, speak_placement
from attribution.semantics import Exclusion, Semantics
from attribution.statements import Address, Asked, Excluded, Placed
from tests.building import DEFAULT, entity, event, placement

RULES = Semantics(exclusion=Exclusion(session_prefixes=("probe-",)))
DOCUMENT = Address("document:d1", "placement", "")
EXCLUDED_REQUEST = [("request:q1", "placement:e", Excluded())]


@pytest.mark.parametrize(
    ("fields", "told", "semantics", "excluded"),
    [
        ({}, [], DEFAULT, False),
        ({"synthetic": True}, [], DEFAULT, True),
        ({"session_guid": "probe-1"}, [], RULES, True),
        ({"session_guid": None}, [], RULES, False),
        ({"request_id": "q1"}, EXCLUDED_REQUEST, DEFAULT, True),
        ({"request_id": "q2"}, EXCLUDED_REQUEST, DEFAULT, False),
    ],
    ids=["plain", "says so", "rule", "no session", "request", "another request"],
)
def test_a_placement_record_tells_its_document_whether_it_is_excluded(fields, told, semantics, excluded):
    """By itself or by the request it names; the document decides what follows."""
    sent = placement(**fields)
    found = entity(sent, request_excluded=told)
    assert is_excluded(found, semantics) is excluded
    assert speak_placement("e", found, semantics) == {DOCUMENT: Placed(event(sent), excluded)}


def test_a_claimed_retrieval_is_asked_whether_it_is_excluded():
    """On behalf of the document, which needs to know."""
    said = speak_placement("e", entity(placement(source_retrieval_id="r1")), DEFAULT)
    assert said[Address("retrieval:r1", "asked", "document:d1")] == Asked("document:d1")


def test_every_record_that_could_be_an_action_says_so_to_it():
    """Also one that does not stand, and names another document: what was announced can be withdrawn."""
    first = placement(seconds=1)
    later = placement(seconds=2, document_id="d2", actor="user")
    removed = placement(seconds=3, document_id="d3", actor="user", op="remove")
    said = speak_placement("e", entity(first, later, removed), DEFAULT)
    assert [address for address in said if address.topic == "placing"] == [
        Address("action:place:d2/p1", "placing", "")
    ]


def test_only_the_standing_record_speaks_to_documents():
    """Of two records of one event the first by time, wherever the other would go."""
    first, second = placement(seconds=1), placement(seconds=2, document_id="d2", source_retrieval_id="r1")
    assert speak_placement("e", entity(second, first), DEFAULT) == {DOCUMENT: Placed(event(first), False)}
    assert speak_placement("e", entity(), DEFAULT) == {}
    assert not is_excluded(entity(), DEFAULT)
