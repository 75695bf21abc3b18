"""5c. Layer 1 and Layer 2 read together: whose fault was it? (contract, section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.second_reading.judging import Judged
from tests.second_reading.rows import Labels, Row, count, ratio
from tests.second_reading.rules import MATURITY
from tests.second_reading.scores import UNIT, is_without_ids

# (was the list bad?, what became of it) → verdict
CELLS = {
    (False, "failed"): "misused",
    (False, "used"): "working",
    (False, "neither"): "unused",
    (True, "failed"): "retrieval_fault",
    (True, "used"): "tolerated",
    (True, "neither"): "masked",
}
VERDICTS = (*CELLS.values(), "pending", "unjudged")


def diagnosis_of(r: Judged, end: int) -> str:
    returned = r.record["returned_asset_ids"]
    if r.is_misrouted or r.record.is_page or returned is None or is_without_ids(returned):
        return "unjudged"
    if not (r.is_used or r.failed) and r.ts >= end - MATURITY:
        return "pending"
    bad = is_bad(r)
    if bad is None:
        return "unjudged"
    return CELLS[bad, "failed" if r.failed else "used" if r.is_used else "neither"]


def is_bad(r: Judged) -> bool | None:
    """Whether the list was bad; None if nobody can tell."""
    if r.is_null:
        return True
    if r.scores is None:
        return None
    if r.scores.ranking is not None:
        return 2 * r.scores.ranking.ndcg[10] < UNIT
    return True if r.scores.coverage[10] else None  # labelled, but nothing relevant: bad if it was shown


def diagnosis_rows(labels: Labels, group: Sequence[Judged], end: int) -> Iterator[Row]:
    found = [diagnosis_of(r, end) for r in group]
    for verdict in VERDICTS:
        yield count("lara_diagnosis_retrievals", labels | {"verdict": verdict}, [f == verdict for f in found])
    judged = [f for f in found if f in CELLS.values()]
    yield from ratio("lara_masked_failure_ratio", labels, [f == "masked" for f in judged], judged)
