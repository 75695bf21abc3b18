"""Read the buckets and the freshness of a deployment: what the exporter and `lara report` stand on.

Rules:
- Synchronous and read-only; it never scans: every key is computed from the hours that have a bucket.
- A span is whole hours, read from the day's hash of hours, and at most two parts of hours, read from the
  hour's hash of minutes. So all windows to 7 days cost at most about 25 keys a shard.
- "All time before E" is the totals less what came at or after E.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, cast

from redis import Redis

from attribution.semantics import Semantics
from metrics.buckets import Counters, Span
from metrics.server_metrics import Memory
from streams.state.keys import Keys
from streams.state.meaning import check_meaning, meaning_of

HOUR_MINUTES: Final = 60
DAY_HOURS: Final = 24
Buckets = Mapping[int, dict[str, int]]


class _Parts(NamedTuple):
    """What a span is summed from: whole hours, and minutes of hours that it cuts."""

    hours: frozenset[int]
    minutes: frozenset[int]

    @property
    def keys(self) -> tuple[frozenset[int], frozenset[int]]:
        """The days and the hours whose hashes are needed."""
        days = frozenset(hour // DAY_HOURS for hour in self.hours)
        return days, frozenset(minute // HOUR_MINUTES for minute in self.minutes)


class RedisBuckets:
    """A `CounterReader` on one Redis server. Raises `redis.RedisError` when it cannot be reached."""

    def __init__(
        self,
        url: str,
        semantics: Semantics,
        *,
        prefix: str = "lara",
        shards: int = 8,
        topics: str | None = None,
    ) -> None:
        self._keys = Keys(prefix, shards)
        self._meaning = meaning_of(semantics, shards)
        self._topics = topics or prefix  # what the names of the input topics begin with
        self._redis: Redis = Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2)

    def sums(self, spans: Sequence[Span]) -> list[Counters]:
        """As `metrics.buckets.CounterReader.sums`, in two round trips. Raises `OtherMeaning`."""
        known, totals = self._overview()
        parts = [_parts(span, known) for span in spans]
        hours, minutes = self._buckets(parts)
        found = [_sum(part, hours, minutes) for part in parts]
        return [
            _less(totals, counters) if span.start is None else counters
            for span, counters in zip(spans, found, strict=True)
        ]

    def freshness(self) -> dict[str, tuple[float | None, float | None]]:
        """Per topic: newest event time and newest commit time, in seconds since the epoch."""
        fields = cast(dict[bytes, bytes], self._redis.hgetall(f"{self._keys.base(0)}:fresh"))
        seconds = {name.decode(): int(value) / 1000 for name, value in fields.items()}
        types = sorted({name.partition("/")[0] for name in seconds})
        return {
            f"{self._topics}.{kind}s": (seconds.get(f"{kind}/event"), seconds.get(f"{kind}/commit"))
            for kind in types
        }

    def confirm(self) -> None:
        """Raise unless the state can be read and means what it means here: `RedisError`, `OtherMeaning`."""
        found = cast(bytes | None, self._redis.hget(f"{self._keys.base(0)}:meta", "meaning"))
        if found is not None:
            check_meaning(found.decode(), self._meaning)

    def memory(self) -> Memory:
        """How full the server is."""
        found = cast(dict[str, int], self._redis.info("memory"))
        return Memory(found["used_memory"], found["maxmemory"])

    def close(self) -> None:
        """Give the connections back."""
        self._redis.close()

    def _overview(self) -> tuple[frozenset[int], dict[str, int]]:
        """The hours that have a bucket, and the totals of all time."""
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(self._keys.shards):
            pipeline.zrange(f"{self._keys.base(number)}:hours", 0, -1)
            pipeline.hgetall(f"{self._keys.base(number)}:total")
        pipeline.hget(f"{self._keys.base(0)}:meta", "meaning")
        *answers, meaning = pipeline.execute()
        if meaning is not None:
            check_meaning(meaning.decode(), self._meaning)
        totals: dict[str, int] = {}
        for counters in answers[1::2]:
            _add(totals, ((name.decode(), int(value)) for name, value in counters.items()))
        return frozenset(int(hour) for hours in answers[::2] for hour in hours), totals

    def _buckets(self, parts: Iterable[_Parts]) -> tuple[Buckets, Buckets]:
        """Counters by hour and by minute, of the days and hours that the parts need."""
        keys = [part.keys for part in parts]
        days = frozenset[int]().union(*(days for days, _ in keys))
        hours = frozenset[int]().union(*(hours for _, hours in keys))
        wanted = [("h", day, DAY_HOURS) for day in days] + [("m", hour, HOUR_MINUTES) for hour in hours]
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(self._keys.shards):
            for level, key, _ in wanted:
                pipeline.hgetall(f"{self._keys.base(number)}:{level}:{key}")
        found: dict[str, dict[int, dict[str, int]]] = {"h": {}, "m": {}}
        for (level, key, length), fields in zip(wanted * self._keys.shards, pipeline.execute(), strict=True):
            for field, value in fields.items():
                part, _, counter = field.decode().partition("|")
                bucket = found[level].setdefault(key * length + int(part), {})
                bucket[counter] = bucket.get(counter, 0) + int(value)
        return found["h"], found["m"]


def _parts(span: Span, known: frozenset[int]) -> _Parts:
    """The parts of a span; of one that began with time, the parts of what comes after it."""
    start, end = (span.end, None) if span.start is None else (span.start, span.end)
    whole, cut = set[int](), set[int]()
    for hour in known:
        of_hour = range(hour * HOUR_MINUTES, (hour + 1) * HOUR_MINUTES)
        held = range(max(start, of_hour.start), of_hour.stop if end is None else min(end, of_hour.stop))
        if held == of_hour:
            whole.add(hour)
        else:
            cut.update(held)
    return _Parts(frozenset(whole), frozenset(cut))


def _sum(parts: _Parts, hours: Buckets, minutes: Buckets) -> dict[str, int]:
    total: dict[str, int] = {}
    for hour in parts.hours:
        _add(total, hours.get(hour, {}).items())
    for minute in parts.minutes:
        _add(total, minutes.get(minute, {}).items())
    return {counter: value for counter, value in total.items() if value}


def _less(totals: Counters, later: Counters) -> dict[str, int]:
    left = {counter: value - later.get(counter, 0) for counter, value in totals.items()}
    return {counter: value for counter, value in left.items() if value}


def _add(total: dict[str, int], counters: Iterable[tuple[str, int]]) -> None:
    for counter, value in counters:
        total[counter] = total.get(counter, 0) + value
