"""How grave a finding is, and what is none."""

from collections import Counter

import pytest

from streams.commands.backtest import Intake
from streams.commands.doctor_findings import (
    CHECKS,
    NOTE,
    PROBLEM,
    SEVERITIES,
    WARNING,
    Finding,
    findings_of,
    graded,
)
from streams.commands.doctor_notes import Notes

GRADES = ((0.1, NOTE), (0.5, PROBLEM))


@pytest.mark.parametrize(
    ("count", "severity"), [(0, None), (9, None), (10, NOTE), (49, NOTE), (50, PROBLEM), (100, PROBLEM)]
)
def test_a_finding_grows_graver_with_its_share(count, severity):
    """Below the least share it is none."""
    found = graded(Finding(name="x", severity=NOTE, what="", do="", count=count, of=100), GRADES)
    assert (found and found.severity) == severity


def test_checks_are_named_once_and_say_what_to_do():
    """A name is what a program waits for."""
    assert max(Counter(check.name for check in CHECKS).values()) == 1
    for check in CHECKS:
        assert check.what and check.do.endswith("."), check.name
        shares = [share for share, _ in check.grades]
        assert shares == sorted(shares) and {severity for _, severity in check.grades} <= set(SEVERITIES)


def test_the_gravest_comes_first():
    """What ends a deployment is not looked for among notes."""
    notes = Notes()
    notes.counts.update({"retrievals": 100, "unasked": 1, "records": 100, "other surfaces": 1})
    notes.counts.update({"resolved": 100, "never logged": 5})
    assert [one.severity for one in findings_of(notes, None)] == [PROBLEM, WARNING, NOTE]


@pytest.mark.parametrize(
    ("dispositions", "expected"),
    [
        ({"applied": 99}, {}),
        ({"applied": 995, "invalid": 5}, {"invalid": WARNING}),
        ({"applied": 99, "invalid": 1}, {"invalid": PROBLEM}),
        ({"applied": 99, "duplicate": 1}, {"duplicates": NOTE}),
        ({"applied": 80, "duplicate": 20}, {"duplicates": WARNING}),
    ],
)
def test_lines_that_are_no_standing_record_are_told(dispositions, expected):
    """Of all lines read."""
    intake = Intake(Counter(dispositions), Counter({"not_json": dispositions.get("invalid", 0)}))
    found = {one.name: one for one in findings_of(Notes(), intake)}
    assert {name: one.severity for name, one in found.items()} == expected
    if "invalid" in found:
        assert found["invalid"].values == intake.reasons


def test_conversations_are_mixed_only_if_some_have_one():
    """Nobody sends it, or everybody: both are fine."""
    for without, mixed in ((0, False), (3, True), (10, False)):
        notes = Notes()
        notes.counts.update({"turns": 10, "no conversation": without})
        assert ("mixed_conversations" in {one.name for one in findings_of(notes, None)}) is mixed
