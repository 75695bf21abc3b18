"""The deployment's store and reader, as its settings name them."""

import time

from redis.asyncio import Redis

from streams.settings import Settings
from streams.state.redis_buckets import RedisBuckets
from streams.state.redis_contents import Pace, RedisContents, unhurried
from streams.state.redis_store import RedisStore


def store_of(settings: Settings) -> RedisStore:
    """The store that workers write; not yet connected."""
    return RedisStore(
        settings.redis_address,
        settings.semantics,
        clock=time.time,
        prefix=settings.state_name,
        shards=settings.shards,
        slack_days=settings.outage_days,
    )


def reader_of(settings: Settings) -> RedisBuckets:
    """The reader of what workers counted; not yet connected."""
    return RedisBuckets(
        settings.redis_address,
        settings.semantics,
        prefix=settings.state_name,
        shards=settings.shards,
        topics=settings.prefix,
    )


def contents_of(settings: Settings, pace: Pace = unhurried) -> RedisContents:
    """All that the state holds, for whoever must see it whole; not yet connected."""
    return RedisContents(
        settings.redis_address,
        settings.semantics,
        prefix=settings.state_name,
        shards=settings.shards,
        slack_days=settings.outage_days,
        pace=pace,
    )


def server_of(settings: Settings) -> Redis:
    """The Redis server itself, for questions about it; not yet connected, and not waited for long."""
    client: Redis = Redis.from_url(settings.redis_address, socket_connect_timeout=2, socket_timeout=5)
    return client
