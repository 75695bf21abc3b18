"""Seeded records that meet each other: few ids, times at the edges of every horizon, fields now and then absent.

A literal table of what is sent; `records_of` draws from it. The same seed gives the same records.
"""

import json
from random import Random
from typing import Any, NamedTuple

from tests.properties.strategies import AGENT_VERBS, BASE, DAY, EDGES, MINUTE, USER_VERBS, USUAL

Fields = dict[str, tuple[Any, ...]]

RETRIEVALS = ("r1", "r1", "r1", "r2", "r2", "r3", 4, "r-never")
REQUESTS = ("q1", "q1", "q2", "r1")
DOCUMENTS = ("d1", "d1", "d1", "d1", "d2")
PLACEMENTS = ("p1", "p1", "p2", "p3")
ASSETS = ("a1", "a1", "a2", "a3", 12, "12")
SESSIONS = (*("s1", "s2") * 6, "probe-1")
LISTS = (
    ["a1", "a2"],
    ["a1", "a2"],
    ["a2", "a1", "a3", "a1"],
    ["a3", None, 12],
    ["12"],
    [],
    None,
)
# Often the same few, so that records conflict or are copies; a record without one is known by its digest.
EVENTS = (*(f"e{number}" for number in range(12)), "", None)
COMMON: Fields = {
    "event_id": EVENTS,
    "surface": ("chat", "chat", "gallery", "moon", ""),
    "user_id": (*("u1", "u2") * 6, "robot"),
    "synthetic": (*(False, None) * 8, True),
}
USER: Fields = {"actor": ("user",), "action": USER_VERBS, "session_guid": SESSIONS}
AGENT: Fields = {"actor": ("agent",), "action": AGENT_VERBS, "session_guid": SESSIONS}


class Kind(NamedTuple):
    """One kind of record: how often it is drawn, and its fields with what they may hold."""

    weight: int
    type: str
    required: Fields
    optional: Fields


def acts(weight: int, fields: Fields) -> tuple[Kind, ...]:
    """Actions of both actors that point at something in one way."""
    return tuple(Kind(weight, "action", who | fields, {"request_id": REQUESTS}) for who in (USER, AGENT))


KINDS = (
    Kind(
        12,
        "retrieval",
        {"retrieval_id": RETRIEVALS, "session_guid": SESSIONS, "returned_asset_ids": LISTS},
        {
            "request_id": REQUESTS,
            "role": ("browse", "act_on", "act_on", "sing"),
            "query": ("card", " CARD", "red card", "生日贺卡", "生日卡", "Insulin"),
            "need_id": ("n1", "n1", "n2"),
            "conversation_id": ("c1", "c1", "c2"),
            "reformulates_retrieval_id": RETRIEVALS,
            "page_of": ("r1", "r2", None, None, None),
            "latency_ms": (3, 40, 7.5),
            "tokens": (10, 200),
        },
    ),
    Kind(
        10,
        "placement",
        {"placement_id": PLACEMENTS, "document_id": DOCUMENTS, "asset_id": ASSETS},
        {
            "op": (*("place",) * 5, "remove"),
            "source_retrieval_id": RETRIEVALS,
            "source_placement_id": PLACEMENTS,
            "derived_from_asset_id": ("a1", "a2"),
            "actor": ("user", "agent"),
            "session_guid": SESSIONS,
            "request_id": REQUESTS,
        },
    ),
    *acts(3, {"consumed_asset_id": ASSETS, "source_retrieval_id": RETRIEVALS}),
    *acts(2, {"document_id": DOCUMENTS, "placement_id": PLACEMENTS}),
    *acts(2, {"document_id": DOCUMENTS, "consumed_asset_id": ASSETS}),
    *acts(2, {"request_id": REQUESTS, "consumed_asset_id": ASSETS}),
    *acts(1, {"action": ("export", "share", "download"), "document_id": DOCUMENTS}),
    *acts(1, {"consumed_asset_id": ASSETS}),
    Kind(2, "action", AGENT | {"action": ("show",), "request_id": REQUESTS}, {}),
    Kind(
        6,
        "prompt",
        {"request_id": REQUESTS, "session_guid": SESSIONS},
        {"route": ("retrieve", "fly"), "reformulation": (True, False)},
    ),
    *(
        Kind(2, "judgement", {"kind": (kind,), **fields}, {"judge": ("human", "gpt")})
        for kind, fields in (
            ("relevance", {"query": ("card", "生日卡"), "asset_id": ASSETS, "grade": (-1, 0, 1, 2, 3)}),
            ("relevance", {"retrieval_id": RETRIEVALS, "asset_id": ASSETS, "grade": (-1, 0, 1, 2, 3)}),
            ("intent", {"request_id": REQUESTS, "retrieval_intents": (0, 0, 1, 2)}),
            ("goal", {"retrieval_id": RETRIEVALS, "reached": (True, False)}),
            ("goal", {"request_id": REQUESTS, "reached": (True, False)}),
        )
    ),
)
GARBAGE = ("", "{", "[1]", '{"type":"hologram"}', '{"type":"action","ts":true}')
WEIGHTS = [kind.weight for kind in KINDS]


def record(chance: Random) -> dict[str, Any]:
    """One record, as plain data."""
    kind = chance.choices(KINDS, WEIGHTS)[0]
    fields = {"type": kind.type, "ts": BASE + _time(chance, USUAL[kind.type])}
    fields |= {name: chance.choice(values) for name, values in kind.required.items()}
    optional = COMMON | kind.optional
    fields |= {name: chance.choice(values) for name, values in optional.items() if chance.random() < 0.4}
    return {name: value for name, value in fields.items() if value is not None}


def _time(chance: Random, usual: int) -> int:
    """Mostly a usual moment, so that things meet; else one at the edge of a rule, before or after."""
    if chance.random() < 0.75:
        return usual + chance.choice((0, 0, 1, MINUTE))
    return usual + chance.choice((1, 1, -1)) * chance.choice(EDGES)


def value(chance: Random) -> str | None:
    """The value of a record on the wire; seldom one that is no event. None is a tombstone."""
    if chance.random() < 0.06:
        return chance.choice((None, *GARBAGE))
    return json.dumps(record(chance), ensure_ascii=False, separators=(",", ":"))


def timestamp(chance: Random, sent: str | None) -> int:
    """When the broker got it (ms): mostly soon, seldom so late that it is refused, or before it happened."""
    try:
        happened = json.loads(sent or "")["ts"]
    except (ValueError, TypeError, KeyError):
        return BASE
    delay = chance.choice((*(MINUTE,) * 12, 7 * DAY, 7 * DAY + 1, -6 * MINUTE))
    return int(happened) + delay
