"""The request: one user turn, the retrievals it fired and the actions that name it.

Two layers. `prompt` is home to prompts and says to all that name the request whether it is excluded.
`turn` knows the request's retrievals and applies rule 4; it tells retrievals when their answer was shown.
"""

from typing import Final, cast

from attribution.entities import Entity, key_of, split_key
from attribution.exclusion import excluded_by_itself
from attribution.semantics import ATTRIBUTION_HORIZON_MS, Semantics
from attribution.statements import Act, Address, Content, Decision, Excluded, Logged, Offer, Route, Shown

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


def speak_turn(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """Offers by rule 4, the decisions on these actions, and when each retrieval's answer was shown."""
    records = {split_key(sender)[1]: cast(Logged, content) for sender, _, content in entity.heard("record")}
    shows = sorted(cast(Act, content).ts for _, _, content in entity.heard("show"))
    said: dict[Address, Content] = {}
    for retrieval_id, record in records.items():
        shown_at = next((ts for ts in shows if ts >= record.ts), None)
        if shown_at is not None:
            said[Address(key_of("retrieval", retrieval_id), "shown", "")] = Shown(shown_at)
    for _, _, content in entity.heard("act"):
        said.update(_by_request(cast(Act, content), records))
    return said


def _by_request(act: Act, records: dict[str, Logged]) -> dict[Address, Content]:
    """Rule 4: every retrieval of the request, not after the action, whose list holds the asset itself."""
    asset = act.asset_id
    holding = sorted(
        retrieval_id
        for retrieval_id, record in records.items()
        if act.ts - ATTRIBUTION_HORIZON_MS <= record.ts <= act.ts
        and asset in (record.returned_asset_ids or ())
    )
    decision = Address(key_of("action", act.id), "decision", act.id)
    if asset is None or not holding:
        return {decision: Decision("none")}
    offer = Offer(act, "request", (Route((asset,), (asset,)),))
    said: dict[Address, Content] = {
        Address(key_of("retrieval", retrieval_id), "offer", act.id): offer for retrieval_id in holding
    }
    return {decision: Decision("request", tuple(holding)), **said}
