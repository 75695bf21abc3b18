"""From fetched batches to committed state: the order of effects that makes a crash harmless.

For what waits, together: settle in the store → publish what became due, and dead letters → raise the
watermarks → take back the marks. A crash anywhere before the watermark brings the same records again, and
settling them again changes nothing; a crash after it leaves at most marks, which `sweep` publishes.

Rules:
- Only one settling at a time in a process; batches that arrive meanwhile are settled together next.
- A batch counts only if it was fetched from a position at or before its watermark; else it is a gap.
- A server that restarted ends the term: everything held is read again from the watermarks.
- A store or broker out of reach is waited for, in place. Any other error is the program's, and escapes.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from redis import RedisError

from attribution.derived import outputs_of
from attribution.entities import NOBODY, Entity
from attribution.events import type_of
from attribution.semantics import Semantics
from metrics.worker_metrics import WorkerMetrics
from streams.app import Rewind
from streams.codec import Decoded, decode
from streams.progress import Progress, told
from streams.publisher import Publisher, evidence_delays, letters_of
from streams.resume import ResumePoints
from streams.saying import SPOKEN, say_again, say_again_since_loss
from streams.state.drive import Pace, Settled, drive
from streams.state.store import Due, Partition, Refused, Store, Term
from streams.transport import Fetched

log = structlog.get_logger()
T = TypeVar("T")

TRANSIENT: Final = (RedisError, KafkaError, OSError)
FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 5.0
SWEEP_SECONDS: Final = 5.0
# A mark younger than this is being published by the worker that set it.
SWEEP_AGE_MS: Final = 15_000
SWEEP_LIMIT: Final = 200  # marks a shard and sweep


class StatePipeline:
    """The pipeline of one worker; see `streams.app.Pipeline`. `clock` gives seconds since the epoch."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        semantics: Semantics,
        metrics: WorkerMetrics,
        *,
        worker: str,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        deadletter_payloads: bool = False,
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._semantics = semantics
        self._metrics = metrics
        self._worker = worker
        self._clock = clock
        self._sleep = sleep
        self._deadletter_payloads = deadletter_payloads
        self.progress = Progress(metrics, clock)
        self._points = ResumePoints(store, metrics)
        self._pace = Pace()
        self._term: Term | None = None
        self._in_vain: Mapping[str, int] = {}  # key → version: published, but not yet known to be kept
        self._waiting: list[Fetched] = []
        self._turn = asyncio.Lock()

    def bind(self, rewind: Rewind) -> None:
        """As `Pipeline.bind`."""
        self._shell = rewind

    async def resume(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The watermarks of these partitions; of one without, the start of its log."""
        self._points.want(partitions)
        async with self._turn:
            positions = await self._positions(partitions)
            self._metrics.assigned_partitions.set(len(self._points.marks))
            return positions

    async def _positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        while True:
            try:
                term = self._term or await self._open()
                return await self._take(partitions, term)
            except Refused:  # restarted just now, or begun anew by another worker
                self._term = None

    async def _open(self) -> Term:
        """A new term. What was published from writes that are lost is made due again."""
        term = await self._patiently(self._store.open)
        again = await self._patiently(lambda: say_again_since_loss(self._store, self._publisher, term))
        await self._patiently(lambda: say_again(self._store, self._in_vain, term))
        if again or self._in_vain:
            log.warning("outputs of lost state are said again", keys=again + len(self._in_vain))
        self._in_vain = {}
        self._term = term
        return term

    async def _take(self, partitions: Collection[TopicPartition], term: Term) -> Mapping[TopicPartition, int]:
        return await self._patiently(lambda: self._points.take(partitions, self._shell, term))

    async def revoke(self, partitions: Collection[TopicPartition]) -> None:
        """As `Pipeline.revoke`."""
        self._points.release(partitions)
        self._metrics.assigned_partitions.set(len(self._points.marks))

    async def handle(self, fetched: Fetched) -> None:
        """Settle a batch, with all that wait; returns once its watermark is raised, or it is dropped."""
        self._waiting.append(fetched)
        async with self._turn:
            if any(waiting is fetched for waiting in self._waiting):
                batches, self._waiting = self._waiting, []
                await self._settle(batches)

    async def _settle(self, batches: Sequence[Fetched]) -> None:
        term = self._term
        assert term is not None
        try:
            whole = await self._whole(batches, term)
            records = (record for fetched in whole for record in fetched.records)
            with self._metrics.stage_seconds.labels("decode").time():
                decoded = decode(records, self._deadletter_payloads)
            await self._commit(whole, decoded, term)
        except Refused:
            await self._begin_term()

    async def _whole(self, batches: Sequence[Fetched], term: Term) -> list[Fetched]:
        """Those that begin at their watermark, or before it; the partitions of the others are read again."""
        marks = self._points.marks
        moved = {one.source for one in batches if marks.get(one.source, one.position) != one.position}
        if moved:  # a gap, or a log that is not what it was
            await self._take(moved, term)
        ours = [fetched for fetched in batches if fetched.source in marks]
        gaps = {one.source: marks[one.source] for one in ours if one.position > marks[one.source]}
        for partition in gaps:
            log.warning("gap: reading again from the watermark", partition=partition)
        await self._go_back(gaps, "gap")
        return [fetched for fetched in ours if fetched.source not in gaps]

    async def _commit(self, batches: Sequence[Fetched], decoded: Decoded, term: Term) -> None:
        """Settle, publish, raise the watermarks, take back the marks; each patiently, in this order."""
        token = f"{int(self._clock() * 1000)}/{self._worker}"
        settled = await self._timed(
            "settle", lambda: drive(decoded.events, self._semantics, self._store, term, token, self._pace)
        )
        outputs = {due: outputs_of(due.key, entity, self._semantics) for due, entity in settled.due.items()}
        letters = [
            one
            for due, found in outputs.items()
            for one in letters_of(found, settled.due[due], due.correction)
        ]
        published = {due: entity.version for due, entity in settled.due.items()}
        self._in_vain = {due.key: at for due, at in published.items() if due.key.startswith(SPOKEN)}
        await self._timed("publish", lambda: self._publisher.publish([*decoded.letters, *letters]))
        marks = {fetched.source: fetched.next_position for fetched in batches}
        watermarks = {Partition(*partition): at for partition, at in marks.items()}
        commit = int(self._clock() * 1000)
        fresh = {kind: (newest, commit) for kind, newest in decoded.newest.items()}
        logs = self._points.logs_of(watermarks)
        await self._timed("advance", lambda: self._store.advance(watermarks, term, fresh, logs))
        self._in_vain = {}
        self._points.raised(marks)
        await self._patiently(lambda: self._store.clear(published))
        self._count(batches, decoded, settled)
        for delay in evidence_delays(record for found in outputs.values() for _, _, record in found):
            self._metrics.observe_delay(*delay)

    async def _timed(self, stage: str, effect: Callable[[], Awaitable[T]]) -> T:
        with self._metrics.stage_seconds.labels(stage).time():
            return await self._patiently(effect)

    def _count(self, batches: Sequence[Fetched], decoded: Decoded, settled: Settled) -> None:
        """The worker's own counters: once a batch is through, so that each record counts once here."""
        types = (type_of(event) for event in decoded.events)
        tally = decoded.tally + Counter(zip(types, settled.dispositions, strict=True))
        for (kind, disposition), count in tally.items():
            self._metrics.count_event(kind, disposition, count)
        self._metrics.commit_retries.inc(settled.retries)
        for topic, count in settled.bounded.items():
            self._metrics.bound_hits.labels(topic).inc(count)
        self._metrics.events_ahead.inc(decoded.ahead)
        for fetched in batches:
            self.progress.handled(fetched)

    async def _begin_term(self) -> None:
        """The store began again: so do we, from its watermarks."""
        self._term = None
        positions = await self._positions(list(self._points.marks))
        log.warning("the state began again: reading again from the watermarks", positions=len(positions))
        await self._go_back(positions, "restart")

    async def _go_back(self, positions: Mapping[TopicPartition, int], reason: str) -> None:
        if positions:
            self._metrics.rewinds.labels(reason).inc()
            await self._shell(positions)

    async def watch(self) -> None:
        """While idle too: notice a restarted server or another log, publish what a crash left. Endless."""
        while True:
            await self._sleep(SWEEP_SECONDS)
            async with self._turn:
                if (term := self._term) is None:
                    continue
                try:
                    await self._patiently(lambda: self._sweep(term))
                    renewed = await self._patiently(lambda: self._points.renewed(self._shell))
                    await self._go_back(await self._take(renewed, term), "log")
                except Refused:
                    await self._begin_term()

    async def _sweep(self, term: Term) -> None:
        if await self._store.restarted() or await self._points.went_back():
            raise Refused("found while idle")
        await self._store.advance({}, term)  # can it be written?
        oldest = self._clock() * 1000 - SWEEP_AGE_MS
        left = [due for due in await self._store.due(SWEEP_LIMIT) if due.set_at < oldest]
        if left:
            await self._announce(left)

    def lag(self) -> Mapping[TopicPartition, int | None]:
        """As `Rewind.lag`."""
        return self._shell.lag()

    async def probe(self) -> None:
        """Raises what a service out of reach raises."""
        await self._store.restarted()
        if self._term is not None:
            with contextlib.suppress(Refused):
                await self._store.advance({}, self._term)
        await self._shell.bounds(list(self.lag()))

    async def _announce(self, left: Sequence[Due]) -> None:
        entities: Mapping[str, Entity] = await self._store.load([due.key for due in left])
        letters = [
            letter
            for due in left
            if (entity := entities.get(due.key))
            for letter in letters_of(outputs_of(due.key, entity, self._semantics), entity, due.correction)
        ]
        await self._publisher.publish(letters)
        # Version 0: the entity has expired since, and nobody will ever ask for its outputs again.
        await self._store.clear({due: entities.get(due.key, NOBODY).version for due in left})
        log.info("published what a crash had left", records=len(letters))

    async def _patiently(self, effect: Callable[[], Awaitable[T]]) -> T:
        """Do it; while the store or the broker is out of reach, wait and do it again."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                found = await effect()
                self.progress.reached()
                return found
            except TRANSIENT as error:
                self.progress.failed(error)
                if isinstance(error, RedisError):
                    self._metrics.redis_errors.inc()
                log.warning("out of reach, trying again", error=told(error), pause_seconds=pause)
                await self._sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
