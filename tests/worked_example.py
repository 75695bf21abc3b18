"""The printed blocks of docs/worked-example.md, which `docs_pages` writes with all the others."""

import tempfile
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

Console = Callable[..., str]  # `docs_pages.console`

FILE: Final = "docs/worked-example.jsonl"
PATH: Final = Path(__file__).parents[1] / FILE
# The last line is the export: all before it is what is known in the evening of the first day.
FIRST_DAY: Final = 6


def sections(console: Console) -> Mapping[str, Callable[[], str]]:
    """The sections of the page, by name."""
    return {
        "acr": lambda: _first_day(console),
        "gpr": lambda: console(
            f"backtest {FILE} --as-of 2026-03-05",
            ("last 7 days", "Definitions of a genuine"),
            ("What retrievals returned", "total"),
            ("Outcomes", "total"),
            ("Prompts, in %", None),
        ),
        "chain": lambda: console(f"explain retrieval r1 {FILE} --as-of 2026-03-05", ("", "stored as")),
        "exported": lambda: console(f"explain action w7 {FILE} --as-of 2026-03-05", ("", None)),
        "place": lambda: console(f"explain document invitation {FILE} --as-of 2026-03-05", ("", None)),
    }


def _first_day(console: Console) -> str:
    """The report without the export: the command reads the lines before it from another command."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as part:
        with PATH.open("rb") as lines:
            part.writelines(islice(lines, FIRST_DAY))
        part.flush()
        given = f"backtest {part.name} --as-of 2026-03-03"
        block = console(given, ("last 24 hours", "Definitions of a genuine"), ("Prompts, in %", None))
    asked = f"$ head -n {FIRST_DAY} {FILE} | lara backtest /dev/stdin --as-of 2026-03-03"
    return block.replace(f"$ lara {given}", asked)
