"""What the world is told: attributions, outcomes, and records that lost their identity."""

import pytest

from attribution.entities import NOBODY
from attribution.outputs import (
    Attribution,
    Credit,
    Outcome,
    Withdrawn,
    conflicts,
    of_action,
    of_request,
    of_retrieval,
)
from attribution.statements import (
    Answer,
    Decision,
    Excluded,
    Graded,
    Label,
    Offer,
    Researched,
    Route,
    Routed,
    Shown,
)
from tests.building import DEFAULT, act, at, entity, event, prompt, retrieval, user

ROUTE = Route(("a1",), ("a2", "a1"), ("p2", "p1"))


def offered(verb="export", **fields):
    action = act(verb, **{"asset_id": "a2", "document_id": "d1", **fields})
    return [("document:d1", action.id, Offer(action, "inherited", (ROUTE,)))]


# --- attributions -----------------------------------------------------------------------------------


def test_a_resolved_action_is_announced_with_all_that_it_credits():
    """Under its own id."""
    sent = user("export", document_id="d1", consumed_asset_id="a1")
    told = entity(
        sent,
        decision=[("document:d1", "x", Decision("inherited", ("r1",)))],
        answer=[("retrieval:r1", "x", Answer("granted", "s2"))],
    )
    (output,) = of_action("x", told, DEFAULT)
    assert (output.topic, output.key) == ("attributions", "x")
    assert output.record == Attribution(
        action_id="x", ts=at(120), actor="user", action="export", resolution="inherited", retrieval_ids=("r1",),
        named_retrieval_ids=("r1",), cross_session=True, session_guid="s1", document_id="d1", consumed_asset_id="a1",
    )  # fmt: skip


def test_an_action_that_waits_for_an_answer_is_not_announced():
    """What is announced was true of all that had arrived."""
    told = entity(
        user("export", document_id="d1"), decision=[("document:d1", "x", Decision("document", ("r1",)))]
    )
    assert of_action("x", told, DEFAULT) == []


def test_an_excluded_action_says_so():
    """The figures no longer hold what may have been said before."""
    (output,) = of_action("x", entity(user("export", synthetic=True)), DEFAULT)
    assert (output.record.resolution, output.record.retrieval_ids) == ("excluded", ())


def test_an_action_that_is_none_any_more_is_withdrawn():
    """Its placement turned out to be placed first by nobody: the decision was taken back."""
    told = entity(
        decision=[("document:d1", "x", None)], answer=[("retrieval:r1", "x", Answer("granted", "s1"))]
    )
    (output,) = of_action("x", told, DEFAULT)
    assert (output.topic, output.key, output.record) == ("attributions", "x", Withdrawn(action_id="x"))
    assert of_action("x", NOBODY, DEFAULT) == []


def test_an_action_whose_record_has_yet_to_come_is_not_withdrawn():
    """Its request told it already that it is excluded; nothing was ever said of it."""
    told = entity(request_excluded=[("request:q1", "action:x", Excluded())])
    assert of_action("x", told._replace(version=7), DEFAULT) == []


def test_an_action_of_lost_state_is_withdrawn():
    """It was given a version, and nothing is known of it any more."""
    (output,) = of_action("x", NOBODY._replace(version=7), DEFAULT)
    assert output.record == Withdrawn(action_id="x")


# --- outcomes ---------------------------------------------------------------------------------------


def test_an_outcome_is_the_whole_state_of_a_retrieval():
    """Its record, every definition, all evidence with rule, kind and placements, and the ranks."""
    sent = retrieval(role="act_on", surface="moon", query="card", request_id="q1", returned=["a0", "a1"])
    told = entity(sent, offer=offered(), shown=[("request:q1", "", Shown(at(5)))])
    (output,) = of_retrieval("r1", told, DEFAULT)
    assert (output.topic, output.key) == ("outcomes", "r1")
    assert output.record == Outcome(
        retrieval_id="r1", ts=at(0), session_guid="s1", request_id="q1", role="act_on", surface="other", query="card",
        returned_asset_ids=("a0", "a1"), positive={"strict": True, "standard": True, "broad": True}, ranks={"a2": 2},
        diagnosis="unjudged", completed=True,
        credits=(
            Credit(
                action_id="x", ts=at(120), actor="user", action="export", resolution="inherited", evidence="user",
                consumed_asset_ids=("a2",), placement_ids=("p2", "p1"),
            ),
        ),
    )  # fmt: skip


def test_an_outcome_holds_agent_use_failures_and_corrections():
    """Each under its own name."""
    many = [
        *offered("use", id="1", actor="agent"),
        *offered("use", id="2", actor="agent", request_id="q9"),
        *offered("reject", id="3"),
        *offered("correct", id="4"),
    ]
    (output,) = of_retrieval("r1", entity(retrieval(request_id="q1"), offer=many), DEFAULT)
    record = output.record
    assert (record.agent_consumed, record.delegated, record.corrected) == (True, True, True)
    assert record.failure_signals == ("rejected",)
    assert [one.evidence for one in record.credits] == ["agent", "delegated", "rejected", "corrected"]


def test_an_outcome_holds_what_labels_say():
    """NDCG as a share, misrouted, and the goal; absent where nobody judged."""
    sent = retrieval(request_id="q1", returned=["a9", "a1"])
    grades = [("judgement:j", "", Graded("a1", True, at(0), 1))]
    goal = [("judgement:g", "", Label("goal", True, at(0), 0))]
    (output,) = of_retrieval("r1", entity(sent, grade=grades, label=goal), DEFAULT)
    record = output.record
    assert (record.ndcg_at_10, record.diagnosis, record.goal_reached) == (0.630929754, "unused", False)
    assert (record.misrouted, record.completed) == (False, False)
    routed = [("request:q1", "", Routed(0))]
    (output,) = of_retrieval("r1", entity(sent, grade=grades, routed=routed), DEFAULT)
    record = output.record
    assert (record.misrouted, record.ndcg_at_10, record.diagnosis) == (True, None, "unjudged")
    assert record.goal_reached is None


def test_an_outcome_names_every_signal_and_says_whether_they_make_a_failure():
    """The shadow signal is named and makes none."""
    words = [("conversation:s1", "", Researched((), (at(9),)))]
    need = [("conversation:s1", "", Researched((at(9),), (at(9),)))]
    (shadow,), (failed,) = (
        of_retrieval("r1", entity(retrieval(), researched=said), DEFAULT) for said in (words, need)
    )
    assert (shadow.record.failed, shadow.record.failure_signals) == (False, ("researched_inferred",))
    assert (failed.record.failed, failed.record.failure_signals) == (
        True,
        ("researched", "researched_inferred"),
    )


def test_an_excluded_retrieval_says_only_that_it_is():
    """None of its facts is published."""
    excluded = [("request:q1", "retrieval:r1", Excluded())]
    told = entity(retrieval(request_id="q1", query="card"), request_excluded=excluded, offer=offered())
    (output,) = of_retrieval("r1", told, DEFAULT)
    assert output.record == Outcome(retrieval_id="r1", excluded=True)


def test_a_retrieval_that_was_never_logged_has_no_outcome():
    """A claim alone makes none."""
    assert of_retrieval("r1", entity(offer=offered()), DEFAULT) == []


# --- lost identities --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({}, {}, False),
        ({}, {"query": "card"}, False),
        ({}, {"event_id": "e2"}, True),
        ({}, {"event_id": "e2", "query": "card"}, True),
        ({}, {"event_id": None}, True),
        ({"event_id": None}, {"event_id": None, "query": "card"}, False),
    ],
    ids=[
        "same",
        "same event, other content",
        "other event",
        "other event and content",
        "one without",
        "both without",
    ],
)
def test_another_event_under_the_same_identity_is_a_conflict(one, other, expected):
    """Another event_id and another digest; a copy of the same event is not."""
    first, second = event(retrieval(**one)), event(retrieval(**other))
    assert conflicts(second, first) is expected
    assert conflicts(first, second) is expected


def letters(outputs):
    return {
        (one.key, one.record.reason, one.record.event_id) for one in outputs if one.topic == "deadletters"
    }


def test_a_retrieval_that_lost_its_id_is_a_dead_letter_with_both_digests():
    """It names type, id and time, and the record that stands."""
    first, second = retrieval(seconds=1), retrieval(seconds=2, event_id="e2")
    output = of_retrieval("r1", entity(first, second), DEFAULT)[1]
    lost, standing = event(second), event(first)
    record = output.record
    assert output.key == f"retrieval:r1:{lost.digest.hex()}"
    assert (record.reason, record.type, record.id, record.ts) == (
        "retrieval_id_reused",
        "retrieval",
        "r1",
        at(2),
    )
    assert (record.digest, record.standing_digest) == (lost.digest.hex(), standing.digest.hex())
    assert record.event_id == "e2"


def test_a_prompt_that_lost_its_request_is_a_dead_letter():
    """With its own reason."""
    outputs = of_request("q1", entity(prompt(seconds=1), prompt(seconds=2, event_id="e2")), DEFAULT)
    assert {reason for _, reason, _ in letters(outputs)} == {"request_id_reused"}


def test_copies_of_one_event_are_no_dead_letters():
    """Sent again with other content, the same event is a duplicate."""
    assert letters(of_retrieval("r1", entity(retrieval(), retrieval(query="card")), DEFAULT)) == set()
    assert of_request("q1", entity(prompt()), DEFAULT) == []
    assert of_request("q1", entity(), DEFAULT) == []


def test_once_there_is_a_conflict_every_record_that_does_not_stand_is_listed():
    """A copy of the standing one as `duplicate`: it may have been called a conflict before."""
    sent = [retrieval(seconds=1), retrieval(seconds=2), retrieval(seconds=3, event_id="e2")]
    found = {
        (reason, event_id) for _, reason, event_id in letters(of_retrieval("r1", entity(*sent), DEFAULT))
    }
    assert found == {("duplicate", "e-r1"), ("retrieval_id_reused", "e2")}


def test_an_excluded_retrieval_lists_its_conflicts_too():
    """Exclusion hides the facts, not the mistake."""
    sent = [retrieval(seconds=1, synthetic=True), retrieval(seconds=2, event_id="e2")]
    assert [one.topic for one in of_retrieval("r1", entity(*sent), DEFAULT)] == ["outcomes", "deadletters"]
