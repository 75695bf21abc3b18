"""Where an emitter's events go: a file, or Kafka."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class Record(NamedTuple):
    """An event as it is sent: its type, and its JSON."""

    kind: str
    value: bytes


class Sink(Protocol):
    """Where events go. Called by one thread only, in its loop."""

    async def send(self, records: Sequence[Record]) -> None:
        """Send all, or raise: then the same records come again."""

    async def close(self) -> None:
        """Let go of what is held."""


class FileSink:
    """A `Sink` that appends JSON lines to a file: for `lara backtest`, and for trying things out."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def send(self, records: Sequence[Record]) -> None:
        """As `Sink.send`."""
        with self._path.open("ab") as out:
            out.writelines(record.value + b"\n" for record in records)

    async def close(self) -> None:
        """As `Sink.close`."""


class KafkaSink:
    """A `Sink` on Kafka: the topics `lara.prompts` and so on. `options` are those of aiokafka's producer."""

    def __init__(self, bootstrap: str, prefix: str = "lara", **options: Any) -> None:
        self._options = {"bootstrap_servers": bootstrap, "acks": "all", **options}
        self._prefix = prefix
        self._producer: Any = None

    async def send(self, records: Sequence[Record]) -> None:
        """As `Sink.send`. Raises `KafkaError`."""
        producer = self._producer or await self._connected()
        sent = [await producer.send(f"{self._prefix}.{record.kind}s", record.value) for record in records]
        for acknowledgement in sent:
            await acknowledgement

    async def _connected(self) -> Any:
        from aiokafka import AIOKafkaProducer

        producer: Any = AIOKafkaProducer(**self._options)
        try:
            await producer.start()
        except BaseException:
            await producer.stop()
            raise
        self._producer = producer
        return producer

    async def close(self) -> None:
        """As `Sink.close`."""
        if self._producer is not None:
            await self._producer.stop()
