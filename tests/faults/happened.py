"""What really happened in a run. A schedule that never does something proves nothing about it.

`EXERCISED` says for each kind of fault what must have happened, and how often over `SEEDS` seeds.
"""

from collections import Counter
from itertools import pairwise
from typing import Any, Final, NamedTuple

from aiokafka import TopicPartition

from streams.transport import Fetched
from tests.faults.plan import Sent
from tests.faults.worker import Call

SEEDS: Final = 250
# What a worker does one after the other: with a batch, in a new term, and in a sweep that finds something.
BATCH: Final = ("fetch", "load", "save", "publish", "advance", "clear")
TERM: Final = ("open", "unsaid", "since", "load", "save", "said", "logs", "watermarks", "bounds", "begin")
SWEEP: Final = ("restarted", "watermarks", "look", "due", "load", "publish", "clear")
PAIRS: Final = frozenset({*pairwise(BATCH), ("save", "load"), *pairwise(TERM), *pairwise(SWEEP)})
# The others are so rare that seeds may miss them: `test_faults.py` crashes at every step of one plan besides.
OFTEN: Final = (*pairwise(BATCH), ("save", "load"))
ENDS: Final = {
    "error": "that failed",
    "lost": "that was done, its answer lost",
    "late": "that failed, and was done later",
    "torn": "that was done in some shards",
}


def crash_between(before: str, after: str) -> str:
    """What is counted when a worker dies between two of its effects."""
    return f"crash after {before}, before {after}"


def chunk_of(seed: int) -> str:
    """The seeds that are run together with this one."""
    first = seed - seed % SEEDS
    return f"{first}-{first + SEEDS - 1}"


class Least(NamedTuple):
    """How often something must have happened."""

    fault: str
    what: str
    times: int


EXERCISED: Final = (
    Least("reordering", "an event behind a later one in its log", 1000),
    Least("reordering", "a write between two effects of another batch", 500),
    Least("duplicates", "a record that was sent again", 300),
    Least("duplicates", "a batch that was read again", 200),
    Least("batch cuts", "a batch of one offset", 300),
    Least("batch cuts", "a batch of many offsets", 500),
    *(Least("crashes between any two effects", crash_between(*pair), 1) for pair in OFTEN),
    *(Least("lost commits", f"{name} {end}", 1) for name in ("save", "advance") for end in ENDS.values()),
    Least("repeated commits", "save that arrived late", 10),
    Least("repeated commits", "save that found another version", 50),
    Least("zombie workers", "save of partitions that were lost", 100),
    Least("zombie workers", "advance of partitions that were lost", 20),
    Least("zombie workers", "save of a worker that is dead", 3),
    Least("rebalances", "rebalance in the middle of a batch", 20),
    Least("offset holes", "a batch with holes", 100),
    Least("Redis that loses its last seconds", "restart that lost writes in the middle of a batch", 15),
    Least("Redis that loses its last seconds", "restart that lost writes while idle", 8),
    Least("Redis that loses its last seconds", "save that was refused", 10),
    Least("clock steps", "clock set forward", 10),
    Least("clock steps", "clock set back", 10),
    Least("clock steps", "restart after a clock was set", 8),
    Least("batches that get lost", "a batch that never arrived", 10),
    Least("days that go by", "days", 10),
)


class Happened:
    """Counts what happens in one run."""

    def __init__(self, sent: tuple[Sent, ...]) -> None:
        self.counts: Counter[str] = Counter()
        self.saves = 0
        self._before: dict[str, tuple[str, int]] = {}  # task → its last effect, and all saves until then
        self._read: dict[TopicPartition, int] = {}
        events = [one for one in sent if not one.hole]
        again = len(events) - len({one.value for one in events})
        behind = sum(one.timestamp > two.timestamp for one, two in pairwise(events))
        self.count("a record that was sent again", again)
        self.count("an event behind a later one in its log", behind)

    def count(self, what: str, times: int = 1) -> None:
        """It happened so often."""
        if times:
            self.counts[what] += times

    def took(self, call: Call, fault: str) -> None:
        """A task's next effect has its turn, with a fault or without."""
        before, saves = self._before.get(call.task, ("", self.saves))
        self.count(
            "a write between two effects of another batch", before in BATCH[1:-1] and self.saves > saves
        )
        if fault == "crash":
            self.count(crash_between(before, call.name))
        elif fault:
            self.count(f"{call.name} {ENDS[fault]}")
        self._before[call.task] = (call.name, self.saves)

    def did(self, call: Call, answer: Any, zombie: bool, dead: bool) -> None:
        """An effect was done."""
        if call.name not in ("save", "advance"):
            return
        self.saves += call.name == "save"
        self._before[call.task] = (call.name, self.saves)
        self.count(f"{call.name} of partitions that were lost", zombie)
        self.count(f"{call.name} of a worker that is dead", dead)
        self.count(f"{call.name} that arrived late", call.done is None and call.not_before > 0)
        self.count(f"{call.name} that found another version", bool(answer))

    def refused(self, call: Call) -> None:
        """An effect was refused, since the server restarted."""
        self.count(f"{call.name} that was refused")

    def restarted(self, saves: int, busy: bool, stepped: bool) -> None:
        """The server went back to where it was after so many saves."""
        if saves < self.saves:
            self.count(f"restart that lost writes {'in the middle of a batch' if busy else 'while idle'}")
        self.count("restart after a clock was set", stepped)

    def fetched(self, batch: Fetched, arrives: bool) -> None:
        """A batch was read."""
        offsets = batch.next_position - batch.position
        self.count("a batch of one offset" if offsets == 1 else "a batch of many offsets")
        self.count("a batch with holes", offsets > len(batch.records))
        self.count("a batch that never arrived", not arrives)
        self.count("a batch that was read again", batch.position < self._read.get(batch.source, 0))
        self._read[batch.source] = max(batch.next_position, self._read.get(batch.source, 0))
