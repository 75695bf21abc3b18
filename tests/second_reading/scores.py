"""5a. What the list of a retrieval was worth, by its labels (contract, section 4).

Every score is an integer of 1e-9: the exact score times 1e9, rounded half to even. Exact means a `Fraction`
wherever the score is one; NDCG has logarithms, so it is worked out with 60 decimal digits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

from tests.second_reading.records import Record

UNIT = 10**9

Ids = list[str | None]


@dataclass(frozen=True)
class Ranking:
    """The scores that need a relevant label."""

    recall: dict[int, int]
    ndcg: dict[int, int]
    mrr: int


@dataclass(frozen=True)
class Scores:
    """The scores of a judged retrieval, in 1e-9; by K where there is one."""

    coverage: dict[int, int]
    precision: dict[int, int]
    ranking: Ranking | None  # absent where no label is relevant


def scores_of(retrieval: Record, grades: dict[str, int], gain: str) -> Scores | None:
    """None where it cannot be judged: a page, no list, no id in a list of something, no label."""
    returned: Ids | None = retrieval["returned_asset_ids"]
    if retrieval.is_page or returned is None or is_without_ids(returned) or not grades:
        return None
    relevant = {asset for asset, grade in grades.items() if grade >= 1}
    return Scores(
        coverage={k: in_units(coverage(returned[:k], grades)) for k in (5, 10)},
        precision={k: in_units(Fraction(len(relevant & set(returned[:k])), k)) for k in (1, 5, 10)},
        ranking=ranking_of(returned, relevant, grades, gain) if relevant else None,
    )


def ranking_of(returned: Ids, relevant: set[str], grades: dict[str, int], gain: str) -> Ranking:
    first = next((i for i, asset in enumerate(returned, 1) if asset in relevant), None)
    return Ranking(
        recall={k: in_units(Fraction(len(relevant & set(returned[:k])), len(relevant))) for k in (5, 10)},
        ndcg={k: ndcg(returned, grades, k, gain) for k in (5, 10)},
        mrr=0 if first is None else in_units(Fraction(1, first)),
    )


def is_without_ids(returned: Ids) -> bool:
    """Something was found, but nobody knows what."""
    return returned != [] and set(returned) == {None}


def in_units(score: Fraction) -> int:
    return round(score * UNIT)  # a Fraction rounds half to even


def coverage(top: Ids, grades: dict[str, int]) -> Fraction:
    """The share of positions that hold a labelled asset; an empty list covers nothing."""
    return Fraction(sum(1 for asset in top if asset in grades), len(top)) if top else Fraction(0)


def ndcg(returned: Ids, grades: dict[str, int], k: int, gain: str) -> int:
    earned = [
        grades[asset] if asset in grades and asset not in returned[:i] else 0
        for i, asset in enumerate(returned)
    ]
    ideal = sorted(grades.values(), reverse=True)
    with localcontext() as context:
        context.prec, context.rounding = 60, ROUND_HALF_EVEN
        score = dcg(earned[:k], gain, ideal[0]) / dcg(ideal[:k], gain, ideal[0])
        return int((score * UNIT).to_integral_value())


def dcg(grades: Iterable[int], gain: str, highest: int) -> Decimal:
    """Up to a factor that every DCG of the retrieval has: the gains are in units of 2 ** highest, which
    keeps absurd grades within reach, and the logarithms are natural."""
    total = Decimal(0)
    for i, grade in enumerate(grades, 1):
        worth = (
            Decimal(grade) if gain == "linear" else Decimal(2) ** (grade - highest) - Decimal(2) ** -highest
        )
        total += worth / Decimal(i + 1).ln()
    return total
