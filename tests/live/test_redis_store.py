"""Real Redis passes the suite of the in-memory twin."""

import itertools

import pytest
from redis import Redis

from attribution.engine import Write
from attribution.entities import NOBODY
from attribution.semantics import Semantics
from metrics.exporter import QualityCollector
from streams.state.redis_buckets import RedisBuckets
from streams.state.redis_store import RedisStore
from tests.state_suite import StoreSuite, crash_test

_numbers = itertools.count(1_000_000)


class ReadableStore(RedisStore):
    """A store that reads its own buckets back, so that one suite fits both kinds of store."""

    def __init__(self, url, semantics, prefix):
        super().__init__(url, semantics, clock=lambda: next(_numbers), prefix=prefix)
        self._reader = RedisBuckets(url, semantics, prefix=prefix)

    def sums(self, spans):
        return self._reader.sums(spans)


class TestRedisStore(StoreSuite):
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


def test_crashes_change_no_figure(redis_url, prefix):
    """On real Redis too, crashes between any two effects, then redelivery, change no figure."""
    examples = itertools.count()
    crash_test(lambda semantics: ReadableStore(redis_url, semantics, f"{prefix}{next(examples)}"), 60)()
