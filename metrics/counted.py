"""The catalogue read backwards: from stored counters to the published figures that they are in.

Rules:
- A counter is read by a figure if one of the figure's terms names it; a label of the figure's own that the
  term leaves open takes every value.
- What one thing counts lies in the minute of its own event time. A window holds that minute or not, and the
  minute is mature or not: so a thing adds the same to a figure in every window that holds it.
- Minutes that lie in the same windows are added up. What adds nothing is no entry.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from attribution.contribution import Contribution, Counter
from metrics.catalogue import CATALOGUE
from metrics.schema import Figure, Kind, Part, Term
from metrics.windows import LIVE, SETTLED, WINDOWS, end_minute, slice_of

Values = Mapping[str, Sequence[str]]  # of every label that is a figure's own, definitions too
Labels = tuple[tuple[str, str], ...]


class Use(NamedTuple):
    """One figure with its labels, and the term of it that reads a counter."""

    figure: Figure
    labels: Labels
    of_denominator: bool
    term: Term


class Entry(NamedTuple):
    """What some counters add to one figure; a count has no denominator. Scores are in the figure's unit."""

    figure: Figure
    labels: Labels
    numerator: int
    denominator: int | None

    @property
    def value(self) -> int | float:
        """The numerator, in the unit in which the figure is published."""
        scale = self.figure.formula.scale
        return self.numerator if scale == 1 else self.numerator / scale


class Counted(NamedTuple):
    """What is counted in minutes that lie in the same windows, by cohort; in none yet, what will be."""

    minutes: tuple[int, ...]
    windows: Mapping[str, tuple[str, ...]]
    entries: tuple[Entry, ...]


def figures_reading(counter: Counter, values: Values) -> list[Use]:
    """Every figure, with its labels, whose numerator or denominator this counter is in."""
    parts = counter.split("|")
    uses: list[Use] = []
    for figure in CATALOGUE:
        group = figure.scope.group.labels
        name, of_group = parts[: len(parts) - len(group)], parts[len(parts) - len(group) :]
        for own in _own_labels(figure, values):
            labels = (*zip(group, of_group, strict=False), *own)
            uses += [Use(figure, labels, *side) for side in _sides(figure, "|".join(name), dict(own))]
    return uses


def _own_labels(figure: Figure, values: Values) -> Iterator[Labels]:
    scope = figure.scope
    for chosen in product(*(scope.values or values[name] for name in scope.labels)):
        yield tuple(zip(scope.labels, chosen, strict=True))


def _sides(figure: Figure, name: str, own: Mapping[str, str]) -> Iterator[tuple[bool, Term]]:
    """The terms that read a counter of this name: (of the denominator?, term)."""
    for of_denominator, terms in ((False, figure.formula.numerator), (True, figure.formula.denominator)):
        yield from ((of_denominator, term) for term in terms if term.counter.format_map(own) == name)


def counted(contribution: Contribution, as_of_ms: int, horizon_minutes: int, values: Values) -> list[Counted]:
    """What a contribution is in, as of a time (ms since the epoch), by the windows that hold its minutes."""
    end = end_minute(as_of_ms)
    minutes: dict[tuple[tuple[str, ...], tuple[str, ...]], list[int]] = {}
    for minute in sorted({minute for minute, _ in contribution}):
        places = (
            _windows(minute, LIVE, end, horizon_minutes),
            _windows(minute, SETTLED, end, horizon_minutes),
        )
        minutes.setdefault(places, []).append(minute)
    return [
        Counted(
            tuple(same),
            {LIVE: live, SETTLED: settled},
            tuple(_entries(_summed(contribution, same), bool(settled), values)),
        )
        for (live, settled), same in minutes.items()
    ]


def _windows(minute: int, cohort: str, end: int, horizon_minutes: int) -> tuple[str, ...]:
    return tuple(name for name in WINDOWS if slice_of(name, cohort, end, horizon_minutes).whole.holds(minute))


def _summed(contribution: Contribution, minutes: Sequence[int]) -> dict[Counter, int]:
    sums: dict[Counter, int] = {}
    for (minute, name), count in contribution.items():
        if minute in minutes:
            sums[name] = sums.get(name, 0) + count
    return sums


def _entries(counters: Mapping[Counter, int], mature: bool, values: Values) -> Iterator[Entry]:
    sums: dict[tuple[Figure, Labels], list[int]] = {}
    unread = Part.YOUNG if mature else Part.MATURE
    for name, amount in counters.items():
        for use in figures_reading(name, values):
            if mature or use.figure.scope.cohorts != (SETTLED,):
                both = sums.setdefault((use.figure, use.labels), [0, 0])
                both[use.of_denominator] += 0 if use.term.part is unread else use.term.sign * amount
    order = list(CATALOGUE).index
    for (figure, labels), (numerator, denominator) in sorted(sums.items(), key=lambda one: order(one[0][0])):
        if numerator or denominator:
            counts = figure.formula.kind is Kind.COUNT
            yield Entry(figure, labels, numerator, None if counts else denominator)
