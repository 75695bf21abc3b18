"""What a state store does, whichever holds the bytes. `memory.py` and `redis_store.py` pass the same suite.

Rules (the commit protocol; `docs/how-it-works.md` says what breaks without each):
- An entity lives in one of a fixed number of logical shards, and so does all that is written with it: its
  bucket differences and its mark that an output is due. A save is all or nothing per shard; where one server
  holds all shards, it may be so over all of them.
- A save compares the version of every entity it writes, and the shard's floor. A version that moved: nothing
  of that shard is written and the keys come back as lost. A floor that moved: `Refused`, begin again.
- The floor of a shard rises when its server is found to have restarted: no version is handed out twice.
- Watermarks (next offset to read) are kept in every shard, and the lowest one counts. They never go back,
  unless somebody sets one: that begins a new term, so that no batch under way undoes it.
- A watermark belongs to one log. `begin` notes which, and forgets the watermark when reading begins anew. A
  worker that names an older log cannot raise the watermark of the newer one: `Refused`.
"""

import binascii
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from attribution.corrections import Correction
from attribution.engine import Write
from attribution.entities import Entity


class Partition(NamedTuple):
    """One partition of one topic."""

    topic: str
    number: int


class Log(NamedTuple):
    """Which log a watermark belongs to, and how often reading it began anew."""

    identity: str = ""  # cluster and topic id; empty: the broker cannot tell
    anew: int = 0


class Refused(Exception):
    """The shard's floor moved (its server restarted), or a log is another: begin again at the watermarks."""


class UnsafeStore(Exception):
    """The server is set up so that it may lose state by itself."""


class Term(NamedTuple):
    """The floor of every shard, as a batch found it when it began."""

    floors: tuple[int, ...]

    def floor(self, key: str) -> int:
        """The least version a write to this key may have."""
        return self.floors[shard_of(key, len(self.floors))]


class Due(NamedTuple):
    """A mark that an entity's outputs are to be published: who set it and when, and what they correct."""

    key: str
    mark: str

    @property
    def set_at(self) -> int:
        """Milliseconds since the epoch."""
        return int(self.mark.partition("/")[0])

    @property
    def correction(self) -> Correction | None:
        """What is corrected, if anything."""
        _, _, found = self.mark.partition(" ")
        return msgspec.json.decode(found, type=Correction) if found else None


def due_of(write: Write, token: str) -> Due:
    """The mark of a write. A token is `<milliseconds>/<worker>`, without a space."""
    text = "" if write.correction is None else f" {msgspec.json.encode(write.correction).decode()}"
    return Due(write.key, token + text)


Fresh = Mapping[str, tuple[int, int]]  # event type -> newest event time, newest commit time (ms)
NOTHING_FRESH: Fresh = {}
Logs = Mapping[Partition, Log]
NO_LOGS: Logs = {}


class Store(Protocol):
    """Entities, buckets, marks and watermarks."""

    @property
    def whole(self) -> bool:
        """Can a save be all or nothing over all shards? Only if one server holds them all."""

    async def open(self) -> Term:
        """Raise the floor of every restarted server and return the term to work under.

        Raises `OtherMeaning` if the state belongs to other semantics, `UnsafeStore` if it may vanish.
        """

    async def restarted(self) -> bool:
        """Is a server another process than at `open`? To be asked while idle, too."""

    async def load(self, keys: Sequence[str]) -> Mapping[str, Entity]:
        """The entities that exist, in one round trip."""

    def scan(self, kind: str) -> AsyncIterator[Mapping[str, Entity]]:
        """Every entity of a kind, by page, in no order; one written meanwhile comes at least once."""

    async def save(
        self, writes: Sequence[Write], term: Term, token: str, *, whole: bool = False
    ) -> frozenset[str]:
        """Write what can be written, or if `whole`, all or nothing; returns the keys that were not.

        Marks due writes with `token`.
        """

    async def advance(
        self, marks: Mapping[Partition, int], term: Term, fresh: Fresh = NOTHING_FRESH, logs: Logs = NO_LOGS
    ) -> None:
        """Raise watermarks, in every shard, and note how fresh the figures are. Raises `Refused`.

        `logs` tells which logs the watermarks are of; one that was noted must be told.
        """

    async def begin(self, logs: Logs, term: Term) -> None:
        """Note which logs are read; forget the watermarks of those begun anew, once. Raises `Refused`."""

    async def logs(self, partitions: Collection[Partition]) -> Logs:
        """The log that each watermark belongs to, begun anew last; one never noted is left out."""

    async def watermarks(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The lowest watermark of each partition over all shards; one unset anywhere is left out."""

    async def marks(self, partitions: Collection[Partition]) -> Mapping[Partition, Sequence[int | None]]:
        """The watermark of each partition in every shard."""

    async def set_watermark(self, partition: Partition, offset: int) -> None:
        """Set a watermark as asked, also back, and begin a new term: what is under way is refused."""

    async def unsaid(self) -> int | None:
        """Since when (ms) outputs may have been published from state that was lost; None if none were."""

    async def said(self, term: Term) -> None:
        """Note that all of it was made due again. Raises `Refused`."""

    async def due(self, limit: int) -> list[Due]:
        """Some marks, at most `limit` a shard."""

    async def clear(self, published: Mapping[Due, int]) -> None:
        """Take back marks whose text and entity version (the value) are still those published."""


def shard_of(key: str, shards: int) -> int:
    """The logical shard of an entity, from the CRC-32 of its key."""
    return binascii.crc32(key.encode()) % shards


def lowest(marks: Mapping[Partition, Sequence[int | None]]) -> dict[Partition, int]:
    """The watermarks that count; a partition that has none in some shard is left out."""
    found = {}
    for partition, of_shards in marks.items():
        known = [mark for mark in of_shards if mark is not None]
        if len(known) == len(of_shards):
            found[partition] = min(known)
    return found


def by_shard(keys: Collection[str], shards: int) -> dict[int, list[str]]:
    """Keys grouped by shard."""
    grouped: dict[int, list[str]] = {}
    for key in keys:
        grouped.setdefault(shard_of(key, shards), []).append(key)
    return grouped


Clock = Callable[[], float]


def floor_from_clock(now_seconds: float) -> int:
    """A floor above every version handed out before: microseconds since the epoch.

    An entity would have to be written more than once a microsecond, for as long as its server ran, to get
    ahead of this.
    """
    return int(now_seconds * 1_000_000)
