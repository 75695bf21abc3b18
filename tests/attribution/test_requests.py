"""The request: whether it is excluded, rule 4, and when each retrieval's answer was shown."""

import pytest

from attribution.requests import is_excluded, speak_prompt, speak_turn, speak_use
from attribution.semantics import Exclusion, Semantics
from attribution.statements import (
    Acted,
    Address,
    Decision,
    Excluded,
    Goal,
    Label,
    Lists,
    Logged,
    Named,
    Offer,
    Route,
    Routed,
    Shown,
    Substituted,
)
from tests.building import DAY, DEFAULT, act, agent, at, entity, placement, prompt, retrieval, settle

RULES = Semantics(exclusion=Exclusion(user_ids=("robot",)))
DECISION = Address("action:x", "decision", "x")


def logged(retrieval_id, returned=("a1", "a2"), seconds=0):
    return (f"retrieval:{retrieval_id}", "", Logged(at(seconds), "s1", returned))


def show(action_id, seconds):
    return (f"action:{action_id}", "", act("show", seconds, id=action_id, actor="agent"))


def turn(*records, acts=(), shows=()):
    told = entity(record=records, act=[("action:x", one.id, one) for one in acts], show=shows)
    return speak_turn("q1", told, DEFAULT)


def shown_to(said):
    return {address.receiver: content.ts for address, content in said.items() if isinstance(content, Shown)}


# --- exclusion --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "semantics", "excluded"),
    [
        ([], DEFAULT, False),
        ([prompt()], DEFAULT, False),
        ([prompt(synthetic=True)], DEFAULT, True),
        ([prompt(user_id="robot")], DEFAULT, False),
        ([prompt(user_id="robot")], RULES, True),
        ([prompt(seconds=1, synthetic=True), prompt(seconds=2)], DEFAULT, True),
        ([prompt(seconds=1), prompt(seconds=2, synthetic=True)], DEFAULT, False),
    ],
    ids=["no prompt", "plain", "says so", "no rule", "rule", "standing says so", "another says so"],
)
def test_a_request_is_excluded_by_its_standing_prompt(sent, semantics, excluded):
    """A prompt that does not stand has no say, and without a prompt nothing is."""
    assert is_excluded(entity(*sent), semantics) is excluded


def test_an_excluded_request_says_so_to_all_that_name_it():
    """Each of them is told under its own name."""
    named = [
        ("action:x", "action:x", Named()),
        ("retrieval:r1", "retrieval:r1", Named()),
        ("action:y", "action:y", None),
    ]
    assert speak_prompt("q1", entity(prompt(synthetic=True), named=named), DEFAULT) == {
        Address("action:x", "request_excluded", "action:x"): Excluded(),
        Address("retrieval:r1", "request_excluded", "retrieval:r1"): Excluded(),
    }
    assert speak_prompt("q1", entity(prompt(), named=named), DEFAULT) == {}


# --- rule 4 -----------------------------------------------------------------------------------------


def test_every_retrieval_of_the_request_whose_list_holds_the_asset_is_offered_the_action():
    """The others are not asked; the action is told who will answer."""
    action = act("select", asset_id="a2")
    said = turn(logged("r2"), logged("r1", ("a2",)), logged("r3", ("a9",)), acts=[action])
    offer = Offer(action, "request", (Route(("a2",), ("a2",)),))
    assert said == {
        DECISION: Decision("request", ("r1", "r2")),
        Address("retrieval:r1", "offer", "x"): offer,
        Address("retrieval:r2", "offer", "x"): offer,
    }


@pytest.mark.parametrize("returned", [None, (), ("a1",), (None, None)])
def test_a_list_that_does_not_hold_the_asset_itself_takes_no_part(returned):
    """Not logged, empty, without the asset, or without ids: the action belongs to none."""
    assert turn(logged("r1", returned), acts=[act(asset_id="a2")]) == {DECISION: Decision("none")}


def test_an_action_without_asset_is_in_no_list():
    """A null element of a list is not its asset."""
    assert turn(logged("r1", ("a1", None)), acts=[act(asset_id=None)]) == {DECISION: Decision("none")}


@pytest.mark.parametrize(
    ("seconds", "credited"),
    [(120, True), (120.001, False), (121, False), (120 - 30 * DAY, True), (120 - 30 * DAY - 0.001, False)],
    ids=["same moment", "just after", "after", "30 days before", "just beyond"],
)
def test_a_retrieval_counts_from_thirty_days_before_the_action_to_its_very_moment(seconds, credited):
    """Here no clock skew is allowed: nobody claimed anything."""
    said = turn(logged("r1", seconds=seconds), acts=[act(seconds=120, asset_id="a1")])
    assert said[DECISION] == (Decision("request", ("r1",)) if credited else Decision("none"))


# --- shows ------------------------------------------------------------------------------------------


def test_each_retrieval_is_told_of_the_first_show_at_or_after_it():
    """A show before a retrieval cannot have shown what it returned."""
    records = [logged("r1", seconds=0), logged("r2", seconds=10), logged("r3", seconds=11)]
    said = turn(*records, shows=[show("b", 20), show("a", 10), show("c", 30)])
    assert shown_to(said) == {"retrieval:r1": at(10), "retrieval:r2": at(10), "retrieval:r3": at(20)}


def test_a_show_of_an_excluded_retrieval_shows_nothing():
    """What names it is excluded with it; another show of the request counts."""
    shows = [
        ("action:a", "", act("show", 10, id="a", actor="agent", claim="robot")),
        ("action:b", "", act("show", 20, id="b", actor="agent", claim="r1")),
    ]
    excluded = [("retrieval:robot", "request:q1", Excluded())]
    found = entity(record=[logged("r1")], show=shows, retrieval_excluded=excluded)
    assert shown_to(speak_turn("q1", found, DEFAULT)) == {"retrieval:r1": at(20)}


def test_a_retrieval_after_the_last_show_is_told_nothing():
    """Its answer was not seen to be shown."""
    assert shown_to(turn(logged("r1", seconds=30), shows=[show("a", 20)])) == {}
    assert turn(logged("r1")) == {}


# --- labels -----------------------------------------------------------------------------------------


R1 = (logged("r1"),)


def told(*labels, records=R1):
    known = [(f"judgement:{n}", "", label) for n, label in enumerate(labels)]
    return speak_turn("q1", entity(record=records, label=known), DEFAULT)


def test_each_retrieval_is_told_what_its_prompt_needed_and_whether_the_goal_was_reached():
    """By the label that holds, also where it is 0; without one nothing is said."""
    intent, goal = Label("intent", True, 1, 0), Label("goal", True, 1, 0)
    said = told(intent, goal, records=[logged("r1"), logged("r2")])
    for name in ("r1", "r2"):
        assert said[Address(f"retrieval:{name}", "routed", "")] == Routed(0)
        assert said[Address(f"retrieval:{name}", "goal", "")] == Goal(0)
    assert told() == {}
    assert {one.topic for one in told(intent)} == {"routed"}


# --- substitution -----------------------------------------------------------------------------------

SUBSTITUTED = Address("retrieval:r1", "substituted", "")
FOREIGN = {"verb": "use", "actor": "agent", "asset_id": "a9"}


def lists(name, *returned):
    return (f"retrieval:{name}", "", Lists(returned))


def acted(action_id="x", seconds=120, credited=(), **fields):
    """An action of the request that took an asset from elsewhere, unless said otherwise."""
    taken = act(seconds=seconds, **{"id": action_id, **FOREIGN, **fields})
    return (f"action:{action_id}", action_id, Acted(taken, tuple((name, at(ts)) for name, ts in credited)))


def passed_over(*actions, records=R1, listed=None):
    """Is the retrieval r1 told that the agent used something else?"""
    held = [lists("r1", ("a1", "a2"))] if listed is None else listed
    return SUBSTITUTED in speak_use("q1", entity(record=records, lists=held, acted=actions), DEFAULT)


def test_an_agent_that_uses_what_no_list_holds_passed_the_retrieval_over():
    """It is told by which action, the first of them."""
    found = entity(
        record=[logged("r1")], lists=[lists("r1", ("a1",))], acted=[acted("y", 130), acted("x", 120)]
    )
    assert speak_use("q1", found, DEFAULT) == {SUBSTITUTED: Substituted("x")}


@pytest.mark.parametrize("verb", ["use", "select", "edit", "place", "generate"])
def test_the_verbs_by_which_an_agent_takes_something(verb):
    """Each of the five alone is enough."""
    assert passed_over(acted(verb=verb))


@pytest.mark.parametrize(
    "fields",
    [
        *({"verb": verb} for verb in ("export", "share", "download", "click")),
        {"actor": "user"},
        {"asset_id": None},
        {"asset_id": "a1"},
        {"ancestors": ("a2",)},
        {"seconds": -0.001},
        {"seconds": 30 * DAY + 0.001},
    ],
    ids=str,
)
def test_each_condition_alone_keeps_an_action_from_passing_over(fields):
    """Another verb, a user, no asset, an asset or ancestor that is listed, too early, too late."""
    assert not passed_over(acted(**fields))


@pytest.mark.parametrize("seconds", [0, 30 * DAY])
def test_the_action_may_come_at_the_very_moment_and_up_to_thirty_days_later(seconds):
    """Both bounds belong to it."""
    assert passed_over(acted(seconds=seconds))


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ([("a1",), ("b1",)], True),
        ([("a1",), ("a9",)], False),
        ([("a1",), None], False),
        ([("a1",), ("b1", None)], False),
        ([("a1",), ()], True),
    ],
    ids=["neither", "in the other", "other not logged", "other with a null", "other empty"],
)
def test_every_list_of_the_request_is_known_and_without_the_asset(listed, found):
    """Of all its retrievals, and of all records of one, those that lost the id included."""
    assert passed_over(acted(), listed=[lists("r1", listed[0]), lists("r2", listed[1])]) is found
    assert passed_over(acted(), listed=[lists("r1", *listed)]) is found


def test_an_asset_of_an_earlier_retrieval_was_not_taken_instead():
    """Earlier than the retrieval that would be passed over; at the same moment or later it was."""
    records = [logged("r1", seconds=10)]
    assert not passed_over(acted(credited=[("r0", 9.999)]), records=records)
    assert passed_over(acted(credited=[("r0", 10)]), records=records)
    assert passed_over(acted(credited=[("r0", 11)]), records=records)


@pytest.mark.parametrize("other", [{"verb": "click", "actor": "user"}, {"verb": "use"}])
def test_a_retrieval_that_any_action_of_the_request_credits_was_not_passed_over(other):
    """Whoever acted, and whatever that was; one that credits another retrieval does not save it."""
    foreign = acted("x")
    assert not passed_over(foreign, acted("y", credited=[("r1", 0)], asset_id="a1", **other))
    assert passed_over(foreign, acted("y", credited=[("r2", 0)], asset_id="a1", **other))


@pytest.mark.parametrize(
    ("role", "returned", "signals"),
    [
        *((role, ["a1"], ["substituted"]) for role in ("act_on", "generation_reference", "task_step")),
        *((role, ["a1"], []) for role in ("direct_lookup", "browse", "contextual", None)),
        ("act_on", [], []),
        ("act_on", None, []),
        ("act_on", [None], []),
    ],
    ids=str,
)
def test_only_a_list_to_be_taken_from_can_be_passed_over(role, returned, signals):
    """By three roles, with something in the list; an action of another request says nothing."""
    sent = retrieval("r1", returned, role=role, request_id="q1")
    used = agent("use", consumed_asset_id="a9", request_id="q1")
    assert settle(sent, used).outcomes["r1"]["failure_signals"] == signals
    assert settle(sent, {**used, "request_id": "q2"}).outcomes["r1"]["failure_signals"] == []


def test_an_ancestor_in_the_list_is_known_from_the_document():
    """What was derived from a listed asset was not taken from elsewhere."""
    sent = (
        retrieval("r1", ["a1"], role="act_on", request_id="q1"),
        placement("p1", "a9", 10, derived_from_asset_id="a1"),
        agent("edit", 20, consumed_asset_id="a9", document_id="d1", request_id="q1"),
    )
    assert settle(*sent).outcomes["r1"]["failure_signals"] == []
    assert settle(sent[0], sent[2]).outcomes["r1"]["failure_signals"] == ["substituted"]
