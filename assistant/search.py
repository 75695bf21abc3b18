"""One search, stage by stage: understand, look up in both halves at once, fuse, rerank, check again.

Rules:
- Candidates are chosen first: what the caller may not read, or a filter leaves out, is in no list of any
  stage.
- `fired` is the fused list, before reranking and before the cut to `top_k`: it is what an event must carry.
- Every rank and tie is a function of index, query and configuration. Times are measured, and decide
  nothing.
- A result is cached under all that it depends on; whoever may cite it now is asked each time, cached or
  not.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from time import perf_counter
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, TypeVar

import msgspec

from assistant.cache import Cache
from assistant.fusion import K, decayed, reciprocal_rank_fusion
from assistant.index import Index, Place
from assistant.permissions import Access, Filters, Groups, candidates, still_permitted
from assistant.rerank import Reranker
from assistant.text import normalised

KEYWORD: Final = "keyword"
VECTOR: Final = "vector"
FUSED: Final = "fused"
RERANKED: Final = "reranked"
STAGES: Final = (KEYWORD, VECTOR, FUSED, RERANKED)
NO_FILTERS: Final[Filters] = MappingProxyType({})
Result = TypeVar("Result")


class Rewriter(Protocol):
    """Whatever adds other wordings of a query: rewriting, expansion, translation."""

    def __call__(self, query: str) -> Sequence[str]:
        """Wordings to search for besides the query itself. Exact tokens stay as they are."""


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """What a search is made of. Without a half its list is empty; without half-life age counts nothing."""

    keyword: bool = True
    vector: bool = True
    depth: int = 20
    rrf_k: int = K
    half_life_days: float | None = None
    rerank_top: int = 20


class Hit(NamedTuple):
    """A section given back: `source_id` names it, `document_id` is what events call the asset."""

    source_id: str
    document_id: str
    title: str
    path: tuple[str, ...]
    text: str
    rank: int
    score: float


class Found(NamedTuple):
    """A result: the hits, the list as it fired, the list of every stage, milliseconds a stage."""

    hits: tuple[Hit, ...]
    fired: tuple[str, ...]
    stages: Mapping[str, tuple[str, ...]]
    latency_ms: Mapping[str, float]
    cached: bool = False


class Search:
    """Hybrid search over an index. Safe for threads.

    `access` tells who may read a document now; without it, what the index says holds. `today` is for ages.
    """

    def __init__(
        self,
        index: Index,
        configuration: Configuration | None = None,
        reranker: Reranker | None = None,
        rewriter: Rewriter | None = None,
        access: Access | None = None,
        today: date | None = None,
        cache: Cache[Found] | None = None,
    ) -> None:
        self.index = index
        self.configuration = configuration or Configuration()
        if self.configuration.half_life_days is not None and today is None:
            raise ValueError("a half-life needs today, to know ages")
        self.cache = Cache[Found]() if cache is None else cache
        self._reranker, self._rewriter, self._today = reranker, rewriter, today
        self._numbers = {one.document_id: number for number, one in enumerate(index.documents)}
        indexed = {one.document_id: one.access_groups for one in index.documents}
        self._access: Access = access or indexed.get
        self._halves = ThreadPoolExecutor(2, "search")

    def search(
        self, query: str, top_k: int = 3, groups: Groups = frozenset(), filters: Filters = NO_FILTERS
    ) -> Found:
        """The best sections, one a document. Raises ValueError for an unknown filter or `top_k` < 1."""
        if top_k < 1:
            raise ValueError("top_k is 1 or more")
        asked = normalised(query)
        key = (asked, top_k, tuple(sorted(filters.items())), groups, self.index.version, self.configuration)
        known = self.cache.get(key)
        found = self._checked(known or self._search(asked, top_k, groups, filters), groups)
        if known is None:
            self.cache.put(key, found)
        return found._replace(cached=known is not None)

    def _search(self, query: str, top_k: int, groups: Groups, filters: Filters) -> Found:
        clock = _Clock()
        allowed = candidates(self.index.documents, groups, filters)
        wordings = clock.time(
            "understand", lambda: [query, *(self._rewriter(query) if self._rewriter else ())]
        )
        keyword, vector = clock.time("retrieve", lambda: self._both(wordings, allowed, clock))
        places = {place.document: place for half in (*vector, *keyword) for place in reversed(half)}
        lists = [[self._id(place) for place in half] for half in (*keyword, *vector)]
        scored = clock.time("fuse", lambda: self._fuse(lists))
        order = clock.time("rerank", lambda: self._rerank(query, scored, places))
        shown = list(order.items())[:top_k]
        hits = tuple(
            self._hit(places[self._numbers[one]], rank, score) for rank, (one, score) in enumerate(shown, 1)
        )
        stages = {
            KEYWORD: tuple(reciprocal_rank_fusion(lists[: len(keyword)], self.configuration.rrf_k)),
            VECTOR: tuple(reciprocal_rank_fusion(lists[len(keyword) :], self.configuration.rrf_k)),
            FUSED: tuple(scored),
            RERANKED: tuple(order),
        }
        return Found(hits, stages[FUSED], stages, clock.milliseconds)

    def _both(
        self, wordings: Sequence[str], allowed: Sequence[bool], clock: "_Clock"
    ) -> tuple[list[list[Place]], list[list[Place]]]:
        """A list a wording from either half, both at work at the same time."""
        index, depth = self.index, self.configuration.depth

        def half(name: str, on: bool, look: Callable[..., list[Place]]) -> list[list[Place]]:
            return clock.time(name, lambda: [look(one, allowed, depth) for one in wordings] if on else [])

        keyword = self._halves.submit(half, KEYWORD, self.configuration.keyword, index.by_keyword)
        vector = self._halves.submit(half, VECTOR, self.configuration.vector, index.by_vector)
        return keyword.result(), vector.result()

    def _fuse(self, lists: Sequence[Sequence[str]]) -> dict[str, float]:
        scored = reciprocal_rank_fusion(lists, self.configuration.rrf_k)
        half_life = self.configuration.half_life_days
        if half_life is None or self._today is None:
            return scored
        ages = {
            one: float((self._today - self.index.documents[self._numbers[one]].updated_at).days)
            for one in scored
        }
        return decayed(scored, ages, half_life)

    def _rerank(
        self, query: str, scored: Mapping[str, float], places: Mapping[int, Place]
    ) -> dict[str, float]:
        """The first `rerank_top` in the reranker's order; the rest stays behind them, as it was."""
        if self._reranker is None or not scored:
            return dict(scored)
        top = list(scored)[: self.configuration.rerank_top]
        texts = [self._read(places[self._numbers[one]]) for one in top]
        judged = dict(zip(top, self._reranker.scores(query, texts), strict=True))
        best = sorted(top, key=lambda one: -judged[one])  # a stable sort: ties stay as fused
        return {
            **{one: judged[one] for one in best},
            **{one: s for one, s in scored.items() if one not in judged},
        }

    def _read(self, place: Place) -> str:
        return f"{self.index.documents[place.document].title}\n{self.index.section(place)[1]}"

    def _id(self, place: Place) -> str:
        return self.index.documents[place.document].document_id

    def _hit(self, place: Place, rank: int, score: float) -> Hit:
        document = self.index.documents[place.document]
        section, text = self.index.section(place)
        source_id = f"{document.document_id}#{place.section}"
        return Hit(source_id, document.document_id, document.title, section.path, text, rank, score)

    def _checked(self, found: Found, groups: Groups) -> Found:
        """Without what the caller may not read any more, in any list."""
        hits = still_permitted(found.hits, lambda hit: hit.document_id, groups, self._access)
        stages = {name: self._still(ranked, groups) for name, ranked in found.stages.items()}
        return found._replace(hits=hits, fired=stages[FUSED], stages=stages)

    def _still(self, ranked: Sequence[str], groups: Groups) -> tuple[str, ...]:
        return still_permitted(ranked, lambda one: one, groups, self._access)

    def close(self) -> None:
        """End the two threads."""
        self._halves.shutdown()


class _Clock:
    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    def time(self, stage: str, work: Callable[[], Result]) -> Result:
        started = perf_counter()
        result = work()
        self.milliseconds[stage] = (perf_counter() - started) * 1000
        return result
