"""The logs of topics as an operator looks at them: where they begin and end, and the records in them.

Rules:
- It belongs to no group and commits nothing: looking moves no worker.
- It asks for no topic that is not there: some brokers create what is asked for.
- A record is looked up by its offset; one that retention or compaction took is absent, not another one.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.structs import ConsumerRecord

from streams.brokers import Brokers, client_options
from streams.resume import Bounds
from streams.state.store import Partition

WAIT_MS: Final = 500
RECORD_POLLS: Final = 20  # looks at the log for one record, before it counts as absent


class Logs:
    """Used as a context. Raises `KafkaError`."""

    def __init__(self, brokers: Brokers | str) -> None:
        self._brokers = brokers
        self._consumer: Any = AIOKafkaConsumer(
            **client_options(brokers), enable_auto_commit=False, isolation_level="read_committed"
        )
        self._assigned: frozenset[Partition] = frozenset()

    async def __aenter__(self) -> "Logs":
        try:
            await self._consumer.start()
        except BaseException:
            await self._consumer.stop()
            raise
        await asyncio.sleep(0)  # aiokafka cannot stop a task that has not begun
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()

    async def partitions(self, topics: Collection[str]) -> list[Partition]:
        """The partitions of those of these topics that exist."""
        admin: Any = AIOKafkaAdminClient(**client_options(self._brokers))
        await admin.start()
        try:
            there = {one["topic"]: one["partitions"] for one in await admin.describe_topics()}
        finally:
            await admin.close()
        numbers = {topic: sorted(one["partition"] for one in there.get(topic, ())) for topic in topics}
        return [Partition(topic, number) for topic, found in numbers.items() for number in found]

    async def bounds(self, partitions: Collection[Partition]) -> dict[Partition, Bounds]:
        """Where the log of each partition begins and ends now."""
        wanted = [TopicPartition(*one) for one in partitions]
        starts: Mapping[Any, int] = await self._consumer.beginning_offsets(wanted)
        ends: Mapping[Any, int] = await self._consumer.end_offsets(wanted)
        return {Partition(*one): Bounds(starts[one], ends[one]) for one in wanted}

    async def record_at(self, partition: Partition, offset: int) -> ConsumerRecord[Any, Any] | None:
        """The record with this offset, if it is still there."""
        found = await self.first_record(partition, offset)
        return found if found is not None and found.offset == offset else None

    async def first_record(self, partition: Partition, offset: int) -> ConsumerRecord[Any, Any] | None:
        """The first record at or after an offset, if there is one."""
        bound = (await self.bounds([partition]))[partition]
        if not bound.start <= offset < bound.end:
            return None
        self._assign([partition])
        self._consumer.seek(TopicPartition(*partition), offset)
        for _ in range(RECORD_POLLS):
            for records in (await self._consumer.getmany(timeout_ms=WAIT_MS, max_records=1)).values():
                return records[0]
            if await self._position(partition) >= bound.end:  # nothing but holes
                break
        return None

    async def whole(self, topics: Collection[str]) -> dict[Partition, Bounds]:
        """The stretches that hold all of these topics, as of now."""
        return await self.bounds(await self.partitions(topics))

    async def since(self, partitions: Collection[Partition], ms: int) -> dict[Partition, Bounds]:
        """The stretches that hold what is stamped at or after a time (ms), as of now."""
        whole = await self.bounds(partitions)
        if not ms:
            return whole
        found: Mapping[Any, Any] = await self._consumer.offsets_for_times(
            {TopicPartition(*one): ms for one in partitions}
        )
        starts = {Partition(*one): at.offset for one, at in found.items() if at is not None}
        return {one: Bounds(starts.get(one, bound.end), bound.end) for one, bound in whole.items()}

    async def records(self, stretches: Mapping[Partition, Bounds]) -> AsyncIterator[ConsumerRecord[Any, Any]]:
        """Every record in these stretches of the logs."""
        self._assign(stretches)
        for partition, stretch in stretches.items():
            self._consumer.seek(TopicPartition(*partition), stretch.start)
        left = {one for one, stretch in stretches.items() if stretch.start < stretch.end}
        while left:
            for records in (await self._consumer.getmany(timeout_ms=WAIT_MS)).values():
                for record in records:
                    if record.offset < stretches[Partition(record.topic, record.partition)].end:
                        yield record
            left = {one for one in left if await self._position(one) < stretches[one].end}

    async def onward(self, starts: Mapping[Partition, int]) -> AsyncIterator[ConsumerRecord[Any, Any]]:
        """Every record from these offsets on, and those that are yet to come. Endless."""
        self._assign(starts)
        for partition, start in starts.items():
            self._consumer.seek(TopicPartition(*partition), start)
        while True:
            for records in (await self._consumer.getmany(timeout_ms=WAIT_MS)).values():
                for record in records:
                    yield record

    async def _position(self, partition: Partition) -> int:
        return int(await self._consumer.position(TopicPartition(*partition)))

    def _assign(self, partitions: Iterable[Partition]) -> None:
        wanted = frozenset(partitions)
        if wanted != self._assigned:
            self._consumer.assign([TopicPartition(*one) for one in wanted])
            self._assigned = wanted
