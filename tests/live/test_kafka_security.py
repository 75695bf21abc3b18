"""A Kafka that wants TLS and a password: every client that there is gets in, and no password is ever printed."""

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiokafka.errors import KafkaError

from streams.services import HOST, Service, kafka
from streams.settings import Settings
from streams.topics import create_topics
from tests.live.conftest import JARS
from tests.live.fleet import Fleet, ended, settings_for
from tests.live.test_main_job import simulated

pytestmark = pytest.mark.prove

PASSWORD = "of-lara-at-kafka"
LOGIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    f'username="lara" password="{PASSWORD}" user_lara="{PASSWORD}";'
)


def certified(directory: Path) -> Path:
    """A key and a certificate for this machine, in the one file that Kafka reads."""
    key, certificate = directory / "key.pem", directory / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=kafka"]
    names = ["-addext", f"subjectAltName=IP:{HOST}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names], check=True, capture_output=True)
    (directory / "store.pem").write_text(key.read_text() + certificate.read_text())
    return certificate


def _speaks(connection: socket.socket) -> bool:
    """It listens; whether it lets us in, the test sees."""
    return connection.getpeername() is not None


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    return certified(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def secured(certificate, tmp_path_factory) -> Iterator[Service]:
    properties = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",  # only a name
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": LOGIN,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificate.with_name("store.pem")),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificate),
    }
    service = kafka(tmp_path_factory.mktemp("secured"), jars=JARS, properties=properties)
    with replace(service, ready=_speaks) as running:
        yield running


@pytest.fixture
def own(secured, certificate, redis_url, prefix) -> Settings:
    plain = settings_for(secured.address, redis_url, prefix)
    return Settings(
        **plain.model_dump(exclude_defaults=True),
        kafka_security_protocol="SASL_SSL",
        kafka_sasl_mechanism="PLAIN",
        kafka_sasl_username="lara",
        kafka_sasl_password=PASSWORD,
        kafka_ssl_cafile=certificate,
    )


async def until_up(settings: Settings) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                await create_topics(settings.brokers, settings.prefix, settings.partitions)
                return
            except KafkaError:
                await asyncio.sleep(0.5)


async def test_worker_canary_and_commands_get_in(own, tmp_path):
    """Faust's consumer, the producers, the administration and whoever looks at a log; nothing tells the password."""
    await until_up(own)
    async with Fleet(own, tmp_path) as fleet:
        fleet.start()
        await fleet.settle(simulated(seed=5, prompts=20))
        printed = [
            await ended(own, *command)
            for command in (("canary", "--once"), ("doctor",), ("topics", "create"), ("watermarks", "show"))
        ]
    assert printed[0][0] == 0, printed[0]
    assert "Kafka does not answer" not in str(printed)
    assert [code for code, *_ in printed[2:]] == [0, 0]
    log = (tmp_path / "worker-0.log").read_text()
    assert PASSWORD not in str(printed) + log


@pytest.mark.parametrize(
    "changed", [{"kafka_sasl_password": "wrong"}, {"kafka_ssl_cafile": None}], ids=["password", "certificate"]
)
async def test_who_is_not_let_in_says_so(own, changed):
    """In a sentence, with code 1, and without the password."""
    await until_up(own)
    wrong = Settings(**{**own.model_dump(exclude_defaults=True), **changed})
    code, out, errors = await ended(wrong, "topics", "create")
    assert (code, out) == (1, "")
    assert "Kafka does not answer" in errors or "Authentication" in errors
    assert "wrong" not in errors and PASSWORD not in errors
