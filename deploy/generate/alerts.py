"""Alerting rules: expression, labels and what a reader is told, from the table of alerts and the values.

Rules:
- An alert on a share compares its sure bound with the limit, asks for a least n, and is taken back as soon as
  the short window is surely on the other side of the limit. A short window without cases says nothing.
- A share without cases is absent, and what is absent fires nothing.
- The summary of such an alert says value, n, interval and limit, from the very series that were compared.
"""

from string import Template
from typing import Any, Final

from deploy.generate.rules import GenerationError, figure_of, series
from deploy.generate.values import Collapse, Few, Plain, Rise, Values, seconds
from metrics.alerts import ALERTS, Alert, Form
from metrics.runbooks import RUNBOOKS
from metrics.watched import WATCHED, Watched

PERCENT: Final = "humanizePercentage"
# By layer: the dashboard that shows it.
DASHBOARDS: Final = {
    "0": "lara-planner",
    "1": "lara-health",
    "2": "lara-attribution",
    "1 and 2": "lara-health",
    "lineage": "lara-health",
    "pipeline": "lara-pipeline",
    "state": "lara-pipeline",
}


def expression(alert: Alert, values: Values) -> str:
    """The PromQL of an alert."""
    numbers = values.alerts[alert.name]
    names = {what: series(alert.watches, what) for what in SERIES}
    match numbers:
        case Rise():
            return RISE.substitute(names, minimum=numbers.minimum)
        case Collapse():
            return COLLAPSE.substitute(names, minimum=numbers.minimum)
        case Few():
            shared = values.alerts[alert.extends]
            assert isinstance(shared, Rise | Collapse)
            text = FEW_BAD if alert.form is Form.FEW_BAD else FEW_GOOD
            counts = {"minimum": shared.minimum, "count": numbers.count, "less": numbers.count - 0.5}
            return text.substitute(names, **counts)
        case Plain():
            return _plain(alert, numbers, values)


SERIES: Final = (
    *("ratio", "n", "lower", "upper", "limit", "recent_lower", "recent_upper"),
    *("few_ratio", "few_n", "few_lower", "few_upper"),
)
RISE: Final = Template(
    "$ratio\nand $n >= $minimum\nand $lower > $limit\nunless $recent_upper < $limit",
)
COLLAPSE: Final = Template(
    "$ratio\nand $n >= $minimum\nand $upper < $limit\nunless $recent_lower > $limit",
)
# A count of cases is value × n, and half a case below it, so that no rounding can lose one.
FEW_BAD: Final = Template(
    "$few_ratio\nand $few_ratio * $few_n > $less\nand $few_lower > $limit\nunless $n >= $minimum",
)
FEW_GOOD: Final = Template(
    "$few_ratio == 0\nand $few_n >= $count\nand $few_upper < $limit\nunless $n >= $minimum",
)


def _plain(alert: Alert, numbers: Plain, values: Values) -> str:
    for needed in alert.figures:
        figure_of(needed, alert.name)
    template = Template(alert.expression.strip())
    given = {**values.prometheus.jobs, **{name: _number(name, one) for name, one in numbers.numbers.items()}}
    unused = numbers.numbers.keys() - set(template.get_identifiers())
    if unused:
        raise GenerationError(f"{alert.name} has no use for {sorted(unused)}")
    try:
        return template.substitute(given)
    except KeyError as missing:
        raise GenerationError(f"{alert.name} needs the number {missing}") from None


def _number(name: str, number: float | str) -> str:
    """As PromQL wants it: a range is a duration, anything else is compared, so in seconds."""
    compared = isinstance(number, str) and name != "window"
    return plain(seconds(str(number)) if compared else number)


def plain(number: float | str) -> str:
    """A number without a needless fraction."""
    return number if isinstance(number, str) else f"{number:g}"


def summary(alert: Alert, values: Values) -> str:
    """One line: what, where, value, n, interval, limit."""
    if not alert.watches:
        return alert.summary
    watched, few = WATCHED[alert.watches], isinstance(values.alerts[alert.name], Few)
    prefix = "few_" if few else ""
    read = {what: _read(watched, what) for what in SERIES}
    end = "above" if alert.form in (Form.RISE, Form.FEW_BAD) else "below"
    return (
        f"{watched.words} of {_place(watched)}: {{{{ $value | {PERCENT} }}}} of n = {read[prefix + 'n']}, "
        f"95 % interval {read[prefix + 'lower']} to {read[prefix + 'upper']}, "
        f"alarming {end} {read['limit']}"
    )


def _place(watched: Watched) -> str:
    return ", ".join(f"{label} {{{{ $labels.{label} }}}}" for label in watched.by)


def _read(watched: Watched, what: str) -> str:
    """A template that asks for a recorded series with the labels of the alert."""
    text = ",".join(f"{label}=%q" for label in watched.by)
    labels = " ".join(f"$labels.{label}" for label in watched.by)
    shown = "value" if what.endswith("n") else f"value | {PERCENT}"
    asked = f'printf "{series(watched.key, what)}{{{text}}}" {labels}'
    return f"{{{{ with {asked} | query }}}}{{{{ . | first | {shown} }}}}{{{{ end }}}}"


def rule(alert: Alert, values: Values) -> dict[str, Any]:
    """One alerting rule, as Prometheus reads it."""
    if alert.name not in RUNBOOKS:
        raise GenerationError(f"{alert.name} has no runbook")
    numbers = values.alerts[alert.name]
    return {
        "alert": alert.name,
        "expr": expression(alert, values),
        "for": numbers.hold,
        "keep_firing_for": numbers.keep_firing_for,
        "labels": labels(alert),
        "annotations": annotations(alert, values),
    }


def labels(alert: Alert) -> dict[str, str]:
    """What routes and inhibition go by."""
    return {"severity": alert.severity.value, "kind": alert.kind.value, "layer": alert.layer}


def annotations(alert: Alert, values: Values) -> dict[str, str]:
    """What a reader is told."""
    return {
        "summary": summary(alert, values),
        "description": RUNBOOKS[alert.name].meaning,
        "runbook_url": f"{values.links.runbooks}#{alert.name.lower()}",
        "dashboard_url": f"{values.links.dashboards}/{DASHBOARDS[alert.layer]}",
    }


def groups(values: Values) -> dict[str, list[dict[str, Any]]]:
    """The alerting rules by kind."""
    found: dict[str, list[dict[str, Any]]] = {}
    for alert in ALERTS.values():
        found.setdefault(f"lara-alerts-{alert.kind.value}", []).append(rule(alert, values))
    return found
