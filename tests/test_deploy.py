"""The compose file, the image and the users of Redis: what can be checked without a container engine."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.generate.values import read_values
from streams.settings import SECRETS_VARIABLE, read_settings
from streams.state.redis_store import LIBRARY
from tests.deployed import COMPOSE, SERVICES, of_compose
from tests.docs_pages import ROOT, commands

BIN = Path(sys.executable).parent
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text("utf-8")
ACL = (ROOT / "deploy/redis/users.acl").read_text("utf-8")
OURS = of_compose()
VALUES = read_values()
MONITORING = {"canary", "prometheus", "alertmanager", "grafana"}
PINNED = re.compile(r"[\w./-]+:v?\d+\.\d+\.\d+\S*")


def test_the_compose_file_is_one():
    """By the schema of the specification."""
    schema = ["--builtin-schema", "vendor.compose-spec", str(ROOT / "docker-compose.yml")]
    subprocess.run([BIN / "check-jsonschema", *schema], check=True, capture_output=True)


def test_the_dockerfile_has_no_known_flaw():
    """By hadolint."""
    subprocess.run([BIN / "hadolint", ROOT / "deploy/Dockerfile"], check=True)


def test_the_compose_file_has_all_that_runs():
    """Kafka, Redis and our processes; on demand what watches them."""
    assert set(SERVICES) == {"kafka", "redis", "topics", "worker", "exporter", *MONITORING}
    assert {name for name, one in SERVICES.items() if one.get("profiles") == ["monitoring"]} == MONITORING


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting_with_a_valid_value(name, monkeypatch, tmp_path):
    """Command, environment and secrets of our services are accepted as they are written."""
    command, environment, secrets = OURS[name]
    assert f"lara {' '.join(command)}" in dict(commands())
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    for file in secrets:
        (tmp_path / file).write_text("of-a-file\n")
    assert (environment.get(SECRETS_VARIABLE) == "/run/secrets") == bool(secrets)
    if secrets:
        monkeypatch.setenv(SECRETS_VARIABLE, str(tmp_path))
    settings = read_settings()
    assert settings.bootstrap == "kafka:19092"
    assert bool(secrets) == (":of-a-file@redis:6379" in settings.redis_address)


def test_services_name_each_other_as_they_listen():
    """Our services ask for the brokers where the brokers say they are, and for Redis by a user that it has."""
    listeners = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    users = set(re.findall(r"^user (\w+)", ACL, re.MULTILINE))
    for _, environment, _ in OURS.values():
        assert f"INTERNAL://{environment['LARA_BOOTSTRAP']}" in listeners
        if "LARA_REDIS_URL" in environment:
            assert re.fullmatch(r"redis://(\w+)@redis:6379", environment["LARA_REDIS_URL"])[1] in users


@pytest.mark.parametrize("name", ["worker", "exporter", "canary"])
def test_health_checks_ask_the_port_that_is_served(name):
    """A health check that asks another port would restart what is well."""
    port = OURS[name].environment[f"LARA_{name.upper()}_PORT"]
    assert f"127.0.0.1:{port}/livez" in SERVICES[name]["healthcheck"]["test"][-1]
    assert port in re.search(r"^EXPOSE (.+)$", DOCKERFILE, re.MULTILINE)[1].split()


@pytest.mark.parametrize("name", VALUES.prometheus.targets)
def test_prometheus_looks_where_the_services_are(name):
    """Each by the name and port of its service; a name may stand for several containers."""
    (target,) = VALUES.prometheus.targets[name]
    service, _, port = target.partition(":")
    ports = {
        found for variable, found in SERVICES[service].get("environment", {}).items() if "_PORT" in variable
    }
    published = {one.rpartition(":")[2] for one in SERVICES[service].get("ports", ())}
    assert service == name and port in ports | published
    assert VALUES.prometheus.discovery == "dns"


def test_what_is_mounted_is_there():
    """A path that is not in the project would be made by the engine, as an empty folder of root."""
    mounted = {
        volume.partition(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", ())
        if volume.startswith("./")
    }
    assert mounted
    assert [path for path in mounted if not (ROOT / path).is_dir()] == []


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"topics"}))
def test_what_runs_is_asked_how_it_is(name):
    """Everything but the job that ends."""
    assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"


def test_redis_keeps_state_and_evicts_nothing():
    """The state survives a restart, and a full server refuses writes."""
    lines = (ROOT / "deploy/redis/redis.conf").read_text("utf-8").splitlines()
    assert {"appendonly yes", "maxmemory-policy noeviction"} <= set(lines)
    assert "--maxmemory" in SERVICES["redis"]["command"]


def test_the_functions_may_do_what_they_do():
    """A command that a function of the state calls is granted to the user of workers, and to no other."""
    called = {name.lower() for name in re.findall(r"redis\.call\('(\w+)'", LIBRARY)}
    granted = {
        user: set(re.findall(r"\+(\S+)", rules))
        for user, rules in re.findall(r"^user (\w+) (.+)$", ACL, re.MULTILINE)
    }
    assert called <= granted["lara"]
    assert granted["default"] == {"ping"}
    assert granted["reader"] < granted["lara"]
    assert not granted["reader"] & {"set", "fcall", "hset", "hdel", "expire", "zadd", "function|load"}


def test_workers_come_after_the_topics_and_not_beyond_the_partitions():
    """A worker starts when its topics are there, and no more of them than can work."""
    worker = SERVICES["worker"]
    assert worker["depends_on"]["topics"]["condition"] == "service_completed_successfully"
    assert worker["deploy"]["replicas"] <= int(worker["environment"]["LARA_PARTITIONS"])
    assert "ports" not in worker, "a published port is taken by the first of several workers"


@pytest.mark.parametrize("name", SERVICES)
def test_containers_may_do_little(name):
    """No root, no capability, no new privilege, ports for this machine only; and a read-only root for all
    but Kafka, which writes its settings."""
    service = SERVICES[name]
    assert service["user"].partition(":")[0] not in ("root", "0")
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("read_only", False) == (name != "kafka")
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_no_password_is_in_the_project():
    """Secrets are files that git does not see, and each is used by whoever needs it alone."""
    assert {one["file"] for one in COMPOSE["secrets"].values()} == {
        f"./secrets/{name}" for name in ("redis_password", "redis_reader_password", "grafana_password")
    }
    assert "/secrets/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
    made = re.search(r"for name in (.+); do", (ROOT / "deploy/make-secrets.sh").read_text("utf-8"))[1]
    assert set(made.split()) == set(COMPOSE["secrets"])
    assert OURS["exporter"].secrets == {"LARA_REDIS_PASSWORD": "redis_reader_password"}
    assert OURS["worker"].secrets == {"LARA_REDIS_PASSWORD": "redis_password"}


def test_images_are_pinned():
    """The same file starts the same versions tomorrow."""
    images = [service["image"] for service in SERVICES.values()]
    images += re.findall(r"^ARG BASE=(\S+)", DOCKERFILE, re.MULTILINE)
    assert [image for image in images if not PINNED.fullmatch(image)] == []
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"${BASE}"}


def test_the_image_is_built_from_locked_packages_and_runs_as_nobody():
    """Every download is checked by hash, nothing else is fetched, and the process is not root."""
    installs = re.findall(r"pip (?:install|wheel|download) [^\n]*", DOCKERFILE)
    assert installs
    assert [line for line in installs if "--require-hashes" not in line and "--no-index" not in line] == []
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1] == "10001:10001"
    assert 'ENTRYPOINT ["lara"]' in DOCKERFILE


def test_a_build_sees_what_it_copies_and_nothing_else():
    """No secret and no environment gets to the engine."""
    copied = {
        word
        for line in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE)
        for word in line.split()
    }
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {line.removeprefix("!") for line in lines if line.startswith("!")} == copied
    assert "*" in lines


def test_the_image_holds_every_package_of_the_wheel():
    """What the wheel is made of is copied into the build."""
    copied = set(re.findall(r"^COPY (\w+) \1$", DOCKERFILE, re.MULTILINE))
    packages = re.search(r"^packages = (\[.*\])$", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert copied == set(json.loads(packages[1]))
