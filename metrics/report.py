"""The report: the figures as tables for people, and as JSON for programs.

Rules:
- Evidence is read from the settled cohort; what is still open is said in one line above it.
- A ratio stands beside its n and with its 95 % Wilson bounds, in whole percents rounded outward; the exact
  ones are in the JSON. What is absent is shown as "–".
- Definitions of the genuine positive stand side by side; how far they are apart is `definition_table.py`.
  1 − ORF stands beside GPR and ACR and is never called satisfaction: silence is in it.
- Printed are the windows in which something happened, and `all`; windows that say the same share one block.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final, NamedTuple

import msgspec
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from metrics.definition_table import definition_tables
from metrics.figures import LOWER, UPPER, Metric
from metrics.intervals import Interval
from metrics.layers import diagnosis, layer_tables
from metrics.schema import PublishedDefinition
from metrics.tables import (
    ABSENT,
    FAINT,
    HEADING,
    Fitting,
    Labels,
    bar,
    bounds,
    new_table,
    number,
    percent,
    rows,
    side_by_side,
    stacked,
)
from metrics.totals import Share, Totals, View
from metrics.windows import LIVE, SETTLED

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


WINDOW_TITLES: Final = {
    "5m": "last 5 minutes",
    "1h": "last hour",
    "6h": "last 6 hours",
    "24h": "last 24 hours",
    "7d": "last 7 days",
    "all": "all time",
}


class Measure(NamedTuple):
    """A share of all retrievals, by the count that is its numerator (`complement`: by all but that count)."""

    heading: str
    figure: str
    style: str
    by_definition: bool = False
    complement: bool = False


class Column(NamedTuple):
    """A measure, by one definition where it depends on it."""

    measure: Measure
    labels: Labels


MEASURES: Final = (
    Measure("GPR", "lara_retrievals_positive", "green", by_definition=True),
    Measure("ACR", "lara_retrievals_agent_consumed", "cyan"),
    Measure("delegated", "lara_retrievals_delegated", "cyan"),
    Measure("ORF", "lara_retrievals_failed", "red"),
    Measure("1−ORF", "lara_retrievals_failed", "default", complement=True),
    Measure("UOR", "lara_retrievals_unobserved", "yellow", by_definition=True),
)

LAYER_ONE_COUNTS: Final = (
    "lara_layer1_retrievals",
    "lara_retrievals_null",
    "lara_retrievals_without_list",
    "lara_consumed_assets",
)
OUTCOME_COUNTS: Final = ("lara_outcomes", "lara_attributed_outcomes", "lara_cross_session_outcomes")


def as_json(as_of_ms: int, metrics: Sequence[Metric]) -> str:
    """The figures as one JSON object, as the contract, section 7, has it. `as_of_ms`: ms since the epoch."""
    return msgspec.json.encode({"as_of": instant(as_of_ms), "metrics": metrics}).decode()


def report(
    as_of_ms: int, metrics: Sequence[Metric], definitions: Sequence[PublishedDefinition]
) -> RenderableType:
    """The figures as tables, for a rich Console of 120 columns or more."""
    totals = Totals(metrics)
    windows = [window for window in totals.windows if window == "all" or not totals.is_empty(window)]
    blocks = [_block(totals, tuple(same), definitions) for _, same in groupby(windows, totals.content)]
    return Group(_heading(as_of_ms, definitions), *(blocks or ["Nothing was counted yet."]))


def _heading(as_of_ms: int, definitions: Sequence[PublishedDefinition]) -> Text:
    named = ", ".join(f"{name} v{version} ({digest})" for name, version, digest in definitions)
    return Text.assemble(
        ("Retrieval attribution", HEADING),
        f" as of {instant(as_of_ms)}\n",
        (f"genuine positive by definition: {named or ABSENT}\n", FAINT),
    )


def _block(
    totals: Totals, windows: tuple[str, ...], definitions: Sequence[PublishedDefinition]
) -> RenderableType:
    window = windows[0]
    title = " · ".join(WINDOW_TITLES.get(name, name) for name in windows)
    tables = [make(totals, window) for make in (_layer_one, _actions, _outcomes, _lineage)]
    layers = [make(totals, window) for make in layer_tables]
    return Group(
        Rule(Text(title, HEADING), align="left"),
        _openness(totals, window),
        *_evidence(totals, window),
        *definition_tables(totals, window, definitions),
        diagnosis(totals, window),
        "",
        *(
            Columns([Padding(one, (0, 2, 1, 0)) for one in some if one.row_count])
            for some in (tables, layers)
        ),
    )


def _openness(totals: Totals, window: str) -> Text:
    live, settled = View(window, LIVE), View(window, SETTLED)
    pending = [
        f"{totals.sum(live, 'lara_retrievals_pending', definition=name):,} ({name})"
        for name in totals.label_values(live, "lara_retrievals_pending", "definition")
    ]
    return Text.assemble(
        *("until now ", (f"{totals.sum(live, 'lara_retrievals'):,}", HEADING), " retrievals, pending: "),
        *(", ".join(pending) or ABSENT, "; old enough to judge (settled): "),
        (f"{totals.sum(settled, 'lara_retrievals'):,}", HEADING),
    )


def _evidence(totals: Totals, window: str) -> Iterator[RenderableType]:
    view = View(window, SETTLED)
    columns = list(_columns(totals, view))
    parts = groupby(columns, lambda column: column.measure.by_definition)
    if totals.matching(view, "lara_retrievals"):
        wide = _evidence_table(totals, view, columns)
        yield Fitting(wide, [_evidence_table(totals, view, list(part)) for _, part in parts])


def _evidence_table(totals: Totals, view: View, columns: Sequence[Column]) -> Table:
    table = new_table("What became of retrievals, in % of n", "role", "n", *map(_heading_of, columns))
    for labels, name, style in rows(totals, view, "lara_retrievals", "role"):
        count = totals.sum(view, "lara_retrievals", **labels)
        shares = [_evidence_share(totals, view, column, labels, count) for column in columns]
        table.add_row(name, f"{count:,}", *(stacked(share) for share in shares), style=style)
    return table


def _columns(totals: Totals, view: View) -> Iterator[Column]:
    names = totals.label_values(view, "lara_retrievals_positive", "definition")
    for measure in MEASURES:
        for labels in [{"definition": name} for name in names] if measure.by_definition else [{}]:
            yield Column(measure, labels)


def _heading_of(column: Column) -> Text:
    definition = column.labels.get("definition", "")
    return Text.assemble((column.measure.heading, column.measure.style), f"\n{definition}")


def _evidence_share(totals: Totals, view: View, column: Column, labels: Labels, count: int) -> Share:
    hits = totals.sum(view, column.measure.figure, **labels, **column.labels)
    return Share(count - hits if column.measure.complement else hits, count)


def _layer_one(totals: Totals, window: str) -> Table:
    view = View(window)
    table = new_table("What retrievals returned", "role", "n", "null, %", "", "no list", "used", "mean\nrank")
    for labels, name, style in rows(totals, view, "lara_layer1_retrievals", "role"):
        count, null, without, used = (totals.sum(view, figure, **labels) for figure in LAYER_ONE_COUNTS)
        rank = totals.mean(view, "lara_consumed_rank", "lara_consumed_assets", **labels)
        cells = (f"{count:,}", *side_by_side(Share(null, count)), f"{without:,}", f"{used:,}", number(rank))
        table.add_row(name, *cells, style=style)
    return table


def _outcomes(totals: Totals, window: str) -> Table:
    view = View(window)
    table = new_table("Outcomes", "action", "n", "attributed", "%", "", "cross-session\nof these", "%", "")
    for labels, name, style in rows(totals, view, "lara_outcomes", "action"):
        count, attributed, crossing = (totals.sum(view, figure, **labels) for figure in OUTCOME_COUNTS)
        ratio, crossing_ratio = Share(attributed, count), Share(crossing, attributed)
        cells = (f"{attributed:,}", *side_by_side(ratio), f"{crossing:,}", *side_by_side(crossing_ratio))
        table.add_row(name, f"{count:,}", *cells, style=style)
    return table


def _actions(totals: Totals, window: str) -> Table:
    view = View(window)
    count = totals.sum(view, "lara_actions")
    table = new_table("Which rule resolved an action", "resolution", "n", "%", "")
    for metric in totals.matching(view, "lara_actions"):
        share = Share(int(metric.value), count)
        table.add_row(metric.labels["resolution"], f"{share.hits:,}", percent(share.value), bar(share))
    return table


def _lineage(totals: Totals, window: str) -> Table:
    view = View(window)
    name = "lara_lineage_coverage_ratio"
    table = new_table("Lineage that was logged", "field", "%", "")
    for metric, *both in zip(*(totals.matching(view, name + end) for end in ("", LOWER, UPPER)), strict=True):
        lower, upper = (bound.value for bound in both)
        table.add_row(metric.labels["field"], percent(metric.value), bounds(Interval(lower, upper)))
    return table


def instant(as_of_ms: int) -> str:
    """A time (ms since the epoch) as the contract writes it."""
    moment = EPOCH + timedelta(milliseconds=as_of_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
