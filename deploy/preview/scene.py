"""lara at work under a Prometheus: worker and exporter, traffic that comes in, and scrapes all along.

Rules:
- Broker and state are given: those of the demo, or those of a test.
- What is yielded has counted everything that was sent, and has been audited once.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from deploy.preview.asking import asked
from deploy.preview.history import prometheus
from streams.commands.demo import is_drained
from streams.commands.replay import KINDS, send
from streams.commands.replay import Record as Sent
from streams.commands.simulator import Record
from streams.connections import store_of
from streams.services import HOST, Service, ServiceError, embedded_kafka, embedded_redis, free_port
from streams.settings import Settings, read_settings
from streams.topics import FOREVER, create_topics

LARA: Final = (sys.executable, "-c", "from streams.commands.cli import main; main()")
SENDING_SECONDS: Final = 45  # so that rates and lag have a course
PATIENCE_SECONDS: Final = 120.0
FAST_AUDIT: Final = 100_000  # keys a second: the whole state is read at once


@contextmanager
def embedded(directory: Path) -> Iterator[Settings]:
    """Broker and state of the demo, and the settings that name them."""
    with embedded_kafka(directory / "kafka") as kafka, embedded_redis(directory / "redis") as state:
        yield read_settings(
            bootstrap=kafka.address,
            redis_url=f"redis://{HOST}:{state.port}",
            partitions=4,
            idempotent_producer=False,
            broker_rebalance_timeout_seconds=3.0,
        )


@contextmanager
def observed(settings: Settings, records: Sequence[Record], directory: Path) -> Iterator[Service]:
    """The Prometheus, over what its directory holds already, once all records are counted."""
    own = settings.model_copy(
        update={
            "worker_port": free_port(),
            "exporter_port": free_port(),
            "audit_keys_per_second": FAST_AUDIT,
            "exemplars": True,
        }
    )
    asyncio.run(create_topics(own.bootstrap, own.prefix, own.partitions, FOREVER))
    targets = [(name, f"{HOST}:{port}") for name, port in _ports(own).items()]
    with ExitStack() as running:
        watching = running.enter_context(prometheus(directory, targets))
        for name, port in _ports(own).items():
            running.enter_context(_lara(own, name, port, directory / name))
        asyncio.run(_sent(own, records))
        _until_scraped(watching)
        yield watching


def _ports(settings: Settings) -> dict[str, int]:
    return {"worker": settings.worker_port, "exporter": settings.exporter_port}


def _lara(settings: Settings, command: str, port: int, directory: Path) -> Service:
    """A command that serves metrics; its settings are its environment."""
    given = settings.model_dump(exclude_defaults=True)
    environment = [f"LARA_{name.upper()}={value}" for name, value in given.items()]
    return Service(command, ["env", *environment, *LARA, command], directory, port, lambda _: True)


async def _sent(settings: Settings, records: Sequence[Record]) -> None:
    """Send everything, and wait until it is counted."""
    wanted = [Sent(KINDS[one.topic_type], one.value, one.ts, one.key) for one in records]
    ends = await send(settings.bootstrap, settings.prefix, wanted, len(wanted) / SENDING_SECONDS)
    store, deadline = store_of(settings), time.monotonic() + PATIENCE_SECONDS
    try:
        while not await is_drained(store, ends):
            if time.monotonic() > deadline:
                raise ServiceError("not everything was counted in time")
            await asyncio.sleep(0.5)
    finally:
        await store.close()


def _until_scraped(watching: Service) -> None:
    """Wait for the first audit that began after everything was counted, and for its scrape."""
    drained, deadline = time.time(), time.monotonic() + PATIENCE_SECONDS
    query = f"max(lara_audit_finished_timestamp_seconds) > {drained}"
    while not asked(watching.address, "query", query=query):
        if time.monotonic() > deadline:
            raise ServiceError("no audit was scraped in time")
        time.sleep(1)
