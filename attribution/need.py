"""Is it the same need? What a conversation knows of its retrievals (contract §3, `researched`).

Rules:
- By need: a later retrieval with the same `need_id`, of another request, within 30 days, that is no page.
- By words: the same without a need, within 10 minutes, if half of all words of both queries are shared. It is
  a shadow signal: the same words may be another need, and the same need may come in other words.
- Words are divided by white space; in scripts written without it, two neighbouring characters are a word.
"""

import bisect
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
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
    known.sort(key=lambda one: (one.fired.ts, one.key))
    fired = [one.fired for one in known]
    of_need: dict[str | None, list[Fired]] = {}
    for one in fired:
        of_need.setdefault(one.need_id, []).append(one)
    said: dict[Address, Content] = {}
    for key, one in known:
        by_need = () if one.need_id is None else _first(one, of_need[one.need_id], ATTRIBUTION_HORIZON_MS)
        by_words = () if one.is_page else _first(one, fired, SIMILAR_WITHIN_MS, _similar)
        if by_need or by_words:
            said[Address(key, "researched", "")] = Researched(by_need, by_words)
    return said


def _any(fired: Fired, other: Fired) -> bool:
    return True


def _similar(fired: Fired, other: Fired) -> bool:
    return similar(fired.words, other.words)


def _first(
    fired: Fired, ordered: Sequence[Fired], within_ms: int, alike: Callable[[Fired, Fired], bool] = _any
) -> tuple[int, ...]:
    """When it was first searched for again: the first is enough, since use before it is before all later."""
    start = bisect.bisect_right(ordered, fired.ts, key=lambda other: other.ts)
    for other in itertools.islice(ordered, start, None):
        if other.ts > fired.ts + within_ms:
            break
        if not other.is_page and other.request_id != fired.request_id and alike(fired, other):
            return (other.ts,)
    return ()
