from io import StringIO

import pytest
from rich.console import Console

from metrics.definition_table import definition_tables
from metrics.figures import figures
from metrics.report import report
from metrics.schema import PublishedDefinition
from metrics.totals import Totals
from tests.metrics.traffic import BROAD, DEFINITIONS, NOW_MS, STANDARD, STRICT, buckets

TITLE = "Definitions of a genuine positive, side by side: spread"
SETTLED = {
    **{"retrievals|browse|chat": 6, "retrievals|act_on|editor": 4},
    **{"retrievals_positive|strict|browse|chat": 1},
    **{"retrievals_positive|standard|browse|chat": 2, "retrievals_positive|standard|act_on|editor": 1},
    **{"retrievals_positive|broad|browse|chat": 4, "retrievals_positive|broad|act_on|editor": 1},
    **{"retrievals_evidenced|strict|browse|chat": 2},
    **{"retrievals_evidenced|standard|browse|chat": 3, "retrievals_evidenced|standard|act_on|editor": 1},
    **{"retrievals_evidenced|broad|browse|chat": 5, "retrievals_evidenced|broad|act_on|editor": 1},
}


def metrics_of(definitions, *more):
    return figures(buckets((45, SETTLED), *more), NOW_MS, definitions)


def printed(renderable, width=160):
    console = Console(width=width, record=True, file=StringIO())
    console.print(renderable)
    return [line.rstrip() for line in console.export_text().splitlines()]


def lines_of(definitions, *more, width=160):
    """The table of the last day."""
    (table,) = definition_tables(Totals(metrics_of(definitions, *more)), "24h", definitions)
    return [line for line in printed(table, width) if line]


def cells(lines, first):
    return next(line.split() for line in lines if line.startswith(f"{first} "))


def test_every_definition_stands_with_its_counts_over_all_roles():
    """Version, digest, U, GPR with bounds, points to standard and unobserved, of 10 retrievals."""
    lines = lines_of(DEFINITIONS)
    assert cells(lines, "strict") == ["strict", "1", "a" * 12, "1", "10.0", "1–41", "-20.0", "8"]
    assert cells(lines, "standard") == ["standard", "1", "b" * 12, "3", "30.0", "10–61", "+0.0", "6"]
    assert cells(lines, "broad") == ["broad", "1", "c" * 12, "5", "50.0", "23–77", "+20.0", "4"]


def test_the_title_says_how_far_they_are_apart():
    """Max − min of GPR, in percentage points."""
    assert lines_of(DEFINITIONS)[0] == f"{TITLE} 40.0 points"
    assert lines_of((STANDARD, BROAD))[0] == f"{TITLE} 20.0 points"


def test_only_what_is_settled_is_compared():
    """Young retrievals, all of them positive by every definition, move no row."""
    young = (
        1,
        {
            "retrievals|browse|chat": 90,
            **{f"retrievals_positive|{d.name}|browse|chat": 90 for d in DEFINITIONS},
        },
    )
    assert lines_of(DEFINITIONS, young) == lines_of(DEFINITIONS)


@pytest.mark.parametrize("definitions", [(), (STANDARD,)])
def test_one_definition_has_nothing_beside_it(definitions):
    """The table is there only where there is something to compare."""
    assert definition_tables(Totals(metrics_of(definitions)), "24h", definitions) == ()


def test_nothing_settled_is_no_spread():
    """0 of 0 is no share, and three of them are no comparison."""
    young = Totals(figures(buckets((1, SETTLED)), NOW_MS, DEFINITIONS))
    assert definition_tables(young, "24h", DEFINITIONS) == ()


def test_without_standard_no_difference_is_made_up():
    """A dash stands where there is nothing to subtract."""
    ours = PublishedDefinition("ours", "7", "dddddddddddd")
    lines = lines_of((STRICT, ours))
    assert cells(lines, "strict")[-2:] == ["–", "8"]
    assert cells(lines, "ours") == ["ours", "7", "d" * 12, "0", "0.0", "0–28", "–", "10"]


@pytest.mark.parametrize(("width", "tables"), [(70, 2), (120, 1)])
def test_it_fits_into_a_terminal(width, tables):
    """Nothing is cut off: where there is no room for all, what is counted goes below."""
    lines = lines_of(DEFINITIONS, width=width)
    assert not [line for line in lines if "…" in line or len(line) > width]
    assert len([line for line in lines if line.startswith("Definitions of a")]) == tables
    assert {"a" * 12, "10.0", "8"} <= {
        cell for line in lines if line.startswith("strict") for cell in line.split()
    }


def test_the_report_shows_it_once_a_block():
    """It stands below the evidence it explains, and above what was returned."""
    lines = printed(report(NOW_MS, metrics_of(DEFINITIONS), DEFINITIONS))
    spread = [number for number, line in enumerate(lines) if line.startswith(TITLE)]
    above = next(number for number, line in enumerate(lines) if line.startswith("What became of"))
    below = next(number for number, line in enumerate(lines) if "What retrievals returned" in line)
    assert len(spread) == 1
    assert above < spread[0] < below
    assert not [
        line for line in printed(report(NOW_MS, metrics_of((STANDARD,)), (STANDARD,))) if TITLE in line
    ]
