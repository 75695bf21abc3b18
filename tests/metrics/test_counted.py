"""The catalogue read backwards: counters to figures, and things to the windows that hold them."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attribution.entities import split_key
from attribution.semantics import minute_of
from attribution.stages import KINDS
from metrics.catalogue import CATALOGUE
from metrics.counted import counted, figures_reading
from metrics.figures import figures
from metrics.schema import Kind, Part
from metrics.vocabularies import VOCABULARIES
from metrics.windows import LIVE, SETTLED
from tests.building import DAY, MINUTE, agent, at, prompt, retrieval, settle, user
from tests.properties import running
from tests.properties.strategies import records, streams

VALUES = {**VOCABULARIES, "definition": ("strict", "standard", "broad")}
EXAMPLES = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


def uses(counter):
    """(figure, labels, side, sign, part), in short."""
    return {
        (use.figure.name, *(value for _, value in use.labels), "of" if use.of_denominator else "in")
        for use in figures_reading(counter, VALUES)
    }


def test_a_counter_is_read_by_numerators_and_denominators_with_their_labels():
    """The labels of the group come from the counter, the figure's own from what the term names."""
    assert uses("retrievals_positive|strict|browse|chat") == {
        ("lara_retrievals_positive", "browse", "chat", "strict", "in"),
        ("lara_gpr_ratio", "browse", "chat", "strict", "in"),
    }
    assert uses("retrievals_agent_consumed|browse|chat") == {
        ("lara_retrievals_agent_consumed", "browse", "chat", "in"),
        ("lara_acr_ratio", "browse", "chat", "in"),
        ("lara_agent_use_confirmed_ratio", "browse", "chat", "of"),
    }
    assert uses("actions|none") == {("lara_actions", "none", "in")}


def test_a_term_without_the_figure_s_own_label_is_read_for_each_of_its_values():
    """N is the denominator of GPR by every definition."""
    found = uses("retrievals|browse|chat")
    for definition in VALUES["definition"]:
        assert ("lara_gpr_ratio", "browse", "chat", definition, "of") in found
        assert ("lara_uor_ratio", "browse", "chat", definition, "in") in found
        assert ("lara_uor_ratio", "browse", "chat", definition, "of") in found


def test_a_label_that_the_figure_does_not_have_is_not_read():
    """P@1 is published, R@1 and NDCG@1 are not."""
    assert uses("precision_sum|1|browse|chat") == {("lara_precision_at_k", "browse", "chat", "1", "in")}
    assert uses("recall_sum|1|browse|chat") == set()
    assert uses("retrievals_positive|nobody|browse|chat") == set()
    assert uses("nothing") == uses("") == set()


def test_the_sign_and_the_age_of_a_term_are_told():
    """Evidence is taken away from the unobserved, and of mature retrievals only."""
    found = figures_reading("retrievals_evidenced|strict|browse|chat", VALUES)
    (unobserved,) = [use for use in found if use.figure.name == "lara_retrievals_unobserved"]
    assert (unobserved.term.sign, unobserved.term.part) == (-1, Part.MATURE)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=15)
@given(
    st.lists(records, min_size=12, max_size=25),
    st.sampled_from([0, 1, 5 * MINUTE, 36 * MINUTE, 40 * MINUTE, 2 * DAY, 40 * DAY]),
)
def test_what_things_are_in_adds_up_to_the_figures(values, seconds):
    """Of any records at any time: in every window and cohort, all entries together are the published values."""
    store = running.settle_in_memory([running.accepted(values)])
    as_of, sums = at(seconds), Counter()
    for key, entity in store.entities().items():
        kind, name = split_key(key)
        contribution = KINDS[kind].contribute(name, entity, running.SEMANTICS)
        for same in counted(contribution, as_of, 30, VALUES):
            for entry in same.entries:
                for cohort in entry.figure.scope.cohorts or (LIVE,):
                    for window in same.windows[cohort]:
                        place = (window, *([cohort] if entry.figure.scope.cohorts else []))
                        row = (entry.figure.name, *place, *(value for _, value in entry.labels))
                        sums[row, "in"] += entry.numerator
                        sums[row, "of"] += entry.denominator or 0
    rows = {figure.name: figure for figure in CATALOGUE}
    published = {
        (metric.name, *metric.labels.values()): metric
        for metric in figures(store, as_of, running.SEMANTICS.definitions)
        if metric.name in rows
    }
    for row, metric in published.items():
        formula = rows[metric.name].formula
        denominator = sums[row, "of"] * formula.scale
        whole = formula.kind is Kind.COUNT
        assert metric.value == (sums[row, "in"] if whole else sums[row, "in"] / denominator), row
    assert {row for (row, _), amount in sums.items() if amount} <= published.keys()


@EXAMPLES
@given(streams)
def test_every_counter_is_read_by_some_figure(values):
    """Nothing is stored in vain, and no figure is missed here."""
    store = running.settle_in_memory([running.accepted(values)])
    for key, entity in store.entities().items():
        kind, name = split_key(key)
        for _, counter in KINDS[kind].contribute(name, entity, running.SEMANTICS):
            assert figures_reading(counter, VALUES), counter


def of_retrieval(*sent, seconds):
    store = settle(*sent).store
    contribution = KINDS["retrieval"].contribute("r1", store.entities()["retrieval:r1"], running.SEMANTICS)
    return counted(contribution, at(seconds), 30, VALUES)


@pytest.mark.parametrize(
    ("seconds", "live", "settled"),
    [
        (0, (), ()),
        (1, ("5m", "1h", "6h", "24h", "7d", "all"), ()),
        (30 * MINUTE, ("1h", "6h", "24h", "7d", "all"), ()),
        (30 * MINUTE + 1, ("1h", "6h", "24h", "7d", "all"), ("5m", "1h", "6h", "24h", "7d", "all")),
        (DAY, ("24h", "7d", "all"), ("24h", "7d", "all")),
        (DAY + 1, ("7d", "all"), ("24h", "7d", "all")),
        (8 * DAY, ("all",), ("all",)),
    ],
)
def test_a_minute_lies_in_the_windows_that_hold_it(seconds, live, settled):
    """By the time asked about, rounded up to a whole minute; settled ones end half an hour earlier."""
    (found,) = of_retrieval(retrieval(), seconds=seconds)
    assert found.windows == {LIVE: live, SETTLED: settled}
    assert found.minutes == (minute_of(at(0)),)


def test_while_it_is_young_it_is_pending_and_then_unobserved():
    """Settled figures begin when it is mature."""

    def names(seconds):
        (found,) = of_retrieval(retrieval(), seconds=seconds)
        return {entry.figure.name: entry for entry in found.entries}

    young, mature = names(MINUTE), names(31 * MINUTE)
    assert young["lara_retrievals_pending"].numerator == 1
    assert "lara_uor_ratio" not in young and "lara_retrievals_unobserved" not in young
    assert mature["lara_retrievals_unobserved"].numerator == 1
    assert "lara_retrievals_pending" not in mature
    assert (mature["lara_uor_ratio"].numerator, mature["lara_uor_ratio"].denominator) == (1, 1)


def test_evidence_takes_a_retrieval_out_of_the_unobserved():
    """A mature one with a positive is in the denominator of UOR alone."""
    used = user("export", source_retrieval_id="r1", consumed_asset_id="a1")
    (found,) = of_retrieval(retrieval(), used, seconds=DAY)
    by_name = {one.figure.name: one for one in found.entries}
    assert "lara_retrievals_unobserved" not in by_name
    assert (by_name["lara_uor_ratio"].numerator, by_name["lara_uor_ratio"].denominator) == (0, 1)


def test_a_score_is_told_in_the_unit_of_its_figure():
    """Counters hold billionths; a count has no denominator."""
    label = {"type": "judgement", "kind": "relevance", "retrieval_id": "r1", "asset_id": "a1", "grade": 1}
    (found,) = of_retrieval(retrieval(), {**label, "ts": at(0)}, seconds=DAY)
    by_name = {(one.figure.name, dict(one.labels).get("k")): one for one in found.entries}
    precision = by_name["lara_precision_at_k", "5"]
    assert (precision.numerator, precision.value, precision.denominator) == (200_000_000, 0.2, 1)
    assert by_name["lara_retrievals", None].denominator is None


def test_minutes_in_the_same_windows_are_added_up():
    """And apart from those in others."""
    contribution = {(minute_of(at(-DAY)), "actions|none"): 2, (minute_of(at(60)), "actions|none"): 1}
    contribution[minute_of(at(120)), "actions|none"] = 3
    old, new = counted(contribution, at(DAY), 30, VALUES)
    assert [entry.numerator for entry in old.entries] == [2]
    assert (new.minutes, [entry.numerator for entry in new.entries]) == (
        (minute_of(at(60)), minute_of(at(120))),
        [4],
    )


def test_a_difference_has_readings_too():
    """Of a ratio whose denominator does not change only the numerator moves; what cancels out is none."""
    minute = minute_of(at(0))
    change = {(minute, "retrievals_positive|strict|browse|chat"): 1}
    (found,) = counted(change, at(DAY), 30, VALUES)
    assert [(one.figure.name, one.numerator, one.denominator) for one in found.entries] == [
        ("lara_retrievals_positive", 1, None),
        ("lara_gpr_ratio", 1, 0),
    ]
    assert counted({}, at(DAY), 30, VALUES) == []


def test_prompts_and_actions_are_read_as_retrievals_are():
    """Their figures have no cohort: they are in the live windows."""
    store = settle(prompt(), agent("use"), user("export")).store
    contribution = KINDS["action"].contribute(
        "user-export", store.entities()["action:user-export"], running.SEMANTICS
    )
    (found,) = counted(contribution, at(DAY), 30, VALUES)
    assert {one.figure.name for one in found.entries} >= {"lara_outcomes", "lara_actions"}
