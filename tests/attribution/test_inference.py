"""Rule 5: what time and session alone would name, as a shadow and as a credit."""

from itertools import permutations

import pytest

from attribution.inference import left_open, seen, speak_inference
from attribution.semantics import Semantics
from attribution.statements import Address, Decision, Guess, Listed, Offer, Route, Seen
from metrics.buckets import Span
from tests.building import (
    DEFAULT,
    MINUTE,
    act,
    agent,
    at,
    entity,
    placement,
    retrieval,
    settle,
    user,
)

CREDIT = Semantics(inference="credit")
GUESS = Address("action:x", "guess", "x")
DECISION = Address("action:x", "decision", "x")


def listed(name, seconds, *returned, user_id=None):
    return (f"retrieval:{name}", "", Listed(at(seconds), user_id, returned or ("a1", "a2")))


def session(*retrievals, seen=(), unresolved=()):
    told = entity(
        listed=retrievals,
        seen=[("action:x", one.id, Seen(one)) for one in seen],
        unresolved=[("action:x", one.act.id, one) for one in unresolved],
    )
    return speak_inference("s1", told, DEFAULT)


def guess(action, *retrievals):
    """The retrieval that is named, or None."""
    found = session(*retrievals, seen=[action]).get(GUESS)
    return None if found is None else found.retrieval_id


CLICK = act("click", 120, asset_id="a1")


# --- what is named ----------------------------------------------------------------------------------


def test_the_latest_list_that_holds_the_asset_is_named():
    """A later one without it, or a longer one before, is not."""
    known = listed("r1", 0), listed("r2", 60, "a9", None, "a1"), listed("r3", 90, "a2")
    for order in permutations(known):
        assert guess(CLICK, *order) == "r2"


@pytest.mark.parametrize(
    ("names", "expected"), [(("r1", "r2"), "r2"), (("r9", "r10"), "r9"), (("z", "ä"), "ä"), (("B", "a"), "a")]
)
def test_ties_go_to_the_greater_id_in_utf8(names, expected):
    """As bytes: neither as a number nor by any alphabet."""
    for order in permutations(names):
        assert guess(CLICK, *(listed(name, 60) for name in order)) == expected


@pytest.mark.parametrize(
    ("seconds", "named"),
    [
        (120, True),
        (120.001, False),
        (120 - 30 * MINUTE, True),
        (120 - 30 * MINUTE - 0.001, False),
    ],
    ids=["same moment", "just after", "30 minutes before", "over 30 minutes before"],
)
def test_it_fired_within_thirty_minutes_up_to_the_very_moment(seconds, named):
    """Both bounds belong to it, and no clock skew is allowed."""
    assert guess(CLICK, listed("r1", seconds)) == ("r1" if named else None)


@pytest.mark.parametrize(
    ("acting", "searching", "named"),
    [("u1", "u1", True), ("u1", "u2", False), ("u1", None, True), (None, "u2", True), (None, None, True)],
)
def test_a_user_who_is_known_to_differ_is_another(acting, searching, named):
    """What is not known does not differ."""
    action = act("click", 120, asset_id="a1", user_id=acting)
    assert guess(action, listed("r1", 60, user_id=searching)) == ("r1" if named else None)


def test_another_user_leaves_the_earlier_retrieval_to_be_named():
    """The latest of those that fit."""
    action = act("click", 120, asset_id="a1", user_id="u1")
    assert guess(action, listed("r1", 30, user_id="u1"), listed("r2", 60, user_id="u2")) == "r1"


def test_only_the_asset_itself_counts():
    """Neither its ancestors nor a null element."""
    action = act("click", 120, asset_id="a9", ancestors=("a1",))
    assert guess(action, listed("r1", 60, "a1", None)) is None


def test_a_session_without_a_fitting_list_names_nothing():
    """And says nothing."""
    assert session(seen=[CLICK]) == {}


# --- whom it is said --------------------------------------------------------------------------------


def test_an_action_with_an_asset_is_seen_by_its_session():
    """Without one, or without a session, there is nothing to find."""
    address = Address("session:s1", "seen", "x")
    assert seen(CLICK) == {address: Seen(CLICK)}
    assert seen(CLICK, placing=True) == {address: Seen(CLICK, placing=True)}
    assert seen(act("click")) == seen(act("click", asset_id="a1", session_guid=None)) == {}


@pytest.mark.parametrize(
    ("action", "semantics", "travels"),
    [
        (CLICK, DEFAULT, False),
        (CLICK, CREDIT, True),
        (act("click"), CREDIT, False),
        (act("click", asset_id="a1", session_guid=None), CREDIT, False),
    ],
    ids=["shadow", "credit", "no asset", "no session"],
)
def test_what_rules_1_to_4_leave_open_is_none_or_travels_through_the_session(action, semantics, travels):
    """Only where inference credits, and only what it could find."""
    expected = (
        {Address("session:s1", "unresolved", "x"): Seen(action)} if travels else {DECISION: Decision("none")}
    )
    assert left_open(action, semantics) == expected


def test_a_placing_that_is_left_open_carries_its_act():
    """It has no event of its own, wherever it is decided."""
    placing = act("place", 60, asset_id="a1", ancestors=("a0",))
    assert left_open(placing, DEFAULT, placing=True) == {
        DECISION: Decision("none", act=placing, ancestors=("a0",))
    }
    nothing = session(unresolved=[Seen(placing, placing=True)])
    assert nothing == {DECISION: Decision("none", act=placing, ancestors=("a0",))}
    found = session(listed("r1", 30), unresolved=[Seen(placing, placing=True)])
    assert found[DECISION] == Decision("inferred", ("r1",), act=placing, ancestors=("a0",))


def test_a_credit_is_a_decision_and_an_offer():
    """The claim is tested with the asset alone; its ancestors are consumed beside it."""
    action = act("click", 120, asset_id="a1", ancestors=("a0",))
    assert session(listed("r1", 60), unresolved=[Seen(action)]) == {
        DECISION: Decision("inferred", ("r1",), ancestors=("a0",)),
        Address("retrieval:r1", "offer", "x"): Offer(action, "inferred", (Route(("a1",), ("a1", "a0")),)),
    }
    assert session(unresolved=[Seen(CLICK)]) == {DECISION: Decision("none")}


def test_a_shadow_is_only_a_guess():
    """It is said to the action and to nobody else."""
    assert session(listed("r1", 60), seen=[CLICK]) == {GUESS: Guess("r1")}


# --- from records to figures ------------------------------------------------------------------------

SEARCHES = (
    retrieval("r1", ["a1"], 0, request_id="q1"),
    retrieval("r2", ["a1"], 60, request_id="q2"),
)


def disagreement(*sent, semantics=DEFAULT):
    return settle(*sent, semantics=semantics).figure("lara_inference_disagreement_ratio")


def select(seconds=120, **fields):
    return user("select", seconds, **{"event_id": "x", "consumed_asset_id": "a1", **fields})


@pytest.mark.parametrize(
    ("action", "ratio"),
    [
        (select(source_retrieval_id="r1"), 1),
        (select(source_retrieval_id="r2"), 0),
        (select(request_id="q1"), 1),
        (select(request_id="q2"), 0),
        (select(source_retrieval_id="r9"), None),
        (select(), None),
        (select(source_retrieval_id="r1", session_guid="s2"), None),
        (select(60 * MINUTE, source_retrieval_id="r1"), None),
    ],
    ids=["claim", "same", "request", "same request", "dangling", "none", "another session", "too late"],
)
def test_inference_is_compared_where_lineage_credits_exactly_one(action, ratio):
    """And only where it names one itself."""
    assert disagreement(*SEARCHES, action) == ratio


def test_what_is_credited_to_several_or_by_the_document_is_not_compared():
    """Rule 4 with two retrievals, and rule 3."""
    twice = retrieval("r3", ["a1"], 10, request_id="q1")
    assert disagreement(*SEARCHES, twice, select(request_id="q1")) is None
    placed = placement(source_retrieval_id="r1")
    assert disagreement(*SEARCHES, placed, user("export", document_id="d1")) is None


def test_inherited_actions_and_placings_are_compared():
    """The placing by somebody has an asset and a session as well."""
    placed = placement(source_retrieval_id="r1", actor="user")
    found = settle(*SEARCHES, placed, select(document_id="d1"))
    assert found.figure("lara_inference_disagreement_ratio") == 1
    (totals,) = found.store.sums([Span(None, 10**9)])
    assert totals["inference_compared"] == 2


def test_in_the_shadow_nothing_is_credited():
    """The action is none, and the retrieval without evidence."""
    found = settle(*SEARCHES, select())
    assert found.credit("x") == ("none", [])
    assert found.figure("lara_actions", resolution="inferred") == 0


OPEN = {
    "nothing named": {},
    "request without the asset": {"request_id": "q9"},
    "document without a placement": {"document_id": "d9"},
    "document and request": {"document_id": "d9", "request_id": "q9"},
}


@pytest.mark.parametrize("fields", OPEN.values(), ids=OPEN)
def test_where_it_credits_it_decides_what_rules_1_to_4_leave_open_in_every_order_of_arrival(fields):
    """The same retrieval, and the same figures."""
    sent = (*SEARCHES, select(**fields))
    at_once = settle(*sent, semantics=CREDIT)
    assert at_once.credit("x") == ("inferred", ["r2"])
    assert at_once.figure("lara_actions", resolution="inferred") == 1
    for order in permutations(sent):
        found = settle(*order, semantics=CREDIT, one_by_one=True)
        assert found.attributions == at_once.attributions
        assert found.outcomes == at_once.outcomes
        assert found.figures() == at_once.figures()


@pytest.mark.parametrize(
    ("action", "resolution"),
    [
        (select(source_retrieval_id="r9"), "dangling"),
        (select(source_retrieval_id="r1", consumed_asset_id="a9"), "refuted"),
        (select(placement_id="p9", document_id="d1"), "dangling"),
        (select(placement_id="p1", document_id="d1"), "none"),
        (select(document_id="d1"), "none"),
        (user("export", event_id="x", document_id="d1"), "none"),
        (select(consumed_asset_id=None), "none"),
        (select(consumed_asset_id="a9"), "none"),
    ],
    ids=str,
)
def test_where_it_credits_what_fell_through_to_nothing_stays_nothing(action, resolution):
    """Refuted, dangling and a placement without source do not come to rule 5."""
    found = settle(*SEARCHES, placement(), action, semantics=CREDIT)
    assert found.credit("x") == (resolution, [])


def test_where_it_credits_agents_and_outcomes_count_as_evidence():
    """An inferred export is attributed, an agent's inferred use is of another request: delegated."""
    used = agent("use", 125, event_id="y", consumed_asset_id="a1")
    found = settle(*SEARCHES, user("export", event_id="x", consumed_asset_id="a1"), used, semantics=CREDIT)
    assert found.figure("lara_attributed_outcomes") == 1
    assert found.figure("lara_retrievals_delegated", cohort="settled") == 1
    assert found.figure("lara_inference_disagreement_ratio") is None


def test_a_credit_moves_when_a_later_list_arrives():
    """The early answer is corrected, on both sides."""
    first = settle(SEARCHES[0], select(), semantics=CREDIT)
    both = settle(SEARCHES[0], select(), SEARCHES[1], semantics=CREDIT, one_by_one=True)
    assert first.credit("x") == ("inferred", ["r1"])
    assert both.credit("x") == ("inferred", ["r2"])
    assert both.outcomes["r1"]["action_ids"] == []
    assert both.figure("lara_retrievals_positive", cohort="settled", definition="standard") == 1


def test_a_synthetic_list_is_not_named():
    """It is in nothing."""
    robot = {**SEARCHES[1], "synthetic": True}
    assert settle(SEARCHES[0], robot, select(), semantics=CREDIT).credit("x") == ("inferred", ["r1"])
