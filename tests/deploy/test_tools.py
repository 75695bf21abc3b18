"""Prometheus' and Alertmanager's own tools on what is generated. They come with deploy/install-services.sh."""

import shutil
import subprocess

import pytest

from deploy.generate.alerts import labels
from deploy.generate.values import read_values
from metrics.alerts import ALERTS, Severity
from tests.docs_pages import ROOT

PROMETHEUS = ROOT / "deploy/prometheus"
ALERTMANAGER = ROOT / "deploy/alertmanager/alertmanager.yml"
TESTS = sorted((PROMETHEUS / "tests").glob("*.yaml"))
pytestmark = pytest.mark.slow


def run(tool: str, *arguments: object) -> str:
    """What a tool prints; fails with it."""
    assert shutil.which(tool), f"{tool} is not installed: run deploy/install-services.sh"
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, cwd=PROMETHEUS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.stem)
def test_an_alert_fires_when_it_must_and_only_then(file):
    """At production durations: fires, stays quiet, low traffic, n = 0, absent."""
    assert "SUCCESS" in run("promtool", "test", "rules", file)


def test_prometheus_reads_its_configuration_and_all_rules():
    """Every file that the configuration names."""
    assert run("promtool", "check", "config", "prometheus.yml").count("SUCCESS") == 5


def test_alertmanager_reads_its_configuration():
    """Routes, receivers and inhibitions."""
    assert "SUCCESS" in run("amtool", "check-config", ALERTMANAGER)


@pytest.mark.parametrize("alert", ALERTS.values(), ids=lambda alert: alert.name)
def test_an_alert_goes_to_the_receiver_of_its_severity(alert):
    """What has no receiver is heard by nobody."""
    given = {"alertname": alert.name, **labels(alert)}
    said = run(
        *("amtool", "config", "routes", "test", f"--config.file={ALERTMANAGER}"),
        *(f"{name}={value}" for name, value in given.items()),
    )
    heard = alert.severity.value if alert.severity is not Severity.INFO else "nobody"
    assert said.strip() == heard
    assert heard in (*read_values().notify.receivers, "nobody")


def test_alerts_of_others_are_not_ours():
    """A shared Alertmanager sends them elsewhere."""
    said = run(
        *("amtool", "config", "routes", "test", f"--config.file={ALERTMANAGER}"),
        *("alertname=NodeDown", "severity=critical"),
    )
    assert said.strip() == "nobody"
