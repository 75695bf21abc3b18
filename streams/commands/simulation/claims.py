"""Scenes of actions that name their retrieval, or their request, or nothing: rules 1, 4 and 6."""

from .acts import explicit, pick, take
from .books import Meaning
from .cast import Turn, Visit
from .stage import Stage


def silence(stage: Stage, visit: Visit, turn: Turn) -> None:
    """Nothing happens."""


def claimed(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A user action names retrieval and asset."""
    found = pick(stage, turn)
    asset = take(stage, found)
    stage.go_on(visit)
    unlisted = "without a list" if found.assets is None else "under a null element"
    way = "in the list" if asset in found.listed else unlisted
    request = stage.rng.choice((turn.request, None))
    stage.user(visit, explicit(found.credit(asset), way), asset=asset, claim=found.id, request=request)


def claimed_bare(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A user action names its retrieval, and no asset."""
    found = pick(stage, turn)
    stage.go_on(visit)
    stage.user(visit, explicit(found.credit(""), "without asset"), claim=found.id)


def requested(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A user action names asset and request: every retrieval of it that returned the asset is credited."""
    asset = shared_asset(turn) or take(stage, pick(stage, turn))
    meaning = by_request(turn, asset)
    stage.go_on(visit)
    document = stage.new_id("d") if stage.chance(0.2) else None
    stage.user(visit, meaning, asset=asset, request=turn.request, document=document)


def shared_asset(turn: Turn) -> str | None:
    """An asset that several retrievals of the request returned."""
    return next((a for found in turn.found for a in found.listed if len(turn.holders(a)) > 1), None)


def by_request(turn: Turn, asset: str, grade: str = "") -> Meaning:
    """What asset and request mean: the retrievals of the request that returned the asset."""
    holders = turn.holders(asset)
    if not holders:
        return Meaning("none", "asset in no list of the request")
    return Meaning("request", "", tuple(found.credit(asset) for found in holders), grade)
