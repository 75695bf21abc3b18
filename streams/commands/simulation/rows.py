"""How the books are counted: windows, label sets, rows, ratios."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Protocol, TypedDict, TypeVar

MINUTE = 60_000
MATURITY = 30 * MINUTE
WIDTHS = {"5m": 5 * MINUTE, "1h": 60 * MINUTE, "6h": 360 * MINUTE, "24h": 1440 * MINUTE, "7d": 10080 * MINUTE}
WINDOWS = (*WIDTHS, "all")

Labels = dict[str, str]


class Timed(Protocol):
    """Something that counts by its own time."""

    @property
    def ts(self) -> int: ...


Thing = TypeVar("Thing", bound=Timed)


class Row(TypedDict):
    """One figure with its labels."""

    name: str
    labels: Labels
    value: float


def within(things: Iterable[Thing], end: int, window: str) -> list[Thing]:
    """Those whose own event time lies in the window that ends at `end`."""
    start = end - WIDTHS[window] if window in WIDTHS else None
    return [thing for thing in things if thing.ts < end and (start is None or thing.ts >= start)]


def grouped(things: Iterable[Thing], *names: str) -> Iterator[tuple[Labels, list[Thing]]]:
    """The things of each label set."""
    groups: defaultdict[tuple[str, ...], list[Thing]] = defaultdict(list)
    for thing in things:
        groups[tuple(getattr(thing, name) for name in names)].append(thing)
    for values, members in sorted(groups.items(), key=lambda group: group[0]):
        yield dict(zip(names, values, strict=True)), members


def ratio(name: str, labels: Labels, numerator: int, denominator: int) -> Iterator[Row]:
    """The ratio or mean, if there is anything to divide by."""
    if denominator:
        yield row(name, labels, numerator / denominator)


def share(name: str, labels: Labels, holds: list[bool]) -> Iterator[Row]:
    """How many of them, over how many there are."""
    yield from ratio(name, labels, sum(holds), len(holds))


def row(name: str, labels: Labels, value: float) -> Row:
    """One row."""
    return {"name": name, "labels": labels, "value": value}
