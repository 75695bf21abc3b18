"""`lara labels`: a filled sheet becomes judgements, all of it or none."""

import json
import os

import pytest
from click.testing import CliRunner

from attribution.parsing import parse
from streams.commands.cli import main
from streams.commands.sheet import NEEDED
from tests.building import settle

HEADING = ",".join(NEEDED)


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def labels(tmp_path):
    """Runs the command over a sheet with these rows."""

    def run(*rows, options=("--ts", "2026-03-05T09:00:00Z")):
        path = tmp_path / "sheet.csv"
        path.write_text("\n".join([HEADING, *rows]))
        return CliRunner().invoke(main, ["labels", str(path), *options])

    return run


def events(found):
    assert found.exit_code == 0, found.output
    return [json.loads(line) for line in found.stdout.splitlines()]


def test_each_answer_is_a_judgement_about_its_own_thing(labels):
    """A grade about retrieval and asset, intents about the request, the goal about the retrieval."""
    found = labels("r1,q1,a1,3,2,yes")
    relevance, intent, goal = events(found)
    common = {"type": "judgement", "ts": "2026-03-05T09:00:00.000Z", "judge": "human"}
    for event in (relevance, intent, goal):
        assert event.items() >= common.items()
        assert parse(json.dumps(event).encode()).event_id == event["event_id"]
    about = {"event_id", *common}
    assert [{name: event[name] for name in event if name not in about} for event in events(found)] == [
        {"kind": "relevance", "retrieval_id": "r1", "asset_id": "a1", "grade": 3},
        {"kind": "intent", "request_id": "q1", "retrieval_intents": 2},
        {"kind": "goal", "retrieval_id": "r1", "reached": True},
    ]
    assert found.stderr == "read 1 rows, 0 of them without grade: relevance 1 · intent 1 · goal 1\n"


def test_empty_cells_are_no_answers_and_are_counted(labels):
    """An unfilled sheet is no mistake."""
    found = labels("r1,q1,a1,,,", "r1,q1,a2,0,,")
    assert [event["grade"] for event in events(found)] == [0]
    assert found.stderr.startswith("read 2 rows, 1 of them without grade")
    assert events(labels("r1,q1,a1,,,")) == []


@pytest.mark.parametrize(
    ("cell", "reached"),
    [
        ("true", True),
        ("TRUE", True),
        ("yes", True),
        ("1", True),
        ("False", False),
        ("no", False),
        ("0", False),
    ],
)
def test_a_goal_is_answered_as_spreadsheets_and_people_do(labels, cell, reached):
    """In any case."""
    assert [event["reached"] for event in events(labels(f"r1,q1,a1,,,{cell}"))] == [reached]


def test_read_twice_a_sheet_gives_the_same_ids_and_changes_nothing(labels):
    """At another time too: a store that holds the first counts the others as duplicates."""
    first, again = (events(labels("r1,q1,a1,3,2,yes", options=["--ts", "2026-03-05"])) for _ in range(2))
    assert first == again
    now, later = (events(labels("r1,q1,a1,3,2,yes", options=())) for _ in range(2))
    assert [event["event_id"] for event in now] == [event["event_id"] for event in later]
    assert settle(*now).store.entities() == settle(*now, *now).store.entities()


def test_another_answer_another_judge_or_a_given_time_is_another_event(labels):
    """So that a corrected sheet counts, and two judges are two."""
    found = [
        events(labels("r1,q1,a1,3,,", options=options))[0]["event_id"]
        for options in ([], ["--judge", "model-7"], ["--ts", "2026-03-05"], ["--ts", "2026-03-06"])
    ]
    found.append(events(labels("r1,q1,a1,2,,", options=[]))[0]["event_id"])
    found.append(events(labels("r1,q1,a2,3,,", options=[]))[0]["event_id"])
    assert len(set(found)) == len(found)


def test_the_judge_is_named_in_every_event(labels):
    """Any other text than human is a model, whose labels a human's beat."""
    assert [one["judge"] for one in events(labels("r1,q1,a1,3,,", options=["--judge", "model-7"]))] == [
        "model-7"
    ]


def test_one_thing_may_be_answered_twice_if_the_answers_agree(labels):
    """Intents on every row of a request are one judgement."""
    assert [event["kind"] for event in events(labels("r1,q1,a1,,1,no", "r1,q1,a2,,1,no"))] == [
        "intent",
        "goal",
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["r1,q1,a1,good,,"], "row 2: grade must be a whole number, not 'good'"),
        (["r1,q1,a1,3.0,,"], "row 2: grade must be a whole number, not '3.0'"),
        (["r1,q1,a1,٣,,"], "row 2: grade must be a whole number"),
        ([f"r1,q1,a1,{'9' * 30},,"], "row 2: grade must be a whole number"),
        (["r1,q1,a1,,,", "r1,q1,a1,,-1,"], "row 3: retrieval_intents: `retrieval_intents` must be a whole number, zero"),
        (["r1,q1,a1,,,maybe"], "row 2: reached must be one of true, yes, 1, false, no, 0, not 'maybe'"),
        (["r1,q1,,3,,"], "row 2: grade is filled, but there is no asset_id"),
        ([",q1,,3,,"], "row 2: grade is filled, but there is no retrieval_id and no asset_id"),
        (["r1,,a1,,1,"], "row 2: retrieval_intents is filled, but there is no request_id"),
        ([f"r1,q1,{'a' * 257},3,,"], "row 2: grade: `asset_id` must be an id of at most 256 code points"),
        (["r1,q1,a1,3,,", "r1,q1,a1,2,,"], "row 3: grade is 2 here and 3 in row 2, for the same retrieval_id and asset_id"),
        (["r1,q1,a1,,1,", "r2,q1,a1,,2,"], "row 3: retrieval_intents is 2 here and 1 in row 2, for the same request_id"),
    ],
)  # fmt: skip
def test_a_wrong_cell_is_told_with_its_row_and_nothing_is_printed(labels, rows, said):
    """One sentence, code 1, and not half of the sheet."""
    found = labels(*rows)
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.startswith(said), found.stderr
    assert "Traceback" not in found.stderr


def test_every_mistake_of_a_sheet_is_told_at_once_up_to_twenty(labels):
    """And how many more there are; right rows beside them give nothing."""
    found = labels("r1,q1,a0,1,,", *(f"r1,q1,a{number},x,,y" for number in range(1, 13)))
    assert (found.exit_code, found.stdout) == (1, "")
    lines = found.stderr.splitlines()
    assert len(lines) == 21
    assert [lines[0][:5], lines[1][:5], lines[2][:5]] == ["row 3", "row 3", "row 4"]
    assert lines[-1] == "… and 4 more"


def test_a_sheet_that_is_none_is_a_sentence(tmp_path):
    """Not a traceback."""
    path = tmp_path / "sheet.csv"
    path.write_bytes(b"\xff\xfe")
    found = CliRunner().invoke(main, ["labels", str(path)])
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.startswith("the sheet is not UTF-8")
