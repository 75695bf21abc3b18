"""The table of alerts: complete, explained, and about series that somebody prints."""

import re

import pytest

from deploy.generate.alerts import annotations, expression
from deploy.generate.cases import EVERY, cases_of_a_share
from deploy.generate.dashboards import dashboards
from deploy.generate.plain_cases import PLAIN_CASES
from deploy.generate.rules import groups, of_the_pipeline
from deploy.generate.thresholds import thresholds
from deploy.generate.values import read_values
from metrics.alerts import ALERTS, Form, Kind, Severity
from metrics.runbooks import RUNBOOKS
from metrics.watched import WATCHED
from tests.test_docs import metric_names

VALUES = read_values()
BOARDS = dashboards(thresholds())
RECORDED = {one.name for group in groups(VALUES).values() for one in group}
RECORDED |= {one.name for one in of_the_pipeline()}
# Of `lara canary`, a process of its own.
CANARY = {
    "lara_canary_lost_total",
    "lara_canary_last_returned_timestamp_seconds",
}
every_alert = pytest.mark.parametrize("alert", ALERTS.values(), ids=lambda alert: alert.name)


def test_every_alert_has_a_runbook_and_every_runbook_an_alert():
    """In the same order, so that the page reads like the table."""
    assert set(RUNBOOKS) == set(ALERTS)


@every_alert
def test_a_runbook_says_something_under_every_title(alert):
    """Meaning, impact, diagnosis, mitigation, false positives."""
    assert all(RUNBOOKS[alert.name])


def test_a_row_s_form_has_what_it_needs():
    """Shares watch something, others write an expression and a summary, and low volume extends a rule."""
    for alert in ALERTS.values():
        plain = alert.form is Form.PLAIN
        assert bool(alert.watches) != plain and (alert.watches in WATCHED) != plain
        assert bool(alert.expression and alert.summary) == plain
        few = alert.form in (Form.FEW_BAD, Form.FEW_GOOD)
        assert bool(alert.extends) == few
        assert not few or ALERTS[alert.extends].watches == alert.watches


def test_everything_watched_has_one_alert_that_sets_its_limit():
    """Two would record one series twice."""
    limits = [alert.watches for alert in ALERTS.values() if alert.form in (Form.RISE, Form.COLLAPSE)]
    assert sorted(limits) == sorted(WATCHED)


@every_alert
def test_an_alert_reads_series_that_are_printed_or_recorded(alert):
    """An alert on a series with a typing mistake would be silent for ever."""
    text = expression(alert, VALUES)
    assert set(re.findall(r"\blara:\w+:\w+", text)) <= RECORDED
    assert set(re.findall(r"\blara_\w+", text)) <= {*metric_names(), *CANARY}


def test_recorded_series_are_made_of_series_that_are_printed_or_recorded():
    """So do the rules that record."""
    for group in (*groups(VALUES).values(), of_the_pipeline()):
        for one in group:
            assert set(re.findall(r"\blara:\w+:\w+", one.expression)) <= RECORDED
            assert set(re.findall(r"\blara_\w+", one.expression)) <= set(metric_names())


@every_alert
def test_an_alert_leads_to_its_runbook_and_its_dashboard(alert):
    """Under the addresses of the values, with a summary; the dashboard is there and shows what is watched."""
    told = annotations(alert, VALUES)
    assert told["runbook_url"] == f"{VALUES.links.runbooks}#{alert.name.lower()}"
    folder, _, uid = told["dashboard_url"].rpartition("/")
    assert folder == VALUES.links.dashboards and told["summary"]
    shown = BOARDS[f"dashboards/{uid}.json"]
    figures = {WATCHED[alert.watches].figure} if alert.watches else set(alert.figures)
    assert [figure for figure in figures if figure not in shown] == []


@every_alert
def test_an_alert_on_a_share_says_value_n_and_interval(alert):
    """A share without n is not to be believed at night either."""
    if alert.watches:
        told = annotations(alert, VALUES)["summary"]
        assert "{{ $value | humanizePercentage }} of n = {{" in told and "95 % interval" in told


@every_alert
def test_an_alert_is_tried_in_every_case(alert):
    """Fires, stays quiet, low traffic, n = 0, absent; and it does fire in some."""
    found = list(cases_of_a_share(alert, VALUES)) if alert.watches else PLAIN_CASES[alert.name]
    names = [case.name for case in found]
    assert set(EVERY) <= set(names) and len(names) == len(set(names))
    assert any(look.firing for case in found if case.name == "fires" for look in case.looks)


def test_only_the_watchdog_has_the_watchdog_s_way():
    """It is heard by another receiver, and it alone."""
    assert [alert.name for alert in ALERTS.values() if alert.severity is Severity.NONE] == ["LaraWatchdog"]
    assert [alert.name for alert in ALERTS.values() if alert.kind is Kind.WATCHDOG] == ["LaraWatchdog"]
