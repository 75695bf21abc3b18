"""What a panel is, as data, and the four kinds of panels that are made of it.

Rules:
- A panel is a frozen row: kind, title, what its columns ask, what it is about and the command to run next.
  `build` turns it into Grafana's JSON by the SDK; nothing is decided there that the row does not say.
- A share carries its n, and, where it is a share of counts, its 95 % bounds: as tiles of a stat, as band and
  dots of a trend, as columns of a table.
- Colours come from thresholds only: green, amber from the warning on, red from the critical value on. What
  has no threshold has no colour that means something.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from grafana_foundation_sdk.builders import bargauge, common, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from deploy.generate.thresholds import Limit, Limits

DATASOURCE: Final = options.DataSourceRef("prometheus", "${datasource}")
LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# What a column is for: it decides how the column is drawn.
VALUE, LOWER, UPPER, COUNT, STATE = "value", "lower", "upper", "count", "state"
SINGLE = "single"  # the only value of a trend, of the colour of its band
FROM, TO = "lower", "upper"  # 95 % bounds (Wilson)
# Widths of the columns that name a row of a table; of the others, what the longest role needs.
LABEL_PIXELS: Final = {
    "layer": 120,
    "says": 330,
    "surface": 90,
    "topic": 165,
    "digest": 120,
    "definition": 100,
    "version": 75,
    "type": 120,
    "disposition": 120,
}

SHARE, NUMBER, MEAN, RANK, SECONDS, PER_SECOND = "percentunit", "locale", "none", "rank", "s", "suffix:/s"
DECIMALS: Final[Mapping[str, int]] = {SHARE: 1, MEAN: 3, RANK: 1, NUMBER: 0, PER_SECOND: 1}
UNITS: Final[Mapping[str, str]] = {RANK: "none"}

GREEN, AMBER, RED, GREY, BLUE = "green", "#E8A317", "red", "#8e8e8e", "blue"
# What a state says, and in which colour; -1 is "n is too small".
STATES: Final = {"-1": ("too few", GREY), "0": ("fine", GREEN), "1": ("watch", AMBER), "2": ("BROKEN", RED)}


class Column(NamedTuple):
    """One question to Prometheus and how its answer is shown; `figure` is the family it is about."""

    title: str
    expression: str
    figure: str = ""
    unit: str = NUMBER
    part: str = VALUE
    legend: str = ""  # names a series by its labels
    rows: tuple[str, ...] = ()  # where one column has a figure for each row: all of them

    @property
    def about(self) -> tuple[str, ...]:
        """Every family that it is about."""
        return self.rows or (self.figure,)


class Panel(NamedTuple):
    """One panel."""

    kind: str
    title: str
    columns: tuple[Column, ...]
    about: str
    next: str  # the command to run next
    width: int
    height: int
    labels: tuple[str, ...] = ()  # of a table: the columns that name a row
    limit: str = ""  # the figure whose thresholds colour the panel
    exemplars: bool = False


class Row(NamedTuple):
    """Panels under one heading."""

    title: str
    panels: tuple[Panel, ...]


class Board(NamedTuple):
    """One dashboard, and the question that it answers."""

    uid: str
    title: str
    question: str
    rows: tuple[Row, ...]
    since: str = "now-24h"


Properties = list[models.DynamicConfigValue]


def build(panel: Panel, number: int, limits: Limits) -> Any:
    """The SDK's builder of a panel."""
    built = KINDS[panel.kind](panel, limits).id(number).title(panel.title).description(described(panel))
    built = built.datasource(DATASOURCE).span(panel.width).height(panel.height)
    for letter, column in zip(LETTERS, panel.columns, strict=False):
        built = built.with_target(_target(panel, letter, column))
    return built


def described(panel: Panel) -> str:
    """What a panel says of itself: what it shows, and what to run next."""
    return f"{panel.about}\n\nNext: `{panel.next}`"


def _target(panel: Panel, letter: str, column: Column) -> prometheus.Dataquery:
    query = prometheus.Dataquery().ref_id(letter).expr(column.expression).datasource(DATASOURCE)
    query = query.legend_format(column.legend or column.title)
    if panel.kind == "trend":
        return query.range().exemplar(panel.exemplars)
    form = PromQueryFormat.TABLE if panel.kind == "table" else PromQueryFormat.TIME_SERIES
    return query.instant().format(form)


def _stat(panel: Panel, limits: Limits) -> stat.Panel:
    built = (
        stat.Panel().color_mode(options.BigValueColorMode.VALUE).graph_mode(options.BigValueGraphMode.NONE)
    )
    built = built.text_mode(options.BigValueTextMode.VALUE_AND_NAME).orientation(
        options.VizOrientation.VERTICAL
    )
    built = built.justify_mode(options.BigValueJustifyMode.CENTER).reduce_options(_last())
    built = built.text(common.VizTextDisplayOptions().title_size(11).value_size(20))
    built = built.thresholds(_steps(limits.get(panel.limit))).no_value("no data")
    for letter, column in zip(LETTERS, panel.columns, strict=False):
        built = built.override_by_query(letter, [*_format(column), *_colour(column, bool(panel.limit))])
    return built


def _trend(panel: Panel, limits: Limits) -> timeseries.Panel:
    limit = limits.get(panel.limit)
    mode = options.GraphThresholdsStyleMode.DASHED if limit else options.GraphThresholdsStyleMode.OFF
    built = timeseries.Panel().line_width(2).fill_opacity(0).show_points(options.VisibilityMode.AUTO)
    built = built.thresholds_style(common.GraphThresholdsStyleConfig().mode(mode)).thresholds(_lines(limit))
    built = built.legend(
        common.VizLegendOptions()
        .display_mode(options.LegendDisplayMode.LIST)
        .placement(options.LegendPlacement.BOTTOM)
        .show_legend(True)
    )
    built = built.tooltip(common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI)).min(0)
    built = built.color_scheme(builders.FieldColor().mode(models.FieldColorModeId.PALETTE_CLASSIC))
    built = built.axis_soft_max(1.1 * max(limit)) if limit else built
    for letter, column in zip(LETTERS, panel.columns, strict=False):
        built = built.override_by_query(letter, [*_format(column), *_line(column)])
    return built


def _table(panel: Panel, limits: Limits) -> table.Panel:
    built = table.Panel().show_header(True).cell_height(options.TableCellHeight.SM).min_width(60)
    built = built.with_transformation(models.DataTransformerConfig("merge", options={}))
    built = built.with_transformation(models.DataTransformerConfig("organize", options=_organised(panel)))
    for label in panel.labels:
        built = built.override_by_name(label, [_property("custom.width", LABEL_PIXELS.get(label, 165))])
    for column in panel.columns:
        properties = [*_format(column), *_cell(column, limits.get(column.figure))]
        built = built.override_by_name(column.title, properties)
    return built


def _bars(panel: Panel, limits: Limits) -> bargauge.Panel:
    built = bargauge.Panel().orientation(options.VizOrientation.HORIZONTAL).reduce_options(_last())
    built = built.text(common.VizTextDisplayOptions().title_size(12).value_size(14))
    built = built.display_mode(options.BarGaugeDisplayMode.BASIC).show_unfilled(True).min(0)
    built = built.thresholds(_steps(limits.get(panel.limit))).value_mode(options.BarGaugeValueMode.TEXT)
    for letter, column in zip(LETTERS, panel.columns, strict=False):
        built = built.override_by_query(letter, [*_format(column), *_colour(column, bool(panel.limit))])
    return built


KINDS: Final[Mapping[str, Callable[[Panel, Limits], Any]]] = {
    "stat": _stat,
    "trend": _trend,
    "table": _table,
    "bars": _bars,
}


def _last() -> common.ReduceDataOptions:
    return common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)


def _steps(limit: Limit | None) -> builders.ThresholdsConfig:
    """Colours by value. Where low is bad, the steps are turned round."""
    if limit is None:
        steps: list[tuple[float | None, str]] = [(None, BLUE)]
    elif limit.high_is_bad:
        steps = [(None, GREEN), (limit.warning, AMBER), (limit.critical, RED)]
    else:
        steps = [(None, RED), (limit.critical, AMBER), (limit.warning, GREEN)]
    return _thresholds(steps)


def _lines(limit: Limit | None) -> builders.ThresholdsConfig:
    """Two lines of a trend: amber at the warning, red at the critical value, whichever lies above."""
    lines = [] if limit is None else sorted([(limit.warning, AMBER), (limit.critical, RED)])
    return _thresholds([(None, "transparent"), *lines])


def _thresholds(steps: Sequence[tuple[float | None, str]]) -> builders.ThresholdsConfig:
    made = [models.Threshold(value, colour) for value, colour in steps]
    return builders.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(made)


def _property(name: str, given: object) -> models.DynamicConfigValue:
    return models.DynamicConfigValue(name, given)


def _format(column: Column) -> Properties:
    """Unit, decimals and, but for a series named by its labels, the name."""
    found = [_property("unit", UNITS.get(column.unit, column.unit))]
    if column.unit in DECIMALS:
        found.append(_property("decimals", DECIMALS[column.unit]))
    return found if column.legend else [*found, _property("displayName", column.title)]


def _colour(column: Column, limited: bool) -> Properties:
    """Bounds and counts never carry the colour of a verdict."""
    if column.part == VALUE and limited:
        return []
    return [_property("color", {"mode": "fixed", "fixedColor": "text" if column.part != VALUE else BLUE})]


def _line(column: Column) -> Properties:
    """How a series of a trend is drawn."""
    return [_property(name, given) for name, given in LINES.get(column.part, {}).items()]


# The band lies between the bounds; n stands behind it as dots, by the axis on the right.
LINES: Final[Mapping[str, Mapping[str, object]]] = {
    SINGLE: {"color": {"mode": "fixed", "fixedColor": BLUE}},
    LOWER: {
        "custom.lineWidth": 0,
        "color": {"mode": "fixed", "fixedColor": BLUE},
        "custom.hideFrom": {"legend": True, "tooltip": False, "viz": False},
    },
    UPPER: {
        "custom.lineWidth": 0,
        "custom.fillBelowTo": FROM,
        "custom.fillOpacity": 20,
        "color": {"mode": "fixed", "fixedColor": BLUE},
    },
    COUNT: {
        "custom.drawStyle": "line",
        "custom.lineStyle": {"fill": "dash", "dash": [2, 6]},
        "custom.lineWidth": 1,
        "custom.axisPlacement": "right",
        "custom.axisLabel": "n",
        "custom.thresholdsStyle": {"mode": "off"},
        "color": {"mode": "fixed", "fixedColor": GREY},
    },
}


def _cell(column: Column, limit: Limit | None) -> Properties:
    """How a column of a table is drawn."""
    if column.part == STATE:
        texts = {
            number: {"text": text, "color": colour, "index": index}
            for index, (number, (text, colour)) in enumerate(STATES.items())
        }
        return [
            _property("mappings", [{"type": "value", "options": texts}]),
            _property("custom.cellOptions", {"type": "color-background"}),
            _property("custom.width", 90),
        ]
    if limit is not None and column.part == VALUE:
        return [
            _property("thresholds", _steps(limit).build()),
            _property("custom.cellOptions", {"type": "color-text"}),
        ]
    return []


def _organised(panel: Panel) -> dict[str, object]:
    """Names and order of a table's columns; the time of the question is no column."""
    values = [f"Value #{letter}" for letter, _ in zip(LETTERS, panel.columns, strict=False)]
    if len(values) == 1:
        values = ["Value"]
    names: Sequence[str] = [*panel.labels, *values]
    return {
        "excludeByName": {"Time": True},
        "indexByName": {name: place for place, name in enumerate(names)},
        "renameByName": dict(zip(values, [column.title for column in panel.columns], strict=True)),
    }
