"""Watermarks on real Kafka and real Redis: shown, and set while workers run."""

import asyncio
import json
import time

from redis import Redis

from streams.commands.replay import Record, send
from streams.state.store import Partition
from tests.building import encoded, placement, retrieval, user
from tests.live.fleet import Fleet, ended, figures_of, lara, records_of, settings_for

END = 1_772_445_600_000 + 26 * 3_600_000
EVENTS = [
    retrieval("r1", ["a1"]),
    retrieval("r2", ["a2"], 1),
    user("export", 60, consumed_asset_id="a1", source_retrieval_id="r1"),
]


def now_ms() -> int:
    return int(time.time() * 1000)


async def test_watermarks_are_shown_and_set_while_a_worker_runs(bootstrap, redis_url, prefix, tmp_path):
    """Back: everything is read again, and no figure moves. Forward: only with the word for it."""
    own = settings_for(bootstrap, redis_url, prefix)
    topic = f"{prefix}.placements"
    some = [
        Record("placements", encoded(placement(f"p{number}", "a1", 60 + number)), now_ms(), b"same partition")
        for number in range(40)
    ]
    async with Fleet(own, tmp_path) as fleet:
        worker = fleet.start()
        await fleet.settle([*records_of(*EVENTS), *some])
        figures = figures_of(lara(own, "report", "--json", "--as-of", str(END)))
        number = next(one for (name, one), end in fleet.ends.items() if name == topic and end == 40)
        code, printed, said = await ended(own, "watermarks", "show", "--json")
        assert code == 0, said
        shown = {(one["topic"], one["partition"]): one for one in json.loads(printed)}
        assert len(shown) == 5 * own.partitions
        mine = shown[topic, number]
        assert (mine["watermark"], mine["start"], mine["end"], mine["behind"], mine["seconds"]) == (
            40,
            0,
            40,
            0,
            0,
        )
        code, printed, _ = await ended(own, "watermarks", "show")
        assert [line.split() for line in printed.splitlines() if line.startswith(topic)][number] == [
            topic, str(number), "40", "0", "40", "0", "0",
        ]  # fmt: skip

        before = worker.look()
        code, printed, _ = await ended(own, "watermarks", "set", topic, str(number), "10", "--dry-run")
        assert (code, "30 offsets are read again" in printed, "nothing was done" in printed) == (
            0,
            True,
            True,
        )
        assert await fleet.store.watermarks([Partition(topic, number)]) == {Partition(topic, number): 40}
        code, printed, said = await ended(own, "watermarks", "set", topic, str(number), "10")
        assert (code, printed.endswith("set\n")) == (0, True), said
        async with asyncio.timeout(30):
            while worker.look() < before + 30:
                await asyncio.sleep(0.1)
        await fleet.until_drained(fleet.ends)
        assert figures_of(lara(own, "report", "--json", "--as-of", str(END))) == figures

        for arguments, told in (
            ((topic, str(number), "41"), "is 0 to 40"),
            ((topic, "99", "0"), "has no partition 99"),
            ((f"{prefix}.outcomes", "0", "0"), "is no input topic"),
        ):
            code, _, said = await ended(own, "watermarks", "set", *arguments)
            assert (code, told in said) == (2, True), said
        assert worker.terminate() == 0
        await send(bootstrap, prefix, [one._replace(ts=now_ms() - 120_000) for one in some[:5]])
        (lagging,) = [
            one for one in json.loads((await ended(own, "watermarks", "show", "--json"))[1]) if one["behind"]
        ]
        assert (lagging["partition"], lagging["behind"]) == (number, 5)
        assert 120 <= lagging["seconds"] < 180
        code, printed, said = await ended(own, "watermarks", "set", topic, str(number), "43")
        assert (code, "3 offsets are never read" in printed, "--yes-lose-records" in said) == (2, True, True)
        assert await fleet.store.watermarks([Partition(topic, number)]) == {Partition(topic, number): 40}
        code, _, _ = await ended(own, "watermarks", "set", topic, str(number), "43", "--yes-lose-records")
        assert code == 0
        assert await fleet.store.watermarks([Partition(topic, number)]) == {Partition(topic, number): 43}


async def test_going_back_beyond_the_life_of_the_state_is_refused(bootstrap, redis_url, prefix, tmp_path):
    """What has expired would count twice; it says how far back is safe."""
    own = settings_for(bootstrap, redis_url, prefix)
    async with Fleet(own, tmp_path) as fleet:
        fleet.start()
        await fleet.settle(records_of(*EVENTS))
        topic, number = next(where for where in fleet.ends if where[0] == f"{prefix}.actions")
        with Redis.from_url(redis_url) as client:
            client.hset(f"{prefix}:{{s00}}:meta", "began", 1)
        code, _, said = await ended(own, "watermarks", "set", topic, str(number), "0")
        assert (code, "would count twice" in " ".join(said.split())) == (2, True)
        marks = await fleet.store.watermarks([Partition(topic, number)])
        assert set(marks.values()) == {fleet.ends[topic, number]}


async def test_shards_with_other_watermarks_are_shown(bootstrap, redis_url, prefix, tmp_path):
    """One that lost some of its writes: the lowest counts, and the others are told."""
    own = settings_for(bootstrap, redis_url, prefix)
    async with Fleet(own, tmp_path) as fleet:
        worker = fleet.start()
        await fleet.settle(records_of(*EVENTS))
        assert worker.terminate() == 0
        topic, number = next(where for where in fleet.ends if where[0] == f"{prefix}.retrievals")
        with Redis.from_url(redis_url) as client:
            client.hset(f"{prefix}:{{s03}}:watermarks", f"{topic}/{number}", 0)
        _, printed, _ = await ended(own, "watermarks", "show")
        assert f"{topic} {number}: the shards differ, the lowest counts: 1, 1, 1, 0, 1" in printed or (
            "the shards differ, the lowest counts: 2, 2, 2, 0, 2" in printed
        )


async def test_no_topics_at_all_are_told(bootstrap, redis_url, prefix):
    """And none is created by asking."""
    own = settings_for(bootstrap, redis_url, prefix)
    for _ in range(2):
        code, _, said = await ended(own, "watermarks", "show")
        assert (code, "lara topics create" in said) == (1, True)
