"""One worker: the real pipeline, with every effect behind a gate and a Kafka made of lists.

An effect is done when the world takes its call, not before: between any two of them everything else may
happen. A batch is handled by a task of its partition, one at a time, as an agent does; a claim (see
`streams/transport.py`) is a position here, since the fetch of a batch and its handling are one step.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, Final, Protocol

from aiokafka import TopicPartition

from attribution.engine import Write
from attribution.entities import Entity
from attribution.semantics import Semantics
from metrics.worker_metrics import WorkerMetrics
from streams.pipeline import StatePipeline
from streams.publisher import Letter, Said, said
from streams.resume import Bounds
from streams.state.store import NO_LOGS, NOTHING_FRESH, Due, Fresh, Logs, Partition, Store, Term, shard_of
from streams.transport import Fetched
from tests.faults.loop import StepLoop
from tests.faults.servers import SHARDS

Effect = Callable[..., Coroutine[Any, Any, Any]]
METRICS: Final = WorkerMetrics()  # nobody reads them; a new set would take as long as a small batch


class Call:
    """An effect that waits for its turn. Without a `done` nobody waits for its answer."""

    def __init__(self, worker: "Worker", task: str, name: str, effect: Effect) -> None:
        self.worker, self.task, self.name, self.effect = worker, task, name, effect
        self.done: asyncio.Future[Any] | None = worker.loop.create_future()
        self.not_before = 0  # a step
        self.places: set[tuple[int, int]] = set()  # the (shard, minute) of buckets that it changes
        self.whole = False  # does it reach all shards or none?
        self.ready: Callable[[], bool] = lambda: True

    def __str__(self) -> str:
        return f"{self.worker.name} {self.name}{'' if self.done else ' (on its way)'}"

    def unheard(self, not_before: int = 0) -> "Call":
        """The same, to be done from a step on, with nobody to hear its answer."""
        other = Call(self.worker, "on its way", self.name, self.effect)
        other.done, other.not_before, other.places, other.whole = None, not_before, self.places, self.whole
        return other


class Outside(Protocol):
    """What a worker finds around it."""

    loop: StepLoop
    calls: list[Call]
    letters: list[Letter]

    def wake(self, worker: "Worker", seconds: float) -> asyncio.Future[None]: ...
    def end(self, partition: TopicPartition) -> int: ...
    def fetch(self, partition: TopicPartition, position: int) -> tuple[Fetched, bool]: ...


class Worker:
    """A process: its connection, its pipeline and its tasks. It is the pipeline's `Rewind` as well."""

    def __init__(
        self,
        outside: Outside,
        name: str,
        number: int,
        store: Store,
        semantics: Semantics,
        clock: Callable[[], float],
        partitions: Collection[TopicPartition],
        *,
        whole: bool,
    ) -> None:
        self.name, self.number, self.loop = name, number, outside.loop
        self._outside = outside
        self.positions: dict[TopicPartition, int] = {}
        self._claim = 0
        self.pipeline = StatePipeline(
            GatedStore(self, store, whole=whole),
            self,
            semantics,
            METRICS,
            worker=name,
            clock=clock,
            sleep=self._sleep,
        )
        self.pipeline.bind(self)  # type: ignore[arg-type]
        self.tasks = [self._start("watch", self.pipeline.watch())]
        self.tasks += [self._start(f"read {one.partition}", self._read(one)) for one in partitions]

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self.loop.create_task(work)
        task.set_name(name)
        return task

    def assign(self, partitions: Collection[TopicPartition]) -> None:
        """All that was held is revoked, then these are held, from where the pipeline says."""
        revoked, self.positions, self._claim = list(self.positions), {}, self._claim + 1
        self.tasks.append(self._start("assign", self._assign(revoked, partitions, self._claim)))

    async def _assign(
        self, revoked: Collection[TopicPartition], partitions: Collection[TopicPartition], claim: int
    ) -> None:
        await self.pipeline.revoke(revoked)
        if partitions:
            positions = await self.pipeline.resume(partitions)
            if claim == self._claim:
                self.positions = dict(positions)

    async def _read(self, partition: TopicPartition) -> None:
        while True:
            fetched = await self.call(
                "fetch", lambda: self._fetch(partition), lambda: self._behind(partition)
            )
            if fetched is not None:
                await self.pipeline.handle(fetched)

    def _behind(self, partition: TopicPartition) -> bool:
        at = self.positions.get(partition)
        return at is not None and at < self._outside.end(partition)

    async def _fetch(self, partition: TopicPartition) -> Fetched | None:
        if not self._behind(partition):  # moved while it was held back
            return None
        fetched, arrives = self._outside.fetch(partition, self.positions[partition])
        self.positions[partition] = fetched.next_position
        return fetched if arrives else None

    async def call(
        self,
        name: str,
        effect: Effect,
        ready: Callable[[], bool] | None = None,
        places: set[tuple[int, int]] | None = None,
        *,
        whole: bool = False,
    ) -> Any:
        """Wait until the world takes this call; its answer, or its error."""
        task = asyncio.current_task()
        call = Call(self, f"{self.name} {task.get_name() if task else ''}", name, effect)
        call.ready, call.places, call.whole = ready or call.ready, places or call.places, whole
        self._outside.calls.append(call)
        assert call.done is not None
        return await call.done

    async def _sleep(self, seconds: float) -> None:
        await self._outside.wake(self, seconds)

    async def publish(self, letters: Sequence[Letter]) -> None:
        """As `Publisher.publish`."""

        async def publish(reached: int = len(letters)) -> None:
            self._outside.letters.extend(letters[:reached])

        await self.call("publish", publish)

    async def since(self, ms: int) -> AsyncIterator[Said]:
        """As `Publisher.since`: all that was ever published."""

        async def look() -> list[Said]:
            return [said(one) for one in self._outside.letters]

        for found in await self.call("since", look):
            yield found

    async def identities(self, topics: Collection[str]) -> Mapping[str, str]:
        """As `Rewind.identities`."""
        return dict.fromkeys(topics, "kafka/1")

    async def __call__(self, positions: Mapping[TopicPartition, int]) -> None:
        """As `Rewind`."""
        self.positions.update({one: at for one, at in positions.items() if one in self.positions})

    async def bounds(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, Bounds]:
        """As `Rewind.bounds`."""

        async def bounds() -> Mapping[TopicPartition, Bounds]:
            return {one: Bounds(0, self._outside.end(one)) for one in partitions}

        found: Mapping[TopicPartition, Bounds] = await self.call("bounds", bounds)
        return found

    def lag(self) -> Mapping[TopicPartition, int]:
        """As `Rewind.lag`."""
        return {one: self._outside.end(one) - at for one, at in self.positions.items()}


class GatedStore:
    """A store whose every call waits at the worker's gate."""

    def __init__(self, worker: Worker, store: Store, *, whole: bool) -> None:
        self._worker, self._store, self.whole = worker, store, whole

    async def open(self) -> Term:
        return await self._worker.call("open", self._store.open)

    async def restarted(self) -> bool:
        return await self._worker.call("restarted", self._store.restarted)

    async def load(self, keys: Sequence[str]) -> Mapping[str, Entity]:
        return await self._worker.call("load", lambda: self._store.load(keys))

    async def save(
        self, writes: Sequence[Write], term: Term, token: str, *, whole: bool = False
    ) -> frozenset[str]:
        places = {(shard_of(write.key, SHARDS), minute) for write in writes for minute, _ in write.deltas}
        return await self._worker.call(
            "save",
            lambda: self._store.save(writes, term, token, whole=whole),
            places=places,
            whole=whole,
        )

    async def advance(
        self, marks: Mapping[Partition, int], term: Term, fresh: Fresh = NOTHING_FRESH, logs: Logs = NO_LOGS
    ) -> None:
        name = "advance" if marks else "look"
        return await self._worker.call(name, lambda: self._store.advance(marks, term, fresh, logs))

    async def begin(self, logs: Logs, term: Term) -> None:
        return await self._worker.call("begin", lambda: self._store.begin(logs, term))

    async def logs(self, partitions: Collection[Partition]) -> Logs:
        return await self._worker.call("logs", lambda: self._store.logs(partitions))

    async def unsaid(self) -> int | None:
        return await self._worker.call("unsaid", self._store.unsaid)

    async def said(self, term: Term) -> None:
        return await self._worker.call("said", lambda: self._store.said(term))

    async def watermarks(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        return await self._worker.call("watermarks", lambda: self._store.watermarks(partitions))

    async def due(self, limit: int) -> list[Due]:
        async def due() -> list[Due]:
            return sorted(await self._store.due(limit))  # Redis draws them at random

        return await self._worker.call("due", due)

    async def clear(self, published: Mapping[Due, int]) -> None:
        return await self._worker.call("clear", lambda: self._store.clear(published))
