"""The report's table of the definitions of a genuine positive, side by side over all roles.

Rules:
- It reads the settled cohort, so that every definition had the same time for its evidence.
- The spread is max − min of GPR over the definitions: how much of a GPR is a choice of words.
- With one definition, or nothing settled, there is nothing to compare and no table.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rich.table import Table
from rich.text import Text

from attribution.definitions import STANDARD
from metrics.schema import PublishedDefinition
from metrics.tables import ABSENT, Fitting, new_table, side_by_side
from metrics.totals import Share, Totals, View
from metrics.windows import SETTLED

Cells = tuple[str | Text, ...]

NAMED: Final = ("version", "digest")
COUNTED: Final = ("U", "GPR, %", "", f"points to\n{STANDARD.name}", "unobserved")


class Row(NamedTuple):
    """One definition, with what it counts in one window."""

    definition: PublishedDefinition
    positive: Share
    unobserved: int

    @property
    def points(self) -> float:
        """GPR in percentage points."""
        return 100 * self.positive.hits / self.positive.trials


def definition_tables(
    totals: Totals, window: str, definitions: Sequence[PublishedDefinition]
) -> tuple[Fitting, ...]:
    """The table of one window, or none where there is nothing to compare."""
    view = View(window, SETTLED)
    count = totals.sum(view, "lara_retrievals")
    if len(definitions) < 2 or not count:
        return ()
    rows = [_row(totals, view, definition, count) for definition in definitions]
    standard = next((row for row in rows if row.definition.name == STANDARD.name), None)
    named = [_named(row) for row in rows]
    counted = [_counted(row, standard) for row in rows]
    both = [(*some, *others) for some, others in zip(named, counted, strict=True)]
    parts = [_table(rows, NAMED, named), _table(rows, COUNTED, counted)]
    return (Fitting(_table(rows, (*NAMED, *COUNTED), both), parts),)


def _row(totals: Totals, view: View, definition: PublishedDefinition, count: int) -> Row:
    positive, unobserved = (
        totals.sum(view, figure, definition=definition.name)
        for figure in ("lara_retrievals_positive", "lara_retrievals_unobserved")
    )
    return Row(definition, Share(positive, count), unobserved)


def _table(rows: Sequence[Row], headings: Sequence[str], cells: Iterable[Cells]) -> Table:
    points = [row.points for row in rows]
    title = f"Definitions of a genuine positive, side by side: spread {max(points) - min(points):.1f} points"
    table = new_table(title, "definition", *headings)
    for row, values in zip(rows, cells, strict=True):
        table.add_row(row.definition.name, *values)
    return table


def _named(row: Row) -> Cells:
    return row.definition.version, row.definition.digest


def _counted(row: Row, standard: Row | None) -> Cells:
    difference = ABSENT if standard is None else f"{row.points - standard.points:+z.1f}"
    return (f"{row.positive.hits:,}", *side_by_side(row.positive), difference, f"{row.unobserved:,}")
