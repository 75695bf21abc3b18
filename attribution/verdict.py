"""What is true of one retrieval (contract §3): the only place that says used or failed.

Rules:
- An offered action is `granted`, `refuted`, `dangling` or `excluded`; only a granted one is evidence.
- U is per definition. A and D share their verbs; A is what the agent took for the request's own answer,
  before that answer was shown. A reject is a failure whatever its reason, a correct is none.
- "Unobserved" and "pending" are not here: they are the absence of all this, and depend on the reader's time.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from attribution.definitions import Definition
from attribution.diagnosis import Diagnosis, diagnose, quality_of
from attribution.events import Retrieval, request_of, role_of
from attribution.ranking import Scores, scores
from attribution.semantics import ATTRIBUTION_HORIZON_MS, CLOCK_SKEW_MS, FAILURE_SIGNALS, Semantics
from attribution.statements import Act, Offer, Route

GRANTED: Final = "granted"
REFUTED: Final = "refuted"
DANGLING: Final = "dangling"

AGENT_EVIDENCE: Final = frozenset(
    {"select", "edit", "use", "generate", "place", "export", "share", "download"}
)
OUTCOME_VERBS: Final = frozenset({"export", "share", "download"})
CLICK: Final = "click"


def is_outcome(act: Act) -> bool:
    """Did a user take something away?"""
    return act.actor == "user" and act.verb in OUTCOME_VERBS


class Evidence(NamedTuple):
    """A granted action: what it consumed of the list, and what it is evidence of."""

    act: Act
    rule: str
    routes: tuple[Route, ...]
    kind: str  # "user", "agent" (A), "delegated" (D), "rejected", "corrected" or "other"


class Verdict(NamedTuple):
    """What is true of a retrieval, from all the evidence there is."""

    positive: Mapping[str, bool]
    agent_consumed: bool
    delegated: bool
    signals: tuple[str, ...]  # all that hold, the shadow one too
    failed: bool  # F: any of those that count
    corrected: bool
    ranks: Mapping[str, int]
    evidence: tuple[Evidence, ...]
    intents: int | None  # retrievals that its prompt needed, as labelled; 0: misrouted
    null: bool  # a null result of Layer 1
    scores: Scores | None
    diagnosis: Diagnosis
    completed: bool
    goal: int | None  # 1: reached, as labelled
    clicks: int

    @property
    def outcome(self) -> bool:
        """Did a user take something of it away?"""
        return any(is_outcome(one.act) for one in self.evidence)

    @property
    def ndcg_at_10(self) -> int | None:
        """In billionths; None without a relevant label."""
        return None if self.scores is None else self.scores.ndcg.get(10)

    def evidenced(self, definition: str) -> bool:
        """U ∪ A ∪ D ∪ F."""
        return self.positive[definition] or self.agent_consumed or self.delegated or self.failed


def grade(retrieval: Retrieval | None, offer: Offer) -> tuple[str, tuple[Route, ...]]:
    """Test an offered action where its claim stands: the grade, and the routes that hold."""
    if retrieval is None or absence(retrieval, offer.act.ts) is not None:
        return DANGLING, ()
    held = tuple(route for route in offer.routes if not _refutes(retrieval, route))
    return (GRANTED, held) if held else (REFUTED, ())


def absence(retrieval: Retrieval | None, ts: int) -> str | None:
    """Why this retrieval does not exist for a claim at `ts` (ms); None: it does."""
    if retrieval is None:
        return "never_logged"
    if retrieval.ts < ts - ATTRIBUTION_HORIZON_MS:
        return "too_old"
    return "later" if retrieval.ts > ts + CLOCK_SKEW_MS else None


def refusal(retrieval: Retrieval | None, offer: Offer) -> str | None:
    """Why an offered action is not granted; None: it is."""
    missing = absence(retrieval, offer.act.ts)
    if retrieval is None or missing is not None or grade(retrieval, offer)[0] == GRANTED:
        return missing
    return "not_in_list" if retrieval.returned_asset_ids else "empty_list"


def _refutes(retrieval: Retrieval, route: Route) -> bool:
    """Does the list, where known, exclude that the asset came from this retrieval?"""
    returned = retrieval.returned_asset_ids
    if returned is None or None in returned:
        return False
    if not returned:
        return True
    return bool(route.tested) and not any(asset in returned for asset in route.tested)


class Hints(NamedTuple):
    """What others say of a retrieval; times in ms."""

    by_need: tuple[int, ...] = ()
    by_words: tuple[int, ...] = ()
    reformulated: tuple[int, ...] = ()
    page_used_at: int | None = None
    substituted: bool = False
    intents: int | None = None
    goal: int | None = None
    grades: Mapping[str, int] = MappingProxyType({})


# Roles in which the assistant was to take something from the list itself.
TAKING_ROLES: Final = frozenset({"act_on", "generation_reference", "task_step"})


def judge(retrieval: Retrieval, evidence: Sequence[Evidence], hints: Hints, semantics: Semantics) -> Verdict:
    """The verdict on a standing retrieval."""
    users = [one.act.verb for one in evidence if one.act.actor == "user"]
    kinds = {one.kind for one in evidence}
    signals = _signals(retrieval, evidence, hints, semantics)
    failed = any(signal in semantics.failure_signals for signal in signals)
    positive = {definition.name: _any(definition, users) for definition in semantics.definitions}
    in_layer_one = retrieval.returned_asset_ids is not None and hints.intents != 0
    null = in_layer_one and not retrieval.returned_asset_ids and retrieval.page_of is None
    scores = _scores(retrieval, hints.grades, semantics) if in_layer_one else None
    used = positive["standard"] or "agent" in kinds or "delegated" in kinds
    return Verdict(
        positive=positive,
        agent_consumed="agent" in kinds,
        delegated="delegated" in kinds,
        signals=signals,
        failed=failed,
        corrected="corrected" in kinds,
        ranks=_ranks(retrieval, evidence, semantics.standard),
        evidence=tuple(evidence),
        intents=hints.intents,
        null=null,
        scores=scores,
        diagnosis=diagnose(
            _is_judgeable(retrieval, hints), _quality(retrieval, hints, null, scores), failed, used
        ),
        completed=any(_completes(retrieval, one, semantics) for one in evidence),
        goal=hints.goal,
        clicks=sum(one.act.actor == "user" and one.act.verb == CLICK for one in evidence),
    )


def _scores(retrieval: Retrieval, grades: Mapping[str, int], semantics: Semantics) -> Scores | None:
    """Pages have no scores."""
    if retrieval.page_of is not None or retrieval.returned_asset_ids is None:
        return None
    return scores(retrieval.returned_asset_ids, grades, linear=semantics.gain == "linear")


def _is_judgeable(retrieval: Retrieval, hints: Hints) -> bool:
    returned = retrieval.returned_asset_ids
    if hints.intents == 0 or retrieval.page_of is not None or returned is None:
        return False
    return not returned or any(asset is not None for asset in returned)


def _quality(retrieval: Retrieval, hints: Hints, null: bool, found: Scores | None) -> str | None:
    first = (retrieval.returned_asset_ids or ())[:10]
    labelled = any(asset in hints.grades for asset in first)
    without_relevant = found is not None and not found.ranked and labelled
    return quality_of(null, found.ndcg.get(10) if found is not None else None, without_relevant)


def _completes(retrieval: Retrieval, one: Evidence, semantics: Semantics) -> bool:
    return semantics.completes(role_of(retrieval), one.act.actor, one.act.verb)


def _signals(
    retrieval: Retrieval, evidence: Sequence[Evidence], hints: Hints, semantics: Semantics
) -> tuple[str, ...]:
    """The failure signals that hold, in the order of `FAILURE_SIGNALS`."""
    used = [used_at(evidence, semantics.standard), hints.page_used_at]
    first_use = min((ts for ts in used if ts is not None), default=None)
    window = range(retrieval.ts - CLOCK_SKEW_MS, retrieval.ts + ATTRIBUTION_HORIZON_MS + 1)
    again = [*hints.by_need, *(ts for ts in hints.reformulated if ts in window)]
    taking = role_of(retrieval) in TAKING_ROLES and bool(retrieval.returned_asset_ids)
    holds = {
        "rejected": any(one.kind == "rejected" for one in evidence),
        "researched": any(first_use is None or ts < first_use for ts in again),
        "substituted": taking and hints.substituted,
        "researched_inferred": any(first_use is None or ts < first_use for ts in hints.by_words),
    }
    return tuple(signal for signal in FAILURE_SIGNALS if holds[signal])


def used_at(evidence: Iterable[Evidence], standard: Definition) -> int | None:
    """When the retrieval was first used: U by `standard`, or A (ms)."""
    uses = (
        one.act.ts
        for one in evidence
        if one.kind == "agent" or (one.act.actor == "user" and standard.counts(one.act.verb))
    )
    return min(uses, default=None)


def _any(definition: Definition, verbs: Sequence[str]) -> bool:
    return any(definition.counts(verb) for verb in verbs)


def evidence_of(retrieval: Retrieval, offers: Iterable[Offer], shown_at: int | None) -> tuple[Evidence, ...]:
    """The offered actions that hold, in the order of their times."""
    return tuple(_evidence(retrieval, offers, shown_at))


def _evidence(retrieval: Retrieval, offers: Iterable[Offer], shown_at: int | None) -> Iterable[Evidence]:
    for offer in sorted(offers, key=lambda offer: (offer.act.ts, offer.act.id)):
        result, routes = grade(retrieval, offer)
        if result == GRANTED:
            yield Evidence(offer.act, offer.rule, routes, _kind(retrieval, offer.act, shown_at))


def _kind(retrieval: Retrieval, act: Act, shown_at: int | None) -> str:
    if act.actor == "user":
        return {"reject": "rejected", "correct": "corrected"}.get(act.verb, "user")
    if act.verb not in AGENT_EVIDENCE:
        return "other"
    in_time = shown_at is None or act.ts <= shown_at
    return "agent" if in_time and act.request_id == request_of(retrieval) else "delegated"


def _ranks(retrieval: Retrieval, evidence: Iterable[Evidence], standard: Definition) -> dict[str, int]:
    """Position (from 1) of each consumed asset in the logged list, else the smallest of its ancestors'."""
    if retrieval.returned_asset_ids is None:
        return {}
    first: dict[str, int] = {}
    for position, asset in enumerate(retrieval.returned_asset_ids, 1):
        if asset is not None:
            first.setdefault(asset, position)
    ranks = {
        asset: _rank(asset, ancestors, first) for asset, ancestors in consumed(evidence, standard).items()
    }
    return {asset: rank for asset, rank in ranks.items() if rank is not None}


def consumed(evidence: Iterable[Evidence], standard: Definition) -> dict[str, set[str]]:
    """Every asset with U by `standard`, A or D, in the order of their ids, with its ancestors."""
    found: dict[str, set[str]] = {}
    for one in evidence:
        if _consumes(one, standard):
            for route in one.routes:
                for asset in route.consumed[:1]:
                    found.setdefault(asset, set()).update(route.consumed[1:])
    return dict(sorted(found.items()))


def _consumes(evidence: Evidence, standard: Definition) -> bool:
    if evidence.act.actor == "user":
        return standard.counts(evidence.act.verb)
    return evidence.kind in ("agent", "delegated")


def _rank(asset: str, ancestors: Iterable[str], first: Mapping[str, int]) -> int | None:
    if asset in first:
        return first[asset]
    return min((first[ancestor] for ancestor in ancestors if ancestor in first), default=None)
