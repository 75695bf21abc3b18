"""`python -m deploy.montecarlo`: try the thresholds, and write `deploy/montecarlo.json`.

Each amount of traffic is tried with each seed: for a month without any change, and for ten days with three
changes of 30 hours.
Parts that are finished stay in a folder, so it may be stopped and goes on. It needs Prometheus and promtool.
Then run `python -m deploy.generate`, which prints it in docs/alerts.md.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product, repeat
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import msgspec

from deploy.generate import rules
from deploy.generate.alerts import expression
from deploy.generate.promql import expanded
from deploy.generate.tried import TRIED, Delay, Level, Tried, digest_of
from deploy.generate.values import Values, read_values, seconds
from deploy.montecarlo.evaluated import Labels, episodes, prometheus_on, true_minutes
from deploy.montecarlo.exported import STEP_MINUTES, write
from deploy.montecarlo.traffic import DAY, HOUR, USUAL, Change, simulate
from metrics.alerts import ALERTS

START_SECONDS: Final = 1_767_225_600  # 1 January 2026: a whole day
DAYS: Final = 30
SEEDS: Final = 5
LEVELS: Final = {"low": 300, "normal": 5_000, "high": 30_000}  # retrievals a day, over all cells
CHANGE_DAYS: Final = (4, 6, 8)
CHANGED_DAYS: Final = 10
LASTS: Final = 30 * HOUR  # longer than the longest window
# What a share becomes at noon of these days, for so long; and the alerts that may see it.
SIZES: Final = {
    "null": (0.2, 0.4, 0.8),
    "failed": (0.25, 0.4, 0.8),
    "positive": (0.15, 0.05, 0.01),
    "consumed": (0.2, 0.1, 0.02),
    "masked": (0.3, 0.5, 0.9),
    "missed": (0.2, 0.4, 0.8),
    "ndcg": (0.6, 0.4, 0.1),
    "dangling": (0.05, 0.15, 0.5),
    "role": (0.8, 0.5, 0.1),
}
SEES: Final = {
    "null": ("LaraNullRateSpike", "LaraNullsAtLowVolume"),
    "failed": ("LaraFailureRateSpike", "LaraFailuresAtLowVolume"),
    "positive": ("LaraPositivesCollapse", "LaraNoPositives"),
    "consumed": ("LaraAgentConsumptionCollapse", "LaraNoAgentConsumption"),
    "masked": ("LaraMaskedFailures",),
    "missed": ("LaraMissedRetrievals",),
    "ndcg": ("LaraNdcgDrop",),
    "dangling": ("LaraClaimsBroken",),
    "role": ("LaraLineageCoverageBroken",),
}


class Fired(NamedTuple):
    """One alert of one label set: when it began to fire, in minutes."""

    alert: str
    labels: Labels
    minutes: list[int]


class Part(NamedTuple):
    """What is tried at once."""

    level: str
    seed: int
    changed: bool

    @property
    def name(self) -> str:
        """For its file."""
        return f"{self.level}-{self.seed}-{'changed' if self.changed else 'quiet'}"


def changes() -> list[Change]:
    """Every share in three sizes."""
    return [
        Change(share, day * DAY + 12 * HOUR, day * DAY + 12 * HOUR + LASTS, size)
        for share, sizes in SIZES.items()
        for day, size in zip(CHANGE_DAYS, sizes, strict=True)
    ]


def tried(part: Part, values: Values) -> list[Fired]:
    """Simulate, back-fill, evaluate."""
    days = CHANGED_DAYS if part.changed else DAYS
    cells = simulate(part.seed, days, LEVELS[part.level], changes() if part.changed else [])
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        with (directory / "series.txt").open("w", encoding="utf-8") as out:
            write(cells, START_SECONDS, out)
        with prometheus_on(directory / "series.txt", directory) as port:
            return list(_fired(port, values, days * DAY))


def _fired(port: int, values: Values, length: int) -> Iterator[Fired]:
    records = {one.name: one.expression for group in rules.groups(values).values() for one in group}
    for alert in ALERTS.values():
        if not alert.watches:
            continue
        numbers = values.alerts[alert.name]
        hold, keep = (seconds(text) / 60 for text in (numbers.hold, numbers.keep_firing_for))
        found = true_minutes(port, expanded(expression(alert, values), records), START_SECONDS, length)
        for labels, minutes in found.items():
            yield Fired(alert.name, labels, episodes(minutes, hold, keep))


def quiet_level(name: str, parts: Sequence[list[Fired]]) -> Level:
    """False alarms a month by alert."""
    alarms = dict.fromkeys((alert.name for alert in ALERTS.values() if alert.watches), 0)
    for one in (fired for part in parts for fired in part):
        alarms[one.alert] += len(one.minutes)
    months = len(parts) * DAYS / 30
    return Level(name, LEVELS[name], {alert: count / months for alert, count in alarms.items()})


def delays(level: str, parts: Sequence[list[Fired]]) -> Iterator[Delay]:
    """How soon each change was seen: in every cell and seed that a share has, the first of its alerts."""
    for change in changes():
        names = SEES[change.share]
        cells = _cells(change.share)
        after = [_first(part, names, cell, change) for part in parts for cell in cells]
        found = sorted(minutes for minutes in after if minutes is not None)
        yield Delay(
            level,
            names[0],
            f"{USUAL[change.share]:.1%} → {change.becomes:.0%}",
            len(found),
            len(after),
            median(found) if found else None,
            found[-1] if found else None,
        )


def _cells(share: str) -> list[Labels]:
    if share == "missed":
        return [(("surface", surface),) for surface in ("chat", "editor")]
    if share in ("dangling", "role"):
        return [()]
    roles = ("browse", "act_on", "direct_lookup", "generation_reference")
    return [(("role", role), ("surface", surface)) for role, surface in product(roles, ("chat", "editor"))]


def _first(part: list[Fired], names: Sequence[str], cell: Labels, change: Change) -> int | None:
    times = [
        minute - change.start
        for fired in part
        if fired.alert in names and fired.labels == cell
        for minute in fired.minutes
        if change.start <= minute < change.end
    ]
    return min(times, default=None)


def finished(part: Part, values: Values, file: Path) -> list[Fired]:
    """From its file, which is written whole or not at all, if nobody has written it yet."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        half = file.with_suffix(".half")
        half.write_bytes(msgspec.json.encode(tried(part, values)))
        half.rename(file)
        sys.stdout.write(f"{part.name}\n")
        sys.stdout.flush()
    return msgspec.json.decode(file.read_bytes(), type=list[Fired])


def main(folder: Path) -> None:
    """All parts that are not finished yet, one a processor at a time, and then the whole."""
    values = read_values()
    digest = digest_of(values)
    parts = [Part(*one) for one in product(LEVELS, range(1, SEEDS + 1), (False, True))]
    files = [folder / f"{digest}-{part.name}.json" for part in parts]
    with ProcessPoolExecutor() as pool:
        found = dict(zip(parts, pool.map(finished, parts, repeat(values), files), strict=True))
    quiet = {level: [found[part] for part in parts if part[::2] == (level, False)] for level in LEVELS}
    changed = {level: [found[part] for part in parts if part[::2] == (level, True)] for level in LEVELS}
    result = Tried(
        digest,
        DAYS,
        SEEDS,
        STEP_MINUTES,
        [quiet_level(*one) for one in quiet.items()],
        [delay for one in changed.items() for delay in delays(*one)],
    )
    TRIED.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "lara-montecarlo")
