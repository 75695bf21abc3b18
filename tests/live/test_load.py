"""Load as a test: what a worker holds does not grow with what waits for it, and garbage holds nobody up."""

import asyncio
import time

import pytest

from streams.commands.replay import Record, send
from streams.state.store import Partition
from tests.live.fleet import Fleet, settings_for
from tests.live.load import GARBAGE_KEY, START, backlog, drained

GROWTH = 1.2  # of memory, from the first half of a backlog to the second


@pytest.mark.prove
@pytest.mark.parametrize("poison", [0.0, 0.5], ids=["clean", "half of it garbage"])
async def test_memory_does_not_grow_with_the_backlog(poison, bootstrap, redis_url, prefix, tmp_path):
    """60,000 records wait, and Redis stops for ten seconds on the way: every record has its disposition."""
    settings = settings_for(bootstrap, redis_url, prefix)
    run = await drained(settings, tmp_path, 60_000, poison, seconds=500)
    first, second = run.peaks()
    assert second <= GROWTH * first


@pytest.mark.prove
async def test_a_partition_of_garbage_does_not_hold_up_the_others(bootstrap, redis_url, prefix, tmp_path):
    """200,000 records that are no events wait in one partition: all others are settled before it is through."""
    records = list(backlog(10_000, poison=0.0))
    alone, _ = await settled_beside([], records, bootstrap, redis_url, prefix + "-alone", tmp_path)
    garbage = [Record("actions", b"{", START, GARBAGE_KEY)] * 200_000
    beside, left = await settled_beside(garbage, records, bootstrap, redis_url, prefix, tmp_path)
    print(f"{len(records):,} records settled in {alone:.1f} s alone, in {beside:.1f} s beside the garbage,")
    print(f"of which {left:,} records were left then")
    assert left > 0


async def settled_beside(garbage, records, bootstrap, redis_url, prefix, directory) -> tuple[float, int]:
    """Seconds until all partitions but that of garbage are settled, and how much was left of it then."""
    settings = settings_for(bootstrap, redis_url, prefix)
    async with Fleet(settings, directory) as fleet:
        held = await send(bootstrap, prefix, garbage)
        ends = await send(bootstrap, prefix, records)
        others = {Partition(*where): end for where, end in ends.items() if where not in held}
        fleet.start(), fleet.start()
        await fleet.until_shared()
        started = time.monotonic()
        while (marks := await fleet.store.watermarks(others)) != others:
            assert all(marks.get(one, 0) <= end for one, end in others.items())
            await asyncio.sleep(0.1)
        seconds = time.monotonic() - started
        through = await fleet.store.watermarks([Partition(*where) for where in held])
        return seconds, sum(held.values()) - sum(through.values())
