"""All that a state in Redis holds, read bit by bit: for the audit, and for whoever must know how old it is.

Rules:
- Synchronous and read-only. It scans, so it belongs into no path that anybody waits for at every scrape.
- After every look it tells its pace how many keys it looked at, and the pace may wait: a slow reading costs
  Redis little, however large the state is.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, cast

from redis import Redis

from attribution.entities import Entity, decode, split_key
from attribution.semantics import Semantics
from attribution.stages import KINDS, Kind
from metrics.buckets import Counters
from streams.state.audit import HOUR, MINUTE, TOTAL, Bucket
from streams.state.expiry import whole_since
from streams.state.keys import VERSION_LENGTH, Keys, literal
from streams.state.meaning import check_meaning, meaning_of
from streams.state.redis_buckets import DAY_HOURS, HOUR_MINUTES
from streams.state.redis_store import entity_ttl

PAGE: Final = 100  # keys looked at in one round trip
COUNTING: Final = frozenset(kind for kind, row in KINDS.items() if row.contribute is not Kind().contribute)
Pace = Callable[[int], None]
Fields = Mapping[bytes, bytes]


def unhurried(keys: int) -> None:
    """The pace of a reading that somebody waits for."""


class RedisContents:
    """The `Contents` of one state. Raises `redis.RedisError` when it cannot be reached."""

    def __init__(
        self,
        url: str,
        semantics: Semantics,
        *,
        prefix: str = "lara",
        shards: int = 8,
        slack_days: int = 14,
        pace: Pace = unhurried,
    ) -> None:
        self._keys = Keys(prefix, shards)
        self._prefix = prefix
        self._meaning = meaning_of(semantics, shards)
        self._entity_ttl = entity_ttl(slack_days)
        self._pace = pace
        self._redis: Redis = Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2)

    def whole_since(self, now: float) -> int | None:
        """The first second from which on every entity is there; None: all are. Raises `OtherMeaning`."""
        meta = cast(Fields, self._redis.hgetall(f"{self._keys.base(0)}:meta"))
        if b"meaning" in meta:
            check_meaning(meta[b"meaning"].decode(), self._meaning)
        began = int(meta[b"began"]) / 1_000_000 if b"began" in meta else None
        return whole_since(began, now, self._entity_ttl)

    def buckets(self, since: int | None) -> Iterator[tuple[Bucket, Counters]]:
        """As `Contents.buckets`; `since` is the beginning of a day."""
        first = -1 if since is None else since // HOUR_MINUTES
        hours = sorted(hour for hour in self._hours() if hour >= first)
        for hour in hours:
            yield from self._parts(MINUTE, f"m:{hour}", hour * HOUR_MINUTES)
        for day in sorted({hour // DAY_HOURS for hour in hours}):
            yield from self._parts(HOUR, f"h:{day}", day * DAY_HOURS)
        if since is None:
            fields = (one.items() for one in self._all("total"))
            yield Bucket(TOTAL, 0), _sum(itertools.chain.from_iterable(fields))

    def _hours(self) -> set[int]:
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(self._keys.shards):
            pipeline.zrange(f"{self._keys.base(number)}:hours", 0, -1)
        return {int(hour) for hours in pipeline.execute() for hour in hours}

    def _all(self, name: str) -> list[Fields]:
        """One hash in every shard."""
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(self._keys.shards):
            pipeline.hgetall(f"{self._keys.base(number)}:{name}")
        found = pipeline.execute()
        self._pace(self._keys.shards)
        return found

    def _parts(self, level: str, name: str, first: int) -> Iterator[tuple[Bucket, Counters]]:
        """The buckets in a hash whose fields are `<part>|<counter>`."""
        parts: dict[int, list[tuple[bytes, bytes]]] = {}
        for fields in self._all(name):
            for field, value in fields.items():
                part, _, counter = field.partition(b"|")
                parts.setdefault(int(part), []).append((counter, value))
        for number, counters in sorted(parts.items()):
            yield Bucket(level, first + number), _sum(counters)

    def entities(self) -> Iterator[Mapping[str, Entity]]:
        """As `Contents.entities`; only of kinds that count something."""
        pattern, cursor = literal(self._prefix) + ":{s[0-9][0-9]}:e:*", 0
        while True:
            cursor, names = cast(tuple[int, list[bytes]], self._redis.scan(cursor, pattern, PAGE))
            wanted = [name for name in names if split_key(_key(name))[0] in COUNTING]
            pipeline = self._redis.pipeline(transaction=False)
            for name in wanted:
                pipeline.get(name)
            found = zip(wanted, pipeline.execute(), strict=True)
            yield {
                _key(name): decode(int(blob[:VERSION_LENGTH], 16), blob[VERSION_LENGTH:])
                for name, blob in found
                if blob is not None
            }
            self._pace(PAGE)
            if cursor == 0:
                return

    def close(self) -> None:
        """Give the connections back."""
        self._redis.close()


def _key(name: bytes) -> str:
    """An entity's own key, which may hold anything."""
    return name.decode().partition("}:e:")[2]


def _sum(fields: Iterable[tuple[bytes, bytes]]) -> Counters:
    total: dict[str, int] = {}
    for counter, value in fields:
        name = counter.decode()
        total[name] = total.get(name, 0) + int(value)
    return total
