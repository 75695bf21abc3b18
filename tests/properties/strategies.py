"""Events that meet each other: few ids, times at the edges of every horizon, every field now and then absent."""

import json
from typing import Any

from hypothesis import strategies as st

MINUTE = 60_000
DAY = 86_400_000
BASE = 1_772_445_600_000  # 2026-03-02T10:00:00Z

# Offsets around what the rules compare: ties, a minute, 5 min of skew, 30 min of maturity, 30 days.
OFFSETS = (0, 1, MINUTE, 5 * MINUTE, 5 * MINUTE + 1, 31 * MINUTE, DAY, 30 * DAY, 30 * DAY + 1)


def some(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


times = st.builds(lambda a, b: BASE + a - b, some(*OFFSETS), some(0, 0, 0, 1, MINUTE))
retrieval_ids = some("r1", "r2", "r3", 4)
request_ids = some("q1", "q2", "r1")
document_ids = some("d1", "d1", "d2")
placement_ids = some("p1", "p2", "p3", "p4")
assets = some("a1", "a2", "a3", "12", 12)
sessions = some("s1", "s2", "probe-1")
event_ids = some(*(f"e{number}" for number in range(12)), "", None)
surfaces = some("chat", "gallery", "moon", "")
flags = some(True, False, None, False)
USER_VERBS = ("export", "share", "download", "select", "edit", "follow_up", "reject", "correct", "helpful")
AGENT_VERBS = ("select", "edit", "use", "generate", "export", "show", "click")

common = {
    "event_id": event_ids,
    "surface": surfaces,
    "user_id": some("u1", "u2", "robot"),
    "synthetic": some(False, False, False, None, True),
}


def event(event_type: str, required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just(event_type), "ts": times, **required}, optional={**common, **optional}
    )


prompts = event("prompt", {"request_id": request_ids, "session_guid": sessions}, {"text": some("hello")})
retrievals = event(
    "retrieval",
    {"retrieval_id": retrieval_ids, "session_guid": sessions},
    {
        "request_id": request_ids,
        "role": some("browse", "act_on", "sing"),
        "query": some("card", "Insulin", ""),
        "returned_asset_ids": st.one_of(
            st.none(), st.lists(st.one_of(assets, assets, st.none()), max_size=4), st.just([])
        ),
    },
)
placements = event(
    "placement",
    {"placement_id": placement_ids, "document_id": document_ids, "asset_id": assets},
    {
        "op": some("place", "place", "remove"),
        "source_retrieval_id": retrieval_ids,
        "source_placement_id": placement_ids,
        "derived_from_asset_id": assets,
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
}
actions = st.one_of(
    event("action", {"actor": st.just("user"), "action": some(*USER_VERBS), "session_guid": sessions}, action_fields),
    event("action", {"actor": st.just("agent"), "action": some(*AGENT_VERBS), "session_guid": sessions}, action_fields),
)
judgements = event(
    "judgement",
    {"kind": st.just("relevance"), "query": some("card"), "asset_id": assets, "grade": some(0, 1, 2)},
    {"judge": some("human", "gpt")},
)
garbage = some(None, b"", b"{", b"[1]", b'{"type":"hologram"}', b'{"type":"action","ts":true}')


def encode(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


records = st.one_of(
    *(strategy.map(encode) for strategy in (retrievals, retrievals, placements, placements, actions, actions, actions)),
    prompts.map(encode),
    judgements.map(encode),
    garbage,
)
streams = st.lists(records, max_size=24)
