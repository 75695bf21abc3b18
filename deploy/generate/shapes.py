"""From figures of the catalogue to panels: the shapes in which every quality figure is shown.

Rules:
- What a panel says of itself comes from the catalogue: the help of each figure, window and cohort.
- n stands beside every share. Where only "at most so many" is published it is called `n ≤`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from deploy.generate.panels import (
    COUNT,
    FROM,
    LOWER,
    MEAN,
    NUMBER,
    RANK,
    SHARE,
    SINGLE,
    TO,
    UPPER,
    VALUE,
    Column,
    Panel,
)
from deploy.generate.queries import (
    CHOSEN,
    Ask,
    has_interval,
    is_additive,
    lower,
    n,
    upper,
    value,
)
from metrics.schema import Kind

N, AT_MOST_N = "n", "n ≤"
BAND: Final = "95 %"
BOUNDS: Final = "Bounds, where there are some: 95 %, Wilson."


def unit_of(asked: Ask) -> str:
    """The unit follows from the formula."""
    if asked.figure.name == "lara_consumed_rank":
        return RANK
    return {Kind.RATIO: SHARE, Kind.MEAN: MEAN, Kind.COUNT: NUMBER}[asked.figure.formula.kind]


def n_title(asked: Ask) -> str:
    """What n is called."""
    return N if is_additive(asked) else AT_MOST_N


def about(asks: Iterable[Ask]) -> str:
    """What figures say, by the catalogue, and what is read of them."""
    asked = list(asks)
    helps = dict.fromkeys(f"`{one.figure.name}`: {one.figure.help}" for one in asked)
    sure = [BOUNDS] if any(has_interval(one) for one in asked) else []
    return "\n\n".join([*helps, " ".join([*dict.fromkeys(_read(one) for one in asked), *sure])])


def _read(asked: Ask) -> str:
    window = "the chosen window" if asked.window == CHOSEN else asked.window
    cohorts = asked.figure.scope.cohorts
    cohort = f", cohort {asked.cohort if asked.cohort in cohorts else cohorts[0]}" if cohorts else ""
    return f"Window: {window}{cohort}."


def titled(title: str, asks: Sequence[Ask]) -> str:
    """A title says its window where it is not the chosen one."""
    return title if all(one.window == CHOSEN for one in asks) else f"{title} · 24 h"


def bounds(asked: Ask) -> tuple[Column, ...]:
    """Both bounds of a share; of a mean there are none."""
    if not has_interval(asked):
        return ()
    return (
        Column(FROM, lower(asked), asked.figure.name, SHARE, LOWER),
        Column(TO, upper(asked), asked.figure.name, SHARE, UPPER),
    )


def figure_column(asked: Ask, title: str, legend: str = "") -> Column:
    """The figure itself."""
    return Column(title, value(asked), asked.figure.name, unit_of(asked), VALUE, legend)


def n_column(asked: Ask, title: str = "") -> Column:
    """Its n."""
    return Column(title or n_title(asked), n(asked), asked.figure.name, NUMBER, COUNT)


def headline(asked: Ask, title: str, next_command: str, name: str, width: int = 6) -> Panel:
    """One figure over all that is chosen: with its bounds and its n."""
    columns = (figure_column(asked, name), *bounds(asked), n_column(asked))
    return Panel(
        "stat",
        titled(title, [asked]),
        columns,
        about([asked]),
        next_command,
        width,
        4,
        limit=asked.figure.name,
    )


def trend(asked: Ask, title: str, next_command: str, name: str, width: int = 12) -> Panel:
    """One figure in time: with its band, its thresholds and its n."""
    band = (one._replace(title=BAND) if one.part == UPPER else one for one in bounds(asked))
    columns = (figure_column(asked, name)._replace(part=SINGLE), *band, n_column(asked))
    limit = asked.figure.name
    return Panel(
        "trend", titled(title, [asked]), columns, about([asked]), next_command, width, 8, limit=limit
    )


def trends(
    asks: Mapping[str, Ask], title: str, next_command: str, width: int = 12, legend: str = "", limit: str = ""
) -> Panel:
    """Several figures, or one by a label, in time; the ns that they do not share stand beside them."""
    columns = [figure_column(one, name, legend) for name, one in asks.items()]
    several = {n(one._replace(by=())): one._replace(by=()) for one in asks.values() if _is_share(one)}
    columns += [n_column(asked, _n_name(asked, len(several))) for asked in several.values()]
    found = list(asks.values())
    return Panel(
        "trend", titled(title, found), tuple(columns), about(found), next_command, width, 8, limit=limit
    )


def _n_name(asked: Ask, several: int) -> str:
    return (
        n_title(asked) if several == 1 else f"{n_title(asked)} of {asked.figure.name.removeprefix('lara_')}"
    )


def _is_share(asked: Ask) -> bool:
    return asked.figure.formula.kind is not Kind.COUNT


def by_label(
    asks: Mapping[str, Ask], title: str, next_command: str, width: int = 24, height: int = 9
) -> Panel:
    """A table with a row for each value of a label. n stands before the figures that share it."""
    columns: list[Column] = []
    latest = ""
    for name, asked in asks.items():
        if _is_share(asked) and n(asked) != latest:
            latest = n(asked)
            columns.append(n_column(asked, _unused(n_title(asked), columns)))
        columns.append(figure_column(asked, name))
    found = list(asks.values())
    labels = found[0].by
    return Panel(
        "table", titled(title, found), tuple(columns), about(found), next_command, width, height, labels
    )


def _unused(title: str, columns: Sequence[Column]) -> str:
    """Names of columns differ: the second n is called `n `, with a space more for each."""
    names = {column.title for column in columns}
    while title in names:
        title += " "
    return title


def with_bounds(asked: Ask, name: str, title: str, next_command: str, width: int = 12) -> Panel:
    """A table of one share by a label, with n and bounds."""
    columns = (n_column(asked), figure_column(asked, name), *bounds(asked))
    return Panel("table", titled(title, [asked]), columns, about([asked]), next_command, width, 9, asked.by)


def counted(asked: Ask, title: str, next_command: str, width: int = 12, height: int = 9) -> Panel:
    """Counts by a label, as bars."""
    legend = " · ".join(f"{{{{{label}}}}}" for label in asked.by)
    columns = (figure_column(asked, title, legend),)
    return Panel("bars", titled(title, [asked]), columns, about([asked]), next_command, width, height)
