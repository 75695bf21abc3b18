"""The action: home to its records, and the one place where its resolution is known.

Two layers. `intake` decides which record stands and sends it to where its rule is decided. `resolution`
gathers the decision of that place and the answer of every retrieval it was offered to.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, cast

from attribution.contribution import Contribution, action_contribution
from attribution.entities import Entity, key_of, split_key
from attribution.events import Action
from attribution.exclusion import excluded_by_itself
from attribution.semantics import Semantics
from attribution.statements import Act, Address, Answer, Content, Decision, Offer, Route, act_of

SHOW: Final = "show"


def is_excluded(entity: Entity, semantics: Semantics) -> bool:
    """Is the standing record synthetic, by itself or by the request it names?"""
    action = cast(Action | None, entity.standing)
    if action is None:
        return False
    named = action.request_id is not None and entity.hears_from(
        "request_excluded", key_of("request", action.request_id)
    )
    return named or excluded_by_itself(action, semantics.exclusion)


def speak_intake(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The action to the place that decides its rule."""
    if entity.standing is None or is_excluded(entity, semantics):
        return {}
    act = act_of(cast(Action, entity.standing), identity)
    if act.verb == SHOW:
        shown = act.actor == "agent" and act.request_id is not None
        return {Address(key_of("request", act.request_id or ""), "show", ""): act} if shown else {}
    if act.document_id is not None:
        return {Address(key_of("document", act.document_id), "act", act.id): act}
    if act.claim is not None:
        assets = (act.asset_id,) if act.asset_id is not None else ()
        offer = Offer(act, "explicit", (Route(assets, assets),))
        return {Address(key_of("retrieval", act.claim), "offer", act.id): offer}
    if act.placement_id is None and act.request_id is not None:
        return {Address(key_of("request", act.request_id), "act", act.id): act}
    return {}


def _own_decision(act: Act) -> Decision | None:
    """The decision of an action that no document or request decides."""
    if act.document_id is not None:
        return None
    if act.claim is not None:
        return Decision("explicit", (act.claim,))
    if act.placement_id is not None:
        return Decision("dangling")  # a placement is looked up in a document, and none was named
    return Decision("none") if act.request_id is None else None


class Resolved(NamedTuple):
    """The resolution of one action; `retrieval_ids` are credited, `named_retrieval_ids` were asked."""

    act: Act
    resolution: str
    retrieval_ids: tuple[str, ...] = ()
    named_retrieval_ids: tuple[str, ...] = ()
    cross_session: bool = False


def resolved(identity: str, entity: Entity, semantics: Semantics) -> Resolved | None:
    """The resolution, or None while an answer is on its way, and for what is never resolved (a show)."""
    decisions = [cast(Decision, content) for _, _, content in entity.heard("decision")]
    act = act_of(cast(Action, entity.standing), identity) if entity.standing is not None else None
    if act is None:
        act = next((decision.act for decision in decisions if decision.act is not None), None)
    if act is None or act.verb == SHOW:
        return None
    if is_excluded(entity, semantics):
        return Resolved(act, "excluded")
    decision = _own_decision(act) or next(iter(decisions), None)
    return _answered(act, decision, _answers(entity)) if decision is not None else None


def _answers(entity: Entity) -> dict[str, Answer]:
    return {split_key(sender)[1]: cast(Answer, content) for sender, _, content in entity.heard("answer")}


# Of the answers to one action, the first of these that occurs says how it is resolved.
_GRADES: Final = ("excluded", "refuted", "dangling")


def _answered(act: Act, decision: Decision, answers: Mapping[str, Answer]) -> Resolved | None:
    named = decision.retrievals
    if not named:
        return Resolved(act, decision.rule)
    if any(retrieval_id not in answers for retrieval_id in named):
        return None
    granted = tuple(sorted(name for name in named if answers[name].grade == "granted"))
    if granted:
        sessions = {answers[name].session_guid for name in granted}
        crossed = act.session_guid is not None and sessions != {act.session_guid}
        return Resolved(act, decision.rule, granted, named, crossed)
    grades = {answers[name].grade for name in named} | ({"dangling"} if decision.dangling else set())
    return Resolved(act, next(grade for grade in _GRADES if grade in grades), (), named)


def contribute(identity: str, entity: Entity, semantics: Semantics) -> Contribution:
    """The counters of one action, in the minute it happened."""
    one = resolved(identity, entity, semantics)
    if one is None or one.resolution == "excluded":
        return {}
    return action_contribution(one.act, one.resolution, one.cross_session, semantics)
