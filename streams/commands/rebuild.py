"""`lara rebuild`: the state once more, from the log into a prefix of its own, beside the live one.

Rules:
- It is a worker with another state: the same pipeline, with a consumer group and watermarks of its own. So it
  may be stopped and run again, and several may run at once.
- Outputs are not published unless that is asked for: the live state has published them.
- It ends when everything is read that was in the log when it began. With `follow` it goes on like a worker.
- It never touches the live state, neither the one of the settings nor the one that workers made live.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

import click

from streams.app import end_process
from streams.commands.worker import Service, operate
from streams.connections import server_of, store_of
from streams.pipeline import TRANSIENT
from streams.publisher import KafkaPublisher, Letter, Said
from streams.resume import Bounds
from streams.settings import Settings
from streams.state.live import live_state
from streams.state.store import Partition, Store
from streams.topic_logs import Logs
from streams.topics import input_topics, output_topics

LOOK_SECONDS: Final = 1.0
SAY_SECONDS: Final = 5.0


class Unpublished:
    """A publisher that keeps everything to itself."""

    async def start(self) -> None:
        """Nothing to connect to."""

    async def publish(self, letters: Sequence[Letter]) -> None:
        """Nothing is sent."""

    async def since(self, ms: int) -> AsyncIterator[Said]:
        """Nothing was."""
        nothing: tuple[Said, ...] = ()
        for one in nothing:
            yield one

    async def stop(self) -> None:
        """Nothing is on its way."""


class Progress(NamedTuple):
    """How far the reading of some logs has come: offsets read, of how many, after so many seconds."""

    read: int
    of: int
    seconds: float

    @property
    def sentence(self) -> str:
        """For people."""
        share = 100.0 * self.read / self.of if self.of else 100.0
        rate = self.read / self.seconds if self.seconds else 0.0
        left = "" if rate == 0 else f", {timedelta(seconds=round((self.of - self.read) / rate))} left"
        return f"{self.read:,} of {self.of:,} records ({share:.1f} %), {rate:,.0f} a second{left}"


def read_of(marks: Mapping[Partition, int], log: Mapping[Partition, Bounds]) -> int:
    """How many offsets of a log lie below the watermarks."""
    return sum(
        min(max(marks.get(one, bound.start), bound.start), bound.end) - bound.start
        for one, bound in log.items()
    )


async def rebuild(settings: Settings, into: str | None, publish: bool, follow: bool) -> None:
    """Read the log into the state `into`, by default `<prefix>-rebuilt`; code 1 if stopped before the end."""
    name = into or f"{settings.prefix}-rebuilt"
    own = settings.model_copy(update={"state_prefix": name, "worker_port": 0})
    await _refuse_the_live_state(settings, name)
    stop = asyncio.Event()
    async with Logs(settings.brokers) as logs:
        log = await logs.whole(input_topics(settings.prefix).values())
        click.echo(_beginning(name, settings, log), err=True)
        watching = asyncio.create_task(_watch(own, logs, log, None if follow else stop))
        await operate(own, _publisher(own, publish), stop)
        read = watching.done()
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        if not read:
            click.echo("stopped before the end: run it again, and it goes on where it was", err=True)
            sys.exit(1)
    click.echo(f"compare: lara report --compare {name}\nswitch over: LARA_STATE_PREFIX={name} everywhere")


async def _refuse_the_live_state(settings: Settings, name: str) -> None:
    async with server_of(settings) as server:
        live = await live_state(server, settings.prefix)
    if name in (live, settings.state_name):
        raise click.UsageError(f"{name} is the live state: rebuild into another prefix")


def _publisher(settings: Settings, publish: bool) -> Service:
    if not publish:
        return Unpublished()
    topics = output_topics(settings.prefix)
    return KafkaPublisher(settings.brokers, topics, idempotent=settings.idempotent_producer)


def _beginning(name: str, settings: Settings, log: Mapping[Partition, Bounds]) -> str:
    records = sum(bound.end - bound.start for bound in log.values())
    cut = sum(bound.start > 0 for bound in log.values())
    missing = f"; {cut} of {len(log)} partitions have lost their beginning to retention" if cut else ""
    return f"rebuilding {settings.prefix} into {name}: {records:,} records in the log{missing}"


async def _watch(
    settings: Settings, logs: Logs, log: Mapping[Partition, Bounds], stop: asyncio.Event | None
) -> None:
    try:
        await _until_read(settings, logs, log)
    except Exception as error:
        end_process("watching the progress", error)  # nobody awaits this task while the app runs
    if stop is not None:
        stop.set()


async def _until_read(settings: Settings, logs: Logs, log: Mapping[Partition, Bounds]) -> None:
    """Say how far it has come, until all that was in the log is read."""
    store = store_of(settings)
    first = read_of(await _marks(store, logs, log), log)
    total = read_of({one: bound.end for one, bound in log.items()}, log)
    began = said = time.monotonic()
    read = first
    while read < total:
        await asyncio.sleep(LOOK_SECONDS)
        with contextlib.suppress(*TRANSIENT):  # the worker waits for them too, and says so
            read = read_of(await _marks(store, logs, log), log)
        if time.monotonic() - said > SAY_SECONDS:
            said = time.monotonic()
            click.echo(Progress(read - first, total - first, said - began).sentence, err=True)
    progress = Progress(read - first, total - first, time.monotonic() - began)
    click.echo(f"caught up: {progress.sentence}", err=True)
    await store.close()


async def _marks(store: Store, logs: Logs, log: Mapping[Partition, Bounds]) -> dict[Partition, int]:
    """The watermarks; of a log that retention shortened meanwhile, at least its beginning."""
    marks, now = await store.watermarks(log), await logs.bounds(log)
    return {one: max(marks.get(one, 0), now[one].start) for one in log}
