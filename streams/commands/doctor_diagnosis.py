"""`lara doctor`, the answer: one value. Its JSON is stable (docs/operating.md); the tables show the same."""

from msgspec import Struct

from streams.commands.backtest import Intake
from streams.commands.doctor_findings import PROBLEM, Finding
from streams.commands.doctor_ladder import Step, climb
from streams.commands.doctor_notes import Notes


class Missing(Struct, frozen=True):
    """An optional field: in how many of the records that can have it, it is missing."""

    missing: int
    of: int


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All that `lara doctor` has to say. Without a readable state `records` is None."""

    source: str  # "files" or "live"
    problems: int
    intake: dict[str, int] | None  # what became of the lines of files
    records: dict[str, int] | None  # standing, not synthetic, by type
    ladder: list[Step]
    missing: dict[str, dict[str, Missing]]  # type -> optional field
    findings: list[Finding]


def diagnosis_of(
    where: str, intake: Intake | None, notes: Notes | None, findings: list[Finding]
) -> Diagnosis:
    """The answer, of what was noted and found; `notes` is None where no state could be read."""
    return Diagnosis(
        source=where,
        problems=sum(one.severity == PROBLEM for one in findings),
        intake=None if intake is None else dict(intake.dispositions),
        records=None if notes is None else dict(notes.records),
        ladder=[] if notes is None else climb(notes),
        missing={} if notes is None else _missing(notes),
        findings=findings,
    )


def _missing(notes: Notes) -> dict[str, dict[str, Missing]]:
    missing: dict[str, dict[str, Missing]] = {}
    for (event_type, field), of in notes.expected.items():
        counts = Missing(notes.missing[event_type, field], of)
        missing.setdefault(event_type, {})[field] = counts
    return missing
