"""What a commit sends to one shard, as one argument: states, bucket differences, marks (see `lara.lua`)."""

from collections.abc import Sequence
from typing import Final

import msgspec

from attribution.engine import Write
from attribution.entities import Entity, encode
from streams.state.keys import version_text
from streams.state.store import due_of

pack: Final = msgspec.msgpack.Encoder().encode


def packed(writes: Sequence[Write], floor: int, token: str, entity_ttl: int, bucket_ttl: int) -> bytes:
    """The writes of one shard; differences of the same counter are added up first."""
    entities: list[object] = []
    deltas: dict[tuple[int, str], int] = {}
    due: list[str] = []
    for write in writes:
        entities += (write.key, version_text(write.expected), stored(write.entity))
        for counter, delta in write.deltas.items():
            deltas[counter] = deltas.get(counter, 0) + delta
        if write.due:
            due += due_of(write, token)
    changed = [
        part for (minute, counter), delta in deltas.items() if delta for part in (minute, counter, delta)
    ]
    return pack([str(floor), entity_ttl, bucket_ttl, entities, changed, due])


def stored(entity: Entity) -> msgspec.Raw:
    """The entity's string, packed as msgpack text: Redis 7 unpacks no msgpack of type `bin`."""
    value = version_text(entity.version).encode() + encode(entity)
    return msgspec.Raw(b"\xdb" + len(value).to_bytes(4, "big") + value)
