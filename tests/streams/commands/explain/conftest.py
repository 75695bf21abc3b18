"""Runs the real command over a file with the records of a test, without settings of this machine."""

import json
import os

import pytest
from click.testing import CliRunner

from streams.commands.cli import main
from tests.building import encoded


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def explain(tmp_path):
    """Explains one thing among these records."""

    def run(*sent, kind="retrieval", name="r1", options=()):
        path = tmp_path / "events.jsonl"
        path.write_bytes(b"\n".join(encoded(one) for one in sent))
        return CliRunner().invoke(main, ["explain", kind, name, str(path), *options])

    return run


@pytest.fixture
def words(explain):
    """What is printed for people."""

    def run(*sent, **asked):
        found = explain(*sent, **asked)
        assert found.exit_code == 0, found.output
        return found.stdout

    return run


@pytest.fixture
def data(explain):
    """What is printed for programs."""

    def run(*sent, **asked):
        found = explain(*sent, **{**asked, "options": [*asked.get("options", ()), "--json"]})
        assert found.exit_code == 0, found.output
        return json.loads(found.stdout)

    return run
