"""`lara report --compare PREFIX`: the figures of two states, row by row. Code 1 if they differ.

Rules:
- Both are read as of the same time, each under its own meaning: a rebuild is often made because that changed.
  What differs in meaning is said first.
- Bounds are left out: they follow from the counts.
"""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import click
import msgspec
from redis import Redis
from rich.console import Console
from rich.table import Table

from metrics.figures import LOWER, UPPER, Metric, figures
from metrics.vocabularies import with_routes
from metrics.windows import WINDOWS
from streams.commands.backtest import NotKnown
from streams.settings import Settings, published
from streams.state.keys import Keys
from streams.state.meaning import OtherMeaning, check_meaning, read_meaning
from streams.state.redis_buckets import RedisBuckets

SHOWN: Final = 40
Labels = tuple[tuple[str, str], ...]


class Row(NamedTuple):
    """A figure that differs; a value that is absent is None."""

    figure: str
    labels: Labels
    this: float | None
    other: float | None


class Compared(NamedTuple):
    """How many rows are equal, and those that are not."""

    equal: int
    differing: list[Row]


def compare(this: Iterable[Metric], other: Iterable[Metric]) -> Compared:
    """Two sets of figures, row by row."""
    ours, theirs = _by_row(this), _by_row(other)
    rows = [Row(*row, ours.get(row), theirs.get(row)) for row in sorted(ours.keys() | theirs.keys())]
    differing = [row for row in rows if row.this != row.other]
    return Compared(len(rows) - len(differing), differing)


def _by_row(metrics: Iterable[Metric]) -> dict[tuple[str, Labels], float]:
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for one in metrics
        if not one.name.endswith((LOWER, UPPER))
    }


def compare_states(settings: Settings, other: str, as_of: int | None, as_json: bool) -> None:
    """Print how the state of the settings and another one differ."""
    moment = int(time.time() * 1000) if as_of is None else as_of
    names = (settings.state_name, other)
    meanings = [_meaning(settings, name) for name in names]
    try:
        check_meaning(meanings[1], meanings[0])
    except OtherMeaning as difference:
        click.echo(f"{other}: {difference}", err=True)
    found = [_figures(settings, name, text, moment) for name, text in zip(names, meanings, strict=True)]
    compared = compare(*found)
    if as_json:
        click.echo(msgspec.json.encode(as_data(moment, names, compared)).decode())
    else:
        click.echo(f"{compared.equal:,} rows are equal, {len(compared.differing):,} differ")
        if compared.differing:
            Console().print(_table(names, compared.differing), highlight=False)
    if compared.differing:
        sys.exit(1)


def _meaning(settings: Settings, name: str) -> str:
    with Redis.from_url(settings.redis_address, socket_timeout=5, socket_connect_timeout=2) as client:
        found: Any = client.hget(f"{Keys(name, 1).base(0)}:meta", "meaning")
    if found is None:
        raise NotKnown(f"there is no state {name}")
    return str(found.decode())


def _figures(settings: Settings, name: str, meaning: str, as_of: int) -> list[Metric]:
    semantics, shards = read_meaning(meaning)
    reader = RedisBuckets(settings.redis_address, semantics, prefix=name, shards=shards)
    try:
        return figures(
            reader,
            as_of,
            published(semantics.definitions),
            settings.maturity_minutes,
            WINDOWS,
            with_routes(semantics.routes),
        )
    finally:
        reader.close()


def as_data(as_of: int, names: Sequence[str], compared: Compared) -> Mapping[str, Any]:
    """For programs: everything that differs."""
    rows = [{**row._asdict(), "labels": dict(row.labels)} for row in compared.differing]
    return {"as_of": as_of, "this": names[0], "other": names[1], "equal": compared.equal, "differing": rows}


def _table(names: Sequence[str], rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("figure", "labels"):
        table.add_column(heading, overflow="fold")
    for heading in names:
        table.add_column(heading, justify="right")
    for row in rows[:SHOWN]:
        labels = " ".join(f"{name}={value}" for name, value in row.labels)
        table.add_row(row.figure, labels, _number(row.this), _number(row.other))
    if len(rows) > SHOWN:
        table.add_row("…", f"{len(rows) - SHOWN:,} more: --json lists all")
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
