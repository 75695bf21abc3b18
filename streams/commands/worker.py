"""`lara worker`: Kafka to Redis, until SIGTERM."""

import asyncio
import contextlib
import os
import socket
import tempfile
import time
from pathlib import Path
from typing import Protocol

import structlog

from metrics.exporter import serve
from metrics.worker_metrics import WorkerMetrics
from streams.app import AppSettings, end_process, make_app, run
from streams.connections import server_of, store_of
from streams.pipeline import StatePipeline
from streams.publisher import KafkaPublisher, Publisher
from streams.settings import Settings
from streams.state.live import go_live
from streams.topics import input_topics, output_topics

log = structlog.get_logger()


class Service(Publisher, Protocol):
    """A publisher that is started and stopped."""

    async def start(self) -> None:
        """Connect. Raises `KafkaError`."""

    async def stop(self) -> None:
        """Send what is on its way and disconnect."""


def app_settings(settings: Settings, data_directory: Path) -> AppSettings:
    """What the Faust app is told."""
    return AppSettings(
        broker_urls=tuple(f"kafka://{one}" for one in settings.bootstrap.split(",")),
        group=settings.state_name,
        topics=input_topics(settings.prefix),
        data_directory=data_directory,
        max_records=settings.max_records,
        session_timeout_seconds=settings.broker_session_timeout_seconds,
        heartbeat_interval_seconds=min(3.0, settings.broker_session_timeout_seconds / 3),
        rebalance_timeout_seconds=settings.broker_rebalance_timeout_seconds,
        request_timeout_seconds=max(60.0, 2 * settings.broker_session_timeout_seconds),
    )


async def work(settings: Settings) -> None:
    """Run one worker."""
    await _take_over(settings)
    publisher = KafkaPublisher(
        settings.bootstrap, output_topics(settings.prefix), idempotent=settings.idempotent_producer
    )
    await operate(settings, publisher)


async def _take_over(settings: Settings) -> None:
    """Make this worker's state the live one."""
    async with server_of(settings) as server:
        if await go_live(server, settings.prefix, settings.state_name, settings.shards):
            log.info("another state was live: this one takes over", state=settings.state_name)


async def operate(settings: Settings, publisher: Service, stop: asyncio.Event | None = None) -> None:
    """Kafka to Redis, until SIGTERM, SIGINT or `stop`."""
    worker = f"{socket.gethostname()}-{os.getpid()}"
    metrics = WorkerMetrics()
    server = serve(metrics.registry, settings.worker_port)
    store = store_of(settings)
    await store.open()  # a wrong setting or a store out of reach is told at once, not retried
    await publisher.start()
    pipeline = StatePipeline(
        store,
        publisher,
        settings.semantics,
        metrics,
        worker=worker,
        clock=time.time,
        deadletter_payloads=settings.deadletter_payloads,
    )
    log.info("working", worker=worker, metrics_port=server.server_port, state=settings.state_name)
    watching = asyncio.create_task(_watch(pipeline))
    with tempfile.TemporaryDirectory(
        prefix="lara-worker-"
    ) as directory:  # Faust wants one, and keeps nothing
        await run(make_app(app_settings(settings, Path(directory)), pipeline), stop)
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    await publisher.stop()
    await store.close()
    server.shutdown()
    log.info("stopped", worker=worker)


async def _watch(pipeline: StatePipeline) -> None:
    try:
        await pipeline.watch()
    except Exception as error:
        # Nobody awaits this task while the app runs: an error of the program must end the process from here.
        end_process("watching the store", error)
