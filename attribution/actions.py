"""The action: home to its records, and the one place where its resolution is known.

Two layers. `intake` decides which record stands and sends it to where its rule is decided. `resolution`
gathers the decision of that place and the answer of every retrieval it was offered to.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, cast

import msgspec

from attribution.contribution import Contribution, action_contribution
from attribution.entities import Entity, key_of, split_key
from attribution.events import Action
from attribution.exclusion import is_excluded
from attribution.inference import left_open, seen
from attribution.semantics import Semantics
from attribution.statements import (
    Act,
    Acted,
    Address,
    Answer,
    Asked,
    Content,
    Decision,
    Guess,
    Offer,
    Outcome,
    Route,
    act_of,
)
from attribution.verdict import is_outcome

SHOW: Final = "show"


def speak_intake(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The action to the place that decides its rule."""
    if entity.standing is None or is_excluded(entity, semantics):
        return {}
    act = act_of(cast(Action, entity.standing), identity)
    if act.verb == SHOW:
        return _shown(act)
    return {**_to_its_home(act, semantics), **seen(act)}


def _shown(act: Act) -> dict[Address, Content]:
    """An agent's show to its request, and the request's question to the retrieval it names."""
    if act.actor != "agent" or act.request_id is None:
        return {}
    request = key_of("request", act.request_id)
    said: dict[Address, Content] = {Address(request, "show", ""): act}
    if act.claim is not None:
        said[Address(key_of("retrieval", act.claim), "asked", request)] = Asked(request)
    return said


def _to_its_home(act: Act, semantics: Semantics) -> dict[Address, Content]:
    if act.document_id is not None:
        return {Address(key_of("document", act.document_id), "act", act.id): act}
    if act.claim is not None:
        assets = (act.asset_id,) if act.asset_id is not None else ()
        offer = Offer(act, "explicit", (Route(assets, assets),))
        return {Address(key_of("retrieval", act.claim), "offer", act.id): offer}
    if act.placement_id is None and act.request_id is not None:
        return {Address(key_of("request", act.request_id), "act", act.id): act}
    return left_open(act, semantics) if act.placement_id is None else {}


def _own_decision(act: Act) -> Decision | None:
    """The decision of an action that no document or request decides."""
    if act.document_id is not None:
        return None
    if act.claim is not None:
        return Decision("explicit", (act.claim,))
    # A placement is looked up in a document, and none was named.
    return Decision("dangling") if act.placement_id is not None else None


class Resolved(NamedTuple):
    """The resolution of one action; `retrieval_ids` are credited, `named_retrieval_ids` were asked."""

    act: Act
    resolution: str
    retrieval_ids: tuple[str, ...] = ()
    named_retrieval_ids: tuple[str, ...] = ()
    cross_session: bool = False


def resolved(identity: str, entity: Entity, semantics: Semantics) -> Resolved | None:
    """The resolution, or None while an answer is on its way, and for what is never resolved (a show)."""
    act = known_act(identity, entity)
    if act is None or act.verb == SHOW:
        return None
    if is_excluded(entity, semantics):
        return Resolved(act, "excluded")
    decision = decision_of(act, entity)
    if decision is None:
        return None
    act = msgspec.structs.replace(act, ancestors=decision.ancestors)
    return _answered(act, decision, answers_of(entity))


def known_act(identity: str, entity: Entity) -> Act | None:
    """What was done: by the standing record, or, of a placing, as its document says; None: no action."""
    if entity.standing is not None:
        return act_of(cast(Action, entity.standing), identity)
    return next((decision.act for decision in _told(entity) if decision.act is not None), None)


def decision_of(act: Act, entity: Entity) -> Decision | None:
    """Which rule applied, by the action itself or by the place that decides; None: it is on its way."""
    return _own_decision(act) or next(iter(_told(entity)), None)


def _told(entity: Entity) -> list[Decision]:
    return [cast(Decision, content) for _, _, content in entity.heard("decision")]


def speak_resolution(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """To the action's request, what it consumed and credits; to its session, that it was an outcome."""
    one = resolved(identity, entity, semantics)
    if one is None or one.resolution == "excluded":
        return {}
    act, answers = one.act, answers_of(entity)
    credited = tuple((retrieval_id, answers[retrieval_id].ts) for retrieval_id in one.retrieval_ids)
    said: dict[Address, Content] = {}
    if act.request_id is not None:
        said[Address(key_of("request", act.request_id), "acted", act.id)] = Acted(act, credited)
    if act.session_guid is not None and is_outcome(act):
        said[Address(key_of("session", act.session_guid), "outcome", "")] = Outcome(act.ts)
    return said


def answers_of(entity: Entity) -> dict[str, Answer]:
    """What the retrievals say to which the action was offered, by their ids."""
    return {split_key(sender)[1]: cast(Answer, content) for sender, _, content in entity.heard("answer")}


# Resolutions with one retrieval, of which inference is asked whether it would have named the same.
COMPARED: Final = frozenset({"explicit", "inherited", "request"})

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
    return action_contribution(one.act, one.resolution, one.cross_session, agreed(one, entity), semantics)


def guessed(entity: Entity) -> str | None:
    """The retrieval that rule 5 names."""
    return next((cast(Guess, content).retrieval_id for _, _, content in entity.heard("guess")), None)


def agreed(one: Resolved, entity: Entity) -> bool | None:
    """Does rule 5 name the retrieval that lineage credits? None where the two cannot be compared."""
    guess = guessed(entity)
    if guess is None or one.resolution not in COMPARED or len(one.retrieval_ids) != 1:
        return None
    return one.retrieval_ids == (guess,)
