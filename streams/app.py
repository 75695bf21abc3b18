"""The Faust app: an agent a topic, where reading begins, and how a worker starts and ends.

Rules
1. Nothing escapes an agent. `Pipeline.handle` meets poison and transient errors itself; what it lets through
   is an error of the program, and the process ends (code 70) before any offset moves.
2. Reading begins where `Pipeline.resume` says, and at the log's start where it says nothing; never at an
   offset committed to Kafka. `resume` may take as long as it must: heartbeats go on, nothing is read.
3. When partitions go, the queued batches are dropped and the one at work is waited for, never cancelled. A
   wait that would cost the group its rebalance is given up: then the fence of the commits protects the state.
4. Faust's own bookkeeping (acks, offsets, tables, web, leader) is off; see `streams/transport.py`.
5. Standard output and logging are the caller's: `faust.Worker` is not used, since it takes both.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol

import faust
from aiokafka import TopicPartition
from aiokafka.errors import KafkaConnectionError, KafkaError

from streams.identity import identities
from streams.resume import Bounds
from streams.transport import BatchConsumer, BatchTransport, Fetched, Hooks, Ledger

logger = logging.getLogger(__name__)

EXIT_SOFTWARE = 70  # sysexits.h: an error of the program
EXIT_TEMPORARY = 75  # sysexits.h: no broker at the start, or stopped without leaving the group in time
RETRY_SECONDS = 1.0
METADATA_AGE_MS = 30_000  # partitions that were added are noticed so soon; by default after 5 minutes


@dataclass(frozen=True)
class AppSettings:
    """What a worker is told; the defaults are the measured ones."""

    broker_urls: tuple[str, ...]  # kafka://host:port
    group: str
    topics: Mapping[str, str]  # event type -> topic
    data_directory: Path
    credentials: Any = None  # of Faust; None: the brokers ask for nothing
    max_records: int = 2000
    max_partition_bytes: int = 2**20
    session_timeout_seconds: float = 30.0
    heartbeat_interval_seconds: float = 3.0
    rebalance_timeout_seconds: float = 45.0
    request_timeout_seconds: float = 60.0  # Faust wants it no shorter than the session
    commit_interval_seconds: float = 5.0


class Rewind:
    """Called with positions, it has these partitions read again from there; what was fetched is dropped.

    Partitions that are not held are left out. It may be called from within `handle`, and at any time.
    """

    def __init__(self, app: faust.App, ledger: Ledger) -> None:
        self._app, self._ledger = app, ledger

    async def __call__(self, positions: Mapping[TopicPartition, int]) -> None:
        ours = {tp: position for tp, position in positions.items() if tp in self._ledger.claims}
        if ours:
            await self._app.consumer.place(ours, self._ledger.claim(ours))

    def lag(self) -> Mapping[TopicPartition, int | None]:
        """Of what is held: offsets from what is handled to the end as last seen; None: not known yet."""
        return lag(self._app)

    async def bounds(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, Bounds]:
        """As `streams.resume.Logs.bounds`."""
        consumer = self._app.consumer
        starts, ends = await consumer.earliest_offsets(*partitions), await consumer.highwaters(*partitions)
        return {partition: Bounds(starts[partition], ends[partition]) for partition in partitions}

    async def identities(self, topics: Collection[str]) -> Mapping[str, str]:
        """As `streams.resume.Logs.identities`."""
        if self._app.should_stop:
            raise KafkaConnectionError("the consumer is being stopped")
        thread = self._app.consumer._thread
        found: Mapping[str, str] = await thread.there(identities(thread._ensure_consumer()._client, topics))
        return found


class Pipeline(Protocol):
    def bind(self, rewind: Rewind) -> None: ...

    async def resume(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The watermarks; a partition without one is left out."""

    async def revoke(self, partitions: Collection[TopicPartition]) -> None:
        """They are no longer ours; none of their batches is at work."""

    async def handle(self, fetched: Fetched) -> None:
        """Returns once state, outputs and watermark are written."""


def end_process(where: str, error: BaseException, code: int = EXIT_SOFTWARE) -> NoReturn:
    """End at once: `sys.exit` can hang in Faust's stopping, and a stop in order would let offsets move."""
    logger.critical("%s raised what it must not: the process ends", where, exc_info=error)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    logging.shutdown()
    os._exit(code)


def make_app(settings: AppSettings, pipeline: Pipeline) -> faust.App:
    app = faust.App(settings.group, **_faust_settings(settings))
    hooks = Hooks(partial(_assigned, app, pipeline), partial(_revoked, app, pipeline), end_process)
    app.transport = BatchTransport(app.conf.broker_consumer, app, hooks)
    for kind, name in settings.topics.items():
        _add_agent(app, kind, name, pipeline)
    pipeline.bind(Rewind(app, app.transport.ledger))
    return app


def _faust_settings(settings: AppSettings) -> dict[str, Any]:
    return {
        "broker": list(settings.broker_urls),
        "broker_credentials": settings.credentials,
        "datadir": settings.data_directory,
        "broker_session_timeout": settings.session_timeout_seconds,
        "broker_heartbeat_interval": settings.heartbeat_interval_seconds,
        "broker_rebalance_timeout": settings.rebalance_timeout_seconds,
        "broker_request_timeout": settings.request_timeout_seconds,
        "broker_commit_interval": settings.commit_interval_seconds,
        "broker_max_poll_records": settings.max_records,  # of a partition: the transport counts them so
        "broker_max_poll_interval": 1e7,  # aiokafka #1187: a member that idles beyond it cannot rejoin
        "consumer_max_fetch_size": settings.max_partition_bytes,
        "consumer_auto_offset_reset": "earliest",
        "consumer_metadata_max_age_ms": METADATA_AGE_MS,
        # Never full, since the ledger allows two batches a partition: a full one would stall every topic.
        "stream_buffer_maxsize": 4096,
        "stream_wait_empty": False,
        "table_standby_replicas": 1,  # with 0 and no tables Faust changes the assignor
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        "autodiscover": False,
        "worker_redirect_stdouts": False,
        "web_enabled": False,
    }


class _AsIs(faust.Schema):  # type: ignore[misc]  # Faust ships no types
    def loads_key(self, app: Any, message: Any, **_: Any) -> None:
        return None

    def loads_value(self, app: Any, message: Any, **_: Any) -> Fetched:
        fetched: Fetched = message.value
        return fetched


def _add_agent(app: faust.App, kind: str, name: str, pipeline: Pipeline) -> None:
    async def agent(stream: Any) -> None:
        with _nothing_escapes(app, f"the agent of {kind}"):
            async for fetched in stream:
                await _work(app.transport.ledger, pipeline, fetched)

    # Without acks: the watermark is the resume point, and nobody would trim Faust's lists of acked offsets.
    app.agent(app.topic(name, schema=_AsIs(), acks=False), name=kind)(agent)


@contextlib.contextmanager
def _nothing_escapes(app: faust.App, where: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if app.should_stop and isinstance(error, asyncio.CancelledError):
            raise
        end_process(where, error)


async def _work(ledger: Ledger, pipeline: Pipeline, fetched: Fetched) -> None:
    if ledger.begin(fetched):
        await pipeline.handle(fetched)
        ledger.end(fetched)


async def _assigned(app: faust.App, pipeline: Pipeline, partitions: Collection[TopicPartition]) -> None:
    claim = app.transport.ledger.claim(partitions)
    with _nothing_escapes(app, "resuming"):
        positions = dict(await pipeline.resume(partitions)) if partitions else {}
        unset = [partition for partition in partitions if partition not in positions]
        await app.consumer.place({**positions, **await _starts(app, unset, claim)}, claim)


async def _starts(
    app: faust.App, unset: Collection[TopicPartition], claim: int
) -> Mapping[TopicPartition, int]:
    while any(app.transport.ledger.claims.get(partition) == claim for partition in unset):
        try:
            starts: Mapping[TopicPartition, int] = await app.consumer.earliest_offsets(*unset)
            return starts
        except KafkaError as error:
            logger.warning("the start of the log is not to be had yet: %r", error)
            await asyncio.sleep(RETRY_SECONDS)
    return {}


async def _revoked(app: faust.App, pipeline: Pipeline, partitions: Collection[TopicPartition]) -> None:
    ledger: Ledger = app.transport.ledger
    ledger.release(partitions)
    seconds = app.conf.broker_rebalance_timeout / 3  # twice, and a third is left for the join
    if not await ledger.idle(seconds):
        logger.warning("a batch is still at work after %.0f s: going on, its commits are fenced", seconds)
    telling = asyncio.ensure_future(pipeline.revoke(partitions))
    done, _ = await asyncio.wait([telling], timeout=seconds)  # not cancelled: it may hold a connection
    if not done:
        logger.warning("the pipeline has not let go after %.0f s: going on", seconds)
    for task in done:
        task.result()


def lag(app: faust.App) -> Mapping[TopicPartition, int | None]:
    """As `Rewind.lag`: holes count, records of open transactions do not."""
    return {tp: _behind(app.consumer, tp) for tp in app.transport.ledger.claims}


def _behind(consumer: BatchConsumer, partition: TopicPartition) -> int | None:
    client, passed = consumer._thread._ensure_consumer(), consumer.ledger.passed.get(partition)
    if passed is None or partition not in client.assignment():
        return None
    end = client.last_stable_offset(partition)
    return None if end is None or end < 0 else max(0, end - passed)


async def run(app: faust.App, stop: asyncio.Event | None = None, stop_seconds: float = 10.0) -> None:
    """Work until SIGTERM, SIGINT or `stop`, then finish the batch at work, leave the group and return."""
    stop = asyncio.Event() if stop is None else stop
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        await _until(app, stop)
        await _stop(app, stop_seconds)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _until(app: faust.App, stop: asyncio.Event) -> None:
    starting = asyncio.ensure_future(app.start())
    stopping = asyncio.ensure_future(stop.wait())
    crashing = asyncio.ensure_future(app.wait_until_stopped())
    await asyncio.wait([starting, stopping, crashing], return_when=asyncio.FIRST_COMPLETED)
    if starting.done() and (error := starting.exception()):
        end_process("the start", error, EXIT_TEMPORARY if isinstance(error, KafkaError) else EXIT_SOFTWARE)
    await asyncio.wait([stopping, crashing], return_when=asyncio.FIRST_COMPLETED)
    if crashing.done():
        end_process("Faust", app.crash_reason or RuntimeError("it stopped by itself"))
    starting.cancel()  # `crashing` ends by itself when the app has stopped


async def _stop(app: faust.App, seconds: float) -> None:
    # A thread, since Faust joins its consumer thread from the event loop and can wait there for ever.
    deadline = threading.Timer(seconds, _overdue)
    deadline.daemon = True
    deadline.start()
    partitions = frozenset(app.transport.ledger.claims)
    app.transport.ledger.close()
    with _nothing_escapes(app, "stopping"):
        await app.transport.hooks.revoked(partitions)
        await app.stop()
    deadline.cancel()


def _overdue() -> NoReturn:
    os.write(2, b"not stopped in time: the process ends, the group will miss it after its session timeout\n")
    os._exit(EXIT_TEMPORARY)  # no logging: its locks may be held by what hangs
