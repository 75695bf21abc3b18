"""The commands that docs/failure.md names for its rows run something: what was tried can be tried again."""

import re
import shlex
import subprocess
import sys

import pytest

from tests.docs_pages import ROOT

PAGE = (ROOT / "docs/failure.md").read_text("utf-8")
COMMANDS = sorted(set(re.findall(r"`pytest ([^`]+)`", PAGE)))
MODULES = sorted(set(re.findall(r"`python -m (\S+)", PAGE)))


@pytest.fixture(scope="module")
def collected() -> list[str]:
    """The names of all tests."""
    asked = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in found.stdout.splitlines() if "::" in line]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_names_tests_by_every_word(command, collected):
    """Paths, and words joined by `or`: each finds at least one test."""
    words = shlex.split(command)
    where = words.index("-k") if "-k" in words else len(words)
    of_paths = [name for name in collected if name.startswith(tuple(words[:where]))]
    wanted = words[where + 1].split(" or ") if where < len(words) else [""]
    for word in wanted:
        assert [name for name in of_paths if word in name], f"nothing in {words[:where]} is called {word!r}"


@pytest.mark.parametrize("module", MODULES)
def test_each_module_is_there(module):
    """`python -m MODULE` finds it."""
    place = ROOT.joinpath(*module.split("."))
    assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()
