"""`lara deadletters`: what was refused, why, what the record was, and sending it again.

Rules:
- The topic is at least once, with versions: of several dead letters with one key the newest version counts.
- A dead letter says where its record lies. Only a record that is still there and has the same SHA-256 is it.
  What it holds may be personal data: it is shown only when asked for.
- Sent again is what this program would now accept, to its own partition, with its own key and time: an event
  keeps its identity, so doing it twice changes nothing. What would be refused again is left, and said.
- `late` depends on nothing but the record: with its own timestamp it is late again. With `as_on_time` the
  event's own time becomes the record's.
- An event is not sent again once the state it belongs to may have expired: it would be counted apart from it.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import click
import msgspec
from aiokafka import AIOKafkaProducer
from aiokafka.structs import ConsumerRecord

from attribution.outputs import DEADLETTERS
from attribution.parsing import Rejected, parse
from attribution.semantics import ATTRIBUTION_HORIZON_MS
from streams.brokers import client_options
from streams.codec import decode
from streams.commands.backtest import NotKnown
from streams.connections import contents_of
from streams.settings import Settings
from streams.state.store import Partition
from streams.topic_logs import Logs
from streams.topics import output_topics

SENT: Final = "sent again"
GONE: Final = "not sent: the record is no longer in its topic"
ANOTHER: Final = "not sent: another record lies in its place"
STANDING: Final = "not sent: its id belongs to another event"
REFUSED: Final = "not sent: would be refused again"
LATE: Final = "not sent: would be late again; --as-on-time gives it the time of its event"
OLD: Final = "not sent: so old that the state around it may have expired; lara rebuild reads it in its place"


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A dead letter as it was published; `at` is when, in ms."""

    reason: str
    type: str
    at: int = 0
    key: str = ""
    detail: str | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    sha256: str | None = None
    value: str | None = None
    id: str | None = None
    ts: int | None = None
    digest: str | None = None
    standing_digest: str | None = None
    event_id: str | None = None
    version: int = 0

    @property
    def place(self) -> Partition | None:
        """Where its record lies, if it says so."""
        return None if self.topic is None or self.partition is None else Partition(self.topic, self.partition)


class Original(NamedTuple):
    """The record of a dead letter, or why there is none."""

    record: ConsumerRecord[Any, Any] | None
    missing: str = ""


def newest(records: Iterable[tuple[str, int, bytes]]) -> dict[str, DeadLetter]:
    """Of (key, time, value) in the order of the log, the newest version of every key."""
    found: dict[str, DeadLetter] = {}
    for key, at, value in records:
        letter = msgspec.structs.replace(msgspec.json.decode(value, type=DeadLetter), key=key, at=at)
        if key not in found or letter.version >= found[key].version:
            found[key] = letter
    return found


async def read(settings: Settings, logs: Logs, reason: str | None = None, since: int = 0) -> list[DeadLetter]:
    """The dead letters with a reason, published since a time, the latest first."""
    topic = output_topics(settings.prefix)[DEADLETTERS]
    stretches = await logs.whole([topic])
    records = [(one.key.decode(), one.timestamp, one.value) async for one in logs.records(stretches)]
    wanted = [one for one in newest(records).values() if reason in (None, one.reason) and one.at >= since]
    return sorted(wanted, key=lambda one: (-one.at, one.key))


def counts(letters: Iterable[DeadLetter]) -> Counter[tuple[str, str, str]]:
    """How many dead letters there are by reason, type and topic."""
    return Counter((one.reason, one.type, one.topic or "–") for one in letters)


async def original(letter: DeadLetter, logs: Logs) -> Original:
    """Look up the record that a dead letter is about."""
    if letter.place is None or letter.offset is None:
        return Original(None, STANDING)
    record = await logs.record_at(letter.place, letter.offset)
    if record is None:
        return Original(None, GONE)
    if hashlib.sha256(record.value or b"").hexdigest() != letter.sha256:
        return Original(None, ANOTHER)
    return Original(record)


def fate(record: ConsumerRecord[Any, Any], as_on_time: bool, oldest_ms: int | None) -> tuple[str, int]:
    """What becomes of a record, and the timestamp it is sent with; an event before `oldest_ms` is too old."""
    event = parse(record.value or b"")
    if isinstance(event, Rejected):
        return REFUSED, record.timestamp
    late = not decode([record], False).events
    if late and not as_on_time:
        return LATE, record.timestamp
    stamp = event.ts if late else record.timestamp
    return OLD if oldest_ms is not None and event.ts < oldest_ms else SENT, stamp


async def replay(settings: Settings, reason: str | None, dry_run: bool, as_on_time: bool) -> None:
    """Send again what can be, and say how many met which fate."""
    found = await _sent_again(settings, reason, dry_run, as_on_time)
    for outcome, count in found.most_common():
        click.echo(f"{count:>7,}  {outcome}")
    if not found:
        click.echo("no dead letter has this reason" if reason else "no dead letters")
    if dry_run:
        click.echo("nothing was sent: --dry-run")


async def _sent_again(
    settings: Settings, reason: str | None, dry_run: bool, as_on_time: bool
) -> Counter[str]:
    oldest = _oldest(settings)
    producer: Any = AIOKafkaProducer(**client_options(settings.brokers), acks="all")
    found: Counter[str] = Counter()
    async with Logs(settings.brokers) as logs, producer:
        for letter in sorted(await read(settings, logs, reason), key=_by_place):
            record, outcome = await original(letter, logs)
            if record is not None:
                outcome, stamp = fate(record, as_on_time, oldest)
                if outcome == SENT and not dry_run:
                    await _send(producer, record, stamp)
            found[outcome] += 1
    return found


def _by_place(letter: DeadLetter) -> tuple[str, int, int]:
    return letter.topic or "", letter.partition or 0, letter.offset or 0


async def _send(producer: Any, record: ConsumerRecord[Any, Any], stamp: int) -> None:
    await producer.send_and_wait(
        record.topic,
        record.value,
        record.key,
        partition=record.partition,
        timestamp_ms=stamp,
        headers=list(record.headers),
    )


def _oldest(settings: Settings) -> int | None:
    """From when on (ms) all that an event may touch is there: as far back as its attribution reaches."""
    contents = contents_of(settings)
    since = contents.whole_since(time.time())
    contents.close()
    return None if since is None else since * 1000 + ATTRIBUTION_HORIZON_MS


async def one(settings: Settings, key: str, logs: Logs) -> DeadLetter:
    """The dead letter whose key begins so. Raises `NotKnown` unless there is exactly one."""
    found = [letter for letter in await read(settings, logs) if letter.key.startswith(key)]
    exact = [letter for letter in found if letter.key == key]
    if len(exact or found) != 1:
        raise NotKnown(f"{len(found)} dead letters have a key that begins with {key}: lara deadletters list")
    return (exact or found)[0]
