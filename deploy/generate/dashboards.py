"""Grafana's dashboards and their provisioning, as files: `python -m deploy.generate.dashboards` writes them.

Rules:
- Every figure on a dashboard is a row of the catalogue; one that is missing is an error here.
- Thresholds are those of `values.yaml`, the same that alerts use.
- Classic JSON: it is read by every Grafana since 8, and provisioned from files without a hand.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models

from deploy.generate.boards.attribution import attribution
from deploy.generate.boards.health import health
from deploy.generate.boards.pipeline import pipeline
from deploy.generate.boards.planner import planner
from deploy.generate.boards.ranking import ranking
from deploy.generate.panels import DATASOURCE, Board, build
from deploy.generate.thresholds import Limits, thresholds
from metrics.scopes import FIVE

BOARDS: Final[tuple[Callable[[Limits], Board], ...]] = (health, attribution, ranking, planner, pipeline)
GRAFANA: Final = Path(__file__).parents[1] / "grafana"
TAG: Final = "lara"

DATASOURCES: Final = """\
# Grafana reads this at its start. The dashboards ask the data source that is chosen, at first this one.
apiVersion: 1
datasources:
  - name: Prometheus
    uid: prometheus
    type: prometheus
    access: proxy
    url: http://prometheus:9090
    isDefault: true
    jsonData:
      timeInterval: 15s
"""
PROVIDER: Final = """\
# Grafana reads this at its start, and the files of the folder whenever they change.
apiVersion: 1
providers:
  - name: lara
    folder: lara
    type: file
    disableDeletion: true
    allowUiUpdates: false
    options:
      path: /var/lib/grafana/dashboards
"""


def dashboards(limits: Limits) -> dict[str, str]:
    """Every file under deploy/grafana/, by its path there."""
    boards = [make(limits) for make in BOARDS]
    return {
        **{f"dashboards/{board.uid}.json": text_of(board, limits) for board in boards},
        "provisioning/datasources/lara.yaml": DATASOURCES,
        "provisioning/dashboards/lara.yaml": PROVIDER,
    }


def text_of(board: Board, limits: Limits) -> str:
    """One dashboard as JSON."""
    return json.dumps(_dashboard(board, limits).build(), cls=JSONEncoder, indent=1, ensure_ascii=False) + "\n"


def _dashboard(board: Board, limits: Limits) -> builders.Dashboard:
    built = builders.Dashboard(board.title).uid(board.uid).description(board.question).tags([TAG])
    built = built.time(board.since, "now").refresh("1m").timezone("browser").readonly()
    built = built.tooltip(models.DashboardCursorSync.CROSSHAIR).link(_others())
    for variable in variables():
        built = built.with_variable(variable)
    number = 0
    for row in board.rows:
        built = built.with_row(builders.Row(row.title).id(number := number + 1))
        for panel in row.panels:
            built = built.with_panel(build(panel, number := number + 1, limits))
    return built


def _others() -> builders.DashboardLink:
    link = builders.DashboardLink("lara").type(models.DashboardLinkType.DASHBOARDS).tags([TAG])
    return link.keep_time(True).include_vars(True)


def variables() -> tuple[Any, ...]:
    """What the reader chooses: source, role, surface, window, definition."""
    return (
        builders.DatasourceVariable("datasource")
        .label("Data source")
        .type("prometheus")
        .current(_option("prometheus", "Prometheus")),
        _labels("role", "Role"),
        _labels("surface", "Surface"),
        builders.CustomVariable("window")
        .label("Window")
        .values(",".join(FIVE))
        .current(_option("24h"))
        .options([_option(window, chosen=window == "24h") for window in FIVE]),
        _values(
            "definition", "Definition of a positive", "label_values(lara_definition_info, definition)"
        ).current(_option("standard")),
    )


def _labels(name: str, label: str) -> builders.QueryVariable:
    """All values of a label, of which some or all are chosen."""
    everything = _option("$__all", "All")
    query = _values(name, label, f"label_values(lara_retrievals, {name})")
    return query.multi(True).include_all(True).all_value(".*").current(everything)


def _values(name: str, label: str, query: str) -> builders.QueryVariable:
    built = builders.QueryVariable(name).label(label).datasource(DATASOURCE).definition(query)
    built = built.query({"query": query, "refId": "A"}).sort(models.VariableSort.ALPHABETICAL_ASC)
    return built.refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)


def _option(given: str, text: str = "", chosen: bool = True) -> models.VariableOption:
    return models.VariableOption(selected=chosen, text=text or given, value=given)


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files under a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


if __name__ == "__main__":
    write(GRAFANA, dashboards(thresholds()))
