"""What of Redis and of the settings is unsafe."""

import pytest

from streams.commands.doctor_findings import NOTE, PROBLEM, WARNING
from streams.commands.doctor_services import redis_findings, settings_findings
from streams.settings import Settings

SAFE_REDIS = {
    "maxmemory_policy": "noeviction",
    "redis_version": "7.0.15",
    "role": "master",
    "cluster_enabled": 0,
    "aof_enabled": 1,
    "aof_last_write_status": "ok",
    "maxmemory": 1000,
    "used_memory": 100,
    "maxmemory_human": "1000B",
    "used_memory_human": "100B",
}
SASL = {
    "kafka_security_protocol": "SASL_PLAINTEXT",
    "kafka_sasl_username": "lara",
    "kafka_sasl_password": "secret",
}
SAFE = {"replication": 3}


def grades(found):
    return {one.name: one.severity for one in found}


def test_a_safe_server_and_safe_settings_have_no_finding():
    """Alarms that always ring are not heard."""
    assert grades(redis_findings(SAFE_REDIS, "everysec")) == {}
    assert grades(settings_findings(Settings(**SAFE))) == {}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"maxmemory_policy": "allkeys-lru"}, {"redis_eviction": PROBLEM}),
        ({"redis_version": "6.2.14"}, {"redis_version": PROBLEM}),
        ({"redis_version": "8.0.0"}, {}),
        ({"redis_version": "10.0.0"}, {}),
        ({"role": "slave"}, {"redis_role": PROBLEM}),
        ({"cluster_enabled": 1}, {"redis_cluster": PROBLEM}),
        ({"aof_enabled": 0}, {"redis_persistence": PROBLEM}),
        ({"aof_last_write_status": "err"}, {"redis_append": PROBLEM}),
        ({"maxmemory": 0}, {"redis_memory_unlimited": NOTE}),
        ({"used_memory": 699}, {}),
        ({"used_memory": 700}, {"redis_memory": WARNING}),
        ({"used_memory": 900}, {"redis_memory_full": PROBLEM}),
        ({"used_memory": 2000}, {"redis_memory_full": PROBLEM}),
    ],
)
def test_what_info_says_is_judged(changed, expected):
    """Each danger by itself."""
    assert grades(redis_findings({**SAFE_REDIS, **changed}, "everysec")) == expected


@pytest.mark.parametrize(
    ("appendfsync", "expected"),
    [
        ("everysec", {}),
        ("always", {}),
        ("no", {"redis_appendfsync": WARNING}),
        (None, {"redis_appendfsync_unknown": NOTE}),
    ],
)
def test_how_often_redis_writes_is_judged(appendfsync, expected):
    """Also that it does not tell."""
    assert grades(redis_findings(SAFE_REDIS, appendfsync)) == expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"retention_days": 44}, {}),
        ({"retention_days": -1}, {}),
        ({"retention_days": 43}, {"retention_below_outage": WARNING}),
        ({"retention_days": 43, "outage_days": 13}, {}),
        ({"retention_days": 30}, {"retention_below_outage": WARNING}),
        ({"retention_days": 29}, {"retention_below_horizon": PROBLEM}),
        ({"retention_days": 0}, {"retention_below_horizon": PROBLEM}),
        ({"replication": 1}, {"replication": WARNING}),
        ({"deadletter_payloads": True}, {"deadletter_payloads": WARNING}),
        ({"idempotent_producer": False}, {"idempotent_producer": WARNING}),
        ({"redis_url": "redis://state.example:6379"}, {"redis_url": WARNING}),
        ({"redis_url": "redis://user:secret@state.example:6379"}, {}),
        ({"redis_url": "rediss://state.example:6379"}, {}),
        ({"redis_url": "redis://state.example:6379", "redis_password": "secret"}, {}),
        ({**SASL, "kafka_sasl_mechanism": "PLAIN"}, {"kafka_password": WARNING}),
        (SASL, {}),
        ({**SASL, "kafka_sasl_mechanism": "PLAIN", "kafka_security_protocol": "SASL_SSL"}, {}),
        ({"redis_url": "redis://localhost"}, {}),
        ({"redis_url": "unix:///run/redis.sock"}, {}),
    ],
)
def test_settings_that_are_allowed_and_unsafe_are_told(changed, expected):
    """Each by itself, with nothing of a password in it."""
    found = list(settings_findings(Settings(**{**SAFE, **changed})))
    assert grades(found) == expected
    assert not any("secret" in one.what + one.do for one in found)


def test_a_sentence_names_what_was_found_and_what_is_wanted():
    """With numbers, so that nobody has to look them up."""
    (found,) = settings_findings(Settings(replication=3, retention_days=35, outage_days=7))
    assert "35" in found.what and "7 days" in found.what and "37" in found.do
