import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.ranking import BILLION
from metrics.catalogue import CATALOGUE
from metrics.figures import exported_figures, figures
from metrics.intervals import wilson
from tests.metrics.traffic import (
    DEFINITION_NAMES,
    DEFINITIONS,
    NOW_MS,
    RESOLUTIONS,
    STANDARD,
    STRICT,
    CountingReader,
    buckets,
    busy,
    values,
)

BROWSE_CHAT = {"role": "browse", "surface": "chat"}


def evaluated(*minutes, definitions=(STANDARD,), **options):
    return figures(buckets(*minutes), NOW_MS, definitions, **options)


def test_one_evaluation_asks_the_reader_once_and_no_span_twice():
    """All windows and cohorts come from one call: one round trip, one state."""
    reader = CountingReader(busy())
    figures(reader, NOW_MS, DEFINITIONS)
    (spans,) = reader.calls
    assert len(spans) == len(set(spans))


def test_nothing_counted_gives_nothing():
    """Without any counter there is no label set, so no figure."""
    assert evaluated() == []


def test_a_count_and_its_ratio_have_the_labels_of_the_contract_in_order():
    """Window, cohort, labels of the group, own labels; all of them text."""
    metrics = evaluated((45, {"retrievals|browse|chat": 4, "retrievals_positive|standard|browse|chat": 1}))
    ratio = next(metric for metric in metrics if metric.name == "lara_gpr_ratio")
    assert list(ratio.labels.items()) == [
        *(("window", "1h"), ("cohort", "live"), ("role", "browse"), ("surface", "chat")),
        ("definition", "standard"),
    ]
    assert ratio.value == 0.25
    assert isinstance(values(metrics, "lara_retrievals_positive")[0], int)


def test_a_ratio_is_followed_by_its_bounds():
    """Every ratio of counts has both Wilson bounds, right behind it."""
    metrics = evaluated((45, {"retrievals|browse|chat": 4, "retrievals_failed|browse|chat": 1}))
    at = next(index for index, metric in enumerate(metrics) if metric.name == "lara_orf_ratio")
    names = [metric.name for metric in metrics[at : at + 3]]
    assert names == ["lara_orf_ratio", "lara_orf_ratio_lower", "lara_orf_ratio_upper"]
    assert tuple(metric.value for metric in metrics[at + 1 : at + 3]) == wilson(1, 4)


def test_a_ratio_without_denominator_is_absent_and_its_counts_are_0():
    """A label set that went quiet keeps its counts for as long as the live 7 days remember it."""
    metrics = evaluated((3000, {"retrievals|browse|chat": 1, "layer1_retrievals|browse|chat": 1}))
    quiet = {"window": "1h", **BROWSE_CHAT}
    assert values(metrics, "lara_retrievals", **quiet) == [0, 0]
    assert values(metrics, "lara_retrievals_positive", **quiet) == [0, 0]
    assert values(metrics, "lara_retrievals_null", **quiet) == [0]
    assert values(metrics, "lara_gpr_ratio", **quiet) == values(metrics, "lara_null_ratio", **quiet) == []
    assert values(metrics, "lara_consumed_rank") == []


def test_a_label_set_older_than_7_days_is_seen_in_all_only():
    """It is printed in the window that holds it and in no other."""
    metrics = evaluated((20_000, {"retrievals|browse|chat": 1}))
    assert {metric.labels["window"] for metric in metrics} == {"all"}


def test_a_label_set_that_only_the_settled_week_holds_is_printed_there():
    """The settled 7 days reach back further than the live ones."""
    metrics = evaluated((10_090, {"retrievals|browse|chat": 1}))
    assert values(metrics, "lara_retrievals", window="7d", cohort="settled") == [1]
    assert values(metrics, "lara_retrievals", window="7d", cohort="live") == []


def test_settled_figures_begin_with_maturity():
    """A retrieval of 30 minutes ago is pending up to the very minute in which it becomes unobserved."""
    young = evaluated((30, {"retrievals|browse|chat": 1}))
    mature = evaluated((31, {"retrievals|browse|chat": 1}))
    for metrics, pending in ((young, 1), (mature, 0)):
        hour = {"window": "1h", "definition": "standard"}
        assert values(metrics, "lara_retrievals_pending", **hour) == [pending]
        assert values(metrics, "lara_retrievals_unobserved", cohort="live", **hour) == [1 - pending]
        assert values(metrics, "lara_uor_ratio", **hour) == [1.0] * (1 - pending)


def test_the_maturity_horizon_is_an_argument():
    """With a horizon of 10 minutes a retrieval of 15 minutes ago is mature."""
    metrics = evaluated((15, {"retrievals|browse|chat": 1}), horizon_minutes=10)
    assert values(metrics, "lara_uor_ratio", window="1h") == [1.0]


def test_definitions_stand_side_by_side():
    """Every definition has its own positives and unobserved, in the order in which they are given."""
    counters = {
        "retrievals|browse|chat": 4,
        **{"retrievals_positive|strict|browse|chat": 1, "retrievals_positive|standard|browse|chat": 3},
        **{"retrievals_evidenced|strict|browse|chat": 2, "retrievals_evidenced|standard|browse|chat": 3},
    }
    metrics = evaluated((45, counters), definitions=(STRICT, STANDARD))
    hour = {"window": "1h", "cohort": "settled"}
    assert values(metrics, "lara_gpr_ratio", **hour) == [0.25, 0.75]
    assert values(metrics, "lara_uor_ratio", **hour) == [0.5, 0.25]


def test_a_mean_is_a_quotient_without_bounds():
    """The rank is the sum of positions over the number of used assets."""
    metrics = evaluated(
        (
            1,
            {
                "retrievals|browse|chat": 1,
                "consumed_assets|browse|chat": 2,
                "consumed_rank_sum|browse|chat": 5,
            },
        )
    )
    assert values(metrics, "lara_consumed_rank", window="5m") == [2.5]
    assert not [metric for metric in metrics if metric.name.startswith("lara_consumed_rank_")]


def test_all_eight_resolutions_are_there_as_soon_as_one_is():
    """A resolution that did not happen is a 0, not a gap."""
    metrics = evaluated((1, {"actions|refuted": 3}))
    found = [metric for metric in metrics if metric.labels["window"] == "5m"]
    assert [metric.labels["resolution"] for metric in found] == list(RESOLUTIONS)
    assert [metric.value for metric in found] == [0, 0, 0, 0, 0, 0, 3, 0]


def test_lineage_coverage_needs_no_action():
    """A log of retrievals alone says how well they are logged."""
    metrics = evaluated((1, {"lineage_expected|role": 4, "lineage_logged|role": 3}))
    assert values(metrics, "lara_lineage_coverage_ratio", window="5m", field="role") == [0.75]
    assert values(metrics, "lara_lineage_coverage_ratio", window="5m", field="request_id") == []


def test_outcomes_range_over_their_own_label_sets():
    """Surface and action are those of the action; roles and cohorts are no labels of it."""
    metrics = evaluated((1, {"outcomes|editor|export": 2, "attributed_outcomes|editor|export": 1}))
    found = [metric for metric in metrics if metric.name == "lara_cross_session_outcomes"]
    assert found[0].labels == {"window": "5m", "surface": "editor", "action": "export"}
    assert found[0].value == 0
    assert values(metrics, "lara_attributed_outcome_ratio", window="5m") == [0.5]


def test_what_is_no_share_is_absent_and_its_counts_show_why():
    """A numerator above its denominator is never shown as a ratio above 1."""
    metrics = evaluated((45, {"retrievals|browse|chat": 1, "retrievals_failed|browse|chat": 2}))
    assert values(metrics, "lara_orf_ratio") == values(metrics, "lara_no_observed_failure_ratio") == []
    assert values(metrics, "lara_retrievals_failed", window="1h", cohort="settled") == [2]


def test_order_is_catalogue_window_cohort_labels():
    """Two evaluations of one state print the same list, whatever order the counters were added in."""
    metrics = figures(busy(), NOW_MS, DEFINITIONS)
    assert metrics == figures(busy((32, 1)), NOW_MS, DEFINITIONS)
    names = list(
        dict.fromkeys(metric.name.removesuffix("_lower").removesuffix("_upper") for metric in metrics)
    )
    assert names == [figure.name for figure in CATALOGUE]


def test_the_exporter_prints_a_part_of_what_the_report_prints():
    """Same names, labels and values; fewer windows and bounds."""
    exported = exported_figures(busy(), NOW_MS, DEFINITIONS)
    everything = {
        (metric.name, *metric.labels.items()): metric.value for metric in figures(busy(), NOW_MS, DEFINITIONS)
    }
    assert len(exported) < len(everything)
    assert all(everything[metric.name, *metric.labels.items()] == metric.value for metric in exported)


@pytest.mark.parametrize("windows", [("5m",), ("24h", "all")])
def test_only_the_windows_asked_for_are_printed(windows):
    """The windows are an argument."""
    metrics = figures(busy(), NOW_MS, DEFINITIONS, windows=windows)
    assert {metric.labels["window"] for metric in metrics} == set(windows)


# Every counter of one label set has a value of its own, so that no figure can be right by reading another.
SETTLED = {
    **{"retrievals": 1000, "retrievals_positive|standard": 401, "retrievals_agent_consumed": 200},
    **{"retrievals_delegated": 53, "retrievals_failed": 107, "retrievals_failed_by_signal|rejected": 103},
    **{
        "retrievals_evidenced|standard": 601,
        "retrievals_corrected": 17,
        "retrievals_agent_use_confirmed": 30,
    },
    **{"retrievals_without_list": 20, "layer1_retrievals": 980, "retrievals_null": 49},
    **{"consumed_assets": 300, "consumed_rank_sum": 750},
    **{"judged_retrievals": 500, "ranked_retrievals": 400, "judged_without_relevant": 100},
    **{"judged_coverage_sum|5": 450 * BILLION, "judged_coverage_sum|10": 425 * BILLION},
    **{"precision_sum|1": 250 * BILLION, "precision_sum|5": 200 * BILLION, "precision_sum|10": 150 * BILLION},
    **{"recall_sum|5": 100 * BILLION, "recall_sum|10": 300 * BILLION, "reciprocal_rank_sum": 220 * BILLION},
    **{"ndcg_sum|5": 240 * BILLION, "ndcg_sum|10": 260 * BILLION},
    **{"routing_labelled_retrievals": 160, "misrouted_retrievals": 24},
    **{"diagnosis|working": 61, "diagnosis|unjudged": 62, "diagnosis|masked": 3, "diagnosis_judged": 64},
    **{"diagnosis_quiet|masked": 13, "diagnosis_quiet|unjudged": 14, "diagnosis_quiet_judged": 36},
    "diagnosis_young|pending": 27,
    **{"completed_retrievals": 370, "goal_labelled_retrievals": 80, "goals_reached": 44},
    **{"clicks": 270, "grids": 900, "grids_clicked": 180},
    **{"latency_ms_sum|retrieval": 7001, "latency_ms_sum|action": 7002, "tokens_sum|retrieval": 7003},
    **{"tokens_sum|action": 7004, "latency_ms_logged|retrieval": 71, "latency_ms_logged|action": 72},
    **{"tokens_logged|retrieval": 73, "tokens_logged|action": 74},
    **{"completed_latency_ms_sum": 7005, "completed_tokens_sum": 7006},
    **{"completed_latency_ms_logged": 75, "completed_tokens_logged": 76},
}
YOUNG = {
    **{"retrievals": 10, "retrievals_evidenced|standard": 4},
    **{"diagnosis_quiet|masked": 5, "diagnosis_quiet_judged": 5, "diagnosis_young|pending": 6},
}
YOUNG_SESSIONS = {
    "sessions|chat": 9,
    "sessions_abandoned|session|chat": 8,
    "sessions_abandoned|lineage|chat": 8,
}
DONE = {
    **{"outcomes|chat|export": 40, "attributed_outcomes|chat|export": 31, "actions|document": 11},
    **{"cross_session_outcomes|chat|export": 7, "lineage_logged|role": 9, "lineage_expected|role": 10},
    **{"prompts|chat": 200, "prompts_with_retrieval|chat": 150, "intent_labelled_prompts|chat": 120},
    **{"prompts_needing_retrieval|chat": 100, "prompts_missed|chat": 9, "multi_intent_prompts|chat": 30},
    **{"flagged_prompts_with_retrieval|chat": 80, "search_reformulations|chat": 20},
    **{"flagged_prompts_without_retrieval|chat": 40, "downstream_corrections|chat": 14},
    **{"prompts_by_route|retrieve|chat": 111, "prompts_by_route|other|chat": 89},
    **{"sessions|chat": 50, "sessions_abandoned|session|chat": 35, "sessions_abandoned|lineage|chat": 5},
    **{"inference_compared": 16, "inference_differs": 4},
}
# The value of the figure's own label, where one is not enough to tell its counters apart.
OWN = {
    "lara_actions": {"resolution": "document"},
    "lara_retrievals_failed_by_signal": {"signal": "rejected"},
}
VALUES = {
    ("lara_retrievals", "settled"): 1000,
    ("lara_retrievals", "live"): 1010,
    ("lara_retrievals_positive", "settled"): 401,
    ("lara_gpr_ratio", "settled"): 0.401,
    ("lara_retrievals_agent_consumed", "settled"): 200,
    ("lara_acr_ratio", "settled"): 0.2,
    ("lara_retrievals_delegated", "settled"): 53,
    ("lara_delegated_ratio", "settled"): 0.053,
    ("lara_retrievals_failed", "settled"): 107,
    ("lara_orf_ratio", "settled"): 0.107,
    ("lara_no_observed_failure_ratio", "settled"): 0.893,
    ("lara_retrievals_failed_by_signal", "settled"): 103,
    ("lara_retrievals_unobserved", "settled"): 399,
    ("lara_retrievals_unobserved", "live"): 399,
    ("lara_uor_ratio", "settled"): 0.399,
    ("lara_retrievals_pending", "live"): 6,
    ("lara_pending_ratio", "live"): 6 / 1010,
    ("lara_retrievals_corrected", "settled"): 17,
    ("lara_agent_use_confirmed_ratio", "settled"): 0.15,
    ("lara_retrievals_without_list", None): 20,
    ("lara_layer1_retrievals", None): 980,
    ("lara_retrievals_null", None): 49,
    ("lara_null_ratio", None): 0.05,
    ("lara_consumed_assets", None): 300,
    ("lara_consumed_rank", None): 2.5,
    ("lara_outcomes", None): 40,
    ("lara_attributed_outcomes", None): 31,
    ("lara_cross_session_outcomes", None): 7,
    ("lara_attributed_outcome_ratio", None): 0.775,
    ("lara_actions", None): 11,
    ("lara_lineage_coverage_ratio", None): 0.9,
    ("lara_judged_retrievals", None): 500,
    ("lara_ranked_retrievals", None): 400,
    ("lara_judged_without_relevant", None): 100,
    ("lara_mrr", None): 0.55,
    ("lara_misrouted_retrievals", None): 24,
    ("lara_routing_labelled_retrievals", None): 160,
    ("lara_misroute_ratio", None): 0.15,
    ("lara_masked_failure_ratio", None): 0.16,
    ("lara_completed_retrievals", None): 370,
    ("lara_task_completion_ratio", None): 370 / 1010,
    ("lara_goal_labelled_retrievals", None): 80,
    ("lara_goal_ratio", None): 0.55,
    ("lara_clicks_per_grid", None): 0.3,
    ("lara_ctr_ratio", None): 0.2,
    ("lara_completed_latency_ms_sum", None): 7005,
    ("lara_completed_tokens_sum", None): 7006,
    ("lara_completed_latency_ms_logged", None): 75,
    ("lara_completed_tokens_logged", None): 76,
    ("lara_prompts", None): 200,
    ("lara_invocation_ratio", None): 0.75,
    ("lara_intent_labelled_prompts", None): 120,
    ("lara_missed_retrieval_ratio", None): 0.09,
    ("lara_multi_intent_ratio", None): 0.25,
    ("lara_search_reformulation_ratio", None): 0.25,
    ("lara_downstream_correction_ratio", None): 0.35,
    ("lara_sessions", None): 59,
    ("lara_inference_disagreement_ratio", None): 0.25,
}
# Figures whose own label has several values here: all of them, in their order.
BY_LABEL = {
    "lara_judged_coverage_at_k": {"5": 0.9, "10": 0.85},
    "lara_precision_at_k": {"1": 0.5, "5": 0.4, "10": 0.3},
    "lara_recall_at_k": {"5": 0.25, "10": 0.75},
    "lara_ndcg_at_k": {"5": 0.6, "10": 0.65},
    "lara_diagnosis_retrievals": {
        **{"misused": 0, "working": 61, "unused": 0, "retrieval_fault": 0, "tolerated": 0},
        **{"masked": 16, "unjudged": 76, "pending": 6},
    },
    "lara_prompts_by_route": {"retrieve": 111, "generate": 0, "edit": 0, "answer": 0, "other": 89},
    "lara_session_abandonment_ratio": {"session": 0.7, "lineage": 0.1},
    "lara_latency_ms_sum": {"retrieval": 7001, "action": 7002},
    "lara_latency_ms_logged": {"retrieval": 71, "action": 72},
    "lara_tokens_sum": {"retrieval": 7003, "action": 7004},
    "lara_tokens_logged": {"retrieval": 73, "action": 74},
}


def printed_values():
    """All figures over one day of mature and young things."""
    browsing, young = ({f"{key}|browse|chat": n for key, n in made.items()} for made in (SETTLED, YOUNG))
    return evaluated((45, browsing), (5, young), (45, DONE), (5, YOUNG_SESSIONS), windows=("24h",))


@pytest.mark.parametrize(("name", "cohort"), VALUES)
def test_every_figure_has_the_value_that_its_name_promises(name, cohort):
    """Each counts what the contract says, over what the contract says."""
    labels = {"cohort": cohort} if cohort else {}
    assert values(printed_values(), name, **labels, **OWN.get(name, {})) == [VALUES[name, cohort]]


@pytest.mark.parametrize("name", BY_LABEL)
def test_every_figure_with_labels_of_its_own_has_all_their_values(name):
    """In the order of the vocabulary, those that did not happen as 0."""
    rows = [metric for metric in printed_values() if metric.name == name]
    (own,) = {*rows[0].labels} - {"window", "role", "surface"}
    assert [(row.labels[own], row.value) for row in rows] == list(BY_LABEL[name].items())


def test_every_figure_has_its_value_tested():
    """A new row of the catalogue needs a value here."""
    assert {name for name, _ in VALUES} | set(BY_LABEL) == {figure.name for figure in CATALOGUE}


def test_a_counter_that_a_store_left_at_0_makes_no_label_set():
    """A reader may hand back zeros; what is not there is not seen."""

    class LeftoverReader:
        def sums(self, spans):
            return [{"retrievals|browse|chat": 0} for _ in spans]

    assert figures(LeftoverReader(), NOW_MS, DEFINITIONS) == []


ages = st.integers(1, 20_000)
retrieval = st.tuples(ages, st.booleans(), st.booleans())


@pytest.mark.slow
@given(st.lists(retrieval, max_size=30))
def test_evidence_unobserved_and_pending_add_up_to_all_retrievals(retrievals):
    """Per definition, window and cohort: |U ∪ A ∪ D ∪ F| + unobserved + pending = N."""
    filled = buckets()
    for age, positive, failed in retrievals:
        counters = {"retrievals|browse|chat": 1, "retrievals_failed|browse|chat": int(failed)}
        counters |= {"retrievals_positive|standard|browse|chat": int(positive)}
        counters |= {"retrievals_evidenced|standard|browse|chat": int(positive or failed)}
        for counter, value in counters.items():
            filled.add(NOW_MS // 60_000 - age, counter, value)
    metrics = figures(filled, NOW_MS, (STANDARD,))
    for window, minutes in (("1h", 60), ("24h", 1_440), ("7d", 10_080), ("all", 20_000)):
        for cohort, start in (("live", 0), ("settled", 30)):
            held = [row for row in retrievals if start < row[0] <= start + minutes]
            view = {"window": window, "cohort": cohort}
            parts = ("lara_retrievals_unobserved", "lara_retrievals_pending")
            open_ones = sum(sum(values(metrics, name, **view)) for name in parts)
            assert sum(values(metrics, "lara_retrievals", **view)) == len(held)
            assert open_ones == sum(1 for _, positive, failed in held if not positive and not failed)


def test_every_value_is_a_finite_number():
    """No NaN and no infinity, ever."""
    assert all(math.isfinite(metric.value) for metric in figures(busy(), NOW_MS, DEFINITIONS))


def test_the_definitions_are_those_given():
    """Their names are data: another list gives other labels."""
    found = {metric.labels.get("definition") for metric in figures(busy(), NOW_MS, DEFINITIONS)}
    assert found == {*DEFINITION_NAMES, None}
