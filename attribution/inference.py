"""Rule 5: which retrieval time and session alone would name. A shadow, unless `inference = "credit"`.

The session's `infer` layer knows the lists of its retrievals and the actions in it. It says its guess to each
action, to be compared with lineage; and where inference credits, it decides what rules 1 to 4 leave open.
"""

from collections.abc import Mapping
from typing import Final, cast

from attribution.entities import Entity, key_of, split_key
from attribution.semantics import MINUTE_MS, Semantics
from attribution.statements import Act, Address, Content, Decision, Guess, Listed, Offer, Route, Seen

INFERRED_WITHIN_MS: Final = 30 * MINUTE_MS


def seen(act: Act, placing: bool = False) -> dict[Address, Content]:
    """An action with an asset to its session."""
    if act.asset_id is None or act.session_guid is None:
        return {}
    return {Address(key_of("session", act.session_guid), "seen", act.id): Seen(act, placing)}


def left_open(act: Act, semantics: Semantics, placing: bool = False) -> dict[Address, Content]:
    """What rules 1 to 4 leave open is `none`, or goes to the session where inference credits."""
    if semantics.inference == "credit" and act.asset_id is not None and act.session_guid is not None:
        return {Address(key_of("session", act.session_guid), "unresolved", act.id): Seen(act, placing)}
    decision = Decision("none", act=act if placing else None, ancestors=act.ancestors)
    return {Address(key_of("action", act.id), "decision", act.id): decision}


def listed_of(entity: Entity) -> dict[str, Listed]:
    """The retrievals of the session that returned something, by id."""
    return {split_key(sender)[1]: cast(Listed, content) for sender, _, content in entity.heard("listed")}


def speak_inference(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """To every action: the latest retrieval of the session that showed its asset. A guess, or a credit."""
    candidates = listed_of(entity)
    said: dict[Address, Content] = {}
    for _, _, content in entity.heard("seen"):
        act = cast(Seen, content).act
        guess = named_by_time(act, candidates)
        if guess is not None:
            said[Address(key_of("action", act.id), "guess", act.id)] = Guess(guess)
    for _, _, content in entity.heard("unresolved"):
        said.update(_credit(cast(Seen, content), candidates))
    return said


def named_by_time(act: Act, candidates: Mapping[str, Listed]) -> str | None:
    """The latest of the retrievals that rule 5 can mean."""
    fitting = [
        (one.ts, retrieval_id.encode())
        for retrieval_id, one in candidates.items()
        if why_not_named(act, one) is None
    ]
    return max(fitting)[1].decode() if fitting else None


def why_not_named(act: Act, listed: Listed) -> str | None:
    """Why rule 5 cannot mean this retrieval of the session; None: it can."""
    if listed.ts > act.ts:
        return "later"
    if listed.ts < act.ts - INFERRED_WITHIN_MS:
        return "too_old"
    if len({act.user_id, listed.user_id} - {None}) > 1:
        return "other_user"
    return None if act.asset_id in listed.returned_asset_ids else "not_in_list"


def _credit(open_end: Seen, candidates: Mapping[str, Listed]) -> dict[Address, Content]:
    act = open_end.act
    carried = act if open_end.placing else None
    decision = Address(key_of("action", act.id), "decision", act.id)
    guess = named_by_time(act, candidates)
    if guess is None or act.asset_id is None:
        return {decision: Decision("none", act=carried, ancestors=act.ancestors)}
    offer = Offer(act, "inferred", (Route((act.asset_id,), (act.asset_id, *act.ancestors)),))
    return {
        decision: Decision("inferred", (guess,), act=carried, ancestors=act.ancestors),
        Address(key_of("retrieval", guess), "offer", act.id): offer,
    }
