"""Real Redis passes the suite of the in-memory twin."""

import itertools

import pytest

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


def test_crashes_change_no_figure(redis_url, prefix):
    """On real Redis too, crashes between any two effects, then redelivery, change no figure."""
    examples = itertools.count()
    crash_test(lambda semantics: ReadableStore(redis_url, semantics, f"{prefix}{next(examples)}"), 60)()
