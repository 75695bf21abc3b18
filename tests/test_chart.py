"""The Helm chart: rendered without a cluster, and valid by the schemas of Kubernetes."""

import copy
import json
import re
from importlib.metadata import version

import kubernetes_validate
import pytest
import yaml
from helm_python.chart import lint
from helm_python.errors import HelmError

from deploy.generate.chart_files import CHART as CHART_FOLDER
from deploy.generate.chart_files import chart_files
from streams.settings import SECRETS_VARIABLE, read_settings
from tests.deployed import CHART, LEAST, SERVICES, WHOLE, of_chart, pods, rendered
from tests.docs_pages import ROOT, commands

KUBERNETES = ("1.27", "1.33")  # the oldest that the chart allows, and one that many run
OPERATORS = ("monitoring.coreos.com", "keda.sh")  # their schemas come with them
CASES = {"least": LEAST, "whole": WHOLE}
OBJECTS = {name: rendered(values) for name, values in CASES.items()}


def kinds(name: str) -> list[str]:
    return sorted(f"{one['kind']}/{one['metadata']['name']}" for one in OBJECTS[name])


def changed(values: dict, path: str, value: object) -> dict:
    """The values with another one at a path."""
    found = copy.deepcopy(values)
    *folders, name = path.split(".")
    place = found
    for folder in folders:
        place = place.setdefault(folder, {})
    place[name] = value
    return found


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_it_has_no_flaw_that_helm_knows(values):
    """`helm lint`, strictly; only an icon is missing."""
    report = lint(str(CHART), values, strict=True)
    assert report["errors"] == []
    assert [one["error"] for one in report["messages"] if "icon" not in one["error"]] == []


@pytest.mark.parametrize("release", KUBERNETES)
@pytest.mark.parametrize("name", CASES)
def test_every_object_is_valid_for_kubernetes(name, release):
    """Strictly: an unknown field is an error."""
    core = [one for one in OBJECTS[name] if not one["apiVersion"].startswith(OPERATORS)]
    assert len(core) >= 8
    for one in core:
        kubernetes_validate.validate(one, release, strict=True)


def test_the_least_is_what_must_run():
    """Without operators: processes, their metrics, the budget of workers, and the topics before them."""
    assert kinds("least") == [
        "Deployment/demo-canary",
        "Deployment/demo-exporter",
        "Deployment/demo-worker",
        "Job/demo-topics",
        "PodDisruptionBudget/demo-worker",
        "Service/demo-canary",
        "Service/demo-exporter",
        "Service/demo-worker",
    ]


def test_what_is_asked_for_is_made_and_no_secret():
    """Scaling, monitoring, dashboards and the network policy; secrets are only named."""
    assert set(kinds("whole")) >= {
        "ScaledObject/demo-worker",
        "TriggerAuthentication/demo-kafka",
        "ServiceMonitor/demo",
        "NetworkPolicy/demo",
    }
    assert not [one for one in kinds("whole") if one.startswith("Secret/")]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("kafka.bootstrap", "", "bootstrap"),
        ("redis.url", "", "url"),
        ("redis.url", "redis://lara:secret@redis:6379", "url"),
        ("colour", "red", "colour"),
        ("worker.replica", 3, "replica"),
        ("worker.replicas", 0, "replicas"),
        ("worker.replicas", 9, "spares"),
        ("keda", {"enabled": True, "maxReplicas": 9}, "spares"),
        ("keda.minReplicas", 0, "minReplicas"),
        ("kafka.securityProtocol", "TLS", "securityProtocol"),
        ("settings.partition", 4, "partition"),
        ("settings.redis_password", "secret", "redis_password"),
        ("settings.worker_port", 9200, "worker_port"),
        ("settings.prefix", ["a"], "prefix"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(path, value, told):
    """Before anything is installed; a password among the values is refused too."""
    with pytest.raises(HelmError, match=told):
        rendered(changed(LEAST, path, value))


@pytest.mark.parametrize("case", CASES)
def test_every_process_is_accepted_as_it_is_written(case, monkeypatch, tmp_path):
    """Command, environment and secrets make settings, and these say what the values say."""
    for name, (command, environment, secrets) in of_chart(OBJECTS[case]).items():
        assert f"lara {' '.join(command)}" in dict(commands())
        with monkeypatch.context() as patch:
            for file in secrets:
                (tmp_path / file).write_text("of-a-file\n")
            for variable, value in environment.items():
                patch.setenv(variable, value.replace("/run/secrets/lara", str(tmp_path)))
            assert (SECRETS_VARIABLE in environment) == bool(secrets)
            settings = read_settings()
        assert settings.bootstrap == CASES[case]["kafka"]["bootstrap"]
        if case == "whole":
            assert (settings.prefix, settings.partitions, settings.stall_seconds) == ("shop", 16, 120.5)
            assert settings.brokers.password == "of-a-file"
            user = {"worker": "lara", "exporter": "reader"}.get(name)
            assert user is None or settings.redis_address.startswith(f"rediss://{user}:of-a-file@redis:6380")


def test_only_who_needs_the_state_has_its_password():
    """Workers one that writes, the exporter one that reads, the others none."""
    found = {name: one.secrets.get("LARA_REDIS_PASSWORD") for name, one in of_chart(OBJECTS["whole"]).items()}
    assert found == {
        "worker": "redis-users/lara",
        "exporter": "redis-users/reader",
        "canary": None,
        "topics": None,
    }


@pytest.mark.parametrize("case", CASES)
def test_pods_may_do_little(case):
    """No root, no token, no capability, nothing to write but a small /tmp, and bounded memory."""
    for name, pod in pods(OBJECTS[case]):
        (container,) = pod["containers"]
        assert (pod["securityContext"]["runAsUser"], pod["automountServiceAccountToken"]) == (10001, False)
        assert pod["securityContext"]["runAsNonRoot"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert name == "topics" or "memory" in container["resources"]["limits"]


def test_probes_ask_the_port_that_is_served():
    """Alive and ready are other questions; a worker that waits for Redis must not be restarted."""
    for name, pod in pods(OBJECTS["least"]):
        (container,) = pod["containers"]
        if name == "topics":
            continue
        environment = {one["name"]: one["value"] for one in container["env"]}
        assert [one["containerPort"] for one in container["ports"]] == [
            int(environment[f"LARA_{name.upper()}_PORT"])
        ]
        assert container["livenessProbe"]["httpGet"]["path"] == "/livez"
        assert container["startupProbe"]["httpGet"]["path"] == "/livez"
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_selectors_find_the_pods_they_are_meant_for():
    """Of services, of the budget, of the monitor; no deployment takes another's pods."""
    labels = {name: pod["metadata"]["labels"] for name, pod in templates("whole").items()}
    by_kind = {(one["kind"], one["metadata"]["name"]): one for one in OBJECTS["whole"]}
    for name, own in labels.items():
        service = by_kind["Service", f"demo-{name}"]
        assert service["spec"]["selector"].items() <= own.items()
        monitor = by_kind["ServiceMonitor", "demo"]["spec"]
        assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        assert service["metadata"]["labels"][monitor["jobLabel"]] == {"canary": "canary"}.get(
            name, f"lara-{name}"
        )
        selector = by_kind["Deployment", f"demo-{name}"]["spec"]["selector"]["matchLabels"]
        assert [other for other, found in labels.items() if selector.items() <= found.items()] == [name]
    budget = by_kind["PodDisruptionBudget", "demo-worker"]["spec"]["selector"]["matchLabels"]
    assert [other for other, found in labels.items() if budget.items() <= found.items()] == ["worker"]


def templates(case: str) -> dict[str, dict]:
    found = (one for one in OBJECTS[case] if one["kind"] == "Deployment")
    return {one["metadata"]["name"].removeprefix("demo-"): one["spec"]["template"] for one in found}


def test_scaling_follows_the_lag_of_the_group_and_keeps_one_worker():
    """And then the deployment does not say how many there are."""
    (scaled,) = (one["spec"] for one in OBJECTS["whole"] if one["kind"] == "ScaledObject")
    (trigger,) = scaled["triggers"]
    assert scaled["minReplicaCount"] >= 1
    assert trigger["metadata"] == {
        "bootstrapServers": "kafka:9093",
        "consumerGroup": "shop",
        "lagThreshold": "20000",
        "offsetResetPolicy": "earliest",
        "sasl": "scram_sha512",
        "tls": "enable",
    }
    deployments = [one["spec"] for one in OBJECTS["whole"] if one["kind"] == "Deployment"]
    assert sorted(one.get("replicas", 0) for one in deployments) == [0, 1, 1]


def test_the_policy_lets_in_metrics_only_and_out_what_is_needed():
    """Names, Kafka and Redis."""
    (policy,) = (one["spec"] for one in OBJECTS["whole"] if one["kind"] == "NetworkPolicy")
    assert [one["ports"] for one in policy["ingress"]] == [[{"port": "metrics"}]]
    assert sorted({port["port"] for one in policy["egress"] for port in one["ports"]}) == [53, 6379, 9092]


def test_generated_files_are_those_of_the_code_and_of_their_originals():
    """Rules, dashboards, and the settings that the schema lets through."""
    committed = set((CHART_FOLDER / "files").glob("*/*")) | {CHART_FOLDER / "values.schema.json"}
    found = chart_files()
    assert committed == found.keys(), "run: python -m deploy.generate.chart_files"
    for path, text in found.items():
        assert path.read_text("utf-8") == text, "run: python -m deploy.generate.chart_files"


def test_rules_and_dashboards_are_in_the_chart():
    """Each rule file an object with its groups, each dashboard a config map with its JSON unharmed."""
    rules = {
        one["metadata"]["name"]: one["spec"] for one in OBJECTS["whole"] if one["kind"] == "PrometheusRule"
    }
    boards = [one["data"] for one in OBJECTS["whole"] if one["kind"] == "ConfigMap"]
    files = chart_files()
    assert len(rules) == sum(path.parent.name == "rules" for path in files)
    assert all(set(spec) == {"groups"} for spec in rules.values())
    for data in boards:
        ((name, text),) = data.items()
        assert json.loads(text) == json.loads(files[CHART_FOLDER / "files/dashboards" / name])


def test_the_example_of_the_docs_is_accepted():
    """As it is written, with everything that it turns on."""
    (written,) = re.findall(
        r"```yaml\n(# shop.yaml\n.*?)```", (ROOT / "docs/operating.md").read_text("utf-8"), re.DOTALL
    )
    objects = rendered(yaml.safe_load(written))
    assert {"ServiceMonitor", "NetworkPolicy"} <= {one["kind"] for one in objects}
    assert of_chart(objects)["worker"].environment["LARA_PREFIX"] == "shop"


def test_the_versions_are_one():
    """Of the chart, its application, the package and the image in compose."""
    chart = (CHART / "Chart.yaml").read_text("utf-8")
    own = version("lara")
    assert re.findall(r'ersion: "?([\d.]+)"?$', chart, re.MULTILINE) == [own, own]
    assert {one["image"] for one in SERVICES.values() if "build" in one} == {f"lara:{own}"}
