"""The logs that workers read: offsets with holes, in waves, cut into batches of given sizes."""

from collections.abc import Sequence
from itertools import cycle

from aiokafka import TopicPartition
from aiokafka.structs import ConsumerRecord

from streams.codec import Decoded, decode
from streams.transport import Fetched
from tests.faults.plan import Plan, Sent

TOPIC = "lara.events"


class Logs:
    """All partitions of one topic; types of events are mixed, since nothing may depend on their order."""

    def __init__(self, plan: Plan) -> None:
        self._logs = {
            TopicPartition(TOPIC, number): [one for one in plan.sent if one.partition == number]
            for number in range(plan.partitions)
        }
        self._sizes = cycle(plan.sizes)
        self._waves = sorted({one.wave for one in plan.sent})
        self.wave = 0  # how many waves were sent after the first
        self._ends = self._now()

    @property
    def partitions(self) -> Sequence[TopicPartition]:
        return list(self._logs)

    def next_wave(self) -> bool:
        """Send what comes next; False if all is sent."""
        if self.wave + 1 >= len(self._waves):
            return False
        self.wave += 1
        self._ends = self._now()
        return True

    def end(self, partition: TopicPartition) -> int:
        """Behind the last offset that was sent so far."""
        return self._ends[partition]

    def _now(self) -> dict[TopicPartition, int]:
        sent = set(self._waves[: self.wave + 1])
        return {partition: sum(one.wave in sent for one in log) for partition, log in self._logs.items()}

    def fetch(self, partition: TopicPartition, position: int) -> Fetched:
        """The next batch from a position, as large as it is this fetch's turn."""
        stop = min(position + next(self._sizes), self.end(partition))
        found = enumerate(self._logs[partition][position:stop], position)
        records = (_record(partition, offset, one) for offset, one in found if not one.hole)
        return Fetched(*partition, position, stop, tuple(records))

    def is_last(self, fetched: Fetched) -> bool:
        """Does nothing ever follow this batch in its log?"""
        return fetched.next_position == len(self._logs[fetched.source])

    def decoded(self) -> Decoded:
        """All records that were sent so far, as the pipeline reads them."""
        records = (
            _record(partition, offset, one)
            for partition, log in self._logs.items()
            for offset, one in enumerate(log[: self._ends[partition]])
            if not one.hole
        )
        return decode(records, with_payload=False)


def _record(partition: TopicPartition, offset: int, one: Sent) -> ConsumerRecord:
    value = None if one.value is None else one.value.encode()
    return ConsumerRecord(*partition, offset, one.timestamp, 0, None, value, None, 0, 0, ())
