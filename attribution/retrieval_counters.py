"""What one retrieval adds to the counters of the minute it fired (contract §5, by role and surface)."""

from collections.abc import Iterable

from attribution.contribution import Contribution, Counter, counter, lineage_counters
from attribution.diagnosis import JUDGED, PENDING
from attribution.events import ROLES, Retrieval, role_of
from attribution.semantics import Semantics, minute_of
from attribution.statements import whole
from attribution.verdict import Verdict


def retrieval_contribution(retrieval: Retrieval, verdict: Verdict, semantics: Semantics) -> Contribution:
    """The counters of one retrieval that is in the figures."""
    minute = minute_of(retrieval.ts)
    labels = (role_of(retrieval), semantics.surface(retrieval.surface))
    counts = {counter(name, *labels): 1 for name in _facts(retrieval, verdict)}
    for row, amount in _amounts(retrieval, verdict).items():
        if amount:
            counts["|".join((row, *labels))] = amount
    for definition in semantics.definitions:
        if verdict.positive[definition.name]:
            counts[counter("retrievals_positive", definition.name, *labels)] = 1
        if verdict.evidenced(definition.name):
            counts[counter("retrievals_evidenced", definition.name, *labels)] = 1
    counts.update(_lineage(retrieval))
    return {(minute, name): count for name, count in counts.items()}


def _facts(retrieval: Retrieval, verdict: Verdict) -> Iterable[str]:
    """The counters that this retrieval is one of."""
    returned = retrieval.returned_asset_ids
    misrouted, scores = verdict.intents == 0, verdict.scores
    facts = {
        "retrievals": True,
        "retrievals_agent_consumed": verdict.agent_consumed,
        "retrievals_delegated": verdict.delegated,
        "retrievals_failed": verdict.failed,
        "retrievals_corrected": verdict.corrected,
        "retrievals_agent_use_confirmed": verdict.agent_consumed and verdict.positive["standard"],
        "retrievals_without_list": returned is None,
        "routing_labelled_retrievals": verdict.intents is not None,
        "misrouted_retrievals": misrouted,
        "layer1_retrievals": returned is not None and not misrouted,
        "retrievals_null": verdict.null,
        "judged_retrievals": scores is not None,
        "ranked_retrievals": scores is not None and scores.ranked,
        "judged_without_relevant": scores is not None and not scores.ranked,
        "completed_retrievals": verdict.completed,
        "goal_labelled_retrievals": verdict.goal is not None,
        "goals_reached": verdict.goal == 1,
        "grids": bool(returned),
        "grids_clicked": bool(returned) and verdict.clicks > 0,
    }
    return [name for name, holds in facts.items() if holds]


def _amounts(retrieval: Retrieval, verdict: Verdict) -> dict[Counter, int]:
    """Counters by their own labels that may be more than 1: signals, ranks, clicks, scores, diagnosis."""
    amounts = {counter("retrievals_failed_by_signal", signal): 1 for signal in verdict.signals}
    amounts["consumed_assets"] = len(verdict.ranks)
    amounts["consumed_rank_sum"] = sum(verdict.ranks.values())
    amounts["clicks"] = verdict.clicks if retrieval.returned_asset_ids else 0
    amounts.update(_spent(retrieval, verdict))
    amounts.update(_scores(verdict))
    amounts.update(_diagnosis(verdict))
    return amounts


def _spent(retrieval: Retrieval, verdict: Verdict) -> dict[Counter, int]:
    """Latency and tokens, where logged: of the retrieval, of actions credited to it, of a completed task."""
    acts = [one.act for one in verdict.evidence]
    logged = {
        ("latency_ms", "retrieval"): [whole(retrieval.latency_ms)],
        ("tokens", "retrieval"): [whole(retrieval.tokens)],
        ("latency_ms", "action"): [act.latency_ms for act in acts],
        ("tokens", "action"): [act.tokens for act in acts],
    }
    amounts: dict[Counter, int] = {}
    for (what, stage), values in logged.items():
        known = [value for value in values if value is not None]
        amounts[counter(f"{what}_sum", stage)] = sum(known)
        amounts[counter(f"{what}_logged", stage)] = len(known)
        if verdict.completed and known:
            done = f"completed_{what}_sum"
            amounts[done] = amounts.get(done, 0) + sum(known)
            amounts[f"completed_{what}_logged"] = 1
    return amounts


def _scores(verdict: Verdict) -> dict[Counter, int]:
    scores = verdict.scores
    if scores is None:
        return {}
    cuts = {
        "precision_sum": scores.precision,
        "judged_coverage_sum": scores.coverage,
        "recall_sum": scores.recall,
        "ndcg_sum": scores.ndcg,
    }
    found = {counter(name, str(k)): value for name, by_cut in cuts.items() for k, value in by_cut.items()}
    return found | {"reciprocal_rank_sum": scores.reciprocal_rank or 0}


def _diagnosis(verdict: Verdict) -> dict[Counter, int]:
    """A quiet retrieval is pending while it is young: the reader says which of the two counters holds."""
    name, quiet = verdict.diagnosis
    judged = name in JUDGED
    if not quiet:
        return {counter("diagnosis", name): 1, "diagnosis_judged": int(judged)}
    return {
        counter("diagnosis_quiet", name): 1,
        "diagnosis_quiet_judged": int(judged),
        counter("diagnosis_young", PENDING): 1,
    }


def _lineage(retrieval: Retrieval) -> dict[Counter, int]:
    logged = {
        "returned_asset_ids": retrieval.returned_asset_ids is not None,
        "role": retrieval.role in ROLES,
        "request_id": retrieval.request_id is not None,
    }
    return lineage_counters(logged)
