"""What leaves lara: records for the output topics, sent with acknowledgement by all replicas.

Rules:
- Every record is JSON, has a key and a `version`; the newest version of a key is the truth.
- A dead letter never carries the value it is about, unless `deadletter_payloads` is on.
- No record is longer than `LARGEST_BYTES`: one that nobody takes would be sent for ever. Its largest fields
  are left out, and named in `left_out`. A dead letter without its value still says where that lies.
"""

import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from aiokafka.structs import ConsumerRecord

from attribution.corrections import Correction
from attribution.entities import Entity
from attribution.outputs import DEADLETTERS, Attribution, Outcome, Output, Record, Reused
from attribution.parsing import Rejected
from streams.brokers import Brokers, client_options
from streams.topic_logs import Logs

LARGEST_BYTES: Final = 1_000_000  # brokers and producers take 1 MiB by default, with key and headers


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is no event, or came too late (topic `deadletters`, key `sha256`)."""

    reason: str
    detail: str
    type: str
    topic: str
    partition: int
    offset: int
    sha256: str
    version: int = 0
    value: str | msgspec.UnsetType = msgspec.UNSET


class Letter(NamedTuple):
    """One record to be sent: the output's topic by its short name, key and value."""

    topic: str
    key: bytes
    value: bytes


class Said(NamedTuple):
    """What was published once: the output's topic by its short name, the key and the version."""

    topic: str
    key: str
    version: int


class _Versioned(msgspec.Struct):
    version: int = 0


def said(letter: Letter) -> Said:
    """Which version of what a letter holds; of one that somebody else wrote, version 0."""
    try:
        version = msgspec.json.decode(letter.value, type=_Versioned).version
    except msgspec.MsgspecError:
        version = 0
    return Said(letter.topic, letter.key.decode(), version)


class Publisher(Protocol):
    """Whatever can send letters."""

    async def publish(self, letters: Sequence[Letter]) -> None:
        """Send and wait until all are acknowledged. Raises `aiokafka.errors.KafkaError`."""

    def since(self, ms: int) -> AsyncIterator[Said]:
        """Every letter published at or after a time. Raises `KafkaError`."""


class KafkaPublisher:
    """A `Publisher` on Kafka. `topics` maps short names (`outcomes`) to topics."""

    def __init__(self, brokers: Brokers | str, topics: Mapping[str, str], *, idempotent: bool = True) -> None:
        self._brokers = brokers
        self._topics = topics
        self._producer: Any = AIOKafkaProducer(
            **client_options(brokers),
            acks="all",
            enable_idempotence=idempotent,
            linger_ms=5,
            compression_type="gzip",
        )

    async def start(self) -> None:
        """Connect. Raises `KafkaError`."""
        try:
            await self._producer.start()
        except KafkaError:
            await self._producer.stop()
            raise

    async def publish(self, letters: Sequence[Letter]) -> None:
        """As `Publisher.publish`."""
        sent = [await self._producer.send(self._topics[one.topic], one.value, one.key) for one in letters]
        for acknowledgement in sent:
            await acknowledgement

    async def since(self, ms: int) -> AsyncIterator[Said]:
        """As `Publisher.since`, by the timestamps that the producers gave."""
        names = {topic: short for short, topic in self._topics.items()}
        async with Logs(self._brokers) as logs:
            stretches = await logs.since(await logs.partitions(names), ms)
            async for record in logs.records(stretches):
                yield said(Letter(names[record.topic], record.key or b"", record.value or b"{}"))

    async def stop(self) -> None:
        """Send what is on its way and disconnect."""
        await self._producer.stop()


def letters_of(
    outputs: Iterable[Output], entity: Entity, correction: Correction | None = None
) -> list[Letter]:
    """An entity's outputs with its version, and with what they correct."""
    return [
        Letter(topic, key.encode(), _fitting(_versioned(record, entity.version, correction)))
        for topic, key, record in outputs
    ]


def _versioned(record: Record, version: int, correction: Correction | None) -> Record:
    if isinstance(record, Reused):
        return msgspec.structs.replace(record, version=version)
    return msgspec.structs.replace(record, version=version, replaces=correction)


def _fitting(record: Record) -> bytes:
    """The record as JSON, without its largest fields if it is too long."""
    value = msgspec.json.encode(record)
    while len(value) > LARGEST_BYTES and isinstance(record, Attribution | Outcome):
        record = _without_the_largest(record)
        value = msgspec.json.encode(record)
    return value


def _without_the_largest(record: Attribution | Outcome) -> Attribution | Outcome:
    fields = [one for one in msgspec.structs.fields(record) if one.name not in record.left_out]
    largest = max(fields, key=lambda one: len(msgspec.json.encode(getattr(record, one.name))))
    left_out = (*record.left_out, largest.name)
    return msgspec.structs.replace(record, **{largest.name: _empty(largest), "left_out": left_out})


def _empty(field: msgspec.structs.FieldInfo) -> Any:
    if field.required:  # ids are short: it is a text
        return ""
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def evidence_delays(records: Iterable[object]) -> list[tuple[float, str]]:
    """Seconds from a retrieval to each action credited to it, and its id, where both are announced together.

    A retrieval is announced whenever an action is newly credited to it, so that each credit counts once.
    """
    records = list(records)
    fired = {one.retrieval_id: one.ts for one in records if isinstance(one, Outcome)}
    return [
        ((one.ts - ts) / 1000, retrieval_id)
        for one in records
        if isinstance(one, Attribution)
        for retrieval_id in one.retrieval_ids
        if (ts := fired.get(retrieval_id)) is not None
    ]


def dead_letter(record: ConsumerRecord[Any, Any], rejected: Rejected, with_payload: bool) -> Letter:
    """The dead letter of a record that is no event, or came too late."""
    value: bytes = record.value or b""
    sha256 = hashlib.sha256(value).hexdigest()
    body = Rejection(
        reason=rejected.reason,
        detail=rejected.detail,
        type=rejected.event_type,
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        sha256=sha256,
    )
    letter = Letter(DEADLETTERS, sha256.encode(), msgspec.json.encode(body))
    if not with_payload:
        return letter
    whole = msgspec.structs.replace(body, value=value.decode("utf-8", "backslashreplace"))
    encoded = msgspec.json.encode(whole)
    return letter._replace(value=encoded) if len(encoded) <= LARGEST_BYTES else letter
