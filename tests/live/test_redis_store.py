"""Real Redis passes the suite of the in-memory twin."""

import itertools
import time

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from attribution.engine import Write
from attribution.entities import NOBODY
from attribution.semantics import Semantics
from metrics.exporter import QualityCollector
from streams.state.drive import drive
from streams.state.live import go_live, live_state
from streams.state.meaning import OtherMeaning
from streams.state.redis_buckets import RedisBuckets
from streams.state.redis_contents import RedisContents
from streams.state.redis_store import LIBRARY, RedisStore
from streams.state.store import Log, Term
from tests.properties import running
from tests.state_suite import OVERTAKEN, PARTITION, StoreSuite, crash_test

_numbers = itertools.count(1_000_000)


class ReadableStore(RedisStore):
    """A store that reads its own buckets back, so that one suite fits both kinds of store."""

    def __init__(self, url, semantics, prefix):
        super().__init__(url, semantics, clock=lambda: next(_numbers), prefix=prefix)
        self._reader = RedisBuckets(url, semantics, prefix=prefix)

    def sums(self, spans):
        return self._reader.sums(spans)


class TestRedisStore(StoreSuite):
    async def expire(self, store, key):
        await store._redis.delete(store._keys.entity(key))

    @pytest.fixture
    def stores(self, redis_url, prefix):
        return lambda semantics: ReadableStore(redis_url, semantics, prefix)


async def test_a_scrape_reads_few_keys_and_never_scans(redis_url, prefix):
    """With a bucket in every hour of 9 days, a whole scrape reads at most 400 hashes, and scans nothing."""
    store = ReadableStore(redis_url, Semantics(), prefix)
    term = await store.open()
    now_minute = 29_541_000
    for number in range(9 * 24 * 8):
        key = f"action:{number}"
        deltas = {(now_minute - 60 * (number // 8), "retrievals|browse|chat"): 1}
        row = Write(key, 0, NOBODY._replace(version=term.floor(key) + 1), deltas, False)
        assert not await store.save([row], term, "t")
    reader = RedisBuckets(redis_url, Semantics(), prefix=prefix)
    collector = QualityCollector(reader, lambda: now_minute * 60 + 30.0, [], freshness=reader)
    with Redis.from_url(redis_url, decode_responses=True) as client:
        client.config_resetstat()
        collector.collect()
        calls = {name: row["calls"] for name, row in client.info("commandstats").items()}
    await store.close()
    assert 0 < calls["cmdstat_hgetall"] <= 400
    assert not {"cmdstat_scan", "cmdstat_hscan", "cmdstat_keys"} & calls.keys()


async def test_a_state_knows_when_it_began(redis_url, prefix):
    """Noted once, when nothing was there yet: until then, and so long, nothing of it can have expired."""
    contents = RedisContents(redis_url, Semantics(), prefix=prefix, slack_days=14)
    now = time.time()
    assert contents.whole_since(now) is not None, "no state at all knows nothing"
    for clock in (lambda: now - 60, lambda: now + 86_400):
        store = RedisStore(redis_url, Semantics(), clock=clock, prefix=prefix)
        await store.open()
        await store.close()
        with Redis.from_url(redis_url) as client:
            client.hdel(f"{prefix}:{{s00}}:meta", "run_id")  # as if the server had restarted
    lives = 51 * 86_400
    assert contents.whole_since(now - 61 + lives) is None
    assert contents.whole_since(now - 59 + lives) is not None
    with pytest.raises(OtherMeaning):
        RedisContents(redis_url, Semantics(surfaces=("chat",)), prefix=prefix).whole_since(now)


async def test_a_state_that_becomes_the_live_one_hands_out_higher_versions(redis_url, prefix):
    """Over and back: workers of the state at work are refused, and every floor rises."""
    names = (prefix, f"{prefix}-rebuilt")
    async with AsyncRedis.from_url(redis_url) as client:
        stores = [RedisStore(redis_url, Semantics(), clock=time.time, prefix=name) for name in names]
        floors = [max((await store.open()).floors) for store in stores]
        assert await live_state(client, prefix) == prefix
        assert not await go_live(client, prefix, prefix, 8)
        for number in (1, 0, 1):
            assert await go_live(client, prefix, names[number], 8)
            assert not await go_live(client, prefix, names[number], 8), "once"
            assert await live_state(client, prefix) == names[number]
            term = await stores[number].open()
            assert min(term.floors) > max(floors)
            floors.append(max(term.floors))
        for store in stores:
            await store.close()


def test_crashes_change_no_figure(redis_url, prefix):
    """On real Redis too, crashes between any two effects, then redelivery, change no figure."""
    examples = itertools.count()
    crash_test(lambda semantics: ReadableStore(redis_url, semantics, f"{prefix}{next(examples)}"), 60)()


# --- what ends, and what stays ----------------------------------------------------------------------

STAYS = {"meta", "total", "watermarks", "logs"}


async def settled_store(redis_url, prefix) -> tuple[ReadableStore, Term]:
    """A store in which everything has been written that a worker writes."""
    store = ReadableStore(redis_url, Semantics(), prefix)
    term = await store.open()
    await drive(running.accepted(OVERTAKEN), Semantics(), store, term, "1/worker")
    logs = {PARTITION: Log("east/1")}
    await store.begin(logs, term)
    await store.advance({PARTITION: 5}, term, {"action": (1000, 2000)}, logs)
    return store, term


async def test_every_key_ends_but_floors_totals_and_watermarks(redis_url, prefix):
    """Nothing else may grow for ever: entities, buckets, their index, marks and freshness have a time to live."""
    store, _ = await settled_store(redis_url, prefix)
    with Redis.from_url(redis_url, decode_responses=True) as client:
        lives = {key: client.ttl(key) for key in client.scan_iter(f"{prefix}:*")}
    await store.close()
    kinds = {key.removeprefix(f"{prefix}:").split(":")[1] for key in lives}
    assert kinds == STAYS | {"e", "m", "h", "hours", "due", "fresh"}
    assert {key.split(":")[2] for key, seconds in lives.items() if seconds < 0} == STAYS
    assert min(seconds for seconds in lives.values() if seconds > 0) > 37 * 86_400


async def test_the_index_forgets_hours_whose_buckets_have_expired(redis_url, prefix):
    """At a later commit, and no other hour."""
    store, term = await settled_store(redis_url, prefix)
    with Redis.from_url(redis_url, decode_responses=True) as client:
        keys = [key for key in client.scan_iter(f"{prefix}:*:m:*") if client.zcard(index_of(key)) == 1]
        gone = keys[0]
        client.delete(gone)
        key = next(
            f"action:{n}"
            for n in itertools.count()
            if store._keys.entity(f"action:{n}").startswith(index_of(gone)[:-5])
        )
        deltas = {(60 * 24 * 365 * 60, "actions|none"): 1}
        row = Write(key, 0, NOBODY._replace(version=term.floor(key) + 1), deltas, False)
        assert not await store.save([row], term, "t")
        assert client.zrange(index_of(gone), 0, -1) == [str(24 * 365 * 60)]
    await store.close()


def index_of(bucket: str) -> str:
    return f"{bucket.rpartition(':m:')[0]}:hours"


async def test_two_versions_of_the_functions_live_beside_each_other(redis_url, prefix):
    """In a rolling upgrade each worker loads and calls its own, on the same state, whoever loads last."""
    store, term = await settled_store(redis_url, prefix)
    newer = NewerStore(redis_url, Semantics(), prefix)
    newer_term = await newer.open()
    assert newer_term == term
    await newer.advance({PARTITION: 7}, newer_term, logs={PARTITION: Log("east/1")})
    assert (await store.open()) == term
    await store.advance({PARTITION: 9}, term, logs={PARTITION: Log("east/1")})
    await newer.advance({PARTITION: 8}, newer_term, logs={PARTITION: Log("east/1")})
    assert await newer.watermarks([PARTITION]) == {PARTITION: 9}
    with Redis.from_url(redis_url, decode_responses=True) as client:
        names = {library[1] for library in client.function_list()}
        assert names >= {"lara_1", "lara_2"}
        client.function_delete("lara_2")
    await store.close()
    await newer.close()


class NewerStore(ReadableStore):
    """A store of the next version of the functions."""

    library = LIBRARY.replace("lara_1", "lara_2")

    async def _each(self, function, arguments):
        """As the store of that version calls its functions."""
        pipeline = self._redis.pipeline(transaction=False)
        for number, values in arguments.items():
            pipeline.fcall(f"lara_2_{function}", 1, self._keys.base(number), *values)
        return dict(zip(arguments, await pipeline.execute(), strict=True))

    async def open(self):
        await self._redis.function_load(self.library, replace=True)
        return await super().open()
