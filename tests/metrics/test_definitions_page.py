import pytest

from metrics.catalogue import CATALOGUE
from metrics.definitions_page import COLUMNS, definitions_markdown
from metrics.vocabularies import VOCABULARIES


def rows():
    """The table by figure: column -> text."""
    lines = [line for line in definitions_markdown().splitlines() if line.startswith("| `")]
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {cells[0].strip("`"): dict(zip(COLUMNS, cells, strict=True)) for cells in split}


def test_every_figure_has_a_row_in_the_order_of_the_catalogue():
    """Nothing is documented twice or left out."""
    assert list(rows()) == [figure.name for figure in CATALOGUE]


@pytest.mark.parametrize(
    ("name", "column", "text"),
    [
        ("lara_gpr_ratio", "numerator", "`retrievals_positive{definition}`"),
        ("lara_gpr_ratio", "denominator", "`retrievals`"),
        ("lara_gpr_ratio", "labels", "window, cohort (live or settled), role, surface, definition"),
        ("lara_gpr_ratio", "windows exported", "live: 1h 24h · settled: 5m 1h 6h 24h 7d · bounds: 1h 24h"),
        ("lara_uor_ratio", "numerator", "`retrievals` − `retrievals_evidenced{definition}`, mature"),
        ("lara_uor_ratio", "labels", "window, cohort (settled), role, surface, definition"),
        (
            "lara_retrievals_pending",
            "numerator",
            "`retrievals` − `retrievals_evidenced{definition}`, not mature",
        ),
        ("lara_retrievals", "denominator", ""),
        ("lara_retrievals", "windows exported", "5m 1h 6h 24h 7d"),
        ("lara_retrievals_delegated", "†", "†"),
        ("lara_retrievals", "†", ""),
    ],
)
def test_a_row_says_what_the_catalogue_says(name, column, text):
    """Labels, counters and windows are spelt out."""
    assert rows()[name][column] == text


def test_label_vocabularies_are_listed():
    """A reader learns which values a label can take."""
    text = definitions_markdown()
    assert all(f"`{value}`" in text for values in VOCABULARIES.values() for value in values)
    assert text.endswith("\n")
