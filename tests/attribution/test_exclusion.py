"""Which records say of themselves that they are not people's traffic."""

import pytest

from attribution.exclusion import excluded_by_itself, exclusion_of, own_exclusion
from attribution.semantics import Exclusion, Semantics
from attribution.statements import Excluded
from tests.building import entity, event, judgement, placement, prompt, retrieval, user

RULES = Exclusion(("probe-", "bot/"), ("robot", "7"), ("Insulin  Dose",))


@pytest.mark.parametrize(
    "sent",
    [
        retrieval(synthetic=True),
        prompt(synthetic=True),
        placement(synthetic=True),
        retrieval(session_guid="probe-1"),
        user("export", session_guid="bot/"),
        placement(session_guid="probe-"),
        prompt(user_id="robot"),
        user("export", user_id=7),
        retrieval(query="insulin dose"),
        retrieval(query=" INSULIN\tdose "),
        judgement("relevance", query="insulin dose", asset_id="a", grade=1),
    ],
    ids=str,
)
def test_a_record_that_says_so_or_matches_a_rule_is_excluded(sent):
    """By its own word, its session's prefix, its user or its query."""
    assert excluded_by_itself(event(sent), RULES)


@pytest.mark.parametrize(
    "sent",
    [
        retrieval(synthetic=False),
        retrieval(session_guid="a-probe-1"),
        retrieval(session_guid="Probe-1"),
        placement(session_guid=None),
        prompt(user_id="robot2"),
        prompt(user_id="07"),
        retrieval(query="insulin"),
        prompt(text="insulin dose"),
    ],
    ids=str,
)
def test_a_record_that_matches_no_rule_is_not(sent):
    """A prefix is a prefix, a user the whole id, a query the whole query."""
    assert not excluded_by_itself(event(sent), RULES)


@pytest.mark.parametrize(
    ("sent", "because"),
    [
        (retrieval(synthetic=True, session_guid="probe-1"), "synthetic"),
        (retrieval(session_guid="probe-1", user_id="robot"), "session"),
        (retrieval(user_id="robot", query="insulin dose"), "user"),
        (retrieval(query="insulin dose"), "query"),
        (retrieval(), None),
    ],
)
def test_what_excludes_a_record_has_a_name(sent, because):
    """The first of its own word, its session, its user and its query; an own reason before its request's."""
    assert own_exclusion(event(sent), RULES) == because
    told = [("request:q1", "action:x", Excluded())]
    found = entity({**sent, "request_id": "q1"}, request_excluded=told)
    assert exclusion_of(found, Semantics(exclusion=RULES)) == (because or "request")
    assert exclusion_of(entity(sent, request_excluded=told), Semantics(exclusion=RULES)) == because


def test_without_rules_only_the_record_itself_decides():
    """Nothing is excluded by default."""
    assert not excluded_by_itself(event(retrieval(session_guid="probe-1", query="insulin dose")), Exclusion())
    assert excluded_by_itself(event(retrieval(synthetic=True)), Exclusion())
