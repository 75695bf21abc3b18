"""2. Choose: intake in the order given, and the record that stands for each identity.
3. Exclude: synthetic traffic, and whatever names it (contract, section 1)."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tests.second_reading.records import Invalid, Record, parse
from tests.second_reading.rules import Rules
from tests.second_reading.world import placements_of

DISPOSITIONS = ("tombstone", "invalid", "synthetic", "duplicate", "conflict", "applied")


def take_in(values: Sequence[bytes | None], rules: Rules) -> tuple[list[Record], dict[str, int]]:
    records: list[Record] = []
    intake = dict.fromkeys(DISPOSITIONS, 0)
    event_ids_seen: dict[tuple[str, str], set[str | None]] = defaultdict(set)
    for value in values:
        if value is None:
            intake["tombstone"] += 1
            continue
        try:
            record = parse(value)
        except Invalid:
            intake["invalid"] += 1
            continue
        records.append(record)
        seen = event_ids_seen[record.type, record.identity]
        intake[disposition(record, seen, rules)] += 1
        seen.add(record["event_id"])
    return records, intake


def disposition(record: Record, event_ids_seen: set[str | None], rules: Rules) -> str:
    """How a valid record is counted, given the event_ids already read under its identity.

    The event_id is a field of the digest, so another event_id always means another digest as well: a
    retrieval or prompt is a conflict exactly when no record with its event_id came before it.
    """
    if says_synthetic(record, rules):
        return "synthetic"
    if not event_ids_seen:
        return "applied"
    if record.type in ("retrieval", "prompt") and record["event_id"] not in event_ids_seen:
        return "conflict"
    return "duplicate"


def choose_standing(records: Iterable[Record]) -> list[Record]:
    """Of several records with one identity the first by (ts, digest)."""
    standing: dict[tuple[str, str], Record] = {}
    for record in sorted(records, key=lambda r: r.order):
        standing.setdefault((record.type, record.identity), record)
    return list(standing.values())


def normalise_query(query: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split())


def says_synthetic(record: Record, rules: Rules) -> bool:
    """Whether the record says so itself or matches a configured rule."""
    session, user, query = record["session_guid"], record["user_id"], record["query"]
    return (
        record["synthetic"] is True
        or (session is not None and session.startswith(tuple(rules.synthetic_session_prefixes)))
        or (user is not None and user in rules.synthetic_user_ids)
        or (query is not None and normalise_query(query) in map(normalise_query, rules.synthetic_queries))
    )


def names_of(record: Record) -> set[tuple[str, ...]]:
    """The retrievals, requests and placements that a record names, its own placement included."""
    names: set[tuple[str, ...]] = set()
    for name in ("source_retrieval_id", "reformulates_retrieval_id", "page_of", "retrieval_id"):
        if record[name] is not None:
            names.add(("retrieval", record[name]))
    if record.request is not None:
        names.add(("request", record.request))
    for name in ("placement_id", "source_placement_id"):
        if record["document_id"] is not None and record[name] is not None:
            names.add(("placement", record["document_id"], record[name]))
    return names


def find_excluded(standing: Sequence[Record], rules: Rules) -> set[Record]:
    """Start from what is synthetic in itself; follow the names until nothing more falls out."""
    excluded = {record for record in standing if says_synthetic(record, rules)}
    placements = placements_of(standing)
    while True:
        bad: set[tuple[str, ...]] = set()
        for record in excluded:
            if record.type == "retrieval":
                bad.add(("retrieval", record.identity))
            elif record.type == "prompt":
                bad.add(("request", record.identity))
        for placement in placements:
            if placement.first in excluded:
                bad.add(("placement", placement.document, placement.id))
        more = {record for record in standing if record not in excluded and names_of(record) & bad}
        if not more:
            return excluded
        excluded |= more
