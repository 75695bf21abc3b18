"""`lara worst`: the queries and assets with the worst record, as tables or as JSON."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console, Group, RenderableType
from rich.text import Text

from metrics.report import instant
from metrics.tables import FAINT, new_table, side_by_side
from metrics.totals import Share
from metrics.worst import Table, Worst
from streams.commands.population import Period, period, population
from streams.commands.source import source
from streams.settings import Settings


class Asked(NamedTuple):
    """What to rank, by which measure (None: by all), and how much of it to show."""

    subjects: str
    by: str | None
    window: str
    limit: int
    least: int
    as_of: int | None


def worst(settings: Settings, files: Sequence[Path], asked: Asked, as_json: bool) -> None:
    """Print the worst queries or assets of some files, or of the live state."""
    when, tables = asyncio.run(ranked(settings, files, asked))
    if as_json:
        sys.stdout.write(as_data(when, asked, tables) + "\n")
    else:
        Console(highlight=False).print(in_tables(when, asked, tables))


async def ranked(settings: Settings, files: Sequence[Path], asked: Asked) -> tuple[Period, list[Table]]:
    """The tables, and the window they are of."""
    async with source(settings, files) as found:
        when = period(found, asked.as_of, asked.window, settings)
        record = Worst(asked.subjects, asked.by, when.spans)
        async for one in population(found, settings.semantics):
            record.add(one)
    return when, record.tables(asked.limit, asked.least)


def as_data(when: Period, asked: Asked, tables: Sequence[Table]) -> str:
    """One JSON object; texts are as they were sent."""
    found = [
        {"by": table.measure.name, "cohort": table.measure.cohort, "rows": table.rows} for table in tables
    ]
    named = {"as_of": instant(when.as_of), "window": when.window, "subjects": asked.subjects}
    return msgspec.json.encode({**named, "tables": found}).decode()


def in_tables(when: Period, asked: Asked, tables: Sequence[Table]) -> RenderableType:
    """A table a measure, each under the words that say what its n and count are."""
    heading = f"Worst {asked.subjects}, window {when.window}, as of {instant(when.as_of)}"
    return Group(Text(heading, "bold"), *(part for table in tables for part in _table(table, asked)))


def _table(found: Table, asked: Asked) -> list[RenderableType]:
    measure = found.measure
    words = Text(f"n: {measure.of}; count: {measure.hits}; cohort {measure.cohort}", FAINT)
    if not found.rows:
        none = f"{measure.title}: none of those with n ≥ {asked.least}"
        return ["", Text(none, "italic"), words]
    table = new_table(measure.title, asked.subjects, "n", "count", "%", "95 % bounds")
    for row in found.rows:
        table.add_row(
            Text(printable(row.text)), f"{row.n:,}", f"{row.count:,}", *side_by_side(Share(row.count, row.n))
        )
    return ["", table, words]


def printable(text: str) -> str:
    """Text of others on a terminal: on one line, and without what a terminal obeys."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
