"""What is committed is what would be written now, and nothing can be taken away unseen."""

from pathlib import Path

import pytest

from deploy.generate import files, rules
from deploy.generate.__main__ import GENERATED, ROOT, write
from deploy.generate.alertmanager import inhibitions
from deploy.generate.alerts import expression
from deploy.generate.dashboards import dashboards
from deploy.generate.rules import GenerationError
from deploy.generate.thresholds import thresholds
from deploy.generate.tried import digest_of, read_tried
from deploy.generate.values import read_values
from metrics.alerts import ALERTS
from metrics.catalogue import CATALOGUE
from metrics.watched import WATCHED

VALUES = read_values()
NEEDED = sorted(
    {name for one in WATCHED.values() for name in (one.figure, *one.counted)}
    | {name for alert in ALERTS.values() for name in alert.figures}
)
EXPORTED = [figure for figure in CATALOGUE if figure.exported.live or figure.exported.settled]


@pytest.mark.parametrize("path", GENERATED)
def test_a_generated_file_is_committed_as_it_would_be_written(path):
    """Rules, alerts, their tests, routes and the page of runbooks follow the tables and the values."""
    assert (ROOT / path).read_text("utf-8") == GENERATED[path](VALUES), "run: python -m deploy.generate"


def test_no_file_of_an_alert_that_is_gone_is_left():
    """Every test of rules is one that is generated."""
    folder = ROOT / "deploy/prometheus/tests"
    assert {f"deploy/prometheus/tests/{path.name}" for path in folder.iterdir()} <= set(GENERATED)


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The catalogue without one row."""
    left = tuple(figure for figure in CATALOGUE if figure.name != name)
    monkeypatch.setattr(rules, "CATALOGUE", left)
    monkeypatch.setattr(files, "CATALOGUE", left)


@pytest.mark.parametrize("name", NEEDED)
def test_a_figure_that_an_alert_needs_cannot_be_deleted(monkeypatch, name):
    """Nothing is written, and the error names the figure."""
    without(monkeypatch, name)
    with pytest.raises(GenerationError, match=f"needs the figure {name}, which"):
        rules.groups(VALUES)
        for alert in ALERTS.values():
            expression(alert, VALUES)


@pytest.mark.parametrize("figure", EXPORTED, ids=lambda figure: figure.name)
def test_deleting_any_exported_row_shows_in_the_rules(monkeypatch, figure):
    """Even if no alert reads it: the rules say which figures they were made beside."""
    without(monkeypatch, figure.name)
    assert f" {figure.name}" not in files.figures_note().replace("\n", " ").split(figure.name + "_")[0]
    assert files.figures_note() not in (ROOT / "deploy/prometheus/rules.yaml").read_text("utf-8")


def test_a_window_that_is_not_exported_is_refused():
    """An alert on a series that nobody prints would be silent for ever."""
    with pytest.raises(GenerationError, match="needs the window 1h of lara_masked_failure_ratio"):
        rules.value(WATCHED["masked"], "1h")


def test_writing_writes_every_file(tmp_path: Path):
    """The command does what the table says."""
    write(tmp_path, VALUES)
    boards = {f"deploy/grafana/{path}" for path in dashboards(thresholds())}
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {*GENERATED, *boards}


def test_what_explains_others_names_alerts_that_exist():
    """An inhibition of a name that nobody has would inhibit nothing."""
    named = {name for alert in ALERTS.values() for same in alert.explains for name in same.names}
    assert named <= set(ALERTS)
    assert len(inhibitions()) == sum(len(alert.explains) for alert in ALERTS.values())


def test_no_table_is_shown_of_rules_that_are_no_longer_these():
    """Whoever changes a rule or a threshold runs the Monte-Carlo again."""
    tried = read_tried()
    assert tried.digest == digest_of(VALUES), "run: python -m deploy.montecarlo"
    assert (tried.days, tried.seeds) >= (30, 5) and len(tried.levels) == 3
