"""How a worker gets on: ready or not and why, idle or stalled, and when it must give up.

Rules
1. Written by the worker's event loop, read by the thread that answers health questions, also when the loop is
   stuck. So values are replaced, never changed in place.
2. Idle: all that is held is read to its end. Stalled: something is left to read, or not even known, and no
   watermark was raised. Only reading to the end or raising a watermark ends that.
3. While Redis or Kafka is out of reach a worker is not ready, says why, and waits: ending mends nothing.
4. A worker that is stalled for `stall_seconds` though both answer ends (code 75): another may do better.
5. An event loop that is stuck for so long is ended from outside (code 1), with the stacks of all threads.
"""

import asyncio
import faulthandler
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError, KafkaTimeoutError
from redis import ConnectionError as RedisConnectionError
from redis import OutOfMemoryError, ReadOnlyError, RedisError
from redis import TimeoutError as RedisTimeoutError

from metrics.health import Verdict
from metrics.worker_metrics import WorkerMetrics
from streams.transport import Fetched

log = structlog.get_logger()

BEAT_SECONDS: Final = 1.0
# A batch of 2,000 settles in tens of milliseconds; a loop that is away for so long will not come back soon.
STUCK_SECONDS: Final = 15.0
SILENT_SECONDS: Final = 30.0  # a worker that has nothing to do asks both every 5 s
PROBE_SECONDS: Final = 30.0
COMMAND: Final = re.compile(r"Command # .* of pipeline caused error: ", re.DOTALL)
OUTAGES: Final = (
    RedisConnectionError,
    RedisTimeoutError,
    OutOfMemoryError,
    ReadOnlyError,
    KafkaTimeoutError,
    OSError,
)

Lag = Mapping[TopicPartition, int | None]


class Stalled(Exception):
    """Nothing gets on though all services answer; the message says what is left to do."""


class Progress:
    """What is known of one worker. `clock` gives seconds since the epoch; `monotonic` never jumps."""

    def __init__(
        self,
        metrics: WorkerMetrics,
        clock: Callable[[], float],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._metrics = metrics
        self._clock = clock
        self._now = monotonic
        self._beat = self._moved = self._answered = self._recovered = monotonic()
        self._lag: Lag = {}
        self._newest: dict[TopicPartition, float] = {}
        self._failure: Exception | None = None
        self._failed = self._beat
        self.stopping: Callable[[], bool] = lambda: False

    # --- told by the worker -------------------------------------------------------------------------

    def beat(self, lag: Lag) -> None:
        """The event loop is alive, and this is what is held."""
        self._beat = self._now()
        self._lag = lag
        if not self._left():
            self._moved = self._beat
        self._metrics.stalled_seconds.set(self._beat - self._moved)
        for partition in self._newest.keys() - lag.keys():
            del self._newest[partition]
            self._metrics.lag_seconds.remove(partition.topic, str(partition.partition))
        for partition, behind in lag.items():
            self._show_age(partition, behind)

    def handled(self, fetched: Fetched) -> None:
        """A batch is through, and its watermark raised."""
        self._moved = self._now()
        if fetched.records:
            self._newest[fetched.source] = fetched.records[-1].timestamp / 1000
            self._show_age(fetched.source, None)

    def failed(self, error: Exception) -> None:
        """What is being done failed, and is tried again."""
        self._failure = error
        self._failed = self._now()
        self._metrics.out_of_reach.labels(_service(error)).set(1)

    def reached(self) -> None:
        """What is being done succeeded."""
        self._answered = self._now()
        if self._failure is not None:
            self._metrics.out_of_reach.labels(_service(self._failure)).set(0)
            self._failure = None
            self._recovered = self._answered

    def _show_age(self, partition: TopicPartition, behind: int | None) -> None:
        newest = self._newest.get(partition)
        if behind == 0:
            self._newest.setdefault(partition, self._clock())
            age = 0.0
        elif newest is None:
            return
        else:
            age = max(0.0, self._clock() - newest)
        self._metrics.lag_seconds.labels(partition.topic, str(partition.partition)).set(age)

    # --- asked by anybody ---------------------------------------------------------------------------

    @property
    def stalled_seconds(self) -> float:
        """For how long something was left to do and nothing got on; 0 while idle."""
        return self._now() - self._moved

    def live(self) -> Verdict:
        """Does the event loop answer?"""
        silent = self._now() - self._beat
        if silent > STUCK_SECONDS:
            return Verdict(False, f"the event loop has not answered for {silent:.0f} s")
        return Verdict(True, "the event loop answers")

    def ready(self) -> Verdict:
        """Has it partitions, can it write, and does it know how far behind it is?"""
        unknown = sum(behind is None for behind in self._lag.values())
        if self.stopping():
            return Verdict(False, "stopping")
        if not self.live().ok:
            return self.live()
        if self._failure is not None:
            return Verdict(False, f"{_service(self._failure)} does not do its part: {told(self._failure)}")
        silent = self._now() - self._answered
        if silent > SILENT_SECONDS:
            return Verdict(False, f"Redis and Kafka have answered nothing for {silent:.0f} s")
        if not self._lag:
            return Verdict(False, "no partition is assigned: still joining, or a spare worker")
        if unknown:
            return Verdict(False, f"lag is not known yet of {unknown} of {len(self._lag)} partitions")
        return Verdict(True, self._doing())

    def _doing(self) -> str:
        if not self._left():
            return f"idle: {len(self._lag)} partitions are read to their end"
        return f"{self._records()} records behind, last progress {self.stalled_seconds:.0f} s ago"

    def _records(self) -> int:
        return sum(behind or 0 for behind in self._lag.values())

    def _left(self) -> bool:
        return any(behind != 0 for behind in self._lag.values())

    # --- giving up ----------------------------------------------------------------------------------

    async def guard(self, probe: Callable[[], Awaitable[object]], stall_seconds: float) -> None:
        """Raise `Stalled` once nothing got on for so long, though `probe` succeeds. Endless otherwise."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            if self._now() - max(self._moved, self._recovered) < stall_seconds:
                continue
            waits = _is_outage(self._failure) and self._now() - self._failed < stall_seconds
            if not waits and await self._answers(probe):
                raise Stalled(
                    f"{self._records()} records are left in {len(self._lag)} partitions, no watermark was "
                    f"raised for {self.stalled_seconds:.0f} s, and Redis and Kafka answer; "
                    f"last error: {told(self._failure) if self._failure else 'none'}"
                )
            self._recovered = self._now()
            log.warning("stalled, and waiting for a service", seconds=round(self.stalled_seconds))

    async def _answers(self, probe: Callable[[], Awaitable[object]]) -> bool:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await probe()
        except (RedisError, KafkaError, OSError) as error:
            log.warning("a service does not do its part", error=told(error))
            return not _is_outage(error)
        return True

    async def beats(self, lag: Callable[[], Lag], stuck_seconds: float) -> None:
        """Beat, endlessly; a loop that no longer does ends the process (rule 5)."""
        try:
            while True:
                faulthandler.dump_traceback_later(stuck_seconds, exit=True)
                self.beat(lag())
                await asyncio.sleep(BEAT_SECONDS)
        finally:
            faulthandler.cancel_dump_traceback_later()


def told(error: Exception) -> str:
    """An error in a line, without the arguments of the call, which redis-py puts into it: they are events."""
    return f"{type(error).__name__}: {COMMAND.sub('', str(error))}"


def _service(error: Exception) -> str:
    return "Redis" if isinstance(error, RedisError) else "Kafka"


def _is_outage(error: Exception | None) -> bool:
    """Will waiting mend it?"""
    return isinstance(error, OUTAGES) or (isinstance(error, KafkaError) and error.retriable)
