"""Events that meet each other: few ids, times at the edges of every horizon, fields now and then absent."""

import json
from typing import Any

from hypothesis import strategies as st

MINUTE = 60_000
DAY = 86_400_000
BASE = 1_772_445_600_000  # 2026-03-02T10:00:00Z

# Offsets around what the rules compare: ties, a minute, 5 min of skew, 30 min of maturity, 30 days.
EDGES = (1, 5 * MINUTE, 5 * MINUTE + 1, 31 * MINUTE, DAY, 30 * DAY, 30 * DAY + 1)


def some(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def times(usual: int) -> st.SearchStrategy[int]:
    """Mostly a usual moment, so that things meet; else one at the edge of a rule, before or after."""
    usually = some(usual, usual, usual + 1, usual + MINUTE)
    edge = st.builds(lambda offset, sign: usual + sign * offset, some(*EDGES), some(1, 1, -1))
    return st.one_of(usually, usually, usually, edge).map(lambda offset: BASE + offset)


def seldom(rare: Any, *usual: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([*(usual * (12 // len(usual))), rare])


retrieval_ids = seldom("r-never", "r1", "r2", "r3", 4)
request_ids = some("q1", "q2", "r1")
document_ids = seldom("d2", "d1")
placement_ids = some("p1", "p2", "p3", "p4")
assets = some("a1", "a1", "a2", "a3", 12, "12")
sessions = seldom("probe-1", "s1", "s2")
event_ids = some(*(f"e{number}" for number in range(12)), "", None)
surfaces = some("chat", "gallery", "moon", "")
flags = some(True, False, None, False)
flags_known = some(True, False)
USER_VERBS = (
    "click",
    "export",
    "share",
    "download",
    "select",
    "edit",
    "follow_up",
    "reject",
    "correct",
    "helpful",
)
AGENT_VERBS = ("use", "select", "edit", "use", "generate", "export", "show", "click")

common = {
    "event_id": event_ids,
    "surface": surfaces,
    "user_id": seldom("robot", "u1", "u2"),
    "synthetic": seldom(True, False, None),
}


# When things usually happen, in milliseconds after the first.
USUAL = {
    "prompt": 0,
    "retrieval": MINUTE,
    "placement": 3 * MINUTE,
    "action": 6 * MINUTE,
    "judgement": 2 * MINUTE,
}


def event(event_type: str, required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just(event_type), "ts": times(USUAL[event_type]), **required},
        optional={**common, **optional},
    )


prompts = event(
    "prompt",
    {"request_id": request_ids, "session_guid": sessions},
    {"text": some("hello"), "route": some("retrieve", "fly", ""), "reformulation": flags},
)
retrievals = event(
    "retrieval",
    {"retrieval_id": retrieval_ids, "session_guid": sessions},
    {
        "request_id": request_ids,
        "role": some("browse", "act_on", "sing"),
        "query": seldom("Insulin", "card", "red card", "生日贺卡", "生日卡", ""),
        "need_id": some("n1", "n1", "n2"),
        "conversation_id": some("c1", "c1", "c2"),
        "reformulates_retrieval_id": retrieval_ids,
        "page_of": seldom("r1", None, "", None),
        "latency_ms": some(3, 40, 7.5),
        "tokens": some(10, 200),
        "returned_asset_ids": st.one_of(
            st.lists(st.one_of(assets, assets, st.none()), min_size=1, max_size=5),
            st.lists(assets, min_size=2, max_size=5),
            st.none(),
            st.just([]),
        ),
    },
)
placements = event(
    "placement",
    {"placement_id": placement_ids, "document_id": document_ids, "asset_id": assets},
    {
        "op": seldom("remove", "place"),
        "source_retrieval_id": retrieval_ids,
        "source_placement_id": placement_ids,
        "derived_from_asset_id": some("a1", "a2"),
        "actor": some("user", "agent"),
        "session_guid": sessions,
        "request_id": request_ids,
    },
)
action_fields = {
    "consumed_asset_id": assets,
    "source_retrieval_id": retrieval_ids,
    "placement_id": placement_ids,
    "document_id": document_ids,
    "request_id": request_ids,
    "latency_ms": some(1, 2.5),
    "tokens": some(5, 9),
}


def acts(fields: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Actions of both actors that point at something in one way."""
    by_user = {"actor": st.just("user"), "action": some(*USER_VERBS), "session_guid": sessions}
    by_agent = {"actor": st.just("agent"), "action": some(*AGENT_VERBS), "session_guid": sessions}
    optional = {} if "request_id" in fields else {"request_id": request_ids}
    return st.one_of(*(event("action", {**who, **fields}, optional) for who in (by_user, by_agent)))


by_claim = acts({"consumed_asset_id": assets, "source_retrieval_id": retrieval_ids})
by_placement = acts({"document_id": document_ids, "placement_id": placement_ids})
by_asset = acts({"document_id": document_ids, "consumed_asset_id": assets})
by_document = event(
    "action",
    {"actor": some("user", "agent"), "action": some("export", "share", "download"), "session_guid": sessions}
    | {"document_id": document_ids},
    {},
)
by_request = acts({"consumed_asset_id": assets, "request_id": request_ids})
anyhow = event(
    "action",
    {"actor": some("user", "agent"), "action": some(*USER_VERBS, *AGENT_VERBS), "session_guid": sessions},
    action_fields,
)
shows = event(
    "action",
    {
        "actor": st.just("agent"),
        "action": st.just("show"),
        "session_guid": sessions,
        "request_id": request_ids,
    },
    {"source_retrieval_id": retrieval_ids},
)
actions = st.one_of(by_claim, by_placement, by_asset, by_document, by_request, anyhow, shows)
judges = {"judge": some("human", "gpt")}
of_relevance = {"kind": st.just("relevance"), "asset_id": assets, "grade": some(-1, 0, 1, 2, 3)}
judgements = st.one_of(
    event("judgement", {**of_relevance, "query": some("card", " CARD", "生日卡")}, judges),
    event("judgement", {**of_relevance, "retrieval_id": retrieval_ids}, judges),
    event(
        "judgement",
        {"kind": st.just("intent"), "request_id": request_ids, "retrieval_intents": some(0, 0, 1, 2)},
        judges,
    ),
    event(
        "judgement", {"kind": st.just("goal"), "retrieval_id": retrieval_ids, "reached": flags_known}, judges
    ),
    event("judgement", {"kind": st.just("goal"), "request_id": request_ids, "reached": flags_known}, judges),
)
garbage = some(None, b"", b"{", b"[1]", b'{"type":"hologram"}', b'{"type":"action","ts":true}')


def encode(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


# A choice of strategies by weight: `one_of` would flatten the many ways to act into most of all records.
WEIGHTED = [retrievals] * 4 + [placements] * 4 + [actions] * 6 + [prompts] * 2 + [judgements] * 4
events = st.sampled_from(WEIGHTED).flatmap(lambda strategy: strategy)
records = st.one_of(*[events.map(encode)] * 9, garbage)
streams = st.lists(records, max_size=30)
