"""How good the returned list was, by its labels (contract §4, Layer 1): P, R, MRR, NDCG and judged coverage.

Rules:
- Relevant is a grade of 1 or more; a grade below 0 counts as 0; an asset without label has grade 0.
- A repeated asset earns at its first position only; a `null` element keeps its position and earns nothing.
- K stays the divisor of P@K however short the list. The ideal comes from all labels, returned or not.
- Scores are whole billionths, so that sums do not depend on their order.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import log2
from typing import Final, NamedTuple

BILLION: Final = 1_000_000_000
PRECISION_CUTS: Final = (1, 5, 10)
CUTS: Final = (5, 10)
# 2^60 is beyond any scale of grades that people use, and keeps a mistyped one from taking the memory.
HIGHEST_GRADE: Final = 60

Ranked = Sequence[str | None]
Grades = Mapping[str, int]


class Scores(NamedTuple):
    """Scores in billionths, by name and cut; without a relevant label only precision and coverage."""

    precision: Mapping[int, int]
    coverage: Mapping[int, int]
    recall: Mapping[int, int]
    ndcg: Mapping[int, int]
    reciprocal_rank: int | None

    @property
    def ranked(self) -> bool:
        """Is there a relevant label, so that there is an ideal to compare with?"""
        return self.reciprocal_rank is not None


def scores(returned: Ranked, grades: Grades, linear: bool = False) -> Scores | None:
    """The scores of a list; None if it has no label, or elements but no id."""
    if not grades or (returned and all(asset is None for asset in returned)):
        return None
    firsts = _first_positions(returned)
    relevant = [asset for asset, grade in grades.items() if grade >= 1]
    positions = sorted(firsts[asset] for asset in relevant if asset in firsts)
    precision = {k: _billionths(_within(positions, k), k) for k in PRECISION_CUTS}
    coverage = {k: _coverage(returned, grades, k) for k in CUTS}
    if not relevant:
        return Scores(precision, coverage, {}, {}, None)
    recall = {k: _billionths(_within(positions, k), len(relevant)) for k in CUTS}
    ndcg = {k: _ndcg(firsts, grades, k, linear) for k in CUTS}
    return Scores(precision, coverage, recall, ndcg, _billionths(1, positions[0]) if positions else 0)


def _first_positions(returned: Ranked) -> dict[str, int]:
    firsts: dict[str, int] = {}
    for position, asset in enumerate(returned, 1):
        if asset is not None:
            firsts.setdefault(asset, position)
    return firsts


def _within(positions: Sequence[int], k: int) -> int:
    return sum(position <= k for position in positions)


def _coverage(returned: Ranked, grades: Grades, k: int) -> int:
    """Share of the first min(K, length) positions that hold a labelled asset; of an empty list 0."""
    labelled = sum(asset in grades for asset in returned[:k])
    return _billionths(labelled, min(k, len(returned))) if returned else 0


def _ndcg(firsts: Mapping[str, int], grades: Grades, k: int, linear: bool) -> int:
    gains = {asset: _gain(grade, linear) for asset, grade in grades.items()}
    earned = ((gains.get(asset, 0), position) for asset, position in firsts.items() if position <= k)
    found = sum(gain / log2(position + 1) for gain, position in earned)
    best = sorted(gains.values(), reverse=True)[:k]
    ideal = sum(gain / log2(position + 1) for position, gain in enumerate(best, 1))
    return round(BILLION * found / ideal)


def _gain(grade: int, linear: bool) -> int:
    relevant = max(grade, 0)
    return relevant if linear else 2 ** min(relevant, HIGHEST_GRADE) - 1


def _billionths(part: int, whole: int) -> int:
    """part / whole, rounded half to even: in whole numbers, so that no float decides."""
    return round(Fraction(BILLION * part, whole))
