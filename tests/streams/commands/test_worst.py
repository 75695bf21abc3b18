"""`lara worst`: tables and JSON of the queries and assets with the worst record, by window and cohort."""

import json
import os

import pytest
from click.testing import CliRunner

from streams.commands.cli import main
from tests.building import DAY, encoded, retrieval, user

HOUR = 3_600
SENT = [
    *(retrieval(f"old{number}", [], -8 * DAY + number, query="Old news") for number in range(6)),
    *(retrieval(f"new{number}", [] if number < 5 else ["a1"], number, query="cat") for number in range(6)),
    *(retrieval(f"bad{number}", ["a1", "a2"], 10 + number, query="Hat") for number in range(5)),
    user("reject", 60, source_retrieval_id="bad0", consumed_asset_id="a2"),
    retrieval("last", ["a9"], HOUR, query="[red]\x1b[31m end\nof file"),
]


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def worst(tmp_path):
    """Runs the command over a file with these records."""

    def run(*arguments, sent=SENT):
        path = tmp_path / "events.jsonl"
        path.write_bytes(b"\n".join(encoded(one) for one in sent))
        found = CliRunner(env={"COLUMNS": "110"}).invoke(
            main, ["worst", arguments[0], str(path), *arguments[1:]]
        )
        assert found.exit_code == 0, found.output
        return found.stdout

    return run


@pytest.fixture
def rows(worst):
    """(text, n, count) of one table."""

    def run(subjects, by, *arguments, **sent):
        found = json.loads(worst(subjects, "--by", by, "--json", *arguments, **sent))
        (table,) = found["tables"]
        assert table["by"] == by
        return [(row["text"], row["n"], row["count"]) for row in table["rows"]]

    return run


def test_a_table_has_n_count_share_and_bounds(worst):
    """Under a title, over the words that say what n and count are."""
    lines = [line.rstrip() for line in worst("queries", "--by", "null").splitlines()]
    assert lines[0] == "Worst queries, window all, as of 2026-03-02T11:00:00.000Z"
    assert lines[2:] == [
        "Null results",
        "queries   n  count      %  95 % bounds",
        "───────────────────────────────────────",
        "Old news  6      6  100.0       60–100",
        "cat       6      5   83.3        43–97",
        "n: its retrievals of Layer 1; count: null results; cohort live",
    ]


def test_a_measure_without_rows_says_so(worst):
    """Rather than an empty table."""
    assert "Rejected: none of those with n ≥ 6" in worst("queries", "--min-n", "6")


def test_all_measures_stand_below_each_other_without_a_name(worst):
    """For queries and for assets."""
    titles = ("Null results", "Rejected", "Searched again", "Masked failures", "Observable failures")
    printed = worst("queries", "--min-n", "1")
    assert sorted(titles, key=printed.index) == list(titles)
    titles = ("Rejected", "Ranked first and not used", "Judged irrelevant")
    printed = worst("assets", "--min-n", "1")
    assert sorted(titles, key=printed.index) == list(titles)


def test_few_cases_are_not_shown_unless_asked_for(rows):
    """5 by default; and at most so many rows."""
    assert rows("assets", "unused") == [("a1", 6, 6)]
    assert rows("assets", "rejected") == [("a2", 5, 1)]
    later = ["--as-of", "2026-03-03"]
    assert rows("assets", "unused", "--min-n", "1", *later) == [("a1", 6, 6), ("a9", 1, 1)]
    assert len(rows("queries", "null", "--n", "1")) == 1


def test_a_window_is_by_the_retrieval_s_own_time(rows):
    """What was searched eight days ago is not of this week."""
    assert [text for text, *_ in rows("queries", "null", "--window", "7d")] == ["cat"]
    assert rows("queries", "null", "--window", "24h", "--as-of", "2026-02-23") == [("Old news", 6, 6)]
    assert rows("queries", "null", "--as-of", "2026-02-22") == []


def test_evidence_is_read_where_it_had_time_to_come(rows):
    """A failure of the last half hour waits; a null result does not."""
    early = ["--as-of", "2026-03-02T10:20:00Z"]
    assert rows("queries", "rejected", *early) == []
    assert rows("queries", "rejected", "--as-of", "2026-03-02T10:31:00Z") == [("Hat", 5, 1)]
    assert ("cat", 6, 5) in rows("queries", "null", *early)


def test_what_people_typed_does_not_move_the_terminal(worst):
    """No markup, no escape sequence, one line; JSON has the text as it was sent."""
    sent = [retrieval("r1", [], query="[red]\x1b[31m end\nof file"), retrieval("r2", seconds=HOUR)]
    printed = worst("queries", "--by", "null", "--min-n", "1", sent=sent)
    assert "\x1b" not in printed
    assert "\n[red] [31m end of file  1 " in printed
    found = json.loads(worst("queries", "--by", "null", "--min-n", "1", "--json", sent=sent))
    assert found["tables"][0]["rows"][0]["text"] == "[red]\x1b[31m end\nof file"


def test_the_json_says_what_it_is_of(worst):
    """Time, window, cohort, and each row with its share and bounds."""
    found = json.loads(worst("assets", "--window", "24h", "--json"))
    assert {name: found[name] for name in ("as_of", "window", "subjects")} == {
        "as_of": "2026-03-02T11:00:00.000Z",
        "window": "24h",
        "subjects": "assets",
    }
    assert [(table["by"], table["cohort"]) for table in found["tables"]] == [
        ("rejected", "settled"),
        ("unused", "settled"),
        ("irrelevant", "live"),
    ]
    row = found["tables"][0]["rows"][0]
    assert (row["ratio"], row["lower"] < 0.2 < row["upper"]) == (0.2, True)


@pytest.mark.parametrize(
    "arguments", [["queries", "--by", "unused"], ["assets", "--by", "null"], ["prompts"]]
)
def test_a_measure_of_another_subject_is_a_mistake_of_the_caller(arguments):
    """Code 2."""
    assert CliRunner().invoke(main, ["worst", *arguments]).exit_code == 2
