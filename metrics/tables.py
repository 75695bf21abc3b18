"""The parts of which the report is made: rows, shares with their bounds, numbers as people read them."""

from collections.abc import Iterator, Sequence
from math import ceil, floor
from typing import Final, NamedTuple

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from metrics.intervals import Interval
from metrics.totals import Share, Totals, View

Labels = dict[str, str]

ABSENT: Final = "–"
TOTAL: Final = "total"
NEW_LINE: Final = "\n"
EIGHTHS: Final = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
BAR_CELLS: Final = 16  # long enough to compare by eye, short enough to stand beside other tables
HEADING: Final = "bold"
FAINT: Final = "dim"
ANY_WIDTH: Final = 1_000


class Fitting(NamedTuple):
    """One wide table where there is room for it, else its parts, one below the other."""

    wide: Table
    parts: Sequence[Table]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        unbound = options.update(max_width=ANY_WIDTH)
        fits = console.measure(self.wide, options=unbound).maximum <= options.max_width
        yield from (Padding(table, (1, 0, 0, 0)) for table in ([self.wide] if fits else self.parts))


def new_table(title: str, *headings: str | Text) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.title_justify, table.title_style = "left", "italic"
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    table.columns[0].justify = "left"
    return table


def rows(totals: Totals, view: View, figure: str, label: str) -> Iterator[tuple[Labels, str, str]]:
    names = sorted(totals.label_values(view, figure, label))
    for name in names:
        yield {label: name}, name, ""
    if names:
        yield {}, TOTAL, HEADING


def stacked(share: Share) -> Text:
    value, bounds = side_by_side(share)
    return Text.assemble(value, NEW_LINE, bounds) if bounds else Text(value)


def side_by_side(share: Share) -> tuple[str, Text]:
    return percent(share.value), bounds(share.interval)


def bounds(interval: Interval | None) -> Text:
    if interval is None:
        return Text()
    return Text(f"{floor(interval.lower * 100)}–{ceil(interval.upper * 100)}", FAINT)


def percent(value: float | None) -> str:
    return ABSENT if value is None else f"{value * 100:.1f}"


def number(value: float | None, digits: int = 1) -> str:
    """A number with so many digits behind the point."""
    return ABSENT if value is None else f"{value:.{digits}f}"


def bar(share: Share) -> Text:
    eighths = round(BAR_CELLS * 8 * (share.value or 0))
    return Text("█" * (eighths // 8) + EIGHTHS[eighths % 8], "cyan")
