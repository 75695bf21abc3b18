"""What is true of one retrieval (contract §3): the only place that says used or failed.

Rules:
- An offered action is `granted`, `refuted`, `dangling` or `excluded`; only a granted one is evidence.
- U is per definition. A and D share their verbs; A is what the agent took for the request's own answer,
  before that answer was shown. A reject is a failure whatever its reason, a correct is none.
- "Unobserved" and "pending" are not here: they are the absence of all this, and depend on the reader's time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from attribution.definitions import Definition
from attribution.events import Retrieval, request_of
from attribution.semantics import ATTRIBUTION_HORIZON_MS, CLOCK_SKEW_MS, Semantics
from attribution.statements import Act, Offer, Route

GRANTED: Final = "granted"
REFUTED: Final = "refuted"
DANGLING: Final = "dangling"

AGENT_EVIDENCE: Final = frozenset(
    {"select", "edit", "use", "generate", "place", "export", "share", "download"}
)
OUTCOME_VERBS: Final = ("export", "share", "download")


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
    failure_signals: tuple[str, ...]
    corrected: bool
    ranks: Mapping[str, int]
    evidence: tuple[Evidence, ...]

    @property
    def failed(self) -> bool:
        """F: any observable failure."""
        return bool(self.failure_signals)

    def evidenced(self, definition: str) -> bool:
        """U ∪ A ∪ D ∪ F."""
        return self.positive[definition] or self.agent_consumed or self.delegated or self.failed


def grade(retrieval: Retrieval | None, offer: Offer) -> tuple[str, tuple[Route, ...]]:
    """Test an offered action where its claim stands: the grade, and the routes that hold."""
    if retrieval is None or not _exists(retrieval, offer.act.ts):
        return DANGLING, ()
    held = tuple(route for route in offer.routes if not _refutes(retrieval, route))
    return (GRANTED, held) if held else (REFUTED, ())


def _exists(retrieval: Retrieval, ts: int) -> bool:
    return ts - ATTRIBUTION_HORIZON_MS <= retrieval.ts <= ts + CLOCK_SKEW_MS


def _refutes(retrieval: Retrieval, route: Route) -> bool:
    """Does the list, where known, exclude that the asset came from this retrieval?"""
    returned = retrieval.returned_asset_ids
    if returned is None or None in returned:
        return False
    if not returned:
        return True
    return bool(route.tested) and not any(asset in returned for asset in route.tested)


def judge(
    retrieval: Retrieval, offers: Iterable[Offer], shown_at: int | None, semantics: Semantics
) -> Verdict:
    """The verdict on a standing retrieval, from the actions offered to it."""
    evidence = tuple(_evidence(retrieval, offers, shown_at))
    users = [one.act.verb for one in evidence if one.act.actor == "user"]
    kinds = {one.kind for one in evidence}
    return Verdict(
        positive={definition.name: _any(definition, users) for definition in semantics.definitions},
        agent_consumed="agent" in kinds,
        delegated="delegated" in kinds,
        failure_signals=("rejected",) if "rejected" in kinds else (),
        corrected="corrected" in kinds,
        ranks=_ranks(retrieval, evidence, semantics.standard),
        evidence=evidence,
    )


def _any(definition: Definition, verbs: Sequence[str]) -> bool:
    return any(definition.counts(verb) for verb in verbs)


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
    consumed: dict[str, set[str]] = {}
    for one in evidence:
        if _consumes(one, standard):
            for route in one.routes:
                for asset in route.consumed[:1]:
                    consumed.setdefault(asset, set()).update(route.consumed[1:])
    ranks = {asset: _rank(asset, ancestors, first) for asset, ancestors in sorted(consumed.items())}
    return {asset: rank for asset, rank in ranks.items() if rank is not None}


def _consumes(evidence: Evidence, standard: Definition) -> bool:
    if evidence.act.actor == "user":
        return standard.counts(evidence.act.verb)
    return evidence.kind in ("agent", "delegated")


def _rank(asset: str, ancestors: Iterable[str], first: Mapping[str, int]) -> int | None:
    if asset in first:
        return first[asset]
    return min((first[ancestor] for ancestor in ancestors if ancestor in first), default=None)
