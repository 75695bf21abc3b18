"""What is true of a retrieval: what is granted, what it is evidence of, and at which rank."""

import pytest

from attribution.definitions import Definition
from attribution.semantics import Semantics
from attribution.statements import Offer, Route
from attribution.verdict import AGENT_EVIDENCE, Hints, consumed, evidence_of, grade, judge, used_at
from tests.building import DAY, DEFAULT, MINUTE, act, at, event, retrieval

USER = {"strict": False, "standard": False, "broad": False}

NOTHING_SAID = Hints()


def listed(*returned, **fields):
    return event(retrieval(returned=returned, **{"request_id": "q1", **fields}))


def offer(*tested, consumed=None, verb="export", seconds=120, rule="explicit", **fields):
    asset = tested[0] if tested else None
    route = Route(tested, tested if consumed is None else consumed)
    return Offer(
        act(verb, seconds, **{"id": f"{verb}{seconds}", "asset_id": asset, **fields}), rule, (route,)
    )


def verdict(record, *offers, shown=None, hints=NOTHING_SAID, semantics=DEFAULT):
    return judge(record, evidence_of(record, offers, shown), hints, semantics)


# --- what is granted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "tested", "expected"),
    [
        (None, ("a1",), "granted"),
        (None, (), "granted"),
        ((), ("a1",), "refuted"),
        ((), (), "refuted"),
        (("a1", "a2"), ("a2",), "granted"),
        (("a1", "a2"), ("a9",), "refuted"),
        (("a1", "a2"), ("a9", "a1"), "granted"),
        (("a1", "a2"), (), "granted"),
        (("a1", None), ("a9",), "granted"),
        ((None,), ("a9",), "granted"),
        (("12",), ("012",), "refuted"),
    ],
)
def test_a_claim_is_refuted_by_a_known_list_that_excludes_it(returned, tested, expected):
    """No list refutes nothing, an empty one everything, one with a null element nothing; no asset stands."""
    record = event(retrieval(returned=returned))
    assert grade(record, offer(*tested))[0] == expected


def test_an_offer_is_granted_by_the_routes_that_hold():
    """Of several ways to a retrieval those that its list excludes fall away."""
    good, bad = Route(("a1",), ("a5",)), Route(("a9",), ("a9",))
    both = Offer(act(), "document", (bad, good))
    assert grade(listed("a1"), both) == ("granted", (good,))
    assert grade(listed("a2"), both) == ("refuted", ())
    assert verdict(listed("a1"), both).evidence[0].routes == (good,)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "granted"),
        (30 * DAY, "granted"),
        (30 * DAY + 0.001, "dangling"),
        (-5 * MINUTE, "granted"),
        (-5 * MINUTE - 0.001, "dangling"),
    ],
    ids=["same moment", "30 days", "over 30 days", "5 min before", "over 5 min before"],
)
def test_a_claim_holds_from_five_minutes_before_its_retrieval_to_thirty_days_after(seconds, expected):
    """Both bounds belong to it: skew on one side, the horizon on the other."""
    record = event(retrieval(seconds=1000))
    assert grade(record, offer("a1", seconds=1000 + seconds))[0] == expected


def test_what_was_never_logged_is_dangling_even_with_an_empty_claim():
    """Nothing stands on an unknown retrieval."""
    assert grade(None, offer()) == ("dangling", ())


# --- user evidence ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "positive"),
    [
        *((verb, {"strict", "standard", "broad"}) for verb in ("export", "share", "download")),
        *((verb, {"standard", "broad"}) for verb in ("select", "place", "edit", "follow_up")),
        *((verb, {"broad"}) for verb in ("click", "helpful", "pin")),
        *((verb, set()) for verb in ("reject", "correct", "not_helpful")),
    ],
)
def test_a_users_action_is_positive_by_the_definitions_that_name_it(verb, positive):
    """U, by each definition apart."""
    found = verdict(listed("a1"), offer("a1", verb=verb))
    assert {name for name, holds in found.positive.items() if holds} == positive
    assert not found.agent_consumed and not found.delegated


def test_a_positive_counts_before_the_answer_was_shown_too():
    """U has no bound: the user may have seen more than was logged."""
    assert verdict(listed("a1"), offer("a1", seconds=5), shown=at(100)).positive["standard"]


def test_an_agents_action_is_never_positive():
    """The same verb by the agent makes no U."""
    assert verdict(listed("a1"), offer("a1", verb="export", actor="agent")).positive == USER


@pytest.mark.parametrize("reason", ["wrong_object", "wrong_path", "whim", None])
def test_a_rejection_is_a_failure_whatever_its_reason(reason):
    """F is the same for every definition."""
    found = verdict(listed("a1"), offer("a1", verb="reject"))
    assert (found.signals, found.failed, found.positive) == (("rejected",), True, USER)
    assert all(found.evidenced(name) for name in USER)


def test_a_correction_is_neither_a_failure_nor_evidence():
    """It is counted apart, and leaves the retrieval unobserved."""
    found = verdict(listed("a1"), offer("a1", verb="correct"))
    assert (found.corrected, found.failed) == (True, False)
    assert not any(found.evidenced(name) for name in USER)


def test_not_helpful_is_neither_a_failure_nor_evidence():
    """Feedback on an answer says nothing of the retrieval."""
    found = verdict(listed("a1"), offer("a1", verb="not_helpful"))
    assert not found.failed
    assert not found.evidenced("broad")


def test_an_agents_rejection_is_no_failure():
    """Only the user's is, and only the user corrects."""
    found = verdict(listed("a1"), *(offer("a1", verb=verb, actor="agent") for verb in ("reject", "correct")))
    assert (found.failed, found.corrected) == (False, False)


# --- agent evidence ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "shown", "kind"),
    [
        ({}, None, "A"),
        ({"seconds": 100}, at(101), "A"),
        ({"seconds": 100}, at(100), "A"),
        ({"seconds": 100}, at(99.999), "D"),
        ({"request_id": "q2"}, None, "D"),
        ({"request_id": "q2"}, at(500), "D"),
        ({"request_id": None}, None, "D"),
    ],
    ids=["no show", "before", "same moment", "after", "another request", "another, before", "no request"],
)
def test_an_agent_consumes_for_its_own_request_until_the_answer_was_shown(fields, shown, kind):
    """At the very moment of the show it is still A; otherwise it is delegated use."""
    found = verdict(listed("a1"), offer("a1", verb="use", actor="agent", **fields), shown=shown)
    assert (found.agent_consumed, found.delegated) == (kind == "A", kind == "D")
    assert all(found.evidenced(name) for name in USER)


def test_a_retrieval_without_request_is_consumed_in_the_request_of_its_own_name():
    """Its request is its retrieval_id."""
    record = event(retrieval("r1", request_id=None))
    assert verdict(record, offer("a1", verb="use", actor="agent", request_id="r1")).agent_consumed
    assert verdict(record, offer("a1", verb="use", actor="agent", request_id="q1")).delegated


def test_the_verbs_of_the_agents_evidence_are_those_of_the_contract():
    """Select, edit, use, generate, place, export, share and download; no other is evidence."""
    assert {"select", "edit", "use", "generate", "place", "export", "share", "download"} == AGENT_EVIDENCE
    for verb in ("click", "show", "follow_up", "helpful", "pin"):
        found = verdict(listed("a1"), offer("a1", verb=verb, actor="agent"))
        assert not any(found.evidenced(name) for name in USER)
        assert [one.kind for one in found.evidence] == ["other"]


def test_a_retrieval_can_be_consumed_and_used_by_delegation_at_once():
    """A and D, U and F do not exclude each other."""
    found = verdict(
        listed("a1"),
        offer("a1", verb="use", seconds=10, actor="agent"),
        offer("a1", verb="use", seconds=30, actor="agent"),
        offer("a1", verb="export", seconds=40),
        offer("a1", verb="reject", seconds=50),
        shown=at(20),
    )
    assert (found.agent_consumed, found.delegated, found.failed) == (True, True, True)
    assert found.positive["strict"]
    assert [one.kind for one in found.evidence] == ["agent", "delegated", "user", "rejected"]


def test_what_is_not_granted_is_evidence_of_nothing():
    """A refuted claim credits nothing, of whatever verb."""
    verbs = ("export", "reject", "correct", "click")
    found = verdict(
        listed("a1"), *(offer("a9", verb=verb) for verb in verbs), offer("a9", verb="use", actor="agent")
    )
    assert found.evidence == ()
    assert (found.positive, found.failed, found.corrected, found.delegated) == (USER, False, False, False)


def test_without_offers_there_is_no_evidence():
    """Unobserved or pending is the absence of all this, and decided by whoever reads."""
    found = verdict(listed("a1"))
    assert (found.evidence, found.ranks, found.signals) == ((), {}, ())


# --- ranks ------------------------------------------------------------------------------------------


def test_the_rank_is_the_first_position_in_the_list():
    """Positions count from 1, null elements included, and a repeated asset stands at its first."""
    record = listed(None, "a2", "a1", "a2", "a1")
    assert verdict(record, offer("a1"), offer("a2", seconds=130)).ranks == {"a1": 3, "a2": 2}


def test_an_asset_that_is_not_in_the_list_has_the_smallest_rank_of_its_ancestors():
    """Its own position comes first, even if an ancestor's is better."""
    record = listed("old", "a1", "base")
    assert verdict(record, offer("new", "base", "old")).ranks == {"new": 1}
    assert verdict(record, offer("a1", "old")).ranks == {"a1": 2}


def test_what_was_consumed_counts_and_not_what_the_claim_was_tested_with():
    """A copy of another asset is consumed itself; its original only proves where it came from."""
    assert verdict(listed("a1", "a2"), offer("a1", consumed=("a2", "a1"))).ranks == {"a2": 2}
    assert verdict(listed("a1"), offer("a1", consumed=("a9",))).ranks == {}


def test_the_ancestors_of_several_uses_of_one_asset_are_put_together():
    """The best that any use of it knows."""
    record = listed("x", "y")
    offers = offer("new", "y"), offer("new", "x", seconds=130)
    assert verdict(record, *offers).ranks == {"new": 1}


@pytest.mark.parametrize(
    ("record", "asset"),
    [(event(retrieval(returned=None)), "a1"), (listed("a2", None), "a1"), (listed("a1"), None)],
    ids=["no list", "in no position", "no asset"],
)
def test_an_asset_in_no_position_has_no_rank(record, asset):
    """It is consumed, and not counted among the ranked."""
    found = verdict(record, offer(*([asset] if asset else [])))
    assert found.positive["standard"]
    assert found.ranks == {}


@pytest.mark.parametrize(
    ("verb", "actor", "ranked"),
    [
        ("select", "user", True),
        ("click", "user", False),
        ("helpful", "user", False),
        ("reject", "user", False),
        ("use", "agent", True),
        ("click", "agent", False),
    ],
)
def test_a_rank_is_of_what_was_used(verb, actor, ranked):
    """By a user as `standard` has it, or by the agent, A or D; a click is no use."""
    assert bool(verdict(listed("a1"), offer("a1", verb=verb, actor=actor)).ranks) is ranked


def test_use_by_another_definition_of_standard_is_ranked_by_that():
    """Ranks read the definition that is called standard, whatever a deployment made of it."""
    semantics = Semantics(definitions=(Definition("standard", 2, actions=("click",)),))
    assert verdict(listed("a1"), offer("a1", verb="click"), semantics=semantics).ranks == {"a1": 1}
    assert verdict(listed("a1"), offer("a1", verb="select"), semantics=semantics).ranks == {}


def test_evidence_comes_in_the_order_of_its_time_and_name():
    """Whatever was offered first."""
    offers = [offer("a1", seconds=9, id="b"), offer("a1", seconds=9, id="a"), offer("a1", seconds=8, id="c")]
    assert [one.act.id for one in verdict(listed("a1"), *offers).evidence] == ["c", "a", "b"]


# --- signals ----------------------------------------------------------------------------------------

LATER = 60


@pytest.mark.parametrize(
    ("verb", "fields", "fails"),
    [
        ("select", {"seconds": LATER - 0.001}, False),
        ("select", {"seconds": LATER}, False),
        ("select", {"seconds": LATER + 0.001}, True),
        ("click", {"seconds": 9}, True),
        ("correct", {"seconds": 9}, True),
        ("use", {"seconds": 9, "actor": "agent"}, False),
        ("use", {"seconds": LATER, "actor": "agent"}, False),
        ("use", {"seconds": 9, "actor": "agent", "request_id": "q9"}, True),
    ],
    ids=[
        "before", "at the very moment", "after", "click", "correction", "agent", "agent at the moment",
        "delegated",
    ],
)  # fmt: skip
@pytest.mark.parametrize("hint", ["by_need", "by_words", "reformulated"])
def test_a_search_is_repeated_in_vain_only_until_it_was_used(hint, verb, fields, fails):
    """U by `standard` or A at or before that time; delegated use does not save it."""
    found = verdict(listed("a1"), offer("a1", verb=verb, **fields), hints=Hints(**{hint: (at(LATER),)}))
    signal = "researched_inferred" if hint == "by_words" else "researched"
    assert found.signals == ((signal,) if fails else ())


def test_one_second_search_before_the_use_is_enough():
    """Of several the earliest decides."""
    use = offer("a1", verb="select", seconds=60)
    assert verdict(listed("a1"), use, hints=Hints(by_need=(at(59), at(90)))).failed
    assert not verdict(listed("a1"), use, hints=Hints(by_need=(at(60), at(90)))).failed


@pytest.mark.parametrize(("used", "fails"), [(59, False), (60, False), (61, True)])
def test_a_page_that_was_used_in_time_saves_it(used, fails):
    """The earlier of the page's use and its own counts."""
    hints = Hints(by_need=(at(60),), page_used_at=at(used))
    assert verdict(listed("a1"), hints=hints).failed is fails
    assert verdict(listed("a1"), offer("a1", verb="select", seconds=90), hints=hints).failed is fails


@pytest.mark.parametrize(
    ("seconds", "fails"),
    [
        (-5 * MINUTE, True),
        (-5 * MINUTE - 0.001, False),
        (0, True),
        (30 * DAY, True),
        (30 * DAY + 0.001, False),
    ],
)
def test_a_named_reformulation_counts_from_five_minutes_before_to_thirty_days_after(seconds, fails):
    """Both bounds belong to it."""
    assert verdict(listed("a1"), hints=Hints(reformulated=(at(seconds),))).failed is fails


@pytest.mark.parametrize(
    ("role", "returned", "fails"),
    [
        *((role, ("a1",), True) for role in ("act_on", "generation_reference", "task_step")),
        *((role, ("a1",), False) for role in ("direct_lookup", "browse", "contextual", "sing", None)),
        ("act_on", (), False),
    ],
)
def test_substitution_is_a_failure_of_roles_that_take_from_a_list_with_something_in_it(role, returned, fails):
    """Whatever the request says."""
    found = verdict(listed(*returned, role=role), hints=Hints(substituted=True))
    assert found.signals == (("substituted",) if fails else ())
    assert not verdict(listed(*returned, role=role)).failed


def test_the_shadow_signal_is_no_failure_unless_it_is_configured_to_count():
    """It is told in both."""
    hints = Hints(by_words=(at(9),))
    shadow = verdict(listed("a1"), hints=hints)
    counted = verdict(listed("a1"), hints=hints, semantics=Semantics(inferred_research="count"))
    assert shadow.signals == counted.signals == ("researched_inferred",)
    assert (shadow.failed, counted.failed) == (False, True)
    assert (shadow.evidenced("strict"), counted.evidenced("strict")) == (False, True)


def test_the_first_use_is_the_earliest_of_standard_and_agent():
    """A click and a delegated use are none."""
    record = listed("a1")
    offers = [
        offer("a1", verb="click", seconds=1),
        offer("a1", verb="use", seconds=2, actor="agent", request_id="q9"),
        offer("a1", verb="use", seconds=4, actor="agent"),
        offer("a1", verb="select", seconds=3),
    ]
    evidence = evidence_of(record, offers, None)
    assert used_at(evidence, DEFAULT.standard) == at(3)
    assert used_at(evidence[:2], DEFAULT.standard) is None


# --- Layers 1 and 3 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "fields", "intents", "null"),
    [
        ((), {}, None, True),
        ((), {}, 1, True),
        ((), {}, 0, False),
        ((), {"page_of": "r0"}, None, False),
        ((None,), {}, None, False),
    ],
    ids=["null", "needed", "misrouted", "page", "no ids"],
)
def test_a_null_result_is_an_empty_list_of_layer_1(returned, fields, intents, null):
    """A misrouted one and an empty page are none."""
    assert verdict(listed(*returned, **fields), hints=Hints(intents=intents)).null is null


@pytest.mark.parametrize(
    ("record", "intents", "scored"),
    [
        (listed("a1"), None, True),
        (listed("a1"), 0, False),
        (listed("a1", page_of="r0"), None, False),
        (event(retrieval(returned=None)), None, False),
        (listed(None), None, False),
    ],
    ids=["listed", "misrouted", "page", "not logged", "no ids"],
)
def test_a_list_is_scored_in_layer_1_and_pages_are_not(record, intents, scored):
    """Misrouted retrievals are outside it."""
    found = verdict(record, hints=Hints(grades={"a1": 1}, intents=intents))
    assert (found.scores is not None) is scored
    assert found.ndcg_at_10 == (1_000_000_000 if scored else None)


def test_an_outcome_is_what_a_user_took_away():
    """A refuted export took nothing of it, and an agent's is none."""
    assert verdict(listed("a1"), offer("a1")).outcome
    assert not verdict(listed("a1"), offer("a9")).outcome
    assert not verdict(listed("a1"), offer("a1", actor="agent")).outcome
    assert not verdict(listed("a1"), offer("a1", verb="select")).outcome


def test_the_goal_is_what_was_labelled():
    """No evidence takes its place."""
    assert verdict(listed("a1"), offer("a1")).goal is None
    assert verdict(listed("a1"), hints=Hints(goal=0)).goal == 0


def test_clicks_of_users_are_counted_each():
    """Those of an agent, and those of another asset, are not."""
    offers = [offer("a1", verb="click", seconds=n) for n in (1, 2)]
    agents = offer("a1", verb="click", seconds=3, actor="agent")
    assert verdict(listed("a1"), *offers, agents, offer("a9", verb="click", seconds=4)).clicks == 2


def test_consumed_is_what_was_used_of_any_list_with_its_ancestors():
    """By id; a click, a reject and what was refuted consumed nothing, and no list need be known."""
    offers = [offer("b", "c"), offer("a", verb="select", seconds=9), offer("d", verb="click", seconds=10)]
    found = verdict(listed(None), *offers, offer("e", verb="reject", seconds=11))
    assert consumed(found.evidence, DEFAULT.standard) == {"a": set(), "b": {"c"}}
    assert list(consumed(found.evidence, DEFAULT.standard)) == ["a", "b"]
    refuted = verdict(listed("a1"), offer("a9"))
    assert consumed(refuted.evidence, DEFAULT.standard) == {}
