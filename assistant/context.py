"""What a model is given to read: whole sections, best first, within a budget of tokens."""

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from assistant.text import HAN

_HAN: Final = re.compile(f"[{HAN}]")


class Context(NamedTuple):
    """The text, what it cites, and the tokens it is taken for."""

    text: str
    source_ids: tuple[str, ...]
    tokens: int


def estimated_tokens(text: str) -> int:
    """One a Chinese character, one a four others, rounded up: near enough for a budget."""
    han = len(_HAN.findall(text))
    return han + -(-(len(text) - han) // 4)


def assemble(
    sections: Iterable[tuple[str, str]], budget: int, count: Callable[[str], int] = estimated_tokens
) -> Context:
    """The sections (source id, text) that fit, in order; where one does not, the next is tried.

    The budget holds for the whole text, as `count` counts it.
    """
    text, cited = "", []
    for source_id, section in sections:
        longer = f"{text}\n\n[{source_id}]\n{section}".strip()
        if count(longer) <= budget:
            text = longer
            cited.append(source_id)
    return Context(text, tuple(cited), count(text))
