"""One real Kafka and one real Redis for all tests in this folder, which all get the marker `live`.

Where a server is missing the tests fail and name deploy/install-services.sh: a skipped test proves nothing.
"""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from streams.services import HOST, Service, kafka, redis

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
JARS = ROOT / "deploy" / "kafka" / "target" / "dependency"
OLDEST_REDIS = 7  # the first with functions


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies in this folder; pytest hands over the items of all folders."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="session")
def kafka_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A real Apache Kafka, the same one for the whole session: take topics that start with `prefix`."""
    with kafka(tmp_path_factory.mktemp("kafka"), jars=JARS) as service:
        yield service


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A real Redis, the same one for the whole session: take keys that start with `prefix`."""
    with redis(tmp_path_factory.mktemp("redis")) as service:
        _refuse_old_redis(service)
        yield service


@pytest.fixture
def prefix() -> str:
    """A name that no other test uses, fit for topics, groups and keys."""
    return f"test-{uuid.uuid4().hex[:12]}"


def _refuse_old_redis(service: Service) -> None:
    with Redis(host=HOST, port=service.port, decode_responses=True) as client:
        version = client.info("server")["redis_version"]
    if int(version.split(".")[0]) < OLDEST_REDIS:
        pytest.fail(f"Redis {version} is too old: run deploy/install-services.sh")


@pytest.fixture
def redis_url(redis_server: Service) -> str:
    """Where the real Redis listens."""
    return f"redis://{HOST}:{redis_server.port}"


@pytest.fixture
def bootstrap(kafka_server: Service) -> str:
    """Where the real Kafka listens."""
    return f"{HOST}:{kafka_server.port}"
