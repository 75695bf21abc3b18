"""Rule 5: which retrieval time and session alone would name. A shadow, unless `inference = "credit"`.

The session's `infer` layer knows the lists of its retrievals and the actions in it. It says its guess to each
action, to be compared with lineage; and where inference credits, it decides what rules 1 to 4 leave open.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

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


class _Candidate(NamedTuple):
    retrieval_id: str
    listed: Listed

    @property
    def order(self) -> tuple[int, bytes]:
        return (self.listed.ts, self.retrieval_id.encode())


def speak_inference(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """To every action: the latest retrieval of the session that showed its asset. A guess, or a credit."""
    candidates = [
        _Candidate(split_key(sender)[1], cast(Listed, content))
        for sender, _, content in entity.heard("listed")
    ]
    said: dict[Address, Content] = {}
    for _, _, content in entity.heard("seen"):
        act = cast(Seen, content).act
        guess = _guess(act, candidates)
        if guess is not None:
            said[Address(key_of("action", act.id), "guess", act.id)] = Guess(guess)
    for _, _, content in entity.heard("unresolved"):
        said.update(_credit(cast(Seen, content), candidates))
    return said


def _guess(act: Act, candidates: Sequence[_Candidate]) -> str | None:
    fitting = [one for one in candidates if _fits(act, one.listed)]
    return max(fitting, key=lambda one: one.order).retrieval_id if fitting else None


def _fits(act: Act, listed: Listed) -> bool:
    in_time = act.ts - INFERRED_WITHIN_MS <= listed.ts <= act.ts
    users = {act.user_id, listed.user_id} - {None}
    return in_time and len(users) < 2 and act.asset_id in listed.returned_asset_ids


def _credit(open_end: Seen, candidates: Sequence[_Candidate]) -> dict[Address, Content]:
    act = open_end.act
    carried = act if open_end.placing else None
    decision = Address(key_of("action", act.id), "decision", act.id)
    guess = _guess(act, candidates)
    if guess is None or act.asset_id is None:
        return {decision: Decision("none", act=carried, ancestors=act.ancestors)}
    offer = Offer(act, "inferred", (Route((act.asset_id,), (act.asset_id, *act.ancestors)),))
    return {
        decision: Decision("inferred", (guess,), act=carried, ancestors=act.ancestors),
        Address(key_of("retrieval", guess), "offer", act.id): offer,
    }
