"""Each of our services started as docker-compose.yml and the chart write it, against a real Kafka and the Redis
of deploy/redis with its users: only hosts, ports and the folder of secrets are replaced."""

import asyncio
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError

from streams.commands.replay import send
from streams.services import HOST, Service, free_port
from streams.settings import SECRETS_VARIABLE, Settings
from tests.deployed import LEAST, Stated, of_chart, of_compose, rendered
from tests.live.fleet import LARA
from tests.live.guarded import PASSWORDS, USERS, guarded_redis
from tests.live.test_always_on import asked, until_ready
from tests.live.test_main_job import simulated
from tests.live.test_redis_store import ReadableStore
from tests.state_suite import StoreSuite

SERVED = ("worker", "exporter", "canary")
VALUES = {
    **LEAST,
    "redis": {
        "url": "redis://lara@redis:6379",
        "passwordSecret": {"name": "redis", "key": "redis_password"},
        "readerUrl": "redis://reader@redis:6379",
        "readerPasswordSecret": {"name": "redis", "key": "redis_reader_password"},
    },
    "settings": {"prefix": "lara"},
}
DEPLOYMENTS = {"compose": of_compose, "chart": lambda: of_chart(rendered(VALUES))}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory) -> Iterator[Service]:
    with guarded_redis(tmp_path_factory.mktemp("guarded")) as service:
        yield service


def environment_for(stated: Stated, hosts: Mapping[str, str], directory: Path) -> dict[str, str]:
    """What a process is given: as written, in this place."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("LARA_")}
    for name, value in stated.environment.items():
        for host, address in hosts.items():
            value = value.replace(host, address)
        found[name] = str(free_port()) if name.endswith("_PORT") else value
    directory.mkdir()
    for file, source in stated.secrets.items():
        (directory / file).write_text(PASSWORDS[source.rpartition("/")[2]])
    if SECRETS_VARIABLE in found:
        found[SECRETS_VARIABLE] = str(directory)
    return found


@contextmanager
def started(command: list[str], environment: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen]:
    with log.open("wb") as out:
        process = subprocess.Popen([*LARA, *command], env=dict(environment), stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=20)


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
async def test_what_is_written_starts_and_works(deployment, bootstrap, guarded, tmp_path):
    """Topics are made, then worker, exporter and canary get ready, and an unknown setting ends each of them."""
    hosts = {"kafka:19092": bootstrap, "kafka:9092": bootstrap, "redis:6379": guarded.address}
    stated = DEPLOYMENTS[deployment]()
    given = {name: environment_for(one, hosts, tmp_path / f"{name}-secrets") for name, one in stated.items()}
    topics = await asyncio.to_thread(
        subprocess.run, [*LARA, *stated["topics"].command], env=given["topics"], capture_output=True
    )
    assert topics.returncode == 0, topics.stderr
    with ExitStack() as stack:
        for name in SERVED:
            process = started(stated[name].command, given[name], tmp_path / f"{name}.log")
            stack.enter_context(process)
        ports = {name: int(given[name][f"LARA_{name.upper()}_PORT"]) for name in SERVED}
        await send(bootstrap, "lara", simulated(seed=3, prompts=20))
        for port in ports.values():
            await until_ready(port)
        assert "came back" in asked(ports["canary"], "/readyz")[1]
        _, page = asked(ports["exporter"], "/metrics")
        assert "lara_exporter_up 1.0" in page
        assert "lara_redis_used_bytes " in page  # a reader may ask for the server's memory
    for name, one in stated.items():
        told = await refused(one.command, {**given[name], "LARA_COLOUR": "red"})
        assert "LARA_COLOUR" in told


async def refused(command: list[str], environment: Mapping[str, str]) -> str:
    """What a process says that ends with code 2."""
    process = await asyncio.create_subprocess_exec(
        *LARA, *command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    return errors.decode()


class TestGuardedRedis(StoreSuite):
    """The suite of every store, with the rights of a worker."""

    async def expire(self, store, key):
        await store._redis.expire(store._keys.entity(key), 0)

    @pytest.fixture
    def stores(self, guarded, prefix):
        url = guarded_url(guarded, "lara")
        return lambda semantics: ReadableStore(url, semantics, f"lara-{prefix}")


def guarded_url(guarded: Service, user: str) -> str:
    password = PASSWORDS[USERS[user]]
    return Settings(redis_url=f"redis://{user}@{guarded.address}", redis_password=password).redis_address


@pytest.mark.parametrize(
    ("user", "command"),
    [
        ("lara", "GET another"),
        ("lara", "SET another 1"),
        ("lara", "FLUSHALL"),
        ("lara", "KEYS *"),
        ("lara", "CONFIG GET requirepass"),
        ("lara", "FUNCTION FLUSH"),
        ("lara", "EVAL return 0"),
        ("reader", "SET lara:live x"),
        ("reader", "HSET lara:{s00}:meta floor 1"),
        ("reader", "FCALL lara_1_term 1 lara:{s00}"),
        ("reader", "HGETALL another"),
    ],
)
def test_nobody_may_do_more_than_is_needed(guarded, user, command):
    """Workers keep to their keys, and the exporter writes nothing."""
    with Redis.from_url(guarded_url(guarded, user)) as client, pytest.raises(NoPermissionError):
        client.execute_command(*command.split())


def test_who_gives_no_password_may_only_ping(guarded):
    """As the health check does."""
    with Redis(host=HOST, port=guarded.port) as client:
        assert client.ping()
        with pytest.raises(NoPermissionError):
            client.get("lara:live")
