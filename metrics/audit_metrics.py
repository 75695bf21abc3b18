"""What the last audit of the state found, for Prometheus.

Rules:
- Nothing is printed before the first audit has finished: a 0 that nobody found would be worse than none.
- How old it is tells `lara_audit_finished_timestamp_seconds`: an audit that fails or hangs leaves it behind.
"""

from typing import Final, NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector


class Found(NamedTuple):
    """Of one audit: when it finished (seconds since the epoch), and what it found."""

    finished: float
    drift: int
    entities: int
    minutes: int


HELP: Final = {
    "lara_audit_finished_timestamp_seconds": "When the last audit of the whole state finished.",
    "lara_audit_drift": "Absolute differences between buckets and entities, summed; only 0 is right.",
    "lara_audit_entities": "Entities that the last audit read.",
    "lara_audit_minutes": "Minutes that the last audit compared.",
}


class AuditCollector(Collector):
    """Serves the last audit; tell it by setting `found`."""

    def __init__(self) -> None:
        self.found: Found | None = None

    def describe(self) -> list[GaugeMetricFamily]:
        """All families, without values."""
        return [GaugeMetricFamily(name, text) for name, text in HELP.items()]

    def collect(self) -> list[GaugeMetricFamily]:
        """All families, once there was an audit."""
        if self.found is None:
            return []
        return [
            GaugeMetricFamily(name, text, value=value)
            for (name, text), value in zip(HELP.items(), self.found, strict=True)
        ]
