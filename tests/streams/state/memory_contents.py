"""What a state in memory holds, as an audit reads it, with a hook for what happens between two looks."""

from collections.abc import Callable

from metrics.buckets import Span
from streams.state.audit import HOUR, MINUTE, TOTAL, Bucket
from streams.state.memory import MemoryStore

LONG = 10**9


def lose(store: MemoryStore, *keys: str) -> None:
    """As a server does that evicts keys: entities are gone, what they counted stays."""
    for shard in store._shards:
        for key in keys:
            shard.entities.pop(key, None)


class MemoryContents:
    """`Contents` of a store. `looking` is called before every look, with what is looked at."""

    def __init__(
        self, store: MemoryStore, minutes: range, looking: Callable[[str], None] = lambda what: None
    ):
        self.store = store
        self.minutes = minutes  # in which the tests' events lie
        self.looking = looking
        self.tampered: dict[Bucket, dict[str, int]] = {}
        self.twice = False

    def buckets(self, since):
        self.looking("buckets")
        for level, length in ((MINUTE, 1), (HOUR, 60)):
            for start in range(self.minutes.start, self.minutes.stop, length):
                if since is None or start >= since:
                    yield from self._bucket(Bucket(level, start // length), Span(start, start + length))
        if since is None:
            yield from self._bucket(Bucket(TOTAL, 0), Span(None, LONG))

    def _bucket(self, bucket, span):
        counters = dict(self.store.sums([span])[0])
        for name, delta in self.tampered.get(bucket, {}).items():
            counters[name] = counters.get(name, 0) + delta
        if counters:
            yield bucket, counters

    def entities(self):
        self.looking("entities")
        page = self.store.entities()
        yield page
        if self.twice:
            yield page
