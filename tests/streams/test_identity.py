"""What a broker says of its topics; a real one is asked in tests/live."""

from io import BytesIO

import pytest
from aiokafka.errors import KafkaConnectionError
from aiokafka.protocol.metadata import MetadataRequest, MetadataResponse_v5

from streams.identity import IdentityRequest, MetadataResponse_v12, cluster_of, identities

ID = bytes(range(16))


class Client:
    """A client of a broker with this answer."""

    def __init__(self, answer=None, node=1):
        self.answer, self.node, self.asked = answer, node, []

    def get_random_node(self):
        return self.node

    async def send(self, node, request):
        self.asked.append((node, request))
        return self.answer


def answered(*topics, cluster="east"):
    rows = [
        (error, name, topic_id, False, [(0, 0, 1, 0, [1], [1], [], {})], 0, {})
        for error, name, topic_id in topics
    ]
    return MetadataResponse_v12(0, [(1, "host", 9092, None, {})], cluster, 1, rows, {})


async def test_a_topic_is_named_by_its_cluster_and_its_id():
    """One that is not there, or that the broker has no id for, is not guessed."""
    client = Client(answered((0, "a", ID), (3, "gone", bytes(16)), (0, "old", bytes(16))))
    found = await identities(client, ["a", "gone", "old"])
    assert found == {"a": f"east/{ID.hex()}", "old": ""}
    assert cluster_of(found["a"]) == "east"


async def test_a_broker_without_topic_ids_tells_nothing():
    """Unknown, for every topic that was asked for."""
    client = Client(MetadataResponse_v5(0, [], "east", 1, []))
    assert await identities(client, ["a"]) == {"a": ""}


async def test_without_a_broker_there_is_no_answer():
    """It is waited for like any outage."""
    with pytest.raises(KafkaConnectionError):
        await identities(Client(node=None), ["a"])


def test_an_answer_is_read_as_it_was_written():
    """All fields, with the tags of the flexible form."""
    answer = answered((0, "a", ID), (3, "gone", bytes(16)))
    read = MetadataResponse_v12.decode(BytesIO(answer.encode()))
    assert read.to_object() == answer.to_object()
    assert read.topics[0][:3] == (0, "a", ID)


@pytest.mark.parametrize(("newest", "version"), [(13, 12), (12, 12), (11, 5), (5, 5)])
def test_the_best_version_that_both_know_is_asked_in_and_nothing_is_created(newest, version):
    """A topic that is merely asked for must not come to be."""
    request = IdentityRequest(["a"]).prepare({MetadataRequest.API_KEY: (0, newest)})
    assert version == request.API_VERSION
    assert request.to_object()["allow_auto_topic_creation"] is False
    assert request.encode()
