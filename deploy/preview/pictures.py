"""A dashboard and Prometheus' answers as a picture: Grafana's own components in a headless Chromium."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from deploy.preview.asking import Moment, answers, choices_of

HERE: Final = Path(__file__).parents[1] / "grafana" / "preview"
BUNDLE: Final = HERE / "dist" / "preview.js"
STYLES: Final = BUNDLE.with_suffix(".css")
WIDTH, HEAD, CELL = 1632, 64, 38  # pixels: of the page, of its heading, of a row of the grid
PATIENCE_MS: Final = 20_000  # of virtual time: the page asks nobody, so this is short in real time
FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--disable-lcd-text",  # coloured edges of letters make a picture half as large again
    "--force-device-scale-factor=0.85",
    "--enable-logging=stderr",
)
FAILED: Final = ("cannot draw", "Uncaught")
PAGE: Final = """<!doctype html>
<meta charset="utf-8">
<style>body {{ margin: 0; font-family: Inter, "DejaVu Sans", sans-serif; }}</style>
<link rel="stylesheet" href="{styles}">
<div id="page"></div>
<script>window.preview = {data};</script>
<script src="{bundle}"></script>
"""


def bundle() -> None:
    """Bundle the page, once for all pictures."""
    subprocess.run(["npm", "run", "--silent", "build"], cwd=HERE, check=True)


def picture(dashboard: Mapping[str, Any], address: str, moment: Moment, file: Path) -> None:
    """Draw a dashboard over what a Prometheus holds. Raises ValueError if a query is refused."""
    data = {
        "dashboard": dashboard,
        "results": answers(dashboard, address, moment),
        "range": moment._asdict(),
        "choices": choices_of(dashboard),
    }
    height = HEAD + 32 + CELL * max(place["y"] + place["h"] for place in _places(dashboard))
    with tempfile.TemporaryDirectory(prefix="lara-preview-") as name:
        directory = Path(name)
        shutil.copy(BUNDLE, directory)
        shutil.copy(STYLES, directory)
        written = json.dumps(data).replace("</", "<\\/")
        page = PAGE.format(data=written, bundle=BUNDLE.name, styles=STYLES.name)
        (directory / "page.html").write_text(page, "utf-8")
        _shoot(directory, f"{WIDTH},{height}", file.resolve())


def _places(dashboard: Mapping[str, Any]) -> list[dict[str, int]]:
    return [panel["gridPos"] for panel in dashboard["panels"]]


def _shoot(directory: Path, size: str, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [
        "chromium",
        *FLAGS,
        f"--user-data-dir={directory / 'profile'}",
        f"--window-size={size}",
        f"--virtual-time-budget={PATIENCE_MS}",
        f"--screenshot={file}",
        (directory / "page.html").as_uri(),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    failed = [
        line
        for line in done.stderr.splitlines()
        if "CONSOLE" in line and any(said in line for said in FAILED)
    ]
    if failed:
        raise ValueError(failed[0])
