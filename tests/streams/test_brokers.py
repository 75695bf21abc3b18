"""What Kafka's clients are told: the same for aiokafka and for Faust."""

import ssl
import subprocess

import pytest
from faust.types.auth import AuthProtocol, SASLMechanism

from streams.brokers import Brokers, client_options, faust_credentials
from tests.docs_printed import ROOT


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A certificate and its key."""
    directory = tmp_path_factory.mktemp("pair")
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def test_plain_text_is_brokers_that_ask_for_nothing():
    """As in tests, and as a default deployment has it."""
    assert client_options("a:1,b:2") == {"bootstrap_servers": "a:1,b:2"}
    found = client_options(Brokers("a:1"))
    assert (found["security_protocol"], found["ssl_context"]) == ("PLAINTEXT", None)
    assert "sasl_mechanism" not in found
    assert faust_credentials(Brokers("a:1")) is None


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_name_and_password_are_given_to_both(protocol, mechanism):
    """With the mechanism, and with TLS where it is asked for."""
    brokers = Brokers("a:1", protocol, mechanism, "lara", "secret")
    options, credentials = client_options(brokers), faust_credentials(brokers)
    assert options["security_protocol"] == protocol
    assert credentials.protocol is AuthProtocol(protocol)
    assert options["sasl_mechanism"] == mechanism
    assert credentials.mechanism is SASLMechanism(mechanism)
    assert (options["sasl_plain_username"], options["sasl_plain_password"]) == ("lara", "secret")
    assert (credentials.username, credentials.password) == ("lara", "secret")
    assert (options["ssl_context"] is None, credentials.ssl_context is None) == (
        protocol == "SASL_PLAINTEXT",
    ) * 2


def test_tls_checks_the_name_and_the_certificate_of_the_broker(pair):
    """By the given file, and shows a certificate of its own where there is one."""
    certificate, key = pair
    brokers = Brokers("a:1", "SSL", cafile=certificate, certfile=certificate, keyfile=key)
    context = client_options(brokers)["ssl_context"]
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert len(context.get_ca_certs()) == 1
    assert faust_credentials(brokers).protocol is AuthProtocol.SSL


def test_a_file_that_is_no_certificate_is_told(pair):
    """As the error that commands print in a line."""
    with pytest.raises(OSError):
        client_options(Brokers("a:1", "SSL", cafile=pair[1]))


def test_the_password_is_in_no_text():
    """Whoever prints a value of ours prints no secret."""
    assert "secret" not in repr(Brokers("a:1", "SASL_SSL", password="secret"))


def test_every_client_of_kafka_is_told_from_here():
    """No other place names bootstrap servers, so none can forget the security."""
    sources = [path for path in (ROOT / "streams").rglob("*.py") if path.name != "brokers.py"]
    assert [path.name for path in sources if "bootstrap_servers" in path.read_text("utf-8")] == []
    named = [path.name for path in sources if "settings.bootstrap" in path.read_text("utf-8")]
    assert named == ["worker.py"], "Faust's addresses; its credentials stand beside them"
