"""Which retrieval an action belongs to, as far as a document knows (contract §2, rules 1 to 3).

Rules:
- For an action at `t` only placements whose first `place` lies in [t − 30 d, t] exist.
- Asset, source and ancestor of a placement are those of its first `place` record; whether it is live at
  `t` is said by its newest record at or before `t`.
- A source is followed from copy to original and from derived asset to ancestor, at most 16 steps.
- Nothing here knows a retrieval: the result is a set of routes, and the retrieval tests the claim.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from attribution.events import Placement, standing_order
from attribution.semantics import ATTRIBUTION_HORIZON_MS
from attribution.statements import Act, Decision, Placed, Route

MAXIMUM_STEPS: Final = 16
DOCUMENT_VERBS: Final = frozenset({"export", "share", "download"})
PLACE: Final = "place"
# At one instant a removal comes after a placing.
_OPERATION_ORDER: Final = {PLACE: 0, "remove": 1}


class Lineage(NamedTuple):
    """One placement: its first `place` record, and its history as (ts, operation order, digest)."""

    first: Placement
    history: tuple[tuple[int, int, bytes], ...]

    @property
    def order(self) -> tuple[int, bytes]:
        """The latest of several placements has the greatest of these."""
        return (self.first.ts, self.first.placement_id.encode())

    def live(self, ts: int) -> bool:
        """Was the newest record at or before `ts` a `place`?"""
        newest = max((record for record in self.history if record[0] <= ts), default=None)
        return newest is not None and newest[1] == _OPERATION_ORDER[PLACE]


# How the search for a source ends: at a claim; at a placement whose original is not there, that names no
# source, or whose ancestor was never placed; in a circle; after too many steps.
CLAIMED: Final = "claimed"
UNKNOWN_ORIGINAL: Final = "unknown_original"
NO_SOURCE: Final = "no_source"
NO_ANCESTOR: Final = "no_ancestor"
CYCLE: Final = "cycle"
TOO_LONG: Final = "too_long"


class Source(NamedTuple):
    """Where a placement's asset came from: the placements from the asked one on, and how that way ends."""

    path: tuple[Lineage, ...]
    ending: str

    @property
    def claim(self) -> str | None:
        """The retrieval that the last placement claims, if that is how the way ends."""
        return self.path[-1].first.source_retrieval_id if self.ending == CLAIMED else None

    @property
    def dangling(self) -> bool:
        """Was a source named in vain?"""
        return self.ending == UNKNOWN_ORIGINAL


class World:
    """The placements of one document that exist for an action at `ts` (milliseconds)."""

    def __init__(self, lineages: Mapping[str, Lineage], ts: int) -> None:
        self.ts = ts
        self.placements = {
            placement_id: lineage
            for placement_id, lineage in lineages.items()
            if ts - ATTRIBUTION_HORIZON_MS <= lineage.first.ts <= ts
        }

    def ancestors(self, asset_id: str) -> tuple[str, ...]:
        """The asset, then all it was derived from, over any number of steps."""
        found = [asset_id]
        for asset in found:
            for lineage in self.placements.values():
                parent = lineage.first.derived_from_asset_id
                if lineage.first.asset_id == asset and parent is not None and parent not in found:
                    found.append(parent)
        return (asset_id, *sorted(found[1:]))

    def latest_live(self, asset_id: str) -> Lineage | None:
        """The latest live placement of an asset."""
        live = [one for one in self.live() if one.first.asset_id == asset_id]
        return max(live, key=lambda lineage: lineage.order, default=None)

    def live(self) -> list[Lineage]:
        """All live placements, in their order."""
        live = [lineage for lineage in self.placements.values() if lineage.live(self.ts)]
        return sorted(live, key=lambda lineage: lineage.order)

    def source(self, placement: Lineage) -> Source:
        """Follow a placement to the claim it inherits."""
        path = [placement]
        while True:
            record = path[-1].first
            if record.source_retrieval_id is not None:
                return Source(tuple(path), CLAIMED)
            if len(path) > MAXIMUM_STEPS:
                return Source(tuple(path), TOO_LONG)
            origin = self._origin(path[-1])
            if origin is None:
                return Source(tuple(path), _without_origin(record))
            if origin in path:
                return Source(tuple(path), CYCLE)
            path.append(origin)

    def _origin(self, placement: Lineage) -> Lineage | None:
        record = placement.first
        if record.source_placement_id is not None:
            return self.placements.get(record.source_placement_id)
        if record.derived_from_asset_id is None:
            return None
        earlier = [
            lineage
            for lineage in self.placements.values()
            if lineage.first.asset_id == record.derived_from_asset_id and lineage.first.ts <= record.ts
        ]
        return max(earlier, key=lambda lineage: lineage.order, default=None)


def _without_origin(record: Placement) -> str:
    if record.source_placement_id is not None:
        return UNKNOWN_ORIGINAL
    return NO_SOURCE if record.derived_from_asset_id is None else NO_ANCESTOR


def placements_of(
    placed: Iterable[Placed], excluded_retrievals: frozenset[str]
) -> tuple[dict[str, Lineage], dict[str, Placement]]:
    """The placements of a document by id, and apart the first records of those that are excluded.

    A placement is excluded with its first `place`: if that is synthetic, claims an excluded retrieval, or
    copies an excluded placement. An excluded later record is only left out of the history.
    """
    records: dict[str, list[Placed]] = {}
    for one in placed:
        records.setdefault(one.record.placement_id, []).append(one)
    first = {key: place for key, history in records.items() if (place := _first_place(history)) is not None}
    excluded = _excluded(first, excluded_retrievals)
    kept = {
        key: Lineage(place.record, _history(records[key], excluded, excluded_retrievals))
        for key, place in first.items()
        if key not in excluded
    }
    return kept, {key: first[key].record for key in sorted(excluded)}


def _first_place(history: Iterable[Placed]) -> Placed | None:
    places = [one for one in history if (one.record.op or PLACE) == PLACE]
    return min(places, key=lambda one: standing_order(one.record), default=None)


def _excluded(first: Mapping[str, Placed], retrievals: frozenset[str]) -> frozenset[str]:
    excluded: frozenset[str] = frozenset()
    while True:
        grown = frozenset(key for key, one in first.items() if _is_excluded(one, excluded, retrievals))
        if grown == excluded:
            return excluded
        excluded = grown


def _is_excluded(one: Placed, placements: frozenset[str], retrievals: frozenset[str]) -> bool:
    return exclusion_of(one, placements, retrievals) is not None


def exclusion_of(one: Placed, placements: Collection[str], retrievals: Collection[str]) -> str | None:
    """What excludes a record: `itself` (or its request), or the excluded `retrieval` or `copy` it names."""
    if one.excluded:
        return "itself"
    if one.record.source_retrieval_id in retrievals:
        return "retrieval"
    return "copy" if one.record.source_placement_id in placements else None


def _history(
    records: Iterable[Placed], placements: frozenset[str], retrievals: frozenset[str]
) -> tuple[tuple[int, int, bytes], ...]:
    kept = (one.record for one in records if not _is_excluded(one, placements, retrievals))
    return tuple(sorted((one.ts, _OPERATION_ORDER[one.op or PLACE], one.digest) for one in kept))


class Resolution(NamedTuple):
    """What a document says of one action: the decision (None: not mine to decide), and where to offer it."""

    decision: Decision | None
    routes: Mapping[str, tuple[Route, ...]]


def undecided() -> Resolution:
    """No rule of the document applies: the action's request may decide."""
    return Resolution(None, {})


def decided(rule: str) -> Resolution:
    """A decision that credits nothing: `none`, `dangling` or `excluded`."""
    return Resolution(Decision(rule), {})


def resolve(act: Act, placements: Mapping[str, Lineage]) -> Resolution:
    """Apply rules 1 to 3 to an action of a document with these placements."""
    world = World(placements, act.ts)
    if act.claim is not None:
        assets = world.ancestors(act.asset_id) if act.asset_id is not None else ()
        return _offered("explicit", {act.claim: (Route(assets, assets),)})
    if act.placement_id is not None or act.asset_id is not None:
        placement, failing = placement_for(world, act)
        return _FAILED[failing] if placement is None or failing else _inherited(world, placement)
    return _by_document(world) if act.verb in DOCUMENT_VERBS else decided("none")


def resolve_placing(act: Act, placement: Lineage, placements: Mapping[str, Lineage]) -> Resolution:
    """The action `place` of a placement's first record, resolved through the placement itself."""
    return _inherited(World(placements, act.ts), placement)


UNKNOWN: Final = "unknown_placement"
OTHER_ASSET: Final = "other_asset"
NOT_LIVE: Final = "not_live"
NONE_LIVE: Final = "none_live"
_FAILED: Final = {
    UNKNOWN: decided("dangling"),
    OTHER_ASSET: decided("none"),
    NOT_LIVE: decided("none"),
    NONE_LIVE: undecided(),
}


def placement_for(world: World, act: Act) -> tuple[Lineage | None, str]:
    """Rule 2: the placement that an action names, or whose asset; and why it is not that one ("": it is)."""
    if act.placement_id is None:
        latest = world.latest_live(act.asset_id or "")
        return latest, "" if latest is not None else NONE_LIVE
    placement = world.placements.get(act.placement_id)
    if placement is None:
        return None, UNKNOWN
    if act.asset_id is not None and act.asset_id != placement.first.asset_id:
        return placement, OTHER_ASSET
    return placement, "" if placement.live(act.ts) else NOT_LIVE


def _inherited(world: World, placement: Lineage) -> Resolution:
    source = world.source(placement)
    if source.claim is None:
        return decided("dangling" if source.dangling else "none")
    route = _route(world, source, placement.first.asset_id)
    return _offered("inherited", {source.claim: (route,)})


def _by_document(world: World) -> Resolution:
    routes: dict[str, tuple[Route, ...]] = {}
    dangling = False
    for placement in world.live():
        source = world.source(placement)
        dangling |= source.dangling
        if source.claim is not None:
            route = _route(world, source, placement.first.asset_id)
            routes[source.claim] = (*routes.get(source.claim, ()), route)
    if not routes:
        return decided("dangling" if dangling else "none")
    return _offered("document", routes, dangling)


def _route(world: World, source: Source, asset_id: str) -> Route:
    tested = world.ancestors(source.path[-1].first.asset_id)
    path = tuple(placement.first.placement_id for placement in source.path)
    return Route(tested, world.ancestors(asset_id), path)


def _offered(rule: str, routes: dict[str, tuple[Route, ...]], dangling: bool = False) -> Resolution:
    return Resolution(Decision(rule, tuple(sorted(routes)), dangling), routes)
