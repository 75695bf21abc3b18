"""The overview of `docs/definitions.md`: contents, all figures in one table, the values of their labels.

The page is generated from the catalogue and the readings, and never edited: a test compares both.
"""

from typing import Final

from metrics.catalogue import CATALOGUE
from metrics.markdown import anchor, code, link, table
from metrics.own_readings import OWN_READINGS
from metrics.reading import Reading
from metrics.readings import LAYERS
from metrics.schema import Figure
from metrics.vocabularies import VOCABULARIES

COLUMNS: Final = ("figure", "labels", "what it says", "†")
FIGURES: Final = {figure.name: figure for figure in CATALOGUE}
MOVED: Final = frozenset(title for own in OWN_READINGS for title in own.moves)
IN_PART: Final = "in part"


def index_markdown() -> str:
    """The contents: every layer, and its families."""
    return "\n".join(
        f"- {link(layer.title)}: {', '.join(link(reading.title) for reading in layer.readings)}"
        for layer in LAYERS
    )


def definitions_markdown() -> str:
    """All figures in the order of their layers, and the vocabularies of their labels."""
    rows = [
        _row(FIGURES[name], reading)
        for layer in LAYERS
        for reading in layer.readings
        for name in reading.figures
    ]
    return "\n".join([table(COLUMNS, rows), "", *_vocabularies()]) + "\n"


def _row(figure: Figure, family: Reading) -> tuple[str, ...]:
    in_part = IN_PART if family.title in MOVED else ""
    return (
        f"[`{figure.name}`]({anchor(family.title)})",
        ", ".join(_label(figure, name) for name in figure.label_names),
        figure.help,
        "†" if figure.own_reading else in_part,
    )


def _label(figure: Figure, name: str) -> str:
    return f"cohort ({' or '.join(figure.scope.cohorts)})" if name == "cohort" else name


def _vocabularies() -> list[str]:
    return [
        "The values of labels; `definition` has those that are configured, see `lara_definition_info`:",
        "",
        *(f"- `{name}`: {code(values)}" for name, values in VOCABULARIES.items()),
    ]
