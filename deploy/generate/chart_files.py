"""What the chart needs a copy of: a chart reads no file outside its folder.

Rules:
- Rules and dashboards are those of deploy/prometheus and deploy/grafana, as they stand there.
- `settings` of the values takes every setting of the program that the chart does not set by itself.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from streams.connection_settings import ConnectionSettings
from streams.settings import Settings

DEPLOY: Final = Path(__file__).parents[1]
CHART: Final = DEPLOY / "helm/lara"
PORTS: Final = frozenset({"worker_port", "exporter_port", "canary_port"})
NO_RULES: Final = frozenset({"prometheus.yml"})  # of the folder of rules


def copies() -> Mapping[Path, Path]:
    """From each file in the chart to the one that it is a copy of."""
    rules = (one for one in (DEPLOY / "prometheus").glob("*.y*ml") if one.name not in NO_RULES)
    boards = (DEPLOY / "grafana/dashboards").glob("*.json")
    folders = {"rules": rules, "dashboards": boards}
    return {CHART / "files" / folder / one.name: one for folder, found in folders.items() for one in found}


def schema() -> str:
    """The schema of the values, with the settings that there are now."""
    file = CHART / "values.schema.json"
    document = json.loads(file.read_text("utf-8"))
    own = PORTS | ConnectionSettings.model_fields.keys()
    names = [name for name in Settings.model_fields if name not in own]
    document["properties"]["settings"]["propertyNames"] = {"enum": names}
    return json.dumps(document, indent=2) + "\n"


def chart_files() -> dict[Path, str]:
    """Every generated file of the chart, and what it must hold."""
    copied = {copy: original.read_text("utf-8") for copy, original in sorted(copies().items())}
    return {**copied, CHART / "values.schema.json": schema()}


def write() -> None:
    """Write them all; a copy whose original is gone goes too."""
    found = chart_files()
    for stale in set((CHART / "files").glob("*/*")) - found.keys():
        stale.unlink()
    for path, text in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    write()
