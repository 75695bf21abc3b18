"""`lara doctor` on a real Kafka and a real Redis: the same of the events as from their file, and the services."""

import time

import msgspec
from redis import Redis

from attribution.parsing import Rejected, parse
from attribution.semantics import Semantics
from streams.commands.doctor import of_files, of_live
from streams.commands.doctor_diagnosis import Diagnosis
from streams.commands.simulator import COVERAGE, simulate
from streams.connections import store_of
from streams.settings import Settings
from streams.state.drive import drive
from streams.topics import DAY_MS, create_topics
from tests.live.fleet import settings_for

START = 1_772_445_600_000
END = START + 26 * 3_600_000
OF_LINES = {"invalid", "duplicates"}  # known of files only
OF_SERVICES = {
    "replication",
    "topics_missing",
    "nothing_settled",
    "redis_memory_unlimited",
    "counted_by_workers",
}


def graded(diagnosis: Diagnosis) -> dict[str, str]:
    return {one.name: one.severity for one in diagnosis.findings}


async def settled(settings: Settings, values: list[bytes]) -> None:
    """Settle events into the live state, as a worker would whose newest event is an hour ahead."""
    store = store_of(settings)
    term = await store.open()
    events = [event for event in map(parse, values) if not isinstance(event, Rejected)]
    for start in range(0, len(events), 1000):
        await drive(events[start : start + 1000], settings.semantics, store, term, "token")
    ahead = int((time.time() + 3600) * 1000)
    await store.advance({}, term, {"prompt": (ahead, ahead)})
    await store.close()


async def test_the_live_state_says_of_events_what_their_file_says(bootstrap, redis_url, prefix, tmp_path):
    """Ladder, missing fields and findings, with their examples; and what is unsafe of each service."""
    settings = settings_for(bootstrap, redis_url, prefix)
    empty = await of_live(settings)
    assert set(graded(empty)) == OF_SERVICES
    missing = next(one for one in empty.findings if one.name == "topics_missing")
    assert (missing.count, empty.records is not None) == (8, True)

    made, _ = simulate(seed=4, start_ms=START, end_ms=END, prompts=150, rates=COVERAGE)
    values = [one.value for one in made if one.value and b"\n" not in one.value]
    file = tmp_path / "simulated.jsonl"
    file.write_bytes(b"\n".join(values))
    await settled(settings, values)
    await create_topics(bootstrap, prefix, settings.partitions, DAY_MS)
    live, of_file = await of_live(settings), await of_files(settings, [file])
    assert (live.ladder, live.missing, live.records) == (of_file.ladder, of_file.missing, of_file.records)
    of_events = [one for one in of_file.findings if one.name not in OF_LINES]
    assert [one for one in live.findings if one.name in graded(of_file)] == of_events
    assert graded(live).keys() - graded(of_file).keys() == {
        *(OF_SERVICES - {"topics_missing", "nothing_settled"}),
        "topics_single",
        "topics_retention",
        "topics_retention_other",
        "topics_segment_ms",
        "ahead",
    }
    assert graded(live)["topics_retention"] == "problem"


async def test_a_state_of_other_settings_and_a_careless_server_are_told(bootstrap, redis_url, prefix):
    """Nothing is opened for it: the worker of tomorrow would refuse, the doctor of today says so."""
    settings = settings_for(bootstrap, redis_url, prefix)
    await settled(settings, [])
    other = settings.model_copy(update={"surfaces": ("chat",)})
    assert other.semantics != Semantics()
    with Redis.from_url(redis_url) as client:
        client.config_set("appendfsync", "no")
        try:
            found = graded(await of_live(other))
        finally:
            client.config_set("appendfsync", "everysec")
    assert found["other_meaning"] == "problem"
    assert found["redis_appendfsync"] == "warning"
    assert msgspec.json.encode(await of_live(other))
