"""`lara contract`: what it prints and writes, and that the committed files are those of now."""

import json

import pytest
from click.testing import CliRunner

from streams.commands.cli import main
from streams.commands.contract import DIALECT
from streams.commands.schemas.asyncapi import document, schemas
from streams.topics import RETENTION_MS


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    monkeypatch.delenv("LARA_PREFIX", raising=False)
    monkeypatch.delenv("LARA_RETENTION_DAYS", raising=False)
    monkeypatch.delenv("LARA_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


def contract(*arguments):
    return CliRunner().invoke(main, ["contract", *arguments])


def test_without_arguments_all_json_schemas_are_printed_by_name():
    """One object, readable by people."""
    found = contract()
    assert json.loads(found.stdout) == {name: {"$schema": DIALECT, **one} for name, one in schemas().items()}
    assert '\n    "title": "prompt"' in found.stdout


@pytest.mark.parametrize("name", schemas())
def test_one_schema_is_printed_alone(name):
    """With the dialect that it is written in."""
    assert json.loads(contract("--type", name).stdout) == {"$schema": DIALECT, **schemas()[name]}


def test_the_asyncapi_document_is_that_of_the_settings(monkeypatch):
    """Prefix and retention; −1 day keeps for ever."""
    assert json.loads(contract("--format", "asyncapi").stdout) == document("lara", RETENTION_MS)
    monkeypatch.setenv("LARA_PREFIX", "acme")
    monkeypatch.setenv("LARA_RETENTION_DAYS", "-1")
    assert json.loads(contract("--format", "asyncapi").stdout) == document("acme", -1)


def test_files_are_written_into_a_new_folder_and_named(tmp_path):
    """A schema each, or one, or the document; what is printed is where they are."""
    folder = tmp_path / "some" / "where"
    assert contract("--output", str(folder)).stdout.split() == [
        str(folder / f"{name}.schema.json") for name in schemas()
    ]
    assert json.loads((folder / "action.schema.json").read_text("utf-8"))["title"] == "action"
    assert contract("--output", str(folder), "--format", "asyncapi").stdout.split() == [
        str(folder / "asyncapi.json")
    ]
    assert contract("--type", "prompt", "--output", str(tmp_path / "one")).exit_code == 0
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["prompt.schema.json"]


@pytest.mark.parametrize(
    "arguments",
    [["--format", "xml"], ["--type", "hologram"], ["--format", "asyncapi", "--type", "prompt"], ["prompt"]],
    ids=" ".join,
)
def test_a_mistake_of_the_caller_ends_with_code_2(arguments):
    """And says what there is."""
    found = contract(*arguments)
    assert (found.exit_code, found.stdout) == (2, "")


def test_a_folder_that_cannot_be_made_is_one_sentence_and_code_1(tmp_path):
    """A file stands in its way."""
    (tmp_path / "file").write_text("")
    found = contract("--output", str(tmp_path / "file" / "schemas"))
    assert (found.exit_code, found.stdout) == (1, "")
    assert "Traceback" not in found.stderr
