"""The key schema of one deployment, and the texts in it (see `lara.lua`)."""

import re
from typing import Final

from streams.state.store import Log, Partition, shard_of

VERSION_LENGTH: Final = 16  # hexadecimal digits in front of every entity


class Keys:
    """The keys of one deployment."""

    def __init__(self, prefix: str, shards: int) -> None:
        self.shards = shards
        self._bases = [f"{prefix}:{{s{number:02d}}}" for number in range(shards)]

    def base(self, shard: int) -> str:
        """What all keys of a shard begin with."""
        return self._bases[shard]

    def entity_prefix(self, shard: int) -> str:
        """What the keys of a shard's entities begin with."""
        return f"{self._bases[shard]}:e:"

    def entity(self, key: str) -> str:
        """The key of an entity's string."""
        return self.entity_prefix(shard_of(key, self.shards)) + key


def literal(text: str) -> str:
    """A text that a Redis pattern takes as it stands."""
    return re.sub(r"([\\*?\[\]])", r"\\\1", text)


def version_text(version: int) -> str:
    """A version as it stands in front of an entity; that of an entity nobody wrote is empty."""
    return f"{version:0{VERSION_LENGTH}x}" if version else ""


def partition_field(partition: Partition) -> str:
    """The field of a partition in a hash of partitions."""
    return f"{partition.topic}/{partition.number}"


def log_text(log: Log) -> str:
    """A log as it is noted."""
    return f"{log.anew} {log.identity}"


def log_of(text: str) -> Log:
    """The log that was noted."""
    anew, _, identity = text.partition(" ")
    return Log(identity, int(anew))
