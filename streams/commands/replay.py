"""`lara replay`: event files to topics, each record stamped with its event's own time.

A line that is no event is sent too, to the topic that its `type` names (else that of actions), stamped as
the event before it, the first ones as the first event: what a producer sends in error must arrive as a dead
letter, not vanish here.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from aiokafka import AIOKafkaProducer
from rich.console import Console
from rich.progress import track

from attribution.events import type_of
from attribution.parsing import Rejected, parse
from streams.brokers import Brokers, client_options
from streams.commands.backtest import lines_of
from streams.settings import Settings
from streams.topics import input_topics

KINDS: Mapping[str, str] = {
    "prompt": "prompts",
    "retrieval": "retrievals",
    "placement": "placements",
    "action": "actions",
    "judgement": "judgements",
}
IN_FLIGHT = 5_000  # records sent before the first acknowledgement is waited for


class Record(NamedTuple):
    """One record to send: the kind of its topic, value, and timestamp in ms."""

    kind: str
    value: bytes | None
    ts: int
    key: bytes | None = None


Ends = dict[tuple[str, int], int]  # (topic, partition) -> the offset after the last record sent


def records_of(lines: Iterable[bytes]) -> Iterator[Record]:
    """The records of event lines."""
    ts: int | None = None
    before_the_first: list[Record] = []
    for line in lines:
        found = parse(line)
        if isinstance(found, Rejected):
            record = Record(KINDS.get(found.event_type, "actions"), line, ts or 0)
            if ts is None:
                before_the_first.append(record)
            else:
                yield record
            continue
        ts = found.ts
        yield from (record._replace(ts=ts) for record in before_the_first)
        before_the_first.clear()
        yield Record(KINDS[type_of(found)], line, ts)
    yield from before_the_first


def rebased(records: Sequence[Record], now_ms: int) -> list[Record]:
    """The records shifted in time so that the latest is now; lines that are no events stay as they are."""
    shift = now_ms - max((record.ts for record in records), default=now_ms)
    return [_shifted(record, shift) for record in records]


def _shifted(record: Record, shift: int) -> Record:
    found = parse(record.value or b"")
    if isinstance(found, Rejected):
        return record._replace(ts=max(0, record.ts + shift))
    fields: dict[str, Any] = msgspec.json.decode(record.value or b"")
    value = msgspec.json.encode({**fields, "ts": found.ts + shift})
    return record._replace(value=value, ts=found.ts + shift)


async def send(
    brokers: Brokers | str, prefix: str, records: Iterable[Record], rate: float | None = None
) -> Ends:
    """Send records; returns where each partition ends. Raises `KafkaError`."""
    topics = input_topics(prefix)
    producer: Any = AIOKafkaProducer(**client_options(brokers), linger_ms=20, max_batch_size=131_072)
    await producer.start()
    ends: Ends = {}
    waiting: list[Any] = []
    started, sent = time.monotonic(), 0
    try:
        for record in records:
            kind, value, ts, key = record
            waiting.append(await producer.send(topics[kind], value, key, timestamp_ms=ts))
            sent += 1
            if len(waiting) >= IN_FLIGHT:
                await _acknowledged(waiting, ends)
            if rate is not None:
                await asyncio.sleep(max(0.0, started + sent / rate - time.monotonic()))
        await _acknowledged(waiting, ends)
    finally:
        await producer.stop()
    return ends


async def _acknowledged(waiting: list[Any], ends: Ends) -> None:
    for sent in waiting:
        metadata = await sent
        where = (metadata.topic, metadata.partition)
        ends[where] = max(metadata.offset + 1, ends.get(where, 0))
    waiting.clear()


async def replay(settings: Settings, files: Sequence[Path], rebase_to_now: bool, rate: float | None) -> None:
    """Send files and say how much arrived."""
    records = list(records_of(lines_of(files)))
    if rebase_to_now:
        records = rebased(records, int(time.time() * 1000))
    console = Console(stderr=True)
    shown = track(records, "sending", console=console, transient=True, disable=not console.is_terminal)
    ends = await send(settings.brokers, settings.prefix, shown, rate)
    click.echo(f"sent {len(records):,} records to {len({topic for topic, _ in ends})} topics")
