"""Prometheus on back-filled blocks: when an alert's own expression is true, and when the alert then fires."""

import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import Any, Final

from deploy.montecarlo.exported import STEP_MINUTES
from streams.services import HOST, Service, free_port

MONTHS: Final = "1440h"  # of one block: everything
Labels = tuple[tuple[str, str], ...]


@contextmanager
def prometheus_on(file: Path, directory: Path) -> Iterator[int]:
    """The port of a Prometheus that holds the series of an OpenMetrics file, and scrapes nothing."""
    data = directory / "data"
    blocks = ["promtool", "tsdb", "create-blocks-from", f"--max-block-duration={MONTHS}", "openmetrics"]
    subprocess.run([*blocks, str(file), str(data)], check=True, capture_output=True)
    config, port = directory / "nothing.yml", free_port()
    config.write_text("global: {}\n", "utf-8")
    command = [
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={data}",
        "--storage.tsdb.retention.time=100y",
        "--query.timeout=20m",
        f"--web.listen-address={HOST}:{port}",
        "--log.level=warn",
    ]
    with Service("prometheus", command, directory, port, _is_ready):
        yield port


def _is_ready(connection: socket) -> bool:
    connection.sendall(b"GET /-/ready HTTP/1.0\r\n\r\n")
    return b" 200 " in connection.makefile("rb").readline()


def true_minutes(port: int, expression: str, start_seconds: int, length: int) -> dict[Labels, list[int]]:
    """Of each label set the minutes, from the start on, at which an expression gives something."""
    asked = {
        "query": expression,
        "start": start_seconds,
        "end": start_seconds + 60 * length,
        "step": 60 * STEP_MINUTES,
    }
    body = urllib.parse.urlencode(asked).encode()
    with urllib.request.urlopen(f"http://{HOST}:{port}/api/v1/query_range", body, timeout=1200) as answer:
        found: list[Mapping[str, Any]] = json.load(answer)["data"]["result"]
    return {_labels(one["metric"]): [_minute(at, start_seconds) for at, _ in one["values"]] for one in found}


def _labels(metric: Mapping[str, str]) -> Labels:
    return tuple(sorted((name, value) for name, value in metric.items() if name in ("role", "surface")))


def _minute(seconds: float, start_seconds: int) -> int:
    return (int(seconds) - start_seconds) // 60


def episodes(minutes: Sequence[int], hold: float, keep: float) -> list[int]:
    """When it began to fire, with `for` and `keep_firing_for` in minutes, evaluated every step."""
    fired: list[int] = []
    since = last = until = -1
    for minute in minutes:
        if minute - last > STEP_MINUTES or since < 0:
            since = minute  # it was not so a step ago: pending begins anew
        last = minute
        fires_on = bool(fired) and minute <= until
        if fires_on or minute - since >= hold:
            if not fires_on:
                fired.append(minute)
            until = minute + STEP_MINUTES + int(keep)
    return fired
