"""The request: whether it is excluded, rule 4, and when each retrieval's answer was shown."""

import pytest

from attribution.requests import is_excluded, speak_prompt, speak_turn
from attribution.semantics import Exclusion, Semantics
from attribution.statements import Address, Decision, Excluded, Logged, Named, Offer, Route, Shown
from tests.building import DAY, DEFAULT, act, at, entity, prompt

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


def test_a_retrieval_after_the_last_show_is_told_nothing():
    """Its answer was not seen to be shown."""
    assert shown_to(turn(logged("r1", seconds=30), shows=[show("a", 20)])) == {}
    assert turn(logged("r1")) == {}
