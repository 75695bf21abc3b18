"""Every setting of a deployment: from the environment (`LARA_…`) and one TOML file, validated at start.

Rules:
- The environment outranks secrets, and they the file. The file is named by `LARA_CONFIG` (default
  `lara.toml`, if it is there); secrets are files in a folder that `LARA_SECRETS` names, called as variables.
- A setting that is unknown, of the wrong type or out of range ends the program with a sentence that names it.
- Settings that change the meaning of figures are gathered in `Settings.semantics`; the state remembers them.
- `settings_markdown` writes docs/settings.md from these very fields.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from attribution.definitions import DEFAULT_DEFINITIONS, Definition, read_definitions
from attribution.semantics import (
    DEFAULT_COMPLETION,
    DEFAULT_ROUTES,
    DEFAULT_SURFACES,
    Exclusion,
    Semantics,
)
from metrics.schema import PublishedDefinition
from metrics.vocabularies import with_routes
from streams.connection_settings import SECRETS, ConnectionSettings

CONFIG_VARIABLE: Final = "LARA_CONFIG"
SECRETS_VARIABLE: Final = "LARA_SECRETS"
DEFAULT_CONFIG: Final = "lara.toml"
# Longest attribution (30 days) and the longest outage a deployment is prepared for (14 days).
RETENTION_DAYS: Final = 44


def _listed(value: object) -> object:
    """A list from the environment: its elements separated by commas."""
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
Labels = Annotated[tuple[Label, ...], NoDecode, BeforeValidator(_listed)]
Texts = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
Port = Annotated[int, Field(ge=0, le=65535)]


class SettingsError(Exception):
    """A setting is wrong; the message says which, and what it must be."""


class Settings(ConnectionSettings):
    """The settings of one process."""

    model_config = SettingsConfigDict(env_prefix="LARA_", extra="forbid", frozen=True)

    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$", max_length=80)] = Field(
        "lara", description="Begins every topic name; also every Redis key, and it is the consumer group."
    )
    state_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$", max_length=80)] | None = Field(
        None,
        description="Begins every Redis key instead of `prefix`, and is the consumer group: a rebuilt state.",
    )
    shards: int = Field(
        8, ge=1, le=64, description="Logical shards of the state. Fixed for the life of a prefix."
    )
    partitions: int = Field(8, ge=1, description="Partitions of a topic that `topics create` makes.")
    replication: int = Field(1, ge=1, description="Replicas of a topic that `topics create` makes.")
    retention_days: int = Field(
        RETENTION_DAYS,
        ge=-1,
        description="How long topics keep records, by their timestamp; −1 keeps all. At least 30 days "
        "(attribution horizon) plus the worst outage.",
    )
    outage_days: int = Field(
        14, ge=1, le=365, description="The longest outage for which state is kept beyond its 37 days."
    )
    surfaces: Labels = Field(
        DEFAULT_SURFACES, description="Surface labels; any other is shown as `other`. Changes figures."
    )
    definitions_file: Path | None = Field(
        None, description="TOML file with further definitions of a genuine positive. Changes figures."
    )
    synthetic_session_prefixes: Texts = Field(
        (), description="Sessions that begin so are in no figure. Changes figures."
    )
    synthetic_user_ids: Texts = Field((), description="Users that are in no figure. Changes figures.")
    synthetic_queries: Texts = Field((), description="Queries that are in no figure. Changes figures.")
    routes: Labels = Field(
        DEFAULT_ROUTES,
        description="Routes of the planner that are labels; any other is `other`. Changes figures.",
    )
    gain: Literal["exponential", "linear"] = Field(
        "exponential", description="Gain of a grade in NDCG: 2^grade − 1, or the grade. Changes figures."
    )
    inference: Literal["shadow", "credit"] = Field(
        "shadow",
        description="Whether rule 5 (time and session) credits, or is only compared. Changes figures.",
    )
    inferred_research: Literal["shadow", "count"] = Field(
        "shadow", description="Whether a similar query soon after counts as a failure. Changes figures."
    )
    completion: dict[str, tuple[str, ...]] = Field(
        {},
        description='What completes the task of a role, as `{"browse": ["user select"]}`; `others` is a role '
        "too. Roles that are not named keep their default. Changes figures.",
    )
    maximum_statements: int = Field(
        1000,
        ge=10,
        description="Statements of a kind that one retrieval, request, document, session, conversation or "
        "query keeps, the first by time (docs/failure.md). Changes figures where it is met.",
    )
    maximum_variants: int = Field(
        16, ge=2, description="Records of one identity that are kept, first by time. Changes figures."
    )
    maturity_minutes: int = Field(
        30, ge=1, le=1440, description="Age at which a retrieval without evidence is unobserved, not pending."
    )
    deadletter_payloads: bool = Field(
        False, description="Whether dead letters carry the whole value, which may hold personal data."
    )
    idempotent_producer: bool = Field(
        True,
        description="Whether outputs are produced idempotently; off for brokers that cannot (the demo's).",
    )
    max_records: int = Field(1000, ge=1, le=10_000, description="Records of a partition settled at once.")
    stall_seconds: float = Field(
        300.0,
        ge=5,
        description="After how long without progress a worker ends, although there is something to read and "
        "Redis and Kafka answer.",
    )
    exemplars: bool = Field(
        False,
        description="Whether `lara_evidence_delay_seconds` carries exemplars with a `retrieval_id` "
        "(OpenMetrics). Ids are then in the metrics.",
    )
    worker_port: Port = Field(9101, description="Port of a worker's own metrics; 0 takes a free one.")
    exporter_port: Port = Field(9102, description="Port of the exporter; 0 takes a free one.")
    canary_port: Port = Field(9103, description="Port of the canary's metrics; 0 takes a free one.")
    canary_interval_seconds: float = Field(
        60.0, ge=1, description="How often the canary sends events of its own, from one sending to the next."
    )
    canary_timeout_seconds: float = Field(
        30.0, ge=1, description="After how long the canary counts as lost what has not come back."
    )
    audit_keys_per_second: int = Field(
        200, ge=0, description="How fast the exporter audits the state in the background; 0: not at all."
    )
    broker_session_timeout_seconds: float = Field(
        30.0, ge=1, description="After how long without a heartbeat a worker has left the group."
    )
    broker_rebalance_timeout_seconds: float = Field(
        45.0, ge=1, description="How long a rebalance may wait for a worker to finish its batch."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then secrets, then the file."""
        file = Path(os.environ.get(CONFIG_VARIABLE, DEFAULT_CONFIG))
        secrets = SecretsSettingsSource(settings_cls, os.environ.get(SECRETS_VARIABLE))
        return init_settings, env_settings, secrets, TomlConfigSettingsSource(settings_cls, toml_file=file)

    @property
    def state_name(self) -> str:
        """What every Redis key begins with, and the consumer group."""
        return self.state_prefix or self.prefix

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The definitions of the contract and those of the file. Raises `SettingsError`."""
        if self.definitions_file is None:
            return DEFAULT_DEFINITIONS
        try:
            return read_definitions(tomllib.loads(self.definitions_file.read_text()))
        except (OSError, ValueError, msgspec.ValidationError) as error:
            raise SettingsError(f"definitions_file {self.definitions_file}: {error}") from None

    @property
    def semantics(self) -> Semantics:
        """All that changes the meaning of a figure."""
        exclusion = Exclusion(
            self.synthetic_session_prefixes, self.synthetic_user_ids, self.synthetic_queries
        )
        completion = {**dict(DEFAULT_COMPLETION), **dict(sorted(self.completion.items()))}
        return Semantics(
            self.definitions,
            self.surfaces,
            exclusion,
            self.inferred_research,
            self.inference,
            self.gain,
            tuple(completion.items()),
            self.routes,
            self.maximum_statements,
            self.maximum_variants,
        )

    @property
    def vocabularies(self) -> Mapping[str, tuple[str, ...]]:
        """The values that labels of figures may have."""
        return with_routes(self.routes)


def published(definitions: tuple[Definition, ...]) -> list[PublishedDefinition]:
    """Definitions as the figures print them."""
    return [PublishedDefinition(one.name, str(one.version), one.digest) for one in definitions]


def read_settings(**given: Any) -> Settings:
    """The settings of this process; `given` outranks all. Raises `SettingsError` with one line a mistake."""
    file = os.environ.get(CONFIG_VARIABLE)
    if file is not None and not Path(file).is_file():
        raise SettingsError(f"{CONFIG_VARIABLE} names {file}, which is no file")
    _refuse_unknown_names()
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise SettingsError("\n".join(_sentence(one) for one in error.errors())) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file or DEFAULT_CONFIG} is not TOML: {error}") from None
    settings.definitions  # noqa: B018  # read once at the start, so that a mistake in it ends the program here
    return settings


def _refuse_unknown_names() -> None:
    known = {f"LARA_{name.upper()}" for name in Settings.model_fields} | {CONFIG_VARIABLE, SECRETS_VARIABLE}
    known |= {"LARA_DEMO_SECONDS"}  # of the Makefile
    unknown = sorted(name for name in os.environ if name.startswith("LARA_") and name not in known)
    if unknown:
        raise SettingsError(f"no such setting: {', '.join(unknown)} (see docs/settings.md)")
    folder = os.environ.get(SECRETS_VARIABLE)
    if folder is None:
        return
    if not Path(folder).is_dir():
        raise SettingsError(f"{SECRETS_VARIABLE} names {folder}, which is no folder")
    secrets = (file.name for file in Path(folder).iterdir())
    unknown = sorted(name for name in secrets if name.startswith("LARA_") and name not in known)
    if unknown:
        raise SettingsError(f"no such setting: {', '.join(unknown)} in {folder} (see docs/settings.md)")


def _sentence(error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"])
    if not name:  # several settings that do not fit together
        return str(error["msg"]).removeprefix("Value error, ")
    hidden = error["type"] == "extra_forbidden" or error["loc"][0] in SECRETS
    given = "" if hidden else f" (given: {error['input']!r})"
    return f"setting `{name}`: {error['msg']}{given}"


def settings_markdown() -> str:
    """The table of docs/settings.md."""
    lines = ["| setting | variable | default | what it is |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = ",".join(default) if isinstance(default, tuple) else default
        cell = "none" if shown in ("", None) else f"`{shown}`"
        lines.append(f"| `{name}` | `LARA_{name.upper()}` | {cell} | {field.description} |")
    return "\n".join(lines) + "\n"
