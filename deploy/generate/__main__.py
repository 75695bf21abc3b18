"""`python -m deploy.generate`: write every generated file; a test compares them with what is committed."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from deploy.generate import chart_files, files
from deploy.generate.alertmanager import alertmanager_yaml
from deploy.generate.alerts_page import alerts_markdown
from deploy.generate.dashboards import dashboards
from deploy.generate.thresholds import thresholds
from deploy.generate.values import Values, read_values
from metrics.alerts import ALERTS

ROOT: Final = Path(__file__).parents[2]
# path from the project's root -> what it holds
GENERATED: Final[Mapping[str, Callable[[Values], str]]] = {
    "deploy/prometheus/rules.yaml": files.rules_yaml,
    "deploy/prometheus/shares.yaml": files.shares_yaml,
    "deploy/prometheus/alerts.yaml": files.alerts_yaml,
    "deploy/prometheus/prometheus.yml": files.prometheus_yaml,
    "deploy/alertmanager/alertmanager.yml": alertmanager_yaml,
    "docs/alerts.md": alerts_markdown,
    **{
        f"deploy/prometheus/tests/{alert.name}.yaml": partial(files.tests_yaml, alert)
        for alert in ALERTS.values()
    },
}


def write(root: Path, values: Values) -> None:
    """Write all of them under this folder, and the dashboards."""
    boards = {f"deploy/grafana/{path}": text for path, text in dashboards(thresholds()).items()}
    for path, text in {**{path: text(values) for path, text in GENERATED.items()}, **boards}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


if __name__ == "__main__":
    write(ROOT, read_values())
    chart_files.write()  # copies of what now stands there
