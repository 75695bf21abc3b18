"""The topics, as one table, and their creation.

Rules
1. All topics have the same number of partitions: Faust assigns partition n of every input to one worker.
2. Kafka retains by the record's timestamp, which is the event's own time. Input is kept for the attribution
   horizon and the worst outage (`RETENTION_MS`). Whoever replays old events needs retention `FOREVER`, or
   the broker deletes them soon after they came, and the log then starts beyond the watermark.
3. A jump forward of more than `segment.ms` between the timestamps of a partition begins a new file, so it is
   set to the retention: a replay or a backlog makes few files. Quiet partitions may be kept twice as long.
4. A broker refuses timestamps off its own clock by more than `before` or `after`. Nothing is too old. A day
   ahead is taken (Kafka 4 by itself takes an hour): a clock in the wrong time zone must not cost events, and
   a wrong century must not keep a file for ever.
5. In a compacted topic the newest record of a key is the truth; it grows with the keys.
6. A topic that exists is left as it is; what differs from the table is reported, for `doctor` to show.

The embedded broker (Tansu) takes every setting and every replication factor, and follows few. It also creates
a topic that is merely asked for, with a number of partitions of its own: create before use.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from streams.brokers import Brokers, client_options

DAY_MS = 86_400_000
RETENTION_MS = (30 + 14) * DAY_MS  # attribution horizon + worst outage
FOREVER = -1
LONGEST_MS = 2**63 - 1
LEADER_SECONDS = 10.0  # how long a new topic may take to get its leaders
POLL_SECONDS = 0.1
ANSWER_MS = 10_000  # how long a broker that is only looked at may take for one answer


class Topic(NamedTuple):
    kind: str
    is_input: bool
    cleanup: str  # delete: by age; compact: the newest of each key stays


TOPICS = (
    Topic("prompts", True, "delete"),
    Topic("retrievals", True, "delete"),
    Topic("placements", True, "delete"),
    Topic("actions", True, "delete"),
    Topic("judgements", True, "delete"),
    Topic("attributions", False, "compact"),
    Topic("outcomes", False, "compact"),
    Topic("deadletters", False, "delete"),
)


class TopicReport(NamedTuple):
    created: tuple[str, ...]
    existing: tuple[str, ...]
    differing: tuple[str, ...]  # sentences, on existing topics only


class Difference(NamedTuple):
    """A setting of an existing topic that is not as the table has it."""

    topic: str
    setting: str
    found: str
    wanted: str

    @property
    def sentence(self) -> str:
        return f"{self.topic}: {self.setting} is {self.found}, wanted {self.wanted}"


class Existing(NamedTuple):
    """A topic as it is: its partitions, the fewest replicas of one of them, and its configuration."""

    name: str
    partitions: int
    replicas: int
    configuration: Mapping[str, str]


def input_topics(prefix: str) -> dict[str, str]:
    return {topic.kind: f"{prefix}.{topic.kind}" for topic in TOPICS if topic.is_input}


def output_topics(prefix: str) -> dict[str, str]:
    return {topic.kind: f"{prefix}.{topic.kind}" for topic in TOPICS if not topic.is_input}


def configuration(topic: Topic, retention_ms: int, replication: int) -> dict[str, str]:
    common = {
        "cleanup.policy": topic.cleanup,
        "message.timestamp.type": "CreateTime",
        "message.timestamp.before.max.ms": str(LONGEST_MS),
        "message.timestamp.after.max.ms": str(DAY_MS),
        "min.insync.replicas": str(max(1, replication - 1)),  # one broker may be missing
    }
    if topic.cleanup == "compact":
        return common
    segment_ms = LONGEST_MS if retention_ms == FOREVER else retention_ms
    return {**common, "retention.ms": str(retention_ms), "segment.ms": str(segment_ms)}


def wanted_topics(prefix: str, retention_ms: int, replication: int) -> dict[str, dict[str, str]]:
    """Every topic by its name, with the configuration it should have."""
    return {f"{prefix}.{topic.kind}": configuration(topic, retention_ms, replication) for topic in TOPICS}


def differences(existing: Existing, wanted: Mapping[str, str]) -> list[Difference]:
    """Where the configuration of a topic is not as wanted."""
    return [
        Difference(existing.name, setting, found, wanted[setting])
        for setting, found in existing.configuration.items()
        if wanted.get(setting, found) != found
    ]


@asynccontextmanager
async def _admin(brokers: Brokers | str, **options: int) -> AsyncIterator[Any]:
    admin = AIOKafkaAdminClient(**client_options(brokers), **options)
    try:
        await admin.start()
        yield admin
    finally:
        await admin.close()


async def existing_topics(brokers: Brokers | str, prefix: str) -> list[Existing]:
    """The topics of the table that exist. It creates none: it asks for no name that is not there."""
    async with _admin(brokers, request_timeout_ms=ANSWER_MS) as admin:
        there = {topic["topic"]: topic["partitions"] for topic in await admin.describe_topics()}
        names = [name for name in (f"{prefix}.{topic.kind}" for topic in TOPICS) if name in there]
        found = await _configurations(admin, names)
    replicas = {name: [len(part["replicas"]) for part in there[name]] for name in names}
    return [
        Existing(name, len(replicas[name]), min(replicas[name], default=0), found.get(name, {}))
        for name in names
    ]


async def create_topics(
    brokers: Brokers | str,
    prefix: str,
    partitions: int,
    retention_ms: int = RETENTION_MS,
    replication: int = 1,
) -> TopicReport:
    """Create what is missing, wait for its leaders, and compare what was there."""
    wanted = wanted_topics(prefix, retention_ms, replication)
    async with _admin(brokers) as admin:
        new = [NewTopic(name, partitions, replication, topic_configs=conf) for name, conf in wanted.items()]
        created = _created((await admin.create_topics(new)).topic_errors)
        found = await _with_leaders(admin, list(wanted))
        existing = [name for name in wanted if name not in created]
        configured = await _configurations(admin, existing)
    differing = [
        difference.sentence
        for name, settings in configured.items()
        for difference in differences(Existing(name, found[name], 0, settings), wanted[name])
    ]
    uneven = [
        f"{name}: {found[name]} partitions, wanted {partitions}"
        for name in existing
        if found[name] != partitions
    ]
    return TopicReport(tuple(created), tuple(existing), (*uneven, *differing))


def _created(answers: Sequence[tuple[str, int, str | None]]) -> list[str]:
    refused = [answer for answer in answers if answer[1] not in (0, TopicAlreadyExistsError.errno)]
    if refused:
        raise for_code(refused[0][1])("; ".join(f"{name}: {message}" for name, _, message in refused))
    return [name for name, code, _ in answers if code == 0]


async def _with_leaders(admin: Any, names: Collection[str]) -> dict[str, int]:
    """The number of partitions of each topic, once all of them have leaders."""
    try:
        async with asyncio.timeout(LEADER_SECONDS):
            while True:
                found = {topic["topic"]: topic["partitions"] for topic in await admin.describe_topics(names)}
                if all(parts and all(part["leader"] >= 0 for part in parts) for parts in found.values()):
                    return {name: len(parts) for name, parts in found.items()}
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise KafkaError(f"no leaders after {LEADER_SECONDS:.0f} s for all of {', '.join(names)}") from None


async def _configurations(admin: Any, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """The whole configuration of each topic."""
    if not names:
        return {}
    answers = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in names])
    resources = [resource for answer in answers for resource in answer.resources]
    return {name: {key: value for key, value, *_ in entries} for _, _, _, name, entries in resources}
