"""The document: its placements and the actions on it, which it resolves by rules 1 to 3."""

from collections.abc import Mapping
from typing import cast

import msgspec

from attribution.entities import Entity, key_of, split_key
from attribution.events import Placement, placing_id
from attribution.inference import left_open, seen
from attribution.lineage import Lineage, Resolution, World, decided, placements_of, resolve, resolve_placing
from attribution.semantics import Semantics
from attribution.statements import Act, Address, Content, Offer, Placed


def placed_in(entity: Entity) -> list[Placed]:
    """Every standing placement record of the document."""
    return [cast(Placed, content) for _, _, content in entity.heard("placement")]


def placements_in(entity: Entity) -> tuple[dict[str, Lineage], dict[str, Placement]]:
    """As `placements_of`: the document's placements, and the first records of those that are excluded."""
    return placements_of(placed_in(entity), excluded_retrievals(entity))


def excluded_retrievals(entity: Entity) -> frozenset[str]:
    """The retrievals, of those its placements claim, that are synthetic."""
    return frozenset(split_key(sender)[1] for sender, _, _ in entity.heard("retrieval_excluded"))


def speak_document(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """For every action: the decision, and the offers to retrievals; or the action itself to its request."""
    placements, excluded = placements_in(entity)
    said: dict[Address, Content] = {}
    for _, _, content in entity.heard("act"):
        act = cast(Act, content)
        resolution = decided("excluded") if act.placement_id in excluded else resolve(act, placements)
        said.update(_statements(act, resolution, False, placements, semantics))
    for lineage in placements.values():
        if (act_of_placing := placing_of(lineage.first)) is not None:
            placed_through_itself = resolve_placing(act_of_placing, lineage, placements)
            said.update(_statements(act_of_placing, placed_through_itself, True, placements, semantics))
            said.update(seen(act_of_placing, placing=True))
    for first in excluded.values():
        if (act_of_placing := placing_of(first)) is not None:
            said.update(_statements(act_of_placing, decided("excluded"), True, placements, semantics))
    return said


def placing_of(first: Placement) -> Act | None:
    """The action `place` of a placement whose first record names an actor."""
    if first.actor is None:
        return None
    return Act(
        id=placing_id(first),
        ts=first.ts,
        actor=first.actor,
        verb="place",
        session_guid=first.session_guid,
        surface=first.surface,
        request_id=first.request_id,
        asset_id=first.asset_id,
        document_id=first.document_id,
        placement_id=first.placement_id,
        user_id=first.user_id,
    )


def _statements(
    act: Act, resolution: Resolution, placing: bool, placements: Mapping[str, Lineage], semantics: Semantics
) -> dict[Address, Content]:
    decision, asset = resolution.decision, act.asset_id
    ancestors = World(placements, act.ts).ancestors(asset)[1:] if asset is not None else ()
    act = msgspec.structs.replace(act, ancestors=ancestors)
    if decision is None and act.request_id is not None:
        return {Address(key_of("request", act.request_id), "act", act.id): act}
    if decision is None:
        return left_open(act, semantics)
    decision = msgspec.structs.replace(decision, act=act if placing else None, ancestors=ancestors)
    said: dict[Address, Content] = {Address(key_of("action", act.id), "decision", act.id): decision}
    for retrieval_id, routes in resolution.routes.items():
        address = Address(key_of("retrieval", retrieval_id), "offer", act.id)
        said[address] = Offer(act, decision.rule, routes)
    return said
