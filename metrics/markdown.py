"""A row of the catalogue as the cells of a Markdown table.

Rules:
- Numerator and denominator are named by the stored counters, so that a figure can be checked by hand.
- A pipe in a cell is escaped; a heading's anchor is made as GitHub makes it.
"""

import re
from collections.abc import Iterable, Sequence

from metrics.schema import Figure, Formula, Kind, Part, Sum, Term
from metrics.windows import LIVE


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, without a line feed at its end."""
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *escaped))


def code(names: Iterable[str]) -> str:
    """Names in code type, with commas."""
    return ", ".join(f"`{name}`" for name in names)


def anchor(title: str) -> str:
    """Where a link to a heading leads."""
    return "#" + re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def link(title: str) -> str:
    """A link to the heading of this title."""
    return f"[{title}]({anchor(title)})"


def numerator(formula: Formula) -> str:
    """The counters above the line."""
    return _sum(formula.numerator)


def denominator(formula: Formula) -> str:
    """The counters below the line; empty for a count."""
    if formula.kind is Kind.COUNT:
        return ""
    scale = f" × {formula.scale:,}" if formula.scale != 1 else ""
    return _sum(formula.denominator) + scale


def windows(figure: Figure) -> str:
    """The windows that the exporter prints, by cohort, and those with bounds."""
    exported = figure.exported
    printed = {cohort: " ".join(exported.windows(cohort)) for cohort in figure.cohorts}
    same = len(set(printed.values())) == 1
    texts = (
        [printed[figure.cohorts[0]]]
        if same
        else [f"{cohort or LIVE}: {windows}" for cohort, windows in printed.items()]
    )
    bounds = [f"bounds: {' '.join(exported.bounds)}"] if exported.bounds else []
    return " · ".join((*texts, *bounds))


def _sum(terms: Sum) -> str:
    shared = terms[0].part if len({term.part for term in terms}) == 1 else None
    text = " ".join(_term(term, with_age=shared is None) for term in terms).removeprefix("+ ")
    return text if shared in (None, Part.WHOLE) else f"{text}, {shared.value}"


def _term(term: Term, with_age: bool) -> str:
    name, *labels = term.counter.split("|")
    own = f"{{{', '.join(label.strip('{}') for label in labels)}}}" if labels else ""
    age = f" ({term.part.value})" if with_age and term.part is not Part.WHOLE else ""
    return f"{'+' if term.sign > 0 else '−'} `{name}{own}`{age}"
