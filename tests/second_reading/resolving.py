"""4. Resolve: which retrievals an action belongs to (contract, section 2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.second_reading.rules import HORIZON, INFERENCE_WITHIN, MAX_STEPS, OUTCOMES, SKEW, Rules
from tests.second_reading.world import Act, Placement, World


@dataclass(frozen=True)
class Resolution:
    """How an action was resolved, and what it credits: retrieval id → assets consumed from it."""

    name: str
    credits: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """Where a claim or a placement leads: `ok` with a retrieval, or `refuted`, `dangling`, `none`."""

    verdict: str
    retrieval_id: str | None = None


NOWHERE = Source("none")


def resolve(act: Act, world: World, rules: Rules) -> Resolution:
    """The first rule that applies decides."""
    if act.placed is not None:
        return resolve_by_source(source_of(act.placed, act.ts, world), act.placed)
    if act.record["source_retrieval_id"] is not None:
        return resolve_claim(act, world)
    if act.record["placement_id"] is not None:
        return resolve_by_placement_id(act, world)
    if act.document is not None and act.asset is not None:
        live = [p for p in world.placements(act.document, act.ts) if p.is_live(act.ts)]
        placement = world.latest(p for p in live if p.asset == act.asset)
        if placement is not None:
            return resolve_by_source(source_of(placement, act.ts, world), placement)
    if act.document is not None and act.asset is None and act.verb in OUTCOMES:
        return resolve_document(act, world)
    resolution = resolve_request(act, world)
    inferred = inferred_for(act, world)
    if not resolution.credits and inferred is not None and rules.inference == "credit":
        return Resolution("inferred", {inferred: {act.asset}})
    return resolution


def resolve_claim(act: Act, world: World) -> Resolution:
    """Rule 1."""
    source = tried_claim(act.record["source_retrieval_id"], act.asset, act.document, act.ts, world)
    if source.verdict != "ok":
        return Resolution(source.verdict)
    return Resolution("explicit", {source.retrieval_id: set() if act.asset is None else {act.asset}})


def tried_claim(retrieval_id: str, asset: str | None, document: str | None, t: int, world: World) -> Source:
    """A claim is tested where it stands, for an action at t."""
    retrieval = world.retrievals.get(retrieval_id)
    if retrieval is None or not t - HORIZON <= retrieval.ts <= t + SKEW:
        return Source("dangling")
    returned = retrieval["returned_asset_ids"]
    if returned is None:
        return Source("ok", retrieval_id)
    if returned == []:
        return Source("refuted")
    if asset is None or None in returned or asset in returned:
        return Source("ok", retrieval_id)
    if world.ancestors(asset, document, t) & set(returned):
        return Source("ok", retrieval_id)
    return Source("refuted")


def source_of(placement: Placement, t: int, world: World) -> Source:
    """The source of a placement, for an action at t: its own claim, else what it was copied or made from."""
    passed: list[Placement] = []
    while True:
        first = placement.first
        if first["source_retrieval_id"] is not None:
            return tried_claim(first["source_retrieval_id"], placement.asset, placement.document, t, world)
        passed.append(placement)
        if len(passed) > MAX_STEPS:
            return NOWHERE
        if first["source_placement_id"] is not None:
            origin = world.placement(placement.document, first["source_placement_id"], t)
            if origin is None:
                return Source("dangling")
        else:
            older = [p for p in world.placements(placement.document, t) if p.first.ts <= first.ts]
            origin = world.latest(p for p in older if p.asset == first["derived_from_asset_id"])
        if origin is None or origin in passed:
            return NOWHERE
        placement = origin


def resolve_by_source(source: Source, placement: Placement) -> Resolution:
    """Rule 2, once the placement is found."""
    if source.verdict != "ok":
        return Resolution(source.verdict)
    return Resolution("inherited", {source.retrieval_id: {placement.asset}})


def resolve_by_placement_id(act: Act, world: World) -> Resolution:
    """Rule 2 with a placement_id, which decides whatever it finds."""
    placement = world.placement(act.document, act.record["placement_id"], act.ts)
    if placement is None:
        return Resolution("dangling")
    if not placement.is_live(act.ts) or act.asset not in (None, placement.asset):
        return Resolution("none")
    return resolve_by_source(source_of(placement, act.ts, world), placement)


def resolve_document(act: Act, world: World) -> Resolution:
    """Rule 3: everything that is live in the document."""
    credited: dict[str, set[str]] = defaultdict(set)
    verdicts = set()
    for placement in world.placements(act.document, act.ts):
        if placement.is_live(act.ts):
            source = source_of(placement, act.ts, world)
            verdicts.add(source.verdict)
            if source.verdict == "ok":
                credited[source.retrieval_id].add(placement.asset)
    if credited:
        return Resolution("document", dict(credited))
    return Resolution(next((v for v in ("refuted", "dangling") if v in verdicts), "none"))


def resolve_request(act: Act, world: World) -> Resolution:
    """Rule 4: every list of the same request that holds the asset itself; else nothing, so far."""
    request = act.record["request_id"]
    if request is None or act.asset is None:
        return Resolution("none")
    credited = {
        r.identity: {act.asset}
        for r in world.of_request[request]
        if act.ts - HORIZON <= r.ts <= act.ts and act.asset in (r["returned_asset_ids"] or [])
    }
    return Resolution("request", credited) if credited else Resolution("none")


def inferred_for(act: Act, world: World) -> str | None:
    """Rule 5: the latest list of the same session, not half an hour old, that holds the asset itself."""
    session, user = act.record["session_guid"], act.record["user_id"]
    if session is None or act.asset is None:
        return None
    seen = [
        r
        for r in world.in_session[session]
        if act.ts - INFERENCE_WITHIN <= r.ts <= act.ts
        and act.asset in (r["returned_asset_ids"] or [])
        and (user is None or r["user_id"] in (None, user))
    ]
    latest = max(seen, key=lambda r: (r.ts, r.identity.encode()), default=None)
    return None if latest is None else latest.identity


def is_cross_session(act: Act, resolution: Resolution, world: World) -> bool:
    session = act.record["session_guid"]
    return session is not None and any(
        world.retrievals[r]["session_guid"] != session for r in resolution.credits
    )


Resolved = Sequence[tuple[Act, Resolution]]


def attributions_of(acts: Sequence[Act], resolved: Resolved, world: World) -> dict[str, dict[str, Any]]:
    nothing = {"resolution": "excluded", "retrieval_ids": [], "cross_session": False}
    attributions = {act.id: dict(nothing) for act in acts}
    for act, resolution in resolved:
        attributions[act.id] = {
            "resolution": resolution.name,
            "retrieval_ids": sorted(resolution.credits),
            "cross_session": is_cross_session(act, resolution, world),
        }
    return attributions
