"""`lara explain document`: what was placed in it and where that came from, and what became of its actions.

A document counts nothing itself: the figures are those of its actions, added up.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from rich.markup import escape

from attribution import actions
from attribution.contribution import Counter
from attribution.documents import excluded_retrievals, placed_in, placements_in, placing_of
from attribution.entities import Entity
from attribution.events import Placement, standing_order
from attribution.lineage import PLACE, Lineage, Source, World, exclusion_of
from attribution.statements import Act, Placed
from streams.commands.explain.action_story import Story, story_of
from streams.commands.explain.action_words import credited
from streams.commands.explain.asking import Explanation, Question
from streams.commands.explain.counting import figures_data, figures_words
from streams.commands.explain.rules import newest, source_words
from streams.commands.explain.words import EXCLUSIONS, done, instant

STATES: Final = {
    "live": "live",
    "out_of_sight": "live, but placed more than 30 days before: it does not exist for an action now",
    "removed": "removed",
    "future": "not placed yet",
    "never_placed": "never placed: it was only removed",
    "excluded": "excluded",
}


class Item(NamedTuple):
    """One placement: its standing records, its state as of the time asked about, and where it came from."""

    placement_id: str
    records: tuple[Placement, ...]
    state: str
    excluded_because: str | None
    lineage: Lineage | None
    source: Source | None
    from_elsewhere: str | None  # the original that it names, which is not in this document


async def explain_document(identity: str, question: Question) -> Explanation:
    """What is in one document, and what was done with it. Raises `NotKnown`."""
    entity = await question.asked_for("document", identity)
    stories = [
        await story_of(act.id, await question.entity("action", act.id), question) for act in _acts(entity)
    ]
    found = items(entity, question.moment)
    counted = _sum(stories, question)
    data = {
        "document_id": identity,
        "as_of": instant(question.moment),
        "placements": [_item_data(item) for item in found],
        "actions": [_action_data(story) for story in stories],
        **figures_data(counted, question),
    }
    return Explanation(data, in_words(identity, found, stories, counted, question))


def _acts(entity: Entity) -> list[Act]:
    """The actions in the document, the placings too, by time."""
    kept, excluded = placements_in(entity)
    firsts = [*(lineage.first for lineage in kept.values()), *excluded.values()]
    placings = [act for act in map(placing_of, firsts) if act is not None]
    acts = [*(cast(Act, content) for _, _, content in entity.heard("act")), *placings]
    return sorted(acts, key=lambda act: (act.ts, act.id))


def items(entity: Entity, moment: int) -> list[Item]:
    """The placements of a document as of a time (ms), by the time of their first record."""
    placements, excluded = placements_in(entity)
    histories: dict[str, list[Placed]] = {}
    for one in sorted(placed_in(entity), key=lambda one: standing_order(one.record)):
        histories.setdefault(one.record.placement_id, []).append(one)
    robots = excluded_retrievals(entity)
    return [
        _item(name, history, placements, _why_excluded(name, history, excluded, robots), moment)
        for name, history in histories.items()
    ]


def _why_excluded(
    name: str, history: Sequence[Placed], excluded: Mapping[str, Placement], retrievals: frozenset[str]
) -> str | None:
    if name not in excluded:
        return None
    first = next(one for one in history if one.record == excluded[name])
    return exclusion_of(first, excluded, retrievals)


def _item(
    name: str, history: Sequence[Placed], placements: Mapping[str, Lineage], why: str | None, moment: int
) -> Item:
    records = tuple(one.record for one in history)
    lineage = placements.get(name)
    if lineage is None:
        state = "never_placed" if why is None else "excluded"
        return Item(name, records, state, why, None, None, None)
    first, world = lineage.first, World(placements, moment)
    seen = world if name in world.placements else World(placements, first.ts)
    original = first.source_placement_id
    elsewhere = original if original not in placements else None
    return Item(name, records, _state(lineage, world), why, lineage, seen.source(lineage), elsewhere)


def _state(lineage: Lineage, world: World) -> str:
    if lineage.first.ts > world.ts:
        return "future"
    if not lineage.live(world.ts):
        return "removed"
    return "live" if lineage.first.placement_id in world.placements else "out_of_sight"


def _sum(stories: Sequence[Story], question: Question) -> dict[tuple[int, Counter], int]:
    total: dict[tuple[int, Counter], int] = {}
    for story in stories:
        added = actions.contribute(story.identity, story.entity, question.semantics)
        for key, count in added.items():
            total[key] = total.get(key, 0) + count
    return total


def _item_data(item: Item) -> dict[str, Any]:
    source = item.source
    return {
        "placement_id": item.placement_id,
        "asset_id": (item.lineage.first if item.lineage is not None else item.records[0]).asset_id,
        "state": item.state,
        "excluded_because": item.excluded_because,
        "history": [
            {"ts": instant(record.ts), "op": record.op or PLACE, "actor": record.actor}
            for record in item.records
        ],
        "retrieval_id": source.claim if source is not None else None,
        "source": source.ending if source is not None else None,
        "through": [step.first.placement_id for step in source.path] if source is not None else [],
        "copied_from_elsewhere": item.from_elsewhere,
    }


def _action_data(story: Story) -> dict[str, Any]:
    resolved = story.resolved
    return {
        "action_id": story.identity,
        "resolution": resolved.resolution if resolved is not None else None,
        "retrieval_ids": list(resolved.retrieval_ids) if resolved is not None else [],
        "why": credited(story),
    }


def in_words(
    identity: str,
    found: Sequence[Item],
    stories: Sequence[Story],
    counted: Mapping[tuple[int, Counter], int],
    question: Question,
) -> Iterator[str]:
    """The explanation, a line at a time, in rich markup."""
    yield f"[bold]document {escape(identity)}[/bold] as of {instant(question.moment)}"
    yield "\n[bold]placements[/bold]" + ("" if found else ": none")
    for item in found:
        yield from (escape(line) for line in _item_words(item, question.moment))
    yield "\n[bold]actions in it[/bold]" + ("" if stories else ": none")
    for story in stories:
        if story.act is not None:
            yield "  • " + escape(f"{done(story.act)}  ({story.identity})")
            yield "      " + escape(credited(story))
    if counted:
        yield "\na document is in no figure itself; its actions, added up, are"
    yield from figures_words(counted, question)


def _item_words(item: Item, moment: int) -> Iterator[str]:
    lineage = item.lineage
    first = lineage.first if lineage is not None else item.records[0]
    state = STATES[item.state]
    if lineage is not None and item.state == "removed":
        state += f" {instant(newest(lineage, moment))}"
    yield f"  • {item.placement_id}  asset {first.asset_id}: {state}"
    if item.excluded_because is not None:
        yield f"      {EXCLUSIONS[item.excluded_because]}"
    for record in item.records:
        by = f" by {record.actor}" if record.actor is not None else ""
        where = f" in session {record.session_guid}" if record.session_guid is not None else ""
        yield f"      {instant(record.ts)}  {record.op or PLACE}{by}{where}"
    if item.source is not None:
        yield f"      {source_words(item.source)}"
    if first.derived_from_asset_id is not None:
        yield f"      derived from asset {first.derived_from_asset_id}"
    if item.from_elsewhere is not None and item.source is not None and item.source.claim is not None:
        yield f"      copied from placement {item.from_elsewhere}, which is not in this document"
