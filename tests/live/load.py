"""Load: a backlog that waits before workers start, drained by two. `python -m tests.live.load --records 1000000`

Memory of every worker is looked at each second. Nothing of the backlog may stay in it: neither while all goes
well, nor while Redis stops answering in the middle. At the end every record has its one disposition, counted
by the workers themselves, and the state has no drift.
"""

import argparse
import asyncio
import random
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from prometheus_client.parser import text_string_to_metric_families
from redis import Redis, RedisError

from attribution.parsing import Rejected, parse
from streams.commands.replay import Ends, Record, send
from streams.commands.simulator import COVERAGE, simulate
from streams.services import HOST, kafka, redis
from streams.settings import Settings
from tests.live.conftest import JARS
from tests.live.fleet import Fleet, Worker, lara, settings_for

START: Final = 1_772_445_600_000
END: Final = START + 26 * 3_600_000
PROMPTS: Final = 1000  # of one simulated stream
WORKERS: Final = 2
PAUSE_SECONDS: Final = 10
GARBAGE: Final = (b"{", b"\xff\x00", b"[]", b'{"type": "action"}', b'"' + b"x" * 100_000 + b'"')
GARBAGE_KEY: Final = b"garbage"  # all of it in one partition


class Sample(NamedTuple):
    """One look: seconds since the start, records below the watermarks, MB resident in each worker."""

    seconds: float
    settled: int
    resident: tuple[float, ...]


class Run(NamedTuple):
    """What was seen of a backlog on its way."""

    records: int
    samples: list[Sample]
    found: Counter[str]

    def __str__(self) -> str:
        """A table: one row for each tenth of the backlog."""
        rows = [f"{'records':>9} {'seconds':>8} {'MB resident':>16}"]
        tenths = [self.records * part // 10 for part in range(11)]
        seen = [next((one for one in self.samples if one.settled >= tenth), None) for tenth in tenths]
        rows += [
            f"{one.settled:9,} {one.seconds:8.0f} {' '.join(f'{part:7.0f}' for part in one.resident):>16}"
            for one in dict.fromkeys(seen)
            if one
        ]
        last = self.samples[-1]
        return "\n".join([*rows, f"{last.settled / last.seconds:,.0f} records a second; {dict(self.found)}"])

    def peaks(self) -> tuple[float, float]:
        """MB: the most that a worker held in the first half, warm, and in the second."""
        half = self.records / 2
        first = [max(one.resident) for one in self.samples if self.records / 10 < one.settled <= half]
        second = [max(one.resident) for one in self.samples if one.settled > half]
        return max(first), max(second)


def backlog(count: int, poison: float) -> Iterator[Record]:
    """About so many records of simulated streams, ids apart; and among all of them this share of garbage."""
    chance, made, seed = random.Random(1), 0, 0
    while made < count:
        seed += 1
        stream, _ = simulate(seed=seed, start_ms=START, end_ms=END, prompts=PROMPTS, rates=COVERAGE)
        for one in stream:
            while chance.random() < poison:
                made += 1
                yield Record("actions", chance.choice(GARBAGE), START, b"%d" % chance.randrange(1000))
            made += 1
            yield Record(one.topic_type + "s", one.value, one.ts, one.key)


def resident(worker: Worker) -> float:
    """MB of memory that a process holds."""
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def dispositions(fleet: Fleet) -> Counter[str]:
    """Records by disposition, as the workers count them."""
    found: Counter[str] = Counter()
    for worker in fleet.workers:
        page = urllib.request.urlopen(f"http://{HOST}:{worker.port}/metrics", timeout=5).read().decode()
        for family in text_string_to_metric_families(page):
            for one in family.samples:
                if one.name == "lara_events_total":
                    found[one.labels["disposition"]] += int(one.value)
    return found


def without_events(records: list[Record]) -> Counter[str]:
    """How many records must be found invalid, and how many are tombstones."""
    invalid = sum(bool(one.value) and isinstance(parse(one.value), Rejected) for one in records)
    return Counter(invalid=invalid, tombstone=sum(not one.value for one in records))


async def watch(fleet: Fleet, ends: Ends, seconds: float) -> list[Sample]:
    """A sample a second until all is settled; Redis stops for a while when a third is."""
    samples, paused, started = [], False, time.monotonic()
    count = sum(ends.values())
    async with asyncio.timeout(seconds):
        while not samples or samples[-1].settled < count or not await fleet.is_drained(ends):
            await asyncio.sleep(1)
            parts = tuple(resident(worker) for worker in fleet.workers)
            with suppress(RedisError):
                settled = await fleet.settled()
                samples.append(Sample(time.monotonic() - started, settled, parts))
                if not paused and settled > count / 3:
                    paused = True
                    with Redis.from_url(fleet.settings.redis_url) as client:
                        client.client_pause(PAUSE_SECONDS * 1000)
    return samples


async def drained(settings: Settings, directory: Path, records: int, poison: float, seconds: float) -> Run:
    """Produce a backlog, then start workers on it; raises `AssertionError` where a count is not exact."""
    async with Fleet(settings, directory) as fleet:
        made = list(backlog(records, poison))
        expected = without_events(made)
        ends = await send(settings.bootstrap, settings.prefix, made)
        count = len(made)
        del made
        for _ in range(WORKERS):
            fleet.start()
        run = Run(count, await watch(fleet, ends, seconds), dispositions(fleet))
        print(run, flush=True)
        assert sum(run.found.values()) >= count
        assert {name: run.found[name] for name in expected} == dict(expected)
        lara(settings, "audit")
        return run


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--poison", type=float, default=0.0, help="share of garbage, below 1")
    parser.add_argument("--hours", type=float, default=2, help="after which it is given up")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        with kafka(directory / "kafka", jars=JARS) as broker, redis(directory / "redis") as state:
            settings = settings_for(broker.address, f"redis://{HOST}:{state.port}", "load")
            settings = settings.model_copy(update={"max_records": 1000})
            asyncio.run(drained(settings, directory, given.records, given.poison, given.hours * 3600))


if __name__ == "__main__":
    main()
