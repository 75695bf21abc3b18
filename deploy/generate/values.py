"""The one file of values, typed: numbers, windows, durations, links and addresses of what is generated.

Rules:
- What is unknown, missing or of the wrong type is an error that names the place.
- The numbers of an alert depend on its form; every alert of the table has some, and nothing else has.
- A threshold that the least number of cases could never reach is an error: such an alert would be a promise
  that nobody keeps.
- A second file may shorten durations. It changes nothing else.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
import yaml
from msgspec import Meta, Struct

from deploy.generate.promql import bounds
from metrics.alerts import ALERTS, Form

DEPLOY: Final = Path(__file__).parents[1]
VALUES: Final = DEPLOY / "values.yaml"
SHORT: Final = DEPLOY / "values-short.yaml"

Duration = Annotated[str, Meta(pattern=r"^\d+(ms|s|m|h|d)$")]
Window = Annotated[str, Meta(pattern=r"^(5m|1h|6h|24h|7d)$")]
Share = Annotated[float, Meta(gt=0, lt=1)]
Count = Annotated[int, Meta(ge=1)]
Target = Annotated[str, Meta(pattern=r"^[^\s:/]+:\d+$")]
Address = Annotated[str, Meta(pattern=r"^https?://\S+$")]
Read = TypeVar("Read", bound=Struct)
UNITS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


class ValuesError(Exception):
    """A value is wrong; the message says which, and what it must be."""


class Rule(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename={"hold": "for"}):
    """What every alert has: how long it must be so, and how long it fires on after it no longer is."""

    hold: Duration
    keep_firing_for: Duration


class Rise(Rule, frozen=True, kw_only=True):
    """A share is alarming above max(threshold, baseline + rise × (1 − baseline))."""

    threshold: Share
    rise: Share
    baseline: Share  # as long as there is no history
    highest_baseline: Share  # what is nearly always so cannot spike
    minimum: Count
    long: Window
    short: Window

    def limit(self, baseline: float) -> float:
        """Above which the share is alarming."""
        return max(self.threshold, baseline + self.rise * (1 - baseline))


class Collapse(Rule, frozen=True, kw_only=True):
    """A share or mean is alarming below min(threshold, left × baseline)."""

    threshold: Share
    left: Share
    baseline: Share  # as long as there is no history
    lowest_baseline: Share  # what is nearly never so cannot collapse
    minimum: Count
    long: Window
    short: Window

    def limit(self, baseline: float) -> float:
        """Below which the value is alarming."""
        return min(self.threshold, self.left * baseline)


class Few(Rule, frozen=True, kw_only=True):
    """At least so many cases in a longer window, where the other rule has too few."""

    window: Window
    count: Count


class Plain(Rule, frozen=True, kw_only=True):
    """The numbers of an expression, by name."""

    numbers: Mapping[str, float | Duration]


Numbers = Rise | Collapse | Few | Plain


class Baseline(Struct, frozen=True, forbid_unknown_fields=True):
    """The history that a share is compared with: its mean over `range`, ended `offset` ago."""

    range: Duration
    step: Duration
    offset: Duration
    samples: Count  # steps with a value that make a history


class Prometheus(Struct, frozen=True, forbid_unknown_fields=True):
    """How often it looks, and where."""

    scrape_interval: Duration
    evaluation_interval: Duration
    jobs: Mapping[str, str]  # of worker, exporter and canary: the name of the scrape job
    discovery: Literal["dns", "static"]
    targets: Mapping[str, list[Target]]  # of these, and of alertmanager


class Notify(Struct, frozen=True, forbid_unknown_fields=True):
    """How Alertmanager groups and repeats, and where it sends."""

    group_wait: Duration
    group_interval: Duration
    repeat_interval: Mapping[str, Duration]  # by severity
    receivers: Mapping[str, Address]  # by severity


class Links(Struct, frozen=True, forbid_unknown_fields=True):
    """Where readers of an alert go on."""

    runbooks: Address
    dashboards: Address


class Values(Struct, frozen=True):
    """All of it."""

    prometheus: Prometheus
    notify: Notify
    links: Links
    baseline: Baseline
    alerts: Mapping[str, Numbers]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    prometheus: Prometheus
    notify: Notify
    links: Links
    baseline: Baseline
    alerts: dict[str, dict[str, Any]]
    thresholds: dict[str, Any]  # of dashboards: `thresholds.py` reads them


FORMS: Final[Mapping[Form, type[Rise] | type[Collapse] | type[Few]]] = {
    Form.RISE: Rise,
    Form.COLLAPSE: Collapse,
    Form.FEW_BAD: Few,
    Form.FEW_GOOD: Few,
}


def read_values(*files: Path) -> Values:
    """The values of the first file, as the others change them. Raises `ValuesError`."""
    merged: dict[str, Any] = {}
    for file in files or (VALUES,):
        merged = merge(merged, yaml.safe_load(file.read_text("utf-8")))
    file_values = _convert(merged, _File, "")
    _refuse_other_names(file_values.alerts)
    alerts = {name: _numbers(name, given) for name, given in file_values.alerts.items()}
    for name, numbers in alerts.items():
        _refuse_unreachable(name, numbers)
        _refuse_unreachable_count(name, alerts)
    shared = (file_values.prometheus, file_values.notify, file_values.links, file_values.baseline)
    return Values(*shared, alerts)


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping below, with what the mapping above says otherwise, at any depth."""
    return {
        **below,
        **{
            key: merge(below[key], value) if isinstance(value, dict) and key in below else value
            for key, value in above.items()
        },
    }


def seconds(duration: str) -> float:
    """How long a duration is."""
    number, unit = duration.rstrip("smhd"), duration.lstrip("0123456789")
    return int(number) * UNITS[unit]


def _numbers(name: str, given: Mapping[str, Any]) -> Numbers:
    form = ALERTS[name].form
    if form is not Form.PLAIN:
        return _convert(given, FORMS[form], name)
    own = {key: value for key, value in given.items() if key not in ("for", "keep_firing_for")}
    return _convert({**{key: given[key] for key in given.keys() - own.keys()}, "numbers": own}, Plain, name)


def _convert(given: Any, wanted: type[Read], where: str) -> Read:
    try:
        return msgspec.convert(given, wanted)
    except msgspec.ValidationError as error:
        raise ValuesError(f"{where or 'values'}: {error}") from None


def _refuse_other_names(given: Mapping[str, object]) -> None:
    unknown, missing = given.keys() - ALERTS.keys(), ALERTS.keys() - given.keys()
    if unknown or missing:
        raise ValuesError(f"alerts: unknown {sorted(unknown)}, missing {sorted(missing)}")


def _refuse_unreachable(name: str, numbers: Numbers) -> None:
    """The least number of cases, all of them bad, must fire."""
    if isinstance(numbers, Rise):
        highest = max(map(numbers.limit, (numbers.baseline, numbers.highest_baseline)))
        if bounds(1.0, numbers.minimum).lower <= highest:
            raise ValuesError(f"{name}: {numbers.minimum} of {numbers.minimum} do not reach {highest:.3g}")
    if isinstance(numbers, Collapse):
        lowest = min(map(numbers.limit, (numbers.baseline, numbers.lowest_baseline)))
        if bounds(0.0, numbers.minimum).upper >= lowest:
            raise ValuesError(f"{name}: 0 of {numbers.minimum} do not reach {lowest:.3g}")


def _refuse_unreachable_count(name: str, alerts: Mapping[str, Numbers]) -> None:
    """So must the count of a rule for low volume, by the limit that it shares while there is no history."""
    few, shared = alerts[name], alerts.get(ALERTS[name].extends)
    if isinstance(few, Few) and isinstance(shared, Rise | Collapse):
        limit, bad = shared.limit(shared.baseline), isinstance(shared, Rise)
        reached = bounds(1.0, few.count).lower > limit if bad else bounds(0.0, few.count).upper < limit
        if not reached:
            raise ValuesError(f"{name}: {few.count} cases do not reach {limit:.3g}")
