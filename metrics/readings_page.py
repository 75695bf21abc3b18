"""The sections of `docs/definitions.md`: one a family of figures, and the list of own readings.

Rules:
- What a figure is made of comes from the catalogue, how to read it from the readings.
- Its value in the project's example is handed in as computed figures: window `all`, the settled cohort where
  there is one, definition `standard`. Zeros of a count are left out beside other values.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from attribution.definitions import STANDARD
from metrics.definitions_page import FIGURES
from metrics.figures import Metric
from metrics.markdown import anchor, code, denominator, link, numerator, table, windows
from metrics.own_readings import OWN_READINGS, OwnReading
from metrics.reading import NOT_PUBLISHED, Layer, Reading
from metrics.readings import LAYERS
from metrics.schema import Figure, Kind
from metrics.windows import SETTLED

COLUMNS: Final = ("figure", "numerator", "denominator", "windows exported", "in the example")
OWN_TITLE: Final = "Own readings (†)"
DECISIONS: Final = "decisions.md#readings-of-the-contract-"
NOT_EXPORTED: Final = "none"


def readings_markdown(example: Sequence[Metric]) -> str:
    """Every layer with its families; `example`: all figures of the project's example."""
    return "\n\n".join(_layer(layer, example) for layer in LAYERS) + "\n"


def own_readings_markdown() -> str:
    """Every †, what it says and which figures it moves."""
    return "\n".join(_own(own) for own in OWN_READINGS) + "\n"


def example_value(figure: Figure, example: Iterable[Metric]) -> str:
    """What a figure is in the example."""
    cohort = SETTLED if SETTLED in figure.cohorts else figure.cohorts[0]
    found = [
        metric
        for metric in example
        if (metric.name, metric.labels["window"], metric.labels.get("cohort")) == (figure.name, "all", cohort)
        and metric.labels.get("definition", STANDARD.name) == STANDARD.name
    ]
    if not found:
        return "absent"
    shown = [metric for metric in found if metric.value or figure.formula.kind is not Kind.COUNT]
    several = len({metric.labels.get("surface") for metric in found}) > 1
    return ", ".join(_value(figure, metric, several) for metric in shown) or "0"


def _value(figure: Figure, metric: Metric, with_surface: bool) -> str:
    hidden = {"window", "cohort", "definition", *([] if with_surface else ["surface"])}
    names = [_label(name, value) for name, value in metric.labels.items() if name not in hidden]
    return " ".join((*names, _number(figure, metric.value)))


def _label(name: str, value: str) -> str:
    return f"@{value}" if name == "k" else value


def _number(figure: Figure, value: float) -> str:
    if figure.formula.kind is Kind.RATIO:
        return f"{100 * value:.1f}".removesuffix(".0") + " %"
    return f"{value:.3g}" if figure.formula.kind is Kind.MEAN else f"{value:,}"


def _layer(layer: Layer, example: Sequence[Metric]) -> str:
    families = (_family(reading, example) for reading in layer.readings)
    return "\n\n".join((f"## {layer.title}", layer.about, *families))


def _family(reading: Reading, example: Sequence[Metric]) -> str:
    rows = [_figure(FIGURES[name], example) for name in reading.figures]
    return "\n\n".join((f"### {reading.title}", table(COLUMNS, rows), "\n".join(_lines(reading))))


def _figure(figure: Figure, example: Sequence[Metric]) -> tuple[str, ...]:
    formula = figure.formula
    return (
        f"`{figure.name}`{' †' if figure.own_reading else ''}",
        numerator(formula),
        denominator(formula),
        windows(figure) or NOT_EXPORTED,
        example_value(figure, example),
    )


def _lines(reading: Reading) -> list[str]:
    own = [own for own in OWN_READINGS if reading.title in own.moves or {*own.marks} & {*reading.figures}]
    links = f"{', '.join(one.title.lower() for one in own)}: see [own readings]({anchor(OWN_TITLE)})"
    return [
        f"- **Population**: {reading.population}",
        f"- **Numerator**: {reading.numerator}",
        f"- **Denominator**: {reading.denominator}",
        "- **What moves it**:",
        *(f"  - {cause}: {effect}." for cause, effect in reading.moves._asdict().items()),
        "- **Must not be used for**:",
        *(f"  - {misuse}" for misuse in reading.misuses),
        f"- **Needs**: {_fields(reading)}",
        f"- **Published example**: {reading.published or NOT_PUBLISHED}",
        *([f"- **†**: {links}"] if own else []),
    ]


def _fields(reading: Reading) -> str:
    pairs = sorted({tuple(field.split(".")) for field in reading.fields})
    by_event = groupby(pairs, key=lambda pair: pair[0])
    return " · ".join(f"{event} {code(name for _, name in some)}" for event, some in by_event)


def _own(own: OwnReading) -> str:
    marks = [f"Is {code(own.marks)}."] if own.marks else []
    moves = [f"Moves {', '.join(map(link, own.moves))}."] if own.moves else []
    numbers = ", ".join(map(str, own.numbers))
    told = [f"Reading [{numbers}]({DECISIONS})."] if own.numbers else []
    return " ".join((f"- **{own.title}**: {own.says}", *marks, *moves, *told))
