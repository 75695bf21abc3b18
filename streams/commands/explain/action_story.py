"""All that is known of one action: its own state, and those of what decides it and what it was offered to."""

from typing import NamedTuple

from attribution import actions, retrievals
from attribution.actions import SHOW, Resolved
from attribution.contribution import Contribution
from attribution.entities import Entity
from attribution.events import Retrieval
from attribution.exclusion import exclusion_of
from attribution.reasons import Known, Step, added, inferred, steps
from attribution.semantics import Semantics
from attribution.statements import Act, Offer
from attribution.verdict import Evidence
from streams.commands.explain.asking import Question
from streams.commands.explain.words import why_refused


class Answer(NamedTuple):
    """What one retrieval says of the action, and what it counts because of it."""

    retrieval_id: str
    record: Retrieval | None
    grade: str | None  # None: it has not answered yet
    why: str | None  # in words, of a grade that is not `granted`
    offer: Offer | None
    evidence: Evidence | None  # of one that is
    added: Contribution


class Story(NamedTuple):
    """What is known of one action; without `act` it is none, without `resolved` it has no resolution."""

    identity: str
    entity: Entity
    act: Act | None
    resolved: Resolved | None
    steps: tuple[Step, ...] = ()
    by_time: Step | None = None  # what rule 5 says, decisive or not; of an excluded action it is not asked
    answers: tuple[Answer, ...] = ()
    excluded_because: str | None = None

    @property
    def is_excluded(self) -> bool:
        """Is it in no figure, by itself or by what it names?"""
        return self.resolved is not None and self.resolved.resolution == "excluded"


async def story_of(identity: str, entity: Entity, question: Question) -> Story:
    """Everything about the action of this entity."""
    semantics = question.semantics
    act = actions.known_act(identity, entity)
    story = Story(identity, entity, act, actions.resolved(identity, entity, semantics))
    if act is None or act.verb == SHOW:
        return story
    because = exclusion_of(entity, semantics)
    if because is not None:
        return story._replace(excluded_because=because)
    known = Known(
        await question.entity("document", act.document_id),
        await question.entity("request", act.request_id),
        await question.entity("session", act.session_guid),
    )
    decision = actions.decision_of(act, entity)
    answers = [
        _answer(story, name, await question.entity("retrieval", name), semantics)
        for name in (decision.retrievals if decision is not None else ())
    ]
    return story._replace(
        steps=steps(act, known, semantics),
        by_time=None if story.is_excluded else inferred(act, known.session),
        answers=tuple(answers),
        excluded_because=_named_exclusion(story, bool(answers)),
    )


def _named_exclusion(story: Story, offered: bool) -> str | None:
    if not story.is_excluded:
        return None
    return "retrieval" if offered else "placement"


def _answer(story: Story, retrieval_id: str, entity: Entity, semantics: Semantics) -> Answer:
    identity, record = story.identity, retrievals.record_of(entity)
    answer = actions.answers_of(story.entity).get(retrieval_id)
    offer = next((one for one in retrievals.offers(entity) if one.act.id == identity), None)
    verdict = retrievals.verdict_of(entity, semantics)
    credited = () if verdict is None else verdict.evidence
    refused = why_refused(record, offer) if offer is not None else None
    return Answer(
        retrieval_id,
        record,
        answer.grade if answer is not None else None,
        refused[1] if refused is not None else None,
        offer,
        next((one for one in credited if one.act.id == identity), None),
        added(identity, retrieval_id, entity, semantics),
    )
