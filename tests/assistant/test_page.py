"""docs/search.md: its code runs, and its figures are there."""

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from metrics.catalogue import CATALOGUE
from streams.commands.cli import main
from tests.docs_printed import ROOT

PAGE = (ROOT / "docs/search.md").read_text("utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_figure_is_in_the_catalogue():
    """And each row of the trouble-shooting table names one."""
    assert set(re.findall(r"`(lara_\w+)`", PAGE)) <= {figure.name for figure in CATALOGUE}
    rows = PAGE.partition("## Trouble")[2].split("|---|---|---|\n")[1].splitlines()
    assert len(rows) == 6 and all("`lara_" in row for row in rows)


@pytest.mark.parametrize(("number", "printed"), [(0, "'sent': 5"), (1, "Internal: goodwill refunds")])
def test_its_code_runs_as_it_stands(tmp_path, number, printed):
    """In a folder of its own."""
    (tmp_path / "assistant").symlink_to(ROOT / "assistant")
    asked = [sys.executable, "-c", CODE[number]]
    found = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0 and printed in found.stdout, found.stderr


def test_what_it_writes_is_one_genuine_positive(tmp_path):
    """As the page says, and across sessions."""
    subprocess.run([sys.executable, "-c", CODE[0]], cwd=tmp_path, check=True)
    found = CliRunner().invoke(main, ["explain", "document", "invitation", str(tmp_path / "events.jsonl")])
    assert (
        found.exit_code == 0
        and "export" in found.output
        and "inherited, credited to retrieval" in found.output
    )
