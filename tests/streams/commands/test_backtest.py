"""`lara backtest`: figures from lines alone."""

import asyncio
import json
import os

import pytest
from click.testing import CliRunner

from attribution.semantics import Exclusion, Semantics
from streams.commands.backtest import (
    BATCH,
    Intake,
    compute,
    intake_line,
    latest_event,
    lines_of,
    settle_lines,
)
from streams.commands.cli import main
from streams.settings import Settings
from tests.building import DAY, DEFAULT, at, encoded, judgement, placement, prompt, retrieval, user
from tests.properties import running

CLAIM = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def settled(*values, semantics=DEFAULT):
    return asyncio.run(settle_lines([encoded(value) for value in values], semantics))


def written(path, *values):
    path.write_bytes(b"\n".join(encoded(value) for value in values))
    return str(path)


def backtest(*arguments):
    return CliRunner().invoke(main, ["backtest", *arguments])


# --- lines ------------------------------------------------------------------------------------------


def test_lines_are_those_of_all_files_without_the_empty_ones(tmp_path):
    """Whatever ends a line, and whether the last one ends."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b'{"a":1}\r\n\n  \n{"b":2}')
    other.write_bytes(b"\n\xff\n")
    assert list(lines_of([one, other])) == [b'{"a":1}', b'{"b":2}', b"\xff"]


def test_every_line_is_counted_by_what_became_of_it():
    """What is no event with its reason; no line is late."""
    _, intake = settled(
        retrieval(), retrieval(), retrieval(seconds=1, event_id="other"), b"{", b"[]", retrieval("r2", ts=5),
        retrieval("r3", synthetic=True), prompt(ts="yesterday"),
    )  # fmt: skip
    assert intake.dispositions == {"applied": 2, "duplicate": 1, "conflict": 1, "synthetic": 1, "invalid": 3}
    assert intake.reasons == {"not_json": 1, "not_an_object": 1, "wrong_type": 1}


@pytest.mark.slow
def test_more_lines_than_are_settled_at_once_are_settled_all():
    """Batches of a run have no bearing on its figures."""
    count = BATCH + 1
    store, intake = settled(*(retrieval(f"r{number}", ["a1"], number % 50) for number in range(count)))
    assert intake.dispositions == {"applied": count}
    assert (
        running.metrics_of(store, at(3600), DEFAULT)[
            "lara_retrievals",
            (("cohort", "live"), ("role", "unspecified"), ("surface", "unknown"), ("window", "all")),
        ]
        == count
    )


def test_the_line_of_intake_accounts_for_every_record():
    """The most frequent first, with reasons where something was invalid."""
    _, intake = settled(*[retrieval()] * 4, retrieval("r2"), b"{")
    assert intake_line(intake) == "read 6 records: duplicate 3 · applied 2 · invalid 1 (not_json 1)"
    _, nothing = settled()
    assert intake_line(nothing) == "read 0 records: none"
    assert isinstance(nothing, Intake)


# --- as of ------------------------------------------------------------------------------------------


def latest(*values, semantics=DEFAULT):
    return latest_event(settled(*values, semantics=semantics)[0].entities(), semantics)


def test_the_latest_event_is_that_of_a_prompt_retrieval_placement_or_action():
    """A judgement may be made long after."""
    grade = judgement("relevance", query="card", asset_id="a", grade=1, ts=at(900))
    for sent in (prompt(seconds=9), retrieval(seconds=9), placement(seconds=9), user("export", 9)):
        assert latest(prompt("q0"), sent, grade) == at(9)
    assert latest(grade) == 0


def test_robots_do_not_move_the_latest_event():
    """What is in no figure is not asked either."""
    robot = retrieval("r9", seconds=99, session_guid="probe-1")
    rules = Semantics(exclusion=Exclusion(session_prefixes=("probe-",)))
    assert latest(retrieval(seconds=1), robot, semantics=rules) == at(1)
    assert latest(retrieval(seconds=1), robot) == at(99)


def test_figures_follow_the_settings_of_the_reader():
    """The maturity horizon is the reader's; the same state is asked with another."""
    store, _ = settled(retrieval())
    names = {
        minutes: {
            row.name for row in compute(store, Settings(maturity_minutes=minutes), at(600)) if row.value
        }
        for minutes in (5, 30)
    }
    assert "lara_retrievals_unobserved" in names[5]
    assert "lara_retrievals_unobserved" not in names[30]


# --- the command ------------------------------------------------------------------------------------


def test_json_has_the_shape_of_the_contract(tmp_path):
    """Figures on standard output, the intake on standard error."""
    found = backtest(written(tmp_path / "f", retrieval(), user("export", **CLAIM)), "--json")
    assert found.exit_code == 0
    printed = json.loads(found.stdout)
    assert set(printed) == {"as_of", "metrics"}
    assert printed["as_of"].startswith("2026-03-02T10:02:00") and printed["as_of"].endswith("Z")
    assert all(set(row) == {"name", "labels", "value"} for row in printed["metrics"])
    assert "read 2 records: applied 2" in found.stderr


def test_tables_are_for_people(tmp_path):
    """Without --json."""
    found = backtest(written(tmp_path / "f", retrieval(), user("export", **CLAIM)))
    assert found.exit_code == 0
    assert "GPR" in found.stdout
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(found.stdout)


def metrics(*arguments):
    return json.loads(backtest(*arguments, "--json").stdout)["metrics"]


def test_figures_do_not_depend_on_files_and_their_order(tmp_path):
    """One file or two, either way round."""
    one = written(tmp_path / "1", retrieval(), b"{")
    other = written(tmp_path / "2", user("export", **CLAIM), retrieval())
    both = written(tmp_path / "3", retrieval(), user("export", **CLAIM))
    assert metrics(one, other) == metrics(other, one) == metrics(both)


def test_the_time_asked_about_moves_only_the_end_of_the_windows(tmp_path):
    """Evidence later than that counts; a retrieval later than that does not."""
    file = written(tmp_path / "f", retrieval(), user("export", 5 * DAY, **CLAIM), retrieval("r2", seconds=60))
    rows = {
        row["name"]: row["value"]
        for row in metrics(file, "--as-of", "2026-03-02T10:01:00Z")
        if row["labels"].get("cohort") == "live" and row["labels"]["window"] == "1h"
        and row["labels"].get("definition", "strict") == "strict"
    }  # fmt: skip
    assert (rows["lara_retrievals"], rows["lara_retrievals_positive"]) == (1, 1)
