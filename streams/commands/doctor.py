"""`lara doctor`: which figures the logged fields allow, what is wrong with the events, and what is unsafe.

Rules:
- Files are settled as `backtest` does; without files the live state is read, entity by entity, and Redis, the
  topics and the settings are looked at too.
- A service that does not answer is a finding, and the rest is still told.
- A problem ends the command with code 1, so that it can stand in the way of a deployment.
"""

import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from aiokafka.errors import KafkaError
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError
from rich.console import Console

from attribution.parsing import Rejected, parse
from streams.commands.doctor_diagnosis import Diagnosis, diagnosis_of
from streams.commands.doctor_entities import Examiner
from streams.commands.doctor_findings import NOTE, PROBLEM, WARNING, Finding, by_severity, findings_of
from streams.commands.doctor_notes import EXAMPLES
from streams.commands.doctor_page import page
from streams.commands.doctor_services import found, redis_findings, settings_findings
from streams.commands.doctor_topics import topic_findings
from streams.commands.source import source
from streams.connections import reader_of, server_of
from streams.settings import Settings
from streams.state.meaning import OtherMeaning
from streams.topics import existing_topics

AHEAD_SECONDS: Final = 300  # of the clock here; workers count such events in lara_events_ahead_total


async def doctor(settings: Settings, files: Sequence[Path], as_json: bool) -> None:
    """Print the diagnosis; ends with exit code 1 if there is a problem."""
    diagnosis = await (of_files(settings, files) if files else of_live(settings))
    if as_json:
        sys.stdout.write(msgspec.json.encode(diagnosis).decode() + "\n")
    else:
        Console(highlight=False).print(page(diagnosis))
    if diagnosis.problems:
        sys.exit(1)


async def of_files(settings: Settings, files: Sequence[Path]) -> Diagnosis:
    """What the events of some files have to say."""
    async with source(settings, files) as read:
        notes = await Examiner(settings.semantics).read(read)
    findings = findings_of(notes, read.intake)
    if read.intake is not None and read.intake.reasons:
        lines = _invalid_lines(files)
        findings = [
            msgspec.structs.replace(one, examples=lines) if one.name == "invalid" else one for one in findings
        ]
    return diagnosis_of("files", read.intake, notes, findings)


def _invalid_lines(files: Sequence[Path]) -> tuple[str, ...]:
    """The first lines that are no events, and why: they have no id to be found by."""
    told: list[str] = []
    for file in files:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if len(told) == EXAMPLES:
                    return tuple(told)
                if line.strip() and isinstance(rejected := parse(line.strip()), Rejected):
                    told.append(f"{file.name}:{number} {rejected.detail}")
    return tuple(told)


async def of_live(settings: Settings) -> Diagnosis:
    """What the live state has to say, and what of the services is unsafe."""
    findings = [*settings_findings(settings), *[one async for one in _kafka(settings)]]
    notes = None
    try:
        findings += [one async for one in _redis(settings)]
        findings += _state(settings, time.time())
        async with source(settings, (), any_meaning=True) as read:
            notes = await Examiner(settings.semantics).read(read)
    except (RedisError, OSError) as error:
        findings.append(
            found(
                "redis_out_of_reach",
                PROBLEM,
                f"Redis does not answer: {error}",
                "Look at Redis and at LARA_REDIS_URL; nothing is known of the events without it.",
            )
        )
    of_events = findings_of(notes, None) if notes is not None else []
    return diagnosis_of("live", None, notes, by_severity([*findings, *of_events]))


async def _kafka(settings: Settings) -> AsyncIterator[Finding]:
    try:
        existing = await existing_topics(settings.brokers, settings.prefix)
    except (KafkaError, OSError) as error:
        do = "Look at Kafka and at LARA_BOOTSTRAP; nothing is known of the topics without it."
        yield found("kafka_out_of_reach", PROBLEM, f"Kafka does not answer: {error}", do)
        return
    for finding in topic_findings(existing, settings):
        yield finding


async def _redis(settings: Settings) -> AsyncIterator[Finding]:
    async with server_of(settings) as server:
        for finding in redis_findings(await server.info(), await _appendfsync(server)):
            yield finding


async def _appendfsync(server: Redis) -> str | None:
    """None where the server does not tell: managed ones often do not."""
    try:
        return (await server.config_get("appendfsync")).get("appendfsync")
    except ResponseError:
        return None


def _state(settings: Settings, now_seconds: float) -> Iterator[Finding]:
    """How the state agrees with these settings and this clock, and what it does not hold."""
    reader = reader_of(settings)
    try:
        reader.sums([])  # compares the settings that change figures
    except OtherMeaning as error:
        do = "Give all processes the same settings; docs/operating.md says how to count anew."
        yield found("other_meaning", PROBLEM, str(error), do)
    fresh = reader.freshness()
    reader.close()
    if not fresh:
        what = "no event was ever settled"
        yield found(
            "nothing_settled", WARNING, what, "Start a worker, and look whether events arrive in Kafka."
        )
    ahead = [topic for topic, (event, _) in fresh.items() if (event or 0) > now_seconds + AHEAD_SECONDS]
    if ahead:
        what = "the newest event is more than 5 minutes ahead of this clock: it counts when its time comes"
        yield found("ahead", WARNING, what, "Compare the clocks; see lara_events_ahead_total.", ahead)
    what = "invalid, late, duplicate and early events leave no trace in the state: workers count them"
    do = f"See lara_events_total, lara_events_ahead_total, and the topic {settings.prefix}.deadletters."
    yield found("counted_by_workers", NOTE, what, do)
