"""Scores of a returned list: every rule by hand, and against trec_eval where the definitions are the same."""

import random
from math import log2

import pytest
import pytrec_eval

from attribution.ranking import BILLION, Scores, scores
from attribution.semantics import Semantics
from tests.building import judgement, retrieval, settle


def share(part, whole):
    return round(BILLION * part / whole)


# --- what is scored ---------------------------------------------------------------------------------


def test_a_list_is_judged_if_it_has_a_label_and_an_id_or_nothing_at_all():
    """Without labels, or with elements but no id, there is nothing to say."""
    assert scores(["a"], {}) is None
    assert scores([None, None], {"a": 1}) is None
    assert scores([], {}) is None
    assert scores([], {"a": 1}) is not None
    assert scores([None, "b"], {"a": 1}) is not None


def test_an_empty_list_has_every_score_0():
    """It could have held what is relevant."""
    assert scores([], {"a": 1}) == Scores({1: 0, 5: 0, 10: 0}, {5: 0, 10: 0}, {5: 0, 10: 0}, {5: 0, 10: 0}, 0)


@pytest.mark.parametrize("grades", [{"a": 0}, {"a": -3, "b": 0}])
def test_without_a_relevant_label_there_is_only_precision_and_coverage(grades):
    """0/0 is absent, not 0."""
    found = scores(["a", "b"], grades)
    assert not found.ranked
    assert (found.precision[1], found.recall, found.ndcg, found.reciprocal_rank) == (0, {}, {}, None)


def test_a_relevant_asset_that_was_not_returned_gives_0_and_not_absent():
    """The ideal and the divisor of recall come from all labels."""
    found = scores(["x"], {"a": 2})
    assert found.ranked
    assert (found.recall[10], found.ndcg[10], found.reciprocal_rank) == (0, 0, 0)
    half = scores(["a"], {"a": 1, "b": 1})
    assert half.recall[5] == BILLION // 2
    assert half.ndcg[5] == share(1, 1 + 1 / log2(3))


# --- precision, recall, reciprocal rank, coverage ---------------------------------------------------


def test_k_stays_the_divisor_of_precision():
    """One relevant asset in a list of one is 1 of 1, 1 of 5 and 1 of 10."""
    assert scores(["a"], {"a": 1}).precision == {1: BILLION, 5: BILLION // 5, 10: BILLION // 10}


def test_relevant_is_a_grade_of_one_or_more():
    """0 and less are labels, and not relevant."""
    found = scores(["z", "n", "a"], {"z": 0, "n": -1, "a": 1})
    assert (found.precision[1], found.precision[5]) == (0, BILLION // 5)
    assert found.reciprocal_rank == share(1, 3)


def test_a_repeated_asset_earns_at_its_first_position_only():
    """It takes a place, and nothing more; NDCG cannot be above 1."""
    found = scores(["a", "a", "a"], {"a": 1})
    assert found.precision == {1: BILLION, 5: BILLION // 5, 10: BILLION // 10}
    assert (found.recall[5], found.ndcg[5], found.reciprocal_rank) == (BILLION, BILLION, BILLION)
    later = scores(["x", "a", "a"], {"a": 1})
    assert (later.ndcg[10], later.precision[5]) == (630_929_754, BILLION // 5)
    pushed = scores(["a", "a", "b"], {"a": 1, "b": 1})
    assert pushed.ndcg[5] == share(1 + 1 / 2, 1 + 1 / log2(3))


def test_ndcg_is_never_above_one_for_random_lists_with_repeats():
    """Whatever is repeated, graded or null."""
    dice = random.Random(7)
    for _ in range(300):
        returned = [dice.choice(["a", "b", "c", "d", None]) for _ in range(dice.randint(0, 14))]
        grades = {asset: dice.randint(-1, 4) for asset in dice.sample("abcdef", dice.randint(1, 6))}
        for linear in (False, True):
            found = scores(returned, grades, linear)
            if found is not None:
                assert all(0 <= value <= BILLION for by_k in found[:4] for value in by_k.values())


def test_a_null_element_keeps_its_position_and_earns_nothing():
    """Something was there, nobody knows what."""
    found = scores([None, None, "a"], {"a": 1})
    assert (found.reciprocal_rank, found.precision[1]) == (share(1, 3), 0)
    assert found.ndcg[5] == BILLION // 2
    assert found.coverage[5] == share(1, 3)


def test_what_lies_beyond_the_cut_is_not_seen():
    """Rank 5 is in 5, rank 6 only in 10, rank 11 in neither, but in MRR."""
    at_6, at_11 = (scores([*"123456789x"[: n - 1], "a"], {"a": 1}) for n in (6, 11))
    assert (at_6.recall, at_6.precision[5]) == ({5: 0, 10: BILLION}, 0)
    assert (at_6.ndcg[5], at_6.ndcg[10]) == (0, share(1, log2(7)))
    assert (at_11.recall[10], at_11.ndcg[10], at_11.reciprocal_rank) == (0, 0, share(1, 11))


def test_the_ideal_is_cut_at_k_too():
    """Six relevant assets cannot all be in the first five."""
    six = dict.fromkeys("abcdef", 1)
    found = scores(list("abcdef"), six)
    assert found.ndcg == {5: BILLION, 10: BILLION}
    assert found.recall[5] == share(5, 6)


@pytest.mark.parametrize(
    ("returned", "grades", "expected"),
    [
        ("abc", "a", (share(1, 3), share(1, 3))),
        ("abcdefghijkl", "abf", (share(2, 5), share(3, 10))),
        ("aab", "a", (share(2, 3), share(2, 3))),
        ("a", "a", (BILLION, BILLION)),
        ("", "a", (0, 0)),
    ],
    ids=["short", "long", "repeat", "one", "empty"],
)
def test_coverage_is_the_labelled_share_of_the_first_min_k_and_length(returned, grades, expected):
    """Positions count, so a repeated labelled asset is covered each time; a grade of 0 is a label."""
    found = scores(list(returned), dict.fromkeys(grades, 0))
    assert (found.coverage[5], found.coverage[10]) == expected


# --- gains ------------------------------------------------------------------------------------------


def test_the_gain_is_two_to_the_grade_less_one_or_the_grade_itself():
    """3 against 1 is 7 to 1, linear 3 to 1."""
    returned, grades = ["b", "a"], {"a": 3, "b": 1}
    assert scores(returned, grades).ndcg[5] == share(1 + 7 / log2(3), 7 + 1 / log2(3))
    assert scores(returned, grades, linear=True).ndcg[5] == share(1 + 3 / log2(3), 3 + 1 / log2(3))


def test_a_grade_below_zero_is_worth_nothing():
    """It takes nothing away, neither from the list nor from the ideal."""
    assert scores(["n", "a"], {"n": -5, "a": 2}).ndcg == scores(["n", "a"], {"n": 0, "a": 2}).ndcg
    assert scores(["a"], {"n": -5, "a": 2}).ndcg[5] == BILLION


def test_a_huge_grade_takes_no_memory_and_is_far_above_all_others():
    """A mistyped grade counts as 60, which no scale that people use reaches."""
    assert scores(["b", "a"], {"a": 10**18, "b": 1}).ndcg[5] == share(1, log2(3))
    assert scores(["b", "a"], {"a": 61, "b": 60}).ndcg[5] == BILLION


def test_grades_of_a_percent_scale_are_told_apart_under_linear_gain():
    """100 is worth more than 80."""
    found = scores(["b", "a"], {"a": 100, "b": 80}, linear=True)
    assert found.ndcg[5] == share(80 + 100 / log2(3), 100 + 80 / log2(3))


def test_the_gain_is_a_setting():
    """The same labels have another mean under linear gain."""
    sent = (
        retrieval("r1", ["b", "a"]),
        judgement("relevance", event_id="1", retrieval_id="r1", asset_id="a", grade=3),
        judgement("relevance", event_id="2", retrieval_id="r1", asset_id="b", grade=1),
    )
    exponential = settle(*sent).figure("lara_ndcg_at_k", k="10")
    linear = settle(*sent, semantics=Semantics(gain="linear")).figure("lara_ndcg_at_k", k="10")
    assert exponential == pytest.approx((1 + 7 / log2(3)) / (7 + 1 / log2(3)))
    assert linear == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


# --- trec_eval --------------------------------------------------------------------------------------

MEASURES = {"P.1,5,10", "recall.5,10", "ndcg_cut.5,10", "recip_rank"}


def trec(returned, grades):
    """What trec_eval says of a list without repeats, in billionths by its own names."""
    run = {asset: float(len(returned) - rank) for rank, asset in enumerate(returned)}
    found = pytrec_eval.RelevanceEvaluator({"q": grades}, MEASURES).evaluate({"q": run})["q"]
    return {name: BILLION * value for name, value in found.items()}


def named(found):
    """Our scores under the names of trec_eval."""
    cuts = {"P": found.precision, "recall": found.recall, "ndcg_cut": found.ndcg}
    by_k = {f"{name}_{k}": value for name, by_cut in cuts.items() for k, value in by_cut.items()}
    return by_k | {"recip_rank": found.reciprocal_rank}


def drawn(dice, lowest=0):
    """A list without repeats, and labels of which at least one is relevant."""
    pool = [f"d{number}" for number in range(20)]
    returned = dice.sample(pool, dice.randint(1, 15))
    grades = {asset: dice.randint(lowest, 4) for asset in dice.sample(pool, dice.randint(1, 12))}
    return returned, grades | {dice.choice(pool): dice.randint(1, 4)}


def same(one, other):
    return one.keys() == other.keys() and all(abs(one[name] - other[name]) <= 1 for name in one)


def test_scores_are_those_of_trec_eval_on_random_judged_lists():
    """P, R, MRR and NDCG with linear gain: short and long lists, labelled and unlabelled assets."""
    dice = random.Random(20260302)
    for _ in range(400):
        returned, grades = drawn(dice)
        assert same(named(scores(returned, grades, linear=True)), trec(returned, grades)), (returned, grades)


def test_the_divisor_k_and_unlabelled_assets_are_those_of_trec_eval():
    """A short list is divided by K there too, and what nobody judged is not relevant."""
    found = trec(["a", "x"], {"a": 1})
    assert found["P_5"] == pytest.approx(BILLION / 5)
    assert same(named(scores(["a", "x"], {"a": 1}, linear=True)), found)
    assert same(found, trec(["a", "x"], {"a": 1, "x": 0}))


def test_a_repeat_is_to_trec_eval_an_unknown_document():
    """A run there holds each document once: what stands again is replaced by one that nobody judged."""
    dice = random.Random(5)
    for _ in range(100):
        returned, grades = drawn(dice)
        repeated = [dice.choice(returned) for _ in returned]
        firsts = [one if one not in repeated[:at] else f"again-{at}" for at, one in enumerate(repeated)]
        assert same(named(scores(repeated, grades, linear=True)), trec(firsts, grades))


def test_a_null_element_is_to_trec_eval_an_unknown_document():
    """It keeps its position there too."""
    nulls = [None, "a", None, "b"]
    unknown = ["null-0", "a", "null-2", "b"]
    grades = {"a": 2, "b": 1, "c": 3}
    assert same(named(scores(nulls, grades, linear=True)), trec(unknown, grades))


def test_a_negative_grade_is_to_trec_eval_a_zero():
    """Both know it as judged and not relevant."""
    dice = random.Random(9)
    for _ in range(100):
        returned, grades = drawn(dice, lowest=-2)
        bounded = {asset: max(grade, 0) for asset, grade in grades.items()}
        assert same(named(scores(returned, grades, linear=True)), trec(returned, bounded))


def test_without_a_relevant_label_trec_eval_says_0_and_we_say_nothing():
    """A mean over such retrievals would fall for want of labels."""
    assert set(trec(["a"], {"a": 0}).values()) == {0}
    found = scores(["a"], {"a": 0}, linear=True)
    assert (found.ndcg, found.recall, found.reciprocal_rank) == ({}, {}, None)


def test_the_exponential_gain_is_trec_evals_with_the_gains_as_grades():
    """2^grade − 1 handed in as a grade is the same NDCG."""
    dice = random.Random(11)
    for _ in range(100):
        returned, grades = drawn(dice)
        gains = {asset: 2**grade - 1 for asset, grade in grades.items()}
        assert same(named(scores(returned, grades)), trec(returned, gains))
