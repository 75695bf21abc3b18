"""What a worker says about its own work, in processing time. Nothing here is a quality figure.

Rules:
- Every worker has its own registry, made by `WorkerMetrics()`: nothing at module level, nothing shared.
- Dispositions sum to the records read. A type that is not one of the contract's is `unknown`: what a producer
  writes never becomes a label.
- Labels with a known vocabulary are there with 0 from the start, so that a first increase is seen as one.
- An exemplar names one retrieval behind a number. It is off unless asked for: an id is then in the metrics.
"""

from itertools import product
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from attribution.bounds import KEPT, RECORDS
from attribution.events import EVENT_TYPES

UNKNOWN: Final = "unknown"

# In the order of intake: the first that fits (contract, section 1).
DISPOSITIONS: Final = ("tombstone", "invalid", "late", "synthetic", "duplicate", "conflict", "applied")

SERVICES: Final = ("Kafka", "Redis")

# The stages of a batch, in their order.
STAGES: Final = ("decode", "settle", "publish", "advance")

# A batch of 2,000 takes some 20 ms; seconds mean that Redis or the broker hangs.
STAGE_BUCKETS_SECONDS: Final = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1,
    2.5,
    5,
    10,
)

# From an instant click to the attribution horizon; 1800 is the maturity horizon: what is above it was not yet
# there when its retrieval entered the settled cohort.
DELAY_BUCKETS_SECONDS: Final = (1, 5, 15, 60, 300, 900, 1800, 3600, 21_600, 86_400, 604_800, 2_592_000)

EXEMPLAR: Final = "retrieval_id"
# OpenMetrics allows 128 characters for the labels of an exemplar, name and value together.
EXEMPLAR_ID_CHARACTERS: Final = 128 - len(EXEMPLAR)


class WorkerMetrics:
    """The counters, gauges and histograms of one worker."""

    def __init__(self, exemplars: bool = False) -> None:
        self._exemplars = exemplars
        self.registry = CollectorRegistry()
        self.events = self._counter(
            "lara_events_total", "Records read, by type and by what became of them.", "type", "disposition"
        )
        self.events_ahead = self._counter(
            "lara_events_ahead_total", "Events stamped more than 5 minutes ahead of the broker."
        )
        self.lag_seconds = Gauge(
            "lara_lag_seconds",
            "Age of the newest record handled, by its broker timestamp, as long as more is left; else 0.",
            ["topic", "partition"],
            registry=self.registry,
        )
        self.assigned_partitions = Gauge(
            "lara_assigned_partitions",
            "Partitions that this worker reads; 0 is a spare worker, or one that has not joined yet.",
            registry=self.registry,
        )
        self.stalled_seconds = Gauge(
            "lara_stalled_seconds",
            "For how long something was left to read and no watermark was raised; 0 while idle.",
            registry=self.registry,
        )
        self.out_of_reach = Gauge(
            "lara_out_of_reach",
            "1 while the worker waits for a service that does not do its part.",
            ["service"],
            registry=self.registry,
        )
        self.stage_seconds = self._histogram(
            "lara_stage_seconds", "How long a stage of a batch took.", STAGE_BUCKETS_SECONDS, "stage"
        )
        self.evidence_delay_seconds = self._histogram(
            "lara_evidence_delay_seconds",
            "How long after its retrieval an action credited to it happened.",
            DELAY_BUCKETS_SECONDS,
        )
        self.redis_errors = self._counter("lara_redis_errors_total", "Failed calls to Redis.")
        self.commit_retries = self._counter(
            "lara_commit_retries_total", "Entities read and done again because another worker was first."
        )
        self.bound_hits = self._counter(
            "lara_bound_hits_total",
            "Statements of a topic, or records of an identity, that an entity has too many of to keep.",
            "topic",
        )
        self.rewinds = self._counter(
            "lara_rewinds_total", "Times the worker went back to a watermark, by reason.", "reason"
        )
        self.losses = self._counter(
            "lara_losses_total",
            "Times a watermark lay outside its partition's log, by why: records are lost, or may be.",
            "topic",
            "reason",
        )
        self._start_at_zero()

    def count_event(self, event_type: str, disposition: str, amount: int = 1) -> None:
        """Count records of a type and disposition. Raises ValueError for an unknown disposition."""
        if disposition not in DISPOSITIONS:
            raise ValueError(f"{disposition!r} is no disposition")
        known = event_type if event_type in EVENT_TYPES else UNKNOWN
        self.events.labels(known, disposition).inc(amount)

    def observe_delay(self, seconds: float, retrieval_id: str) -> None:
        """One action was credited to a retrieval, so long after it; a longer id is no exemplar."""
        shown = self._exemplars and len(retrieval_id) <= EXEMPLAR_ID_CHARACTERS
        self.evidence_delay_seconds.observe(seconds, {EXEMPLAR: retrieval_id} if shown else None)

    def _start_at_zero(self) -> None:
        for event_type, disposition in product((*EVENT_TYPES, UNKNOWN), DISPOSITIONS):
            self.events.labels(event_type, disposition)
        for stage in STAGES:
            self.stage_seconds.labels(stage)
        for topic in (*KEPT, RECORDS):
            self.bound_hits.labels(topic)
        for service in SERVICES:
            self.out_of_reach.labels(service)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, text, labels, buckets=buckets, registry=self.registry)
