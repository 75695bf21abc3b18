"""Recording rules: what alerts compare, and shares added up over labels.

Rules:
- Of every share that is watched: value, n and bounds in the long window, what is recent, the baseline and the
  limit. Alerts read these series and their own annotations do, so both say the same.
- A bound that the exporter prints is taken from there. Where it prints none, it is computed from value and n.
- There are no series for "all": counts are added up and divided, with bounds of their own.
- A figure that the catalogue no longer has is an error, and nothing is written.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from deploy.generate.promql import lower, selector, upper
from deploy.generate.values import Baseline, Collapse, Few, Rise, Values
from metrics.alerts import ALERTS, RECORDED, Alert
from metrics.catalogue import CATALOGUE
from metrics.figures import LOWER, UPPER
from metrics.schema import Figure, Kind
from metrics.watched import WATCHED, Watched
from metrics.windows import SETTLED

RECENT: Final = "recent_"
BOUND: Final = {LOWER: lower, UPPER: upper}


class GenerationError(Exception):
    """What is asked for cannot be made; the message says why."""


class Record(NamedTuple):
    """One recording rule."""

    name: str
    expression: str


def figure_of(name: str, needed_by: str) -> Figure:
    """A row of the catalogue. Raises `GenerationError`."""
    for figure in CATALOGUE:
        if figure.name == name:
            return figure
    raise GenerationError(f"{needed_by} needs the figure {name}, which the catalogue does not have")


def series(key: str, what: str) -> str:
    """The name of a recorded series of a watched share."""
    return f"lara:{key}:{what}"


# --- what is watched --------------------------------------------------------------------------------


def value(watched: Watched, window: str) -> str:
    """The share itself."""
    if watched.value:
        return watched.value.replace("{window}", window)
    return _exported(watched, window, "")


def cases(watched: Watched, window: str) -> str:
    """Out of how many."""
    return watched.n.replace("{window}", window)


def bound(watched: Watched, window: str, end: str, share: str, n: str) -> str:
    """A bound, as the exporter prints it, else computed from the series `share` and `n`."""
    figure = figure_of(watched.figure, watched.key)
    if not watched.value and window in figure.exported.bounds:
        return _exported(watched, window, end)
    return BOUND[end](share, n)


def watching(alert: Alert, numbers: Rise | Collapse, few: Few | None, baseline: Baseline) -> Iterator[Record]:
    """The series that an alert, and its rule for low volume, compare."""
    watched = WATCHED[alert.watches]
    for needed in (watched.figure, *watched.counted):
        figure_of(needed, alert.name)
    yield from _window(watched, "", numbers.long, (LOWER, UPPER))
    yield from _window(watched, RECENT, numbers.short, (UPPER if isinstance(numbers, Rise) else LOWER,))
    if few is not None:
        yield from _window(watched, "few_", few.window, (LOWER, UPPER))
    yield Record(series(watched.key, "baseline"), _baseline(watched.key, numbers.baseline, baseline))
    yield Record(series(watched.key, "limit"), _limit(watched.key, numbers))


def _window(watched: Watched, prefix: str, window: str, ends: Iterable[str]) -> Iterator[Record]:
    share, n = (series(watched.key, prefix + what) for what in ("ratio", "n"))
    bounds = {end: bound(watched, window, end, share, n) for end in ends}
    if prefix != RECENT or any(n in expression for expression in bounds.values()):
        yield Record(share, value(watched, window))
        yield Record(n, cases(watched, window))
    for end, expression in bounds.items():
        yield Record(series(watched.key, prefix + end.strip("_")), expression)


def _exported(watched: Watched, window: str, end: str) -> str:
    figure = figure_of(watched.figure, watched.key)
    if window not in figure.exported.windows(watched.where.get("cohort")):
        raise GenerationError(
            f"{watched.key} needs the window {window} of {figure.name}, which is not exported"
        )
    labels = ", ".join(watched.by)
    return f"max by ({labels}) ({selector(watched.figure + end, window=window, **watched.where)})"


def _baseline(key: str, configured: float, baseline: Baseline) -> str:
    """The mean of hours, ended a day ago; the configured one where there are too few."""
    history = f"{series(key, 'ratio')}[{baseline.range}:{baseline.step}] offset {baseline.offset}"
    return (
        f"avg_over_time({history})\n  and count_over_time({history}) >= {baseline.samples}\n"
        f"or {series(key, 'n')} * 0 + {configured}"
    )


def _limit(key: str, numbers: Rise | Collapse) -> str:
    usual = series(key, "baseline")
    if isinstance(numbers, Rise):
        risen = f"({usual} <= {numbers.highest_baseline}) * {1 - numbers.rise:.6g} + {numbers.rise}"
        return f"clamp_min({risen}, {numbers.threshold})"
    return f"clamp_max(({usual} >= {numbers.lowest_baseline}) * {numbers.left}, {numbers.threshold})"


# --- shares added up --------------------------------------------------------------------------------


def added_up() -> Iterator[Record]:
    """Every headline share of counts that are exported, over all surfaces of a role, and over everything."""
    counts = {figure.formula.numerator: figure for figure in CATALOGUE if figure.formula.kind is Kind.COUNT}
    for figure in CATALOGUE:
        hits, n = counts.get(figure.formula.numerator), counts.get(figure.formula.denominator)
        if figure.exported.bounds and hits is not None and n is not None:
            for level, labels in (("role", ("role",)), ("all", ())):
                yield from _level(figure, (hits, n), level, ("window", *labels))


def _level(
    figure: Figure, counts: tuple[Figure, Figure], level: str, by: tuple[str, ...]
) -> Iterator[Record]:
    hits, n = (_sum(figure, one, by) for one in counts)
    share, cases = (f"{level}:{figure.name}:{what}" for what in ("share", "n"))
    on = ", ".join(by)
    yield Record(cases, f"{hits} * 0\n+ on ({on}) group_left () {n}")
    yield Record(share, f"{hits}\n/ ({cases} > 0)")
    for end in (LOWER, UPPER):
        yield Record(f"{level}:{figure.name}:{end.strip('_')}", BOUND[end](share, cases))


def _sum(figure: Figure, count: Figure, by: tuple[str, ...]) -> str:
    """A count in the windows that have bounds, read from one of several exporters."""
    own = count.scope.labels
    windows = "|".join(figure.exported.bounds)
    cohort = f', cohort="{SETTLED}"' if count.scope.cohorts else ""
    inner = ", ".join(("window", *count.scope.group.labels, *own))
    outer = ", ".join((*by, *own))
    return f'sum by ({outer}) (max by ({inner}) ({count.name}{{window=~"{windows}"{cohort}}}))'


# --- all of it --------------------------------------------------------------------------------------


def groups(values: Values) -> dict[str, list[Record]]:
    """What alerts compare, by group, in the order in which it is evaluated."""
    found: dict[str, list[Record]] = {}
    for alert in ALERTS.values():
        numbers = values.alerts[alert.name]
        if alert.watches and isinstance(numbers, Rise | Collapse):
            few = _few(alert, values)
            found[f"lara-{alert.watches}"] = list(watching(alert, numbers, few, values.baseline))
    return found


def of_the_pipeline() -> list[Record]:
    """What alerts on the pipeline itself compare."""
    return [Record(name, text.strip()) for name, text in RECORDED.items()]


def _few(alert: Alert, values: Values) -> Few | None:
    for other in ALERTS.values():
        numbers = values.alerts[other.name]
        if other.extends == alert.name and isinstance(numbers, Few):
            return numbers
    return None
