import pytest

from metrics.catalogue import CATALOGUE
from metrics.definitions_page import COLUMNS, definitions_markdown, index_markdown
from metrics.readings import LAYERS
from metrics.vocabularies import VOCABULARIES


def rows():
    """The table by figure: column -> text."""
    lines = [line for line in definitions_markdown().splitlines() if line.startswith("| [`")]
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(COLUMNS, cells, strict=True)) for cells in split]


def row(name):
    return next(row for row in rows() if row["figure"].startswith(f"[`{name}`]"))


def test_every_figure_has_a_row():
    """Nothing is documented twice or left out."""
    assert sorted(row["figure"].split("`")[1] for row in rows()) == sorted(
        figure.name for figure in CATALOGUE
    )


@pytest.mark.parametrize(
    ("name", "column", "text"),
    [
        ("lara_gpr_ratio", "figure", "[`lara_gpr_ratio`](#genuine-positives-gpr)"),
        ("lara_gpr_ratio", "labels", "window, cohort (live or settled), role, surface, definition"),
        ("lara_gpr_ratio", "what it says", "Share of retrievals with a genuine positive, published as GPR."),
        ("lara_uor_ratio", "labels", "window, cohort (settled), role, surface, definition"),
        ("lara_retrievals_delegated", "†", "†"),
        ("lara_diagnosis_retrievals", "†", "†"),
        ("lara_masked_failure_ratio", "†", "in part"),
        ("lara_retrievals_failed_by_signal", "†", "in part"),
        ("lara_retrievals", "†", ""),
    ],
)
def test_a_row_says_what_the_catalogue_says(name, column, text):
    """Figure with its place, labels, help and † are spelt out."""
    assert row(name)[column] == text


def test_label_vocabularies_are_listed():
    """A reader learns which values a label can take."""
    text = definitions_markdown()
    assert all(f"`{value}`" in text for values in VOCABULARIES.values() for value in values)
    assert text.endswith("\n")


def test_the_contents_name_every_layer_and_family():
    """One line a layer, each family a link."""
    lines = index_markdown().splitlines()
    assert len(lines) == len(LAYERS)
    for line, layer in zip(lines, LAYERS, strict=True):
        assert line.startswith(f"- [{layer.title}](#")
        assert all(f"[{reading.title}](#" in line for reading in layer.readings)
