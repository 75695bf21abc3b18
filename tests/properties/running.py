"""Run the product over raw records in memory, and say what it found in the words of the second reading."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from attribution.derived import outputs_of
from attribution.events import Event
from attribution.outputs import ATTRIBUTIONS, OUTCOMES
from attribution.parsing import Rejected, parse
from attribution.semantics import Exclusion, Semantics
from metrics.figures import figures
from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.second_reading import Rules

RULES = Rules(
    synthetic_session_prefixes=("probe-",), synthetic_user_ids=("robot",), synthetic_queries=("insulin",)
)
SEMANTICS = Semantics(exclusion=Exclusion(("probe-",), ("robot",), ("insulin",)))


def accepted(values: Sequence[bytes | None]) -> list[Event]:
    parsed = (parse(value) for value in values if value is not None)
    return [event for event in parsed if not isinstance(event, Rejected)]


def settle_in_memory(batches: Sequence[Sequence[Event]], semantics: Semantics = SEMANTICS) -> MemoryStore:
    return asyncio.run(settled(batches, semantics))


async def settled(batches: Sequence[Sequence[Event]], semantics: Semantics = SEMANTICS) -> MemoryStore:
    store = MemoryStore(semantics)
    term = await store.open()
    for batch in batches:
        await drive(batch, semantics, store, term, "0/test")
    return store


def metrics_of(store: MemoryStore, as_of_ms: int, semantics: Semantics = SEMANTICS) -> dict[Any, float]:
    rows = figures(store, as_of_ms, semantics.definitions)
    return {(row.name, tuple(sorted(row.labels.items()))): row.value for row in rows}


def rows_of(metrics: Sequence[dict[str, Any]]) -> dict[Any, float]:
    return {(row["name"], tuple(sorted(row["labels"].items()))): row["value"] for row in metrics}


def outputs_in(store: MemoryStore, semantics: Semantics = SEMANTICS) -> dict[str, dict[str, Any]]:
    """topic → key → record, as plain data without versions."""
    found: dict[str, dict[str, Any]] = {}
    for key, entity in store.entities().items():
        for output in outputs_of(key, entity, semantics):
            found.setdefault(output.topic, {})[output.key] = msgspec.to_builtins(output.record)
    return found


def attributions_in(outputs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        key: {
            "resolution": record["resolution"],
            "retrieval_ids": list(record.get("retrieval_ids", ())),
            "cross_session": record.get("cross_session", False),
        }
        for key, record in outputs.get(ATTRIBUTIONS, {}).items()
        if record["resolution"] != "withdrawn"
    }


def outcomes_in(outputs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {key: _outcome(record) for key, record in outputs.get(OUTCOMES, {}).items()}


def _outcome(record: dict[str, Any]) -> dict[str, Any]:
    if record.get("excluded"):
        return {"excluded": True}
    return {
        "excluded": False,
        "positive": record["positive"],
        "agent_consumed": record.get("agent_consumed", False),
        "delegated": record.get("delegated", False),
        "failure_signals": list(record.get("failure_signals", ())),
        "corrected": record.get("corrected", False),
        "action_ids": sorted({credit["action_id"] for credit in record.get("credits", ())}),
        "ranks": record.get("ranks", {}),
    }
