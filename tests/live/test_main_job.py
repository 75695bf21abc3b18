"""The main job on real Kafka and real Redis: two workers, one killed, and the figures of a backtest."""

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from attribution.outputs import ATTRIBUTIONS, DEADLETTERS, OUTCOMES
from attribution.parsing import Rejected, parse
from attribution.semantics import Semantics
from streams.commands.replay import Ends, Record, records_of, send
from streams.commands.simulator import COVERAGE, lines, simulate
from streams.commands.simulator import Record as Made
from streams.settings import Settings
from tests.live.fleet import Fleet, figures_of, lara, newest_outputs, settings_for
from tests.properties import running

DATA = Path(__file__).parents[3] / "shared" / "data"
SECONDS = 10.0  # over which a stream is sent, so that a kill meets it half way
AS_OF = "2026-11-01"
START = 1_772_445_600_000  # of simulated time, and its end 26 hours later
END = START + 26 * 3_600_000


def simulated(seed: int, prompts: int) -> list[Record]:
    """The records of a simulated stream in which every rule is met."""
    made, _ = simulate(seed=seed, start_ms=START, end_ms=END, prompts=prompts, rates=COVERAGE)
    return records_made(made)


def records_made(made: Sequence[Made]) -> list[Record]:
    return [Record(one.topic_type + "s", one.value, one.ts, one.key) for one in made]


def shuffled_twice(records: list[Record], seed: int) -> list[Record]:
    """The records in any order, a fifth of them sent again."""
    chance = random.Random(seed)
    again = [record for record in records if chance.random() < 0.2]
    mixed = [*records, *again]
    chance.shuffle(mixed)
    return mixed


async def run_with_a_kill(fleet: Fleet, records: list[Record]) -> None:
    """Send, kill one of two workers at 30-70 %, start it again, and drain."""
    first, second = fleet.start(), fleet.start()
    await fleet.until_shared()
    rate = len(records) / SECONDS
    sending = asyncio.create_task(send(fleet.settings.bootstrap, fleet.settings.prefix, records, rate))
    share = 0.0
    while share < 0.45:
        first.look()
        await asyncio.sleep(0.05)
        share = await fleet.settled() / len(records)
    first.kill()
    assert 0.3 <= share <= 0.7, f"killed at {share:.0%}"
    third = fleet.start()
    await fleet.until_drained(await sending)
    parts = [first.handled + third.look(), second.look()]
    assert min(parts) >= 0.1 * len(records), f"handled by each: {parts} of {len(records)}"
    print(f"killed at {share:.0%}; handled by each worker {parts} of {len(records)}")


def plain(records: dict[str, dict]) -> dict[str, dict]:
    """Records as JSON knows them, without what tells of arrival (versions, corrections), and of withdrawn
    actions."""
    there = {key: body for key, body in records.items() if body.get("resolution") != "withdrawn"}
    apart = {"version": 0, "replaces": None}
    return json.loads(json.dumps({key: {**body, **apart} for key, body in there.items()}))


async def compare(fleet: Fleet, file: Path, as_of: str) -> None:
    """Report equals backtest key by key, and so do the newest records of the output topics."""
    live = figures_of(lara(fleet.settings, "report", "--json", "--as-of", as_of))
    batch = figures_of(lara(fleet.settings, "backtest", "--json", "--as-of", as_of, str(file)))
    assert live == batch
    lines = file.read_bytes().splitlines()
    store = await running.settled([running.accepted(lines)], Semantics())
    expected = running.outputs_in(store, Semantics())
    found = await newest_outputs(fleet.settings)
    for topic in (ATTRIBUTIONS, OUTCOMES):
        assert plain(found[topic]) == plain(expected[topic])
    reused = {key for key, body in found[DEADLETTERS].items() if "sha256" not in body}
    assert reused == set(expected.get(DEADLETTERS, {}))
    invalid = {line for line in lines if line and isinstance(parse(line), Rejected)}
    assert len(found[DEADLETTERS]) - len(reused) == len(invalid)


@pytest.mark.parametrize("name", ["chorus_ubi", "tau_airline", "react_webshop"])
async def test_a_real_log_gives_the_figures_of_a_backtest(name, bootstrap, redis_url, prefix, tmp_path):
    """Shuffled, a fifth sent twice, one of two workers killed half way: the figures of a backtest."""
    file = DATA / f"{name}.jsonl"
    if not file.exists():
        pytest.skip(f"{file.name} lies beside this project only where it is developed")
    records = shuffled_twice(list(records_of(file.read_bytes().splitlines())), seed=1)
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        await run_with_a_kill(fleet, records)
        await compare(fleet, file, AS_OF)


@pytest.mark.prove
async def test_a_simulated_stream_gives_the_figures_of_a_backtest(bootstrap, redis_url, prefix, tmp_path):
    """Every rule, grade and definition at least 50 times, shuffled, sent twice, killed: still exact."""
    made, truth = simulate(seed=1, start_ms=START, end_ms=END, prompts=6000, rates=COVERAGE)
    rare = {what: times for what, times in truth.occurrences().items() if times < 50}
    assert not rare
    file = tmp_path / "simulated.jsonl"
    file.write_bytes(b"\n".join(lines(made)))
    records = shuffled_twice(records_made(made), seed=2)
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        await run_with_a_kill(fleet, records)
        await compare(fleet, file, str(END))


@pytest.mark.prove
async def test_twenty_simulated_streams_in_the_same_topics(bootstrap, redis_url, prefix, tmp_path):
    """Twenty seeds laid over each other, ids apart and times together: shuffled, sent twice, killed, exact."""
    await laid_over_each_other(range(1, 21), 400, settings_for(bootstrap, redis_url, prefix), tmp_path)


async def test_three_simulated_streams_in_the_same_topics(bootstrap, redis_url, prefix, tmp_path):
    """The daily slice of the twenty."""
    await laid_over_each_other(range(1, 4), 400, settings_for(bootstrap, redis_url, prefix), tmp_path)


async def laid_over_each_other(seeds: range, prompts: int, settings: Settings, directory: Path) -> None:
    """Send several streams through one fleet as if they were one."""
    records = [record for seed in seeds for record in simulated(seed, prompts)]
    file = directory / "simulated.jsonl"
    file.write_bytes(b"\n".join(lines(records)))
    async with Fleet(settings, directory) as fleet:
        await run_with_a_kill(fleet, shuffled_twice(records, seed=3))
        await compare(fleet, file, str(END))


async def test_a_worker_that_joins_and_leaves_in_order_changes_nothing(
    bootstrap, redis_url, prefix, tmp_path
):
    """A third worker joins and stops on SIGTERM with code 0, and transactions leave holes: still exact."""
    records = simulated(seed=5, prompts=600)
    file = tmp_path / "simulated.jsonl"
    file.write_bytes(b"\n".join(lines(records)))
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        fleet.start()
        ends = await send_in_transactions(fleet, records[: len(records) // 3])
        joined = fleet.start()
        middle = await send_in_transactions(fleet, records[len(records) // 3 : 2 * len(records) // 3])
        await fleet.until_shared()
        assert joined.terminate() == 0
        last = await send_in_transactions(fleet, records[2 * len(records) // 3 :])
        for some in (middle, last):
            ends.update({where: max(end, ends.get(where, 0)) for where, end in some.items()})
        await fleet.until_drained(ends)
        await compare(fleet, file, str(END))


async def send_in_transactions(fleet: Fleet, records: list[Record]) -> Ends:
    """Send by a transactional producer, 50 records a transaction, and an aborted one between any two."""
    producer = AIOKafkaProducer(
        bootstrap_servers=fleet.settings.bootstrap, transactional_id=f"{fleet.settings.prefix}-producer"
    )
    await producer.start()
    ends: Ends = {}
    try:
        for first in range(0, len(records), 50):
            async with producer.transaction():
                sent = [await _send(producer, fleet, record) for record in records[first : first + 50]]
                for metadata in await asyncio.gather(*sent):
                    ends[metadata.topic, metadata.partition] = metadata.offset + 1
            await producer.begin_transaction()
            await _send(producer, fleet, Record("actions", b'{"never": "seen"}', records[first].ts))
            await producer.abort_transaction()
    finally:
        await producer.stop()
    return ends


async def _send(producer: AIOKafkaProducer, fleet: Fleet, record: Record) -> "asyncio.Future":
    topic = f"{fleet.settings.prefix}.{record.kind}"
    return await producer.send(topic, record.value, record.key, timestamp_ms=record.ts)
