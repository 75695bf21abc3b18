"""Prometheus and Alertmanager as services of a test, on the generated configuration, and who hears of alerts."""

import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import socket
from typing import Any, NamedTuple

import msgspec

from deploy.generate.__main__ import write
from deploy.generate.values import SHORT, VALUES, Values, read_values
from streams.services import HOST, Service, free_port


class Heard(NamedTuple):
    """One alert in one message: when, by which receiver, and what."""

    at: float
    receiver: str
    status: str
    name: str
    labels: dict[str, str]
    annotations: dict[str, str]


class Webhook:
    """All that receivers hear."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self.port = free_port()

    def take(self, receiver: str, message: dict[str, Any]) -> None:
        self.heard += [
            Heard(
                time.time(),
                receiver,
                alert["status"],
                alert["labels"]["alertname"],
                alert["labels"],
                alert["annotations"],
            )
            for alert in message["alerts"]
        ]

    def of(self, status: str, since: float = 0.0) -> dict[str, Heard]:
        """The first of each name with this status, but the watchdog."""
        found: dict[str, Heard] = {}
        for one in self.heard:
            if one.status == status and one.at >= since and one.name != "LaraWatchdog":
                found.setdefault(one.name, one)
        return found


@contextmanager
def listening() -> Iterator[Webhook]:
    """A webhook, for as long as the block lasts."""
    webhook = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            webhook.take(self.path.strip("/"), json.loads(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer((HOST, webhook.port), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield webhook
        server.shutdown()


def short_values(workers: list[int], exporter: int, alertmanager: int, webhook: int) -> Values:
    """The values of the live test: durations are short, and addresses are those of the test."""
    values = read_values(VALUES, SHORT)
    targets = {
        "worker": [f"{HOST}:{port}" for port in workers],
        "exporter": [f"{HOST}:{exporter}"],
        "canary": [],
        "alertmanager": [f"{HOST}:{alertmanager}"],
    }
    receivers = {severity: f"http://{HOST}:{webhook}/{severity}" for severity in values.notify.receivers}
    return msgspec.structs.replace(
        values,
        prometheus=msgspec.structs.replace(values.prometheus, discovery="static", targets=targets),
        notify=msgspec.structs.replace(values.notify, receivers=receivers),
    )


@contextmanager
def monitoring(directory: Path, values: Values, port: int, alertmanager_port: int) -> Iterator[None]:
    """Prometheus and Alertmanager on what is generated from these values."""
    write(directory, values)
    deploy = directory / "deploy"
    prometheus = Service(
        "prometheus",
        [
            "prometheus",
            f"--config.file={deploy / 'prometheus/prometheus.yml'}",
            f"--storage.tsdb.path={directory / 'prometheus'}",
            f"--web.listen-address={HOST}:{port}",
            "--log.level=warn",
            "--rules.alert.resend-delay=2s",  # what fires before Alertmanager is found is told again
        ],
        directory,
        port,
        _is_ready,
    )
    alertmanager = Service(
        "alertmanager",
        [
            "prometheus-alertmanager",
            f"--config.file={deploy / 'alertmanager/alertmanager.yml'}",
            f"--storage.path={directory / 'alertmanager'}",
            f"--web.listen-address={HOST}:{alertmanager_port}",
            "--cluster.listen-address=",
        ],
        directory,
        alertmanager_port,
        _is_ready,
    )
    with alertmanager, prometheus:
        yield


def _is_ready(connection: socket) -> bool:
    connection.sendall(b"GET /-/ready HTTP/1.0\r\n\r\n")
    return b" 200 " in connection.makefile("rb").readline()


def asked(port: int, path: str) -> Any:
    """What an API answers."""
    with urllib.request.urlopen(f"http://{HOST}:{port}{path}", timeout=10) as answer:
        return json.load(answer)


def firing(prometheus: int) -> set[str]:
    """The names of the alerts that fire in Prometheus, but the watchdog."""
    alerts = asked(prometheus, "/api/v1/alerts")["data"]["alerts"]
    return {one["labels"]["alertname"] for one in alerts if one["state"] == "firing"} - {"LaraWatchdog"}


def silenced(alertmanager: int) -> set[str]:
    """The names of the alerts that Alertmanager holds back since another explains them."""
    alerts = asked(alertmanager, "/api/v2/alerts")
    return {one["labels"]["alertname"] for one in alerts if one["status"]["inhibitedBy"]}
