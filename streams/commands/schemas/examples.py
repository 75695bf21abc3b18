"""One example of each message: events of docs/example.jsonl, and what lara says of them.

A test compares each with its source.
"""

from collections.abc import Mapping
from typing import Any, Final

from attribution.outputs import ATTRIBUTIONS, DEADLETTERS, OUTCOMES

EXAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "prompt": {
        "type": "prompt",
        "event_id": "e06",
        "ts": "2026-03-02T10:02:00Z",
        "session_guid": "chat-1",
        "request_id": "q2",
        "surface": "chat",
        "text": "Show me some borders with balloons",
    },
    "retrieval": {
        "type": "retrieval",
        "event_id": "e07",
        "ts": "2026-03-02T10:02:01Z",
        "session_guid": "chat-1",
        "request_id": "q2",
        "surface": "chat",
        "retrieval_id": "r2",
        "role": "browse",
        "query": "balloon border",
        "returned_asset_ids": ["b7", "b2", "b9"],
    },
    "placement": {
        "type": "placement",
        "event_id": "e04",
        "ts": "2026-03-02T10:00:04Z",
        "session_guid": "chat-1",
        "request_id": "q1",
        "surface": "chat",
        "placement_id": "p1",
        "document_id": "invitation",
        "asset_id": "party",
        "derived_from_asset_id": "t04",
        "source_retrieval_id": "r1",
        "actor": "agent",
    },
    "action": {
        "type": "action",
        "event_id": "e12",
        "ts": "2026-03-04T18:30:00Z",
        "session_guid": "editor-9",
        "surface": "editor",
        "actor": "user",
        "action": "export",
        "document_id": "invitation",
        "consumed_asset_id": "party",
    },
    "judgement": {
        "type": "judgement",
        "event_id": "e11",
        "ts": "2026-03-03T09:00:00Z",
        "kind": "relevance",
        "retrieval_id": "r1",
        "asset_id": "t04",
        "grade": 3,
    },
    ATTRIBUTIONS: {
        "action_id": "e12",
        "ts": 1_772_649_000_000,
        "actor": "user",
        "action": "export",
        "resolution": "inherited",
        "retrieval_ids": ["r1"],
        "named_retrieval_ids": ["r1"],
        "cross_session": True,
        "session_guid": "editor-9",
        "document_id": "invitation",
        "consumed_asset_id": "party",
        "version": 2,
    },
    OUTCOMES: {
        "retrieval_id": "r2",
        "ts": 1_772_445_721_000,
        "session_guid": "chat-1",
        "request_id": "q2",
        "role": "browse",
        "surface": "chat",
        "query": "balloon border",
        "returned_asset_ids": ["b7", "b2", "b9"],
        "positive": {"strict": False, "standard": False, "broad": False},
        "failed": True,
        "failure_signals": ["rejected"],
        "diagnosis": "unjudged",
        "credits": [
            {
                "action_id": "e09",
                "ts": 1_772_445_740_000,
                "actor": "user",
                "action": "reject",
                "resolution": "request",
                "evidence": "rejected",
                "consumed_asset_ids": ["b7"],
            }
        ],
        "version": 2,
    },
    DEADLETTERS: {
        "reason": "not_an_object",
        "detail": "a JSON list",
        "type": "unknown",
        "topic": "lara.actions",
        "partition": 4,
        "offset": 99,
        "sha256": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
        "version": 0,
    },
}
