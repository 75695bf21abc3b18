"""The events of a service, sent without ever holding it up: what any Python producer can copy or import.

Rules:
- A call of the host makes a struct and puts it into a buffer: no encoding, no input or output, no waiting,
  and no exception. Threads and coroutines call the same methods.
- A thread of its own encodes and sends. While the sink is out of reach it tries the same events again; once
  the buffer is full new ones are dropped. What was dropped, refused or sent is counted.
- Lineage is in the values handed back: a turn fires retrievals, a retrieval places assets, a placement is
  acted on. What a later process knows is an id: `fired` and `placed` go on from there.
- A retrieval holds the list as it fired. It is copied at once, so that reordering it for display changes
  nothing.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any, Final
from uuid import uuid4

import msgspec

from assistant.sinks import Record, Sink
from attribution.events import Action, Event, Judgement, Placement, Prompt, Retrieval, type_of

CAPACITY: Final = (
    10_000  # 25 MB, if all are retrievals of 20 ids; at 100 a second an outage of 100 seconds loses nothing
)
BATCH: Final = 500
LINGER_SECONDS: Final = 0.05  # how long an event may wait for others
RETRY_SECONDS: Final = 1.0
CLOSE_SECONDS: Final = 5.0
SHARED: Final[tuple[str, ...]] = (
    "conversation_id",
    "surface",
    "user_id",
    "synthetic",
)  # by all events of a turn
UNSENT: Final = b""  # the digest of an event is the reader's to find


class Emitter:
    """Takes events and sends them. `now` gives milliseconds since the epoch.

    `counts`: `taken` is `sent` + `dropped` (no room, or not acknowledged when closed) + `refused` (no event
    can be made of it, or it came after the end) + what waits; `retried` are failed attempts of a batch.
    """

    def __init__(
        self,
        sink: Sink,
        capacity: int = CAPACITY,
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.now = now
        self._sink, self._capacity = sink, capacity
        self._waiting: deque[Event] = deque()
        self._lock = Lock()
        self._closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self._thread = Thread(target=lambda: asyncio.run(self._run()), name="lara-emitter", daemon=True)
        self._thread.start()

    def emit(self, kind: type[Event], /, **fields: Any) -> None:
        """Take one event of the contract; without `ts` it happened now. Never raises, never waits."""
        try:
            event = kind(**{"ts": self.now(), "digest": UNSENT, **fields})
        except Exception:  # whatever a field is, the host goes on; it is counted
            event = None
        with self._lock:
            self.counts["taken"] += 1
            if event is None or self._closing:
                self.counts["refused"] += 1
            elif len(self._waiting) >= self._capacity:
                self.counts["dropped"] += 1
            else:
                self._waiting.append(event)

    def turn(self, session_guid: str, request_id: str | None = None, **fields: Any) -> "Turn":
        """A user's turn: a `prompt` event, with the contract's fields (`text`, `user_id`, `surface`, …)."""
        request_id = request_id or str(uuid4())
        common = {name: fields[name] for name in SHARED if name in fields}
        turn = Turn(self, {"session_guid": session_guid, "request_id": request_id, **common})
        self.emit(Prompt, **{**fields, **turn.common})
        return turn

    def close(self, timeout_seconds: float = CLOSE_SECONDS) -> None:
        """Send what waits, for at most so long; what is left is dropped, and counted. Not in event loops."""
        with self._lock:
            self._closing = True
        self._thread.join(timeout_seconds)
        if self._thread.is_alive() and self._loop is not None and self._work is not None:
            self._loop.call_soon_threadsafe(self._work.cancel)
            self._thread.join(timeout_seconds)
        with self._lock:
            self.counts["dropped"] += len(self._waiting)
            self._waiting.clear()

    async def aclose(self, timeout_seconds: float = CLOSE_SECONDS) -> None:
        """`close` for event loops: others go on meanwhile."""
        await asyncio.to_thread(self.close, timeout_seconds)

    async def _run(self) -> None:
        self._loop, self._work = asyncio.get_running_loop(), asyncio.current_task()
        try:
            await self._drain()
        except asyncio.CancelledError:
            pass  # closed before all was sent: `close` counts what is left
        finally:
            await self._sink.close()

    async def _drain(self) -> None:
        while not (self._closing and not self._waiting):
            with self._lock:
                batch = [self._waiting[at] for at in range(min(BATCH, len(self._waiting)))]
            await self._delivered(batch)
            if len(batch) < BATCH and not self._closing:
                await asyncio.sleep(LINGER_SECONDS)

    async def _delivered(self, batch: Sequence[Event]) -> None:
        """Send a batch, as often as it takes; only then it leaves the buffer."""
        records = [record for event in batch if (record := encoded(event)) is not None]
        while records:
            try:
                await self._sink.send(records)
                break
            except Exception:  # of any sink: it is tried again, and counted
                with self._lock:
                    self.counts["retried"] += 1
                await asyncio.sleep(RETRY_SECONDS)
        with self._lock:
            for _ in batch:
                self._waiting.popleft()
            self.counts["sent"] += len(records)
            self.counts["refused"] += len(batch) - len(records)


def encoded(event: Event) -> Record | None:
    """The event as JSON, by its fields; None if one of them cannot be JSON."""
    kind = type_of(event)
    given = {name: getattr(event, name) for name in event.__struct_fields__ if name != "digest"}
    fields = {name: value for name, value in given.items() if value is not None}
    try:
        return Record(kind, msgspec.json.encode({"type": kind, **fields}))
    except Exception:  # an object of the host's that is no JSON
        return None


@dataclass(frozen=True)
class Turn:
    """One request of a user; `common` are the fields that its events share."""

    emitter: Emitter = field(repr=False)
    common: Mapping[str, Any]

    def retrieval(
        self,
        returned_asset_ids: Iterable[str | None],
        *,
        query: str | None = None,
        need_id: str | None = None,
        retrieval_id: str | None = None,
        **fields: Any,
    ) -> "Fired":
        """A search has fired. Give the full list, before anything filters or reorders it for display."""
        fired = self.fired(retrieval_id or str(uuid4()))
        listed = _copied(returned_asset_ids)
        named = {"retrieval_id": fired.retrieval_id, "query": query, "need_id": need_id}
        self.emitter.emit(Retrieval, **{**fields, **self.common, **named, "returned_asset_ids": listed})
        return fired

    def fired(self, retrieval_id: str) -> "Fired":
        """Go on from a retrieval that another process has fired."""
        return Fired(self, retrieval_id)

    def shown(self, asset_ids: Iterable[str]) -> None:
        """The answer reached the user, with these assets in this order."""
        shown = _copied(asset_ids)
        self.emitter.emit(Action, **self.common, actor="agent", action="show", shown_asset_ids=shown)


@dataclass(frozen=True)
class Fired:
    """A retrieval that its results come from."""

    turn: Turn
    retrieval_id: str

    def placed(
        self,
        asset_id: str,
        document_id: str,
        *,
        placement_id: str | None = None,
        actor: str = "agent",
        **fields: Any,
    ) -> "Placed":
        """An asset of the list enters a document. Its ids are enough to go on from in another process."""
        placed = Placed(self, asset_id, document_id, placement_id or str(uuid4()))
        named = {"asset_id": asset_id, "document_id": document_id, "placement_id": placed.placement_id}
        claim = {"source_retrieval_id": self.retrieval_id, "actor": actor}
        self.turn.emitter.emit(Placement, **{**self.turn.common, **fields, **named, **claim})
        return placed

    def acted(self, actor: str, action: str, asset_id: str, **fields: Any) -> None:
        """A user or the agent did something with an asset of the list."""
        said = {"actor": actor, "action": action, "consumed_asset_id": asset_id}
        claim = {"source_retrieval_id": self.retrieval_id}
        self.turn.emitter.emit(Action, **{**self.turn.common, **fields, **said, **claim})


@dataclass(frozen=True)
class Placed:
    """An asset in a document, and the retrieval it came from."""

    fired: Fired
    asset_id: str
    document_id: str
    placement_id: str

    def acted(self, actor: str, action: str, **fields: Any) -> None:
        """Something was done with it; the placement carries the lineage. Give `session_guid` if another."""
        turn = self.fired.turn
        session = {
            name: turn.common[name] for name in ("session_guid", "surface", "user_id") if name in turn.common
        }
        named = {"placement_id": self.placement_id, "document_id": self.document_id}
        said = {"actor": actor, "action": action, "consumed_asset_id": self.asset_id, **named}
        same = turn.common if fields.get("session_guid") in (None, session["session_guid"]) else {}
        turn.emitter.emit(Action, **{**session, **same, **fields, **said})


def judged(emitter: Emitter, query: str, asset_id: str, grade: int, judge: str = "human") -> None:
    """A person or a model said how relevant an asset is for a query."""
    emitter.emit(Judgement, kind="relevance", query=query, asset_id=asset_id, grade=grade, judge=judge)


def _copied(ids: Iterable[str | None]) -> tuple[str | None, ...] | None:
    """A list of its own; None, which is "not logged", if it is none."""
    try:
        return tuple(ids)
    except Exception:  # whatever the host's own iterator raises
        return None
