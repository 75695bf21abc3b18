"""Day and night: restarts without a gap, honest health, an end with a reason, and logs that tell nobody's secrets."""

import asyncio
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from aiokafka import AIOKafkaProducer
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from attribution.outputs import DEADLETTERS
from attribution.parsing import FORMS
from streams.commands.replay import KINDS, Record, send
from streams.commands.simulator import DEMO, lines, simulate
from streams.services import HOST, free_port, redis
from streams.settings import Settings
from streams.state.keys import Keys
from streams.topics import input_topics, output_topics
from tests.live.fleet import (
    LARA,
    Fleet,
    Worker,
    environment_of,
    figures_of,
    lara,
    settings_for,
    start_lara,
    whole_topic,
)
from tests.live.test_main_job import END, simulated

HOUR_MS = 3_600_000
Figures = dict[tuple, float]


def asked(port: int, path: str) -> tuple[int, str]:
    """Status and body; status 0 where nobody listens."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}{path}", timeout=15) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


async def until_ready(port: int, ready: bool = True, why: str = "", seconds: float = 60) -> str:
    """The reason, once a process says that it is ready, or no longer is, and why."""
    deadline = time.monotonic() + seconds
    while True:
        status, body = await asyncio.to_thread(asked, port, "/readyz")
        if status == (200 if ready else 503) and why in body:
            return body.strip()
        assert time.monotonic() < deadline, f"still {status}: {body}"
        await asyncio.sleep(0.1)


# --- rolling restart --------------------------------------------------------------------------------


def scraped(port: int) -> Figures:
    """The quality figures of one scrape."""
    _, page = asked(port, "/metrics")
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(page)
        for one in family.samples
        if not one.name.startswith("lara_exporter")
    }


def of_7_days(figures: Figures) -> set[tuple]:
    return {key for key in figures if ("window", "7d") in key[1]}


def total(figures: Figures, name: str, **labels: str) -> float:
    """A count over the last 7 days."""
    wanted = {("window", "7d"), *labels.items()}
    return sum(value for (found, given), value in figures.items() if found == name and wanted <= set(given))


COUNTS = {"lara_prompts": {}, "lara_retrievals": {"cohort": "live"}, "lara_actions": {}}


async def watched(port: int, scrapes: list[Figures]) -> None:
    """Scrape all along."""
    while True:
        scrapes.append(await asyncio.to_thread(scraped, port))
        await asyncio.sleep(0.3)


def check_no_gap(scrapes: list[Figures]) -> None:
    """Whatever was shown stays, and counts of things that only come never go down."""
    for before, after in pairwise(scrapes):
        assert of_7_days(before) <= of_7_days(after)
        for name, labels in COUNTS.items():
            assert total(before, name, **labels) <= total(after, name, **labels)
    rising = [total(figures, "lara_prompts") for figures in scrapes]
    assert len(set(rising)) > 10, "nothing was happening"


@pytest.mark.prove
async def test_a_rolling_restart_leaves_no_gap_and_two_exporters_agree(
    bootstrap, redis_url, prefix, tmp_path
):
    """Two workers replaced one after the other under load: figures only grow, and end as the backtest's."""
    now = int(time.time() * 1000)
    # Nothing that is corrected later: synthetic, revised, under the same id, or found to be misrouted. What
    # belonged to another label set, or to Layer 1, leaves it again, as it must.
    rates = replace(DEMO, synthetic=0.0, excluded=0.0, revised=0.0, conflicting=0.0, intended=0.0)
    made, _ = simulate(seed=31, start_ms=now - 20 * HOUR_MS, end_ms=now - HOUR_MS, prompts=2500, rates=rates)
    records = [Record(KINDS[one.topic_type], one.value, one.ts, one.key) for one in made]
    ports = (free_port(), free_port())
    settings = settings_for(bootstrap, redis_url, prefix)
    logs = [tmp_path / "exporter-0.log", tmp_path / "exporter-1.log"]
    exporters = [settings.model_copy(update={"exporter_port": port}) for port in ports]
    with start_lara(exporters[0], "exporter", log=logs[0]), start_lara(exporters[1], "exporter", log=logs[1]):
        async with Fleet(settings, tmp_path) as fleet:
            old = [fleet.start(), fleet.start()]
            await fleet.until_shared()
            await until_ready(ports[0])
            scrapes: list[Figures] = []
            watching = asyncio.create_task(watched(ports[0], scrapes))
            sending = asyncio.create_task(send(bootstrap, prefix, records, len(records) / 60))
            await asyncio.sleep(4)
            for worker in old:
                await replaced(fleet, worker)
            assert not sending.done(), "replaced under load"
            await fleet.until_drained(await sending)
            watching.cancel()
            check_no_gap(scrapes)
            await agreed(ports)
            file = tmp_path / "sent.jsonl"
            file.write_bytes(b"\n".join(lines(records)))
            live = figures_of(lara(settings, "report", "--json", "--as-of", str(now)))
            assert live == figures_of(lara(settings, "backtest", "--json", "--as-of", str(now), str(file)))


async def replaced(fleet: Fleet, worker: Worker) -> None:
    """The old one goes within 10 s, and the new one is ready before the next is asked to go."""
    began = time.monotonic()
    assert await asyncio.to_thread(worker.terminate, 10) == 0
    left = time.monotonic() - began
    reason = await until_ready(fleet.start().port)
    print(f"left after {left:.1f} s, replaced after {time.monotonic() - began:.1f} s: {reason}")


async def agreed(ports: tuple[int, int]) -> None:
    """Both exporters show the same within one minute, to the last digit."""
    while True:
        minute = time.time() // 60
        first, second = [quality(await asyncio.to_thread(scraped, port)) for port in ports]
        if time.time() // 60 == minute:
            assert len(first) > 100
            assert first == second
            return


def quality(figures: Figures) -> Figures:
    """What is read from the state: an exporter's audit is its own, and the server's memory is of the moment."""
    return {
        row: value for row, value in figures.items() if not row[0].startswith(("lara_audit_", "lara_redis_"))
    }


# --- health -----------------------------------------------------------------------------------------


async def test_a_worker_says_how_it_is_from_start_to_stop(bootstrap, prefix, tmp_path):
    """Joining, idle, waiting for Redis without ending, at work again, stopping: each with its reason."""
    with redis(tmp_path / "redis") as server:
        settings = settings_for(bootstrap, f"redis://{HOST}:{server.port}", prefix)
        settings = settings.model_copy(update={"stall_seconds": 5.0})
        async with Fleet(settings, tmp_path) as fleet:
            worker = fleet.start()
            assert "no partition is assigned" in await until_ready(worker.port, ready=False)
            assert await until_ready(worker.port) == "idle: 20 partitions are read to their end"
            assert asked(worker.port, "/livez")[0] == 200
            server.kill()
            assert "Redis does not do its part" in await until_ready(worker.port, ready=False)
            records = simulated(seed=41, prompts=60)
            ends = await send(bootstrap, prefix, records)
            await asyncio.sleep(12)
            assert worker.process.poll() is None, "a worker that waits does not end"
            assert asked(worker.port, "/livez")[0] == 200
            page = asked(worker.port, "/metrics")[1]
            assert 'lara_out_of_reach{service="Redis"} 1.0' in page
            assert float(page.split("\nlara_stalled_seconds ")[1].split()[0]) > 5
            server.start()
            await fleet.until_drained(ends)
            await until_ready(worker.port, why="idle")
            assert "\nlara_stalled_seconds 0.0\n" in asked(worker.port, "/metrics")[1]
            worker.process.terminate()
            assert await until_ready(worker.port, ready=False) == "stopping"
            assert worker.process.wait(10) == 0


async def test_an_exporter_is_ready_while_it_can_read_the_state(prefix, tmp_path):
    """It stays alive without it, since it still says that it is down."""
    with redis(tmp_path / "redis") as server:
        port = free_port()
        settings = Settings(redis_url=f"redis://{HOST}:{server.port}", prefix=prefix, exporter_port=port)
        with start_lara(settings, "exporter", log=tmp_path / "exporter.log"):
            assert await until_ready(port) == "the state can be read"
            server.kill()
            assert "connect" in (await until_ready(port, ready=False)).lower()
            assert asked(port, "/livez") == (200, "serving\n")
            server.start()
            await until_ready(port)


async def test_a_worker_that_gets_on_with_nothing_ends_and_says_why(bootstrap, prefix, tmp_path):
    """Redis answers, but its functions are gone: code 75 after the stall limit; the next worker does it all."""
    with redis(tmp_path / "redis") as server:
        settings = settings_for(bootstrap, f"redis://{HOST}:{server.port}", prefix)
        settings = settings.model_copy(update={"stall_seconds": 5.0})
        async with Fleet(settings, tmp_path) as fleet:
            worker = fleet.start()
            await until_ready(worker.port)
            with Redis(port=server.port) as client:
                client.function_delete("lara_1")
            ends = await send(bootstrap, prefix, simulated(seed=42, prompts=60))
            assert await asyncio.to_thread(worker.process.wait, 60) == 75
            said = (tmp_path / "worker-0.log").read_text()
            (reason,) = [json.loads(line)["reason"] for line in said.splitlines() if "no progress" in line]
            assert "records are left in 20 partitions" in reason
            assert "Function not found" in reason
            assert "FCALL" not in said, "the arguments of a call are events"
            worker.process.returncode = 0  # expected: the fleet minds only workers that end unasked
            fleet.start()
            await fleet.until_drained(ends)


# --- skew of versions -------------------------------------------------------------------------------


@contextmanager
def state_of_a_newer_version(redis_url: str, settings: Settings) -> Iterator[None]:
    """A state with a form that this version does not know."""
    with Redis.from_url(redis_url, decode_responses=True) as client:
        for number in range(settings.shards):
            base = Keys(settings.prefix, settings.shards).base(number)
            meaning = json.dumps({"form": 2, "what": "nobody here can read"})
            client.hset(f"{base}:meta", mapping={"meaning": meaning, "run_id": "another", "floor": "7"})
        before = {key: client.hgetall(key) for key in client.scan_iter(f"{settings.prefix}:*")}
        yield
        assert {key: client.hgetall(key) for key in client.scan_iter(f"{settings.prefix}:*")} == before


async def test_a_newer_state_is_refused_in_a_sentence_by_all_and_left_as_it_is(
    bootstrap, redis_url, prefix, tmp_path
):
    """Worker, report and explanation end with code 1; the exporter goes on without figures, and says why."""
    port = free_port()
    settings = settings_for(bootstrap, redis_url, prefix).model_copy(update={"exporter_port": port})
    sentence = "the state has form 2, of newer lara than this one (form 1): run the version that wrote it"
    with state_of_a_newer_version(redis_url, settings):
        for arguments in (["worker"], ["report"], ["explain", "retrieval", "r1"]):
            code, said = await ended(settings, *arguments)
            assert (code, sentence in said) == (1, True), (arguments, said)
        with start_lara(settings, "exporter", log=tmp_path / "exporter.log"):
            assert sentence in await until_ready(port, ready=False)
            status, page = asked(port, "/metrics")
            assert (status, "lara_exporter_up 0.0" in page, "lara_retrievals{" in page) == (200, True, False)
        assert sentence in (tmp_path / "exporter.log").read_text()


async def ended(settings: Settings, *arguments: str) -> tuple[int, str]:
    """Exit code and errors of a command."""
    environment = {**os.environ, **environment_of(settings), "LARA_WORKER_PORT": "0"}
    process = await asyncio.create_subprocess_exec(
        *LARA, *arguments, env=environment, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(60):
        _, said = await process.communicate()
    return process.returncode, said.decode()


# --- privacy ----------------------------------------------------------------------------------------

SECRET = "what-a-user-wrote"
KNOWN = "an-id-of-somebody"
BASE = {
    "prompt": {"request_id": "q", "session_guid": KNOWN, "text": SECRET},
    "retrieval": {"retrieval_id": "r", "session_guid": KNOWN, "query": SECRET, "returned_asset_ids": [KNOWN]},
    "placement": {"placement_id": "p", "document_id": KNOWN, "asset_id": KNOWN},
    "action": {"actor": "user", "action": "export", "session_guid": KNOWN, "source_retrieval_id": "r"},
    "judgement": {"kind": "relevance", "query": SECRET, "asset_id": KNOWN, "grade": 1},
}


def telling() -> Iterator[tuple[str, bytes]]:
    """Events with somebody's words in every field: valid, invalid in each field, in conflict, and no JSON."""
    for kind, fields in BASE.items():
        event = {"type": kind, "ts": END - HOUR_MS, "user_id": f"user-{KNOWN}", **fields, SECRET: SECRET}
        yield kind, msgspec.json.encode(event)
        yield kind, msgspec.json.encode({**event, "event_id": "other", "ts": END - HOUR_MS + 1})
        yield kind, msgspec.json.encode({**event, "ts": 1})  # late
        for name in FORMS[kind].converters:
            for wrong in ({SECRET: SECRET}, [[SECRET]], SECRET * 300):
                yield kind, msgspec.json.encode({**event, name: wrong})
        yield kind, f'{{"type": "{kind}", "text": "{SECRET}'.encode()
        yield kind, f'{{"type": "{SECRET}"}}'.encode()
        yield kind, f'["{SECRET}"]'.encode()
        yield kind, SECRET.encode() + b"\xff"
        yield kind, msgspec.json.encode({"type": kind, "text": SECRET, "user_id": f"user-{KNOWN}"})


async def test_neither_logs_nor_dead_letters_tell_what_users_wrote_or_who_they_are(
    bootstrap, redis_url, prefix, tmp_path
):
    """Of all a worker writes, and of all it drops; a dead letter of a reused id holds that id, and no more."""
    settings, topics = settings_for(bootstrap, redis_url, prefix), input_topics(prefix)
    async with Fleet(settings, tmp_path) as fleet:
        worker, ends = fleet.start(), {}
        async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
            for kind, value in telling():
                done = await producer.send_and_wait(
                    topics[KINDS[kind]],
                    value,
                    SECRET.encode(),
                    headers=[("who", KNOWN.encode())],
                    timestamp_ms=END - HOUR_MS,
                )
                ends[done.topic, done.partition] = done.offset + 1
        await fleet.until_drained(ends)
        assert worker.terminate() == 0
        letters = await whole_topic(bootstrap, output_topics(prefix)[DEADLETTERS])
        reasons = {json.loads(letter.value)["reason"] for letter in letters}
        assert reasons >= {
            "not_json",
            "not_an_object",
            "unknown_type",
            "missing_field",
            "late",
            "retrieval_id_reused",
        }
        written = b"\n".join(part for letter in letters for part in (letter.key, letter.value))
        for told in (written, (tmp_path / "worker-0.log").read_bytes()):
            assert SECRET.encode() not in told
            assert KNOWN.encode() not in told
