"""Small pieces of Markdown, for the parts of docs/ that are written from the code."""

import inspect
from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, without a line feed at its end."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sentence(documented: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def code(names: Iterable[str]) -> str:
    """Names in code type, with commas."""
    return ", ".join(f"`{name}`" for name in names)
