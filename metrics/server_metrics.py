"""How full the server is that holds the state, for Prometheus.

Rules:
- It is asked at each scrape. When it does not answer nothing is printed here: `lara_exporter_up` tells.
- A limit of 0 is none: what is used is then printed alone.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector


class Memory(NamedTuple):
    """Bytes of one server; a limit of 0 is none."""

    used: int
    limit: int


HELP: Final = {
    "lara_redis_used_bytes": "Bytes that Redis uses, the state and all else in it.",
    "lara_redis_limit_bytes": "Bytes that Redis may use (maxmemory); absent where it has no limit.",
}


class ServerCollector(Collector):
    """Serves what `memory` says; `reader_errors` are the exceptions that mean "it does not answer now"."""

    def __init__(
        self, memory: Callable[[], Memory], reader_errors: tuple[type[Exception], ...] = (OSError,)
    ) -> None:
        self._memory = memory
        self._reader_errors = reader_errors

    def describe(self) -> list[GaugeMetricFamily]:
        """All families, without values."""
        return [GaugeMetricFamily(name, text) for name, text in HELP.items()]

    def collect(self) -> list[GaugeMetricFamily]:
        """What is known now."""
        try:
            found = self._memory()
        except self._reader_errors:
            return []
        return [
            GaugeMetricFamily(name, text, value=value)
            for (name, text), value in zip(HELP.items(), found, strict=True)
            if value
        ]
