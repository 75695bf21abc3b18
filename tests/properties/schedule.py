"""A seeded scheduler of workers that crash: each step is one effect on the store, of one worker.

A crash forgets the worker's batch between two effects; the batch is delivered again later, as Kafka would.
"""

import random
from collections.abc import Sequence

from attribution.engine import Load, settle
from attribution.events import Event
from attribution.semantics import Semantics
from streams.state.memory import MemoryStore
from streams.state.store import Refused, Store, Term

Batch = Sequence[Event]


class Running:
    """One batch on its way through one worker."""

    def __init__(self, batch: Batch, semantics: Semantics, term: Term, token: str, *, whole: bool) -> None:
        self.batch = batch
        self.term = term
        self.token = token
        self._settling = settle(batch, semantics, term.floor, whole=whole)
        self._answer: object = None

    async def step(self, store: Store) -> bool:
        """One effect; True when the batch is settled."""
        try:
            request = self._settling.send(self._answer)
        except StopIteration:
            await store.advance({}, self.term)  # where a worker raises its watermarks, and may be refused
            return True
        if isinstance(request, Load):
            self._answer = await store.load(request.keys)
        else:
            self._answer = await store.save(request.writes, self.term, self.token, whole=request.whole)
        return False


class Schedule:
    """Batches on their way through some workers, with crashes and restarts of the store, by a seed."""

    def __init__(self, store: Store, batches: Sequence[Batch], semantics: Semantics, seed: int) -> None:
        self._store = store
        self._semantics = semantics
        self._chance = random.Random(seed)
        self._waiting = list(batches)
        self._running: list[Running] = []
        self._since_snapshot: list[Batch] = []  # settled since: lost with it
        self._snapshot: object = None

    async def run(self, workers: int = 2, crashes: int = 6, restarts: int = 2) -> None:
        """Settle all batches. A restart loses what was written since a snapshot, if the store can do that."""
        term = await self._store.open()
        while self._waiting or self._running:
            if self._waiting and len(self._running) < workers:
                token = f"t{self._chance.random()}"
                whole = self._chance.random() < 0.5
                self._running.append(Running(self._waiting.pop(0), self._semantics, term, token, whole=whole))
                continue
            if isinstance(self._store, MemoryStore) and restarts:
                restarts -= self._restart(self._store)
            one = self._chance.choice(self._running)
            if crashes and self._chance.random() < 0.15:
                crashes -= 1
                self._deliver_again(one)
                continue
            try:
                if await one.step(self._store):
                    self._running.remove(one)
                    self._since_snapshot.append(one.batch)
            except Refused:
                self._deliver_again(one)
                term = await self._store.open()

    def _deliver_again(self, one: Running) -> None:
        self._running.remove(one)
        self._waiting.insert(self._chance.randint(0, len(self._waiting)), one.batch)

    def _restart(self, store: MemoryStore) -> int:
        """Now and then note where the store stands, now and then go back to there; 1 if it went back."""
        if self._chance.random() < 0.1:
            self._snapshot, self._since_snapshot = store.snapshot(), []
        elif self._snapshot is not None and self._chance.random() < 0.1:
            store.roll_back(self._snapshot)
            self._waiting += self._since_snapshot
            self._since_snapshot = []
            return 1
        return 0


async def run(store: Store, batches: Sequence[Batch], semantics: Semantics, seed: int) -> None:
    """Settle all batches with interleaved workers, crashes between any two effects, and restarts."""
    await Schedule(store, batches, semantics, seed).run()
