"""`lara canary`: a retrieval, a placement and an export of its own, again and again, through the real path.

Rules:
- Every event is marked `synthetic`, so that it is in no figure, whichever of them is settled first.
- Every sending has ids of its own. It has come back when each event is settled and has been published: the
  retrieval's outcome, and the attributions of the placing and of the export.
- What has not come back in time is lost, and so is what could not be sent.
- One is under way at a time, over connections of its own; nothing is remembered of it but counts.
"""

import asyncio
import secrets
import signal
import sys
import time
from collections.abc import Callable
from typing import Final, NamedTuple

import click
import msgspec
import structlog
from aiokafka.errors import KafkaError

from attribution.events import PLACE
from attribution.outputs import ATTRIBUTIONS, OUTCOMES
from metrics.canary_metrics import CanaryMetrics
from metrics.exporter import serve
from metrics.health import Verdict, checks_of
from streams.commands.replay import KINDS, Record, send
from streams.logs import start_logging
from streams.settings import Settings
from streams.topic_logs import Logs
from streams.topics import output_topics

log = structlog.get_logger()

READ: Final = (OUTCOMES, ATTRIBUTIONS)
STUCK_SECONDS: Final = 60.0  # beyond interval and timeout: a client may take 40 to give a broker up
Answer = tuple[str, str]  # short topic and key


class Canary(NamedTuple):
    """The events of one sending, and the answers that are waited for."""

    records: tuple[Record, ...]
    answers: frozenset[Answer]


class Trip(NamedTuple):
    """How one canary fared: the seconds until its last answer, or why it is lost."""

    seconds: float
    lost: str | None = None


def new_canary(now_ms: int) -> Canary:
    """A canary with ids that no other has."""
    name = f"canary-{secrets.token_hex(8)}"  # short: it lies in the state for weeks, several times
    common = {"session_guid": name, "synthetic": True}
    placed = {"placement_id": name, "document_id": name}
    events: tuple[dict[str, object], ...] = (
        {"type": "retrieval", "retrieval_id": name, "returned_asset_ids": [name]},
        {"type": "placement", **placed, "asset_id": name, "source_retrieval_id": name, "actor": "user"},
        {"type": "action", **placed, "event_id": name, "actor": "user", "action": "export"},
    )
    records = tuple(
        Record(KINDS[str(one["type"])], msgspec.json.encode({**one, **common, "ts": ts}), ts, name.encode())
        for ts, one in enumerate(events, now_ms)
    )
    answers = {(OUTCOMES, name), (ATTRIBUTIONS, f"{PLACE}{name}/{name}"), (ATTRIBUTIONS, name)}
    return Canary(records, frozenset(answers))


async def fly(settings: Settings) -> Trip:
    """Send a canary and wait until it has come back, or is lost."""
    canary, started = new_canary(int(time.time() * 1000)), time.monotonic()
    left = set(canary.answers)
    try:
        async with asyncio.timeout(settings.canary_timeout_seconds):
            return Trip(await _round_trip(settings, canary, left))
    except TimeoutError:
        missing = ", ".join(sorted(f"{settings.prefix}.{topic}" for topic, _ in left))
        lost = f"not back after {settings.canary_timeout_seconds:g} s, nothing came on {missing}"
    except (KafkaError, OSError) as error:
        lost = f"Kafka does not do its part: {type(error).__name__}: {error}"
    return Trip(time.monotonic() - started, lost)


async def _round_trip(settings: Settings, canary: Canary, left: set[Answer]) -> float:
    """Seconds from the sending to the last answer; what came is taken from `left`."""
    short = {topic: kind for kind, topic in output_topics(settings.prefix).items() if kind in READ}
    async with Logs(settings.brokers) as logs:
        ends = {one: bound.end for one, bound in (await logs.whole(short)).items()}
        started = time.monotonic()
        await send(settings.brokers, settings.prefix, canary.records)
        async for record in logs.onward(ends):
            left.discard((short[record.topic], (record.key or b"").decode()))
            if not left:
                break
        return time.monotonic() - started


class Keeper:
    """Sends canaries and keeps count. `clock` gives seconds since the epoch; `monotonic` never jumps."""

    def __init__(
        self,
        settings: Settings,
        metrics: CanaryMetrics,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._metrics = settings, metrics
        self._clock, self._monotonic = clock, monotonic
        self._sent_at = monotonic()
        self._last: Trip | None = None

    async def send_one(self) -> Trip:
        """Send one, and count what becomes of it."""
        self._sent_at = self._monotonic()
        self._metrics.sent.inc()
        trip = await fly(self._settings)
        if trip.lost is None:
            self._metrics.returned(trip.seconds, self._clock())
        else:
            self._metrics.lost.inc()
            log.error("canary lost", reason=trip.lost)
        self._last = trip
        return trip

    async def keep_sending(self) -> None:
        """One every interval, or as soon as the one before is back or lost. Endless."""
        while True:
            await self.send_one()
            due = self._sent_at + self._settings.canary_interval_seconds
            await asyncio.sleep(max(0.0, due - self._monotonic()))

    def live(self) -> Verdict:
        """Does it still send?"""
        silent = self._monotonic() - self._sent_at
        longest = self._settings.canary_interval_seconds + self._settings.canary_timeout_seconds
        return Verdict(silent <= longest + STUCK_SECONDS, f"the last canary was sent {silent:.0f} s ago")

    def ready(self) -> Verdict:
        """Did the last one come back?"""
        if self._last is None:
            return Verdict(False, "no canary has come back yet")
        if self._last.lost is not None:
            return Verdict(False, f"the last canary is lost: {self._last.lost}")
        return Verdict(True, f"the last canary came back after {self._last.seconds:.3f} s")


async def keep(settings: Settings) -> None:
    """Send canaries until SIGTERM or SIGINT."""
    start_logging()
    metrics = CanaryMetrics()
    keeper = Keeper(settings, metrics)
    server = serve(metrics.registry, settings.canary_port, checks=checks_of(keeper.live, keeper.ready))
    log.info("sending canaries", port=server.server_port, seconds=settings.canary_interval_seconds)
    sending = asyncio.create_task(keeper.keep_sending())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, sending.cancel)
    await asyncio.wait([sending])
    server.shutdown()
    server.server_close()
    if not sending.cancelled():
        sending.result()


async def once(settings: Settings) -> None:
    """Send one; code 1 if it is lost."""
    trip = await fly(settings)
    if trip.lost is not None:
        click.echo(f"lost: {trip.lost}", err=True)
        sys.exit(1)
    click.echo(f"came back after {trip.seconds:.3f} s")
