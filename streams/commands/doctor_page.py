"""`lara doctor`, as tables for a terminal of 100 columns or more; the findings come last, where the eye is.

Rules:
- Shares are rounded away from 0 and 100 %: what reads "100.0" or "0.0" is all or nothing.
- Ids and values are the operator's own, and are printed as they are: no markup is read in them.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from metrics.catalogue import CATALOGUE
from metrics.schema import Kind
from metrics.tables import ABSENT, FAINT, HEADING, NEW_LINE, new_table
from streams.commands.doctor_diagnosis import Diagnosis, Missing
from streams.commands.doctor_findings import NOTE, PROBLEM, SEVERITIES, WARNING, Finding
from streams.commands.doctor_ladder import CLOSED, OPEN, PARTLY, Step
from streams.commands.doctor_notes import OPTIONAL

STYLES: Final = {
    OPEN: "green",
    PARTLY: "yellow",
    CLOSED: "red",
    PROBLEM: "bold red",
    WARNING: "yellow",
    NOTE: "default",
}
VALUES: Final = 5  # shown of what a finding names
NUMBERS: Final = frozenset(one.name for one in CATALOGUE if one.formula.kind is not Kind.COUNT)


def page(diagnosis: Diagnosis) -> RenderableType:
    """Everything, in the order in which it is read."""
    parts: list[RenderableType] = [_heading(diagnosis)]
    if diagnosis.ladder:
        parts += [_ladder(diagnosis.ladder), _to_do(diagnosis.ladder)]
    if diagnosis.missing:
        parts.append(_missing(diagnosis))
    parts += [_findings(diagnosis.findings), _sum(diagnosis.findings)]
    return Group(*(Padding(part, (0, 0, 1, 0)) for part in parts[:-1]), parts[-1])


def percent(count: int, of: int) -> str:
    """A share in %; only none is 0.0, and only all is 100.0."""
    if not of:
        return ABSENT
    shown = round(1000 * count / of)
    return f"{min(max(shown, 1), 999) / 10 if 0 < count < of else shown / 10:.1f}"


def _heading(diagnosis: Diagnosis) -> Text:
    lines = []
    if diagnosis.intake is not None:
        read = sum(diagnosis.intake.values())
        lines.append(f"{read:,} lines read: " + _listed(diagnosis.intake))
    if diagnosis.records is not None:
        standing = sum(diagnosis.records.values())
        lines.append(
            f"{standing:,} records count (they stand and are not synthetic): " + _listed(diagnosis.records)
        )
    else:
        lines.append("The state could not be read: nothing is said about events.")
    return Text(NEW_LINE.join(lines))


def _listed(counts: dict[str, int]) -> str:
    return " · ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def _wrapping(title: str, *headings: str) -> Table:
    """A table of sentences: the last columns wrap."""
    found = Table(title=title, box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    found.title_justify, found.title_style = "left", "italic"
    for heading in headings:
        found.add_column(heading, overflow="fold")
    return found


def _ladder(ladder: Sequence[Step]) -> Table:
    """What is logged of what the figures need, and the figures that this opens."""
    found = _wrapping(
        "What is logged, from what gives most, and the figures it opens (lara_…)",
        *("", "", "state", "needed", "n", "of", "%", "opens"),
    )
    for number, column in enumerate(found.columns):
        column.no_wrap = number not in (3, 7)
        column.justify = "right" if number in (4, 5, 6) else "left"
    for step in ladder:
        for number, met in enumerate(step.fields):
            names = ("", "") if number else (str(step.rung), step.name)
            shown = [name for name in met.figures if name in NUMBERS] or met.figures
            figures = ", ".join(name.removeprefix("lara_") for name in shown)
            shares = (f"{met.logged:,}", f"{met.of:,}", percent(met.logged, met.of))
            found.add_row(*names, Text(met.state, STYLES[met.state]), met.field, *shares, figures)
    return found


def _to_do(ladder: Sequence[Step]) -> Table:
    """How to climb the rungs that are not open."""
    found = _wrapping("What to log next, from what gives most", "", "", "")
    found.show_header = False
    for step in ladder:
        if step.state != OPEN:
            found.add_row(str(step.rung), step.name, step.do)
    return found


def _missing(diagnosis: Diagnosis) -> Table:
    """Optional fields by type of event."""
    types = [name for name, count in (diagnosis.records or {}).items() if count]
    found = new_table("Optional fields, missing in %", "", *types)
    for field in dict.fromkeys(field for event_type in types for field in OPTIONAL[event_type]):
        cells = [diagnosis.missing.get(event_type, {}).get(field) for event_type in types]
        if any(cell is not None for cell in cells):
            found.add_row(field, *map(_cell, cells))
    return found


def _cell(missing: Missing | None) -> Text:
    if missing is None:
        return Text("")
    return Text(percent(missing.missing, missing.of), FAINT if missing.missing == missing.of else "")


def _findings(findings: Sequence[Finding]) -> RenderableType:
    if not findings:
        return Text("Nothing was found.")
    found = _wrapping("Findings", "", "n", "%", "what", "what to do")
    for column in found.columns[:3]:
        column.no_wrap = True
    for column in found.columns[1:3]:
        column.justify = "right"
    for finding in findings:
        count = "" if finding.count is None else f"{finding.count:,}"
        share = "" if finding.count is None or finding.of is None else percent(finding.count, finding.of)
        severity = Text(finding.severity, STYLES[finding.severity])
        found.add_row(severity, count, share, Text(NEW_LINE.join(_told(finding))), finding.do)
    return found


def _told(finding: Finding) -> Iterator[str]:
    """The sentence, what was found, and a few examples."""
    yield finding.what
    if finding.values:
        most = sorted(finding.values.items(), key=lambda one: (-one[1], one[0]))
        more = [f"and {len(most) - VALUES:,} more"] if len(most) > VALUES else []
        yield " · ".join([*(f"{value} {count:,}" for value, count in most[:VALUES]), *more])
    if finding.examples:
        together = ", " if all(" " not in example for example in finding.examples) else NEW_LINE
        some = "e.g. " if (finding.count or 0) > len(finding.examples) else ""
        yield some + together.join(finding.examples)


def _sum(findings: Sequence[Finding]) -> Text:
    counts = {name: sum(one.severity == name for one in findings) for name in SEVERITIES}
    return Text(" · ".join(f"{name}s {count}" for name, count in counts.items()), HEADING)
