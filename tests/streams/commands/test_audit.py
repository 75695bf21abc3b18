"""What `lara audit` prints of what was found."""

import pytest

from streams.commands.audit import SHOWN, as_data, print_audit
from streams.state.audit import HOUR, MINUTE, TOTAL, Audit, Drift
from tests.building import at

TEN = at(0) // 60_000
LOST = Drift(MINUTE, TEN, "retrievals|browse|chat", 0, 1)
WHOLE = Audit(None, 12, 3, 0, (), 0)


def printed(found: Audit, capsys: pytest.CaptureFixture) -> str:
    print_audit(found)
    return capsys.readouterr().out


def test_a_state_without_drift_says_what_was_compared(capsys):
    """How many entities and minutes, and of which time."""
    assert printed(WHOLE, capsys) == (
        "compared: entities 12 · minutes 3, of all time\nno drift: the buckets hold what the entities say\n"
    )


def test_what_is_not_judged_is_said(capsys):
    """Minutes that may have expired, and buckets that were written meanwhile."""
    found = Audit(TEN, 12, 3, 2, (), 0)
    assert "minutes 3, since 2026-03-02T10:00Z; what is older may have expired" in printed(found, capsys)
    assert "not judged, since they were written meanwhile: buckets 2" in printed(found, capsys)


def test_drift_is_told_with_what_is_lost_and_the_largest_first(capsys):
    """A row a counter: where, what it must be, what it is."""
    drift = (LOST, Drift(HOUR, TEN // 60, "prompts|chat", 9, 4), Drift(TOTAL, 0, "prompts|chat", 1, 3))
    text = printed(Audit(None, 12, 3, 0, drift, 7), capsys)
    assert "drift: counters that differ 3, by 8 in all\n" in text
    assert "not looked into: more buckets that differ 7\n" in text
    assert "lost: retrieval 1\n" in text
    rows = [line.split() for line in text.splitlines()[-3:]]
    assert rows == [
        ["hour", "2026-03-02T10:00Z", "prompts|chat", "9", "4"],
        ["total", "prompts|chat", "1", "3"],
        ["minute", "2026-03-02T10:00Z", "retrievals|browse|chat", "0", "1"],
    ]


def test_a_long_table_ends_with_how_much_is_left_out(capsys):
    """All of it is in the JSON."""
    drift = tuple(Drift(MINUTE, TEN + number, "prompts|chat", 0, 1) for number in range(SHOWN + 5))
    assert printed(Audit(None, 12, 3, 0, drift, 0), capsys).splitlines()[-1].split()[:3] == [
        "…",
        "5",
        "more:",
    ]
    assert len(as_data(Audit(None, 12, 3, 0, drift, 0))["drift"]) == SHOWN + 5


def test_programs_are_told_the_same():
    """With instants as text, the sum, and what is lost."""
    found = as_data(Audit(TEN, 12, 3, 1, (LOST,), 0))
    assert found == {
        "since": "2026-03-02T10:00Z",
        "entities": 12,
        "minutes": 3,
        "changed": 1,
        "more": 0,
        "size": 1,
        "lost": {"retrieval": 1},
        "drift": [
            {
                "level": "minute",
                "number": TEN,
                "at": "2026-03-02T10:00Z",
                "counter": "retrievals|browse|chat",
                "expected": 0,
                "found": 1,
            }
        ],
    }
