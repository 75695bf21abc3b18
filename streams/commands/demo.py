"""`lara demo`: simulated assistants through the whole pipeline, checked against the simulator's own truth.

It starts a broker and a state server of its own (two wheels; no Docker, no Java), creates the topics, runs
one `lara worker`, sends 26 hours of traffic in time-lapse, and shows the figures as they come. At the end
every figure of the report is compared with what the simulator booked when it made the traffic up.
"""

import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from pydantic import SecretStr
from rich.console import Console
from rich.live import Live
from rich.table import Table

from metrics.exporter import serve
from metrics.figures import Metric
from metrics.report import report as tables_of
from streams.commands.backtest import current_figures
from streams.commands.comparison import print_differences
from streams.commands.exporter import collector
from streams.commands.replay import KINDS, Ends, Record, send
from streams.commands.simulator import LIKES, Truth, simulate
from streams.connection_settings import ConnectionSettings
from streams.connections import reader_of, store_of
from streams.services import HOST, ServiceError, embedded_kafka, embedded_redis
from streams.settings import CONFIG_VARIABLE, Settings, published
from streams.state.redis_buckets import RedisBuckets
from streams.state.redis_store import RedisStore
from streams.state.store import Partition
from streams.topics import FOREVER, create_topics

HISTORY_MS: Final = 26 * 3_600_000  # more than the longest window that the demo shows, with its maturity
# About 300 records a second, a tenth of what a laptop's worker settles.
PROMPTS_A_SECOND: Final = {"demo": 100, "published": 300, "coverage": 20}
DEFAULT_SECONDS: Final = 60
SENDING_SHARE: Final = 0.7  # of the seconds; the rest is for starting and draining
SHUFFLED: Final = 200  # records that change places with each other: order must not matter
DRAIN_SECONDS: Final = 120.0
WORKER_LOG: Final = "worker.log"
LOG_LINES: Final = 30  # of a worker that failed: a traceback with its cause
SHOWN_WINDOWS: Final = ("24h", "all")
HEADLINES: Final[tuple[tuple[str, str, dict[str, str]], ...]] = (
    ("GPR (standard)", "lara_gpr_ratio", {"definition": "standard"}),
    ("ACR", "lara_acr_ratio", {}),
    ("ORF", "lara_orf_ratio", {}),
    ("UOR (standard)", "lara_uor_ratio", {"definition": "standard"}),
)


class Wanted(NamedTuple):
    """Which traffic is to be shown, and for how long (None: until somebody ends it)."""

    seconds: int | None
    seed: int
    like: str


class Traffic(NamedTuple):
    """What is sent, and what it means."""

    records: list[Record]
    truth: Truth
    as_of: int


async def demo(settings: Settings, wanted: Wanted, running: bool) -> None:
    """Run the demo; ends with exit code 1 if a figure differs from the truth."""
    console = Console()
    with ExitStack() as services, tempfile.TemporaryDirectory(prefix="lara-demo-") as directory:
        console.print("[bold]lara demo[/bold]: simulated assistants, real pipeline")
        with services:
            own = (
                settings if running else services.enter_context(_embedded(settings, Path(directory), console))
            )
            name = f"{settings.prefix}-demo-{int(time.time())}"
            own = own.model_copy(update={"prefix": name, "state_prefix": name})
            await create_topics(own.brokers, own.prefix, own.partitions, FOREVER, own.replication)
            different = await _show(own, wanted, Path(directory), console)
    if different:
        sys.exit(1)


@contextmanager
def _embedded(settings: Settings, directory: Path, console: Console) -> Iterator[Settings]:
    """Embedded services, and the settings that name them."""
    started = time.monotonic()
    with embedded_kafka(directory / "kafka") as kafka, embedded_redis(directory / "redis") as state:
        console.print(f"broker and state up after {time.monotonic() - started:.1f} s")
        own = {
            **{name: field.default for name, field in ConnectionSettings.model_fields.items()},
            "bootstrap": kafka.address,
            "redis_url": f"redis://{HOST}:{state.port}",
            "partitions": 4,
            "idempotent_producer": False,  # the embedded broker has no idempotent producer
            "broker_rebalance_timeout_seconds": 3.0,  # one worker: nobody to wait for
        }
        yield settings.model_copy(update=own)


def make_traffic(wanted: Wanted, now_ms: int) -> Traffic:
    """Simulated records, lightly shuffled, and their truth."""
    prompts = PROMPTS_A_SECOND[wanted.like] * (wanted.seconds or DEFAULT_SECONDS)
    rates, start = LIKES[wanted.like], now_ms - HISTORY_MS
    made, truth = simulate(seed=wanted.seed, start_ms=start, end_ms=now_ms, prompts=prompts, rates=rates)
    records = [Record(KINDS[one.topic_type], one.value, one.ts, one.key) for one in made]
    chance = random.Random(wanted.seed)
    shuffled = []
    for start in range(0, len(records), SHUFFLED):
        part = records[start : start + SHUFFLED]
        chance.shuffle(part)
        shuffled += part
    return Traffic(shuffled, truth, now_ms)


async def _show(settings: Settings, wanted: Wanted, directory: Path, console: Console) -> int:
    traffic = make_traffic(wanted, int(time.time() * 1000))
    reader = reader_of(settings)
    async with AsyncExitStack() as stack:
        worker = await _start_worker(settings, directory)
        stack.push_async_callback(_stop_worker, worker)
        server = serve(collector(settings), 0, HOST)
        stack.callback(server.shutdown)
        console.print(f"figures for Prometheus: http://{HOST}:{server.server_port}/metrics")
        rate = len(traffic.records) / ((wanted.seconds or DEFAULT_SECONDS) * SENDING_SHARE)
        sending = asyncio.create_task(send(settings.brokers, settings.prefix, traffic.records, rate))
        stack.callback(sending.cancel)
        await _watch(settings, traffic, reader, sending, (worker, directory / WORKER_LOG), console)
        different = _compare(settings, traffic, reader, console)
        if wanted.seconds is None:
            console.print("still serving; end with Ctrl-C")
            await worker.wait()
    return different


async def _start_worker(settings: Settings, directory: Path) -> asyncio.subprocess.Process:
    environment = {
        f"LARA_{name.upper()}": as_text(value)
        for name, value in settings.model_dump(exclude_defaults=True, exclude={"worker_port"}).items()
    }
    nothing = directory / "lara.toml"  # the worker is told all that holds here, and reads nothing else
    nothing.touch()
    environment |= {"LARA_WORKER_PORT": "0", CONFIG_VARIABLE: str(nothing)}
    others = {name: value for name, value in os.environ.items() if not name.startswith("LARA_")}
    log = (directory / WORKER_LOG).open("wb")
    command = [sys.executable, "-c", "from streams.commands.cli import main; main()", "worker"]
    return await asyncio.create_subprocess_exec(
        *command, env={**others, **environment}, stdout=log, stderr=log
    )


def as_text(value: Any) -> str:
    """A setting as its variable holds it."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    return ",".join(value) if isinstance(value, tuple) else str(value)


async def _stop_worker(worker: asyncio.subprocess.Process) -> None:
    if worker.returncode is None:
        worker.terminate()
        await worker.wait()


async def _watch(
    settings: Settings,
    traffic: Traffic,
    reader: RedisBuckets,
    sending: "asyncio.Task[Ends]",
    working: tuple[asyncio.subprocess.Process, Path],
    console: Console,
) -> None:
    """Show figures until everything sent is settled."""
    worker, log = working
    store = store_of(settings)
    started = time.monotonic()
    first: float | None = None
    deadline = float("inf")
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        while not (sending.done() and await is_drained(store, sending.result())):
            if worker.returncode is not None:
                tail = "\n".join(log.read_text().splitlines()[-LOG_LINES:])
                raise ServiceError(f"the worker ended with code {worker.returncode}:\n{tail}")
            deadline = min(deadline, time.monotonic() + DRAIN_SECONDS) if sending.done() else deadline
            if time.monotonic() > deadline:
                raise ServiceError(f"not everything was settled {DRAIN_SECONDS:.0f} s after the last record")
            table = _headlines(settings, traffic, reader, time.monotonic() - started)
            live.update(table)
            if table.row_count and first is None:
                first = time.monotonic() - started
            await asyncio.sleep(0.5)
    await store.close()
    if first is not None:
        console.print(f"first figures on screen {first:.1f} s after the broker was up")
    console.print(
        f"{len(traffic.records):,} records settled {time.monotonic() - started:.1f} s after the start\n"
    )


async def is_drained(store: RedisStore, ends: Ends) -> bool:
    """Has every partition's watermark reached the end of what was sent?"""
    marks = await store.watermarks([Partition(*where) for where in ends])
    return all(marks.get(Partition(*where), 0) >= end for where, end in ends.items())


def _headlines(settings: Settings, traffic: Traffic, reader: RedisBuckets, elapsed: float) -> Table:
    found = current_figures(reader, settings, traffic.as_of, windows=("24h",))
    table = Table(title=f"last 24 hours, settled, by role · {elapsed:.0f} s", title_justify="left", box=None)
    table.add_column("role")
    for heading in ("n", *(title for title, _, _ in HEADLINES)):
        table.add_column(heading, justify="right")
    counts = _by_role(found, "lara_retrievals", {})
    for role, count in sorted(counts.items()):
        shares = [_by_role(found, name, labels).get(role) for _, name, labels in HEADLINES]
        cells = ["–" if share is None else f"{100 * share:.1f} %" for share in shares]
        table.add_row(role, f"{count:,.0f}", *cells)
    return table


def _by_role(found: Sequence[Metric], name: str, labels: Mapping[str, str]) -> dict[str, float]:
    """A figure of the settled cohort on the chat surface, by role."""
    wanted = {"cohort": "settled", "surface": "chat", **labels}
    return {
        metric.labels["role"]: metric.value
        for metric in found
        if metric.name == name and wanted.items() <= metric.labels.items() and metric.value
    }


def _compare(settings: Settings, traffic: Traffic, reader: RedisBuckets, console: Console) -> int:
    """Print the report and the differences to the truth; returns how many there are."""
    definitions = published(settings.definitions)
    found = current_figures(reader, settings, traffic.as_of)
    shown = [metric for metric in found if metric.labels["window"] in SHOWN_WINDOWS]
    console.print(tables_of(traffic.as_of, shown, definitions))
    return print_differences(console, found, traffic.truth.metrics(traffic.as_of))
