"""Judgements: labels of prompts, retrievals and queries, and which of several labels holds.

Rules:
- A human's label beats a model's, then the newest, then the higher value.
- A label of a query holds for every retrieval with that query that fired at most 30 days before the label, or
  any time after it. A retrieval's own label beats it.
"""

import hashlib
from collections.abc import Iterable
from typing import Final, cast

from attribution.entities import Entity, key_of
from attribution.events import Judgement
from attribution.exclusion import is_excluded
from attribution.semantics import ATTRIBUTION_HORIZON_MS, Semantics, normalised_query
from attribution.statements import Address, Asks, Content, Graded, Grades, Label

HUMAN: Final = "human"


def query_key(query: str) -> str:
    """The entity of a query; its text may be long, so its digest stands for it."""
    return key_of("query", hashlib.sha256(normalised_query(query).encode()).hexdigest()[:32])


def speak_judgement(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The label to the request, retrieval or query it is about."""
    judgement = cast(Judgement | None, entity.standing)
    if judgement is None or is_excluded(entity, semantics):
        return {}
    human = (judgement.judge or HUMAN) == HUMAN
    if judgement.kind == "relevance":
        asset, grade = judgement.asset_id or "", judgement.grade or 0
        return {Address(_graded(judgement), "grade", ""): Graded(asset, human, judgement.ts, grade)}
    if judgement.kind == "intent":
        label = Label("intent", human, judgement.ts, judgement.retrieval_intents or 0)
        return {Address(key_of("request", judgement.request_id or ""), "label", ""): label}
    label = Label("goal", human, judgement.ts, int(bool(judgement.reached)))
    return {Address(_owner(judgement), "label", ""): label}


def _graded(judgement: Judgement) -> str:
    if judgement.retrieval_id is not None:
        return key_of("retrieval", judgement.retrieval_id)
    return query_key(judgement.query or "")


def _owner(judgement: Judgement) -> str:
    if judgement.retrieval_id is not None:
        return key_of("retrieval", judgement.retrieval_id)
    return key_of("request", judgement.request_id or "")


def best(labels: Iterable[Label]) -> int | None:
    """The value of the label that holds; None without any."""
    found = max(((one.human, one.ts, one.value) for one in labels), default=None)
    return None if found is None else found[2]


def labels_of(entity: Entity, kind: str) -> list[Label]:
    """The labels of one kind that an entity was told."""
    heard = (cast(Label, content) for _, _, content in entity.heard("label"))
    return [label for label in heard if label.kind == kind]


def best_grades(grades: Iterable[Graded]) -> dict[str, int]:
    """The grade that holds for each asset."""
    best_of: dict[str, tuple[bool, int, int]] = {}
    for one in grades:
        order = (one.human, one.ts, one.grade)
        best_of[one.asset] = max(order, best_of.get(one.asset, order))
    return {asset: order[2] for asset, order in sorted(best_of.items())}


def graded(entity: Entity) -> list[Graded]:
    """The judgements of relevance that an entity was told."""
    return [cast(Graded, content) for _, _, content in entity.heard("grade")]


def speak_query(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """To every retrieval with this query: the labels that hold for it."""
    labels = graded(entity)
    said: dict[Address, Content] = {}
    for sender, _, content in entity.heard("asks"):
        ts = cast(Asks, content).ts
        holding = best_grades(one for one in labels if ts >= one.ts - ATTRIBUTION_HORIZON_MS)
        if holding:
            said[Address(sender, "query_grades", "")] = Grades(tuple(holding.items()))
    return said
