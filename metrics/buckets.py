"""Counters in minute buckets, and how they are read back.

Rules:
- A counter is one text, `name|label|label`: labels in a fixed order, no label value holds `|`.
- A thing counts in the minute of its own event time; what changes later adds a difference to that minute.
- Readers know nothing of figures, windows or cohorts: they sum counters over spans of whole minutes.
- All spans of one evaluation are asked for in one call, so a reader may answer it from one round trip.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

Counters = Mapping[str, int]


class Span(NamedTuple):
    """Whole minutes since the epoch, `start <= minute < end`; a `start` of None is the beginning of time."""

    start: int | None
    end: int

    def holds(self, minute: int) -> bool:
        """Does this minute lie in the span?"""
        return (self.start is None or self.start <= minute) and minute < self.end


class CounterReader(Protocol):
    """Whatever can sum counters: a store, or the buckets of a batch run."""

    def sums(self, spans: Sequence[Span]) -> list[Counters]:
        """The sum of every counter over each span, in the order asked; an empty span sums to nothing."""


class MinuteBuckets:
    """The buckets in memory: of a batch run over a file, and of tests. Zero entries vanish."""

    def __init__(self) -> None:
        self._minutes: dict[int, dict[str, int]] = {}

    def add(self, minute: int, counter: str, delta: int) -> None:
        """Add a difference to one counter of one minute (minutes since the epoch)."""
        bucket = self._minutes.setdefault(minute, {})
        bucket[counter] = bucket.get(counter, 0) + delta
        if not bucket[counter]:
            del bucket[counter]
        if not bucket:
            del self._minutes[minute]

    def sums(self, spans: Sequence[Span]) -> list[Counters]:
        """As `CounterReader.sums`."""
        return [self._sum(span) for span in spans]

    def _sum(self, span: Span) -> Counters:
        total: dict[str, int] = {}
        for bucket in self._buckets(span):
            for counter, value in bucket.items():
                total[counter] = total.get(counter, 0) + value
        return {counter: value for counter, value in total.items() if value}

    def _buckets(self, span: Span) -> Iterator[dict[str, int]]:
        return (bucket for minute, bucket in self._minutes.items() if span.holds(minute))
