"""5c. Layer 0: was there a search where one was wanted? Per prompt (contract, section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.second_reading.judging import surface_of
from tests.second_reading.labels import Judgements
from tests.second_reading.records import Record
from tests.second_reading.rows import Labels, Row, count, ratio, row
from tests.second_reading.rules import Rules
from tests.second_reading.world import World


@dataclass(frozen=True, eq=False)
class Prompt:
    """One user turn, and what came of it."""

    record: Record
    labels: tuple[str]  # surface
    retrieved: bool
    intents: int | None  # how many it was labelled to have, if it was
    route: str

    @property
    def ts(self) -> int:
        return self.record.ts

    @property
    def flag(self) -> bool | None:
        return self.record["reformulation"]


def all_prompts(world: World, judgements: Judgements, rules: Rules) -> list[Prompt]:
    return [
        Prompt(
            record=record,
            labels=(surface_of(record, rules),),
            retrieved=bool(world.of_request[record.identity]),
            intents=judgements.intents(record.identity),
            route=record["route"] if record["route"] in rules.routes else "other",
        )
        for record in world.prompts
    ]


def prompt_rows(labels: Labels, group: Sequence[Prompt], rules: Rules) -> Iterator[Row]:
    labelled = [p for p in group if p.intents is not None]
    wanting = [p for p in labelled if p.intents]
    flagged = [p for p in group if p.flag is not None]
    searches = [p.flag for p in flagged if p.retrieved]
    others = [p.flag for p in flagged if not p.retrieved]
    yield row("lara_prompts", labels, len(group))
    yield from ratio("lara_invocation_ratio", labels, [p.retrieved for p in group], group)
    yield row("lara_intent_labelled_prompts", labels, len(labelled))
    missed = [not p.retrieved for p in wanting]
    yield from ratio("lara_missed_retrieval_ratio", labels, missed, wanting)
    yield from ratio("lara_multi_intent_ratio", labels, [p.intents > 1 for p in labelled], labelled)
    yield from ratio("lara_search_reformulation_ratio", labels, searches, searches)
    yield from ratio("lara_downstream_correction_ratio", labels, others, others)
    for route in dict.fromkeys((*rules.routes, "other")):
        routed = [p.route == route for p in group]
        yield count("lara_prompts_by_route", labels | {"route": route}, routed)
