"""Search as a tool of an assistant: `search(query, top_k)`, its JSON schema, and the event that tells of
it.

Rules:
- Framework-neutral: a schema, a callable, and a result of plain dictionaries.
- The retrieval event holds the list as it fired, and goes out before reranking and the cut to `top_k` show.
- Every result names its source and the retrieval it came from: whoever places it has the lineage in hand.
- A call that is wrong is answered with `error`, for the model to read: a tool's exception ends a
  conversation.
"""

from typing import Any, Final
from uuid import uuid4

from assistant.context import assemble
from assistant.emitter import Turn
from assistant.permissions import Groups
from assistant.search import Search

HIGHEST_TOP_K: Final = 20
SCHEMA: Final[dict[str, Any]] = {
    "name": "search",
    "description": "Search the knowledge base. Cite the source_id of what you use.",
    "parameters": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "description": "What to look for, in the user's words.",
            },
            "top_k": {"type": "integer", "minimum": 1, "maximum": HIGHEST_TOP_K, "default": 3},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}


class SearchTool:
    """The tool of one turn, for one caller: what `groups` may read, within `budget` tokens of context."""

    schema = SCHEMA

    def __init__(
        self, search: Search, turn: Turn, groups: Groups = frozenset(), *, budget: int = 2000, **fields: Any
    ) -> None:
        self._search, self._turn, self._groups = search, turn, groups
        self._budget, self._fields = budget, fields

    def __call__(self, query: str, top_k: int = 3) -> dict[str, Any]:
        """`{"retrieval_id", "results": […], "context"}`, or `{"error"}` for a call against the schema."""
        if not isinstance(query, str) or not query.strip():
            return {"error": "query must be text"}
        if type(top_k) is not int or not 1 <= top_k <= HIGHEST_TOP_K:
            return {"error": f"top_k must be a whole number from 1 to {HIGHEST_TOP_K}"}
        found = self._search.search(query, top_k, self._groups)
        fields = {"need_id": str(uuid4()), "retriever": "hybrid", **self._fields}
        fields["latency_ms"] = sum(
            found.latency_ms[one] for one in ("understand", "retrieve", "fuse", "rerank")
        )
        fired = self._turn.retrieval(found.fired, query=query, **fields)
        context = assemble(((hit.source_id, hit.text) for hit in found.hits), self._budget)
        results = [
            {
                "source_id": hit.source_id,
                "asset_id": hit.document_id,
                "retrieval_id": fired.retrieval_id,
                "title": hit.title,
                "path": list(hit.path),
                "rank": hit.rank,
                "text": hit.text,
            }
            for hit in found.hits
            if hit.source_id in context.source_ids
        ]
        return {"retrieval_id": fired.retrieval_id, "results": results, "context": context.text}
