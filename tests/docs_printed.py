"""What commands print now, for the parts of the docs that show it.

The commands are run for real, at the project's root, without settings of this machine.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from click.testing import CliRunner

from metrics.figures import Metric
from metrics.readings_page import readings_markdown
from streams.commands.cli import main

ROOT: Final = Path(__file__).parents[1]
COLUMNS: Final = 110  # of printed reports
LEFT_OUT: Final = "[…]"


def console(command: str, *excerpts: tuple[str, str | None]) -> str:
    """A command and parts of what it prints now: from a line that begins so to before one that does, or the
    end."""
    lines = printed(command)
    shown = [f"```console\n$ lara {command}"]
    after = 0
    for first, last in excerpts:
        start = _index(lines, first, after)
        end = len(lines) if last is None else _index(lines, last, start + 1)
        shown += [LEFT_OUT] if start > after else []
        shown += lines[start:end]
        after = end
    return "\n".join([*shown, *([LEFT_OUT] if after < len(lines) else []), "```"])


def _index(lines: Sequence[str], beginning: str, start: int) -> int:
    return next(number for number in range(start, len(lines)) if lines[number].lstrip().startswith(beginning))


def printed(command: str) -> list[str]:
    """What `lara COMMAND` prints at the project's root, for people, without settings of this machine."""
    unset = {name: None for name in (*os.environ, "FORCE_COLOR") if name.startswith(("LARA_", "FORCE_"))}
    with contextlib.chdir(ROOT):
        result = CliRunner(env={"COLUMNS": str(COLUMNS), **unset}).invoke(main, shlex.split(command))
    if result.exit_code:
        raise AssertionError(f"lara {command}: {result.output}")
    return [line.rstrip() for line in result.stdout.splitlines()]


def readme_backtest() -> str:
    """The headline and the outcomes of the example."""
    return console(
        "backtest docs/example.jsonl --as-of 2026-03-06",
        ("last 7 days", "Definitions of a genuine"),
        ("Outcomes", "total"),
    )


def example_figures() -> list[Metric]:
    """Every figure of the example, as the command computes it now."""
    printed_now = msgspec.json.decode(
        "".join(printed("backtest docs/example.jsonl --as-of 2026-03-06 --json"))
    )
    return msgspec.convert(printed_now["metrics"], list[Metric])


def example_readings() -> str:
    """Every family of figures, with its values in the example."""
    return readings_markdown(example_figures())


def readme_explain() -> str:
    """Why the first retrieval of the example is counted as it is."""
    return console("explain retrieval r1 docs/example.jsonl", ("retrieval r1", "its session chat-1"))


def whole(command: str) -> str:
    """A command and all that it prints now."""
    return "\n".join([f"```console\n$ lara {command}", *printed(command), "```"])


def evaluating_labels() -> str:
    """What the first row of the filled sheet says."""
    return console(
        "labels docs/example-sheet.csv --ts 2026-03-05",
        ('{"type":"judgement"', '{"type":"judgement","event_id":"label-4b6af5a6fba36160'),
    )


def evaluating_export() -> str:
    """One record of the export, whole."""
    return console("export docs/example.jsonl", ('{"retrieval_id":"r2"', '{"retrieval_id":"r3"'))


def operating_doctor() -> str:
    """What the doctor says of the example."""
    return console(
        "doctor docs/example.jsonl",
        ("12 lines read", "7  failures"),
        ("What to log next", "8  costs"),
        ("Optional fields", "route"),
        ("Findings", "note"),
    )


def contract_of_a_placement() -> str:
    """How a schema begins, and a field with few values."""
    return console(
        "contract --type placement",
        ("{", '"ts": {'),
        ('"op": {', '"source_retrieval_id"'),
        ('"required": [', '"additionalProperties"'),
    )


PRINTED: Final[Mapping[str, Callable[[], str]]] = {
    "backtest": readme_backtest,
    "explain": readme_explain,
    "readings": example_readings,
    "sample": lambda: whole("sample docs/example.jsonl --n 2 --depth 4"),
    "labels": evaluating_labels,
    "worst": lambda: whole("worst queries docs/example.jsonl --by rejected --min-n 1"),
    "assets": lambda: whole("worst assets docs/example.jsonl --by unused --min-n 1"),
    "export": evaluating_export,
    "evaluate": lambda: whole("evaluate"),
    "contract": contract_of_a_placement,
    "doctor": operating_doctor,
    "ragas": lambda: whole("export docs/example.jsonl --format ragas"),
}
