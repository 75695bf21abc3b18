"""Judgements: whom they are told, and which of several labels holds."""

from itertools import permutations

import pytest

from attribution.labels import best, best_grades, labels_of, query_key, speak_judgement, speak_query
from attribution.retrievals import verdict_of
from attribution.semantics import Exclusion, Semantics
from attribution.statements import Address, Asks, Excluded, Goal, Graded, Grades, Label, Routed
from tests.building import DAY, DEFAULT, at, entity, judgement, retrieval, settle

HUMAN, LLM = True, False


def told(sent, **others):
    return speak_judgement("e", entity(sent, **others), DEFAULT)


def grade(asset, seconds, value, human=HUMAN):
    return Graded(asset, human, at(seconds), value)


# --- whom a judgement is told -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "receiver", "topic", "content"),
    [
        (
            judgement("relevance", retrieval_id="r1", asset_id="a1", grade=2),
            *("retrieval:r1", "grade", Graded("a1", HUMAN, at(0), 2)),
        ),
        (
            judgement("relevance", query="Red  card", asset_id="a1", grade=-1),
            *(query_key("red card"), "grade", Graded("a1", HUMAN, at(0), -1)),
        ),
        (
            judgement("relevance", retrieval_id="r1", query="card", asset_id="a1", grade=0, judge="gpt"),
            *("retrieval:r1", "grade", Graded("a1", LLM, at(0), 0)),
        ),
        (
            judgement("intent", request_id="q1", retrieval_intents=0),
            *("request:q1", "label", Label("intent", HUMAN, at(0), 0)),
        ),
        (
            judgement("goal", request_id="q1", reached=False),
            *("request:q1", "label", Label("goal", HUMAN, at(0), 0)),
        ),
        (
            judgement("goal", retrieval_id="r1", reached=True, judge="llm"),
            *("retrieval:r1", "label", Label("goal", LLM, at(0), 1)),
        ),
        (
            judgement("goal", retrieval_id="r1", request_id="q1", reached=True, judge="human"),
            *("retrieval:r1", "label", Label("goal", HUMAN, at(0), 1)),
        ),
    ],
    ids=["retrieval", "query", "retrieval and query", "intent", "goal of a request", "goal", "goal of both"],
)
def test_a_judgement_is_told_to_what_it_is_about(sent, receiver, topic, content):
    """The retrieval where one is named, else its query or request; who does not say so is human."""
    assert told(sent) == {Address(receiver, topic, ""): content}


def test_an_excluded_judgement_tells_nobody():
    """By itself, by a rule, or by the request it names."""
    sent = judgement("goal", request_id="q1", reached=True)
    rules = Semantics(exclusion=Exclusion(session_prefixes=("s",)))
    assert told({**sent, "synthetic": True}) == {}
    assert told(sent, request_excluded=[("request:q1", "judgement:e", Excluded())]) == {}
    assert speak_judgement("e", entity(sent), rules) == {}
    assert speak_judgement("e", entity(), DEFAULT) == {}


def test_of_two_records_of_one_judgement_the_first_speaks():
    """The earlier one stands."""
    first = judgement("goal", request_id="q1", reached=True)
    later = {**first, "ts": at(5), "request_id": "q2"}
    (address,) = speak_judgement("e", entity(later, first), DEFAULT)
    assert address.receiver == "request:q1"


# --- which label holds ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], None),
        ([(LLM, 9, 5), (HUMAN, 1, 0)], 0),
        ([(HUMAN, 1, 5), (HUMAN, 2, 0)], 0),
        ([(HUMAN, 2, 0), (HUMAN, 2, 1)], 1),
        ([(LLM, 1, 0), (LLM, 2, 3), (LLM, 2, 2)], 3),
    ],
    ids=["none", "human over llm", "newest", "higher", "all llm"],
)
def test_a_human_beats_a_model_then_the_newest_then_the_higher(labels, expected):
    """In whatever order they are heard, for intents and goals as for grades."""
    for order in permutations(labels):
        assert best(Label("goal", human, at(ts), value) for human, ts, value in order) == expected
        found = best_grades(Graded("a1", human, at(ts), value) for human, ts, value in order)
        assert found == ({} if expected is None else {"a1": expected})


def test_each_asset_has_its_own_label():
    """A human's word on one says nothing of another."""
    found = best_grades([grade("b", 0, 1), grade("a", 0, 2, LLM), grade("a", 0, 0, HUMAN)])
    assert list(found.items()) == [("a", 0), ("b", 1)]


def test_labels_are_told_apart_by_their_kind():
    """An intent is no goal."""
    one, other = Label("intent", HUMAN, 0, 2), Label("goal", HUMAN, 0, 1)
    found = entity(label=[("judgement:a", "", one), ("judgement:b", "", other), ("judgement:c", "", None)])
    assert (labels_of(found, "intent"), labels_of(found, "goal")) == ([one], [other])


# --- labels of a query ------------------------------------------------------------------------------


def test_queries_that_are_the_same_are_one_entity():
    """NFKC, case and white space make no other, and a long one no longer key."""
    assert query_key(" Ｒed\n CARD ") == query_key("red card") != query_key("card red")
    assert len(query_key("x" * 100_000)) == len(query_key("x"))


@pytest.mark.parametrize(
    ("seconds", "holds"),
    [
        (-30 * DAY, True),
        (-30 * DAY - 0.001, False),
        (-1, True),
        (0, True),
        (500 * DAY, True),
    ],
    ids=["30 days before", "over 30 days before", "before", "same moment", "any time after"],
)
def test_a_label_of_a_query_holds_for_what_fired_thirty_days_before_it_or_later(seconds, holds):
    """The retrieval's time against the label's; whichever came first does not matter."""
    found = entity(
        asks=[("retrieval:r1", "", Asks(at(seconds)))], grade=[("judgement:j", "", grade("a", 0, 2))]
    )
    said = speak_query("query:x", found, DEFAULT)
    expected = {Address("retrieval:r1", "query_grades", ""): Grades((("a", 2),))}
    assert said == (expected if holds else {})


def test_a_label_that_is_too_new_for_a_retrieval_leaves_the_older_one_in_force():
    """What does not hold for it does not beat what does, not even a human's."""
    labels = [("judgement:1", "", grade("a", 0, 3, LLM)), ("judgement:2", "", grade("a", 31 * DAY, 1))]
    asks = [("retrieval:old", "", Asks(at(0))), ("retrieval:new", "", Asks(at(2 * DAY)))]
    said = speak_query("query:x", entity(asks=asks, grade=labels), DEFAULT)
    assert {address.receiver: content.grades for address, content in said.items()} == {
        "retrieval:old": (("a", 3),),
        "retrieval:new": (("a", 1),),
    }


# --- at the retrieval -------------------------------------------------------------------------------


def verdict(sent, **heard):
    return verdict_of(entity(sent, **heard), DEFAULT)


CARD = retrieval(returned=["a1", "a2"], query="card", request_id="q1")


def test_a_retrievals_own_label_beats_its_querys():
    """Even a model's of long ago a human's of today; the query still labels the other assets."""
    by_query = [(query_key("card"), "", Grades((("a1", 3), ("a2", 1))))]
    own = [("judgement:j", "", grade("a1", 0, 0, LLM))]
    found = verdict(CARD, query_grades=by_query, grade=own)
    assert found.scores.precision[5] == 200_000_000
    assert found.scores.reciprocal_rank == 500_000_000


def test_what_another_query_says_does_not_count():
    """The standing record may have changed its query."""
    stale = [(query_key("poster"), "", Grades((("a1", 3),)))]
    assert verdict(CARD, query_grades=stale).scores is None


def test_the_own_goal_label_beats_the_requests():
    """Whoever judged it; what another request says does not count."""
    goal = [("request:q1", "", Goal(1)), ("request:q9", "", Goal(0))]
    assert verdict(CARD, goal=goal).goal == 1
    assert verdict(CARD, goal=goal[1:]).goal is None
    own = [("judgement:j", "", Label("goal", LLM, at(0), 0))]
    assert verdict(CARD, goal=goal, label=own).goal == 0


def test_intents_are_those_of_its_own_request():
    """A request that it no longer names has no say."""
    routed = [("request:q1", "", Routed(2)), ("request:q9", "", Routed(0))]
    assert verdict(CARD, routed=routed).intents == 2
    assert verdict(CARD, routed=routed[1:]).intents is None


def test_a_query_label_reaches_every_retrieval_in_every_order_of_arrival():
    """Label first or last, the figure is the same."""
    sent = (
        judgement("relevance", query="CARD", asset_id="a2", grade=1),
        retrieval("r1", ["a1", "a2"], 10, query="card"),
        retrieval("r2", ["a2"], 20, query=" card "),
        retrieval("r3", ["a2"], 30, query="cards"),
    )
    for order in permutations(sent):
        found = settle(*order, one_by_one=True)
        assert found.figure("lara_judged_retrievals") == 2
        assert found.figure("lara_mrr") == 0.75
