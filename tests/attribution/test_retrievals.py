"""The retrieval: its record, what it tells others, and its answers to what is offered to it."""

import pytest

from attribution.contribution import counter
from attribution.retrievals import (
    contribute,
    is_excluded,
    judged,
    offers,
    speak_evidence,
    speak_record,
    verdict_of,
)
from attribution.semantics import Exclusion, Semantics, minute_of
from attribution.statements import (
    Address,
    Answer,
    Asked,
    Excluded,
    Graded,
    Logged,
    Named,
    Offer,
    Route,
    Routed,
    Shown,
)
from tests.building import DEFAULT, act, at, entity, retrieval, settle

RULES = Semantics(exclusion=Exclusion(queries=("insulin",)))
EXCLUDED_REQUEST = [("request:q1", "retrieval:r1", Excluded())]
ASKED = [
    ("placement:e1", "document:d2", Asked("document:d2")),
    ("placement:e2", "document:d1", Asked("document:d1")),
]


def offer(action_id="x", asset="a1", verb="export", seconds=120, **fields):
    route = Route((asset,), (asset,))
    return Offer(act(verb, seconds, id=action_id, asset_id=asset, **fields), "explicit", (route,))


def offered(*of):
    return [(f"action:{one.act.id}", one.act.id, one) for one in of]


# --- exclusion and what others are told -------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "told", "semantics", "excluded"),
    [
        ({}, [], DEFAULT, False),
        ({"synthetic": True}, [], DEFAULT, True),
        ({"query": "Insulin"}, [], DEFAULT, False),
        ({"query": "Insulin"}, [], RULES, True),
        ({"request_id": "q1"}, EXCLUDED_REQUEST, DEFAULT, True),
        ({"request_id": "q2"}, EXCLUDED_REQUEST, DEFAULT, False),
        ({}, [("request:r1", "retrieval:r1", Excluded())], DEFAULT, True),
    ],
    ids=["plain", "says so", "no rule", "rule", "request", "another request", "request of its own"],
)
def test_a_retrieval_is_excluded_by_itself_or_by_the_request_it_names(sent, told, semantics, excluded):
    """What a request that it no longer names says does not count."""
    assert is_excluded(entity(retrieval(**sent), request_excluded=told), semantics) is excluded


def test_a_retrieval_that_was_never_logged_is_nothing_yet():
    """It is not excluded, has no verdict, counts nothing, and tells others nothing."""
    nobody = entity(offer=offered(offer()))
    assert not is_excluded(nobody, DEFAULT)
    assert verdict_of(nobody, DEFAULT) is None
    assert contribute("r1", nobody, DEFAULT) == {}
    assert speak_record("r1", nobody, DEFAULT) == {}


def test_a_retrieval_tells_its_request_what_it_returned_and_when():
    """The request is its own where none is named."""
    sent = retrieval(returned=["a1", None], seconds=5)
    logged = Logged(at(5), "s1", ("a1", None))
    assert speak_record("r1", entity(sent), DEFAULT)[Address("request:r1", "record", "")] == logged
    named = entity({**sent, "request_id": "q7"})
    assert speak_record("r1", named, DEFAULT)[Address("request:q7", "record", "")] == logged


def test_an_excluded_retrieval_tells_only_the_documents_that_claim_it():
    """Its request hears nothing of it; a retrieval that is not excluded tells the documents nothing."""
    robot = entity(retrieval(synthetic=True), asked=ASKED)
    assert speak_record("r1", robot, DEFAULT) == {
        Address("document:d1", "retrieval_excluded", "document:d1"): Excluded(),
        Address("document:d2", "retrieval_excluded", "document:d2"): Excluded(),
    }
    person = speak_record("r1", entity(retrieval(), asked=ASKED), DEFAULT)
    assert [address.topic for address in person] == ["record", "lists", "listed"]


# --- exclusion by naming ----------------------------------------------------------------------------


def linked(steps, sender="r0"):
    """What the retrieval that is named says of itself."""
    return [(f"retrieval:{sender}", "retrieval:r1", Excluded(steps))]


@pytest.mark.parametrize("field", ["page_of", "reformulates_retrieval_id"])
@pytest.mark.parametrize(
    ("steps", "named", "excluded"),
    [(0, "r0", True), (15, "r0", True), (16, "r0", False), (0, "r9", False), (0, "r1", False)],
    ids=["named", "15 names away", "16 names away", "names another", "names itself"],
)
def test_what_names_an_excluded_retrieval_is_excluded_over_at_most_16_names(field, steps, named, excluded):
    """So that two that name each other do not keep each other excluded."""
    sender = named if named == "r1" else "r0"
    told = entity(retrieval(**{field: named}), link_excluded=linked(steps, sender))
    assert is_excluded(told, DEFAULT) is excluded


def test_a_retrieval_tells_those_that_name_it_how_far_its_exclusion_came():
    """And tells the one it names that it does, excluded or not."""
    names_it = [("retrieval:r5", "retrieval:r5", Named())]
    robot = entity(retrieval(page_of="r0", synthetic=True), linked=names_it)
    assert speak_record("r1", robot, DEFAULT) == {
        Address("retrieval:r0", "linked", "retrieval:r1"): Named(),
        Address("retrieval:r5", "link_excluded", "retrieval:r5"): Excluded(0),
    }
    follower = entity(retrieval(page_of="r0"), linked=names_it, link_excluded=linked(2))
    said = speak_record("r1", follower, DEFAULT)
    assert said[Address("retrieval:r5", "link_excluded", "retrieval:r5")] == Excluded(3)
    person = speak_record("r1", entity(retrieval(page_of="r0"), linked=names_it), DEFAULT)
    assert not any(address.topic == "link_excluded" for address in person)


@pytest.mark.parametrize("field", ["page_of", "reformulates_retrieval_id"])
def test_two_that_name_each_other_are_excluded_only_while_one_is_synthetic(field):
    """An earlier record without the mark takes the exclusion back, for both."""
    one, other = retrieval("r1", seconds=5, synthetic=True, **{field: "r2"}), retrieval("r2", **{field: "r1"})
    both = settle(one, other, one_by_one=True)
    assert [both.outcomes[name]["excluded"] for name in ("r1", "r2")] == [True, True]
    plain = {**one, "ts": at(1), "synthetic": False}
    healed = settle(one, other, plain, one_by_one=True)
    assert [healed.outcomes[name]["excluded"] for name in ("r1", "r2")] == [False, False]
    assert healed.figures() == settle(plain, one, other).figures()


# --- answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        ([retrieval()], Answer("granted", "s1", at(0))),
        ([retrieval(returned=["a9"])], Answer("refuted", "s1", at(0))),
        ([], Answer("dangling", None)),
        ([retrieval(seconds=421)], Answer("dangling", "s1", at(421))),
        ([retrieval(synthetic=True)], Answer("excluded", "s1", at(0))),
    ],
    ids=["granted", "refuted", "never logged", "not yet", "excluded"],
)
def test_every_offer_is_answered(sent, answer):
    """With the grade, the session by which the action may be across sessions, and the time of the retrieval."""
    said = speak_evidence("r1", entity(*sent, offer=offered(offer())), DEFAULT)
    assert said == {Address("action:x", "answer", "x"): answer}


def test_an_offer_made_by_two_is_answered_once():
    """The action's home and its document may both make it while one of them is behind."""
    twice = entity(retrieval(), offer=[("action:x", "x", offer()), ("document:d1", "x", offer())])
    assert len(list(offers(twice))) == 1
    assert contribute("r1", twice, DEFAULT)[minute_of(at(0)), "consumed_assets|unspecified|unknown"] == 1


# --- verdict and contribution -----------------------------------------------------------------------


def by_agent(seconds):
    return offered(offer("x", verb="use", seconds=seconds, actor="agent"))


def test_consumption_is_bounded_by_the_show_its_own_request_tells_of():
    """What another request says it showed does not count."""
    sent = retrieval(request_id="q1")
    shown = [("request:q1", "", Shown(at(100))), ("request:q9", "", Shown(at(10)))]
    in_time = verdict_of(entity(sent, offer=by_agent(100), shown=shown), DEFAULT)
    too_late = verdict_of(entity(sent, offer=by_agent(100.001), shown=shown), DEFAULT)
    assert (in_time.agent_consumed, in_time.delegated) == (True, False)
    assert (too_late.agent_consumed, too_late.delegated) == (False, True)


def test_a_retrieval_counts_in_its_own_minute():
    """Evidence of a later minute does not move it."""
    counted = contribute(
        "r1", entity(retrieval(role="browse", surface="chat"), offer=offered(offer())), DEFAULT
    )
    assert {minute for minute, _ in counted} == {minute_of(at(0))}
    assert counted[minute_of(at(0)), counter("retrievals_positive", "standard", "browse", "chat")] == 1


def test_an_excluded_retrieval_counts_nothing_and_has_no_verdict():
    """It is in no figure."""
    robot = entity(retrieval(synthetic=True), offer=offered(offer()))
    assert contribute("r1", robot, DEFAULT) == {}
    assert verdict_of(robot, DEFAULT) is None


def test_a_judged_retrieval_has_its_record_its_verdict_and_the_labels_that_hold():
    """None of an excluded one, and none of what was only claimed."""
    grade = Graded("a2", True, at(9), 2)
    one = entity(retrieval(), offer=offered(offer()), grade=[("judgement:j1", "", grade)])
    found = judged(one, DEFAULT)
    assert found == (one.own[0], verdict_of(one, DEFAULT), {"a2": 2})
    assert judged(entity(retrieval(synthetic=True)), DEFAULT) is None
    assert judged(entity(offer=offered(offer())), DEFAULT) is None


@pytest.mark.parametrize(
    ("returned", "intents", "inside"),
    [(["a1"], 1, True), ([], None, True), (None, 1, False), (["a1"], 0, False)],
)
def test_layer_1_has_those_with_a_list_that_were_wanted(returned, intents, inside):
    """A null result is one of them."""
    routed = [] if intents is None else [("request:r1", "", Routed(intents))]
    found = judged(entity(retrieval(returned=returned), routed=routed), DEFAULT)
    assert found.in_layer_one is inside
