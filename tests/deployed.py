"""How our processes are started by docker-compose.yml and by the chart: command, environment and secrets, as written."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml
from helm_python.chart import Chart

from tests.docs_printed import ROOT

CHART = ROOT / "deploy/helm/lara"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES: Mapping[str, Any] = COMPOSE["services"]
LEAST = {"kafka": {"bootstrap": "kafka:9092"}, "redis": {"url": "redis://lara@redis:6379"}}
# Everything that the chart can make, and every secret.
WHOLE = {
    "imagePullSecrets": [{"name": "registry"}],
    "settings": {
        "prefix": "shop",
        "partitions": 16,
        "maturity_minutes": 45,
        "stall_seconds": 120.5,
        "surfaces": "chat,app",
    },
    "kafka": {
        "bootstrap": "kafka:9093",
        "securityProtocol": "SASL_SSL",
        "saslUsername": "lara",
        "passwordSecret": {"name": "kafka-user"},
        "caSecret": {"name": "kafka-ca"},
        "clientSecret": "kafka-client",
    },
    "redis": {
        "url": "rediss://lara@redis:6380?ssl_ca_certs=/run/secrets/lara/redis-ca.crt",
        "passwordSecret": {"name": "redis-users", "key": "lara"},
        "readerUrl": "rediss://reader@redis:6380?ssl_ca_certs=/run/secrets/lara/redis-ca.crt",
        "readerPasswordSecret": {"name": "redis-users", "key": "reader"},
        "caSecret": {"name": "redis-ca"},
    },
    "worker": {
        "podAnnotations": {"a/b": "c"},
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"operator": "Exists"}],
    },
    "keda": {"enabled": True},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    "dashboards": {"enabled": True},
    "networkPolicy": {
        "enabled": True,
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
    },
}


class Stated(NamedTuple):
    """A process as a deployment states it; `secrets` maps the names of mounted files to where they come from."""

    command: list[str]
    environment: dict[str, str]
    secrets: dict[str, str]


def of_compose() -> dict[str, Stated]:
    """Our services in docker-compose.yml."""
    return {
        name: Stated(
            service["command"],
            service["environment"],
            {one["target"]: one["source"] for one in service.get("secrets", ())},
        )
        for name, service in SERVICES.items()
        if "build" in service
    }


def rendered(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every object of the chart. Raises `helm_python.errors.HelmError`."""
    with Chart.load(CHART) as chart:
        found = chart.render(dict(values), name="demo", namespace="search")
    texts = (text for path, text in found.items() if path.endswith(".yaml"))
    return [one for text in texts for one in yaml.safe_load_all(text) if one is not None]


def pods(objects: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pods of the chart's processes, by their component."""
    for one in objects:
        if one["kind"] in ("Deployment", "Job"):
            pod = one["spec"]["template"]
            yield pod["metadata"]["labels"]["app.kubernetes.io/component"], pod["spec"]


def of_chart(objects: list[dict[str, Any]]) -> dict[str, Stated]:
    """Our processes in the rendered chart."""
    found = {}
    for name, pod in pods(objects):
        (container,) = pod["containers"]
        sources = [one for volume in pod["volumes"] for one in volume.get("projected", {}).get("sources", ())]
        secrets = {
            item["path"]: f"{one['secret']['name']}/{item['key']}"
            for one in sources
            for item in one["secret"]["items"]
        }
        environment = {one["name"]: one["value"] for one in container["env"]}
        found[name] = Stated(container["args"], environment, secrets)
    return found
