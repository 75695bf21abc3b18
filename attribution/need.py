"""Is it the same need? What a conversation knows of its retrievals (contract §3, `researched`).

Rules:
- By need: a later retrieval with the same `need_id`, of another request, within 30 days, that is no page.
- By words: the same without a need, within 10 minutes, if half of all words of both queries are shared. It is
  a shadow signal: the same words may be another need, and the same need may come in other words.
- Words are divided by white space; in scripts written without it, two neighbouring characters are a word.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from attribution.entities import Entity
from attribution.semantics import ATTRIBUTION_HORIZON_MS, MINUTE_MS, Semantics, normalised_query
from attribution.statements import Address, Content, Fired, Researched

SIMILAR_WITHIN_MS: Final = 10 * MINUTE_MS
SIMILARITY: Final = 0.5

# Han, kana, Thai, Lao, Myanmar, Khmer: written without spaces between words.
_UNSPACED: Final = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3005-\u3007\u3040-\u309f\u30a0-\u30ff\u31f0-\u31ff"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_RUNS: Final = re.compile(f"[{_UNSPACED}]+|[^\\s{_UNSPACED}]+")
_UNSPACED_RUN: Final = re.compile(f"[{_UNSPACED}]+")


def words(query: str) -> frozenset[str]:
    """The words of a query: its own, or character bigrams where a script has no spaces."""
    found: set[str] = set()
    for run in _RUNS.findall(normalised_query(query)):
        if _UNSPACED_RUN.fullmatch(run) and len(run) > 1:
            found.update(run[start : start + 2] for start in range(len(run) - 1))
        else:
            found.add(run)
    return frozenset(found)


def similar(some: Iterable[str], others: Iterable[str]) -> bool:
    """Jaccard similarity of two sets of words at least one half; nothing is similar to no words."""
    left, right = frozenset(some), frozenset(others)
    both = left | right
    return bool(both) and len(left & right) >= SIMILARITY * len(both)


class _One(NamedTuple):
    key: str
    fired: Fired


def speak_research(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """To every retrieval of the conversation: when its need was searched for again."""
    known = [
        _One(sender, content) for sender, _, content in entity.heard("fired") if isinstance(content, Fired)
    ]
    said: dict[Address, Content] = {}
    for one in known:
        later = [other.fired for other in known if _may_repeat(one.fired, other.fired)]
        by_need = tuple(sorted(other.ts for other in later if _same_need(one.fired, other)))
        by_words = tuple(sorted(other.ts for other in later if _same_words(one.fired, other)))
        if by_need or by_words:
            said[Address(one.key, "researched", "")] = Researched(by_need, by_words)
    return said


def _may_repeat(fired: Fired, other: Fired) -> bool:
    later = fired.ts < other.ts <= fired.ts + ATTRIBUTION_HORIZON_MS
    return later and not other.is_page and other.request_id != fired.request_id


def _same_need(fired: Fired, other: Fired) -> bool:
    return fired.need_id is not None and fired.need_id == other.need_id


def _same_words(fired: Fired, other: Fired) -> bool:
    soon = other.ts <= fired.ts + SIMILAR_WITHIN_MS
    return soon and not fired.is_page and similar(fired.words, other.words)
