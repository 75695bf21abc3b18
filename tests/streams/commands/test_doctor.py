"""`lara doctor`: files and live state, tables and JSON, and a code that stands in the way of a deployment."""

import json
import os
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from streams.commands.cli import main
from streams.commands.doctor_notes import OPTIONAL
from tests.building import encoded, prompt, retrieval, user
from tests.scenarios.test_logs import DATA

ROOT = Path(__file__).parents[3]
CLAIM = {"source_retrieval_id": "search-1", "consumed_asset_id": "a1"}
KEYS = ["source", "problems", "intake", "records", "ladder", "missing", "findings"]


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def nowhere(monkeypatch):
    """Redis and Kafka at a port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("LARA_REDIS_URL", f"redis://127.0.0.1:{port}")
    monkeypatch.setenv("LARA_BOOTSTRAP", f"127.0.0.1:{port}")


@pytest.fixture
def doctor(tmp_path):
    """Runs the command over files with these records."""

    def run(*sent, options=()):
        path = tmp_path / "events.jsonl"
        path.write_bytes(b"\n".join(encoded(one) for one in sent))
        return invoke(str(path), *options)

    return run


def invoke(*arguments):
    return CliRunner(env={"COLUMNS": "110"}).invoke(main, ["doctor", *arguments])


# --- codes ------------------------------------------------------------------------------------------


def test_warnings_and_notes_alone_are_code_0(doctor):
    """A deployment goes on."""
    found = doctor(retrieval("search-1", surface="moon"), options=["--json"])
    assert found.exit_code == 0
    assert {one["severity"] for one in json.loads(found.stdout)["findings"]} == {"warning", "note"}


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_problem_is_code_1_and_is_told_all_the_same(doctor, options):
    """With tables and as JSON."""
    found = doctor(user("export", **CLAIM), options=options)
    assert found.exit_code == 1
    assert "dangling" in found.stdout
    assert found.stderr == ""


def test_a_file_that_is_not_there_is_code_2():
    """A mistake of the caller, not a finding."""
    assert invoke("/nowhere.jsonl").exit_code == 2


# --- files ------------------------------------------------------------------------------------------


def test_the_json_has_the_documented_shape(doctor):
    """A program may rely on it."""
    found = json.loads(
        doctor(prompt("turn-1"), retrieval("search-1", request_id="turn-1"), options=["--json"]).stdout
    )
    assert list(found) == KEYS
    assert (found["source"], found["problems"], found["intake"]) == ("files", 0, {"applied": 2})
    assert found["records"] == {"prompt": 1, "retrieval": 1, "placement": 0, "action": 0, "judgement": 0}
    first = found["ladder"][0]
    assert list(first) == ["rung", "name", "state", "fields", "do"]
    assert list(first["fields"][0]) == ["field", "logged", "of", "state", "figures"]
    assert set(found["missing"]) == {"prompt", "retrieval"}
    assert set(found["missing"]["retrieval"]) == set(OPTIONAL["retrieval"])
    assert found["missing"]["retrieval"]["role"] == {"missing": 1, "of": 1}
    keys = {"name", "severity", "what", "do", "count", "of", "examples", "values"}
    assert all(set(one) == keys for one in found["findings"])


def test_lines_that_are_no_events_are_told_with_file_line_and_reason(doctor):
    """They have no id to be found by; empty lines are none."""
    found = json.loads(doctor(retrieval("search-1"), b"", b"{", b"[]", options=["--json"]).stdout)
    invalid = next(one for one in found["findings"] if one["name"] == "invalid")
    assert (invalid["count"], invalid["of"], invalid["severity"]) == (2, 3, "problem")
    assert invalid["values"] == {"not_json": 1, "not_an_object": 1}
    assert [text.split()[0] for text in invalid["examples"]] == ["events.jsonl:3", "events.jsonl:4"]


def test_a_file_without_any_event_is_a_problem_and_no_traceback(doctor):
    """What was read is accounted for."""
    found = doctor(b"{", b"[]")
    assert (found.exit_code, found.stderr) == (1, "")
    assert "2 lines read: invalid 2" in found.stdout
    assert "100.0" in found.stdout


def test_several_files_are_one_log(tmp_path):
    """A claim in one holds of a retrieval in the other."""
    paths = [tmp_path / "one.jsonl", tmp_path / "other.jsonl"]
    paths[0].write_bytes(encoded(user("export", **CLAIM)))
    paths[1].write_bytes(encoded(retrieval("search-1")))
    assert invoke(*map(str, paths)).exit_code == 0
    assert invoke(str(paths[0])).exit_code == 1


def test_surfaces_are_those_of_the_settings(doctor, monkeypatch):
    """What is configured is not folded."""
    monkeypatch.setenv("LARA_SURFACES", "moon")
    assert "other_surfaces" not in doctor(retrieval("search-1", surface="moon"), options=["--json"]).stdout


def test_the_example_of_the_docs_has_no_problem():
    """What a newcomer reads first."""
    assert invoke(str(ROOT / "docs/example.jsonl")).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (
            "chorus_ubi.jsonl",
            {"invalid": 2, "reused_request_ids": 14, "refuted": 24, "dangling_never_logged": 40},
        ),
        ("tau_airline.jsonl", {"none_with_asset": 65}),
        ("react_webshop.jsonl", {}),
    ],
)
def test_the_real_logs_have_the_oddities_that_are_known_of_them(name, counts):
    """Counted apart by whoever prepared them."""
    if not (DATA / name).is_file():
        pytest.skip(f"{DATA / name} is not there: the logs lie beside the project")
    found = json.loads(invoke(str(DATA / name), "--json").stdout)
    told = {one["name"]: one["count"] for one in found["findings"]}
    usual = {"without_show", "unknown_retrievals"}
    told = {name: count for name, count in told.items() if name not in usual}
    assert told == counts


# --- live -------------------------------------------------------------------------------------------


def test_services_out_of_reach_are_findings_and_the_rest_is_told(nowhere, monkeypatch):
    """Kafka, Redis and the settings, and no figure that would be made up."""
    monkeypatch.setenv("LARA_DEADLETTER_PAYLOADS", "true")
    result = invoke("--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (found["source"], found["records"], found["ladder"], found["missing"]) == ("live", None, [], {})
    assert {one["name"]: one["severity"] for one in found["findings"]} == {
        "kafka_out_of_reach": "problem",
        "redis_out_of_reach": "problem",
        "deadletter_payloads": "warning",
        "replication": "warning",
    }


def test_services_out_of_reach_are_told_in_words_too(nowhere):
    """And no empty table."""
    result = invoke()
    assert result.exit_code == 1
    assert "The state could not be read" in result.stdout
    assert "What is logged" not in result.stdout
