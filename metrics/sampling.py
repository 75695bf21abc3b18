"""A random sample for people to label, drawn so that it estimates shares of all.

Rules:
- Stratified: from each stratum the same number, or all of a stratum that has fewer. Inside a stratum it is a
  simple random sample without replacement.
- Drawn are the smallest keyed hashes of the ids (BLAKE2b, the seed its key). So a sample depends on the set
  of ids and the seed alone, not on the order they come in, and a larger sample holds the smaller one.
- The inclusion probability is drawn / size of the stratum; the weight is its inverse. A weighted sum is the
  Horvitz-Thompson estimate of the sum over all.
- At most the sample is held, whatever it is drawn from.

Source: D. G. Horvitz, D. J. Thompson, "A generalization of sampling without replacement from a finite
universe", JASA 47 (1952).
"""

from collections.abc import Iterator
from hashlib import blake2b
from heapq import heappush, heappushpop
from typing import Final, Generic, NamedTuple, TypeVar

Item = TypeVar("Item")

HIGHEST_SEED: Final = 2**64 - 1


class Drawn(NamedTuple, Generic[Item]):
    """One item of a sample, and how many of its stratum were drawn."""

    item: Item
    drawn: int
    stratum_size: int

    @property
    def probability(self) -> float:
        """How probable it was that this item would be drawn."""
        return self.drawn / self.stratum_size

    @property
    def weight(self) -> float:
        """How many items of its stratum it stands for."""
        return self.stratum_size / self.drawn


class Sample(Generic[Item]):
    """A sample that is drawn while items are offered, each once."""

    def __init__(self, number: int, seed: int) -> None:
        self._number = number
        self._key = seed.to_bytes(8, "big")
        self._sizes: dict[str, int] = {}
        self._kept: dict[str, list[tuple[int, str, Item]]] = {}  # of each stratum a heap, largest hash first

    def offer(self, stratum: str, identity: str, item: Item) -> None:
        """One more item of the population, named by its id."""
        self._sizes[stratum] = self._sizes.get(stratum, 0) + 1
        kept = self._kept.setdefault(stratum, [])
        entry = (-self._hash(identity), identity, item)
        if len(kept) < self._number:
            heappush(kept, entry)
        else:
            heappushpop(kept, entry)

    def _hash(self, identity: str) -> int:
        return int.from_bytes(blake2b(identity.encode(), key=self._key, digest_size=16).digest(), "big")

    def drawn(self) -> Iterator[Drawn[Item]]:
        """The sample: strata by name, and inside a stratum in the order of the hashes, which is random."""
        for stratum, kept in sorted(self._kept.items()):
            for _, _, item in sorted(kept, key=lambda entry: -entry[0]):
                yield Drawn(item, len(kept), self._sizes[stratum])
