"""`lara explain action`: from the record over the rules to the retrievals it is credited to, and the figures.

The states read are those of the action, of the places that may decide it (document, request, session), and of
the retrievals that it was offered to. What each rule found is said by `attribution.reasons`.
"""

from typing import Any

import msgspec

from attribution import actions
from attribution.events import Event
from attribution.outputs import of_action
from attribution.reasons import Step
from attribution.statements import Act
from attribution.verdict import is_outcome
from streams.commands.explain.action_story import Answer, Story, story_of
from streams.commands.explain.action_words import in_words
from streams.commands.explain.asking import Explanation, Question
from streams.commands.explain.counting import counters_data, figures_data
from streams.commands.explain.rules import found, source_words
from streams.commands.explain.words import instant, positives


async def explain_action(identity: str, question: Question) -> Explanation:
    """What became of one action, and why. Raises `NotKnown`."""
    story = await story_of(identity, await question.asked_for("action", identity), question)
    return Explanation(as_data(story, question), in_words(story, question))


def as_data(story: Story, question: Question) -> dict[str, Any]:
    """The explanation for programs."""
    semantics, act, entity = question.semantics, story.act, story.entity
    attributions = [one.record for one in of_action(story.identity, entity, semantics)]
    return {
        "action_id": story.identity,
        "as_of": instant(question.moment),
        "records": [_record(record, record is entity.standing) for record in entity.own],
        "attributions": [msgspec.to_builtins(record) for record in attributions],
        "excluded_because": story.excluded_because,
        "rules": [_rule(act, step) for step in story.steps] if act is not None else [],
        "answers": [_answer(answer, question) for answer in story.answers],
        "inference": _inference(story, act),
        "outcome": act is not None and is_outcome(act),
        **figures_data(actions.contribute(story.identity, entity, semantics), question),
    }


def _record(record: Event, stands: bool) -> dict[str, Any]:
    sent = {name: value for name, value in msgspec.structs.asdict(record).items() if value is not None}
    return {**sent, "digest": record.digest.hex(), "ts": instant(record.ts), "stands": stands}


def _rule(act: Act, step: Step) -> dict[str, Any]:
    return {
        "rule": step.rule,
        "applies": step.decision is not None,
        "reason": step.reason,
        "found": found(act, step),
        "sources": [source_words(source) for source in step.sources],
        "retrievals": dict(step.asked),
    }


def _answer(answer: Answer, question: Question) -> dict[str, Any]:
    evidence = answer.evidence
    return {
        "retrieval_id": answer.retrieval_id,
        "grade": answer.grade,
        "why": answer.why,
        "session_guid": answer.record.session_guid if answer.record is not None else None,
        "evidence": evidence.kind if evidence is not None else None,
        "positive": positives(evidence, question.semantics) if evidence is not None else [],
        "adds": counters_data(answer.added),
    }


def _inference(story: Story, act: Act | None) -> dict[str, Any] | None:
    """What rule 5 says; None of what it is never asked."""
    if act is None or story.by_time is None or story.resolved is None:
        return None
    return {
        "retrieval_id": actions.guessed(story.entity),
        "agrees": actions.agreed(story.resolved, story.entity),
        "found": found(act, story.by_time),
        "retrievals": dict(story.by_time.asked),
    }
