"""A second reading of the contract: plain, slow, in one batch, and sharing not a line with the product.

It answers one question for the tests: what would a careful reader of `contract.md` (and of
`docs/decisions.md`, where the contract leaves a gap) work out by hand from these records?
So it goes the way a reader would, in five steps:

1. parse      every record value becomes a `Record` (known, present fields only) or is invalid;
2. choose     of the records of one identity the first by (ts, digest) stands;
3. exclude    what is synthetic, and whatever names it, takes part in nothing;
4. resolve    every action walks the rules of section 2 and ends with the retrievals it credits;
5. sum        what is true of each retrieval (section 3) is counted window by window (section 5).

Nothing is incremental, cached or clever, and nothing but `intake` looks at the order of the records.

Not read yet: rule 5 (inference), `researched` and `substituted`, Layer 0, judged scores, diagnosis,
sessions, goals, completion, clicks, latency.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

HORIZON = 30 * DAY  # section 2: only what happened in the 30 days before an action exists for it
SKEW = 5 * MINUTE  # rule 1: a claimed retrieval may be stamped this much after the action
MATURITY = 30 * MINUTE  # section 5: without evidence, older is unobserved and younger is pending
MAX_STEPS = 16  # rule 2: how far the source of a placement is followed
Z = 1.959963984540054

WINDOWS = {"5m": 5 * MINUTE, "1h": HOUR, "6h": 6 * HOUR, "24h": DAY, "7d": 7 * DAY, "all": None}
ROLES = {"direct_lookup", "browse", "act_on", "generation_reference", "task_step", "contextual"}
RESOLUTIONS = ("explicit", "inherited", "document", "request", "inferred", "none", "refuted", "dangling")
SIGNALS = ("rejected",)
OUTCOMES = ("export", "share", "download")
AGENT_VERBS = {"select", "edit", "use", "generate", "place", "export", "share", "download"}

STRICT = ["export", "share", "download"]
STANDARD = [*STRICT, "select", "place", "edit", "follow_up"]


def _definitions() -> dict[str, dict[str, list[str]]]:
    return {
        "strict": {"actions": STRICT},
        "standard": {"actions": STANDARD},
        "broad": {"any_but": ["reject", "correct", "not_helpful"]},
    }


@dataclass(frozen=True)
class Rules:
    """What a deployment configures."""

    surfaces: tuple[str, ...] = ("chat", "gallery", "editor", "unknown")
    definitions: dict[str, dict[str, list[str]]] = field(default_factory=_definitions)
    synthetic_session_prefixes: tuple[str, ...] = ()
    synthetic_user_ids: tuple[str, ...] = ()
    synthetic_queries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What the records say."""

    intake: dict[str, int]
    attributions: dict[str, dict[str, Any]]
    outcomes: dict[str, dict[str, Any]]
    metrics: list[dict[str, Any]]


def read(values: Sequence[bytes | None], as_of_ms: int | None = None, rules: Rules | None = None) -> Reading:
    """Read all record values at once."""
    rules = rules or Rules()
    records, intake = take_in(values, rules)
    standing = choose_standing(records)
    excluded = find_excluded(standing, rules)
    world = World([r for r in standing if r not in excluded])
    acts = all_acts(standing)
    resolved = [(act, resolve(act, world)) for act in acts if act.record not in excluded]
    retrievals = [judge(r, resolved, world, rules) for r in world.retrievals.values()]
    if as_of_ms is None:
        timed = ("prompt", "retrieval", "placement", "action")
        as_of_ms = max((r.ts for r in standing if r.type in timed and r not in excluded), default=0)
    end = -(-as_of_ms // MINUTE) * MINUTE
    return Reading(
        intake=intake,
        attributions=attributions_of(acts, resolved, world),
        outcomes=outcomes_of(standing, retrievals),
        metrics=list(figures(retrievals, resolved, world, end, rules)),
    )


# ---------------------------------------------------------------------------------------------------
# 1. Parse: a record is its known, present fields, or it is invalid (contract, section 1)
# ---------------------------------------------------------------------------------------------------


class Invalid(Exception):
    """The record is no event."""


def as_text(value: Any) -> str:
    if type(value) is not str:
        raise Invalid("not text")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise Invalid("half a surrogate pair is no text")
    return value


def as_id(value: Any) -> str:
    text = str(value) if type(value) is int else as_text(value)
    if not 1 <= len(text) <= 256:
        raise Invalid("an id has 1 to 256 code points")
    return text


def as_id_list(value: Any) -> list[str | None]:
    if type(value) is not list:
        raise Invalid("not a list")
    return [None if is_absent(element) else as_id(element) for element in value]


def as_bool(value: Any) -> bool:
    if type(value) is not bool:
        raise Invalid("not true or false")
    return value


def as_int(value: Any) -> int:
    if type(value) is not int:
        raise Invalid("not an integer")
    return value


def as_number(value: Any) -> int | float:
    if type(value) not in (int, float) or value in (math.inf, -math.inf):
        raise Invalid("not a number")
    return value


def as_count(value: Any) -> int:
    if as_int(value) < 0:
        raise Invalid("below 0")
    return value


def one_of(*allowed: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if as_text(value) not in allowed:
            raise Invalid(f"not one of {allowed}")
        return value

    return check


def as_action(value: Any) -> str:
    if not re.fullmatch("[a-z][a-z0-9_]*", as_text(value)):
        raise Invalid("not the name of an action")
    return value


RFC_3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z


def as_time(value: Any) -> int:
    """Milliseconds since the epoch, of an integer or of RFC 3339 text."""
    ms = value if type(value) is int else rfc_3339_ms(as_text(value))
    if not 0 <= ms <= LAST_MS:
        raise Invalid("outside of the years 1970 to 9999")
    return ms


def rfc_3339_ms(text: str) -> int:
    match = RFC_3339.fullmatch(text)
    if match is None:
        raise Invalid("not RFC 3339 with an offset")
    year, month, day, hour, minute, second, fraction, sign, offset_hours, offset_minutes = match.groups()
    if int(offset_hours or 0) > 23 or int(offset_minutes or 0) > 59:
        raise Invalid("no such offset")
    try:
        local = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError as error:
        raise Invalid("no such time") from error
    offset_ms = int(offset_hours or 0) * HOUR + int(offset_minutes or 0) * MINUTE
    ms = (local - EPOCH) // timedelta(milliseconds=1) + int(((fraction or "") + "000")[:3])
    return ms + offset_ms if sign == "-" else ms - offset_ms


COMMON = {
    "type": as_text,
    "event_id": as_id,
    "ts": as_time,
    "session_guid": as_id,
    "conversation_id": as_id,
    "request_id": as_id,
    "surface": as_text,
    "user_id": as_id,
    "synthetic": as_bool,
}
KNOWN: dict[str, dict[str, Callable[[Any], Any]]] = {
    "prompt": {"text": as_text, "route": as_text, "reformulation": as_bool},
    "retrieval": {
        "retrieval_id": as_id,
        "role": as_text,
        "query": as_text,
        "need_id": as_id,
        "reformulates_retrieval_id": as_id,
        "page_of": as_id,
        "returned_asset_ids": as_id_list,
        "retriever": as_text,
        "latency_ms": as_number,
        "tokens": as_int,
    },
    "placement": {
        "placement_id": as_id,
        "document_id": as_id,
        "asset_id": as_id,
        "op": one_of("place", "remove"),
        "source_retrieval_id": as_id,
        "source_placement_id": as_id,
        "derived_from_asset_id": as_id,
        "actor": one_of("user", "agent"),
    },
    "action": {
        "actor": one_of("user", "agent"),
        "action": as_action,
        "consumed_asset_id": as_id,
        "source_retrieval_id": as_id,
        "placement_id": as_id,
        "document_id": as_id,
        "shown_asset_ids": as_id_list,
        "reason": as_text,
        "latency_ms": as_number,
        "tokens": as_int,
    },
    "judgement": {
        "kind": one_of("relevance", "intent", "goal"),
        "retrieval_id": as_id,
        "query": as_text,
        "asset_id": as_id,
        "grade": as_int,
        "retrieval_intents": as_count,
        "reached": as_bool,
        "judge": as_text,
    },
}
# Each entry is met by any one of its alternatives. A judgement's second half goes by its kind.
REQUIRED = {
    "prompt": ["request_id", "ts", "session_guid"],
    "retrieval": ["retrieval_id", "ts", "session_guid"],
    "placement": ["placement_id", "document_id", "asset_id", "ts"],
    "action": ["actor", "action", "ts", "session_guid"],
    "judgement": ["kind", "ts"],
    "relevance": ["retrieval_id|query", "asset_id", "grade"],
    "intent": ["request_id", "retrieval_intents"],
    "goal": ["request_id|retrieval_id", "reached"],
}


@dataclass(frozen=True, eq=False)  # a record is itself, not its content
class Record:
    """A valid record: what was read, and what follows from it alone."""

    type: str
    fields: dict[str, Any]
    ts: int
    digest: str

    def __getitem__(self, name: str) -> Any:
        """The value of a field; None if it is absent."""
        return self.fields.get(name)

    @property
    def identity(self) -> str:
        named = {"retrieval": "retrieval_id", "prompt": "request_id"}.get(self.type, "event_id")
        return self[named] or self.digest

    @property
    def request(self) -> str | None:
        """The request it belongs to; a retrieval's is its retrieval_id by default."""
        return self["request_id"] or (self["retrieval_id"] if self.type == "retrieval" else None)

    @property
    def order(self) -> tuple[int, str]:
        return self.ts, self.digest


def is_absent(value: Any) -> bool:
    return value is None or (type(value) is str and value == "")


def parse(value: bytes) -> Record:
    raw = parse_json_object(value)
    kind = raw.get("type")
    if type(kind) is not str or kind not in KNOWN:
        raise Invalid("unknown type")
    known = COMMON | KNOWN[kind]
    fields = {name: known[name](v) for name, v in raw.items() if name in known and not is_absent(v)}
    for table in (kind, fields.get("kind")):
        for alternatives in REQUIRED.get(table, []):
            if not any(name in fields for name in alternatives.split("|")):
                raise Invalid(f"{alternatives} is missing")
    return Record(kind, fields, fields["ts"], digest_of(fields))


def parse_json_object(value: bytes) -> dict[str, Any]:
    def no_constant(name: str) -> None:
        raise Invalid(f"{name} is not JSON")

    try:
        raw = json.loads(value.decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError) as error:  # bad UTF-8 and bad JSON are both ValueErrors
        raise Invalid("not JSON") from error
    if type(raw) is not dict:
        raise Invalid("not an object")
    return raw


def digest_of(fields: dict[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# ---------------------------------------------------------------------------------------------------
# 2. Choose: intake in the order given, and the record that stands for each identity
# ---------------------------------------------------------------------------------------------------

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


# ---------------------------------------------------------------------------------------------------
# 3. Exclude: synthetic traffic, and whatever names it
# ---------------------------------------------------------------------------------------------------


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


# ---------------------------------------------------------------------------------------------------
# 4. Resolve: which retrievals an action belongs to (contract, section 2)
# ---------------------------------------------------------------------------------------------------


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


class World:
    """The standing records that take part, found by the ids they are looked up by."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.retrievals = {r.identity: r for r in records if r.type == "retrieval"}
        self.of_request: dict[str | None, list[Record]] = defaultdict(list)
        for retrieval in self.retrievals.values():
            self.of_request[retrieval.request].append(retrieval)
        self.in_document: dict[str | None, list[Placement]] = defaultdict(list)
        for placement in placements_of(records):
            self.in_document[placement.document].append(placement)
        self.shows: dict[str | None, list[Record]] = defaultdict(list)
        for r in records:
            if r.type == "action" and r["actor"] == "agent" and r["action"] == "show":
                self.shows[r["request_id"]].append(r)

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


@dataclass(frozen=True)
class Resolution:
    """How an action was resolved, and what it credits: retrieval id → assets consumed from it."""

    name: str
    credits: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """Where a claim or a placement leads: `ok` with a retrieval, or `refuted`, `dangling`, `none`."""

    verdict: str
    retrieval_id: str | None = None


NOWHERE = Source("none")


def resolve(act: Act, world: World) -> Resolution:
    """The first rule that applies decides."""
    if act.placed is not None:
        return resolve_by_source(source_of(act.placed, act.ts, world), act.placed)
    if act.record["source_retrieval_id"] is not None:
        return resolve_claim(act, world)
    if act.record["placement_id"] is not None:
        return resolve_by_placement_id(act, world)
    if act.document is not None and act.asset is not None:
        live = [p for p in world.placements(act.document, act.ts) if p.is_live(act.ts)]
        placement = world.latest(p for p in live if p.asset == act.asset)
        if placement is not None:
            return resolve_by_source(source_of(placement, act.ts, world), placement)
    if act.document is not None and act.asset is None and act.verb in OUTCOMES:
        return resolve_document(act, world)
    return resolve_request(act, world)


def resolve_claim(act: Act, world: World) -> Resolution:
    """Rule 1."""
    source = tried_claim(act.record["source_retrieval_id"], act.asset, act.document, act.ts, world)
    if source.verdict != "ok":
        return Resolution(source.verdict)
    return Resolution("explicit", {source.retrieval_id: set() if act.asset is None else {act.asset}})


def tried_claim(retrieval_id: str, asset: str | None, document: str | None, t: int, world: World) -> Source:
    """A claim is tested where it stands, for an action at t."""
    retrieval = world.retrievals.get(retrieval_id)
    if retrieval is None or not t - HORIZON <= retrieval.ts <= t + SKEW:
        return Source("dangling")
    returned = retrieval["returned_asset_ids"]
    if returned is None:
        return Source("ok", retrieval_id)
    if returned == []:
        return Source("refuted")
    if asset is None or None in returned or asset in returned:
        return Source("ok", retrieval_id)
    if world.ancestors(asset, document, t) & set(returned):
        return Source("ok", retrieval_id)
    return Source("refuted")


def source_of(placement: Placement, t: int, world: World) -> Source:
    """The source of a placement, for an action at t: its own claim, else what it was copied or made from."""
    passed: list[Placement] = []
    while True:
        first = placement.first
        if first["source_retrieval_id"] is not None:
            return tried_claim(first["source_retrieval_id"], placement.asset, placement.document, t, world)
        passed.append(placement)
        if len(passed) > MAX_STEPS:
            return NOWHERE
        if first["source_placement_id"] is not None:
            origin = world.placement(placement.document, first["source_placement_id"], t)
            if origin is None:
                return Source("dangling")
        else:
            older = [p for p in world.placements(placement.document, t) if p.first.ts <= first.ts]
            origin = world.latest(p for p in older if p.asset == first["derived_from_asset_id"])
        if origin is None or origin in passed:
            return NOWHERE
        placement = origin


def resolve_by_source(source: Source, placement: Placement) -> Resolution:
    """Rule 2, once the placement is found."""
    if source.verdict != "ok":
        return Resolution(source.verdict)
    return Resolution("inherited", {source.retrieval_id: {placement.asset}})


def resolve_by_placement_id(act: Act, world: World) -> Resolution:
    """Rule 2 with a placement_id, which decides whatever it finds."""
    placement = world.placement(act.document, act.record["placement_id"], act.ts)
    if placement is None:
        return Resolution("dangling")
    if not placement.is_live(act.ts) or act.asset not in (None, placement.asset):
        return Resolution("none")
    return resolve_by_source(source_of(placement, act.ts, world), placement)


def resolve_document(act: Act, world: World) -> Resolution:
    """Rule 3: everything that is live in the document."""
    credited: dict[str, set[str]] = defaultdict(set)
    verdicts = set()
    for placement in world.placements(act.document, act.ts):
        if placement.is_live(act.ts):
            source = source_of(placement, act.ts, world)
            verdicts.add(source.verdict)
            if source.verdict == "ok":
                credited[source.retrieval_id].add(placement.asset)
    if credited:
        return Resolution("document", dict(credited))
    return Resolution(next((v for v in ("refuted", "dangling") if v in verdicts), "none"))


def resolve_request(act: Act, world: World) -> Resolution:
    """Rule 4: every list of the same request that holds the asset itself; else rule 6."""
    request = act.record["request_id"]
    if request is None or act.asset is None:
        return Resolution("none")
    credited = {
        r.identity: {act.asset}
        for r in world.of_request[request]
        if act.ts - HORIZON <= r.ts <= act.ts and act.asset in (r["returned_asset_ids"] or [])
    }
    return Resolution("request", credited) if credited else Resolution("none")


def is_cross_session(act: Act, resolution: Resolution, world: World) -> bool:
    session = act.record["session_guid"]
    return session is not None and any(
        world.retrievals[r]["session_guid"] != session for r in resolution.credits
    )


Resolved = Sequence[tuple[Act, Resolution]]


def attributions_of(acts: Sequence[Act], resolved: Resolved, world: World) -> dict[str, dict[str, Any]]:
    nothing = {"resolution": "excluded", "retrieval_ids": [], "cross_session": False}
    attributions = {act.id: dict(nothing) for act in acts}
    for act, resolution in resolved:
        attributions[act.id] = {
            "resolution": resolution.name,
            "retrieval_ids": sorted(resolution.credits),
            "cross_session": is_cross_session(act, resolution, world),
        }
    return attributions


# ---------------------------------------------------------------------------------------------------
# 5a. What is true of one retrieval (contract, section 3)
# ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judged:
    """One retrieval and all that its evidence says, whenever that came."""

    record: Record
    labels: tuple[str, str]  # role, surface
    action_ids: list[str]
    positive: dict[str, bool]  # U, by definition
    standard: bool  # U by `standard`
    agent_consumed: bool  # A
    delegated: bool  # D
    failure_signals: list[str]  # F, if any
    corrected: bool
    ranks: dict[str, int]

    @property
    def ts(self) -> int:
        return self.record.ts

    def has_evidence(self, definition: str) -> bool:
        return bool(
            self.positive[definition] or self.agent_consumed or self.delegated or self.failure_signals
        )


def is_positive(act: Act, definition: dict[str, list[str]]) -> bool:
    if act.actor != "user":
        return False
    if "any_but" in definition:
        return act.verb not in definition["any_but"]
    return act.verb in definition["actions"]


def standard_of(rules: Rules) -> dict[str, list[str]]:
    return rules.definitions.get("standard", {"actions": STANDARD})


def judge(retrieval: Record, resolved: Resolved, world: World, rules: Rules) -> Judged:
    credited = [(act, res) for act, res in resolved if retrieval.identity in res.credits]
    acts = [act for act, _ in credited]
    agent_acts = [act for act in acts if act.actor == "agent" and act.verb in AGENT_VERBS]
    in_request = [is_agent_consumption(act, retrieval, world) for act in agent_acts]
    return Judged(
        record=retrieval,
        labels=(role_of(retrieval), surface_of(retrieval, rules)),
        action_ids=sorted(act.id for act in acts),
        positive={
            name: any(is_positive(act, definition) for act in acts)
            for name, definition in rules.definitions.items()
        },
        standard=any(is_positive(act, standard_of(rules)) for act in acts),
        agent_consumed=any(in_request),
        delegated=not all(in_request),
        failure_signals=failure_signals(acts),
        corrected=any(act.actor == "user" and act.verb == "correct" for act in acts),
        ranks=ranks_of(retrieval, credited, world, rules),
    )


def is_agent_consumption(act: Act, retrieval: Record, world: World) -> bool:
    """A, not D: within the retrieval's own request, and not after its response was first shown."""
    if act.record["request_id"] != retrieval.request:
        return False
    shown = world.first_show(retrieval)
    return shown is None or act.ts <= shown


def failure_signals(acts: Sequence[Act]) -> list[str]:
    rejected = any(act.actor == "user" and act.verb == "reject" for act in acts)
    return ["rejected"] if rejected else []


def ranks_of(retrieval: Record, credited: Resolved, world: World, rules: Rules) -> dict[str, int]:
    """The position of every asset that was consumed from a logged list, as good as any use of it knows."""
    returned = retrieval["returned_asset_ids"]
    if returned is None:
        return {}
    ranks: dict[str, int] = {}
    for act, resolution in credited:
        used_by_agent = act.actor == "agent" and act.verb in AGENT_VERBS
        if not (used_by_agent or is_positive(act, standard_of(rules))):
            continue
        for asset in resolution.credits[retrieval.identity]:
            names = {asset} if asset in returned else world.ancestors(asset, act.document, act.ts)
            positions = [returned.index(name) + 1 for name in names if name in returned]
            if positions:
                ranks[asset] = min([*positions, *([ranks[asset]] if asset in ranks else [])])
    return ranks


def role_of(retrieval: Record) -> str:
    return retrieval["role"] if retrieval["role"] in ROLES else "unspecified"


def surface_of(record: Record, rules: Rules) -> str:
    surface = record["surface"] or "unknown"
    return surface if surface in rules.surfaces else "other"


def outcomes_of(standing: Iterable[Record], retrievals: Iterable[Judged]) -> dict[str, dict[str, Any]]:
    outcomes: dict[str, dict[str, Any]] = {
        r.identity: {"excluded": True} for r in standing if r.type == "retrieval"
    }
    for r in retrievals:
        outcomes[r.record.identity] = {
            "excluded": False,
            "positive": r.positive,
            "agent_consumed": r.agent_consumed,
            "delegated": r.delegated,
            "failure_signals": r.failure_signals,
            "corrected": r.corrected,
            "action_ids": r.action_ids,
            "ranks": r.ranks,
        }
    return outcomes


# ---------------------------------------------------------------------------------------------------
# 5b. Figures (contract, section 5)
# ---------------------------------------------------------------------------------------------------

Row = dict[str, Any]
Labels = dict[str, str]


def figures(
    retrievals: Sequence[Judged], resolved: Resolved, world: World, end: int, rules: Rules
) -> Iterator[Row]:
    for window in WINDOWS:
        labels = {"window": window}
        for cohort, cohort_end in (("live", end), ("settled", end - MATURITY)):
            chosen = within(retrievals, window, cohort_end)
            for key in label_sets(retrievals, chosen, end):
                of_key = [r for r in chosen if r.labels == key]
                more = {"cohort": cohort, "role": key[0], "surface": key[1]}
                yield from evidence_rows(labels | more, of_key, end, rules)
        chosen = within(retrievals, window, end)
        for key in label_sets(retrievals, chosen, end):
            of_key = [r for r in chosen if r.labels == key]
            yield from list_rows(labels | {"role": key[0], "surface": key[1]}, of_key)
        yield from outcome_rows(labels, resolved, world, end, rules)
        yield from action_rows(labels, resolved, end)
        yield from coverage_rows(labels, chosen, acts_within(resolved, window, end))


def is_within(ts: int, window: str, end: int) -> bool:
    width = WINDOWS[window]
    return ts < end and (width is None or ts >= end - width)


def within(retrievals: Iterable[Judged], window: str, end: int) -> list[Judged]:
    return [r for r in retrievals if is_within(r.ts, window, end)]


def acts_within(resolved: Resolved, window: str, end: int) -> Resolved:
    return [(act, resolution) for act, resolution in resolved if is_within(act.ts, window, end)]


def label_sets(everything: Iterable[Judged], chosen: Iterable[Judged], end: int) -> list[tuple[str, str]]:
    """The label sets seen in `7d`, or in the window itself."""
    return sorted({r.labels for r in [*within(everything, "7d", end), *chosen]})


def row(name: str, labels: Labels, value: float) -> Row:
    return {"name": name, "labels": dict(labels), "value": value}


def count(name: str, labels: Labels, things: Iterable[object]) -> Row:
    return row(name, labels, sum(1 for thing in things if thing))


def ratio(name: str, labels: Labels, part: Iterable[object], whole: Sequence[object]) -> Iterator[Row]:
    """A ratio of counts and its 95 % Wilson bounds; nothing at all over nothing."""
    k, n = sum(1 for thing in part if thing), len(whole)
    if n == 0:
        return
    lower, upper = wilson(k, n)
    yield row(name, labels, k / n)
    yield row(name + "_lower", labels, lower)
    yield row(name + "_upper", labels, upper)


def wilson(k: int, n: int) -> tuple[float, float]:
    p = k / n
    centre = p + Z * Z / (2 * n)
    half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    lower = 0.0 if k == 0 else (centre - half) / scale
    upper = 1.0 if k == n else (centre + half) / scale
    return lower, upper


def evidence_rows(labels: Labels, group: Sequence[Judged], end: int, rules: Rules) -> Iterator[Row]:
    """The figures with a cohort: Layers 2 and 3."""
    live = labels["cohort"] == "live"
    yield row("lara_retrievals", labels, len(group))
    for definition in rules.definitions:
        named = labels | {"definition": definition}
        positive = [r.positive[definition] for r in group]
        silent = [r for r in group if not r.has_evidence(definition)]
        unobserved = [r for r in silent if r.ts < end - MATURITY]
        pending = [r for r in silent if r.ts >= end - MATURITY]
        yield count("lara_retrievals_positive", named, positive)
        yield from ratio("lara_gpr_ratio", named, positive, group)
        yield count("lara_retrievals_unobserved", named, unobserved)
        if live:
            yield count("lara_retrievals_pending", named, pending)
            yield from ratio("lara_pending_ratio", named, pending, group)
        else:
            yield from ratio("lara_uor_ratio", named, unobserved, group)
    consumed = [r for r in group if r.agent_consumed]
    delegated = [r for r in group if r.delegated]
    failed = [r for r in group if r.failure_signals]
    yield count("lara_retrievals_agent_consumed", labels, consumed)
    yield from ratio("lara_acr_ratio", labels, consumed, group)
    yield count("lara_retrievals_delegated", labels, delegated)
    yield from ratio("lara_delegated_ratio", labels, delegated, group)
    yield count("lara_retrievals_failed", labels, failed)
    yield from ratio("lara_orf_ratio", labels, failed, group)
    not_failed = [r for r in group if not r.failure_signals]
    yield from ratio("lara_no_observed_failure_ratio", labels, not_failed, group)
    for signal in SIGNALS:
        signalled = [r for r in group if signal in r.failure_signals]
        yield count("lara_retrievals_failed_by_signal", labels | {"signal": signal}, signalled)
    yield count("lara_retrievals_corrected", labels, [r.corrected for r in group])
    yield from ratio("lara_agent_use_confirmed_ratio", labels, [r.standard for r in consumed], consumed)


def list_rows(labels: Labels, group: Sequence[Judged]) -> Iterator[Row]:
    """Layer 1 without judgements, and what was consumed from where in the list."""
    listed = [r for r in group if r.record["returned_asset_ids"] is not None]
    null = [r for r in listed if r.record["returned_asset_ids"] == [] and r.record["page_of"] is None]
    ranks = [rank for r in group for rank in r.ranks.values()]
    yield row("lara_retrievals_without_list", labels, len(group) - len(listed))
    yield row("lara_layer1_retrievals", labels, len(listed))
    yield row("lara_retrievals_null", labels, len(null))
    yield from ratio("lara_null_ratio", labels, null, listed)
    yield row("lara_consumed_assets", labels, len(ranks))
    if ranks:
        yield row("lara_consumed_rank", labels, sum(ranks) / len(ranks))


def outcome_rows(labels: Labels, resolved: Resolved, world: World, end: int, rules: Rules) -> Iterator[Row]:
    """User exports, shares and downloads, each counted once, by its own time and surface."""

    def key_of(act: Act) -> tuple[str, str]:
        return surface_of(act.record, rules), act.verb

    outcomes = [(act, res) for act, res in resolved if act.actor == "user" and act.verb in OUTCOMES]
    chosen = acts_within(outcomes, labels["window"], end)
    keys = {key_of(act) for act, _ in chosen} | {key_of(act) for act, _ in acts_within(outcomes, "7d", end)}
    for surface, verb in sorted(keys):
        group = [(act, res) for act, res in chosen if key_of(act) == (surface, verb)]
        attributed = [res.credits for _, res in group]
        crossing = [is_cross_session(act, res, world) for act, res in group]
        named = labels | {"surface": surface, "action": verb}
        yield row("lara_outcomes", named, len(group))
        yield count("lara_attributed_outcomes", named, attributed)
        yield count("lara_cross_session_outcomes", named, crossing)
        yield from ratio("lara_attributed_outcome_ratio", named, attributed, group)


def action_rows(labels: Labels, resolved: Resolved, end: int) -> Iterator[Row]:
    chosen = acts_within(resolved, labels["window"], end)
    if chosen or acts_within(resolved, "7d", end):
        for name in RESOLUTIONS:
            named = labels | {"resolution": name}
            yield count("lara_actions", named, [resolution.name == name for _, resolution in chosen])


def coverage_rows(labels: Labels, retrievals: Sequence[Judged], acts: Resolved) -> Iterator[Row]:
    """How much of the lineage is logged at all."""

    def coverage(name: str, part: Iterable[object], whole: Sequence[object]) -> Iterator[Row]:
        return ratio("lara_lineage_coverage_ratio", labels | {"field": name}, part, whole)

    for name in ("returned_asset_ids", "request_id"):
        yield from coverage(name, [r.record[name] is not None for r in retrievals], retrievals)
    yield from coverage("role", [r.record["role"] in ROLES for r in retrievals], retrievals)
    yield from coverage("consumed_asset_id", [act.asset is not None for act, _ in acts], acts)
    traceable = [
        resolution.name in ("explicit", "inherited", "document")
        for act, resolution in acts
        if act.asset is not None or act.document is not None or act.record["placement_id"] is not None
    ]
    yield from coverage("source_retrieval_id", traceable, traceable)
