"""Where each partition that is held goes on, and whether its watermark still means anything.

A watermark is the next offset of one log. It means nothing when the name stands for another log (its topic
was made anew, or the cluster is another) or when the log ends before it, and too little when the log begins
behind it.

Rules
1. All four are losses: counted by reason, logged as errors, never passed over in silence.
2. A watermark that means nothing is forgotten in the store, once, and the log is read from its start. What
   was settled before is settled again, which changes nothing.
3. The watermark is where reading goes on, from the first moment: a log without one gets its start, so that
   records deleted unread later are a loss; and one that begins behind its watermark gets its start, too.
4. A worker tells the store which log its watermarks are of. If another worker began that partition anew
   since, it is refused (`Refused`), and begins again.
5. Logs are compared whenever partitions are taken, and while they are held. Not to be told: what a broker
   without topic ids hides, and a log that was cut short and grew past the watermark between two looks.
"""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, Protocol

import structlog
from aiokafka import TopicPartition

from metrics.worker_metrics import WorkerMetrics
from streams.identity import cluster_of
from streams.state.store import Log, Partition, Store, Term

log = structlog.get_logger()

CLUSTER: Final = "cluster"
RECREATED: Final = "recreated"
TRUNCATED: Final = "truncated"
RETENTION: Final = "retention"


class Bounds(NamedTuple):
    """What a partition's log holds: offsets from `start` up to, not including, `end`."""

    start: int
    end: int


class Logs(Protocol):
    """Whoever can be asked for logs. Raises `KafkaError` if there is no answer."""

    async def bounds(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, Bounds]: ...

    async def identities(self, topics: Collection[str]) -> Mapping[str, str]: ...


class _Stand(NamedTuple):
    """How a partition was found, and where it goes on."""

    mark: int | None
    noted: Log
    identity: str
    bounds: Bounds

    @property
    def loss(self) -> str | None:
        """Why the watermark can't be trusted."""
        if self.identity and self.noted.identity and self.identity != self.noted.identity:
            same_cluster = cluster_of(self.identity) == cluster_of(self.noted.identity)
            return RECREATED if same_cluster else CLUSTER
        if self.mark is not None and self.mark > self.bounds.end:
            return TRUNCATED
        if self.mark is not None and self.mark < self.bounds.start:
            return RETENTION
        return None

    @property
    def log(self) -> Log:
        """The log that is read from now on."""
        anew = self.noted.anew + (self.loss not in (None, RETENTION))
        return Log(self.identity or self.noted.identity, anew)

    @property
    def position(self) -> int:
        """Where reading goes on."""
        return self.bounds.start if self.mark is None or self.loss else self.mark


class ResumePoints:
    """The watermarks of the partitions that this worker holds, as far as it knows."""

    def __init__(self, store: Store, metrics: WorkerMetrics) -> None:
        self._store = store
        self._metrics = metrics
        self._wanted: set[TopicPartition] = set()
        self._logs: dict[TopicPartition, Log] = {}
        self.marks: dict[TopicPartition, int] = {}

    def want(self, partitions: Collection[TopicPartition]) -> None:
        """They are ours, and to be taken."""
        self._wanted.update(partitions)

    def release(self, partitions: Collection[TopicPartition]) -> None:
        """They are no longer ours."""
        for partition in partitions:
            self.marks.pop(partition, None)
        self._wanted.difference_update(partitions)

    async def take(
        self, partitions: Collection[TopicPartition], logs: Logs, term: Term
    ) -> dict[TopicPartition, int]:
        """Where those that are still ours go on; counts losses. Raises `Refused`, and what `logs` raises."""
        wanted = [partition for partition in partitions if partition in self._wanted]
        if not wanted:
            return {}
        stands = await self._stands(wanted, logs)
        await self._store.begin({Partition(*one): stand.log for one, stand in stands.items()}, term)
        moved = {Partition(*one): stand for one, stand in stands.items() if stand.mark != stand.position}
        if moved:
            starts = {one: stand.position for one, stand in moved.items()}
            await self._store.advance(starts, term, logs={one: stand.log for one, stand in moved.items()})
        for partition, stand in stands.items():
            self._note(partition, stand)
        positions = {partition: stand.position for partition, stand in stands.items()}
        self.marks.update({one: at for one, at in positions.items() if one in self._wanted})
        return positions

    async def _stands(self, wanted: Collection[TopicPartition], logs: Logs) -> dict[TopicPartition, _Stand]:
        names = {partition: Partition(*partition) for partition in wanted}
        # In this order. Logs before marks: a newer log's mark is then refused by `begin`. Ends after marks:
        # what another worker settles meanwhile must not look like a log that was cut short.
        noted = await self._store.logs(names.values())
        marks = await self._store.watermarks(names.values())
        identities = await logs.identities({partition.topic for partition in wanted})
        bounds = await logs.bounds(wanted)
        return {
            partition: _Stand(
                marks.get(name),
                noted.get(name, Log()),
                identities.get(partition.topic, ""),
                bounds[partition],
            )
            for partition, name in names.items()
        }

    def _note(self, partition: TopicPartition, stand: _Stand) -> None:
        self._logs[partition] = stand.log
        if stand.loss:
            self._metrics.losses.labels(partition.topic, stand.loss).inc()
            log.error(
                "watermark outside its log: records are lost, reading begins at the start of the log",
                reason=stand.loss,
                topic=partition.topic,
                partition=partition.partition,
                watermark=stand.mark,
                log_start=stand.bounds.start,
                log_end=stand.bounds.end,
            )

    def logs_of(self, partitions: Collection[Partition]) -> Mapping[Partition, Log]:
        """The logs that watermarks of these partitions belong to."""
        return {one: self._logs[TopicPartition(*one)] for one in partitions}

    def raised(self, marks: Mapping[TopicPartition, int]) -> None:
        """The store has these watermarks now, or higher ones."""
        self.marks.update({one: max(at, self.marks[one]) for one, at in marks.items() if one in self.marks})

    async def went_back(self) -> bool:
        """Is a watermark lower than what was written? Then the state is older than it was, too."""
        held = {Partition(*partition): mark for partition, mark in self.marks.items()}
        marks = await self._store.watermarks(held)
        return any(marks.get(partition, -1) < mark for partition, mark in held.items())

    async def renewed(self, logs: Logs) -> list[TopicPartition]:
        """Those whose name stands for another log than when they were taken."""
        identities = await logs.identities({partition.topic for partition in self.marks})
        return [
            partition
            for partition in self.marks
            if (now := identities.get(partition.topic)) and now != self._logs[partition].identity
        ]
