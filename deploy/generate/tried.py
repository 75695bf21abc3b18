"""What `python -m deploy.montecarlo` found, as committed, and the digest of the rules it was found with."""

import hashlib
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from deploy.generate import alerts, rules
from deploy.generate.values import Values
from metrics.alerts import ALERTS
from metrics.markdown import table

TRIED: Final = Path(__file__).parents[1] / "montecarlo.json"


class Level(Struct, frozen=True):
    """One amount of traffic: false alarms a month by alert, and the delays of spikes."""

    name: str
    retrievals_a_day: int
    alarms_a_month: dict[str, float]


class Delay(Struct, frozen=True):
    """How long after a change its alert fired, in minutes, over all seeds; None: never."""

    level: str
    alert: str
    change: str
    found: int
    of: int
    median_minutes: float | None
    longest_minutes: float | None


class Tried(Struct, frozen=True):
    """All that was found, and the digest of the rules that it was found with."""

    digest: str
    days: int
    seeds: int
    step_minutes: int
    levels: list[Level]
    delays: list[Delay]


def digest_of(values: Values) -> str:
    """Of everything that decides when an alert on a share fires."""
    watching = [alert for alert in ALERTS.values() if alert.watches]
    lines = [f"{one.name} {one.expression}" for group in rules.groups(values).values() for one in group]
    for alert in watching:
        numbers = values.alerts[alert.name]
        lines.append(
            f"{alert.name} {alerts.expression(alert, values)} {numbers.hold} {numbers.keep_firing_for}"
        )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def read_tried() -> Tried:
    """What is committed."""
    return msgspec.json.decode(TRIED.read_bytes(), type=Tried)


def tried_markdown(_: Values) -> str:
    """The tables of docs/alerts.md."""
    tried = read_tried()
    names = sorted({name for level in tried.levels for name in level.alarms_a_month})
    alarms = [
        (f"`{name}`", *(f"{level.alarms_a_month.get(name, 0.0):.1f}" for level in tried.levels))
        for name in names
    ]
    total = ("all", *(f"{sum(level.alarms_a_month.values()):.1f}" for level in tried.levels))
    columns = [f"{level.name} ({level.retrievals_a_day:,} a day)" for level in tried.levels]
    delays = [
        (f"`{one.alert}`", one.change, one.level, f"{one.found} of {one.of}", *map(_minutes, _times(one)))
        for one in tried.delays
    ]
    return (
        f"{ABOUT.format(days=tried.days, seeds=tried.seeds, step=tried.step_minutes, digest=tried.digest)}\n"
        f"False alarms a month, over 8 cells of role and surface:\n\n"
        f"{table(('alert', *columns), [*alarms, total])}\n\n"
        f"Detection, from the minute of the change to the alert:\n\n"
        f"{table(('alert', 'change', 'traffic', 'found', 'median', 'longest'), delays)}"
    )


def _times(delay: Delay) -> tuple[float | None, float | None]:
    return delay.median_minutes, delay.longest_minutes


def _minutes(minutes: float | None) -> str:
    return "–" if minutes is None else f"{minutes:.0f} min"


ABOUT: Final = """\
`python -m deploy.montecarlo` simulates {days} days of counts a minute with {seeds} seeds: a daily cycle,
sessions whose retrievals succeed or fail together, and shares that drift. It back-fills what the exporter
would have printed into Prometheus, lets Prometheus evaluate the very expressions of the rules every {step}
minutes, and applies `for` and `keep_firing_for`. Run with the rules of digest `{digest}`, which a test
compares with those of today.
"""
