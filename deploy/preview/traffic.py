"""Simulated traffic of a healthy assistant, and faults that are put into it from a moment on.

Rules:
- A fault changes what a producer, planner or index would have sent, and nothing that lara does.
- The simulator's judges say anything; a healthy assistant's labels agree with its lists and its planner.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

from streams.commands.simulator import DEMO, Record, simulate

PROMPTS: Final = 7_000
# More labels than the demo has, so that figures of labels have an n.
LABELLED: Final = replace(DEMO, judged=0.5, intended=0.4)
Event = dict[str, Any]


def healthy(start_ms: int, end_ms: int, seed: int = 1, prompts: int = PROMPTS) -> list[Record]:
    """Records of an assistant that retrieves where it should, and ranks what fits first."""
    records, _ = simulate(seed=seed, start_ms=start_ms, end_ms=end_ms, prompts=prompts, rates=LABELLED)
    return list(_changed(records, _honest(records, Random(seed))))


def _changed(records: Iterable[Record], change: Callable[[Event, int], Event]) -> Iterator[Record]:
    """The records with every event changed; what is no event stays as it is."""
    for record in records:
        try:
            event = json.loads(record.value or b"")
        except ValueError:
            event = None
        if not isinstance(event, dict):
            yield record
        else:
            yield replace(record, value=json.dumps(change(event, record.ts)).encode())


def _events(records: Iterable[Record]) -> Iterator[Event]:
    for record in records:
        try:
            event = json.loads(record.value or b"")
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _honest(records: list[Record], chance: Random) -> Callable[[Event, int], Event]:
    lists = {
        str(event.get("retrieval_id")): event.get("returned_asset_ids") or []
        for event in _events(records)
        if event.get("type") == "retrieval"
    }
    retrieving = {
        str(event.get("request_id")) for event in _events(records) if event.get("type") == "retrieval"
    }

    def change(event: Event, _: int) -> Event:
        kind = event.get("kind") if event.get("type") == "judgement" else None
        if kind == "intent":
            right = 1 + (chance.random() < 0.2) if str(event.get("request_id")) in retrieving else 0
            return {**event, "retrieval_intents": right if chance.random() < 0.95 else 1 - min(right, 1)}
        if kind == "goal":
            return {**event, "reached": chance.random() < 0.8}
        if kind == "relevance":
            ranked = lists.get(str(event.get("retrieval_id")), [])
            asset = event.get("asset_id")
            place = ranked.index(asset) if asset in ranked else 3
            return {**event, "grade": max(0, 3 - place) if chance.random() < 0.85 else chance.randint(0, 3)}
        return event

    return change


def ranking_reversed(event: Event, chance: Random) -> Event:
    """The ranker sorts the wrong way round: what fits best stands last."""
    ranked = event.get("returned_asset_ids")
    if event.get("type") == "retrieval" and isinstance(ranked, list):
        return {**event, "returned_asset_ids": ranked[::-1]}
    return event


def planner_eager(event: Event, chance: Random) -> Event:
    """The planner retrieves for prompts that need none."""
    if event.get("kind") == "intent" and event.get("type") == "judgement" and chance.random() < 0.7:
        return {**event, "retrieval_intents": 0}
    return event


def lineage_dropped(event: Event, chance: Random) -> Event:
    """A release of the producer forgets which retrieval an asset came from."""
    if event.get("type") in ("placement", "action"):
        return {
            name: given
            for name, given in event.items()
            if name not in ("source_retrieval_id", "source_placement_id", "request_id")
        }
    return event


FAULTS: Final[Mapping[str, Callable[[Event, Random], Event]]] = {
    "ranking": ranking_reversed,
    "planner": planner_eager,
    "lineage": lineage_dropped,
}


def broken(records: Iterable[Record], fault: str, since_ms: int, seed: int = 1) -> list[Record]:
    """The records, with a fault from a moment on."""
    chance = Random(seed)

    def change(event: Event, ts: int) -> Event:
        return FAULTS[fault](event, chance) if ts >= since_ms else event

    return list(_changed(records, change))
