"""The in-memory twin of the Redis store: same protocol, same suite. For backtests and pure tests.

Rules:
- A restart that loses the last writes is `roll_back`: what was written since `snapshot` is gone.
- A store that was opened before a restart is refused whatever it asks, like a connection to a server that
  restarted, until it opens again.
"""

import copy
import itertools
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Final

from attribution.engine import Write
from attribution.entities import Entity, decode, encode, split_key
from attribution.semantics import Semantics
from metrics.buckets import Counters, MinuteBuckets, Span
from streams.state.meaning import check_meaning, meaning_of
from streams.state.store import (
    NO_LOGS,
    NOTHING_FRESH,
    Clock,
    Due,
    Fresh,
    Log,
    Logs,
    Partition,
    Refused,
    Term,
    by_shard,
    due_of,
    floor_from_clock,
    lowest,
    shard_of,
)

VERSIONS_A_TERM: Final = 1_000_000  # as in `lara.lua`


class _Shard:
    def __init__(self) -> None:
        self.floor: int | None = None
        self.run = -1  # the number of the restart after which the floor was raised
        self.entities: dict[str, tuple[int, bytes]] = {}
        self.due: dict[str, str] = {}
        self.watermarks: dict[Partition, int] = {}
        self.logs: dict[Partition, Log] = {}
        self.buckets = MinuteBuckets()


class State:
    """What a server would hold: all shards, and how often it was restarted."""

    def __init__(self, shards: int = 8) -> None:
        self.shards = [_Shard() for _ in range(shards)]
        self.meaning: str | None = None
        self.restarts = 0
        self.unsaid = False
        self.ticks: Clock = itertools.count(1).__next__  # a clock that no restart sets back


class MemoryStore:
    """A `Store` in one process. Several may share one `state`, as workers share a server."""

    whole = True

    def __init__(self, semantics: Semantics, state: State | None = None, clock: Clock | None = None) -> None:
        self._state = state or State()
        self._clock: Clock = clock or self._state.ticks
        self._run: int | None = None  # as the server was when this store was opened
        self._meaning = meaning_of(semantics, len(self._state.shards))

    @property
    def _shards(self) -> list[_Shard]:
        return self._state.shards

    async def open(self) -> Term:
        """As `Store.open`."""
        self._state.meaning = self._state.meaning or self._meaning
        check_meaning(self._state.meaning, self._meaning)
        if self._state.restarts != self._opened_after():
            self._state.unsaid = True
        self._run = self._state.restarts
        return Term(tuple(self._floor(shard) for shard in self._shards))

    def _opened_after(self) -> int:
        """The restart after which the floors were raised last."""
        return max(shard.run for shard in self._shards)

    def _floor(self, shard: _Shard) -> int:
        """As the function `term` of `lara.lua`."""
        floor = floor_from_clock(self._clock())
        if shard.floor is None or shard.run != self._state.restarts:
            noted, shard.run = shard.floor, self._state.restarts
            shard.floor = floor if noted is None or noted < floor else noted + VERSIONS_A_TERM
        return shard.floor

    async def restarted(self) -> bool:
        """As `Store.restarted`."""
        return self._run != self._state.restarts

    async def load(self, keys: Sequence[str]) -> Mapping[str, Entity]:
        """As `Store.load`."""
        self._greet()
        found = {}
        for key in keys:
            stored = self._shard(key).entities.get(key)
            if stored is not None:
                found[key] = decode(*stored)
        return found

    async def scan(self, kind: str) -> AsyncIterator[Mapping[str, Entity]]:
        """As `Store.scan`: a page a shard."""
        self._greet()
        for shard in self._shards:
            keys = [key for key in shard.entities if split_key(key)[0] == kind]
            yield {key: decode(*shard.entities[key]) for key in keys}

    async def save(
        self, writes: Sequence[Write], term: Term, token: str, *, whole: bool = False
    ) -> frozenset[str]:
        """As `Store.save`."""
        by_key = {write.key: write for write in writes}
        grouped = by_shard(by_key, len(self._shards))
        for number in grouped:
            self._check(number, term)
        lost = {number for number, keys in grouped.items() if self._moved([by_key[key] for key in keys])}
        if lost and whole:
            lost = set(grouped)
        for number in grouped.keys() - lost:
            self._write([by_key[key] for key in grouped[number]], self._shards[number], token)
        return frozenset(key for number in lost for key in grouped[number])

    def _moved(self, writes: Sequence[Write]) -> bool:
        """Is the version of one of them another than expected?"""
        return any(
            self._shard(write.key).entities.get(write.key, (0, b""))[0] != write.expected for write in writes
        )

    def _write(self, writes: Sequence[Write], shard: _Shard, token: str) -> None:
        for write in writes:
            shard.entities[write.key] = (write.entity.version, encode(write.entity))
            for (minute, counter), delta in write.deltas.items():
                shard.buckets.add(minute, counter, delta)
            if write.due:
                shard.due[write.key] = due_of(write, token).mark

    def _greet(self) -> None:
        if self._run is not None and self._run != self._state.restarts:
            raise Refused("the server restarted")

    def _check(self, number: int, term: Term) -> None:
        self._greet()
        if term.floors[number] != self._shards[number].floor:
            raise Refused(f"shard {number} began a new term")

    async def advance(
        self, marks: Mapping[Partition, int], term: Term, fresh: Fresh = NOTHING_FRESH, logs: Logs = NO_LOGS
    ) -> None:
        """As `Store.advance`."""
        for number, shard in enumerate(self._shards):
            self._check(number, term)
            if any(shard.logs.get(one) not in (None, logs.get(one)) for one in marks):
                raise Refused(f"shard {number} reads another log")
            for partition, offset in marks.items():
                shard.watermarks[partition] = max(offset, shard.watermarks.get(partition, 0))

    async def begin(self, logs: Logs, term: Term) -> None:
        """As `Store.begin`."""
        for number, shard in enumerate(self._shards):
            self._check(number, term)
            noted = {partition: shard.logs.get(partition, Log()) for partition in logs}
            if any(_is_behind(log, noted[partition]) for partition, log in logs.items()):
                raise Refused(f"shard {number} reads another log")
            for partition, log in logs.items():
                if log.anew > noted[partition].anew:
                    shard.watermarks.pop(partition, None)
                shard.logs[partition] = log

    async def logs(self, partitions: Collection[Partition]) -> Logs:
        """As `Store.logs`."""
        noted = [
            (partition, shard.logs[partition])
            for shard in self._shards
            for partition in partitions
            if partition in shard.logs
        ]
        return dict(sorted(noted, key=lambda found: found[1].anew))

    async def watermarks(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """As `Store.watermarks`."""
        return lowest(await self.marks(partitions))

    async def marks(self, partitions: Collection[Partition]) -> Mapping[Partition, Sequence[int | None]]:
        """As `Store.marks`."""
        self._greet()
        return {one: [shard.watermarks.get(one) for shard in self._shards] for one in partitions}

    async def set_watermark(self, partition: Partition, offset: int) -> None:
        """As `Store.set_watermark`."""
        for shard in self._shards:
            shard.floor = (shard.floor or 0) + 1
            shard.watermarks[partition] = offset

    async def unsaid(self) -> int | None:
        """As `Store.unsaid`: the twin notes no commits, so that all may have been said in vain."""
        self._greet()
        return 0 if self._state.unsaid else None

    async def said(self, term: Term) -> None:
        """As `Store.said`."""
        self._check(0, term)
        self._state.unsaid = False

    async def due(self, limit: int) -> list[Due]:
        """As `Store.due`."""
        self._greet()
        return [Due(*found) for shard in self._shards for found in list(shard.due.items())[:limit]]

    async def clear(self, published: Mapping[Due, int]) -> None:
        """As `Store.clear`."""
        self._greet()
        for (key, mark), version in published.items():
            shard = self._shard(key)
            if shard.due.get(key) == mark and shard.entities.get(key, (0, b""))[0] == version:
                del shard.due[key]

    def sums(self, spans: Sequence[Span]) -> list[Counters]:
        """As `metrics.buckets.CounterReader.sums`."""
        totals: list[dict[str, int]] = [{} for _ in spans]
        for shard in self._shards:
            for total, counters in zip(totals, shard.buckets.sums(spans), strict=True):
                for counter, value in counters.items():
                    total[counter] = total.get(counter, 0) + value
        return list(totals)

    def entities(self) -> dict[str, Entity]:
        """Every entity there is: for explanations, outputs and audits of a batch run."""
        return {key: decode(*stored) for shard in self._shards for key, stored in shard.entities.items()}

    def snapshot(self) -> list[_Shard]:
        """What a later `roll_back` returns to."""
        return copy.deepcopy(self._shards)

    def roll_back(self, snapshot: list[_Shard]) -> None:
        """The server restarts without what was written since the snapshot."""
        self._state.shards = copy.deepcopy(snapshot)
        self._state.restarts += 1

    def _shard(self, key: str) -> _Shard:
        return self._shards[shard_of(key, len(self._shards))]


def _is_behind(log: Log, noted: Log) -> bool:
    """Was reading begun anew since, or is it another log without being said so?"""
    other = log.anew == noted.anew and noted.identity not in ("", log.identity)
    return log.anew < noted.anew or other
