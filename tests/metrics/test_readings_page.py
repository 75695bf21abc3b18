from functools import cache

import pytest

from metrics.catalogue import CATALOGUE
from metrics.figures import Metric
from metrics.own_readings import OWN_READINGS
from metrics.readings import LAYERS
from metrics.readings_page import example_value, own_readings_markdown, readings_markdown
from tests.docs_printed import example_figures

FIGURES = {figure.name: figure for figure in CATALOGUE}


@cache
def page():
    """All sections, with the values that the example has now."""
    return readings_markdown(example_figures())


def section(title):
    """The lines of one family."""
    return page().split(f"### {title}\n")[1].split("\n##")[0].splitlines()


def metric(name, value, **labels):
    return Metric(name, {"window": "all", **labels}, value)


def test_every_family_has_a_section_under_its_layer():
    """Headings follow the readings."""
    headings = [line for line in page().splitlines() if line.startswith("##")]
    assert headings == [
        heading
        for layer in LAYERS
        for heading in (f"## {layer.title}", *(f"### {reading.title}" for reading in layer.readings))
    ]


def test_a_section_says_all_that_is_known_of_its_family():
    """Formula, windows, example, population, causes, misuse, fields, published value and †."""
    lines = section("Genuine positives (GPR)")
    row = next(line for line in lines if line.startswith("| `lara_gpr_ratio`"))
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        "`lara_gpr_ratio`",
        "`retrievals_positive{definition}`",
        "`retrievals`",
        "live: 1h 24h · settled: 5m 1h 6h 24h 7d · bounds: 1h 24h",
        "act_on 100 %, browse 0 %",
    ]
    starts = [line.split("**")[1] for line in lines if line.startswith("- **")]
    assert starts == [
        *("Population", "Numerator", "Denominator", "What moves it", "Must not be used for", "Needs"),
        *("Published example", "†"),
    ]
    assert [line[4:].split(":")[0] for line in lines if line.startswith("  - ")][:3] == [
        *("product", "logging", "model"),
    ]


def test_what_is_not_published_is_said_to_be_so():
    """No section leaves it open."""
    assert "- **Published example**: Not published." in section("Clicks")
    assert len([line for line in page().splitlines() if line.startswith("- **Published example**: ")]) == len(
        [reading for layer in LAYERS for reading in layer.readings]
    )


def test_own_readings_are_marked_at_figure_and_family():
    """† stands beside delegated use, and families that a reading moves point to it."""
    assert [line for line in section("Delegated use") if line.startswith("| `lara_delegated_ratio` † |")]
    assert "- **†**: substituted: see [own readings](#own-readings-)" in section("Observable failures (ORF)")
    assert not [line for line in section("Clicks") if "†" in line]


def test_fields_are_gathered_by_event():
    """Each event once, each field once."""
    (needs,) = (line for line in section("Invocation") if line.startswith("- **Needs**"))
    assert needs == "- **Needs**: prompt `request_id`, `surface` · retrieval `request_id`"


@pytest.mark.parametrize(
    ("name", "metrics", "text"),
    [
        ("lara_gpr_ratio", [], "absent"),
        (
            "lara_gpr_ratio",
            [
                metric(
                    "lara_gpr_ratio",
                    0.125,
                    cohort="settled",
                    role="browse",
                    surface="chat",
                    definition="standard",
                ),
                metric(
                    "lara_gpr_ratio", 0.5, cohort="settled", role="browse", surface="chat", definition="broad"
                ),
                metric(
                    "lara_gpr_ratio", 1.0, cohort="live", role="browse", surface="chat", definition="standard"
                ),
                Metric("lara_gpr_ratio", {"window": "7d", "cohort": "settled", "role": "browse"}, 0.75),
            ],
            "browse 12.5 %",
        ),
        ("lara_prompts", [metric("lara_prompts", 1_200, surface="chat")], "1,200"),
        (
            "lara_prompts",
            [metric("lara_prompts", 2, surface="chat"), metric("lara_prompts", 3, surface="editor")],
            "chat 2, editor 3",
        ),
        ("lara_actions", [metric("lara_actions", 0, resolution="none")], "0"),
        (
            "lara_actions",
            [metric("lara_actions", 0, resolution="none"), metric("lara_actions", 4, resolution="explicit")],
            "explicit 4",
        ),
        (
            "lara_precision_at_k",
            [metric("lara_precision_at_k", 0.0, role="browse", surface="chat", k="5")],
            "browse @5 0",
        ),
        (
            "lara_pending_ratio",
            [metric("lara_pending_ratio", 0.25, cohort="live", role="browse")],
            "browse 25 %",
        ),
    ],
)
def test_a_value_of_the_example_is_short(name, metrics, text):
    """All time, settled where there is such a cohort, `standard`; a count leaves its zeros out."""
    assert example_value(FIGURES[name], metrics) == text


def test_the_list_of_own_readings_says_where_to_read_on():
    """One line each, with the figures, the families and the decision."""
    lines = own_readings_markdown().splitlines()
    assert len(lines) == len(OWN_READINGS)
    (diagnosis,) = (line for line in lines if line.startswith("- **Diagnosis**"))
    assert "Is `lara_diagnosis_retrievals`." in diagnosis
    assert "Moves [Diagnosis and masked failures](#diagnosis-and-masked-failures)." in diagnosis
    assert diagnosis.endswith("Reading [22](decisions.md#readings-of-the-contract-).")
