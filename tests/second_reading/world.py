"""What there is to look up: placements with their history, retrievals, requests, and the actions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.second_reading.records import Record
from tests.second_reading.rules import HORIZON


@dataclass(frozen=True, eq=False)
class Placement:
    """The history of one placement_id in one document; known by its first `place`."""

    document: str
    id: str
    first: Record
    history: list[Record]

    @property
    def asset(self) -> str:
        return self.first["asset_id"]

    @property
    def age_order(self) -> tuple[int, bytes]:
        """Which of several placements is the latest."""
        return self.first.ts, self.id.encode()

    def is_live(self, t: int) -> bool:
        """Whether the newest record at or before t is a `place`; a `remove` at the same ts is newer."""
        until_now = [r for r in self.history if r.ts <= t]
        newest = max(until_now, key=lambda r: (r.ts, is_remove(r), r.digest), default=None)
        return newest is not None and not is_remove(newest)


def is_remove(record: Record) -> bool:
    return record["op"] == "remove"


def placements_of(records: Iterable[Record]) -> list[Placement]:
    histories: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        if record.type == "placement":
            histories[record["document_id"], record["placement_id"]].append(record)
    placements = []
    for (document, placement_id), history in histories.items():
        places = [r for r in history if not is_remove(r)]
        if places:
            first = min(places, key=lambda r: r.order)
            placements.append(Placement(document, placement_id, first, history))
    return placements


def grouped(records: Iterable[Record], key: Callable[[Record], str | None]) -> dict[str | None, list[Record]]:
    groups: dict[str | None, list[Record]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups


class World:
    """The standing records that take part, found by the ids they are looked up by."""

    def __init__(self, records: Sequence[Record], all_records: Iterable[Record]) -> None:
        self.retrievals = {r.identity: r for r in records if r.type == "retrieval"}
        self.prompts = [r for r in records if r.type == "prompt"]
        self.of_request = grouped(self.retrievals.values(), lambda r: r.request)
        self.in_session = grouped(self.retrievals.values(), lambda r: r["session_guid"])
        self.in_conversation = grouped(self.retrievals.values(), lambda r: r.conversation)
        self.reformulating = grouped(self.retrievals.values(), lambda r: r["reformulates_retrieval_id"])
        self.pages_of = grouped(self.retrievals.values(), lambda r: r["page_of"])
        # Duplicates and conflicts included: what was ever said of a retrieval that takes part.
        self.retrieval_records = grouped(
            (r for r in all_records if r.type == "retrieval" and r.identity in self.retrievals),
            lambda r: r.request,
        )
        self.in_document: dict[str | None, list[Placement]] = defaultdict(list)
        for placement in placements_of(records):
            self.in_document[placement.document].append(placement)
        self.shows = grouped(
            (r for r in records if r.type == "action" and r["actor"] == "agent" and r["action"] == "show"),
            lambda r: r["request_id"],
        )

    def placements(self, document: str | None, t: int) -> list[Placement]:
        """The placements of a document that exist for an action at t, removed or not."""
        if document is None:
            return []
        return [p for p in self.in_document[document] if t - HORIZON <= p.first.ts <= t]

    def placement(self, document: str | None, placement_id: str, t: int) -> Placement | None:
        return next((p for p in self.placements(document, t) if p.id == placement_id), None)

    def latest(self, candidates: Iterable[Placement]) -> Placement | None:
        return max(candidates, key=lambda p: p.age_order, default=None)

    def ancestors(self, asset: str, document: str | None, t: int) -> set[str]:
        """Everything that an asset was derived from in a document, in however many steps."""
        derived = [(p.asset, p.first["derived_from_asset_id"]) for p in self.placements(document, t)]
        found: set[str] = set()
        to_do = [asset]
        while to_do:
            child = to_do.pop()
            new = {parent for a, parent in derived if a == child and parent is not None} - found
            found |= new
            to_do.extend(new)
        return found

    def first_show(self, retrieval: Record) -> int | None:
        """When the response to a retrieval's request first reached the user, if it was seen to."""
        return min((s.ts for s in self.shows[retrieval.request] if s.ts >= retrieval.ts), default=None)


@dataclass(frozen=True, eq=False)
class Act:
    """An action: an action record, or the first `place` of a placement by a named actor."""

    id: str
    record: Record
    verb: str
    asset: str | None
    placed: Placement | None = None

    @property
    def ts(self) -> int:
        return self.record.ts

    @property
    def actor(self) -> str:
        return self.record["actor"]

    @property
    def document(self) -> str | None:
        return self.record["document_id"]


def all_acts(standing: Iterable[Record]) -> list[Act]:
    """Every action but `show`."""
    standing = list(standing)
    acts = [
        Act(r.identity, r, r["action"], r["consumed_asset_id"])
        for r in standing
        if r.type == "action" and r["action"] != "show"
    ]
    for placement in placements_of(standing):
        if placement.first["actor"] is not None:
            first = placement.first
            acts.append(
                Act(f"place:{placement.document}/{placement.id}", first, "place", placement.asset, placement)
            )
    return acts
