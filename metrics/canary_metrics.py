"""What the canary found: how long its events took to come back, and how many did not. No quality figure.

Rules:
- What was sent came back or was lost; only what is on its way now is neither.
- Until something has come back there is no round trip to show.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge


class CanaryMetrics:
    """The counters and gauges of one canary."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.sent = self._counter("lara_canary_sent_total", "Canaries sent.")
        self.lost = self._counter("lara_canary_lost_total", "Canaries that did not come back in time.")
        self._returned = self._counter("lara_canary_returned_total", "Canaries that came back in time.")
        self._last_returned = Gauge(
            "lara_canary_last_returned_timestamp_seconds",
            "When a canary last came back; 0: none has yet.",
            registry=self.registry,
        )
        self._round_trip: Gauge | None = None

    def returned(self, seconds: float, now: float) -> None:
        """One came back after so many seconds."""
        if self._round_trip is None:
            self._round_trip = Gauge(
                "lara_canary_round_trip_seconds",
                "From the sending of the last canary that came back to its last answer.",
                registry=self.registry,
            )
        self._round_trip.set(seconds)
        self._last_returned.set(now)
        self._returned.inc()

    def _counter(self, name: str, text: str) -> Counter:
        return Counter(name, text, registry=self.registry)
