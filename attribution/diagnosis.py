"""Layer 1 and Layer 2 read together (contract §4): a literal table.

Rules, in order: a misrouted retrieval, a page, and one without a judgeable list are `unjudged`. Bad is a null
result, an NDCG@10 below one half, or labels none of which is relevant while one of the first ten assets has
one. Without NDCG, what is not bad is `unjudged` too. Failure outranks use.
A retrieval without evidence is `pending` until it is mature: the reader of the buckets decides that by age.
"""

from typing import Final, NamedTuple

from attribution.ranking import BILLION

GOOD: Final = "good"
BAD: Final = "bad"
FAILED: Final = "failed"
USED: Final = "used"
NEITHER: Final = "neither"
UNJUDGED: Final = "unjudged"
PENDING: Final = "pending"

# Only `masked` is in the source; the rest is this project's own reading (†).
TABLE: Final = {
    (GOOD, FAILED): "misused",
    (GOOD, USED): "working",
    (GOOD, NEITHER): "unused",
    (BAD, FAILED): "retrieval_fault",
    (BAD, USED): "tolerated",
    (BAD, NEITHER): "masked",
}
JUDGED: Final = tuple(TABLE.values())
VERDICTS: Final = (*JUDGED, UNJUDGED, PENDING)
GOOD_ENOUGH: Final = BILLION // 2


class Diagnosis(NamedTuple):
    """The verdict, and whether it waits for evidence: quiet ones are `pending` while they are young."""

    verdict: str
    quiet: bool

    def at(self, mature: bool) -> str:
        """The verdict of a retrieval that is mature, or still young."""
        return PENDING if self.quiet and not mature else self.verdict


def diagnose(judgeable: bool, quality: str | None, failed: bool, used: bool) -> Diagnosis:
    """Look it up. `quality` is good, bad or None where labels do not say."""
    if not judgeable:
        return Diagnosis(UNJUDGED, quiet=False)
    evidence = FAILED if failed else USED if used else NEITHER
    verdict = TABLE[quality, evidence] if quality is not None else UNJUDGED
    return Diagnosis(verdict, quiet=evidence == NEITHER)


def quality_of(null: bool, ndcg: int | None, labelled_without_relevant: bool) -> str | None:
    """Good or bad, from the list and its labels; None where they do not say. `ndcg` is in billionths."""
    if null or labelled_without_relevant or (ndcg is not None and ndcg < GOOD_ENOUGH):
        return BAD
    return GOOD if ndcg is not None else None
