"""The settings that say where Kafka and Redis are, and how they let us in.

Rules:
- A secret may stand in a file of its own, so that it is in no environment and in no command line.
- What does not fit together ends the program at its start: a password that would not be sent, for one.
- No secret is ever printed, not even one that is refused.
"""

from typing import Annotated, Final, Self
from urllib.parse import quote, urlsplit, urlunsplit

from pydantic import Field, FilePath, SecretStr, model_validator
from pydantic_settings import BaseSettings

from streams.brokers import ENCRYPTED, WITH_PASSWORD, Brokers, Mechanism, SecurityProtocol

Password = Annotated[SecretStr, Field(min_length=1)]
SECRETS: Final = frozenset({"redis_url", "redis_password", "kafka_sasl_password"})  # a URL may hold one


class ConnectionSettings(BaseSettings):
    """How a process reaches its services."""

    bootstrap: str = Field("127.0.0.1:9092", description="Kafka brokers, `host:port` separated by commas.")
    kafka_security_protocol: SecurityProtocol = Field(
        "PLAINTEXT", description="How the brokers are spoken to, as Kafka calls it."
    )
    kafka_sasl_mechanism: Mechanism = Field(
        "SCRAM-SHA-512", description="How name and password are proved, where the protocol is `SASL_…`."
    )
    kafka_sasl_username: str | None = Field(None, description="Name of lara at Kafka.")
    kafka_sasl_password: Password | None = Field(None, description="Its password. A secret.")
    kafka_ssl_cafile: FilePath | None = Field(
        None, description="Certificates (PEM) that sign those of the brokers; none: those of the system."
    )
    kafka_ssl_certfile: FilePath | None = Field(
        None, description="Certificate (PEM) of lara, for mutual TLS."
    )
    kafka_ssl_keyfile: FilePath | None = Field(
        None, description="Its private key (PEM). The file is a secret."
    )
    redis_url: Annotated[str, Field(pattern=r"^(redis|rediss|unix)://.+")] = Field(
        "redis://127.0.0.1:6379",
        repr=False,
        description="Where the state lives: `redis://user@host:port`, with TLS `rediss://…`.",
    )
    redis_password: Password | None = Field(
        None, description="Password at Redis, unless it is in `redis_url`. A secret."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        protocol = self.kafka_security_protocol
        for name in ("kafka_sasl_username", "kafka_sasl_password"):
            if getattr(self, name) is None and protocol in WITH_PASSWORD:
                raise ValueError(f"`{name}` is needed with `kafka_security_protocol` {protocol}")
            if getattr(self, name) is not None and protocol not in WITH_PASSWORD:
                raise ValueError(f"`{name}` is not used with `kafka_security_protocol` {protocol}")
        for name in ("kafka_ssl_cafile", "kafka_ssl_certfile"):
            if getattr(self, name) is not None and protocol not in ENCRYPTED:
                raise ValueError(f"`{name}` is not used with `kafka_security_protocol` {protocol}")
        if (self.kafka_ssl_keyfile is None) != (self.kafka_ssl_certfile is None):
            raise ValueError("`kafka_ssl_certfile` and `kafka_ssl_keyfile` go together")
        if self.redis_password is not None and urlsplit(self.redis_url).password is not None:
            raise ValueError("the password of Redis is given twice, in `redis_url` and as `redis_password`")
        return self

    @property
    def brokers(self) -> Brokers:
        """Kafka, as its clients are told of it."""
        return Brokers(
            self.bootstrap,
            self.kafka_security_protocol,
            self.kafka_sasl_mechanism,
            self.kafka_sasl_username,
            _revealed(self.kafka_sasl_password),
            self.kafka_ssl_cafile,
            self.kafka_ssl_certfile,
            self.kafka_ssl_keyfile,
        )

    @property
    def redis_address(self) -> str:
        """`redis_url` with the password in it: not to be printed."""
        password = _revealed(self.redis_password)
        if password is None:
            return self.redis_url
        parts = urlsplit(self.redis_url)
        user, _, host = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}"))


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
