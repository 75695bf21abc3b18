"""`lara worker`: Kafka to Redis, until SIGTERM."""

import asyncio
import os
import socket
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Protocol

import structlog

from metrics.exporter import serve
from metrics.health import checks_of
from metrics.worker_metrics import WorkerMetrics
from streams.app import EXIT_TEMPORARY, AppSettings, end_process, make_app, run
from streams.brokers import faust_credentials
from streams.connections import server_of, store_of
from streams.logs import start_logging
from streams.pipeline import StatePipeline
from streams.progress import Stalled
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
        credentials=faust_credentials(settings.brokers),
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
    start_logging()
    await _take_over(settings)
    publisher = KafkaPublisher(
        settings.brokers, output_topics(settings.prefix), idempotent=settings.idempotent_producer
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
    metrics = WorkerMetrics(settings.exemplars)
    store = store_of(settings)
    pipeline = StatePipeline(
        store,
        publisher,
        settings.semantics,
        metrics,
        worker=worker,
        clock=time.time,
        deadletter_payloads=settings.deadletter_payloads,
    )
    checks = checks_of(pipeline.progress.live, pipeline.progress.ready)
    server = serve(metrics.registry, settings.worker_port, checks=checks)
    await store.open()  # a wrong setting or a store out of reach is told at once, not retried
    await publisher.start()
    log.info("working", worker=worker, port=server.server_port, state=settings.state_name)
    with tempfile.TemporaryDirectory(
        prefix="lara-worker-"
    ) as directory:  # Faust wants one, and keeps nothing
        await _run(pipeline, settings, Path(directory), stop or asyncio.Event())
    await publisher.stop()
    await store.close()
    server.shutdown()
    log.info("stopped", worker=worker)


async def _run(pipeline: StatePipeline, settings: Settings, directory: Path, stop: asyncio.Event) -> None:
    app = make_app(app_settings(settings, directory), pipeline)
    pipeline.progress.stopping = stop.is_set
    progress, stall_seconds = pipeline.progress, settings.stall_seconds
    works = {
        "the watch over the store": pipeline.watch(),
        "the heartbeat": progress.beats(pipeline.lag, stall_seconds),
        "the watch over progress": progress.guard(pipeline.probe, stall_seconds),
    }
    beside = [asyncio.create_task(_beside(where, work)) for where, work in works.items()]
    await run(app, stop)
    for task in beside:
        task.cancel()
    await asyncio.wait(beside)


async def _beside(where: str, work: Coroutine[Any, Any, None]) -> None:
    """Nobody awaits this task while the app runs: what ends it must end the process from here."""
    try:
        await work
    except Stalled as error:
        log.critical("no progress: the process ends", reason=str(error))
        end_process(where, error, EXIT_TEMPORARY)
    except Exception as error:
        end_process(where, error)
