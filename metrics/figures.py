"""From counters to published figures: a pure function of a reader and a time.

Rules:
- One evaluation asks the reader once, for all its spans.
- A ratio or mean whose denominator is 0 is absent, never 0 and never NaN.
- A count is printed, as 0 too, for every label set of its group that is seen in the live `7d` window or in
  the very window that is printed, with every value of its own labels' vocabulary.
- A ratio comes with its bounds, `…_lower` and `…_upper`. What is no share (a numerator below 0 or above its
  denominator: never, while the state is whole) is absent as well; its counts show why.
- Order: catalogue, window, cohort, label set, own labels; the bounds follow their ratio.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from msgspec import Struct

from metrics.buckets import CounterReader, Counters, Span
from metrics.catalogue import CATALOGUE
from metrics.intervals import wilson
from metrics.schema import Figure, Group, Kind, Part, PublishedDefinition, Sum
from metrics.vocabularies import VOCABULARIES
from metrics.windows import DEFAULT_HORIZON_MINUTES, LIVE, WINDOWS, Slice, end_minute, slice_of

LOWER: Final = "_lower"
UPPER: Final = "_upper"

# A label set that went quiet stays visible for as long as the longest window of the exporter.
SEEN_WINDOW: Final = "7d"

LabelValues = tuple[str, ...]
Definitions = Sequence[PublishedDefinition]
Vocabularies = Mapping[str, Sequence[str]]


class Metric(Struct, frozen=True):
    """One published value, shaped as in the JSON of the contract, section 7."""

    name: str
    labels: dict[str, str]
    value: int | float


class Cell(NamedTuple):
    """One figure in one window of one cohort (None: the figure has none), with or without bounds."""

    figure: Figure
    window: str
    cohort: str | None
    bounds: bool = True


def figures(
    reader: CounterReader,
    as_of_ms: int,
    definitions: Definitions,
    horizon_minutes: int = DEFAULT_HORIZON_MINUTES,
    windows: Sequence[str] = WINDOWS,
    vocabularies: Vocabularies = VOCABULARIES,
) -> list[Metric]:
    """Every figure of the catalogue in the given windows, with all bounds, as report and backtest print them.

    `as_of_ms` is the time asked about, in ms since the epoch. Raises whatever the reader raises.
    """
    return evaluate(reader, as_of_ms, definitions, horizon_minutes, every_cell(windows), vocabularies)


def exported_figures(
    reader: CounterReader,
    as_of_ms: int,
    definitions: Definitions,
    horizon_minutes: int = DEFAULT_HORIZON_MINUTES,
    vocabularies: Vocabularies = VOCABULARIES,
) -> list[Metric]:
    """The figures that the exporter prints: of each row the windows and bounds that it names."""
    return evaluate(reader, as_of_ms, definitions, horizon_minutes, exported_cells(), vocabularies)


def every_cell(windows: Sequence[str]) -> list[Cell]:
    """All figures in all cohorts that they have, in these windows."""
    return [
        Cell(figure, window, cohort)
        for figure, window in product(CATALOGUE, windows)
        for cohort in figure.cohorts
    ]


def exported_cells() -> list[Cell]:
    """What the catalogue's rows let the exporter print."""
    return [
        Cell(figure, window, cohort, bounds=cohort != LIVE and window in figure.exported.bounds)
        for figure, window in product(CATALOGUE, WINDOWS)
        for cohort in figure.cohorts
        if window in figure.exported.windows(cohort)
    ]


def evaluate(
    reader: CounterReader,
    as_of_ms: int,
    definitions: Definitions,
    horizon_minutes: int,
    cells: Sequence[Cell],
    vocabularies: Vocabularies = VOCABULARIES,
) -> list[Metric]:
    """The values of these cells, in their order."""
    end = end_minute(as_of_ms)
    slices = [slice_of(cell.window, cell.cohort, end, horizon_minutes) for cell in cells]
    seen = slice_of(SEEN_WINDOW, None, end, horizon_minutes)
    sums = _ask(reader, (seen, *slices))
    label_sets = _label_sets_by_span(sums, seen.whole)
    names = tuple(definition.name for definition in definitions)
    values = {**vocabularies, "definition": names}
    return [
        metric
        for cell, minutes in zip(cells, slices, strict=True)
        for labels in label_sets(cell.figure.scope.group, minutes.whole)
        for own_labels in _own_labels(cell.figure, values)
        for metric in _metrics(cell, labels, own_labels, _parts(sums, minutes))
    ]


def _ask(reader: CounterReader, slices: Iterable[Slice]) -> dict[Span, Counters]:
    spans = list(dict.fromkeys(span for minutes in slices for span in minutes))
    return dict(zip(spans, reader.sums(spans), strict=True))


def _parts(sums: Mapping[Span, Counters], minutes: Slice) -> dict[Part, Counters]:
    return {Part.WHOLE: sums[minutes.whole], Part.MATURE: sums[minutes.mature]}


def _label_sets_by_span(
    sums: Mapping[Span, Counters], seen: Span
) -> Callable[[Group, Span], list[LabelValues]]:
    @cache
    def label_sets(group: Group, span: Span) -> list[LabelValues]:
        return sorted({*_label_sets(group, sums[span]), *_label_sets(group, sums[seen])})

    return label_sets


def _label_sets(group: Group, counters: Counters) -> Iterator[LabelValues]:
    for counter, value in counters.items():
        name, *labels = counter.split("|")
        if name == group.anchor and value:
            yield tuple(labels[len(labels) - len(group.labels) :])


def _own_labels(figure: Figure, vocabularies: Mapping[str, Sequence[str]]) -> Iterator[LabelValues]:
    scope = figure.scope
    return product(*(scope.values or vocabularies[name] for name in scope.labels))


def _metrics(
    cell: Cell, group_labels: LabelValues, own_labels: LabelValues, parts: Mapping[Part, Counters]
) -> list[Metric]:
    figure = cell.figure
    own = dict(zip(figure.scope.labels, own_labels, strict=True))
    numerator = _total(figure.formula.numerator, own, group_labels, parts)
    denominator = _total(figure.formula.denominator, own, group_labels, parts)
    values = _VALUES[figure.formula.kind](cell, numerator, denominator)
    labels = _labels(cell, group_labels, own) if values else {}
    return [Metric(figure.name + suffix, labels, value) for suffix, value in values.items()]


def _labels(cell: Cell, group_labels: LabelValues, own: Mapping[str, str]) -> dict[str, str]:
    cohort = {"cohort": cell.cohort} if cell.cohort else {}
    group = dict(zip(cell.figure.scope.group.labels, group_labels, strict=True))
    return {"window": cell.window, **cohort, **group, **own}


def _total(terms: Sum, own: Mapping[str, str], labels: LabelValues, parts: Mapping[Part, Counters]) -> int:
    return sum(
        term.sign * _read(term.part, "|".join((term.counter.format_map(own), *labels)), parts)
        for term in terms
    )


def _read(part: Part, counter: str, parts: Mapping[Part, Counters]) -> int:
    if part is Part.YOUNG:
        return parts[Part.WHOLE].get(counter, 0) - parts[Part.MATURE].get(counter, 0)
    return parts[part].get(counter, 0)


def _count(cell: Cell, numerator: int, denominator: int) -> dict[str, int | float]:
    return {"": numerator}


def _mean(cell: Cell, numerator: int, denominator: int) -> dict[str, int | float]:
    return {"": numerator / (denominator * cell.figure.formula.scale)} if denominator > 0 else {}


def _ratio(cell: Cell, numerator: int, denominator: int) -> dict[str, int | float]:
    if denominator == 0 or not 0 <= numerator <= denominator:
        return {}
    share: dict[str, int | float] = {"": numerator / denominator}
    interval = wilson(numerator, denominator) if cell.bounds else None
    return share | ({LOWER: interval.lower, UPPER: interval.upper} if interval else {})


# From the sums of a figure to its values, by the suffix of their names.
_VALUES: Final[Mapping[Kind, Callable[[Cell, int, int], dict[str, int | float]]]] = {
    Kind.COUNT: _count,
    Kind.MEAN: _mean,
    Kind.RATIO: _ratio,
}
