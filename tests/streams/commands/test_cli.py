"""The command line: its help, its codes, and its one sentence for whatever goes wrong."""

import os
import socket

import click
import pytest
from click.testing import CliRunner

from streams.commands.cli import COMMANDS, main
from streams.commands.options import Instant
from tests.building import at, encoded, retrieval


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
    monkeypatch.setenv("LARA_WORKER_PORT", "0")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(encoded(retrieval()))
    return str(path)


def lara(*arguments, **options):
    return CliRunner().invoke(main, arguments, **options)


def commands(group=main, path=()):
    for name, command in group.commands.items():
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


# --- help -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_has_a_help_that_says_what_it_does(path, option):
    """A sentence, and a line for every option."""
    found = lara(*path, option)
    assert found.exit_code == 0
    assert found.stdout.startswith("Usage: ")
    command = main
    for name in path:
        command = command.commands[name]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {parameter.name}"


def test_the_help_of_lara_lists_its_commands():
    """And where to begin."""
    found = lara("--help")
    for command in COMMANDS:
        assert f"\n  {command.name}" in found.stdout
    assert "lara demo" in found.stdout


def test_lara_has_a_version():
    """The one of the package."""
    found = lara("--version")
    assert (found.exit_code, "version" in found.stdout) == (0, True)


# --- mistakes of the caller -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["dance"],
        ["backtest"],
        ["backtest", "/nowhere.jsonl"],
        ["backtest", "/"],
        ["report", "--as-of"],
        ["report", "--as-of", "yesterday"],
        ["report", "--as-of", "2026-03-02T10:00:00"],
        ["report", "--colour"],
        ["replay", "/nowhere.jsonl"],
        ["explain", "retrieval"],
        ["explain", "action"],
        ["explain", "document"],
        ["explain", "action", "x", "/nowhere.jsonl"],
        ["explain", "prompt", "x"],
        ["demo", "--seconds", "1"],
        ["contract", "--type", "hologram"],
        ["demo", "--like", "yesterday"],
        ["simulate", "--prompts", "0"],
        ["simulate", "--days", "0"],
        ["study", "--prompts", "many"],
        ["audit", "FILE"],
        ["deadletters", "show"],
        ["deadletters", "list", "--reason", "boredom"],
        ["deadletters", "list", "--since", "yesterday"],
        ["watermarks", "set", "lara.actions", "0"],
        ["watermarks", "set", "lara.actions", "0", "--", "-1"],
        ["watermarks", "set", "lara.actions", "zero", "5"],
    ],
    ids=" ".join,
)
def test_a_mistake_of_the_caller_ends_with_code_2_and_says_so(arguments):
    """Nothing is printed on standard output, and no traceback."""
    found = lara(*arguments)
    assert found.exit_code == 2
    assert found.stdout == ""
    assert found.stderr and "Traceback" not in found.stderr
    assert isinstance(found.exception, SystemExit)


@pytest.mark.parametrize(
    "arguments",
    [
        ["report"],
        ["worker"],
        ["exporter"],
        ["topics", "create"],
        ["explain", "retrieval", "r1"],
        ["contract"],
        ["demo"],
        ["doctor"],
        ["audit"],
        ["rebuild"],
        ["deadletters", "list"],
        ["watermarks", "show"],
    ],
    ids=" ".join,
)
def test_a_wrong_setting_ends_every_command_with_code_2_and_names_it(monkeypatch, arguments):
    """Before anything is begun."""
    monkeypatch.setenv("LARA_SHARDS", "0")
    found = lara(*arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("setting `shards`")
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize("rate", ["0", "-1", "fast"])
def test_a_rate_is_a_number_above_zero(file, rate):
    """Before anything is sent."""
    assert lara("replay", file, "--rate", rate).exit_code == 2


# --- services that do not answer --------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["report"],
        ["report", "--json"],
        ["worker"],
        *(["explain", kind, "x"] for kind in ("retrieval", "action", "document")),
        ["report", "--compare", "other"],
        ["audit"],
        ["rebuild"],
        ["deadletters", "replay"],
        ["watermarks", "set", "lara.actions", "0", "5"],
    ],
    ids=" ".join,
)
def test_a_redis_that_does_not_answer_is_one_sentence_and_code_1(nowhere, arguments):
    """It says which service, and where."""
    found = lara(*arguments)
    assert (found.exit_code, found.stdout) == (1, "")
    sentences = [line for line in found.stderr.splitlines() if "127.0.0.1" in line]
    assert len(sentences) == 1
    assert "Redis" in sentences[0] or "connecting" in sentences[0]
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    "command",
    [["topics", "create"], ["replay"], ["deadletters", "list"], ["watermarks", "show"]],
    ids=" ".join,
)
def test_a_kafka_that_does_not_answer_is_one_sentence_and_code_1(nowhere, file, command):
    """Nothing was sent, and nothing is said to have been."""
    found = lara(*command, *([file] if command == ["replay"] else []))
    assert (found.exit_code, found.stdout) == (1, "")
    assert "Kafka" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_backtest_needs_no_service_at_all(nowhere, file):
    """Neither Kafka nor Redis."""
    assert lara("backtest", file, "--json").exit_code == 0


def test_a_file_without_any_event_is_code_1_and_says_what_was_read(tmp_path):
    """An empty report would look like a quiet day."""
    path = tmp_path / "no.jsonl"
    path.write_bytes(b"{\n[]\n")
    found = lara("backtest", str(path))
    assert (found.exit_code, found.stdout) == (1, "")
    assert "read 2 records" in found.stderr


# --- simulated files --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_simulated_file_is_what_backtest_reads(nowhere, tmp_path):
    """The same options give the same lines, another setting others; a report comes of them."""
    found = [lara("simulate", "--prompts", "30", "--like", like) for like in ("coverage", "coverage", "demo")]
    assert [one.exit_code for one in found] == [0, 0, 0]
    assert found[0].stdout == found[1].stdout != found[2].stdout
    lines = found[0].stdout.splitlines()
    assert f"wrote {len(lines)} lines" in found[0].stderr
    path = tmp_path / "simulated.jsonl"
    path.write_text(found[0].stdout, "utf-8")
    report = lara("backtest", str(path))
    assert report.exit_code == 0
    assert f"read {len(lines)} records" in report.stderr


def test_a_study_prints_what_was_set_and_that_the_report_is_the_truth(nowhere):
    """Its figures to standard output; how long it takes, and what was read, elsewhere."""
    found = lara("study", "--prompts", "300", "--seed", "2")
    assert found.exit_code == 0
    assert found.stdout.startswith("300 prompts of an assistant set to the published figures, seed 2")
    assert "of 15 intervals hold what was set" in found.stdout
    assert "figures equal the simulator's truth exactly" in found.stdout
    assert "settled after" in found.stderr


def test_a_study_whose_report_is_not_the_truth_ends_with_code_1(monkeypatch):
    """Whatever its intervals say."""
    from streams.commands.simulator import Truth

    monkeypatch.setattr(Truth, "metrics", lambda *_: [])
    found = lara("study", "--prompts", "20")
    assert found.exit_code == 1
    assert "differ from the simulator's truth" in found.stdout


# --- times ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2026-03-02T10:00:00Z", at(0)),
        ("2026-03-02T11:00:00+01:00", at(0)),
        ("2026-03-02T10:00:00.001Z", at(0.001)),
        ("2026-03-02", at(0) - 36_000_000),
        (str(at(7)), at(7)),
        ("0", 0),
    ],
)
def test_a_time_is_an_instant_a_day_or_milliseconds(text, milliseconds):
    """A day is its first instant, UTC."""
    assert Instant().convert(text, None, None) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "today", "2026-13-01", "2026-03-02T10:00", "2026-03-02T10:00:00", "10:00", "-5"]
)
def test_what_is_no_time_or_has_no_offset_is_refused(text):
    """Local time means another moment on every machine."""
    with pytest.raises(click.BadParameter):
        Instant().convert(text, None, None)
