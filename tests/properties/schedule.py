"""A seeded scheduler of workers that crash: each step is one effect on the store, of one worker.

A crash forgets the worker's batch between two effects; the batch is delivered again later, as Kafka would.
"""

import random
from collections.abc import Sequence

from attribution.engine import Load, settle
from attribution.events import Event
from attribution.semantics import Semantics
from streams.state.store import Refused, Store, Term

Batch = Sequence[Event]


class Running:
    """One batch on its way through one worker."""

    def __init__(self, batch: Batch, semantics: Semantics, term: Term, token: str) -> None:
        self.batch = batch
        self.term = term
        self.token = token
        self._settling = settle(batch, semantics, term.floor)
        self._answer: object = None

    async def step(self, store: Store) -> bool:
        """One effect; True when the batch is settled."""
        try:
            request = self._settling.send(self._answer)
        except StopIteration:
            return True
        if isinstance(request, Load):
            self._answer = await store.load(request.keys)
        else:
            self._answer = await store.save(request.writes, self.term, self.token)
        return False


async def run(
    store: Store,
    batches: Sequence[Batch],
    semantics: Semantics,
    seed: int,
    workers: int = 2,
    crashes: int = 6,
) -> None:
    """Settle all batches with interleaved workers and some crashes between any two effects."""
    chance = random.Random(seed)
    waiting = list(batches)
    running: list[Running] = []
    term = await store.open()
    while waiting or running:
        if waiting and len(running) < workers:
            running.append(Running(waiting.pop(0), semantics, term, f"t{chance.random()}"))
            continue
        one = chance.choice(running)
        if crashes and chance.random() < 0.15:
            crashes -= 1
            running.remove(one)
            waiting.insert(chance.randint(0, len(waiting)), one.batch)
            continue
        try:
            if await one.step(store):
                running.remove(one)
        except Refused:
            running.remove(one)
            waiting.append(one.batch)
            term = await store.open()
