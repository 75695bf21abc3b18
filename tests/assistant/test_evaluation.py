"""The evaluation, its gate, and what the example says."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from assistant.evaluation import BadSet, compare, load_cases, permutation_p, slices
from assistant.search import STAGES
from attribution.parsing import Rejected, parse
from streams.commands import options
from streams.commands.cli import main
from streams.commands.evaluate import SHOWN, judgements, layer_one, mean

UNITS = st.lists(st.floats(0, 1), min_size=1, max_size=50)


def column(scored, stage, metric="NDCG@10"):
    return [one[stage][metric] for one in scored]


@given(UNITS)
def test_an_interval_holds_its_mean_and_is_never_a_point(values):
    """Bounds lie in [0, 1], and 1.0 everywhere still leaves doubt."""
    found = mean(values)
    assert 0 <= found.lower <= found.value + 1e-12 and found.value - 1e-12 <= found.upper <= 1
    assert found.upper - found.lower > 0.01


def test_the_command_line_names_the_stages_of_a_search():
    """It cannot ask the search, which may not be installed."""
    assert options.STAGES == STAGES


def test_a_permutation_test_knows_chance_from_a_difference():
    """As p of signs says: all of 12 worse is 2 / 2^12; none differs is 1; a seed gives the same again."""
    assert permutation_p([-0.2] * 12) == pytest.approx(2 / 2**12, abs=5e-4)
    assert permutation_p([0.0] * 12) == 1
    assert permutation_p([0.1, -0.3, 0.2], seed=7) == permutation_p([0.1, -0.3, 0.2], seed=7)


def test_several_slices_ask_for_more():
    """Holm: with two slices the smaller p doubles, and the larger is never below it."""
    first, second = compare([1.0] * 12, [0.8] * 6 + [0.8] * 6, {"a": range(12), "b": range(6)})
    assert first.p == pytest.approx(2 * permutation_p([-0.2] * 12)) and first.regressed
    assert second.p >= first.p


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('{"query": "a", "grades": {"d": 3}}', "grades are"),
        ('{"query": "a", "grades": {"d": 0}}', "no document is relevant"),
        (
            '{"query": "a", "grades": {"d": 1}}\n{"query": "a", "grades": {"d": 1}}',
            "line 2: the query is there",
        ),
        ("{", "line 1"),
        ("", "no case"),
    ],
)
def test_a_bad_set_is_told(tmp_path, lines, told):
    """With its line."""
    path = tmp_path / "set.jsonl"
    path.write_text(lines)
    with pytest.raises(BadSet, match=told):
        load_cases([path])


def test_the_example_is_as_large_as_it_must_be(index, cases):
    """At least 60 documents and 60 queries, in two languages and three slices, some documents guarded."""
    assert len(index.documents) >= 60 and len(cases) >= 60
    assert set(slices(cases)) == {"synonym", "exact token", "mixed", "en", "zh", "all"}
    assert {one.document_id[0] for one in index.documents} == {"e", "z"}
    assert any(one.access_groups for one in index.documents)


SLICES = ["synonym", "exact token", "mixed", "en", "zh", "all"]
# By 0.002: docs/search.md tells it. Strict, so that it is noticed when it no longer holds.
BELOW = pytest.mark.xfail(reason="fusion loses to vectors: the set contradicts the criterion", strict=True)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        pytest.param(metric, name, marks=[BELOW] if (metric, name) == ("R@5", "synonym") else [])
        for metric in SHOWN
        for name in SLICES
    ],
)
def test_fusion_is_no_worse_than_the_better_half_beyond_its_interval(scored, cases, name, metric):
    """By slice, for every figure that is printed."""
    means = {
        stage: mean([column(scored, stage, metric)[number] for number in slices(cases)[name]])
        for stage in STAGES
    }
    better = max(means["keyword"], means["vector"], key=lambda one: one.value)
    assert means["fused"].value >= better.lower


def test_the_gate_fails_without_vectors_where_words_differ(scored, cases):
    """With one half switched off the synonyms are surely worse; the same against itself is not."""
    fused, keyword = column(scored, "fused"), column(scored, "keyword")
    assert {one.slice for one in compare(fused, keyword, slices(cases)) if one.regressed} >= {
        "synonym",
        "all",
    }
    assert not any(one.regressed for one in compare(fused, fused, slices(cases)))


def test_grades_are_judgements_by_query(cases):
    """Every one is an event; said again later they have the same ids."""
    first, later = list(judgements(cases, 0)), list(judgements(cases, 5))
    assert not any(isinstance(parse(json.dumps(one).encode()), Rejected) for one in first)
    assert len(first) == sum(len(case.grades) for case in cases) == len({one["event_id"] for one in first})
    assert [one["event_id"] for one in first] == [one["event_id"] for one in later]


def test_a_list_scores_what_layer_one_gives_it():
    """First relevant at 2 of a set of two."""
    found = layer_one(["x", "a"], {"a": 2, "b": 1})
    assert (found["MRR"], found["R@5"], found["P@1"], found["P@5"]) == (0.5, 0.5, 0, 0.2)


SMALL = (
    '{"query": "refund to my card", "grades": {"e01": 2}}\n{"query": "stop renewal", "grades": {"e03": 2}}\n'
)


def run(*words):
    return CliRunner().invoke(main, ["evaluate", *map(str, words)])


def test_the_command_prints_saves_compares_and_publishes(tmp_path):
    """A saved baseline holds against itself; grades go to a file that lara reads."""
    path, baseline, grades = (tmp_path / name for name in ("set.jsonl", "base.json", "grades.jsonl"))
    queries = [{"query": f"refund to my card {number}", "grades": {"e01": 2}} for number in range(12)]
    path.write_text("\n".join(map(json.dumps, queries)))
    saved = run(path, "--save", baseline, "--publish", grades)
    assert saved.exit_code == 0 and "NDCG@10" in saved.output
    assert len(grades.read_text().splitlines()) == 12
    again = run(path, "--baseline", baseline, "--json")
    assert again.exit_code == 0
    found = json.loads(again.stdout)
    assert found["differences"][0]["mean"] == 0 and found["means"]


def test_the_command_ends_with_1_for_a_regression():
    """On the example, with the vectors switched off."""
    found = run("--baseline", "fused", "--candidate", "keyword")
    assert found.exit_code == 1 and "WORSE" in found.output


def test_the_command_tells_what_is_wrong(tmp_path):
    """A grade of no document, a baseline of other queries."""
    path = tmp_path / "set.jsonl"
    path.write_text(SMALL.replace("e01", "nowhere"))
    assert "nowhere" in run(path).output
    path.write_text(SMALL)
    baseline = tmp_path / "base.json"
    baseline.write_text("{}")
    assert run(path, "--baseline", baseline).exit_code == 1
