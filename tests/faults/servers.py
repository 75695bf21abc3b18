"""What holds the state under a simulated run: the in-memory twin, or a real Redis process.

Both do the same: an effect runs to its end at once, and a restart loses everything after a point noted before.
"""

import asyncio
import contextlib
import copy
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Protocol

from redis import ConnectionError as RedisConnectionError
from redis import Redis

from attribution.semantics import Semantics
from metrics.buckets import CounterReader, Counters, Span
from metrics.windows import DEFAULT_HORIZON_MINUTES, LIVE, SETTLED, WINDOWS, end_minute, slice_of
from streams.services import HOST, Service, redis
from streams.state.keys import Keys
from streams.state.memory import MemoryStore, State
from streams.state.redis_buckets import HOUR_MINUTES, RedisBuckets
from streams.state.redis_store import DAY_SECONDS, RedisStore
from streams.state.store import Store
from tests.faults.loop import run_at_once
from tests.properties.strategies import BASE, DAY, MINUTE

SHARDS = 8
ENDLESS = frozenset({"meta", "total", "watermarks", "logs"})  # what stays for ever
SPANS = tuple(  # of every window as of some times: equal sums are equal figures
    span
    for as_of in (BASE + 7 * MINUTE, BASE + 31 * MINUTE, BASE + DAY, BASE + 31 * DAY)
    for window, cohort in product(WINDOWS, (LIVE, SETTLED))
    for span in slice_of(window, cohort, end_minute(as_of), DEFAULT_HORIZON_MINUTES)
)
Places = Iterable[tuple[int, int]]  # (shard, minute)


class Server(Protocol):
    """What a run needs of whatever holds the state."""

    @property
    def spans(self) -> Sequence[Span]:
        """What is asked for beside single minutes, where the reader is more than their sum."""

    def store(self, semantics: Semantics, clock: Callable[[], float]) -> Store:
        """A connection of its own."""

    def do(self, effect: Coroutine[Any, Any, Any]) -> Any:
        """The result of an effect, once it is through."""

    def tearing(self, reached: int) -> contextlib.AbstractContextManager[None]:
        """What is done meanwhile reaches only the shards below `reached`, and fails."""

    def point(self) -> Any:
        """Where a later restart may go back to."""

    def restart(self, point: Any) -> None:
        """Another process, without what was written after that point."""

    def days(self, days: int) -> None:
        """So much time goes by for what has a time to live."""

    def endless(self) -> str:
        """What should end some day, and does not."""

    def counters(self, places: Places) -> Iterator[tuple[int, Counters]]:
        """(minute, counters) of these buckets."""

    def reader(self, semantics: Semantics) -> CounterReader:
        """What figures are made from."""


class Twin:
    """The state in memory."""

    spans: Sequence[Span] = ()

    def __init__(self) -> None:
        self.state = State(SHARDS)
        self.do = run_at_once

    def store(self, semantics: Semantics, clock: Callable[[], float]) -> Store:
        return MemoryStore(semantics, self.state, clock)

    @contextlib.contextmanager
    def tearing(self, reached: int) -> Iterator[None]:
        before = copy.deepcopy(self.state.shards[reached:])
        yield
        self.state.shards[reached:] = before

    def point(self) -> Any:
        return copy.deepcopy(self.state.shards)

    def restart(self, point: Any) -> None:
        self.state.shards = copy.deepcopy(point)
        self.state.restarts += 1

    def days(self, days: int) -> None: ...

    def endless(self) -> str:
        return ""

    def counters(self, places: Places) -> Iterator[tuple[int, Counters]]:
        for shard, minute in places:
            yield minute, self.state.shards[shard].buckets.sums([Span(minute, minute + 1)])[0]

    def reader(self, semantics: Semantics) -> CounterReader:
        return MemoryStore(semantics, self.state)


class RealRedis:
    """The state in a Redis process of our own. A restart kills it and cuts what came later off its log of writes.

    The log is written before the answer is sent, so its length after an effect is the point after that effect.
    """

    spans: Sequence[Span] = SPANS

    def __init__(self, directory: Path) -> None:
        # Without a sync under way a write is never put off; a killed process loses nothing that it wrote.
        self._service: Service = redis(directory, options={"appendfsync": "no"})
        self._service.start()
        self._loop = asyncio.new_event_loop()
        self._stores: list[_TornStore] = []
        self._keys = Keys("lara", SHARDS)
        self.url = f"redis://{HOST}:{self._service.port}"
        self._client = Redis.from_url(self.url, decode_responses=True)

    def begin(self) -> None:
        """Forget everything, for the next run."""
        for store in self._stores:
            self._loop.run_until_complete(store.close())
        self._stores = []
        self._client.flushall()

    def end(self) -> None:
        """Stop the process."""
        self.begin()
        self._client.close()
        self._loop.close()
        self._service.kill()

    def store(self, semantics: Semantics, clock: Callable[[], float]) -> Store:
        self._stores.append(_TornStore(self.url, semantics, clock=clock, shards=SHARDS))
        return self._stores[-1]

    def do(self, effect: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(effect)

    @contextlib.contextmanager
    def tearing(self, reached: int) -> Iterator[None]:
        for store in self._stores:
            store.reached = reached
        try:
            yield
        finally:
            for store in self._stores:
                store.reached = SHARDS

    def point(self) -> Any:
        (log,) = (self._service.directory / "appendonlydir").glob("*.incr.aof")
        return log, log.stat().st_size

    def restart(self, point: Any) -> None:
        log, size = point
        self._service.kill()
        os.truncate(log, size)
        self._service.start()

    def days(self, days: int) -> None:
        pipeline = self._client.pipeline(transaction=False)
        for name, left in self._lives().items():
            if left >= 0:  # one whose time is up is gone
                pipeline.expire(name, left - days * DAY_SECONDS)
        pipeline.execute()

    def endless(self) -> str:
        lives = self._lives().items()
        found = [name for name, left in lives if left < 0 and name.split(":")[2] not in ENDLESS]
        return f"without a time to live: {', '.join(found)}" if found else ""

    def _lives(self) -> dict[str, int]:
        """Every key, and how many seconds it still lives; below 0: without end."""
        names = list(self._client.scan_iter(count=1000))
        pipeline = self._client.pipeline(transaction=False)
        for name in names:
            pipeline.ttl(name)
        return dict(zip(names, pipeline.execute(), strict=True))

    def counters(self, places: Places) -> Iterator[tuple[int, Counters]]:
        wanted = list(places)
        pipeline = self._client.pipeline(transaction=False)
        for shard, minute in wanted:
            pipeline.hgetall(f"{self._keys.base(shard)}:m:{minute // HOUR_MINUTES}")
        for (_, minute), fields in zip(wanted, pipeline.execute(), strict=True):
            parts = ((field.partition("|"), count) for field, count in fields.items())
            of_minute = {
                rest: int(count) for (part, _, rest), count in parts if int(part) == minute % HOUR_MINUTES
            }
            yield minute, of_minute

    def reader(self, semantics: Semantics) -> CounterReader:
        return RedisBuckets(self.url, semantics, shards=SHARDS)


class _TornStore(RedisStore):
    """The real store, whose calls reach only the shards below `reached`."""

    reached = SHARDS

    async def _each(self, function: str, arguments: Mapping[int, Sequence[Any]]) -> dict[int, Any]:
        within = {number: values for number, values in arguments.items() if number < self.reached}
        answers = await super()._each(function, within) if within else {}
        if self.reached < SHARDS:
            raise RedisConnectionError
        return answers

    async def _commit(self, calls: Sequence[Sequence[int]], arguments: Mapping[int, bytes]) -> list[Any]:
        within = [numbers for numbers in calls if numbers[0] < self.reached]
        answers = await super()._commit(within, arguments) if within else []
        if self.reached < SHARDS:
            raise RedisConnectionError
        return answers
