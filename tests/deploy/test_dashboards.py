"""The dashboards as committed: those of the catalogue and the thresholds, and fit to be read."""

import json
import math
import re
import shlex

import click
import pytest

from deploy.generate import queries
from deploy.generate.boards.pipeline import SERVED
from deploy.generate.dashboards import BOARDS, GRAFANA, dashboards
from deploy.generate.page import figures_of
from deploy.generate.panels import COUNT, LOWER, MEAN, RANK, SHARE, UPPER, VALUE
from deploy.generate.queries import FIGURES, ask, has_interval, lower, upper, value
from deploy.generate.thresholds import Limit, thresholds
from metrics.catalogue import CATALOGUE
from metrics.intervals import wilson
from streams.commands.cli import main
from tests.docs_pages import ROOT, commands

LIMITS = thresholds()
FILES = dashboards(LIMITS)
PANELS = [panel for make in BOARDS for row in make(LIMITS).rows for panel in row.panels]
IDS = [panel.title for panel in PANELS]
EXPORTED = [figure.name for figure in CATALOGUE if figure.exported.live or figure.exported.settled]
JSONS = [json.loads(text) for path, text in FILES.items() if path.endswith(".json")]


def test_the_committed_files_are_those_of_the_catalogue():
    """Neither the catalogue nor a file can move alone."""
    found = {
        str(path.relative_to(GRAFANA)): path.read_text("utf-8")
        for folder in ("dashboards", "provisioning")
        for path in (GRAFANA / folder).rglob("*.*")
    }
    assert found == FILES, "run: python -m deploy.generate.dashboards"


def asked_for() -> set[str]:
    """Every family that some panel asks for."""
    text = " ".join(
        target["expr"]
        for board in JSONS
        for panel in board["panels"]
        for target in panel.get("targets") or []
    )
    return set(re.findall(r"\blara_[a-z0-9_]+", text))


def test_every_exported_figure_is_on_a_dashboard():
    """A new row of the catalogue is shown, or this fails."""
    assert set(EXPORTED) - asked_for() - {name for panel in PANELS for name in figures_of(panel)} == set()


def test_everything_that_is_served_is_on_a_dashboard():
    """What worker, exporter and audit say of themselves is shown."""
    families = {re.sub(r"_(bucket|count)$", "", name) for name in asked_for()}
    assert set(SERVED) - families == set()


def test_nothing_is_asked_for_that_nobody_serves():
    """A family that was renamed is an error, not an empty panel."""
    families = {re.sub(r"_(bucket|count)$", "", name) for name in asked_for()}
    assert families - set(SERVED) - set(EXPORTED) == set()


@pytest.mark.parametrize("name", EXPORTED)
def test_a_row_that_is_missing_is_an_error(name, monkeypatch):
    """Without its row in the catalogue no dashboard with the figure can be made."""
    monkeypatch.delitem(queries.FIGURES, name)
    with pytest.raises(KeyError, match=name):
        dashboards(LIMITS)


@pytest.mark.parametrize("panel", PANELS, ids=IDS)
def test_n_stands_beside_every_share(panel):
    """A share or mean of a figure comes with the number it is of."""
    shares = [one for one in panel.columns if one.part == VALUE and one.unit in (SHARE, MEAN, RANK)]
    assert not shares or any(one.part == COUNT for one in panel.columns)


@pytest.mark.parametrize("panel", PANELS, ids=IDS)
def test_a_panel_says_what_it_shows_and_what_to_run_next(panel):
    """The help of every figure is in its description, and the command and its options exist."""
    helps = {figure.name: figure.help for figure in CATALOGUE} | dict(SERVED)
    for name in figures_of(panel):
        assert helps[name] in panel.about
    known = dict(commands())
    words = shlex.split(panel.next)
    while isinstance(known[words[0]], click.Group):
        words = [f"{words[0]} {words[1]}", *words[2:]]
    lara = main.make_context("lara", [words[0]])
    known[words[0]].make_context(words[0], words[1:], parent=lara)  # an unknown option or value is an error


@pytest.mark.parametrize("board", JSONS, ids=lambda board: board["uid"])
def test_a_dashboard_can_be_provisioned(board):
    """Classic JSON with a uid; every target asks the chosen data source; panel types that need no plugin."""
    assert board["uid"].startswith("lara-")
    assert [one["name"] for one in board["templating"]["list"]] == [
        "datasource", "role", "surface", "window", "definition",
    ]  # fmt: skip
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert {panel["type"] for panel in panels} <= {"timeseries", "stat", "gauge", "bargauge", "table"}
    assert {target["datasource"]["uid"] for panel in panels for target in panel["targets"]} == {
        "${datasource}"
    }
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("board", JSONS, ids=lambda board: board["uid"])
def test_no_panel_lies_over_another(board):
    """Every cell of the grid has one panel, within 24 columns."""
    cells = [
        (x, y)
        for panel in board["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_every_threshold_colours_something():
    """A limit that no panel reads would be a promise nobody keeps."""
    used = {panel.limit for panel in PANELS} | {name for panel in PANELS for name in figures_of(panel)}
    assert set(LIMITS) - used == set()


def evaluated(expression: str, hits: int, trials: int) -> float:
    """A PromQL expression about ORF, with these two counts in place of its sums."""
    text = re.sub(r"sum \(lara_retrievals_failed\{[^}]*\}\)", str(hits), expression)
    text = re.sub(r"\(sum \(lara_retrievals\{[^}]*\}\) > 0\)", str(trials), text)
    return eval(text, {"sqrt": math.sqrt, "clamp_min": max, "clamp_max": min})


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (1, 1), (0, 50), (7, 50), (50, 50), (3, 10_000)])
def test_bounds_are_wilson_s(hits, trials):
    """The bounds of a total are those that the exporter would print for it."""
    expected = wilson(hits, trials)
    asked = ask("lara_orf_ratio")
    assert evaluated(value(asked), hits, trials) == hits / trials
    assert evaluated(lower(asked), hits, trials) == pytest.approx(expected.lower, abs=1e-8)
    assert evaluated(upper(asked), hits, trials) == pytest.approx(expected.upper, abs=1e-8)


def test_shares_are_added_up_from_counts():
    """Numerator and denominator follow from the catalogue; where the numerator is no count, it is share × n."""
    assert value(ask("lara_null_ratio", "role")) == (
        'sum by (role) (lara_retrievals_null{window="$window", role=~"$role", surface=~"$surface"}) / '
        '(sum by (role) (lara_layer1_retrievals{window="$window", role=~"$role", surface=~"$surface"}) > 0)'
    )
    assert value(ask("lara_mrr")) == (
        'sum (lara_mrr{window="24h", role=~"$role", surface=~"$surface"} * on (role, surface) group_left () '
        'lara_ranked_retrievals{window="24h", role=~"$role", surface=~"$surface"}) / '
        '(sum (lara_ranked_retrievals{window="24h", role=~"$role", surface=~"$surface"}) > 0)'
    )


def test_bounds_are_drawn_for_shares_of_counts_only():
    """A mean has no interval, and a share that cannot be added up shows none."""
    assert has_interval(ask("lara_orf_ratio"))
    assert not has_interval(ask("lara_mrr"))
    assert not has_interval(ask("lara_ctr_ratio"))
    parts = {column.part for panel in PANELS for column in panel.columns}
    assert {LOWER, UPPER} <= parts


def test_a_limit_knows_its_bad_side():
    """High is bad where the critical value is the higher one."""
    assert Limit(0.1, 0.2).high_is_bad
    assert not Limit(0.6, 0.5).high_is_bad


@pytest.mark.parametrize(
    "text", ["thresholds: {lara_orf_ratio: [1, 1]}", "thresholds: {lara_orf_ratio: [1]}", "{}"]
)
def test_a_wrong_threshold_is_refused(text, tmp_path):
    """Two equal numbers, one number, or no thresholds at all."""
    file = tmp_path / "values.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError):
        thresholds(file)


def test_every_figure_of_a_threshold_is_known():
    """A typing error in values.yaml is an error."""
    assert set(LIMITS) <= set(FIGURES) | set(SERVED)


def test_every_dashboard_has_its_picture_and_none_is_heavy():
    """Pictures are small enough to lie in a repository."""
    pictures = {path.stem: path.stat().st_size for path in (ROOT / "docs/pictures").glob("*.png")}
    assert {board["uid"] for board in JSONS} <= set(pictures)
    assert max(pictures.values()) < 300_000
