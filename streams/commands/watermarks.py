"""`lara watermarks`: how far reading has come, and setting it deliberately.

Rules:
- Going back is re-reading, which changes no figure, as long as every entity that it touches is still there:
  beyond that the same records would count twice, and it is refused.
- Going forward loses the records in between: it needs its own word for it.
- It may be done while workers run: it begins a new term, and they read again from the watermarks.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import click
import msgspec
from rich.console import Console
from rich.table import Table

from streams.commands.backtest import NotKnown
from streams.connections import contents_of, store_of
from streams.resume import Bounds
from streams.settings import Settings
from streams.state.store import Partition, Store, lowest
from streams.topic_logs import Logs
from streams.topics import input_topics

HEADINGS: Final = ("topic", "partition", "watermark", "log begins", "log ends", "behind", "seconds behind")


class Standing(NamedTuple):
    """Where the reading of one partition stands. Seconds: the age of the first record that is not read."""

    topic: str
    partition: int
    watermark: int | None
    start: int
    end: int
    behind: int
    seconds: float | None
    shards: Sequence[int | None]  # only where they differ

    @property
    def outside(self) -> bool:
        """Is the watermark where the log is not? Then records are lost."""
        return self.watermark is not None and not self.start <= self.watermark <= self.end


async def show(settings: Settings, as_json: bool) -> None:
    """Print where reading stands."""
    store = store_of(settings)
    try:
        async with Logs(settings.brokers) as logs:
            found = await standings(settings, store, logs)
    finally:
        await store.close()
    if as_json:
        click.echo(msgspec.json.encode([one._asdict() for one in found]).decode())
        return
    Console().print(_table(found), highlight=False)
    for one in found:
        where = f"{one.topic} {one.partition}"
        if one.outside:
            click.echo(
                f"{where}: the watermark is outside the log: records are lost, or the topic is another"
            )
        if one.shards:
            shown = ", ".join("none" if mark is None else str(mark) for mark in one.shards)
            click.echo(f"{where}: the shards differ, the lowest counts: {shown}")


async def standings(settings: Settings, store: Store, logs: Logs) -> list[Standing]:
    """Every partition of the input topics."""
    partitions = await logs.partitions(input_topics(settings.prefix).values())
    if not partitions:
        raise NotKnown(f"no input topic of {settings.prefix} exists: lara topics create")
    bounds, marks = await logs.bounds(partitions), await store.marks(partitions)
    return [await _standing(one, bounds[one], marks[one], logs) for one in partitions]


async def _standing(partition: Partition, bound: Bounds, marks: Sequence[int | None], logs: Logs) -> Standing:
    mark = lowest({partition: marks}).get(partition)
    at = bound.start if mark is None else min(max(mark, bound.start), bound.end)
    unread = await logs.first_record(partition, at)
    seconds = 0.0 if at == bound.end else None
    if unread is not None:
        seconds = max(0.0, time.time() - unread.timestamp / 1000)
    differing = marks if len(set(marks)) > 1 else ()
    return Standing(*partition, mark, *bound, bound.end - at, seconds, differing)


def _table(found: Sequence[Standing]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "topic" else "right")
    for one in found:
        mark = "none" if one.watermark is None else f"{one.watermark}"
        seconds = "–" if one.seconds is None else f"{one.seconds:,.0f}"
        numbers = (one.partition, mark, one.start, one.end, one.behind, seconds)
        table.add_row(one.topic, *(str(number) for number in numbers))
    return table


async def set_watermark(
    settings: Settings, partition: Partition, offset: int, dry_run: bool, lose_records: bool
) -> None:
    """Set the watermark of one partition, or say what that would do."""
    store = store_of(settings)
    try:
        await store.open()
        async with Logs(settings.brokers) as logs:
            bound = await _bound(settings, partition, logs)
            marks = await store.marks([partition])
            mark = lowest(marks).get(partition, bound.start)
            _refuse_outside(partition, offset, bound)
            if offset < mark:  # every record in between: they are in no order of time
                await _refuse_counting_twice(settings, partition, Bounds(offset, mark), logs)
        click.echo(consequence(partition, mark, offset))
        if offset > mark and not lose_records and not dry_run:
            raise click.UsageError("that loses records: nothing was done. If it is meant: --yes-lose-records")
        if dry_run:
            click.echo("nothing was done: --dry-run")
        else:
            await store.set_watermark(partition, offset)
            click.echo("set")
    finally:
        await store.close()


def consequence(partition: Partition, mark: int, offset: int) -> str:
    """What setting a watermark does, in a sentence."""
    where = f"{partition.topic} {partition.number}: from {mark} to {offset}"
    if offset < mark:
        return f"{where}: {mark - offset:,} offsets are read again, which changes no figure"
    if offset > mark:
        return f"{where}: {offset - mark:,} offsets are never read; figures stay without their records"
    return f"{where}: where it is"


async def _bound(settings: Settings, partition: Partition, logs: Logs) -> Bounds:
    topics = input_topics(settings.prefix)
    if partition.topic not in topics.values():
        raise click.UsageError(f"{partition.topic} is no input topic: one of {', '.join(topics.values())}")
    if partition not in await logs.partitions([partition.topic]):
        raise click.UsageError(f"{partition.topic} has no partition {partition.number}")
    return (await logs.bounds([partition]))[partition]


def _refuse_outside(partition: Partition, offset: int, bound: Bounds) -> None:
    if not bound.start <= offset <= bound.end:
        raise click.UsageError(
            f"the log of {partition.topic} {partition.number} is {bound.start} to {bound.end}"
        )


async def _refuse_counting_twice(
    settings: Settings, partition: Partition, stretch: Bounds, logs: Logs
) -> None:
    contents = contents_of(settings)
    since = contents.whole_since(time.time())
    contents.close()
    if since is None:
        return
    async for record in logs.records({partition: stretch}):
        if record.timestamp < since * 1000:
            raise click.UsageError(
                f"record {record.offset} is of {_instant(record.timestamp)}: what it counted for may have "
                f"expired, and it would count twice. Safe is back to {_instant(since * 1000)}; further back "
                "goes lara rebuild"
            )


def _instant(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
