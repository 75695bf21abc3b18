"""5b. How things are chosen by window, and counted, divided and bounded (contract, section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from tests.second_reading.resolving import Resolved
from tests.second_reading.rules import WINDOWS, Z


class Labelled(Protocol):
    """Something that is counted by its own time, under its own labels."""

    @property
    def ts(self) -> int: ...

    @property
    def labels(self) -> tuple[str, ...]: ...


T = TypeVar("T", bound=Labelled)
Row = dict[str, Any]
Labels = dict[str, str]


def is_within(ts: int, window: str, end: int) -> bool:
    width = WINDOWS[window]
    return ts < end and (width is None or ts >= end - width)


def within(things: Iterable[T], window: str, end: int) -> list[T]:
    return [thing for thing in things if is_within(thing.ts, window, end)]


def acts_within(resolved: Resolved, window: str, end: int) -> Resolved:
    return [(act, resolution) for act, resolution in resolved if is_within(act.ts, window, end)]


def by_labels(
    things: Sequence[T], names: Sequence[str], window: str, end: int, cohort_end: int | None = None
) -> Iterator[tuple[Labels, list[T]]]:
    """What is in the window, for each label set seen in it or in `7d` (which ends at `end`, always)."""
    chosen = within(things, window, end if cohort_end is None else cohort_end)
    for key in sorted({thing.labels for thing in [*within(things, "7d", end), *chosen]}):
        labels = {"window": window} | dict(zip(names, key, strict=True))
        yield labels, [thing for thing in chosen if thing.labels == key]


def row(name: str, labels: Labels, value: float) -> Row:
    return {"name": name, "labels": dict(labels), "value": value}


def count(name: str, labels: Labels, things: Iterable[object]) -> Row:
    return row(name, labels, sum(1 for thing in things if thing))


def ratio(name: str, labels: Labels, part: Iterable[object], whole: Sequence[object]) -> Iterator[Row]:
    """A ratio of counts and its 95 % Wilson bounds; nothing at all over nothing."""
    k, n = sum(1 for thing in part if thing), len(whole)
    if n == 0:
        return
    lower, upper = wilson(k, n)
    yield row(name, labels, k / n)
    yield row(name + "_lower", labels, lower)
    yield row(name + "_upper", labels, upper)


def wilson(k: int, n: int) -> tuple[float, float]:
    p = k / n
    centre = p + Z * Z / (2 * n)
    half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    lower = 0.0 if k == 0 else (centre - half) / scale
    upper = 1.0 if k == n else (centre + half) / scale
    return lower, upper
