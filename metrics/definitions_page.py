"""The table of all figures for `docs/definitions.md`, written from the catalogue.

Rules:
- The page is generated and never edited: a test compares it with the catalogue.
- Numerator and denominator are named by the stored counters, so that a figure can be checked by hand.
"""

from typing import Final

from metrics.catalogue import CATALOGUE
from metrics.schema import Figure, Formula, Kind, Part, Sum, Term
from metrics.vocabularies import VOCABULARIES
from metrics.windows import LIVE

COLUMNS: Final = (
    "figure",
    "labels",
    "what it says",
    "numerator",
    "denominator",
    "windows exported",
    "†",
)


def definitions_markdown() -> str:
    """The table in Markdown, with a line on each label vocabulary; ends with a line feed."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(_row(figure) for figure in CATALOGUE)]
    table = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*table, "", *_vocabularies()]) + "\n"


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        f"`{figure.name}`",
        ", ".join(_label(figure, name) for name in figure.label_names),
        figure.help,
        _sum(figure.formula.numerator),
        _denominator(figure.formula),
        _windows(figure),
        "†" if figure.own_reading else "",
    )


def _label(figure: Figure, name: str) -> str:
    return f"cohort ({' or '.join(figure.scope.cohorts)})" if name == "cohort" else name


def _sum(terms: Sum) -> str:
    first, *others = (_term(term) for term in terms)
    part = terms[0].part
    text = "".join((first.removeprefix("+ "), *(f" {other}" for other in others)))
    return text if part is Part.WHOLE else f"{text}, {part.value}"


def _term(term: Term) -> str:
    name, *labels = term.counter.split("|")
    own = f"{{{', '.join(label.strip('{}') for label in labels)}}}" if labels else ""
    return f"{'+' if term.sign > 0 else '−'} `{name}{own}`"


def _denominator(formula: Formula) -> str:
    if formula.kind is Kind.COUNT:
        return ""
    scale = f" × {formula.scale:,}" if formula.scale != 1 else ""
    return _sum(formula.denominator) + scale


def _windows(figure: Figure) -> str:
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


def _vocabularies() -> list[str]:
    lines = [
        f"- `{name}`: {', '.join(f'`{value}`' for value in values)}" for name, values in VOCABULARIES.items()
    ]
    return [
        "The values of labels; `definition` has those that are configured, see `lara_definition_info`:",
        "",
        *lines,
    ]
