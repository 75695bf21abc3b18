"""Load as a test: what a worker holds does not grow with what waits for it, and garbage holds nobody up."""

import time

import pytest

from streams.commands.replay import Record, send
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
    """50,000 records that are no events wait in one partition: all others are settled before it is through."""
    records = list(backlog(10_000, poison=0.0))
    alone = await seconds_to_settle([], records, bootstrap, redis_url, prefix + "-alone", tmp_path)
    garbage = [Record("actions", b"{", START, GARBAGE_KEY)] * 50_000
    beside = await seconds_to_settle(garbage, records, bootstrap, redis_url, prefix, tmp_path)
    print(f"{len(records):,} records settled in {alone:.1f} s alone, in {beside:.1f} s beside the garbage")


async def seconds_to_settle(garbage, records, bootstrap, redis_url, prefix, directory) -> float:
    """From the start of two workers until all but the partition of garbage is settled."""
    settings = settings_for(bootstrap, redis_url, prefix)
    async with Fleet(settings, directory) as fleet:
        held = await send(bootstrap, prefix, garbage)
        ends = await send(bootstrap, prefix, records)
        others = {where: end for where, end in ends.items() if where not in held}
        fleet.start(), fleet.start()
        await fleet.until_shared()
        started = time.monotonic()
        await fleet.until_drained(others)
        seconds = time.monotonic() - started
        assert not garbage or not await fleet.is_drained(held), "the garbage was through first"
        return seconds
