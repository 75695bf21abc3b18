"""`lara export`: what is written of a retrieval, in which formats, and that a file is there whole or not at all."""

import builtins
import json
import os
import stat
import sys

import msgspec
import pytest
from click.testing import CliRunner

from streams.commands import export as exporting
from streams.commands.cli import main
from streams.commands.exported import Exported, RagasSample
from tests.building import DAY, agent, encoded, judgement, placement, prompt, retrieval, user
from tests.docs_pages import ROOT

SENT = [
    prompt("q1"),
    retrieval("r1", ["a1", None, "a3", "a3"], 1, query="cat", role="browse", surface="moon", request_id="q1"),
    placement("p1", "made", derived_from_asset_id="a3", source_retrieval_id="r1"),
    user("export", 90, document_id="d1", placement_id="p1"),
    agent("use", 10, request_id="q1", source_retrieval_id="r1", consumed_asset_id="a1"),
    judgement("relevance", event_id="j1", retrieval_id="r1", asset_id="a3", grade=1),
    judgement("relevance", event_id="j2", query="CAT", asset_id="b", grade=3),
    judgement("relevance", event_id="j3", retrieval_id="r1", asset_id="a1", grade=0),
    judgement("goal", event_id="j4", retrieval_id="r1", reached=True),
    judgement("intent", event_id="j5", request_id="q1", retrieval_intents=2),
    retrieval("r0", [], 0, request_id="q0"),
    retrieval("robot", ["a1"], synthetic=True, query="cat"),
    user("export", 95, event_id="claims", source_retrieval_id="never-logged"),
    retrieval("late", None, DAY + 1, query="cat"),
]


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def invoke(tmp_path):
    def run(*options, sent=SENT):
        path = tmp_path / "events.jsonl"
        path.write_bytes(b"\n".join(encoded(one) for one in sent))
        return CliRunner().invoke(main, ["export", str(path), *options])

    return run


@pytest.fixture
def export(invoke):
    """The records that the command prints."""

    def run(*options, **sent):
        found = invoke(*options, **sent)
        assert found.exit_code == 0, found.output
        return [json.loads(line) for line in found.stdout.splitlines()]

    return run


# --- what is written --------------------------------------------------------------------------------


def test_a_record_is_the_whole_retrieval(export):
    """Its list, what was used and made of it, the labels that hold, and what is true of it."""
    found = {one["retrieval_id"]: one for one in export()}["r1"]
    assert found == {
        "retrieval_id": "r1",
        "ts": 1_772_445_601_000,
        "request_id": "q1",
        "role": "browse",
        "surface": "other",
        "query": "cat",
        "page_of": None,
        "returned_asset_ids": ["a1", None, "a3", "a3"],
        "used": [{"asset_id": "a1", "rank": 1}, {"asset_id": "made", "rank": 3}],
        "labels": [
            {"asset_id": "a1", "grade": 0},
            {"asset_id": "a3", "grade": 1},
            {"asset_id": "b", "grade": 3},
        ],
        "positive": ["strict", "standard", "broad"],
        "agent_consumed": True,
        "delegated": False,
        "failed": False,
        "failure_signals": [],
        "corrected": False,
        "null_result": False,
        "ndcg_at_10": pytest.approx(0.5 / (7 + 1 / 1.584962500721156), abs=1e-9),
        "diagnosis": "tolerated",
        "mature": True,
        "completed": True,
        "goal_reached": True,
        "retrieval_intents": 2,
    }


def test_what_was_not_logged_is_null_and_what_is_young_is_pending(export):
    """Nothing is filled in."""
    found = {one["retrieval_id"]: one for one in export()}
    late, null = found["late"], found["r0"]
    assert (late["returned_asset_ids"], late["used"], late["goal_reached"]) == (None, [], None)
    assert (late["mature"], late["diagnosis"]) == (False, "unjudged")
    assert (null["query"], null["null_result"], null["diagnosis"]) == (None, True, "masked")
    (young,) = export(sent=[retrieval("r1", [], 1)])
    assert (young["mature"], young["diagnosis"]) == (False, "pending")


def test_a_use_of_what_is_in_no_list_has_no_rank(export):
    """It comes last."""
    sent = [
        retrieval("r1", None, 1),
        user("export", 9, source_retrieval_id="r1", consumed_asset_id="x"),
        retrieval("r2", ["b", None], 2),
        user("export", 9, event_id="e2", source_retrieval_id="r2", consumed_asset_id="a"),
        user("export", 9, event_id="e3", source_retrieval_id="r2", consumed_asset_id="b"),
        user("reject", 9, event_id="e4", source_retrieval_id="r2", consumed_asset_id="c"),
    ]
    one, other = export(sent=sent)
    assert one["used"] == [{"asset_id": "x", "rank": None}]
    assert other["used"] == [{"asset_id": "b", "rank": 1}, {"asset_id": "a", "rank": None}]


def test_excluded_and_unlogged_retrievals_are_left_out_and_files_are_in_order(export):
    """By time, then id; of one window if asked for."""
    assert [one["retrieval_id"] for one in export()] == ["r0", "r1", "late"]
    same = [retrieval(name, seconds=1) for name in ("r2", "r10", "r1")]
    assert [one["retrieval_id"] for one in export(sent=same)] == ["r1", "r10", "r2"]
    assert [one["retrieval_id"] for one in export("--window", "1h")] == ["late"]
    assert [one["retrieval_id"] for one in export("--as-of", "2026-03-02T10:00:01Z")] == ["r0", "r1"]


def test_no_session_and_no_user_is_exported():
    """They are not needed to evaluate."""
    assert not {name for name in Exported.__struct_fields__ if "session" in name or "user" in name}


def test_the_number_of_records_is_told(invoke):
    """On standard error."""
    assert invoke().stderr == "exported 3 retrievals\n"
    assert invoke(sent=[prompt()]).stderr == "exported 0 retrievals\n"


def test_more_records_than_a_page_are_written_all(export, monkeypatch):
    """Also where the last page is empty, and where it is not full."""
    monkeypatch.setattr(exporting, "PAGE", 2)
    for count in (4, 5):
        assert len(export(sent=[retrieval(f"r{number}", seconds=1) for number in range(count)])) == count


# --- ragas ------------------------------------------------------------------------------------------


def test_ragas_gets_its_own_names_and_ids_only(export):
    """user_input, retrieved_context_ids without null, reference_context_ids with the best grade first."""
    assert export("--format", "ragas") == [
        {
            "user_input": "cat",
            "retrieved_context_ids": ["a1", "a3", "a3"],
            "reference_context_ids": ["b", "a3"],
        }
    ]


def test_the_names_are_those_of_a_single_turn_sample():
    """Of ragas 0.4.3; a name that it does not know would be dropped without a word."""
    known = {
        *("user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids"),
        *("reference_context_ids", "response", "multi_responses", "reference", "rubrics"),
        *("persona_name", "query_style", "query_length"),
    }
    assert set(RagasSample.__struct_fields__) <= known


def test_what_ragas_cannot_score_is_left_out_and_counted(invoke):
    """Without query, list or label, misrouted, or a page: its metrics by id need both lists."""
    sent = [
        *(judgement("relevance", event_id=f"j{n}", retrieval_id=f"r{n}", asset_id="a1", grade=0) for n in range(5)),
        retrieval("r0", ["a1"], 1, query="kept"),
        retrieval("r1", ["a1"], 1),
        retrieval("r2", None, 1, query="no list"),
        retrieval("r3", ["a1"], 1, query="misrouted", request_id="q3"),
        judgement("intent", request_id="q3", retrieval_intents=0),
        retrieval("r4", ["a1"], 1, query="page", page_of="r0"),
        retrieval("r5", ["a1"], 1, query="no label"),
    ]  # fmt: skip
    found = invoke("--format", "ragas", sent=sent)
    assert [json.loads(line) for line in found.stdout.splitlines()] == [
        {"user_input": "kept", "retrieved_context_ids": ["a1"], "reference_context_ids": []}
    ]
    assert found.stderr == "exported 1 retrievals of 6; the others have no query, list or label\n"


# --- files ------------------------------------------------------------------------------------------


def test_a_file_has_what_is_printed_and_only_its_owner_reads_it(invoke, tmp_path):
    """And nothing else is left beside it; an older one gives way."""
    target = tmp_path / "out" / "export.jsonl"
    target.parent.mkdir()
    target.write_text("older")
    printed = invoke().stdout
    found = invoke("--output", str(target))
    assert (found.exit_code, found.stdout) == (0, "")
    assert target.read_text() == printed
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(target.parent.iterdir()) == [target]


def test_a_file_that_cannot_be_finished_is_not_begun(invoke, tmp_path, monkeypatch):
    """The older one stays as it was."""
    target = tmp_path / "out" / "export.jsonl"
    target.parent.mkdir()
    target.write_text("older")

    def full(self, page):
        self._out.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting.JsonLines, "write", full)
    found = invoke("--output", str(target))
    assert (found.exit_code, found.stdout) == (1, "")
    assert "No space left on device" in found.stderr
    assert (target.read_text(), list(target.parent.iterdir())) == ("older", [target])


def test_a_link_still_leads_to_its_file(invoke, tmp_path):
    """It is not replaced by one."""
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(target)
    invoke("--output", str(link))
    assert link.is_symlink()
    assert len(target.read_text().splitlines()) == 3


def test_a_pipe_is_written_as_it_is(invoke, tmp_path):
    """So would a device be: neither is replaced by a file. Never name a real device here."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        printed = invoke().stdout
        assert invoke("--output", str(pipe)).exit_code == 0
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert os.read(reader, 100_000).decode() == printed
    finally:
        os.close(reader)


def test_a_folder_that_is_not_there_is_a_sentence(invoke, tmp_path):
    """Code 1."""
    found = invoke("--output", str(tmp_path / "nowhere" / "x"))
    assert (found.exit_code, "nowhere" in found.stderr, "Traceback" in found.stderr) == (1, True, False)


# --- parquet ----------------------------------------------------------------------------------------


def test_parquet_has_the_columns_and_values_of_the_json_lines(export, invoke, tmp_path):
    """`ts` is a timestamp in UTC; pairs are lists of structs."""
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason="pyarrow is an extra: pip install 'lara[parquet]'"
    )
    target = tmp_path / "export.parquet"
    found = invoke("--format", "parquet", "--output", str(target))
    assert found.exit_code == 0, found.output
    table = parquet.read_table(target)
    assert table.column_names == list(Exported.__struct_fields__)
    rows = [row | {"ts": round(row["ts"].timestamp() * 1000)} for row in table.to_pylist()]
    assert rows == export()
    assert str(table.schema.field("ts").type) == "timestamp[ms, tz=UTC]"
    empty = invoke("--format", "parquet", "--output", str(target), sent=[prompt()])
    assert (empty.exit_code, parquet.read_table(target).num_rows) == (0, 0)


def test_parquet_without_pyarrow_says_what_to_install(invoke, tmp_path, monkeypatch):
    """And leaves no file."""
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.delitem(sys.modules, "streams.commands.parquet", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    (tmp_path / "out").mkdir()
    found = invoke("--format", "parquet", "--output", str(tmp_path / "out" / "x"))
    assert found.exit_code == 1
    assert found.stderr == "Parquet needs pyarrow, which is not installed: pip install 'lara[parquet]'\n"
    assert list((tmp_path / "out").iterdir()) == []


def test_parquet_is_not_printed(invoke):
    """A mistake of the caller."""
    found = invoke("--format", "parquet")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "--output" in found.stderr


def test_every_field_of_a_record_is_told_on_the_page():
    """What is exported is documented."""
    page = (ROOT / "docs/evaluating.md").read_text("utf-8")
    for field in msgspec.structs.fields(Exported):
        assert f"| `{field.name}` |" in page, field.name
