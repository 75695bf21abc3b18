"""What the exporter tells of the server that holds the state."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from metrics.server_metrics import Memory, ServerCollector


def told(memory):
    registry = CollectorRegistry()
    registry.register(ServerCollector(lambda: memory))
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_what_is_used_stands_beside_the_limit():
    """In bytes, asked anew at each scrape."""
    assert told(Memory(70, 100)) == ["lara_redis_used_bytes 70.0", "lara_redis_limit_bytes 100.0"]


def test_no_limit_is_no_value():
    """A limit of 0 would make every share infinite."""
    assert told(Memory(70, 0)) == ["lara_redis_used_bytes 70.0"]


def test_a_server_that_does_not_answer_tells_nothing():
    """The scrape goes on: another family says that the state cannot be read."""

    def silent() -> Memory:
        raise ConnectionError

    assert ServerCollector(silent, (ConnectionError,)).collect() == []


def test_an_error_of_the_program_is_not_swallowed():
    """Only what the caller expects is."""

    def broken() -> Memory:
        raise KeyError("maxmemory")

    with pytest.raises(KeyError):
        ServerCollector(broken, (ConnectionError,)).collect()
