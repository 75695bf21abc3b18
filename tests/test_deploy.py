"""The compose file and the image: what can be checked without a container engine.

`read_yaml` reads the plain YAML that the compose file keeps to: mappings by two spaces, lists and quoted text
as JSON, anchors of whole mappings. What it cannot read is too clever for that file.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from streams.settings import Settings
from tests.docs_pages import ROOT, commands

COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text("utf-8")
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text("utf-8")
OURS = ("topics", "worker", "exporter")
PINNED = re.compile(r"[\w./-]+:\d+\.\d+\.\d+\S*")


class Lines:
    """The lines of a document, with their indents, to be taken from the front."""

    def __init__(self, document: str) -> None:
        found = (line for line in document.splitlines() if line.strip() and not line.lstrip().startswith("#"))
        self.left = [(len(line) - len(line.lstrip()), line.strip()) for line in found]
        self.anchors: dict[str, dict[str, Any]] = {}

    def mapping(self, indent: int) -> dict[str, Any]:
        """The mapping whose keys stand at this indent."""
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while self.left and self.left[0][0] == indent:
            key, value = re.fullmatch(r"([\w.<-]+):(?: (.+))?", self.left.pop(0)[1]).groups()
            if key == "<<":
                merged = self.anchors[value.removeprefix("*")]
                continue
            assert key not in found, f"{key} stands twice"
            found[key] = self.value(value, indent)
        return {**merged, **found}

    def value(self, value: str | None, indent: int) -> Any:
        """A scalar, a list, or the mapping below."""
        if value is None or value.startswith("&"):
            below = self.mapping(indent + 2)
            self.anchors |= {value.removeprefix("&"): below} if value else {}
            return below
        return json.loads(value) if value[0] in '["' else value


def read_yaml(document: str) -> dict[str, Any]:
    lines = Lines(document)
    found = lines.mapping(0)
    assert not lines.left, f"not plain YAML: {lines.left[0]}"
    return found


COMPOSE = read_yaml(COMPOSE_TEXT)
SERVICES = COMPOSE["services"]


def environments() -> Iterator[tuple[str, str]]:
    for name in OURS:
        yield from SERVICES[name]["environment"].items()


def test_the_compose_file_has_all_that_runs():
    """Kafka, Redis, the topics, workers and the exporter."""
    assert set(SERVICES) == {"kafka", "redis", *OURS}


def test_every_variable_is_a_setting_with_a_valid_value(monkeypatch):
    """The environment of our services is accepted as it is written."""
    given = {name.removeprefix("LARA_").lower(): value for name, value in environments()}
    assert set(given) <= set(Settings.model_fields)
    for name, value in environments():
        monkeypatch.setenv(name, value)
    assert Settings().bootstrap == "kafka:19092"


@pytest.mark.parametrize("name", OURS)
def test_every_command_exists(name):
    """What a container runs is a command of this version."""
    assert f"lara {' '.join(SERVICES[name]['command'])}" in dict(commands())


def test_services_name_each_other_as_they_listen():
    """Our services ask for the brokers where the brokers say they are."""
    settings = dict(environments())
    assert (
        f"INTERNAL://{settings['LARA_BOOTSTRAP']}"
        in SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    )
    assert settings["LARA_REDIS_URL"] == "redis://redis:6379"


@pytest.mark.parametrize(
    ("name", "variable"), [("worker", "LARA_WORKER_PORT"), ("exporter", "LARA_EXPORTER_PORT")]
)
def test_health_checks_ask_the_port_that_is_served(name, variable):
    """A health check that asks another port would restart what is well."""
    service = SERVICES[name]
    assert f"127.0.0.1:{service['environment'][variable]}/livez" in service["healthcheck"]["test"][-1]
    assert (
        f"EXPOSE {' '.join(dict(environments())[one] for one in ('LARA_WORKER_PORT', 'LARA_EXPORTER_PORT'))}"
        in DOCKERFILE
    )


def test_redis_keeps_state_and_evicts_nothing():
    """The state survives a restart, and a full server refuses writes."""
    command = SERVICES["redis"]["command"]
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert (options["--appendonly"], options["--maxmemory-policy"]) == ("yes", "noeviction")


def test_workers_come_after_the_topics_and_not_beyond_the_partitions():
    """A worker starts when its topics are there, and no more of them than can work."""
    worker = SERVICES["worker"]
    assert worker["depends_on"]["topics"]["condition"] == "service_completed_successfully"
    assert int(worker["deploy"]["replicas"]) <= int(worker["environment"]["LARA_PARTITIONS"])
    assert "ports" not in worker, "a published port is taken by the first of several workers"


@pytest.mark.parametrize("name", ["kafka", "redis", *OURS])
def test_containers_may_do_little(name):
    """No capability, no new privilege, and a read-only root for all but Kafka, which writes its settings."""
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("read_only") == ("true" if name != "kafka" else None)


def test_images_are_pinned():
    """The same file starts the same versions tomorrow."""
    images = [service["image"] for service in SERVICES.values()] + re.findall(
        r"^FROM (\S+)", DOCKERFILE, re.MULTILINE
    )
    assert [image for image in images if not PINNED.fullmatch(image)] == []


def test_the_image_is_built_from_locked_packages_and_runs_as_nobody():
    """Every download is checked by hash, nothing else is fetched, and the process is not root."""
    installs = re.findall(r"pip (?:install|wheel|download) [^\n]*", DOCKERFILE)
    assert installs
    assert [line for line in installs if "--require-hashes" not in line and "--no-index" not in line] == []
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1] == "10001:10001"
    assert 'ENTRYPOINT ["lara"]' in DOCKERFILE


def test_the_image_holds_every_package_of_the_wheel():
    """What the wheel is made of is copied into the build."""
    copied = set(re.findall(r"^COPY (\w+) \1$", DOCKERFILE, re.MULTILINE))
    packages = re.search(r"^packages = (\[.*\])$", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert copied == set(json.loads(packages[1]))
