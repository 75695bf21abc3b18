"""The action: where its rule is decided, and its resolution once all have answered."""

from itertools import permutations

import pytest

from attribution.actions import contribute, is_excluded, resolved, speak_intake
from attribution.semantics import Exclusion, Semantics, minute_of
from attribution.statements import Address, Answer, Asked, Decision, Excluded, Offer, Route, Seen, act_of
from tests.building import DEFAULT, act, agent, at, entity, event, user

RULES = Semantics(exclusion=Exclusion(session_prefixes=("probe-",)))
CREDIT = Semantics(inference="credit")
EXCLUDED_REQUEST = [("request:q1", "action:x", Excluded())]


def said(sent, **told):
    return speak_intake("x", entity(sent, **told), DEFAULT)


def decided(rule, *retrievals, dangling=False, **carried):
    return [("document:d1", "x", Decision(rule, retrievals, dangling, **carried))]


def answers(**grades):
    """What retrievals answered: `r1="granted"`, or `r1=("granted", "s2")` with the retrieval's session."""
    pairs = {name: (of if isinstance(of, tuple) else (of, "s1")) for name, of in grades.items()}
    return [(f"retrieval:{name}", "x", Answer(*of)) for name, of in pairs.items()]


def resolution(sent, **told):
    found = resolved("x", entity(sent, **told), DEFAULT)
    return None if found is None else (found.resolution, found.retrieval_ids)


# --- exclusion --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "told", "semantics", "excluded"),
    [
        (user("export"), [], DEFAULT, False),
        (user("export", synthetic=True), [], DEFAULT, True),
        (user("export", session_guid="probe-1"), [], DEFAULT, False),
        (user("export", session_guid="probe-1"), [], RULES, True),
        (user("export", request_id="q1"), EXCLUDED_REQUEST, DEFAULT, True),
        (user("export", request_id="q2"), EXCLUDED_REQUEST, DEFAULT, False),
        (user("export"), EXCLUDED_REQUEST, DEFAULT, False),
    ],
    ids=["plain", "says so", "no rule", "rule", "request", "another request", "no request"],
)
def test_an_action_is_excluded_by_itself_or_by_the_request_it_names(sent, told, semantics, excluded):
    """What a request that it does not name says does not count."""
    assert is_excluded(entity(sent, request_excluded=told), semantics) is excluded


def test_an_excluded_action_tells_nobody_and_is_in_no_figure():
    """Its resolution is `excluded`, so that what was announced before is taken back."""
    robot = user("export", document_id="d1", synthetic=True)
    assert said(robot) == {}
    assert resolution(robot, decision=decided("none")) == ("excluded", ())
    assert contribute("x", entity(robot, decision=decided("none")), DEFAULT) == {}


# --- where it goes ----------------------------------------------------------------------------------

CLAIM, DOCUMENT = {"source_retrieval_id": "r1"}, {"document_id": "d1"}
PLACEMENT, ASSET, REQUEST = {"placement_id": "p1"}, {"consumed_asset_id": "a1"}, {"request_id": "q1"}


@pytest.mark.parametrize(
    ("fields", "receiver", "topic"),
    [
        (DOCUMENT, "document:d1", "act"),
        (DOCUMENT | CLAIM | REQUEST, "document:d1", "act"),
        (DOCUMENT | PLACEMENT | ASSET, "document:d1", "act"),
        (CLAIM, "retrieval:r1", "offer"),
        (CLAIM | REQUEST | PLACEMENT, "retrieval:r1", "offer"),
        (REQUEST, "request:q1", "act"),
        (REQUEST | ASSET, "request:q1", "act"),
    ],
    ids=str,
)
def test_an_action_goes_to_the_one_place_that_decides_its_rule(fields, receiver, topic):
    """Its document, else the retrieval it claims, else its request; its session hears of it beside."""
    sent = user("edit", **fields)
    told = {(one.receiver, one.topic, one.subject) for one in said(sent) if one.topic != "seen"}
    assert told == {(receiver, topic, "x")}
    seen_by = {one.receiver: content for one, content in said(sent).items() if one.topic == "seen"}
    assert seen_by == (
        {"session:s1": Seen(act_of(event(sent), "x"))} if "consumed_asset_id" in fields else {}
    )


@pytest.mark.parametrize("fields", [PLACEMENT, PLACEMENT | REQUEST])
def test_a_placement_without_document_goes_nowhere(fields):
    """A placement is looked up in a document, and none was named."""
    assert said(user("edit", **fields)) == {}


NONE = {Address("action:x", "decision", "x"): Decision("none")}


@pytest.mark.parametrize("semantics", [DEFAULT, CREDIT], ids=["shadow", "credit"])
def test_an_action_that_names_nothing_decides_for_itself_that_it_is_none(semantics):
    """Without an asset, inference has nothing to look for."""
    assert speak_intake("x", entity(user("edit")), semantics) == NONE


def test_where_inference_credits_an_open_end_travels_through_the_session():
    """In the shadow the action is none at once, and the session only hears of it."""
    sent = user("edit", **ASSET)
    seen = Seen(act_of(event(sent), "x"))
    session = Address("session:s1", "seen", "x")
    assert said(sent) == {**NONE, session: seen}
    assert speak_intake("x", entity(sent), CREDIT) == {
        session: seen,
        Address("session:s1", "unresolved", "x"): seen,
    }


def test_a_claim_without_document_is_tested_with_the_asset_alone():
    """Ancestors are of a document; without asset there is nothing to test."""
    with_asset, without = user("edit", **CLAIM, **ASSET), user("edit", **CLAIM)
    address = Address("retrieval:r1", "offer", "x")
    act = act_of(event(with_asset), "x")
    assert said(with_asset) == {
        address: Offer(act, "explicit", (Route(("a1",), ("a1",)),)),
        Address("session:s1", "seen", "x"): Seen(act),
    }
    assert said(without)[address].routes == (Route((), ()),)


def test_only_an_agents_show_of_a_request_is_told_to_it():
    """A show is never resolved, never counted and never evidence."""
    shown = agent("show", request_id="q1", document_id="d1")
    assert [(one.receiver, one.topic) for one in said(shown)] == [("request:q1", "show")]
    claiming = agent("show", request_id="q1", source_retrieval_id="r1")
    assert said(claiming) == {
        Address("request:q1", "show", ""): act_of(event(claiming), "x"),
        Address("retrieval:r1", "asked", "request:q1"): Asked("request:q1"),
    }
    assert said(agent("show", document_id="d1", source_retrieval_id="r1")) == {}
    assert said(user("show", request_id="q1")) == {}
    for sent in (shown, user("show", source_retrieval_id="r1")):
        assert resolution(sent, decision=decided("none")) is None
        assert contribute("x", entity(sent, decision=decided("none")), DEFAULT) == {}


# --- the resolution ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [PLACEMENT, PLACEMENT | REQUEST])
def test_a_placement_without_its_document_dangles(fields):
    """Nobody decides it, so the action knows it itself."""
    assert resolution(user("edit", **fields)) == ("dangling", ())


@pytest.mark.parametrize("fields", [{}, ASSET])
def test_an_action_that_names_nothing_is_none_once_that_is_decided(fields):
    """By itself in the shadow, by its session where inference credits; until then it waits."""
    sent = user("edit", **fields)
    assert resolution(sent) is None
    assert resolution(sent, decision=[("action:x", "x", Decision("none"))]) == ("none", ())
    assert resolution(sent, decision=[("session:s1", "x", Decision("none"))]) == ("none", ())


def test_an_action_is_unresolved_until_its_rule_and_every_answer_is_there():
    """Nothing is counted, and nothing said, on the way."""
    sent = user("export", **DOCUMENT)
    assert resolution(sent) is None
    named = decided("document", "r1", "r2")
    assert resolution(sent, decision=named) is None
    assert resolution(sent, decision=named, answer=answers(r1="granted")) is None
    assert contribute("x", entity(sent, decision=named, answer=answers(r1="granted")), DEFAULT) == {}
    complete = answers(r1="granted", r2="granted")
    assert resolution(sent, decision=named, answer=complete) == ("document", ("r1", "r2"))


@pytest.mark.parametrize("rule", ["none", "dangling"])
def test_a_decision_without_retrievals_is_the_resolution(rule):
    """There is nobody to ask."""
    assert resolution(user("export", **DOCUMENT), decision=decided(rule)) == (rule, ())


@pytest.mark.parametrize(
    ("grades", "dangling", "expected"),
    [
        ({"r1": "granted", "r2": "refuted"}, False, ("document", ("r1",))),
        ({"r1": "granted", "r2": "excluded"}, True, ("document", ("r1",))),
        ({"r1": "refuted", "r2": "dangling"}, False, ("refuted", ())),
        ({"r1": "dangling", "r2": "dangling"}, False, ("dangling", ())),
        ({"r1": "refuted", "r2": "refuted"}, True, ("refuted", ())),
        ({"r1": "excluded", "r2": "refuted"}, False, ("excluded", ())),
        ({"r1": "dangling", "r2": "excluded"}, True, ("excluded", ())),
    ],
    ids=str,
)
def test_one_grant_is_enough_and_else_the_worst_answer_says_how_it_is_resolved(grades, dangling, expected):
    """Excluded before refuted before dangling, a source named in vain included."""
    told = {"decision": decided("document", "r1", "r2", dangling=dangling), "answer": answers(**grades)}
    assert resolution(user("export", **DOCUMENT), **told) == expected


@pytest.mark.parametrize(
    ("grade", "expected"), [("granted", "explicit"), ("refuted", "refuted"), ("dangling", "dangling")]
)
def test_a_claim_without_document_is_decided_by_the_claimed_retrieval(grade, expected):
    """No decision is waited for."""
    sent = user("edit", **CLAIM)
    assert resolution(sent) is None
    credited = ("r1",) if grade == "granted" else ()
    assert resolution(sent, answer=answers(r1=grade)) == (expected, credited)


def test_an_answer_of_a_retrieval_that_was_not_asked_counts_for_nothing():
    """It may be left from another version of the action."""
    told = {"decision": decided("inherited", "r1"), "answer": answers(r1="refuted", r9="granted")}
    assert resolution(user("edit", **DOCUMENT), **told) == ("refuted", ())


def test_the_credited_retrievals_are_named_in_order_and_those_asked_too():
    """Whatever answered first."""
    told = {"decision": decided("request", "r1", "r2", "r3")}
    for order in permutations(answers(r1="granted", r2="refuted", r3="granted")):
        found = resolved("x", entity(user("edit", **DOCUMENT), **told, answer=order), DEFAULT)
        assert found.retrieval_ids == ("r1", "r3")
        assert found.named_retrieval_ids == ("r1", "r2", "r3")


@pytest.mark.parametrize(
    ("sessions", "crossed"),
    [(("s1", "s1"), False), (("s1", "s2"), True), (("s2", "s2"), True)],
)
def test_an_action_is_across_sessions_if_one_of_its_retrievals_has_another(sessions, crossed):
    """Only those that are credited count."""
    told = {"decision": decided("document", "r1", "r2", "r3")}
    replies = answers(r1=("granted", sessions[0]), r2=("granted", sessions[1]), r3=("refuted", "s9"))
    assert (
        resolved("x", entity(user("export", **DOCUMENT), **told, answer=replies), DEFAULT).cross_session
        is crossed
    )


def test_a_placing_without_session_is_never_across_sessions():
    """What is not known does not differ."""
    placing = act("place", session_guid=None)
    told = {"decision": decided("inherited", "r1", act=placing), "answer": answers(r1="granted")}
    assert resolved("x", entity(**told), DEFAULT).cross_session is False


def test_a_placing_is_known_from_the_decision_that_carries_it():
    """It has no event of its own."""
    placing = act("place", 60, asset_id="a1")
    found = resolved("x", entity(decision=decided("excluded", act=placing)), DEFAULT)
    assert (found.act, found.resolution) == (placing, "excluded")
    assert resolved("x", entity(decision=decided("none")), DEFAULT) is None


def test_an_action_counts_once_in_its_own_minute_however_many_it_credits():
    """An export of several retrievals is one outcome."""
    told = {
        "decision": decided("document", "r1", "r2"),
        "answer": answers(r1="granted", r2=("granted", "s2")),
    }
    counted = contribute("x", entity(user("export", 125, surface="chat", **DOCUMENT), **told), DEFAULT)
    minute = minute_of(at(125))
    assert {name: count for (at_minute, name), count in counted.items() if at_minute == minute} == {
        "actions|document": 1,
        "outcomes|chat|export": 1,
        "attributed_outcomes|chat|export": 1,
        "cross_session_outcomes|chat|export": 1,
        "lineage_expected|consumed_asset_id": 1,
        "lineage_expected|source_retrieval_id": 1,
        "lineage_logged|source_retrieval_id": 1,
    }
