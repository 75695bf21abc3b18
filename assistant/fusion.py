"""Two lists made one: reciprocal rank fusion, and older documents lower if that is wanted.

Rules:
- Ranks count, not scores: those of BM25 and of cosines have nothing in common.
- Every tie goes by id, so the order never depends on how lists were made.

Source: Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009, where k = 60.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

K: Final = 60


def reciprocal_rank_fusion(lists: Iterable[Sequence[str]], k: int = K) -> dict[str, float]:
    """Id -> sum of 1 / (k + rank), ranks from 1, best first. An id counts once a list, at its best rank."""
    fused: dict[str, float] = {}
    for ranked in lists:
        for rank, one in enumerate(dict.fromkeys(ranked), 1):
            fused[one] = fused.get(one, 0.0) + 1 / (k + rank)
    return by_score(fused)


def by_score(scored: Mapping[str, float]) -> dict[str, float]:
    """Best first; ties by id."""
    return dict(sorted(scored.items(), key=lambda item: (-item[1], item[0])))


def decayed(
    scored: Mapping[str, float], age_days: Mapping[str, float], half_life_days: float
) -> dict[str, float]:
    """Scores halved for every half-life of age, best first; what has no age keeps its score."""
    return by_score(
        {
            one: score * 0.5 ** (max(age_days.get(one, 0.0), 0.0) / half_life_days)
            for one, score in scored.items()
        }
    )
