"""`lara explain retrieval`: the chain from events to verdict, so that a reader of the contract can redo it.

The words are made from the retrieval's own state: its record, everything that was offered to it and how each
offer was graded, and the counters it contributes; and from its session, which it may begin.
"""

from collections.abc import Iterable, Iterator
from typing import Any, cast

import msgspec
from rich.markup import escape

from attribution import retrievals, sessions
from attribution.entities import Entity, split_key
from attribution.events import Retrieval, request_of, role_of
from attribution.outputs import of_retrieval
from attribution.ranking import BILLION
from attribution.semantics import Semantics
from attribution.statements import Act, Again, Offer, Researched, Route, Substituted
from attribution.verdict import Evidence, Verdict
from streams.commands.explain.asking import Explanation, Question
from streams.commands.explain.counting import figures_data, figures_words, is_mature, matures, stored_words
from streams.commands.explain.words import (
    EXCLUSIONS,
    RULES,
    SIGNALS,
    consumed,
    done,
    evidence_of,
    instant,
    listed,
    not_standing,
    why_refused,
    yes,
)


async def explain_retrieval(identity: str, question: Question) -> Explanation:
    """What is true of one retrieval. Raises `NotKnown`."""
    entity = await question.asked_for("retrieval", identity)
    record = retrievals.record_of(entity)
    session = await question.entity("session", record.session_guid if record is not None else None)
    abandoned = abandonment(record, session, question.semantics)
    return Explanation(
        as_data(identity, entity, abandoned, question), in_words(identity, entity, abandoned, question)
    )


def abandonment(record: Retrieval | None, session: Entity, semantics: Semantics) -> dict[str, bool] | None:
    """Whether its session counts as abandoned, by each way to see it; None: it is not counted."""
    if record is None or record.session_guid is None:
        return None
    counters = [counter for _, counter in sessions.contribute(record.session_guid, session, semantics)]
    if not counters:
        return None
    return {
        how: any(counter.startswith(f"sessions_abandoned|{how}|") for counter in counters)
        for how in ("session", "lineage")
    }


def as_data(
    identity: str, entity: Entity, abandoned: dict[str, bool] | None, question: Question
) -> dict[str, Any]:
    """The explanation for programs: the outcome, what was refused and why, session, counters, figures."""
    semantics = question.semantics
    record = retrievals.record_of(entity)
    refused = [
        {"action_id": offer.act.id, "rule": offer.rule, "grade": grade, "why": why}
        for offer, grade, why in _refused(record, entity)
    ]
    return {
        "retrieval_id": identity,
        "as_of": instant(question.moment),
        "records": [
            msgspec.to_builtins(output.record) for output in of_retrieval(identity, entity, semantics)
        ],
        "excluded_because": retrievals.exclusion_of(entity, semantics),
        "refused": refused,
        "session_abandoned": abandoned,
        **figures_data(retrievals.contribute(identity, entity, semantics), question),
    }


def in_words(
    identity: str, entity: Entity, abandoned: dict[str, bool] | None, question: Question
) -> Iterator[str]:
    """The explanation, a line at a time, in rich markup."""
    semantics, record = question.semantics, retrievals.record_of(entity)
    yield f"[bold]retrieval {escape(identity)}[/bold]"
    if record is None:
        claimed = any(retrievals.offers(entity))
        yield "  was never logged; " + ("actions claim it:" if claimed else "no action claims it")
        yield from _refusals(record, entity)
        return
    yield from _record(record, entity, semantics)
    verdict = retrievals.verdict_of(entity, semantics)
    if verdict is None:
        why = EXCLUSIONS[retrievals.exclusion_of(entity, semantics) or "itself"]
        yield f"  [yellow]excluded[/yellow]: {why}; in no figure, and neither is what names it."
        return
    yield "\n[bold]actions credited to it[/bold]" + ("" if verdict.evidence else ": none")
    for evidence in verdict.evidence:
        yield from _credit(record, evidence, semantics)
    yield from _refusals(record, entity)
    yield from _verdict(record, entity, verdict, question)
    if abandoned is not None:
        yield from _session(record, abandoned)
    contribution = retrievals.contribute(identity, entity, semantics)
    yield from figures_words(contribution, question)
    yield from stored_words(contribution)


def _record(record: Retrieval, entity: Entity, semantics: Semantics) -> Iterator[str]:
    yield f"  fired {instant(record.ts)} in session {escape(record.session_guid or '–')}, " + escape(
        f"request {request_of(record)}, role {role_of(record)}, surface {semantics.surface(record.surface)}"
    )
    if record.query is not None:
        yield f"  query: {escape(record.query)}"
    yield f"  returned: {escape(_returned(record))}"
    shown = retrievals.shown_at(entity, record)
    if shown is not None:
        yield f"  its answer was shown {instant(shown)}"
    yield from not_standing(entity.own[1:])


def _returned(record: Retrieval) -> str:
    returned = record.returned_asset_ids
    if returned is None:
        return "not logged (outside null rate and Layer 1)"
    if not returned:
        return "nothing: a null result" if record.page_of is None else "nothing: an empty page"
    return f"{len(returned)} assets: " + listed(asset or "null" for asset in returned)


def _credit(record: Retrieval, evidence: Evidence, semantics: Semantics) -> Iterator[str]:
    act = evidence.act
    yield "  • " + escape(f"{done(act)}  ({act.id})")
    yield "      " + escape(_rule(evidence.rule, act, evidence.routes))
    yield from (f"      {line}" for line in consumed(record, evidence.routes))
    yield f"      is {evidence_of(evidence, semantics)}"


def _rule(rule: str, act: Act, routes: Iterable[Route]) -> str:
    """The rule that led here, and over which placements."""
    through = " ← ".join(dict.fromkeys(step for route in routes for step in route.through))
    document = f" of document {act.document_id}" if act.document_id else ""
    return f"{RULES[rule]} {through}{document}".rstrip()


def _refused(record: Retrieval | None, entity: Entity) -> Iterator[tuple[Offer, str, str]]:
    for offer in sorted(retrievals.offers(entity), key=lambda one: (one.act.ts, one.act.id)):
        refused = why_refused(record, offer)
        if refused is not None:
            yield offer, *refused


def _refusals(record: Retrieval | None, entity: Entity) -> Iterator[str]:
    refused = list(_refused(record, entity))
    if refused:
        yield "\n[bold]claims that do not hold[/bold]"
    for offer, grade, why in refused:
        act = offer.act
        yield "  • " + escape(f"{done(act)}  ({act.id})")
        yield "      " + escape(_rule(offer.rule, act, offer.routes))
        yield "      " + escape(f"{grade}: {why}")


def _verdict(record: Retrieval, entity: Entity, verdict: Verdict, question: Question) -> Iterator[str]:
    yield "\n[bold]verdict[/bold]"
    for definition, positive in verdict.positive.items():
        yield f"  U by {definition}: {yes(positive)}"
    yield f"  A (agent consumption): {yes(verdict.agent_consumed)}"
    yield f"  D (delegated use): {yes(verdict.delegated)}"
    yield f"  F (observable failure): {yes(verdict.failed)}"
    for signal in verdict.signals:
        yield "    " + escape(f"{signal}: {SIGNALS[signal]}{_where(signal, record, entity)}")
    pending = "" if is_mature(record.ts, question) else f"pending until {matures(record.ts, question)}"
    yield from _layer_one(verdict, pending)
    for definition in verdict.positive:
        if not verdict.evidenced(definition):
            yield f"  no evidence by {definition}: {pending or 'unobserved'}"


def _where(signal: str, record: Retrieval, entity: Entity) -> str:
    """The search or action behind a signal, as the retrieval was told."""
    told = [cast(Researched, content) for _, _, content in entity.heard("researched")]
    if signal == "researched":
        named = [
            f"by {split_key(sender)[1]} at {instant(cast(Again, content).ts)}"
            for sender, _, content in entity.heard("reformulated")
        ]
        return _at([*(f"at {instant(ts)}" for one in told for ts in one.by_need), *named])
    if signal == "researched_inferred":
        return _at([f"at {instant(ts)}" for one in told for ts in one.by_words])
    used = [cast(Substituted, content).action_id for _, _, content in entity.heard("substituted")]
    return _at([f"action {action_id}" for action_id in used]) if signal == "substituted" else ""


def _at(places: list[str]) -> str:
    return f" ({listed(places)})" if places else ""


def _layer_one(verdict: Verdict, pending: str) -> Iterator[str]:
    if verdict.intents is not None:
        misrouted = "" if verdict.intents else ": misrouted"
        yield f"  its prompt needed {verdict.intents} retrievals, as labelled{misrouted}"
    if verdict.ndcg_at_10 is not None:
        yield f"  NDCG@10 {verdict.ndcg_at_10 / BILLION:.3f}"
    name, quiet = verdict.diagnosis
    yield f"  list and evidence together: {f'{pending}, then {name}' if quiet and pending else name}"
    yield f"  task completed: {yes(verdict.completed)}"
    if verdict.goal is not None:
        yield f"  goal reached, as labelled: {yes(bool(verdict.goal))}"


def _session(record: Retrieval, abandoned: dict[str, bool]) -> Iterator[str]:
    yield f"\n[bold]its session {escape(record.session_guid or '–')}[/bold]"
    yield "  in lara_sessions and lara_session_abandonment_ratio, by the time of its earliest retrieval"
    yield f"  abandoned by what happened in it (attribution session): {yes(abandoned['session'])}"
    by_lineage = yes(abandoned["lineage"])
    yield f"  abandoned by what credits its retrievals, anywhere (attribution lineage): {by_lineage}"
