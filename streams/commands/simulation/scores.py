"""What a list was worth by its labels, in integers of 1e-9; and whose fault it was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log2

from .books import Labels, Retrieved

UNIT = 10**9
MATURITY = 30 * 60_000
RELEVANCE = ("precision 1", "precision 5", "precision 10", "coverage 5", "coverage 10")
RANKING = ("recall 5", "recall 10", "ndcg 5", "ndcg 10", "mrr")
VERDICTS = {  # bad list?, what became of it
    (False, "failed"): "misused",
    (False, "used"): "working",
    (False, "neither"): "unused",
    (True, "failed"): "retrieval_fault",
    (True, "used"): "tolerated",
    (True, "neither"): "masked",
}


@dataclass(frozen=True)
class Scored:
    """A retrieval with what its labels say: by the name of the score; the ranking needs a relevant label."""

    book: Retrieved
    intents: int | None
    reached: bool | None
    relevance: dict[str, int] | None
    ranking: dict[str, int] | None

    @property
    def ts(self) -> int:
        return self.book.ts

    @property
    def role(self) -> str:
        return self.book.role

    @property
    def surface(self) -> str:
        return self.book.surface

    @property
    def blind(self) -> bool:
        """Nobody knows what was found."""
        assets = self.book.assets
        return assets is None or (assets != () and set(assets) == {None})

    def bad(self) -> bool | None:
        """Whether the list was bad; None if nobody can tell."""
        if self.book.null:
            return True
        if self.ranking is not None:
            return self.ranking["ndcg 10"] < UNIT // 2
        return True if self.relevance and self.relevance["coverage 10"] else None

    def verdict(self, end: int) -> str:
        """The diagnosis at a time."""
        if self.intents == 0 or self.book.page or self.blind:
            return "unjudged"
        failed, used = self.book.failed, self.book.used
        if not failed and not used and self.ts >= end - MATURITY:
            return "pending"
        bad = self.bad()
        if bad is None:
            return "unjudged"
        return VERDICTS[bad, "failed" if failed else "used" if used else "neither"]


def scored(book: Retrieved, labels: Labels) -> Scored:
    """The retrieval with its labels."""
    grades = labels.grades(book)
    intents, reached = labels.intents(book.request), labels.reached(book)
    plain = Scored(book, intents, reached, None, None)
    if book.page or book.assets is None or plain.blind or not grades:
        return plain
    relevant = {asset for asset, grade in grades.items() if grade >= 1}
    relevance = relevance_of(book.assets, grades, relevant)
    ranking = ranking_of(book.assets, grades, relevant) if relevant else None
    return Scored(book, intents, reached, relevance, ranking)


def relevance_of(
    assets: tuple[str | None, ...], grades: dict[str, int], relevant: set[str]
) -> dict[str, int]:
    """Precision and coverage by labels."""
    scores = {f"precision {k}": share(len(relevant & set(assets[:k])), k) for k in (1, 5, 10)}
    for k in (5, 10):
        top = assets[:k]
        scores[f"coverage {k}"] = share(sum(asset in grades for asset in top), len(top) or 1)
    return scores


def ranking_of(assets: tuple[str | None, ...], grades: dict[str, int], relevant: set[str]) -> dict[str, int]:
    """Recall, NDCG and the reciprocal rank: a repeated asset earns at its first position only."""
    firsts = [asset if asset not in assets[:place] else None for place, asset in enumerate(assets)]
    earned = [grades.get(asset, 0) if asset is not None else 0 for asset in firsts]
    ideal = sorted(grades.values(), reverse=True)
    scores = {f"recall {k}": share(len(relevant & set(assets[:k])), len(relevant)) for k in (5, 10)}
    for k in (5, 10):
        scores[f"ndcg {k}"] = round(UNIT * gained(earned[:k]) / gained(ideal[:k]))
    hits = [place for place, grade in enumerate(earned, 1) if grade]
    return scores | {"mrr": share(1, hits[0]) if hits else 0}


def gained(grades: Iterable[int]) -> float:
    return sum((float(2**grade) - 1) / log2(place + 1) for place, grade in enumerate(grades, 1))


def share(part: int, whole: int) -> int:
    """The nearest whole number of 1e-9: lists are too short for a tie."""
    return (2 * UNIT * part + whole) // (2 * whole)
