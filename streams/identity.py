"""Which log a topic's name stands for: the id of its cluster and its own.

Rules
1. A topic that was deleted and made again, or that lies in another cluster, has another id under the same
   name. Offsets of the one say nothing of the other.
2. aiokafka asks for metadata in version 5 at most, which knows no topic ids; version 12 does (Kafka 3). So
   that one request is spelled here, from aiokafka's own parts.
3. A broker that tells no topic id is taken at its word: the identity is empty, and is never compared.
"""

from collections.abc import Collection, Mapping
from io import BytesIO
from typing import Any, Final

from aiokafka.errors import KafkaConnectionError
from aiokafka.protocol.abstract import AbstractType
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.metadata import MetadataRequest_v5
from aiokafka.protocol.types import (
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)

UUID_LENGTH: Final = 16
NO_UUID: Final = bytes(UUID_LENGTH)
TEXT: Final = CompactString("utf-8")


class Uuid(AbstractType):  # type: ignore[misc]  # aiokafka's types are not followed
    """Sixteen bytes as they stand."""

    @classmethod
    def encode(cls, value: bytes) -> bytes:
        return value

    @classmethod
    def decode(cls, data: BytesIO) -> bytes:
        return data.read(UUID_LENGTH)


class MetadataResponse_v12(Response):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 12
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32), ("host", TEXT), ("port", Int32), ("rack", TEXT), ("tags", TaggedFields)
            ),
        ),
        ("cluster_id", TEXT),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("topic", TEXT),
                ("topic_id", Uuid),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline_replicas", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("authorized_operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class MetadataRequest_v12(RequestStruct):  # type: ignore[misc]
    FLEXIBLE_VERSION = True
    API_KEY = 3
    API_VERSION = 12
    RESPONSE_TYPE = MetadataResponse_v12
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", Uuid), ("topic", TEXT), ("tags", TaggedFields))),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        ("tags", TaggedFields),
    )


class IdentityRequest(Request[MetadataRequest_v5 | MetadataRequest_v12]):  # type: ignore[misc]
    """Metadata of some topics, without creating any, in the best version that the broker knows."""

    API_KEY = 3

    def __init__(self, topics: Collection[str]) -> None:
        self._topics = topics

    def build(self, version: type[RequestStruct]) -> RequestStruct:
        if version is MetadataRequest_v12:
            return MetadataRequest_v12([(NO_UUID, name, {}) for name in self._topics], False, False, {})
        return version(list(self._topics), False)


async def identities(client: Any, topics: Collection[str]) -> Mapping[str, str]:
    """`<cluster id>/<topic id>` of each topic there is, empty if not told. Raises `KafkaError`.

    `client` is an `AIOKafkaClient`, whose loop this must run in.
    """
    node = client.get_random_node()
    if node is None:
        raise KafkaConnectionError("no broker is known")
    answer = await client.send(node, IdentityRequest(topics))
    if answer.API_VERSION != MetadataRequest_v12.API_VERSION:
        return dict.fromkeys(topics, "")
    return {
        name: f"{answer.cluster_id}/{topic_id.hex()}" if topic_id != NO_UUID else ""
        for error, name, topic_id, *_ in answer.topics
        if error == 0
    }


def cluster_of(identity: str) -> str:
    """The cluster's part of an identity."""
    return identity.rpartition("/")[0]
