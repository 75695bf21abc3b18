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
    decisions = [cast(Decision, content) for _, _, content in entity.heard("decision")]
    act = act_of(cast(Action, entity.standing), identity) if entity.standing is not None else None
    if act is None:
        act = next((decision.act for decision in decisions if decision.act is not None), None)
    if act is None or act.verb == SHOW:
        return None
    if is_excluded(entity, semantics):
        return Resolved(act, "excluded")
    decision = _own_decision(act) or next(iter(decisions), None)
    if decision is None:
        return None
    act = msgspec.structs.replace(act, ancestors=decision.ancestors)
    return _answered(act, decision, _answers(entity))


def speak_resolution(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """To the action's request, what it consumed and credits; to its session, that it was an outcome."""
    one = resolved(identity, entity, semantics)
    if one is None or one.resolution == "excluded":
        return {}
    act, answers = one.act, _answers(entity)
    credited = tuple((retrieval_id, answers[retrieval_id].ts) for retrieval_id in one.retrieval_ids)
    said: dict[Address, Content] = {}
    if act.request_id is not None:
        said[Address(key_of("request", act.request_id), "acted", act.id)] = Acted(act, credited)
    if act.session_guid is not None and is_outcome(act):
        said[Address(key_of("session", act.session_guid), "outcome", "")] = Outcome(act.ts)
    return said


def _answers(entity: Entity) -> dict[str, Answer]:
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
    guesses = [cast(Guess, content).retrieval_id for _, _, content in entity.heard("guess")]
    credited = one.retrieval_ids if one.resolution in COMPARED else ()
    agreed = credited == (guesses[0],) if guesses and len(credited) == 1 else None
    return action_contribution(one.act, one.resolution, one.cross_session, agreed, semantics)
