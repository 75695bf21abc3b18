"""From a text to the words that are looked up: Chinese by jieba, the rest by word.

Rules:
- Texts are the same if they differ in width, case and white space only (NFKC, case-folded, collapsed).
- An exact token, such as `EXP-1007`, `4.2.1` or `/v2/documents`, stays whole. If it holds a digit it is
  nothing else, so that 4.2.1 does not find 4.2.0; a hyphenated word is also its parts.
"""

import logging
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import jieba

jieba.setLogLevel(logging.WARNING)  # it tells of its dictionary on standard error

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
TOKEN: Final = re.compile(rf"[{HAN}]+|[a-z0-9]+(?:[-._/][a-z0-9]+)+|[^\W_{HAN}]+")
JOINT: Final = re.compile(r"[-._/]")
DIGIT: Final = re.compile(r"\d")


def normalised(text: str) -> str:
    """NFKC, case-folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def tokens(text: str) -> list[str]:
    """The words of a text, in order; Chinese words also by the shorter words in them."""
    return list(_tokens(normalised(text)))


def exact_tokens(text: str) -> set[str]:
    """Version numbers, error codes and the like: tokens with a digit in them."""
    return {token for token in tokens(text) if DIGIT.search(token) and not token.isdigit()}


def _tokens(text: str) -> Iterator[str]:
    for found in TOKEN.findall(text):
        if re.match(rf"[{HAN}]", found):
            yield from jieba.cut_for_search(found)
            continue
        yield found
        if JOINT.search(found) and not DIGIT.search(found):
            yield from JOINT.split(found)
