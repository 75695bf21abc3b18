import pytest

from metrics.catalogue import CATALOGUE
from metrics.markdown import anchor, denominator, link, numerator, table, windows

FIGURES = {figure.name: figure for figure in CATALOGUE}


@pytest.mark.parametrize(
    ("name", "above", "below", "exported"),
    [
        (
            "lara_gpr_ratio",
            "`retrievals_positive{definition}`",
            "`retrievals`",
            "live: 1h 24h · settled: 5m 1h 6h 24h 7d · bounds: 1h 24h",
        ),
        (
            "lara_uor_ratio",
            "`retrievals` − `retrievals_evidenced{definition}`, mature",
            "`retrievals`",
            "5m 1h 6h 24h 7d · bounds: 1h 24h",
        ),
        (
            "lara_retrievals_pending",
            "`retrievals` − `retrievals_evidenced{definition}`, not mature",
            "",
            "24h",
        ),
        (
            "lara_masked_failure_ratio",
            "`diagnosis{masked}` + `diagnosis_quiet{masked}` (mature)",
            "`diagnosis_judged` + `diagnosis_quiet_judged` (mature)",
            "6h 24h · bounds: 6h 24h",
        ),
        ("lara_retrievals", "`retrievals`", "", "5m 1h 6h 24h 7d"),
        ("lara_mrr", "`reciprocal_rank_sum`", "`ranked_retrievals` × 1,000,000,000", "24h"),
        ("lara_tokens_sum", "`tokens_sum{stage}`", "", ""),
    ],
)
def test_a_formula_is_spelt_out_in_stored_counters(name, above, below, exported):
    """Sums, ages, scales and windows are those of the catalogue's row."""
    figure = FIGURES[name]
    assert numerator(figure.formula) == above
    assert denominator(figure.formula) == below
    assert windows(figure) == exported


def test_a_pipe_does_not_end_its_cell():
    """A counter such as `retrievals|browse` would tear the table apart."""
    assert table(("a", "b"), [("x|y", "z")]) == "| a | b |\n| --- | --- |\n| x\\|y | z |"


@pytest.mark.parametrize(
    ("title", "where"),
    [("Layer 0: prompts", "#layer-0-prompts"), ("Own readings (†)", "#own-readings-"), ("GPR", "#gpr")],
)
def test_an_anchor_is_that_of_the_heading(title, where):
    """As GitHub makes it: small letters, hyphens, no other signs."""
    assert anchor(title) == where
    assert link(title) == f"[{title}]({where})"
