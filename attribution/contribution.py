"""What one entity adds to the counters of a minute: the only place where anything is counted.

Rules:
- A counter is one text, `name|label|label`; its labels come from closed vocabularies and hold no `|`.
- A contribution is a pure function of the entity. When an entity changes, the difference between its
  contributions before and after goes to the buckets; a batch run sums the same function.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from attribution.events import ROLES, Retrieval, role_of
from attribution.semantics import Semantics, minute_of
from attribution.statements import Act
from attribution.verdict import OUTCOME_VERBS, Verdict

Counter: TypeAlias = str
Contribution: TypeAlias = Mapping[tuple[int, Counter], int]  # (minute, counter) -> how many

RESOLUTIONS: Final = (
    "explicit",
    "inherited",
    "document",
    "request",
    "inferred",
    "none",
    "refuted",
    "dangling",
)
FAILURE_SIGNALS: Final = ("rejected",)
LINEAGE_FIELDS: Final = (
    "returned_asset_ids",
    "role",
    "request_id",
    "consumed_asset_id",
    "source_retrieval_id",
)
# Resolutions by which lineage itself, not a guess, names the retrieval (rules 1 to 3).
BY_LINEAGE: Final = frozenset({"explicit", "inherited", "document"})


def counter(name: str, *labels: str) -> Counter:
    """The text of a counter."""
    return "|".join((name, *labels))


def retrieval_contribution(retrieval: Retrieval, verdict: Verdict, semantics: Semantics) -> Contribution:
    """The counters of one retrieval that is in the figures, in the minute it fired."""
    minute = minute_of(retrieval.ts)
    labels = (role_of(retrieval), semantics.surface(retrieval.surface))
    counts = {counter(name, *labels): 1 for name in _retrieval_facts(retrieval, verdict)}
    for definition in semantics.definitions:
        if verdict.positive[definition.name]:
            counts[counter("retrievals_positive", definition.name, *labels)] = 1
        if verdict.evidenced(definition.name):
            counts[counter("retrievals_evidenced", definition.name, *labels)] = 1
    for signal in verdict.failure_signals:
        counts[counter("retrievals_failed_by_signal", signal, *labels)] = 1
    if verdict.ranks:
        counts[counter("consumed_assets", *labels)] = len(verdict.ranks)
        counts[counter("consumed_rank_sum", *labels)] = sum(verdict.ranks.values())
    counts.update(_lineage_of_retrieval(retrieval))
    return {(minute, name): count for name, count in counts.items()}


def _retrieval_facts(retrieval: Retrieval, verdict: Verdict) -> Iterable[str]:
    """The counters that this retrieval is one of, beside those per definition and signal."""
    returned = retrieval.returned_asset_ids
    confirmed = verdict.agent_consumed and verdict.positive["standard"]
    facts = {
        "retrievals": True,
        "retrievals_agent_consumed": verdict.agent_consumed,
        "retrievals_delegated": verdict.delegated,
        "retrievals_failed": verdict.failed,
        "retrievals_corrected": verdict.corrected,
        "retrievals_agent_use_confirmed": confirmed,
        "retrievals_without_list": returned is None,
        "layer1_retrievals": returned is not None,
        "retrievals_null": returned == () and retrieval.page_of is None,
    }
    return [name for name, holds in facts.items() if holds]


def _lineage_of_retrieval(retrieval: Retrieval) -> dict[Counter, int]:
    logged = {
        "returned_asset_ids": retrieval.returned_asset_ids is not None,
        "role": retrieval.role in ROLES,
        "request_id": retrieval.request_id is not None,
    }
    return _lineage(logged)


def _lineage(logged: Mapping[str, bool]) -> dict[Counter, int]:
    expected = {counter("lineage_expected", field): 1 for field in logged}
    return expected | {counter("lineage_logged", field): 1 for field, there in logged.items() if there}


def action_contribution(act: Act, resolution: str, cross_session: bool, semantics: Semantics) -> Contribution:
    """The counters of one resolved action, in the minute it happened."""
    counts = {counter("actions", resolution): 1}
    if act.actor == "user" and act.verb in OUTCOME_VERBS:
        labels = (semantics.surface(act.surface), act.verb)
        counts[counter("outcomes", *labels)] = 1
        if resolution in CREDITING:
            counts[counter("attributed_outcomes", *labels)] = 1
        if cross_session:
            counts[counter("cross_session_outcomes", *labels)] = 1
    logged = {"consumed_asset_id": act.asset_id is not None}
    if act.asset_id is not None or act.placement_id is not None or act.document_id is not None:
        logged["source_retrieval_id"] = resolution in BY_LINEAGE
    counts.update(_lineage(logged))
    minute = minute_of(act.ts)
    return {(minute, name): count for name, count in counts.items()}


# A resolution is one of these only if it credits a retrieval.
CREDITING: Final = BY_LINEAGE | {"request", "inferred"}


def difference(before: Contribution, after: Contribution) -> dict[tuple[int, Counter], int]:
    """after − before, without zeros."""
    changed = {key: count - before.get(key, 0) for key, count in after.items()}
    changed.update({key: -count for key, count in before.items() if key not in after})
    return {key: delta for key, delta in changed.items() if delta}
