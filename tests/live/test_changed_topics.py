"""Topics that change under their names: made anew, grown, cut off by retention, or of another cluster."""

import asyncio
import urllib.request
from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, RecordsToDelete
from aiokafka.errors import KafkaError
from prometheus_client.parser import text_string_to_metric_families

from streams.commands.replay import Ends, Record, send
from streams.commands.simulator import lines
from streams.services import HOST, kafka
from streams.settings import Settings
from streams.topics import FOREVER, create_topics, input_topics, output_topics
from tests.live.conftest import JARS
from tests.live.fleet import Fleet, Worker, figures_of, lara, settings_for
from tests.live.test_main_job import END, simulated

pytestmark = pytest.mark.prove  # three minutes of topics that are made anew


async def sent(fleet: Fleet, records: Sequence[Record]) -> Ends:
    return await send(fleet.settings.bootstrap, fleet.settings.prefix, records)


@asynccontextmanager
async def administrated(bootstrap: str):
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def make_anew(settings: Settings) -> None:
    """Delete the input topics and create them again, under the same names."""
    names = list(input_topics(settings.prefix).values())
    async with administrated(settings.bootstrap) as admin:
        await admin.delete_topics(names)
    async with asyncio.timeout(30):
        while True:  # a deletion takes its time, and until then the names are taken
            try:
                report = await create_topics(
                    settings.bootstrap, settings.prefix, settings.partitions, FOREVER
                )
            except KafkaError:
                report = None
            if report and set(report.created) | set(output_topics(settings.prefix).values()) >= set(names):
                return
            await asyncio.sleep(0.2)


def losses(worker: Worker) -> dict[str, int]:
    """Losses by reason."""
    page = urllib.request.urlopen(f"http://{HOST}:{worker.port}/metrics", timeout=5).read().decode()
    families = {family.name: family.samples for family in text_string_to_metric_families(page)}
    found: dict[str, int] = {}
    for one in families.get("lara_losses", ()):
        if one.name == "lara_losses_total":
            found[one.labels["reason"]] = found.get(one.labels["reason"], 0) + int(one.value)
    return found


def same_figures(settings: Settings, records: Sequence[Record], directory: Path) -> None:
    """The report of the state is the backtest of these records."""
    file = directory / "expected.jsonl"
    file.write_bytes(b"\n".join(lines(records)))
    live = figures_of(lara(settings, "report", "--json", "--as-of", str(END)))
    assert live == figures_of(lara(settings, "backtest", "--json", "--as-of", str(END), str(file)))


async def stopped(fleet: Fleet, records: Sequence[Record]) -> None:
    """A worker settles these records, and stops."""
    worker = fleet.start()
    await fleet.until_drained(await sent(fleet, records))
    assert worker.terminate() == 0


async def test_topics_made_anew_between_two_runs(bootstrap, redis_url, prefix, tmp_path):
    """Grown past the old watermarks before anybody looks: all of it is read, and each partition is a loss."""
    old, new = simulated(seed=11, prompts=60), simulated(seed=12, prompts=240)
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        await stopped(fleet, old)
        before = await fleet.settled()
        await make_anew(fleet.settings)
        ends = await sent(fleet, new)
        worker = fleet.start()
        await until_read(fleet, ends, before)
        assert losses(worker) == {"recreated": 5 * fleet.settings.partitions}
        same_figures(fleet.settings, [*old, *new], tmp_path)
        assert worker.terminate() == 0
        again = fleet.start()
        await fleet.until_shared()
        assert losses(again) == {}


async def until_read(fleet: Fleet, ends: Ends, before: int) -> None:
    """Drained, by watermarks of the new logs: the old ones are longer or shorter, never the same."""
    assert sum(ends.values()) != before
    async with asyncio.timeout(120):
        while await fleet.settled() != sum(ends.values()):
            await asyncio.sleep(0.1)
    await fleet.until_drained(ends)


async def test_topics_made_anew_under_two_running_workers(bootstrap, redis_url, prefix, tmp_path):
    """They notice by themselves, forget each watermark once, and read all that came since."""
    old, new = simulated(seed=13, prompts=60), simulated(seed=14, prompts=240)
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        workers = [fleet.start(), fleet.start()]
        await fleet.until_shared()
        await fleet.until_drained(await sent(fleet, old))
        before = await fleet.settled()
        await make_anew(fleet.settings)
        await until_read(fleet, await sent(fleet, new), before)
        found = [losses(worker).get("recreated", 0) for worker in workers]
        assert sum(found) >= 5 * fleet.settings.partitions
        same_figures(fleet.settings, [*old, *new], tmp_path)
        assert [worker.process.poll() for worker in workers] == [None, None]


async def test_partitions_that_are_added_are_read_from_their_start(bootstrap, redis_url, prefix, tmp_path):
    """Noticed by a running worker, without a restart, and no loss."""
    old, new = simulated(seed=15, prompts=60), simulated(seed=16, prompts=120)
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        worker = fleet.start()
        await fleet.until_drained(await sent(fleet, old))
        async with administrated(bootstrap) as admin:
            await admin.create_partitions(
                {topic: NewPartitions(total_count=6) for topic in input_topics(prefix).values()}
            )
        ends = await sent(fleet, new)
        assert {number for _, number in ends} == set(range(6))
        await fleet.until_drained(ends)
        assert losses(worker) == {}
        same_figures(fleet.settings, [*old, *new], tmp_path)


async def test_records_deleted_before_they_were_read(bootstrap, redis_url, prefix, tmp_path):
    """Retention overtakes the resume points: a loss each, counted once, and the rest is read."""
    old, lost, new = simulated(17, 60), simulated(18, 60), simulated(19, 60)
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        await stopped(fleet, old)
        ends = await sent(fleet, lost)
        async with administrated(bootstrap) as admin:
            await admin.delete_records(
                {TopicPartition(*where): RecordsToDelete(before_offset=end) for where, end in ends.items()}
            )
        worker = fleet.start()
        await fleet.until_drained(ends)  # nothing is left in these logs, and the watermarks say so
        assert losses(worker) == {"retention": len(ends)}
        await fleet.until_drained(await sent(fleet, new))
        same_figures(fleet.settings, [*old, *new], tmp_path)
        assert worker.terminate() == 0
        again = fleet.start()
        await fleet.until_shared()
        assert losses(again) == {}


async def test_records_deleted_under_a_worker_that_is_behind(bootstrap, redis_url, prefix, tmp_path):
    """Frozen while its position is deleted, it goes on behind the hole instead of asking for it for ever."""
    old, lost, new = simulated(20, 60), simulated(21, 60), simulated(22, 60)
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        worker = fleet.start()
        await fleet.until_drained(await sent(fleet, old))
        before = await fleet.settled()
        worker.freeze()
        ends = await sent(fleet, lost)
        async with administrated(bootstrap) as admin:
            await admin.delete_records(
                {TopicPartition(*where): RecordsToDelete(before_offset=end) for where, end in ends.items()}
            )
        await asyncio.sleep(7)  # beyond its session: it must join again
        worker.thaw()
        assert before == await fleet.settled()
        await fleet.until_drained(await sent(fleet, new))
        assert losses(worker)["retention"] >= 1
        assert worker.process.poll() is None


async def test_another_cluster_behind_the_same_names(bootstrap, redis_url, prefix, tmp_path):
    """Its logs are others though names, partitions and offsets fit: read whole, each partition a loss."""
    old, new = simulated(seed=23, prompts=60), simulated(seed=24, prompts=240)
    async with Fleet(settings_for(bootstrap, redis_url, prefix), tmp_path) as fleet:
        await stopped(fleet, old)
        before = await fleet.settled()
    with kafka(tmp_path / "other", jars=JARS) as server:
        async with Fleet(settings_for(f"{HOST}:{server.port}", redis_url, prefix), tmp_path) as fleet:
            ends = await sent(fleet, new)
            worker = fleet.start()
            await until_read(fleet, ends, before)
            assert losses(worker) == {"cluster": 5 * fleet.settings.partitions}
            same_figures(fleet.settings, [*old, *new], tmp_path)
