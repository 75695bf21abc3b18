"""Counters as the core writes them, for the tests of what is made of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from metrics.buckets import Counters, MinuteBuckets, Span
from metrics.catalogue import CATALOGUE
from metrics.figures import Metric
from metrics.schema import Figure, PublishedDefinition, Term
from metrics.vocabularies import VOCABULARIES

MINUTE_MS = 60_000
NOW_MINUTE = 29_000_000
NOW_MS = NOW_MINUTE * MINUTE_MS

STRICT = PublishedDefinition("strict", "1", "aaaaaaaaaaaa")
STANDARD = PublishedDefinition("standard", "1", "bbbbbbbbbbbb")
BROAD = PublishedDefinition("broad", "1", "cccccccccccc")
DEFINITIONS = (STRICT, STANDARD, BROAD)
DEFINITION_NAMES = tuple(definition.name for definition in DEFINITIONS)

ROLES = ("direct_lookup", "browse", "act_on", "generation_reference", "task_step", "contextual")
SURFACES = ("chat", "gallery", "editor", "unknown")
OUTCOME_ACTIONS = ("export", "share", "download")
RESOLUTIONS = ("explicit", "inherited", "document", "request", "inferred", "none", "refuted", "dangling")
LABELS = {**VOCABULARIES, "definition": DEFINITION_NAMES}
GROUPS = {"role": ROLES, "surface": SURFACES, "action": OUTCOME_ACTIONS}


def buckets(*minutes: tuple[int, Mapping[str, int]]) -> MinuteBuckets:
    """Buckets with these counters, each set some minutes before now (0 is the minute that has just begun)."""
    filled = MinuteBuckets()
    for minutes_ago, counters in minutes:
        for counter, value in counters.items():
            filled.add(NOW_MINUTE - minutes_ago, counter, value)
    return filled


def busy(minutes_ago: Iterable[int] = (1, 32)) -> MinuteBuckets:
    """Every counter of every role, surface, action and definition: live and settled, in every window."""
    counters = dict.fromkeys((counter for figure in CATALOGUE for counter in _counters(figure)), 1)
    return buckets(*((minutes, counters) for minutes in minutes_ago))


def _counters(figure: Figure) -> Iterator[str]:
    """The counters that a figure reads, with every value of every label."""
    scope = figure.scope
    own = [scope.values or LABELS[name] for name in scope.labels]
    group = [GROUPS[name] for name in scope.group.labels]
    for term in (Term(scope.group.anchor), *figure.formula.numerator, *figure.formula.denominator):
        for values in product(*own):
            named = term.counter.format_map(dict(zip(scope.labels, values, strict=True)))
            yield from ("|".join((named, *labels)) for labels in product(*group))


def values(metrics: Iterable[Metric], name: str, **labels: str) -> list[int | float]:
    """The values of the metrics of a name that have these labels."""
    return [
        metric.value for metric in metrics if metric.name == name and labels.items() <= metric.labels.items()
    ]


class CountingReader:
    """A reader that remembers what it was asked."""

    def __init__(self, buckets: MinuteBuckets) -> None:
        self.calls: list[list[Span]] = []
        self._buckets = buckets

    def sums(self, spans: Sequence[Span]) -> list[Counters]:
        self.calls.append(list(spans))
        return self._buckets.sums(spans)


class BrokenReader:
    """A reader whose state cannot be read."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def sums(self, spans: Sequence[Span]) -> list[Counters]:
        raise self._error
