"""`lara report`: the figures of the live state."""

import time

from metrics.figures import figures
from streams.commands.backtest import print_figures
from streams.settings import Settings, published
from streams.state.redis_buckets import RedisBuckets


def report(settings: Settings, as_of: int | None, as_json: bool) -> None:
    """Print the figures that Redis holds, as of now by default."""
    reader = RedisBuckets(
        settings.redis_url, settings.semantics, prefix=settings.prefix, shards=settings.shards
    )
    moment = int(time.time() * 1000) if as_of is None else as_of
    found = figures(reader, moment, published(settings.definitions), settings.maturity_minutes)
    reader.close()
    print_figures(moment, found, settings, as_json)
