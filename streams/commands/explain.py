"""`lara explain retrieval`: the chain from events to verdict, so that a reader of the contract can redo it.

The words are made from the retrieval's own state: its record, everything that was offered to it and how each
offer was graded, and the counters it contributes. Nothing is computed here that the core does not compute.
"""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.markup import escape

from attribution import retrievals
from attribution.entities import Entity, key_of
from attribution.events import Retrieval, request_of, role_of
from attribution.outputs import of_retrieval
from attribution.ranking import BILLION
from attribution.semantics import Semantics
from attribution.statements import Offer, Route, Shown
from attribution.verdict import GRANTED, REFUTED, Evidence, Verdict, grade
from streams.commands.backtest import NotKnown
from streams.commands.source import source
from streams.settings import Settings

EVIDENCE: Final = {
    "user": "a user action: U where the definition counts it",
    "agent": "agent consumption (A): by the agent, in this retrieval's request, before its answer was shown",
    "delegated": "delegated use (D): by the agent, in another request or after the answer was shown",
    "rejected": "an observable failure (F): the user rejected it",
    "corrected": "a correction: neither a failure nor evidence",
    "other": "no evidence: an agent action that does not use the asset",
}
SIGNALS: Final = {
    "rejected": "the user rejected it",
    "researched": "the same need was searched for again, before it was used",
    "substituted": "the agent used an asset that no list of the request holds",
    "researched_inferred": "a similar query came soon after (a shadow signal)",
}
RULES: Final = {
    "explicit": "rule 1, its own claim",
    "inherited": "rule 2, inherited from placement",
    "document": "rule 3, the whole document",
    "request": "rule 4, same request",
    "inferred": "rule 5, same session, by time",
}


def explain_retrieval(
    settings: Settings, identity: str, files: Sequence[Path], as_of: int | None, as_json: bool
) -> None:
    """Print the explanation of one retrieval, from files or from the live state."""
    entity, latest = asyncio.run(_entity(settings, files, key_of("retrieval", identity)))
    semantics = settings.semantics
    moment = latest if as_of is None else as_of
    if entity == Entity():
        raise NotKnown(f"nothing is known of a retrieval {identity}")
    if as_json:
        sys.stdout.write(msgspec.json.encode(as_data(identity, entity, semantics)).decode() + "\n")
        return
    console = Console(soft_wrap=True, highlight=False)
    for line in in_words(identity, entity, semantics, settings.maturity_minutes, moment):
        console.print(line)


async def _entity(settings: Settings, files: Sequence[Path], key: str) -> tuple[Entity, int]:
    async with source(settings, files) as found:
        return await found.entity(key), found.latest


def as_data(identity: str, entity: Entity, semantics: Semantics) -> dict[str, Any]:
    """The explanation for programs: the outcome, what was refused and why, and the counters."""
    record = retrievals.record_of(entity)
    outcomes = [output.record for output in of_retrieval(identity, entity, semantics)]
    refused = [
        {"action_id": offer.act.id, "rule": offer.rule, "grade": result, "why": why}
        for offer, result, why in _refused(record, entity)
    ]
    counters = [
        {"minute": _instant(minute * 60_000), "counter": counter, "count": count}
        for (minute, counter), count in retrievals.contribute(identity, entity, semantics).items()
    ]
    found = [msgspec.to_builtins(outcome) for outcome in outcomes]
    return {"retrieval_id": identity, "records": found, "refused": refused, "counted": counters}


def in_words(
    identity: str, entity: Entity, semantics: Semantics, maturity_minutes: int, now_ms: float
) -> Iterator[str]:
    """The explanation, a line at a time, in rich markup."""
    record = retrievals.record_of(entity)
    yield f"[bold]retrieval {escape(identity)}[/bold]"
    if record is None:
        yield "  was never logged" + ("; actions claim it:" if entity.said else " and nothing names it.")
        yield from _refusals(record, entity)
        return
    yield from _record(record, entity, semantics)
    verdict = retrievals.verdict_of(entity, semantics)
    if verdict is None:
        yield "  [yellow]excluded[/yellow]: synthetic traffic, by itself or by its request; in no figure."
        return
    yield "\n[bold]actions credited to it[/bold]" + ("" if verdict.evidence else ": none")
    for evidence in verdict.evidence:
        yield from _credit(record, evidence)
    yield from _refusals(record, entity)
    yield from _verdict(record, verdict, maturity_minutes, now_ms)
    yield f"\n[bold]counted[/bold] in the minute {_instant(record.ts // 60_000 * 60_000)}"
    for (_, counter), count in retrievals.contribute(identity, entity, semantics).items():
        yield f"  {count:+d}  {escape(counter)}"


def _record(record: Retrieval, entity: Entity, semantics: Semantics) -> Iterator[str]:
    yield f"  fired {_instant(record.ts)} in session {escape(record.session_guid or '–')}, " + escape(
        f"request {request_of(record)}, role {role_of(record)}, surface {semantics.surface(record.surface)}"
    )
    if record.query is not None:
        yield f"  query: {escape(record.query)}"
    yield f"  returned: {escape(_returned(record))}"
    shown = [content.ts for _, _, content in entity.heard("shown") if isinstance(content, Shown)]
    if shown:
        yield f"  its answer was shown {_instant(min(shown))}"
    for other in entity.own[1:]:
        yield escape(f"  a record that does not stand: {_instant(other.ts)}, event {other.event_id or '–'}")


def _returned(record: Retrieval) -> str:
    returned = record.returned_asset_ids
    if returned is None:
        return "not logged (outside null rate and Layer 1)"
    if not returned:
        return "nothing: a null result" if record.page_of is None else "nothing: an empty page"
    return f"{len(returned)} assets: " + ", ".join(asset or "null" for asset in returned)


def _position(record: Retrieval, route: Route) -> str:
    """Where the list held the asset, or the best placed of its ancestors."""
    returned = record.returned_asset_ids or ()
    found = [asset for asset in route.consumed if asset in returned]
    if not found:
        return "not in the list"
    best = route.consumed[0] if route.consumed[0] in returned else min(found, key=returned.index)
    position = f"rank {returned.index(best) + 1}"
    return position if best == route.consumed[0] else f"{position} (its ancestor {best})"


def _credit(record: Retrieval, evidence: Evidence) -> Iterator[str]:
    act = evidence.act
    where = f" in session {act.session_guid}" if act.session_guid else ""
    yield "  • " + escape(f"{_instant(act.ts)}  {act.actor} {act.verb}{where}  ({act.id})")
    through = " ← ".join(dict.fromkeys(step for route in evidence.routes for step in route.through))
    document = f" of document {act.document_id}" if act.document_id else ""
    yield "      " + escape(f"{RULES[evidence.rule]} {through}{document}".rstrip())
    for route in evidence.routes:
        if route.consumed:
            yield "      " + escape(f"asset {route.consumed[0]}, {_position(record, route)}")
    yield f"      is {EVIDENCE[evidence.kind]}"


def _refused(record: Retrieval | None, entity: Entity) -> Iterator[tuple[Offer, str, str]]:
    for offer in sorted(retrievals.offers(entity), key=lambda one: (one.act.ts, one.act.id)):
        result, _ = grade(record, offer)
        if result != GRANTED:
            yield offer, result, _reason(record, offer, result)


def _reason(record: Retrieval | None, offer: Offer, result: str) -> str:
    if record is None:
        return "this retrieval was never logged"
    if result == REFUTED and not record.returned_asset_ids:
        return "the list is known and empty"
    if result == REFUTED:
        tested = ", ".join(dict.fromkeys(asset for route in offer.routes for asset in route.tested))
        return f"the list holds none of {tested}"
    return "the retrieval is not within the 30 days before the action (or 5 minutes after it)"


def _refusals(record: Retrieval | None, entity: Entity) -> Iterator[str]:
    refused = list(_refused(record, entity))
    if refused:
        yield "\n[bold]claims that do not hold[/bold]"
    for offer, result, why in refused:
        act = offer.act
        yield "  • " + escape(f"{_instant(act.ts)}  {act.actor} {act.verb} ({act.id}), {RULES[offer.rule]}")
        yield "      " + escape(f"{result}: {why}")


def _verdict(record: Retrieval, verdict: Verdict, maturity_minutes: int, now_ms: float) -> Iterator[str]:
    yield "\n[bold]verdict[/bold]"
    for definition, positive in verdict.positive.items():
        yield f"  U by {definition}: {'yes' if positive else 'no'}"
    yield f"  A (agent consumption): {_yes(verdict.agent_consumed)}"
    yield f"  D (delegated use): {_yes(verdict.delegated)}"
    yield f"  F (observable failure): {_yes(verdict.failed)}"
    yield from (f"    {signal}: {SIGNALS[signal]}" for signal in verdict.signals)
    yield from _layer_one(verdict)
    for definition in verdict.positive:
        if not verdict.evidenced(definition):
            mature = record.ts + maturity_minutes * 60_000
            state = "unobserved" if now_ms >= mature else f"pending until {_instant(mature)}"
            yield f"  no evidence by {definition}: {state}"


def _layer_one(verdict: Verdict) -> Iterator[str]:
    if verdict.intents is not None:
        misrouted = "" if verdict.intents else ": misrouted"
        yield f"  its prompt needed {verdict.intents} retrievals, as labelled{misrouted}"
    if verdict.ndcg_at_10 is not None:
        yield f"  NDCG@10 {verdict.ndcg_at_10 / BILLION:.3f}"
    name, quiet = verdict.diagnosis
    yield f"  list and evidence together: {name}{' (pending until mature)' if quiet else ''}"
    yield f"  task completed: {_yes(verdict.completed)}"
    if verdict.goal is not None:
        yield f"  goal reached, as labelled: {_yes(bool(verdict.goal))}"


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _instant(ms: float) -> str:
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{int(ms) % 1000:03d}Z"
