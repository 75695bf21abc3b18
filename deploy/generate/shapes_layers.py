"""The table that tells which layer is broken: a line a figure, from the first layer to the last.

Rules:
- A line is fine, to be watched or broken by the thresholds of its figure; with too few cases it is neither.
- The order is that of cause: a broken producer breaks all figures below it, a broken ranking those of use.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from deploy.generate.panels import COUNT, FROM, LOWER, SHARE, STATE, TO, UPPER, Column, Panel
from deploy.generate.queries import Ask, has_interval, lineage_n, lower, n, upper, value
from deploy.generate.shapes import N, about
from deploy.generate.thresholds import Limit, Limits

FEW: Final = 30  # fewer cases say too little to call anything broken


class Layer(NamedTuple):
    """One line of the table that tells which layer is broken."""

    layer: str
    says: str
    asked: Ask


def layers(rows: Sequence[Layer], limits: Limits, title: str, next_command: str) -> Panel:
    """One line a layer, in the order of the layers: the first that is broken is where to look."""
    bounded = [row for row in rows if has_interval(row.asked)]
    columns = (
        Column("state", _union(rows, lambda asked: _state(asked, limits[asked.figure.name])), part=STATE),
        Column("value", _union(rows, value), unit=SHARE),
        Column(FROM, _union(bounded, lower), unit=SHARE, part=LOWER),
        Column(TO, _union(bounded, upper), unit=SHARE, part=UPPER),
        Column(N, _union(rows, n_of_one), part=COUNT),
    )
    asks = [row.asked for row in rows]
    figures = tuple(asked.figure.name for asked in asks)
    text = f"{about(asks)}\n\n{_reading(rows, limits)}"
    told = tuple(column._replace(rows=figures) for column in columns)
    return Panel("table", title, told, text, next_command, 24, 11, ("layer", "says"))


def _reading(rows: Sequence[Layer], limits: Limits) -> str:
    named = ((row.says, limits[row.asked.figure.name]) for row in rows)
    thresholds = "\n".join(f"- {says}: {limit.warning:g} / {limit.critical:g}" for says, limit in named)
    return (
        "Read it from above: the first line that is not fine is where to look; what is below it may only "
        f"follow from it. Below {FEW} cases nothing is judged. Warning / critical:\n{thresholds}"
    )


def n_of_one(asked: Ask) -> str:
    """n of a figure of one series, without labels."""
    field = dict(asked.where).get("field")
    return f"sum ({lineage_n(asked, field)})" if field else n(asked)


def _state(asked: Ask, limit: Limit) -> str:
    """0 fine, 1 watch, 2 broken; -1 where there are too few cases, or none."""
    than = ">" if limit.high_is_bad else "<"
    found = value(asked)
    steps = f"(({found}) {than} bool {limit.warning:g}) + (({found}) {than} bool {limit.critical:g})"
    return f"({steps}) and ({n_of_one(asked)} >= {FEW}) or vector(-1)"


def _union(rows: Sequence[Layer], expression: Callable[[Ask], str]) -> str:
    """What all rows answer, each under its two names."""
    return " or ".join(
        f'label_replace(label_replace({expression(row.asked)}, "layer", "{row.layer}", "", ""), '
        f'"says", "{row.says}", "", "")'
        for row in rows
    )
