"""The request: one user turn, the retrievals it fired and the actions that name it.

Three layers. `prompt` is home to prompts and says to all that name the request whether it is excluded.
`turn` knows the request's retrievals and applies rule 4; it tells retrievals when their answer was shown.
`use` knows what became of the request's actions, and tells a retrieval that it was passed over.
"""

from collections.abc import Collection
from typing import Final, cast

from attribution.contribution import Contribution, prompt_contribution
from attribution.entities import Entity, key_of, split_key
from attribution.events import Prompt
from attribution.exclusion import excluded_by_itself
from attribution.inference import left_open
from attribution.labels import best, labels_of
from attribution.semantics import ATTRIBUTION_HORIZON_MS, Semantics
from attribution.statements import (
    Act,
    Acted,
    Address,
    Content,
    Decision,
    Excluded,
    Goal,
    Lists,
    Logged,
    Offer,
    Route,
    Routed,
    Shown,
    Substituted,
)

EXCLUDED: Final = Excluded()


def is_excluded(entity: Entity, semantics: Semantics) -> bool:
    """Is the standing prompt synthetic?"""
    prompt = entity.standing
    return prompt is not None and excluded_by_itself(prompt, semantics.exclusion)


def speak_prompt(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """An excluded request says so to every event that names it."""
    if not is_excluded(entity, semantics):
        return {}
    return {Address(sender, "request_excluded", sender): EXCLUDED for sender, _, _ in entity.heard("named")}


def records_of(entity: Entity) -> dict[str, Logged]:
    """The standing retrievals of the request, by id."""
    return {split_key(sender)[1]: cast(Logged, content) for sender, _, content in entity.heard("record")}


def speak_turn(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """Offers by rule 4, the decisions on these actions, and when each retrieval's answer was shown."""
    records = records_of(entity)
    excluded = {split_key(sender)[1] for sender, _, _ in entity.heard("retrieval_excluded")}
    acts = (cast(Act, content) for _, _, content in entity.heard("show"))
    shows = sorted(act.ts for act in acts if act.claim not in excluded)
    intents, goal = (best(labels_of(entity, kind)) for kind in ("intent", "goal"))
    said: dict[Address, Content] = {}
    for retrieval_id, record in records.items():
        shown_at = next((ts for ts in shows if ts >= record.ts), None)
        if shown_at is not None:
            said[Address(key_of("retrieval", retrieval_id), "shown", "")] = Shown(shown_at)
        if intents is not None:
            said[Address(key_of("retrieval", retrieval_id), "routed", "")] = Routed(intents)
        if goal is not None:
            said[Address(key_of("retrieval", retrieval_id), "goal", "")] = Goal(goal)
    for _, _, content in entity.heard("act"):
        said.update(_by_request(cast(Act, content), records, semantics))
    return said


def _by_request(act: Act, records: dict[str, Logged], semantics: Semantics) -> dict[Address, Content]:
    """Rule 4: every retrieval of the request, not after the action, whose list holds the asset itself."""
    asset = act.asset_id
    holding = sorted(
        retrieval_id for retrieval_id, record in records.items() if why_not_held(act, record) is None
    )
    decision = Address(key_of("action", act.id), "decision", act.id)
    if asset is None or not holding:
        return left_open(act, semantics)
    offer = Offer(act, "request", (Route((asset,), (asset,)),))
    said: dict[Address, Content] = {
        Address(key_of("retrieval", retrieval_id), "offer", act.id): offer for retrieval_id in holding
    }
    return {decision: Decision("request", tuple(holding), ancestors=act.ancestors), **said}


def why_not_held(act: Act, record: Logged) -> str | None:
    """Why rule 4 does not credit this retrieval of the request; None: it does."""
    if record.ts > act.ts:
        return "later"
    if record.ts < act.ts - ATTRIBUTION_HORIZON_MS:
        return "too_old"
    if record.returned_asset_ids is None:
        return "no_list"
    return None if act.asset_id in record.returned_asset_ids else "not_in_list"


# What the agent does with an asset that it took from somewhere.
SUBSTITUTING: Final = frozenset({"use", "select", "edit", "place", "generate"})


def speak_use(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """To a retrieval of which nothing was taken: the agent used what no list of the request holds (†)."""
    lists = [one for _, _, content in entity.heard("lists") for one in cast(Lists, content).lists]
    if any(one is None or None in one for one in lists):
        return {}  # what is not logged may have held it
    held = {asset for one in lists if one is not None for asset in one}
    acted = [cast(Acted, content) for _, _, content in entity.heard("acted")]
    credited = {retrieval_id for one in acted for retrieval_id, _ in one.credited}
    foreign = sorted(
        (one for one in acted if _is_foreign(one, held)), key=lambda one: (one.act.ts, one.act.id)
    )
    said: dict[Address, Content] = {}
    for sender, _, content in entity.heard("record"):
        ts = cast(Logged, content).ts
        world = range(ts, ts + ATTRIBUTION_HORIZON_MS + 1)
        later = [one for one in foreign if one.act.ts in world and not any(at < ts for _, at in one.credited)]
        if later and split_key(sender)[1] not in credited:
            said[Address(sender, "substituted", "")] = Substituted(later[0].act.id)
    return said


def _is_foreign(one: Acted, held: Collection[str | None]) -> bool:
    """Did the agent use an asset that, with all its ancestors, no list holds?"""
    act = one.act
    if act.actor != "agent" or act.verb not in SUBSTITUTING or act.asset_id is None:
        return False
    return not any(asset in held for asset in (act.asset_id, *act.ancestors))


def contribute(identity: str, entity: Entity, semantics: Semantics) -> Contribution:
    """The counters of one prompt (Layer 0), in the minute it came."""
    prompt = cast(Prompt | None, entity.standing)
    if prompt is None or is_excluded(entity, semantics):
        return {}
    retrieved = any(entity.heard("record"))
    return prompt_contribution(prompt, retrieved, best(labels_of(entity, "intent")), semantics)
