"""When an alert must fire and when not: cases for promtool, made from the forms and their numbers.

Rules:
- Every alert has the five cases of `EVERY`, and some have more.
- A case is a row of phases: minutes of what is exported, with the bounds that the exporter would print.
- What fires is looked at before `for` is over, after it, while `keep_firing_for` holds, and after that.
- The least n with nothing but bad cases must fire: so a threshold that cannot be reached is seen here too.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple

from deploy.generate.promql import bounds, selector
from deploy.generate.rules import figure_of
from deploy.generate.values import Collapse, Few, Numbers, Rise, Values, seconds
from metrics.alerts import Alert
from metrics.figures import LOWER, UPPER
from metrics.watched import WATCHED, Watched

EVERY: Final = ("fires", "stays quiet", "low traffic", "n = 0", "absent")
LABELS: Final = {
    "role": "browse",
    "surface": "chat",
    "field": "role",
    "resolution": "dangling",
}
# With which shares a history is tried: usual, and changed.
LEARNING: Final = {"LaraNullRateSpike": (0.3, 0.5)}
MANY: Final = 4000
Exported = Mapping[str, float]  # series -> value
Windows = Mapping[str, tuple[float, int]]  # window -> (share, n)

Firing = tuple[tuple[Mapping[str, str], str], ...]  # labels and summary


class Phase(NamedTuple):
    """So many minutes with these values; what has none is absent."""

    minutes: int
    exported: Exported


class Look(NamedTuple):
    """At this minute: what fires, as labels and summary."""

    minute: int
    firing: Firing = ()


class Case(NamedTuple):
    """What is exported, a sample a minute in promtool's notation, and what must be seen.

    `step` is how many minutes lie between two evaluations.
    """

    name: str
    series: Mapping[str, str]
    looks: tuple[Look, ...]
    step: int = 1


def minutes(duration: str) -> int:
    """Whole minutes, rounded up."""
    return ceil(seconds(duration) / 60)


def series_of(phases: Sequence[Phase]) -> dict[str, str]:
    """Every series over all phases."""
    names = dict.fromkeys(name for phase in phases for name in phase.exported)
    return {name: " ".join(_run(phase, name) for phase in phases) for name in names}


def _run(phase: Phase, name: str) -> str:
    value = phase.exported.get(name)
    return f"_x{phase.minutes}" if value is None else f"{value!r}+0x{phase.minutes - 1}"


# --- what the exporter would print ------------------------------------------------------------------


def exported(watched: Watched, windows: Windows) -> dict[str, float]:
    """The series of a watched share in some windows; without cases the counts only."""
    found: dict[str, float] = {}
    for window, (share, n) in windows.items():
        found |= _counts(watched, window, share, n)
        if n and not watched.value:
            found |= _shares(watched, window, share, n)
    return found


def _shares(watched: Watched, window: str, share: float, n: int) -> dict[str, float]:
    labels = {"window": window, **watched.where, **{label: LABELS[label] for label in watched.by}}
    interval = bounds(share, n)
    ends = {"": share}
    if window in figure_of(watched.figure, watched.key).exported.bounds:
        ends |= {LOWER: interval.lower, UPPER: interval.upper}
    return {selector(watched.figure + end, **labels): value for end, value in ends.items()}


def _counts(watched: Watched, window: str, share: float, n: int) -> dict[str, float]:
    cell = {"window": window, "role": LABELS["role"], "surface": LABELS["surface"]}
    bad = round(share * n)
    match watched.key:
        case "claims":
            split = {"dangling": bad, "explicit": n - bad, "none": 900}
            return {
                selector("lara_actions", window=window, resolution=one): count for one, count in split.items()
            }
        case "missed":
            return {selector("lara_intent_labelled_prompts", window=window, surface=LABELS["surface"]): n}
        case "coverage":
            return {selector("lara_retrievals", cohort="live", **cell): n}
    return {selector(watched.counted[0], **cell, **_cohort(watched)): n}


def _cohort(watched: Watched) -> dict[str, str]:
    return {"cohort": watched.where["cohort"]} if "cohort" in watched.where else {}


# --- the forms --------------------------------------------------------------------------------------


def cases_of_a_share(alert: Alert, values: Values) -> Iterator[Case]:
    """The cases of an alert that watches a share."""
    numbers, watched = values.alerts[alert.name], WATCHED[alert.watches]
    if isinstance(numbers, Few):
        shared = values.alerts[alert.extends]
        assert isinstance(shared, Rise | Collapse)
        yield from _few(alert, watched, numbers, shared)
    elif isinstance(numbers, Rise | Collapse):
        yield from _enough(alert, watched, numbers, values)


def _enough(alert: Alert, watched: Watched, numbers: Rise | Collapse, values: Values) -> Iterator[Case]:
    bad, n, limit = (
        (1.0 if isinstance(numbers, Rise) else 0.0),
        numbers.minimum,
        numbers.limit(numbers.baseline),
    )

    def both(share: float, cases: int) -> dict[str, float]:
        return exported(watched, {numbers.long: (share, cases), numbers.short: (share, cases)})

    text = _summary(watched, numbers, bad, n, limit)
    usual = both(numbers.baseline, 40 * n)
    yield _fires("fires", numbers, both(bad, n), usual, (_labels(watched), text))
    yield _quiet("stays quiet", numbers, usual)
    yield _quiet("low traffic", numbers, both(bad, n - 1))
    yield _quiet("n = 0", numbers, both(bad, 0))
    yield _quiet("absent", numbers, {})
    yield _quiet("beyond the limit, but not surely", numbers, both(limit, n))
    over = exported(watched, {numbers.long: (bad, n), numbers.short: (numbers.baseline, 40 * n)})
    yield _quiet("surely over", numbers, over)
    if alert.name in LEARNING:
        yield _learnt(alert, watched, numbers, values)


def _few(alert: Alert, watched: Watched, few: Few, shared: Rise | Collapse) -> Iterator[Case]:
    bad, limit = (1.0 if isinstance(shared, Rise) else 0.0), shared.limit(shared.baseline)

    def both(share: float, cases: int, in_the_hour: int = 0) -> dict[str, float]:
        return exported(watched, {few.window: (share, cases), shared.long: (share, in_the_hour)})

    text = _summary(watched, shared, bad, few.count, limit)
    usual = both(shared.baseline, 10 * few.count)
    yield _fires("fires", few, both(bad, few.count), usual, (_labels(watched), text))
    yield _quiet("stays quiet", few, usual)
    yield _quiet("low traffic", few, both(bad, few.count - 1))
    yield _quiet("n = 0", few, both(bad, 0))
    yield _quiet("absent", few, {})
    yield _quiet("the hour holds enough for the other rule", few, both(bad, 900, shared.minimum))


def _learnt(alert: Alert, watched: Watched, numbers: Rise | Collapse, values: Values) -> Case:
    """What is usual fires until there is a history of it, and no more then; a change from there does."""
    usual, changed = LEARNING[alert.name]
    learnt = minutes(values.baseline.offset) + values.baseline.samples * minutes(values.baseline.step) + 60

    def phase(length: int, share: float) -> Phase:
        return Phase(length, exported(watched, dict.fromkeys((numbers.long, numbers.short), (share, MANY))))

    def firing(share: float, limit: float) -> Firing:
        return ((_labels(watched), _summary(watched, numbers, share, MANY, limit)),)

    looks = (
        Look(300, firing(usual, numbers.limit(numbers.baseline))),
        Look(learnt - 5),
        Look(learnt + 60, firing(changed, numbers.limit(usual))),
    )
    return Case("learns", series_of((phase(learnt, usual), phase(90, changed))), looks, 5)


def _labels(watched: Watched) -> dict[str, str]:
    return {label: LABELS[label] for label in watched.by}


def _summary(watched: Watched, form: Rise | Collapse, share: float, n: int, limit: float) -> str:
    """As Prometheus fills the template in."""
    interval = bounds(share, n)
    end = "above" if isinstance(form, Rise) else "below"
    place = ", ".join(f"{label} {LABELS[label]}" for label in watched.by)
    return (
        f"{watched.words} of {place}: {percent(share)} of n = {n}, "
        f"95 % interval {percent(interval.lower)} to {percent(interval.upper)}, "
        f"alarming {end} {percent(limit)}"
    )


def percent(share: float) -> str:
    """As Prometheus' humanizePercentage."""
    return f"{share * 100:.4g}%"


def _fires(
    name: str, numbers: Numbers, bad: Exported, good: Exported, firing: tuple[Mapping[str, str], str]
) -> Case:
    """It fires after `for`, and for `keep_firing_for` after it was last so."""
    hold, keep, step = minutes(numbers.hold), minutes(numbers.keep_firing_for), step_of(numbers)
    over = hold + 3 * step
    phases = (Phase(over, bad), Phase(keep + 4 * step, good))
    looks = (Look(hold - step), Look(hold + step, (firing,)), Look(over + keep // 2, (firing,)))
    return Case(name, series_of(phases), (*looks, Look(over + keep + 2 * step)), step)


def _quiet(name: str, numbers: Numbers, exported_all_along: Exported) -> Case:
    hold, step = minutes(numbers.hold), step_of(numbers)
    phases = (Phase(hold + 3 * step, exported_all_along),)
    return Case(name, series_of(phases), (Look(hold + 2 * step),), step)


def step_of(numbers: Numbers) -> int:
    """Minutes between two evaluations in a test: many where durations are long, so that tests are short."""
    return 1 if minutes(numbers.hold) % 5 else 5
