"""`lara doctor`, Redis and the settings: what of them is unsafe, as tables of dangers.

Rules:
- What is judged is handed in, so that it can be tested without a server; `doctor.py` asks the server.
- A danger holds of INFO, or of the settings; its sentence may name their fields in braces.
- That Redis may evict is said by `redis_store.py`, which refuses to work then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from attribution.semantics import ATTRIBUTION_HORIZON_MS, DAY_MS
from streams.commands.doctor_findings import NOTE, PROBLEM, WARNING, Finding
from streams.settings import Settings
from streams.state.redis_store import evicting

HORIZON_DAYS: Final = ATTRIBUTION_HORIZON_MS // DAY_MS
OLDEST_REDIS: Final = 7  # the first with functions
FULL: Final = 0.7  # of maxmemory; docs/operating.md says to alarm there
NEARLY_OUT: Final = 0.9
LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1", "", None})
Fields = Mapping[str, Any]


class Danger(NamedTuple):
    """When it holds, how grave it is, what it means, and what to do."""

    name: str
    severity: str
    holds: Callable[[Fields], bool]
    what: str
    do: str


def _kept(settings: Fields, least: int, most: int) -> bool:
    """Do topics keep records for so many days? −1 is for ever."""
    return least <= int(settings["retention_days"]) < most


def _open_to_all(settings: Fields) -> bool:
    address = urlsplit(settings["redis_url"])
    secret = address.password or settings["redis_password"]
    return address.scheme == "redis" and not secret and address.hostname not in LOCAL


def _sends_password_as_it_is(settings: Fields) -> bool:
    how = settings["kafka_security_protocol"], settings["kafka_sasl_mechanism"]
    return how == ("SASL_PLAINTEXT", "PLAIN")


def _filled(information: Fields, least: float, most: float) -> bool:
    """Is so much of `maxmemory` in use?"""
    limit = int(information["maxmemory"])
    return limit > 0 and least * limit <= int(information["used_memory"]) < most * limit


# fmt: off
OF_SETTINGS: Final = (
    Danger("retention_below_horizon", PROBLEM, lambda one: _kept(one, 0, HORIZON_DAYS),
           f"retention_days is {{retention_days}}: less than the {HORIZON_DAYS} days of attribution",
           "Set LARA_RETENTION_DAYS to {needed_days} or more."),
    Danger("retention_below_outage", WARNING,
           lambda one: _kept(one, HORIZON_DAYS, one["needed_days"]),
           f"retention_days is {{retention_days}}: less than {HORIZON_DAYS} days of attribution and the "
           "outage of {outage_days} days that outage_days allows for",
           "Set LARA_RETENTION_DAYS to {needed_days} or more, or outage_days to what you are prepared for."),
    Danger("replication", WARNING, lambda one: one["replication"] == 1,
           "replication is 1: topics that are created have a single copy",
           "Set LARA_REPLICATION to 3 where there are three brokers, before topics are created."),
    Danger("deadletter_payloads", WARNING, lambda one: one["deadletter_payloads"],
           "deadletter_payloads is on: dead letters carry whole values, with personal data",
           "Turn it off when the producer is mended, and restrict who reads the topic."),
    Danger("idempotent_producer", WARNING, lambda one: not one["idempotent_producer"],
           "idempotent_producer is off: a retry may repeat outputs and change their order",
           "Turn it on; only the demo's broker cannot do it."),
    Danger("redis_url", WARNING, _open_to_all,
           "redis_url has neither password nor TLS: who reaches the port reads and changes the state",
           "Use rediss://user@host:port and LARA_REDIS_PASSWORD, or keep Redis on a private network."),
    Danger("kafka_password", WARNING, _sends_password_as_it_is,
           "kafka_security_protocol is SASL_PLAINTEXT and the mechanism PLAIN: the password is sent as it is",
           "Use SASL_SSL, or at least a SCRAM mechanism."),
)
OF_REDIS: Final = (
    Danger("redis_version", PROBLEM, lambda one: int(one["redis_version"].split(".")[0]) < OLDEST_REDIS,
           "Redis {redis_version} has no functions", "Use version 7 or newer, or Valkey."),
    Danger("redis_role", PROBLEM, lambda one: one["role"] != "master",
           "redis_url names a replica ({role}): workers cannot write there, and what is read is late",
           "Name the primary in LARA_REDIS_URL."),
    Danger("redis_cluster", PROBLEM, lambda one: bool(one["cluster_enabled"]),
           "Redis is a cluster: lara knows one server only",
           "Use a server without cluster mode; a replica for failover is fine."),
    Danger("redis_persistence", PROBLEM, lambda one: not one["aof_enabled"],
           "Redis keeps no append-only file: a restart forgets all that the topics no longer hold",
           "Set appendonly yes and appendfsync everysec."),
    Danger("redis_append", PROBLEM, lambda one: one["aof_enabled"] and one["aof_last_write_status"] != "ok",
           "Redis could not write its append-only file", "Look at its disk and its log."),
    Danger("redis_appendfsync", WARNING, lambda one: one["aof_enabled"] and one["appendfsync"] == "no",
           "appendfsync is no: a power cut loses what the system held back, often 30 seconds",
           "Set appendfsync everysec."),
    Danger("redis_appendfsync_unknown", NOTE, lambda one: one["aof_enabled"] and one["appendfsync"] is None,
           "Redis does not tell appendfsync: CONFIG is not allowed", "See that it is everysec or always."),
    Danger("redis_memory_unlimited", NOTE, lambda one: not one["maxmemory"],
           "maxmemory is not set: a state that grows is ended by the system, not by Redis",
           "Set maxmemory below the machine's memory and well above the state."),
    Danger("redis_memory", WARNING, lambda one: _filled(one, FULL, NEARLY_OUT),
           "Redis uses {used_memory_human} of {maxmemory_human}: when it is full, workers wait",
           "Raise maxmemory."),
    Danger("redis_memory_full", PROBLEM, lambda one: _filled(one, NEARLY_OUT, float("inf")),
           "Redis uses {used_memory_human} of {maxmemory_human}: when it is full, workers wait",
           "Raise maxmemory now."),
)
# fmt: on


def found(name: str, severity: str, what: str, do: str, about: Sequence[str] = ()) -> Finding:
    """A finding about a service or a setting, and the names of what it is about."""
    return Finding(
        name=name, severity=severity, what=what, do=do, count=len(about) or None, examples=tuple(about)
    )


def _dangers(table: Sequence[Danger], fields: Fields) -> Iterator[Finding]:
    for danger in table:
        if danger.holds(fields):
            what, do = danger.what.format(**fields), danger.do.format(**fields)
            yield found(danger.name, danger.severity, what, do)


def settings_findings(settings: Settings) -> Iterator[Finding]:
    """Settings that are allowed, and unsafe."""
    fields = settings.model_dump()
    yield from _dangers(OF_SETTINGS, {**fields, "needed_days": HORIZON_DAYS + settings.outage_days})


def redis_findings(information: Fields, appendfsync: str | None) -> Iterator[Finding]:
    """What is unsafe by INFO; `appendfsync` is None where the server does not tell it."""
    if (danger := evicting(information)) is not None:
        yield found("redis_eviction", PROBLEM, danger, "Set maxmemory-policy noeviction.")
    yield from _dangers(OF_REDIS, {**information, "appendfsync": appendfsync})
