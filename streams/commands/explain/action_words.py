"""An action in words: its record, the rules, what it is at each retrieval, and what rule 5 says of it."""

from collections.abc import Iterator
from typing import Final

from rich.markup import escape

from attribution import actions
from attribution.actions import SHOW, Resolved
from attribution.contribution import CREDITING
from attribution.events import role_of
from attribution.reasons import Step, is_placing
from attribution.statements import Act
from attribution.verdict import is_outcome
from streams.commands.explain.action_story import Answer, Story
from streams.commands.explain.asking import Question
from streams.commands.explain.counting import changes, figures_words, stored_words
from streams.commands.explain.rules import LAST_RULE, asked_words, found, reason, rule_words
from streams.commands.explain.words import (
    EXCLUSIONS,
    consumed,
    done,
    evidence_of,
    instant,
    listed,
    not_standing,
    yes,
)

WITHDRAWN: Final = (
    "it is no action: by an earlier record nobody placed it, or its document does not know it now"
)
ON_ITS_WAY: Final = (
    "no resolution yet: what decides it, or a retrieval that it was offered to, has not answered"
)

OTHER_SESSION: Final = ", another than the action's"


def in_words(story: Story, question: Question) -> Iterator[str]:
    """The explanation, a line at a time, in rich markup."""
    act, resolved = story.act, story.resolved
    yield f"[bold]action {escape(story.identity)}[/bold]"
    if act is None:
        yield f"  {WITHDRAWN}."
        return
    yield from _record(story, act, question)
    if act.verb == SHOW:
        yield from _show(act)
        return
    if story.steps:
        yield "\n[bold]which retrieval it belongs to[/bold] (the first rule that applies)"
        yield from _rules(story, act)
    if resolved is None:
        yield f"  {ON_ITS_WAY}."
        return
    if story.is_excluded:
        yield f"  [yellow]excluded[/yellow]: {EXCLUSIONS[story.excluded_because or 'itself']}; in no figure."
        return
    yield f"  [bold]resolution[/bold]: {escape(_resolution(resolved))}"
    for answer in story.answers:
        yield from _credit(act, answer, question)
    if story.by_time is not None:
        yield from _by_time(story, act, resolved, story.by_time)
    yield from _outcome(act, resolved)
    contribution = actions.contribute(story.identity, story.entity, question.semantics)
    yield from figures_words(contribution, question)
    yield from stored_words(contribution)


def _record(story: Story, act: Act, question: Question) -> Iterator[str]:
    yield "  " + escape(f"{done(act)}, surface {question.semantics.surface(act.surface)}")
    named = {
        "retrieval": act.claim,
        "placement": act.placement_id,
        "document": act.document_id,
        "asset": act.asset_id,
        "request": act.request_id,
    }
    names = listed(f"{what} {name}" for what, name in named.items() if name is not None)
    yield "  " + escape(f"names {names or 'no retrieval, placement, document, asset or request'}")
    if is_placing(act):
        yield "  intake: it has no event of its own; it is the first record of this placement"
        return
    others = story.entity.own[1:]
    synthetic = story.excluded_because in OWN_EXCLUSIONS
    standing = "of the records with its id this one stands" if others else "no other record has its id"
    yield f"  intake: {'synthetic' if synthetic else 'applied'}; {standing}"
    yield from not_standing(others)


# What excludes an action on its way in; the rest is found out when it is resolved.
OWN_EXCLUSIONS: Final = ("synthetic", "session", "user")


def _show(act: Act) -> Iterator[str]:
    yield "  a show is not resolved, and is no evidence and in no figure"
    if act.actor == "agent" and act.request_id is not None:
        yield "  " + escape(
            f"it tells when the answer to request {act.request_id} reached the user: until then the agent's "
            "use of a retrieval of this request is A, after it D"
        )


def _rules(story: Story, act: Act) -> Iterator[str]:
    for step in story.steps:
        yield from ("  " + escape(line) for line in rule_words(act, step))
    last = story.steps[-1].rule
    if 0 < last < LAST_RULE:
        rest = [str(rule) for rule in range(last + 1, LAST_RULE + 1)]
        yield f"  not asked: rule{'s' if len(rest) > 1 else ''} {listed(rest)}"


def credited(story: Story) -> str:
    """In one line: the resolution, and of one that credits nothing, why."""
    if story.resolved is None:
        return ON_ITS_WAY
    if story.excluded_because is not None:
        return f"excluded: {EXCLUSIONS[story.excluded_because]}"
    refusals = [f"retrieval {one.retrieval_id}: {one.why}" for one in story.answers if one.why is not None]
    if story.resolved.retrieval_ids or story.act is None:
        return "; not to ".join([_resolution(story.resolved), *refusals])
    return f"{story.resolved.resolution}: {'; '.join(refusals) or reason(story.act, story.steps)}"


def _resolution(resolved: Resolved) -> str:
    if resolved.retrieval_ids:
        return f"{resolved.resolution}, credited to {_retrievals(resolved.retrieval_ids)}"
    return f"{resolved.resolution}: it credits nothing"


def _retrievals(names: tuple[str, ...]) -> str:
    return f"retrieval{'s' if len(names) > 1 else ''} {listed(names)}"


def _credit(act: Act, answer: Answer, question: Question) -> Iterator[str]:
    yield (
        "\n[bold]at retrieval " + escape(answer.retrieval_id) + f"[/bold]: {answer.grade or 'no answer yet'}"
    )
    record, evidence = answer.record, answer.evidence
    if answer.grade == "excluded":
        yield f"  {EXCLUSIONS['retrieval']}"
    elif answer.why is not None:
        yield f"  {escape(answer.why)}"
    if record is None:
        return
    crossing = act.session_guid is not None and act.session_guid != record.session_guid
    session = f"session {record.session_guid}{OTHER_SESSION if crossing else ''}"
    yield "  " + escape(f"fired {instant(record.ts)} in {session}, request {record.request_id or '–'}")
    if evidence is None:
        return
    semantics = question.semantics
    yield from (f"  {line}" for line in consumed(record, evidence.routes))
    yield f"  is {evidence_of(evidence, semantics)}"
    if semantics.completes(role_of(record), act.actor, act.verb):
        yield f"  completes the task of role {role_of(record)}"
    yield from _added(answer, question)


def _added(answer: Answer, question: Question) -> Iterator[str]:
    found = changes(answer.added, question)
    if not found:
        yield "  without it the counts there would be the same"
        return
    yield "  changes these counts there:"
    yield from (f"    {escape(line)}" for line in found)


def _by_time(story: Story, act: Act, resolved: Resolved, step: Step) -> Iterator[str]:
    guess = actions.guessed(story.entity)
    yield "\n[bold]by time and session alone[/bold] (rule 5): " + escape(
        f"retrieval {guess}" if guess is not None else "no retrieval"
    )
    yield "  " + escape(found(act, step))
    yield from ("    " + escape(line) for line in asked_words(step.asked))
    agreed = actions.agreed(resolved, story.entity)
    if agreed is not None:
        yield f"  lineage credits {'the same' if agreed else 'another: they disagree'}"
    elif guess is not None:
        yield "  not compared: lineage does not credit exactly one retrieval by rules 1, 2 or 4"


def _outcome(act: Act, resolved: Resolved) -> Iterator[str]:
    if not is_outcome(act):
        yield "\n[bold]outcome[/bold]: no (not a user's export, share or download)"
        return
    attributed = resolved.resolution in CREDITING
    yield (
        f"\n[bold]outcome[/bold]: yes; attributed: {yes(attributed)}; "
        f"of another session: {yes(resolved.cross_session)}"
    )
