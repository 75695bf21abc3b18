"""The state in Redis (or Valkey): one versioned string per entity, one function call per shard.

Rules:
- All keys of a shard share its hash tag; every command names one shard, so a cluster can hold them apart.
- Nothing is retried blindly: a call whose fate is unknown ends the batch, and the batch is settled again.
- A new connection to a server that restarted raises `Refused`, before any command runs on it: between two
  looks at the run id nobody can write into a state that was rolled back.
- Times to live are garbage collection. An entity outlives the last moment at which an accepted event may
  touch it by `slack`; buckets outlive entities.
"""

import importlib.resources
import itertools
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.asyncio.connection import Connection, ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from attribution.engine import Write
from attribution.entities import Entity, decode
from attribution.semantics import STATE_HORIZON_MS, Semantics
from streams.state.keys import VERSION_LENGTH, Keys, literal, log_of, log_text, partition_field, version_text
from streams.state.meaning import check_meaning, meaning_of
from streams.state.packing import pack, packed
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
    UnsafeStore,
    by_shard,
    floor_from_clock,
    lowest,
    shard_of,
)

LIBRARY: Final = importlib.resources.files("streams.state").joinpath("lara.lua").read_text()
SCAN_PAGE: Final = 1000  # keys
DAY_SECONDS: Final = 86_400
STATE_HORIZON_SECONDS: Final = STATE_HORIZON_MS // 1000


def evicting(information: Mapping[str, Any]) -> str | None:
    """Why a server may throw state away by itself; None if it may not."""
    policy = information["maxmemory_policy"]
    if policy == "noeviction":
        return None
    return f"Redis may evict state (maxmemory-policy {policy}): set it to noeviction"


def entity_ttl(slack_days: int) -> int:
    """Seconds that an entity lives after its last write."""
    return STATE_HORIZON_SECONDS + slack_days * DAY_SECONDS


class RedisStore:
    """A `Store` on one Redis server. Raises `redis.RedisError` when it cannot be reached."""

    whole = True

    def __init__(
        self,
        url: str,
        semantics: Semantics,
        *,
        clock: Clock,
        prefix: str = "lara",
        shards: int = 8,
        slack_days: int = 14,
    ) -> None:
        self._keys = Keys(prefix, shards)
        self._meaning = meaning_of(semantics, shards)
        self._clock = clock
        self._run_id: str | None = None
        self._entity_ttl = entity_ttl(slack_days)
        self._bucket_ttl = 2 * self._entity_ttl
        pool = ConnectionPool.from_url(
            url, redis_connect_func=self._connected, retry=Retry(NoBackoff(), 0), max_connections=8
        )
        self._redis: Redis = Redis(connection_pool=pool)

    async def _connected(self, connection: Connection) -> None:
        """Greet a new connection; if its server is not the one of this term, refuse it."""
        await connection.on_connect()
        run_id = await _run_id(connection)
        if self._run_id is not None and run_id != self._run_id:
            await connection.disconnect()
            raise Refused("the server restarted")

    async def open(self) -> Term:
        """As `Store.open`; also loads the function library and notes the server's run id."""
        self._run_id = None
        await self._redis.connection_pool.disconnect()
        information = await self._redis.info()
        if (danger := evicting(information)) is not None:
            raise UnsafeStore(danger)
        run_id = str(information["run_id"])
        await self._redis.function_load(LIBRARY, replace=True)
        floor = str(floor_from_clock(self._clock()))
        answers = await self._each("term", {n: [run_id, floor, self._meaning] for n in self._all()})
        for _, meaning in answers.values():
            check_meaning(meaning.decode(), self._meaning)
        self._run_id = run_id
        return Term(tuple(int(answers[number][0]) for number in self._all()))

    async def confirm(self) -> None:
        """For readers: raise `OtherMeaning` unless the state means what it means here. Writes nothing."""
        found = await cast(Awaitable[bytes | None], self._redis.hget(f"{self._keys.base(0)}:meta", "meaning"))
        if found is not None:
            check_meaning(found.decode(), self._meaning)

    async def restarted(self) -> bool:
        """As `Store.restarted`."""
        information = await self._redis.info("server")
        return str(information["run_id"]) != self._run_id

    async def load(self, keys: Sequence[str]) -> Mapping[str, Entity]:
        """As `Store.load`: one pipeline, one MGET a shard."""
        grouped = by_shard(keys, self._keys.shards)
        pipeline = self._redis.pipeline(transaction=False)
        for wanted in grouped.values():
            pipeline.mget([self._keys.entity(key) for key in wanted])
        blobs = itertools.chain.from_iterable(await pipeline.execute())
        names = itertools.chain.from_iterable(grouped.values())
        return {
            key: decode(int(blob[:VERSION_LENGTH], 16), blob[VERSION_LENGTH:])
            for key, blob in zip(names, blobs, strict=True)
            if blob is not None
        }

    async def scan(self, kind: str) -> AsyncIterator[Mapping[str, Entity]]:
        """As `Store.scan`: SCAN over the keys of each shard, `SCAN_PAGE` looked at in a round trip."""
        for number in self._all():
            prefix = self._keys.entity_prefix(number)
            pattern, cursor = literal(prefix) + f"{kind}:*", 0
            while True:
                cursor, names = await self._redis.scan(cursor, match=pattern, count=SCAN_PAGE)
                keys = [cast(bytes, name).decode()[len(prefix) :] for name in names]
                yield await self.load(keys)
                if cursor == 0:
                    break

    async def save(
        self, writes: Sequence[Write], term: Term, token: str, *, whole: bool = False
    ) -> frozenset[str]:
        """As `Store.save`: one pipeline; one function call a shard, or one for all of them."""
        by_key = {write.key: write for write in writes}
        grouped = by_shard(by_key, self._keys.shards)
        lives = self._entity_ttl, self._bucket_ttl
        arguments = {
            number: packed([by_key[key] for key in keys], term.floors[number], token, *lives)
            for number, keys in grouped.items()
        }
        calls = [tuple(grouped)] if whole else [(number,) for number in grouped]
        answers = dict(zip(calls, await self._commit(calls, arguments), strict=True))
        _accepted({numbers[0]: answer for numbers, answer in answers.items()})
        lost = (number for numbers, answer in answers.items() if answer[0] == b"lost" for number in numbers)
        return frozenset(key for number in lost for key in grouped[number])

    async def _commit(self, calls: Sequence[Sequence[int]], arguments: Mapping[int, bytes]) -> list[Any]:
        """Commit to some shards; those of one call all or none."""
        pipeline = self._redis.pipeline(transaction=False)
        for numbers in calls:
            bases = [self._keys.base(number) for number in numbers]
            pipeline.fcall("lara_1_commit", len(bases), *bases, *(arguments[number] for number in numbers))
        return list(await pipeline.execute())

    async def advance(
        self, marks: Mapping[Partition, int], term: Term, fresh: Fresh = NOTHING_FRESH, logs: Logs = NO_LOGS
    ) -> None:
        """As `Store.advance`."""
        flat = [
            part
            for partition, offset in marks.items()
            for part in (partition_field(partition), offset, log_text(logs.get(partition, Log())))
        ]
        newest = [
            part
            for event_type, (event, commit) in fresh.items()
            for part in (f"{event_type}/event", event, f"{event_type}/commit", commit)
        ]
        packed = {
            number: [pack([str(term.floors[number]), self._bucket_ttl, flat, newest if number == 0 else []])]
            for number in self._all()
        }
        _accepted(await self._each("advance", packed))

    async def begin(self, logs: Logs, term: Term) -> None:
        """As `Store.begin`."""
        flat = [
            part
            for partition, log in logs.items()
            for part in (partition_field(partition), log.anew, log.identity)
        ]
        packed = {number: [pack([str(term.floors[number]), *flat])] for number in self._all()}
        _accepted(await self._each("begin", packed))

    async def logs(self, partitions: Collection[Partition]) -> Logs:
        """As `Store.logs`."""
        rows = zip(list(partitions), await self._columns("logs", partitions), strict=True)
        noted = [
            (partition, log_of(text.decode()))
            for partition, texts in rows
            for text in texts
            if text is not None
        ]
        return dict(sorted(noted, key=lambda found: found[1].anew))

    async def watermarks(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """As `Store.watermarks`."""
        return lowest(await self.marks(partitions))

    async def marks(self, partitions: Collection[Partition]) -> Mapping[Partition, Sequence[int | None]]:
        """As `Store.marks`."""
        rows = zip(list(partitions), await self._columns("watermarks", partitions), strict=True)
        return {
            partition: [None if mark is None else int(mark) for mark in marks] for partition, marks in rows
        }

    async def _columns(self, name: str, partitions: Collection[Partition]) -> list[tuple[Any, ...]]:
        """What the hash of this name holds for each partition, by shard."""
        if not partitions:
            return []
        fields = [partition_field(one) for one in partitions]
        pipeline = self._redis.pipeline(transaction=False)
        for number in self._all():
            pipeline.hmget(f"{self._keys.base(number)}:{name}", fields)
        return list(zip(*await pipeline.execute(), strict=True))

    async def set_watermark(self, partition: Partition, offset: int) -> None:
        """As `Store.set_watermark`."""
        await self._each(
            "set_watermark", {number: [partition_field(partition), offset] for number in self._all()}
        )

    async def unsaid(self) -> int | None:
        """As `Store.unsaid`."""
        since = await cast(Awaitable[Any], self._redis.hget(f"{self._keys.base(0)}:meta", "unsaid"))
        return None if since is None else int(since)

    async def said(self, term: Term) -> None:
        """As `Store.said`."""
        answers = await self._each("said", {0: [str(term.floors[0])]})
        if answers[0][0] == b"refused":
            raise Refused("a shard began a new term")

    async def due(self, limit: int) -> list[Due]:
        """As `Store.due`: marks drawn at random, so that several announcers seldom take the same."""
        pipeline = self._redis.pipeline(transaction=False)
        for number in self._all():
            pipeline.hrandfield(f"{self._keys.base(number)}:due", limit, withvalues=True)
        found = await pipeline.execute()
        flat = [text.decode() for fields in found for text in fields]
        return [Due(key, mark) for key, mark in zip(flat[::2], flat[1::2], strict=True)]

    async def clear(self, published: Mapping[Due, int]) -> None:
        """As `Store.clear`."""
        flat: dict[int, list[str]] = {}
        for (key, mark), version in published.items():
            shard = flat.setdefault(shard_of(key, self._keys.shards), [])
            shard += [key, mark, version_text(version)]
        await self._each("clear", {number: [pack(parts)] for number, parts in flat.items()})

    async def close(self) -> None:
        """Give the connections back."""
        await self._redis.aclose()
        await self._redis.connection_pool.disconnect()

    def _all(self) -> range:
        return range(self._keys.shards)

    async def _each(self, function: str, arguments: Mapping[int, Sequence[Any]]) -> dict[int, Any]:
        """Call one function on some shards, in one round trip."""
        pipeline = self._redis.pipeline(transaction=False)
        for number, values in arguments.items():
            pipeline.fcall(f"lara_1_{function}", 1, self._keys.base(number), *values)
        answers = await pipeline.execute()
        return dict(zip(arguments, answers, strict=True))


def _accepted(answers: Mapping[int, Any]) -> None:
    refusing = [number for number, answer in answers.items() if answer[0] == b"refused"]
    if refusing:
        raise Refused(f"shard {refusing[0]} began a new term, or a log anew")


async def _run_id(connection: Connection) -> str:
    await cast(Awaitable[None], connection.send_command("INFO", "server"))
    text = await connection.read_response()
    lines = (line.partition(":") for line in cast(bytes, text).decode().splitlines())
    return next(value for name, _, value in lines if name == "run_id")
