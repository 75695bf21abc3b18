"""The tables of docs/dashboards.md: every dashboard, its picture, and every panel with what to run next."""

from collections.abc import Iterator

from deploy.generate.dashboards import BOARDS
from deploy.generate.panels import Board, Panel
from deploy.generate.thresholds import Limits

TYPES = {"stat": "stat", "trend": "time series", "table": "table", "bars": "bar gauge"}


def dashboards_markdown(limits: Limits) -> str:
    """One section a dashboard."""
    return "\n".join(line for make in BOARDS for line in _section(make(limits)))


def thresholds_markdown(limits: Limits) -> str:
    """What colours the panels."""
    rows = (f"| `{name}` | {limit.warning:g} | {limit.critical:g} |" for name, limit in limits.items())
    return "\n".join(["| figure | worth a look from | broken from |", "|---|---|---|", *rows])


def _section(board: Board) -> Iterator[str]:
    yield f"## {board.title.removeprefix('lara · ')}\n"
    yield f"{board.question} (`{board.uid}`)\n"
    yield f"![{board.title}](pictures/{board.uid}.png)\n"
    yield "| panel | type | figures | run next |"
    yield "|---|---|---|---|"
    yield from (_row(panel) for row in board.rows for panel in row.panels)
    yield ""


def _row(panel: Panel) -> str:
    figures = ", ".join(f"`{name}`" for name in figures_of(panel))
    return f"| {panel.title} | {TYPES[panel.kind]} | {figures} | `{panel.next}` |"


def figures_of(panel: Panel) -> list[str]:
    """The families that a panel is about, in its order."""
    return list(dict.fromkeys(name for column in panel.columns for name in column.about))
