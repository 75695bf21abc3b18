"""Faust's Kafka transport, made to deliver one Faust event for each fetched batch of a partition.

Rules
1. The resume point is the caller's watermark. Offsets committed to Kafka are a lag hint, written behind:
   nothing here seeks to one, and a commit that fails is logged and forgotten.
2. A partition is read under a *claim*, a number that only grows. Assignment and rewind make a new claim; a
   batch fetched under an older one is dropped wherever it is met: in the thread, on its way, in the queue.
3. `position` and `next_position` are read around the draining of one fetch, with nothing between. What lies
   between them and is not in `records` is a hole of the log (marker, aborted, compacted), never a gap. A
   batch of nothing but holes is delivered too.
4. At most `DEPTH` batches of a partition wait or are at work. A partition with fewer is read, one with as
   many is not, and none waits for another. aiokafka holds one more response of each, not yet decoded.
5. What is raised here must not reach Faust, which would skip the batch: `Hooks.fail` ends the process, and
   the next one resumes at the watermark.

aiokafka lives in the loop of Faust's consumer thread (`BatchThread`), all else in the main one. They share
`Ledger.readable`, a frozenset that is replaced and never changed; the rest is sent from loop to loop.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn, TypeVar

from aiokafka import TopicPartition
from aiokafka.errors import ConsumerStoppedError, KafkaError
from aiokafka.structs import ConsumerRecord, OffsetAndMetadata
from faust.transport.drivers import aiokafka as driver
from faust.types import ConsumerMessage

T = TypeVar("T")
logger = logging.getLogger(__name__)

DEPTH = 2  # one at work and one behind it, so that the work never waits for the fetch
FETCH_SECONDS = 1.0  # how long a stop may wait for an idle fetch
COMMIT_SECONDS = 3.0  # a hint is not worth a longer wait
RETRY_SECONDS = 1.0
# Faust lets the broker hold an empty fetch for 1,500 ms, and a seek waits for the fetch that is under way.
FETCH_WAIT_MILLISECONDS = 250


class Fetched(NamedTuple):
    """What one fetch brought of one partition."""

    topic: str
    partition: int
    position: int  # the position asked for, not the first record's offset
    next_position: int  # where the next fetch asks, behind trailing holes
    records: tuple[ConsumerRecord, ...]

    @property
    def source(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


class Hooks(NamedTuple):
    """What the consumer calls. A partition is not read before `BatchConsumer.place` was called for it."""

    assigned: Callable[[Collection[TopicPartition]], Awaitable[None]]
    revoked: Callable[[Collection[TopicPartition]], Awaitable[None]]
    fail: Callable[[str, BaseException], NoReturn]


class Ledger:
    """Which partitions are held and may be read, which batches wait, which are at work. Main loop only."""

    def __init__(self, depth: int = DEPTH) -> None:
        self.readable: frozenset[TopicPartition] = frozenset()
        self.passed: dict[TopicPartition, int] = {}
        self.on_readable: Callable[[], None] = lambda: None
        self._depth = depth
        self._last_claim = 0
        self.claims: dict[TopicPartition, int] = {}  # has an entry for what is held
        self._waiting: dict[TopicPartition, deque[Fetched]] = {}  # has an entry for what is placed
        self._working: dict[TopicPartition, asyncio.Future[None]] = {}

    def claim(self, partitions: Iterable[TopicPartition]) -> int:
        """Begin anew: what was fetched before is dropped, and nothing is read until it is placed."""
        self._last_claim += 1
        for partition in partitions:
            self.claims[partition] = self._last_claim
            self._waiting.pop(partition, None)
        self._publish()
        return self._last_claim

    def place(self, positions: Mapping[TopicPartition, int], claim: int) -> None:
        """The consumer stands at these positions: reading may begin."""
        ours = {tp: position for tp, position in positions.items() if self.claims.get(tp) == claim}
        self._waiting.update({tp: deque() for tp in ours})
        self.passed.update(ours)
        self._publish()

    def release(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            for kept in (self.claims, self._waiting, self.passed):
                kept.pop(partition, None)
        self._publish()

    def close(self) -> None:
        """Nothing is read or begun any more, whatever is still assigned."""
        self._depth = 0
        self.release(frozenset(self.claims))

    def admit(self, fetched: Fetched, claim: int) -> bool:
        if self.claims.get(fetched.source) != claim or fetched.source not in self._waiting:
            return False
        self._waiting[fetched.source].append(fetched)
        self._publish()
        return True

    def begin(self, fetched: Fetched) -> bool:
        """Whether it still counts. One that Faust lost before it is a gap, which the watermark shows."""
        waiting = self._waiting.get(fetched.source, deque())
        if not any(batch is fetched for batch in waiting):
            return False
        while waiting[0] is not fetched:
            logger.error("lost on its way through Faust: %s", waiting.popleft()._replace(records=()))
        self._working[fetched.source] = asyncio.get_running_loop().create_future()
        return True

    def end(self, fetched: Fetched) -> None:
        self._working.pop(fetched.source).set_result(None)
        waiting = self._waiting.get(fetched.source)
        if waiting and waiting[0] is fetched:
            waiting.popleft()
            self.passed[fetched.source] = fetched.next_position
            self._publish()

    async def idle(self, seconds: float) -> bool:
        """Wait until no batch is at work, cancelling none; False if that takes too long."""
        if self._working:
            await asyncio.wait(self._working.values(), timeout=seconds)
        return not self._working

    def _publish(self) -> None:
        before = self.readable
        self.readable = frozenset(tp for tp, queue in self._waiting.items() if len(queue) < self._depth)
        if self.readable - before:
            self.on_readable()


class BatchThread(driver.AIOKafkaConsumerThread):  # type: ignore[misc]  # Faust ships no types
    """Faust's consumer thread: all but `there` and `nudge` runs in its loop."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._claims: dict[TopicPartition, int] = {}
        self._waiter: asyncio.Future[None] | None = None

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        # Faust has no settings for these, and reads aborted transactions unless it writes some itself.
        consumer._isolation_level = "read_committed"
        consumer._fetch_max_wait_ms = FETCH_WAIT_MILLISECONDS
        return consumer

    async def there(self, work: Coroutine[Any, Any, T]) -> T:
        # Not Faust's method queue: its two workers may both be waiting for a broker that does not answer.
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.thread_loop))

    def nudge(self) -> None:
        """There is more to read than the fetch that waits knows of."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: we are stopping
            self.thread_loop.call_soon_threadsafe(lambda: self._consumer._fetcher._notify(self._waiter))

    async def fetch(self, ledger: Ledger) -> list[tuple[int, Fetched]]:
        deadline = self.thread_loop.time() + FETCH_SECONDS
        while True:
            batches = await self._drain(ledger.readable)
            left = deadline - self.thread_loop.time()
            if batches or left <= 0:
                return batches
            waiter = self._waiter = self._ensure_consumer()._fetcher._create_fetch_waiter()
            await asyncio.wait([waiter], timeout=left)
            if waiter.done():
                waiter.result()  # aiokafka reports fatal errors of the group here
            else:
                waiter.cancel()

    async def _drain(self, readable: frozenset[TopicPartition]) -> list[tuple[int, Fetched]]:
        consumer = self._ensure_consumer()
        if consumer._closed or consumer._fetcher._closed:
            raise ConsumerStoppedError()
        batches = []
        for partition in readable & consumer._fetcher._records.keys():
            try:
                batches += await self._take(consumer, partition)
            except KafkaError as error:  # corrupt, forbidden: the position stands, aiokafka asks again
                logger.error("cannot read %s: %r", partition, error)
                await asyncio.sleep(RETRY_SECONDS)
        return batches

    async def _take(self, consumer: Any, partition: TopicPartition) -> list[tuple[int, Fetched]]:
        if consumer._subscription.reassignment_in_progress:  # `fetched_records` would sleep until it is over
            return []
        state = consumer._subscription.subscription.assignment.state_value(partition)
        if state is None or not state.has_valid_position:
            return []
        position = state.position
        # With timeout 0 in a stable group this gives way to no other task, so nobody seeks meanwhile.
        found = await consumer._fetcher.fetched_records([partition], 0, consumer._max_poll_records)
        if state.position == position:
            return []
        records = tuple(found.get(partition, ()))
        batch = Fetched(partition.topic, partition.partition, position, state.position, records)
        return [(self._claims.get(partition, 0), batch)]

    async def place(self, positions: Mapping[TopicPartition, int], claim: int) -> dict[TopicPartition, int]:
        consumer, placed = self._ensure_consumer(), {}
        for tp, position in positions.items():
            if claim > self._claims.get(tp, 0) and consumer._subscription.is_assigned(tp):
                consumer.seek(tp, position)
                self._claims[tp], placed[tp] = claim, position
        return placed

    async def hint(self, offsets: Mapping[TopicPartition, int]) -> bool:
        ours = {tp: OffsetAndMetadata(at, "") for tp, at in offsets.items() if tp in self.assignment()}
        try:
            if ours:  # without offsets aiokafka commits whatever was fetched
                await self._ensure_consumer().commit(ours)
        except KafkaError as error:
            logger.info("the lag hint could not be committed: %r", error)
        return bool(ours)


class BatchConsumer(driver.Consumer):  # type: ignore[misc]  # Faust ships no types
    """Faust's consumer without its acks, committed offsets, gaps and buffers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hooks: Hooks = self.transport.hooks
        self.ledger: Ledger = self.transport.ledger
        self.ledger.on_readable = self._thread.nudge

    def _new_consumer_thread(self) -> BatchThread:
        return BatchThread(self, loop=self.loop, beacon=self.beacon)

    async def place(self, positions: Mapping[TopicPartition, int], claim: int) -> None:
        self.ledger.place(await self._thread.there(self._thread.place(positions, claim)), claim)

    async def _drain_messages(self, fetcher: Any) -> None:
        try:
            while not (self.should_stop or fetcher.should_stop):
                await self._deliver()
        except BaseException as error:
            if not self.app.should_stop:
                self.hooks.fail("the fetch", error)

    async def _deliver(self) -> None:
        if not self.flow_active:
            await self.wait(self.can_resume_flow)
        for claim, fetched in await self._thread.there(self._thread.fetch(self.ledger)):
            if self.ledger.admit(fetched, claim):
                await self.callback(self._message(fetched))

    def _message(self, fetched: Fetched) -> Any:
        return ConsumerMessage(
            fetched.topic, fetched.partition, fetched.position, timestamp=0.0, timestamp_type=0, headers=None,
            key=None, value=fetched, checksum=None, serialized_key_size=0, serialized_value_size=0,
            tp=fetched.source, generation_id=self.app.consumer_generation_id,
        )  # fmt: skip

    async def on_partitions_revoked(self, revoked: Collection[Any]) -> None:
        try:  # aiokafka would log what is raised here, and go on
            await self.hooks.revoked(frozenset(self.ledger.claims))
            if not self.app.should_stop:  # Faust's own answer would close the client from the wrong loop
                await super().on_partitions_revoked(revoked)
        except BaseException as error:
            self.hooks.fail("the revocation", error)

    async def on_partitions_assigned(self, assigned: Collection[Any], generation_id: int = 0) -> None:
        if not self.app.should_stop:
            await super().on_partitions_assigned(assigned, generation_id)
            # Not awaited, and not in `perform_seek`, which Faust gives up after `broker_request_timeout`.
            self.add_future(self.hooks.assigned({TopicPartition(*partition) for partition in assigned}))

    async def commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:
        with contextlib.suppress(TimeoutError):
            committing = self._thread.there(self._thread.hint(dict(self.ledger.passed)))
            return await asyncio.wait_for(committing, COMMIT_SECONDS)
        return False

    async def perform_seek(self) -> None: ...  # Faust would seek to the committed offsets

    def verify_event_path(self, now: float, tp: Any) -> None: ...  # warns of missing acks and commits

    def on_buffer_full(self, tp: Any) -> None: ...  # the ledger bounds what is in flight

    on_buffer_drop = on_buffer_full


class BatchTransport(driver.Transport):  # type: ignore[misc]  # Faust ships no types
    Consumer = BatchConsumer

    def __init__(self, urls: Any, app: Any, hooks: Hooks) -> None:
        super().__init__(urls, app)
        self.hooks, self.ledger = hooks, Ledger()
