import re

import pytest

from attribution.contribution import RESOLUTIONS
from attribution.semantics import DEFAULT_ROUTES, FAILURE_SIGNALS
from metrics.catalogue import CATALOGUE
from metrics.schema import Kind
from metrics.scopes import REPORTED_ONLY
from metrics.vocabularies import VOCABULARIES
from metrics.windows import LIVE, SETTLED, WINDOWS

# Contract, section 5, literally: labels without the window, and the figures that have them.
SECTION_5 = {
    "cohort role surface": """
        lara_retrievals lara_retrievals_agent_consumed lara_acr_ratio lara_retrievals_delegated
        lara_delegated_ratio lara_retrievals_failed lara_orf_ratio lara_no_observed_failure_ratio
        lara_retrievals_corrected lara_agent_use_confirmed_ratio
    """,
    "cohort role surface definition": """
        lara_retrievals_positive lara_gpr_ratio lara_retrievals_unobserved lara_uor_ratio
        lara_retrievals_pending lara_pending_ratio
    """,
    "cohort role surface signal": "lara_retrievals_failed_by_signal",
    "role surface": """
        lara_retrievals_without_list lara_layer1_retrievals lara_retrievals_null lara_null_ratio
        lara_judged_retrievals lara_ranked_retrievals lara_judged_without_relevant lara_mrr
        lara_misrouted_retrievals lara_routing_labelled_retrievals lara_misroute_ratio
        lara_masked_failure_ratio lara_completed_retrievals lara_task_completion_ratio
        lara_goal_labelled_retrievals lara_goal_ratio lara_consumed_assets lara_consumed_rank
        lara_clicks_per_grid lara_ctr_ratio
    """,
    "role surface k": """
        lara_judged_coverage_at_k lara_precision_at_k lara_recall_at_k lara_ndcg_at_k
    """,
    "role surface verdict": "lara_diagnosis_retrievals",
    "surface": """
        lara_prompts lara_invocation_ratio lara_intent_labelled_prompts lara_missed_retrieval_ratio
        lara_multi_intent_ratio lara_search_reformulation_ratio lara_downstream_correction_ratio lara_sessions
    """,
    "surface route": "lara_prompts_by_route",
    "surface attribution": "lara_session_abandonment_ratio",
    "surface action": """
        lara_outcomes lara_attributed_outcomes lara_cross_session_outcomes lara_attributed_outcome_ratio
    """,
    "resolution": "lara_actions",
    "field": "lara_lineage_coverage_ratio",
    "": "lara_inference_disagreement_ratio",
}
# "Latency and tokens, where logged: sums and counts per stage and per completed task", without names there.
UNNAMED = {
    "role surface stage": "lara_latency_ms_sum lara_latency_ms_logged lara_tokens_sum lara_tokens_logged",
    "role surface": """
        lara_completed_latency_ms_sum lara_completed_latency_ms_logged
        lara_completed_tokens_sum lara_completed_tokens_logged
    """,
}
CONTRACT = {
    name: labels
    for section in (SECTION_5, UNNAMED)
    for labels, names in section.items()
    for name in names.split()
}
every_figure = pytest.mark.parametrize("figure", CATALOGUE, ids=lambda figure: figure.name)


def test_the_catalogue_has_the_figures_and_labels_of_the_contract():
    """Nothing is missing, nothing is called otherwise, and labels stand in their fixed order."""
    found = {figure.name: " ".join(figure.label_names) for figure in CATALOGUE}
    assert found == {name: f"window {labels}".strip() for name, labels in CONTRACT.items()}


def test_no_figure_stands_twice():
    """One row a figure."""
    names = [figure.name for figure in CATALOGUE]
    assert len(names) == len(set(names))


@every_figure
def test_a_name_says_what_kind_of_figure_it_is(figure):
    """Ratios, and only they, end in `_ratio`; a count has no denominator, the others have one."""
    assert figure.name.endswith("_ratio") == (figure.formula.kind is Kind.RATIO)
    assert bool(figure.formula.denominator) == (figure.formula.kind is not Kind.COUNT)


@every_figure
def test_help_is_one_plain_sentence(figure):
    """It begins with a capital, ends with a full stop and has no other."""
    assert re.fullmatch(r"[A-Z][^.]*\.", figure.help)


@every_figure
def test_counters_name_only_labels_of_the_figure(figure):
    """What stands in braces is a label of the figure's own, with a vocabulary."""
    terms = (*figure.formula.numerator, *figure.formula.denominator)
    named = {label for term in terms for label in re.findall(r"{(\w+)}", term.counter)}
    assert named <= set(figure.scope.labels)
    assert set(figure.scope.labels) <= {*VOCABULARIES, "definition"}


@every_figure
def test_the_exporter_prints_known_windows_of_cohorts_that_exist(figure):
    """Every cohort is exported somewhere, or the figure nowhere; none in `all`, bounds only with a ratio."""
    for cohort in figure.cohorts:
        windows = figure.exported.windows(cohort)
        assert windows or figure.exported == REPORTED_ONLY
        assert set(windows) <= set(WINDOWS) - {"all"}
    printed = {window for cohort in figure.cohorts for window in figure.exported.windows(cohort)}
    assert set(figure.exported.bounds) <= printed
    assert not figure.exported.bounds or figure.formula.kind is Kind.RATIO


def test_the_exporter_gives_bounds_for_the_ratios_that_the_contract_names_and_no_other():
    """The other bounds are in report and backtest."""
    bounded = {figure.name for figure in CATALOGUE if figure.exported.bounds}
    named = ("null", "gpr", "acr", "orf", "uor", "masked_failure", "misroute", "missed_retrieval")
    assert bounded == {f"lara_{name}_ratio" for name in named}


def test_k_is_that_of_the_contract():
    """Precision is at 1, 5 and 10, the others at 5 and 10."""
    values = {figure.name: figure.scope.values for figure in CATALOGUE if "k" in figure.scope.labels}
    assert values == {
        "lara_precision_at_k": ("1", "5", "10"),
        **dict.fromkeys(("lara_recall_at_k", "lara_ndcg_at_k", "lara_judged_coverage_at_k"), ("5", "10")),
    }


def test_vocabularies_are_those_of_the_contract():
    """Verdicts, signals, attributions and resolutions, literally."""
    assert VOCABULARIES["verdict"] == (
        *("misused", "working", "unused", "retrieval_fault", "tolerated", "masked"),
        *("unjudged", "pending"),
    )
    assert VOCABULARIES["signal"] == FAILURE_SIGNALS
    assert FAILURE_SIGNALS == ("rejected", "researched", "substituted", "researched_inferred")
    assert VOCABULARIES["attribution"] == ("session", "lineage")
    assert VOCABULARIES["resolution"] == RESOLUTIONS
    assert VOCABULARIES["route"] == (*DEFAULT_ROUTES, "other")


def test_unobserved_shares_are_settled_and_pending_ones_live():
    """UOR without maturity, or pending with it, would be a figure about nothing."""
    cohorts = {figure.name: figure.scope.cohorts for figure in CATALOGUE}
    assert cohorts["lara_uor_ratio"] == (SETTLED,)
    assert cohorts["lara_pending_ratio"] == cohorts["lara_retrievals_pending"] == (LIVE,)
    assert cohorts["lara_retrievals_unobserved"] == (LIVE, SETTLED)


@pytest.mark.parametrize(
    ("ratio", "count"),
    [
        ("lara_gpr_ratio", "lara_retrievals_positive"),
        ("lara_acr_ratio", "lara_retrievals_agent_consumed"),
        ("lara_orf_ratio", "lara_retrievals_failed"),
        ("lara_uor_ratio", "lara_retrievals_unobserved"),
        ("lara_null_ratio", "lara_retrievals_null"),
        ("lara_null_ratio", "lara_layer1_retrievals"),
        ("lara_gpr_ratio", "lara_retrievals"),
    ],
)
def test_the_counts_behind_a_headline_are_exported_in_its_windows(ratio, count):
    """Without them a dashboard could not add a headline up over roles and surfaces."""
    exported = {figure.name: figure for figure in CATALOGUE}
    for cohort in exported[ratio].cohorts:
        assert set(exported[ratio].exported.windows(cohort)) <= set(exported[count].exported.windows(cohort))


def test_vocabularies_hold_plain_label_values():
    """No value could be taken for the separator of a counter."""
    for label, value in ((label, value) for label, values in VOCABULARIES.items() for value in values):
        assert re.fullmatch(r"\w+", value), label


def test_own_readings_are_marked():
    """The † of the contract stands at delegated use and diagnosis; the names of the sums are ours, too."""
    marked = {figure.name for figure in CATALOGUE if figure.own_reading}
    delegated = {"lara_retrievals_delegated", "lara_delegated_ratio"}
    unnamed = {name for names in UNNAMED.values() for name in names.split()}
    assert marked == delegated | {"lara_diagnosis_retrievals"} | unnamed
