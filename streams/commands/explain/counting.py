"""Which figures something is in: published names, the windows that hold its minute, and stored counters."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from rich.markup import escape

from attribution.contribution import Contribution
from attribution.semantics import MINUTE_MS, minute_of
from metrics.counted import Counted, Entry, counted
from metrics.schema import Kind
from metrics.windows import LIVE, SETTLED, end_minute, slice_of
from streams.commands.explain.asking import Question
from streams.commands.explain.words import instant, listed

OVER: Final = {Kind.RATIO: "of", Kind.MEAN: "over"}


def counted_in(contribution: Contribution, question: Question) -> list[Counted]:
    """Of what something counts: the figures, by the windows that hold it."""
    return counted(contribution, question.moment, question.settings.maturity_minutes, question.values)


def is_mature(ts: int, question: Question) -> bool:
    """Is what happened at `ts` (ms) in the settled cohort?"""
    end = end_minute(question.moment)
    settled = slice_of("all", SETTLED, end, question.settings.maturity_minutes)
    return settled.whole.holds(minute_of(ts))


def matures(ts: int, question: Question) -> str:
    """After which time what happened at `ts` (ms) is settled."""
    return instant((minute_of(ts) + question.settings.maturity_minutes) * MINUTE_MS)


def figures_data(contribution: Contribution, question: Question) -> dict[str, Any]:
    """For programs: `counted`, the stored counters with their minute, and `figures`, what reads them."""
    figures = [
        {
            "name": entry.figure.name,
            "labels": dict(entry.labels),
            "numerator": entry.value,
            "denominator": entry.denominator,
            "windows": {cohort: same.windows[cohort] for cohort in _cohorts(entry)},
        }
        for same in counted_in(contribution, question)
        for entry in same.entries
    ]
    return {"counted": counters_data(contribution), "figures": figures}


def counters_data(contribution: Contribution) -> list[dict[str, Any]]:
    """The stored counters, each with its minute."""
    return [
        {"minute": instant(minute * MINUTE_MS), "counter": counter, "count": count}
        for (minute, counter), count in contribution.items()
    ]


def _cohorts(entry: Entry) -> Sequence[str]:
    return entry.figure.scope.cohorts or (LIVE,)


def figures_words(contribution: Contribution, question: Question) -> Iterator[str]:
    """For people: a block for each set of windows, a line for each figure."""
    if not contribution:
        yield "\n[bold]in no figure[/bold]"
        return
    for same in counted_in(contribution, question):
        yield "\n[bold]in these figures[/bold]"
        yield from _where(same, question)
        shared = _shared(same.entries)
        if shared:
            yield "  " + escape(listed(f"{name} {value}" for name, value in shared.items()))
        width = max((len(entry.figure.name) for entry in same.entries), default=0)
        for name, entries in groupby(same.entries, lambda entry: entry.figure.name):
            yield "  " + escape(f"{name:<{width}}  {_folded(list(entries), list(shared))}")


def stored_words(contribution: Contribution) -> Iterator[str]:
    """The counters of which figures are made, as they are stored."""
    if contribution:
        yield "\n[bold]stored as these counters[/bold] of the minute"
    for (_, counter), count in contribution.items():
        yield f"  {count:+d}  {escape(counter)}"


def changes(contribution: Contribution, question: Question) -> list[str]:
    """The counts that a difference changes, by how much."""
    entries = [
        entry
        for same in counted_in(contribution, question)
        for entry in same.entries
        if entry.figure.formula.kind is Kind.COUNT
    ]
    shared = list(_shared(entries))
    return [
        f"{name} {_folded(list(some), shared, '+')}"
        for name, some in groupby(entries, lambda entry: entry.figure.name)
    ]


def _where(same: Counted, question: Question) -> Iterator[str]:
    first, last = (instant(minute * MINUTE_MS) for minute in (same.minutes[0], same.minutes[-1]))
    several = f"{len(same.minutes)} minutes from {first} to {last}"
    yield f"  counted in {f'the minute {first}' if first == last else several}"
    live, settled = same.windows[LIVE], same.windows[SETTLED]
    asked = f"as of {instant(question.moment)}"
    if not live:
        yield f"  in no window yet {asked}: windows end before this minute; ask with a later --as-of"
    elif not any(entry.figure.scope.cohorts for entry in same.entries):
        yield f"  in the windows {listed(live)} {asked}"
    elif not settled:
        settling = matures(same.minutes[-1] * MINUTE_MS, question)
        yield f"  in the windows {listed(live)} (live) {asked}; settled after {settling}"
    elif live == settled:
        yield f"  in the windows {listed(live)} (live and settled) {asked}"
    else:
        yield f"  in the windows {listed(live)} (live) and {listed(settled)} (settled) {asked}"


def _shared(entries: Sequence[Entry]) -> dict[str, str]:
    """The labels that have one value in all entries that have them."""
    values: dict[str, set[str]] = {}
    for entry in entries:
        for name in entry.figure.scope.group.labels:
            values.setdefault(name, set()).add(dict(entry.labels)[name])
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1}


def _folded(entries: Sequence[Entry], shared: Sequence[str], sign: str = "") -> str:
    """The values of one figure, each followed by the labels that it has; equal values together."""
    cohorts = entries[0].figure.scope.cohorts
    only = f", {cohorts[0]} only" if len(cohorts) == 1 else ""
    labels: dict[str, list[list[tuple[str, str]]]] = {}
    for entry in entries:
        own = [(name, value) for name, value in entry.labels if name not in shared]
        labels.setdefault(_amount(entry, sign), []).append(own)
    return listed(f"{value}{_labelled(sets)}" for value, sets in labels.items()) + only


def _labelled(sets: Sequence[Sequence[tuple[str, str]]]) -> str:
    if not sets[0]:
        return ""
    if all(len(labels) == 1 for labels in sets):
        each = " each" if len(sets) > 1 else ""
        return f"{each} ({sets[0][0][0]} {listed(labels[0][1] for labels in sets)})"
    return " " + " ".join(f"({listed(f'{name} {value}' for name, value in labels)})" for labels in sets)


def _amount(entry: Entry, sign: str = "") -> str:
    """How much: a count, `1 of 1` for a share, `4 over 1` for a mean; `sign` "+" for a difference."""
    value = f"{entry.value:{sign}}" if isinstance(entry.value, int) else f"{entry.value:{sign}.3f}"
    kind = entry.figure.formula.kind
    return value if kind is Kind.COUNT else f"{value} {OVER[kind]} {entry.denominator}"
