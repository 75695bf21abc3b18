"""docs/alerts.md: every alert, its numbers, how they were tried, and its runbook."""

from collections.abc import Iterator
from typing import Final

from deploy.generate.alerts import plain
from deploy.generate.tried import tried_markdown
from deploy.generate.values import Collapse, Few, Numbers, Plain, Rise, Values
from metrics.alerts import ALERTS, Alert, Form, Kind
from metrics.markdown import link, table
from metrics.runbooks import RUNBOOKS
from metrics.runbooks.runbook import Runbook
from metrics.watched import WATCHED

HEAD: Final = """\
# Alerts

For whoever is on call, and for whoever sets thresholds. This page is written by `python -m deploy.generate`
from `metrics/alerts.py`, `metrics/runbooks/` and `deploy/values.yaml`. So are the rules in
`deploy/prometheus/`, their tests, and the routes in `deploy/alertmanager/`. What to watch beside alerts:
[operating](operating.md#what-to-watch).

- [All alerts](#all-alerts)
- [How a share is judged](#how-a-share-is-judged)
- [Numbers](#numbers)
- [How the thresholds were tried](#how-the-thresholds-were-tried)
- [What silences what](#what-silences-what)
- [Set it up](#set-it-up)
- [Runbooks](#runbooks)
"""
JUDGED: Final = """\
## How a share is judged

A rise is compared by its 95 % Wilson **lower** bound, a collapse by the **upper** one: what chance alone
explains fires nothing. Bounds that the exporter prints are taken from it; others are computed from value
and n. A mean from 0 to 1 (NDCG) is treated like a share, which is wide enough.

- **Baseline**: the mean of the share over {range}, one value each {step}, ended {offset} ago, by role and
  surface. As long as there are fewer than {samples} values, the configured one. So an incident does not
  become the norm in a day.
- **Limit** of a rise: `threshold`, or higher: from the baseline `rise` of the way to 100 %. Of a collapse:
  `threshold`, or lower: `left` of the baseline. What is usually above `highest_baseline` cannot spike, and
  what is usually below `lowest_baseline` cannot collapse: there it is silent.
- **Least n**: `minimum` in the long window. That many cases, all bad, do reach the limit: generation
  refuses others.
- **Two windows**: the long one must be surely beyond the limit. The short one takes the alert back as soon
  as it is surely on the other side; without cases it says nothing.
- **Low volume**: where the hour holds fewer than `minimum`, an absolute count in a longer window decides:
  at least `count` bad ones, and still surely beyond the same limit; or not a single good one of at least
  `count`.
- **No cases, no share**: what is 0/0 is absent and fires nothing. Missing figures are LaraExporterDown's.
- `for` is how long it must be so, `keep_firing_for` how long it fires on after it no longer is, so that a
  value near the limit is one alert and not ten.
"""
SETUP: Final = """\
## Set it up

1. Change `deploy/values.yaml`: addresses of the scraped processes, webhooks, links. Then `python -m
   deploy.generate`.
2. Start Prometheus on `deploy/prometheus/prometheus.yml` and Alertmanager on
   `deploy/alertmanager/alertmanager.yml`. They were tried with Prometheus 2.42 (older ones do not know
   `keep_firing_for`) and Alertmanager 0.25.
3. The receiver of `none` hears the watchdog every few minutes. It must cry out when it hears nothing.

Rules may run in a Prometheus that scrapes other things too: they read `lara_…` series, and `up` of the jobs
that the values name. One lara deployment a Prometheus: the rules do not tell two apart.

`deploy/prometheus/tests/` holds unit tests of every rule, for `promtool test rules`.
"""


def alerts_markdown(values: Values) -> str:
    """The page."""
    baseline = values.baseline
    judged = JUDGED.format(
        range=baseline.range, step=baseline.step, offset=baseline.offset, samples=baseline.samples
    )
    parts = (
        HEAD,
        f"## All alerts\n\n{_overview()}\n",
        judged,
        f"## Numbers\n\n{numbers_markdown(values)}\n",
        f"## How the thresholds were tried\n\n{tried_markdown(values)}\n",
        f"## What silences what\n\n{_silences()}\n",
        SETUP,
        "## Runbooks\n",
        *(_runbook(name) for name in ALERTS),
    )
    return "\n".join(parts)


def _overview() -> str:
    rows = [
        (link(alert.name), alert.layer, alert.severity.value, RUNBOOKS[alert.name].meaning)
        for alert in ALERTS.values()
    ]
    return table(("alert", "layer", "severity", "what it means"), rows)


def numbers_markdown(values: Values) -> str:
    """What every alert compares with, and for how long."""
    rows = [
        (
            f"`{alert.name}`",
            f"`{WATCHED[alert.watches].figure}`" if alert.watches else "",
            _numbers(values.alerts[alert.name]),
            values.alerts[alert.name].hold,
            values.alerts[alert.name].keep_firing_for,
        )
        for alert in ALERTS.values()
    ]
    return table(("alert", "figure", "numbers", "`for`", "`keep_firing_for`"), rows)


def _numbers(numbers: Numbers) -> str:
    names: tuple[str, ...]
    match numbers:
        case Rise():
            names = ("threshold", "rise", "baseline", "highest_baseline", "minimum", "long", "short")
        case Collapse():
            names = ("threshold", "left", "baseline", "lowest_baseline", "minimum", "long", "short")
        case Few():
            names = ("window", "count")
        case Plain():
            return ", ".join(f"{name} {plain(number)}" for name, number in numbers.numbers.items())
    return ", ".join(f"{name} {getattr(numbers, name)}" for name in names)


def _silences() -> str:
    rows = [(link(alert.name), said) for alert in ALERTS.values() for said in _explained(alert)]
    text = (
        "While an alert of the first column fires, those of the second are not sent. Prometheus shows them."
    )
    return f"{text}\n\n{table(('fires', 'not sent'), rows)}"


def _explained(alert: Alert) -> Iterator[str]:
    for same in alert.explains:
        where = f", of the same {' and '.join(same.labels)}" if same.labels else ""
        whom = "all alerts on quality" if same.kind is Kind.QUALITY else ", ".join(map(link, same.names))
        yield whom + where


def _runbook(name: str) -> str:
    runbook, alert = RUNBOOKS[name], ALERTS[name]
    parts = [f"### {name}", "", *_facts(alert), "", f"**Meaning.** {runbook.meaning}", ""]
    parts += [f"**Impact.** {runbook.impact}", ""]
    for title, steps in _lists(runbook):
        parts += [f"**{title}.**", "", *(f"- {_linked(step)}" for step in steps), ""]
    return "\n".join(parts)


def _lists(runbook: Runbook) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("Diagnosis", runbook.diagnosis),
        ("Mitigation", runbook.mitigation),
        ("False positives", runbook.false_positives),
    )


def _facts(alert: Alert) -> Iterator[str]:
    extends = f", for low volume, beside {link(alert.extends)}" if alert.form in _FEW else ""
    yield f"Layer {alert.layer}, severity {alert.severity.value}{extends}."


def _linked(step: str) -> str:
    """Names of other alerts as links to their runbooks."""
    for name in sorted(ALERTS, key=len, reverse=True):
        step = step.replace(name, link(name)) if f"[{name}]" not in step else step
    return step


_FEW: Final = (Form.FEW_BAD, Form.FEW_GOOD)
