"""A Prometheus that holds a past: figures of simulated traffic, computed as of many moments.

Rules:
- The figures are those of the exporter, by the same collector, with its clock turned back.
- As-of moves the windows only: evidence that came later than a moment counts at it, as in
  `lara report --as-of`.
"""

import asyncio
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from metrics.exporter import QualityCollector
from streams.commands.backtest import settle_lines
from streams.commands.simulator import Record, lines
from streams.services import HOST, Service, free_port
from streams.settings import published, read_settings

STEP_SECONDS: Final = 1200
CONFIG: Final = """\
global:
  scrape_interval: {interval}
  evaluation_interval: {interval}
scrape_configs:
"""
JOB: Final = """\
  - job_name: {name}
    static_configs:
      - targets: ["{address}"]
"""


def past(records: Iterable[Record], moments: Sequence[int], directory: Path) -> None:
    """Write what an exporter would have shown at these moments (seconds) into Prometheus' storage."""
    settings = read_settings()
    state, _ = asyncio.run(settle_lines(lines(records), settings.semantics))
    now = [float(moments[0])]
    exporter = QualityCollector(state, lambda: now[0], published(settings.definitions))
    file = directory / "past.txt"
    with file.open("w", encoding="utf-8") as out:
        for moment in moments:
            now[0] = float(moment)
            out.writelines(_samples(exporter, moment))
        out.write("# EOF\n")
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(file), str(directory / "data")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    file.unlink()


def _samples(exporter: QualityCollector, moment: int) -> Iterator[str]:
    for family in exporter.collect():
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
            yield f"{sample.name}{{{labels}}} {sample.value} {moment}\n"


def prometheus(directory: Path, targets: Sequence[tuple[str, str]] = (), interval: str = "2s") -> Service:
    """A Prometheus over what its directory holds, that scrapes these (job, host:port)."""
    directory.mkdir(parents=True, exist_ok=True)
    port = free_port()
    config = directory / "prometheus.yml"
    jobs = (JOB.format(name=name, address=address) for name, address in targets)
    config.write_text(CONFIG.format(interval=interval) + "".join(jobs), "utf-8")
    command = [
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address={HOST}:{port}",
        "--storage.tsdb.retention.time=30d",
        "--enable-feature=exemplar-storage",
    ]
    return Service("prometheus", command, directory, port, lambda _: _is_ready(port))


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/-/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError):
        return False
