"""Where Kafka is and how it lets us in: what every client of it is told, from one place.

Rules:
- Plain text (`host:port,…`) is brokers that ask for nothing.
- Without a CA file the system's certificates count. The name of a broker is always checked.
- The password is in no text of these values.
"""

from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from typing import Any, Final, Literal

import faust
from aiokafka.helpers import create_ssl_context

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
ENCRYPTED: Final = ("SSL", "SASL_SSL")
WITH_PASSWORD: Final = ("SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True)
class Brokers:
    """The brokers, and what they ask for."""

    bootstrap: str
    protocol: SecurityProtocol = "PLAINTEXT"
    mechanism: Mechanism = "SCRAM-SHA-512"
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    cafile: Path | None = None
    certfile: Path | None = None
    keyfile: Path | None = None


def client_options(brokers: Brokers | str) -> dict[str, Any]:
    """What a client of aiokafka is told. Raises OSError for a file that is none of its kind."""
    if isinstance(brokers, str):
        return {"bootstrap_servers": brokers}
    options: dict[str, Any] = {
        "bootstrap_servers": brokers.bootstrap,
        "security_protocol": brokers.protocol,
        "ssl_context": _ssl_context(brokers),
    }
    if brokers.protocol in WITH_PASSWORD:
        options |= {
            "sasl_mechanism": brokers.mechanism,
            "sasl_plain_username": brokers.username,
            "sasl_plain_password": brokers.password,
        }
    return options


def faust_credentials(brokers: Brokers) -> Any:
    """The same for Faust; None: the brokers ask for nothing."""
    context = _ssl_context(brokers)
    if brokers.protocol in WITH_PASSWORD:
        return faust.SASLCredentials(
            username=brokers.username,
            password=brokers.password,
            mechanism=brokers.mechanism,
            ssl_context=context,
        )
    return None if context is None else faust.SSLCredentials(context)


def _ssl_context(brokers: Brokers) -> SSLContext | None:
    if brokers.protocol not in ENCRYPTED:
        return None
    context: SSLContext = create_ssl_context(
        cafile=brokers.cafile, certfile=brokers.certfile, keyfile=brokers.keyfile
    )
    return context
