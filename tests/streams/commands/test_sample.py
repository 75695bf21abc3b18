"""`lara sample`: the sheet, and the way back: drawn, filled in, read, and seen by a backtest in Layer 1."""

import csv
import io
import json
import os
import random

import pytest
from click.testing import CliRunner

from metrics.sampling import Sample
from streams.commands.cli import main
from tests.building import DAY, encoded, prompt, retrieval, user

ROLES = ("browse", "act_on", None)
SENT = [
    *(prompt(f"q{number}", number) for number in range(30)),
    *(
        retrieval(
            f"r{number}",
            ["007", "=a2", None, "=a2", "a4"] if number % 5 else [],
            number,
            role=ROLES[0 if number < 20 else 1 if number < 28 else 2],
            surface="chat" if number < 6 else "editor",
            request_id=f"q{number}",
            query=f"=cat {number}",
        )
        for number in range(30)
    ),
    user("export", 40, source_retrieval_id="r1", consumed_asset_id="a4"),
    retrieval("robot", ["a1"], synthetic=True),
    user("export", 50, event_id="claims", source_retrieval_id="never-logged"),
]


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def file(tmp_path):
    return written(tmp_path / "events.jsonl", SENT)


def written(path, sent):
    path.write_bytes(b"\n".join(encoded(one) for one in sent))
    return str(path)


def lara(*arguments):
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    return found.stdout


def rows(*arguments):
    return list(csv.DictReader(io.StringIO(lara("sample", *arguments), newline="")))


def drawn(found):
    return list(dict.fromkeys(row["retrieval_id"] for row in found))


def weights(found):
    return {row["retrieval_id"]: float(row["weight"]) for row in found}


def total(file, **labels):
    labels = {"window": "all", "cohort": "live", **labels}
    found = json.loads(lara("backtest", file, "--json"))["metrics"]
    return sum(
        row["value"]
        for row in found
        if row["name"] == "lara_retrievals" and labels.items() <= row["labels"].items()
    )


def test_every_stratum_gives_as_many_and_stands_for_all_of_it(file):
    """By role 5 of 20, 5 of 8, and the 2 there are; weights add up to the retrievals of the figures."""
    found = rows(file, "--n", "5")
    sizes = {row["role"]: (row["drawn"], row["stratum_size"]) for row in found}
    assert sizes == {"act_on": ("5", "8"), "browse": ("5", "20"), "unspecified": ("2", "2")}
    assert sum(weights(found).values()) == total(file) == 30
    assert {row["probability"] for row in found if row["role"] == "browse"} == {"0.25"}
    assert len(drawn(found)) == 12


def test_strata_may_be_surfaces_or_none(file):
    """Without strata every retrieval has the same weight."""
    by_surface = rows(file, "--n", "5", "--by", "surface")
    assert {row["surface"]: row["stratum_size"] for row in by_surface} == {"chat": "6", "editor": "24"}
    assert {row["weight"] for row in rows(file, "--n", "5", "--by", "none")} == {"6.0"}


def test_a_row_is_an_asset_of_the_list_and_a_retrieval_without_any_has_one(file):
    """A null keeps its position, a repeated asset has its first, and a null result can still be judged."""
    found = rows(file, "--n", "30")
    positions = {}
    for row in found:
        positions.setdefault(row["retrieval_id"], []).append((row["position"], row["asset_id"]))
    assert positions["r1"] == [("1", "'007"), ("2", "'=a2"), ("5", "a4")]
    assert positions["r0"] == [("", "")]
    shallow = rows(file, "--n", "30", "--depth", "2")
    assert [row["position"] for row in shallow if row["retrieval_id"] == "r1"] == ["1", "2"]


def test_quiet_and_successful_retrievals_are_drawn_too_and_excluded_ones_never(file):
    """All thirty, if asked for, but not the robot's, and none that was only claimed."""
    assert sorted(drawn(rows(file, "--n", "30"))) == sorted(f"r{number}" for number in range(30))


def test_what_is_drawn_depends_on_the_seed_and_on_nothing_else(file, tmp_path):
    """Not on the order of the events, their number of files, or what became of the retrievals."""
    mixed = SENT.copy()
    random.Random(1).shuffle(mixed)
    parts = [written(tmp_path / f"part{number}", mixed[number::3]) for number in range(3)]
    assert lara("sample", *parts, "--n", "3") == lara("sample", file, "--n", "3")
    assert drawn(rows(file, "--n", "3", "--seed", "2")) != drawn(rows(file, "--n", "3"))


def test_the_command_draws_what_the_sample_draws(file):
    """The same ids, in the order of their hashes."""
    expected = Sample(4, 9)
    for number in range(20):
        expected.offer("browse", f"r{number}", f"r{number}")
    found = [row for row in rows(file, "--n", "4", "--seed", "9") if row["role"] == "browse"]
    assert drawn(found) == [one.item for one in expected.drawn()]


def test_the_verdict_is_shown_only_if_asked_for(file):
    """And is that of the time asked about: a retrieval without evidence is pending while it is young."""
    assert "diagnosis" not in rows(file)[0]
    young, old = (
        {row["retrieval_id"]: row["diagnosis"] for row in rows(file, "--show-verdict", *as_of)}
        for as_of in ((), ("--as-of", "2026-04-01"))
    )
    assert (young["r0"], old["r0"]) == ("pending", "masked")
    assert (young["r1"], old["r1"]) == ("unjudged", "unjudged")


def test_a_sheet_may_be_of_one_window(file, tmp_path):
    """By the retrieval's own time."""
    path = written(tmp_path / "more.jsonl", [retrieval("late", ["a"], 3 * DAY + 1)])
    assert drawn(rows(file, path, "--window", "24h")) == ["late"]


def test_json_lines_hold_the_same_with_texts_as_they_are(file):
    """For programs that judge."""
    found = [json.loads(line) for line in lara("sample", file, "--format", "jsonl").splitlines()]
    assert len(found) == len(rows(file))
    one = next(row for row in found if row["retrieval_id"] == "r1")
    assert (one["asset_id"], one["query"], one["grade"], one["drawn"]) == ("007", "=cat 1", None, 20)


def test_nothing_to_draw_from_is_a_sentence(tmp_path):
    """An empty sheet would look like a quiet day."""
    found = CliRunner().invoke(main, ["sample", written(tmp_path / "none", [prompt()])])
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr == "there is no retrieval to draw from in the window all\n"


def filled_in(file, format_name):
    """The sheet of all, as judges and their programs send it back: 007 is relevant, r29 needed no retrieval."""
    if format_name == "csv":
        found = rows(file, "--n", "30")
    else:
        found = [
            json.loads(line) for line in lara("sample", file, "--n", "30", "--format", "jsonl").splitlines()
        ]
    for row in found:
        if row["asset_id"]:
            row["grade"] = 2 if row["asset_id"].endswith("007") else 0
        misrouted = row["retrieval_id"] == "r29"
        row["retrieval_intents"], row["reached"] = (0, None) if misrouted else (1, "yes")
    if format_name == "jsonl":
        return "\n".join(json.dumps(row) for row in found)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(found[0]))
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


@pytest.mark.parametrize("format_name", ["csv", "jsonl"])
def test_a_sheet_that_was_filled_in_is_seen_by_a_backtest_in_layer_1(file, tmp_path, format_name):
    """Sample, fill in, labels, backtest: ids with zeros and formulas find their assets again."""
    sheet, judgements = tmp_path / "sheet", tmp_path / "labels.jsonl"
    sheet.write_text(filled_in(file, format_name), newline="")
    judgements.write_text(lara("labels", str(sheet), "--ts", "2026-03-03"))
    found = json.loads(lara("backtest", file, str(judgements), "--json", "--as-of", "2026-03-04"))
    totals: dict[str, float] = {}
    for row in found["metrics"]:
        if row["labels"].get("window") == "all" and row["labels"].get("k", "1") == "1":
            totals[row["name"]] = totals.get(row["name"], 0) + row["value"]
    assert totals["lara_misrouted_retrievals"] == 1
    assert totals["lara_layer1_retrievals"] == 29
    assert totals["lara_judged_retrievals"] == totals["lara_ranked_retrievals"] == 23
    # 1 for each role and surface but that of r29: 007 is first everywhere
    assert totals["lara_precision_at_k"] == totals["lara_mrr"] == 4
    assert totals["lara_goal_labelled_retrievals"] == 29
    assert totals["lara_intent_labelled_prompts"] == 30
