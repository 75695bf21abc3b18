"""What `lara export` says of one retrieval, and the part of it that ragas reads.

Rules:
- Sessions and users are left out. The query is what somebody typed: personal data.
- The names of ragas are those of its `SingleTurnSample` (0.2 to 0.4). lara holds ids, no texts: there are no
  `retrieved_contexts`, no `reference` and no `response`.
"""

from msgspec import Struct

from attribution.events import request_of, role_of
from attribution.ranking import BILLION
from attribution.retrievals import Judged
from attribution.semantics import Semantics
from attribution.verdict import consumed


class UsedAsset(Struct, frozen=True):
    """An asset with U by `standard`, A or D: an asset of the list or made from one.

    `rank` is its position in the list, else that of the best placed of its ancestors, else null.
    """

    asset_id: str
    rank: int | None


class LabelledAsset(Struct, frozen=True):
    """The label that holds for an asset, returned or not."""

    asset_id: str
    grade: int


class Exported(Struct, frozen=True, kw_only=True):
    """One retrieval. `ts` is in ms since the epoch; null is not logged, not labelled or not there."""

    retrieval_id: str
    ts: int
    request_id: str
    role: str
    surface: str
    query: str | None
    page_of: str | None
    returned_asset_ids: tuple[str | None, ...] | None  # a null element keeps its position
    used: tuple[UsedAsset, ...]  # by rank, then id
    labels: tuple[LabelledAsset, ...]  # by id
    positive: tuple[str, ...]  # the definitions by which it is a genuine positive (U)
    agent_consumed: bool  # A
    delegated: bool  # D
    failed: bool  # F
    failure_signals: tuple[str, ...]  # those that make F, and the shadow one
    corrected: bool
    null_result: bool
    ndcg_at_10: float | None
    diagnosis: str  # one of the six judged verdicts, `unjudged` or `pending`
    mature: bool  # without U, A, D and F it is unobserved, else pending
    completed: bool
    goal_reached: bool | None
    retrieval_intents: int | None  # 0: misrouted


def exported(one: Judged, mature: bool, semantics: Semantics) -> Exported:
    """The record of a retrieval."""
    record, verdict, grades = one
    return Exported(
        retrieval_id=record.retrieval_id,
        ts=record.ts,
        request_id=request_of(record),
        role=role_of(record),
        surface=semantics.surface(record.surface),
        query=record.query,
        page_of=record.page_of,
        returned_asset_ids=record.returned_asset_ids,
        used=_used(one, semantics),
        labels=tuple(LabelledAsset(asset, grade) for asset, grade in sorted(grades.items())),
        positive=tuple(name for name, holds in verdict.positive.items() if holds),
        agent_consumed=verdict.agent_consumed,
        delegated=verdict.delegated,
        failed=verdict.failed,
        failure_signals=verdict.signals,
        corrected=verdict.corrected,
        null_result=verdict.null,
        ndcg_at_10=None if verdict.ndcg_at_10 is None else verdict.ndcg_at_10 / BILLION,
        diagnosis=verdict.diagnosis.at(mature),
        mature=mature,
        completed=verdict.completed,
        goal_reached=None if verdict.goal is None else bool(verdict.goal),
        retrieval_intents=verdict.intents,
    )


def _used(one: Judged, semantics: Semantics) -> tuple[UsedAsset, ...]:
    ranks = one.verdict.ranks
    assets = consumed(one.verdict.evidence, semantics.standard)
    found = (UsedAsset(asset, ranks.get(asset)) for asset in assets)
    return tuple(sorted(found, key=lambda used: (used.rank is None, used.rank or 0, used.asset_id)))


class RagasSample(Struct, frozen=True, kw_only=True):
    """A `SingleTurnSample` of ragas, as far as ids go."""

    user_input: str
    retrieved_context_ids: tuple[str, ...]
    reference_context_ids: tuple[str, ...]


def ragas_sample(one: Exported) -> RagasSample | None:
    """The sample; None without a query, a list or a label, of a misrouted retrieval and of a page.

    The reference are the assets with a grade of 1 or more, the best first. ragas compares sets of ids: null
    elements of the list are left out.
    """
    unwanted = one.page_of is not None or one.retrieval_intents == 0
    if unwanted or one.query is None or one.returned_asset_ids is None or not one.labels:
        return None
    relevant = sorted((label for label in one.labels if label.grade >= 1), key=lambda label: -label.grade)
    return RagasSample(
        user_input=one.query,
        retrieved_context_ids=tuple(asset for asset in one.returned_asset_ids if asset is not None),
        reference_context_ids=tuple(label.asset_id for label in relevant),
    )
