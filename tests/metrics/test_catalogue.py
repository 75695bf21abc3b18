import re

import pytest

from metrics.catalogue import CATALOGUE, VOCABULARIES
from metrics.schema import Kind
from metrics.windows import LIVE, SETTLED, WINDOWS

# Contract, section 5, as far as issue 2 goes: figure -> labels without the window.
CONTRACT = {
    **dict.fromkeys(
        (
            *("lara_retrievals", "lara_retrievals_agent_consumed", "lara_acr_ratio"),
            *(
                "lara_retrievals_delegated",
                "lara_delegated_ratio",
                "lara_retrievals_failed",
                "lara_orf_ratio",
            ),
            *("lara_no_observed_failure_ratio", "lara_retrievals_corrected"),
            "lara_agent_use_confirmed_ratio",
        ),
        "cohort role surface",
    ),
    **dict.fromkeys(
        (
            *("lara_retrievals_positive", "lara_gpr_ratio", "lara_retrievals_unobserved", "lara_uor_ratio"),
            *("lara_retrievals_pending", "lara_pending_ratio"),
        ),
        "cohort role surface definition",
    ),
    "lara_retrievals_failed_by_signal": "cohort role surface signal",
    **dict.fromkeys(
        (
            *("lara_retrievals_without_list", "lara_layer1_retrievals", "lara_retrievals_null"),
            *("lara_null_ratio", "lara_consumed_assets", "lara_consumed_rank"),
        ),
        "role surface",
    ),
    **dict.fromkeys(
        (
            *("lara_outcomes", "lara_attributed_outcomes", "lara_cross_session_outcomes"),
            "lara_attributed_outcome_ratio",
        ),
        "surface action",
    ),
    "lara_actions": "resolution",
    "lara_lineage_coverage_ratio": "field",
}
every_figure = pytest.mark.parametrize("figure", CATALOGUE, ids=lambda figure: figure.name)


def test_the_catalogue_has_the_figures_and_labels_of_the_contract():
    """Nothing is missing, nothing is called otherwise, and labels stand in their fixed order."""
    found = {figure.name: " ".join(figure.label_names) for figure in CATALOGUE}
    assert found == {name: f"window {labels}" for name, labels in CONTRACT.items()}


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
    """Every cohort is exported somewhere, none in `all`, and bounds only where their ratio is."""
    for cohort in figure.cohorts:
        windows = figure.exported.windows(cohort)
        assert windows
        assert set(windows) <= set(WINDOWS) - {"all"}
        assert set(figure.exported.bounds) <= set(windows)
    assert not figure.exported.bounds or figure.formula.kind is Kind.RATIO


def test_the_exporter_gives_bounds_for_null_gpr_acr_orf_and_uor_only():
    """The other bounds are in report and backtest."""
    bounded = {figure.name for figure in CATALOGUE if figure.exported.bounds}
    assert bounded == {f"lara_{name}_ratio" for name in ("null", "gpr", "acr", "orf", "uor")}


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


def test_only_delegated_use_is_marked_as_an_own_reading():
    """The † of the contract stands at delegated use, as count and as share."""
    marked = {figure.name for figure in CATALOGUE if figure.own_reading}
    assert marked == {"lara_retrievals_delegated", "lara_delegated_ratio"}
