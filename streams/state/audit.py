"""Compare the buckets with what the entities say: state that was lost, and counts that nobody counted.

Rules:
- A minute must hold the sum of the contributions of all entities; an hour and the total, that of its minutes.
- Workers go on meanwhile. Buckets are read before the entities and after them: what changed in between is not
  judged. What differs is drift only if a second reading finds the same.
- Entities expire: only minutes are judged of which none can have expired yet (`expiry.py`).
- The first reading keeps one number a bucket, a sum of hashes, whatever the size of the state. Counters are
  kept only of buckets that differed, and of at most `MOST_SUSPECTS` of them.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from attribution.entities import Entity, split_key
from attribution.semantics import Semantics
from attribution.stages import KINDS
from metrics.buckets import Counters

MINUTE: Final = "minute"
HOUR: Final = "hour"
TOTAL: Final = "total"
HOUR_MINUTES: Final = 60
MOST_SUSPECTS: Final = 1440  # as many as a day has minutes
MODULUS: Final = 2**61 - 1
# Counters to which every entity of a kind adds 1: how many of the kind a difference stands for.
ONE_EACH: Final = {
    "retrievals": "retrieval",
    "actions": "action",
    "prompts": "request",
    "sessions": "session",
}


class Bucket(NamedTuple):
    """Where counters are: a minute or an hour, since the epoch, or the total, whose number is 0."""

    level: str
    number: int


class Contents(Protocol):
    """All that a state holds."""

    def buckets(self, since: int | None) -> Iterator[tuple[Bucket, Counters]]:
        """Every bucket from this minute on, over all shards, each once; the total only without `since`."""

    def entities(self) -> Iterator[Mapping[str, Entity]]:
        """Every entity by page; one written meanwhile comes at least once."""


class Drift(Struct, frozen=True):
    """A counter of a bucket that is not what it must be."""

    level: str
    number: int
    counter: str
    expected: int
    found: int


class Audit(Struct, frozen=True):
    """What was found. Minutes before `since` are not judged; None: all are."""

    since: int | None
    entities: int
    minutes: int
    changed: int  # buckets written meanwhile, and so not judged
    drift: tuple[Drift, ...]
    more: int  # buckets that differed too, and were not looked into

    @property
    def size(self) -> int:
        """The absolute differences, summed."""
        return sum(abs(one.expected - one.found) for one in self.drift)

    @property
    def lost(self) -> dict[str, int]:
        """How many entities of a kind were counted and are there no more, at least."""
        gone: Counter[str] = Counter()
        for one in self.drift:
            kind = ONE_EACH.get(one.counter.partition("|")[0])
            if one.level == MINUTE and kind is not None:
                gone[kind] += one.found - one.expected
        return {kind: count for kind, count in sorted(gone.items()) if count > 0}


def audit(contents: Contents, semantics: Semantics, since: int | None = None) -> Audit:
    """Read everything, and a second time if something differs."""
    return _Auditor(contents, semantics, since).run()


class _Auditor:
    def __init__(self, contents: Contents, semantics: Semantics, since: int | None) -> None:
        self._contents = contents
        self._semantics = semantics
        self._since = since
        self._entities = 0
        self._said: dict[int, int] = {}  # minute -> digest of what the entities say of it
        self._held: dict[Bucket, int] = {}  # digests of what nobody wrote meanwhile

    def run(self) -> Audit:
        before = self._digests()
        self._read_entities()
        after = self._digests()
        known = before.keys() | after.keys() | {Bucket(MINUTE, minute) for minute in self._said}
        self._held = {one: after.get(one, 0) for one in known if before.get(one, 0) == after.get(one, 0)}
        suspects = sorted(self._suspects(after), reverse=True)
        drift, confirmed = self._look_into(frozenset(suspects[:MOST_SUSPECTS]))
        minutes = sum(one.level == MINUTE for one in known)
        changed = len(known) - len(self._held) + min(len(suspects), MOST_SUSPECTS) - confirmed
        more = max(0, len(suspects) - MOST_SUSPECTS)
        return Audit(self._since, self._entities, minutes, changed, tuple(drift), more)

    def _digests(self) -> dict[Bucket, int]:
        return {bucket: digest(counters) for bucket, counters in self._contents.buckets(self._since)}

    def _read_entities(self) -> None:
        for page in self._contents.entities():
            self._entities += len(page)
            for _, minute, counter, amount in self._contributions(page):
                self._said[minute] = (self._said.get(minute, 0) + _hash(counter) * amount) % MODULUS

    def _contributions(self, page: Mapping[str, Entity]) -> Iterator[tuple[str, int, str, int]]:
        for key, entity in page.items():
            kind, name = split_key(key)
            for (minute, counter), amount in KINDS[kind].contribute(name, entity, self._semantics).items():
                if self._since is None or minute >= self._since:
                    yield key, minute, counter, amount

    def _suspects(self, digests: Mapping[Bucket, int]) -> set[Bucket]:
        """What differs and was not written meanwhile."""
        must: Counter[Bucket] = Counter({Bucket(MINUTE, minute): said for minute, said in self._said.items()})
        for (level, number), value in digests.items():
            for above in _above(number) if level == MINUTE else ():
                must[above] += value
        return {one for one, value in self._held.items() if must[one] % MODULUS != value}

    def _look_into(self, suspects: Collection[Bucket]) -> tuple[list[Drift], int]:
        """Counter by counter, what a second reading finds too, and of how many buckets it could be said."""
        if not suspects:
            return [], 0
        must = self._said_of({one.number for one in suspects if one.level == MINUTE})
        found: dict[Bucket, Counters] = {}
        for bucket, counters in self._contents.buckets(self._since):
            if bucket in suspects:
                found[bucket] = counters
            for above in _above(bucket.number) if bucket.level == MINUTE else ():
                if above in suspects:
                    must.setdefault(above, Counter()).update(counters)
        drift, confirmed = [], 0
        for bucket in sorted(suspects):
            ours, theirs = must.get(bucket, Counter()), found.get(bucket, {})
            if self._as_before(bucket, ours, theirs):
                confirmed += 1
                drift += _differences(bucket, ours, theirs)
        return drift, confirmed

    def _said_of(self, minutes: Collection[int]) -> dict[Bucket, Counter[str]]:
        """What the entities say of some minutes, each entity once."""
        sums: dict[Bucket, Counter[str]] = {}
        seen: set[tuple[str, int, str]] = set()
        for page in self._contents.entities() if minutes else ():
            for key, minute, counter, amount in self._contributions(page):
                if minute in minutes and (key, minute, counter) not in seen:
                    seen.add((key, minute, counter))
                    sums.setdefault(Bucket(MINUTE, minute), Counter())[counter] += amount
        return sums

    def _as_before(self, bucket: Bucket, ours: Counters, theirs: Counters) -> bool:
        said = self._said.get(bucket.number, 0) if bucket.level == MINUTE else digest(ours)
        return digest(theirs) == self._held[bucket] and digest(ours) == said


def _above(minute: int) -> tuple[Bucket, Bucket]:
    """The buckets that hold the sum of this minute and others."""
    return Bucket(HOUR, minute // HOUR_MINUTES), Bucket(TOTAL, 0)


def _differences(bucket: Bucket, ours: Counters, theirs: Counters) -> list[Drift]:
    level, number = bucket
    names = sorted(ours.keys() | theirs.keys())
    found = [Drift(level, number, name, ours.get(name, 0), theirs.get(name, 0)) for name in names]
    return [one for one in found if one.expected != one.found]


def digest(counters: Counters) -> int:
    """One number for some counters: that of a sum is the sum of theirs, and zeros do not show."""
    return sum(_hash(counter) * value for counter, value in counters.items()) % MODULUS


@lru_cache(maxsize=65_536)
def _hash(counter: str) -> int:
    return int.from_bytes(hashlib.blake2b(counter.encode(), digest_size=8).digest()) % MODULUS
