"""`python -m deploy.preview [FOLDER]`: a picture of every dashboard, and of three states with a fault.

Rules:
- The quality of a healthy day is computed as of every 20 minutes; then lara works live and is scraped.
- A fault begins 20 hours before the end of the day. Its pictures are named by number, so that whoever reads
  them is not told which fault it is; `answers.txt` tells.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, Final

from deploy.generate.dashboards import dashboards
from deploy.generate.thresholds import thresholds
from deploy.preview.asking import Moment
from deploy.preview.history import STEP_SECONDS, past, prometheus
from deploy.preview.pictures import bundle, picture
from deploy.preview.scene import embedded, observed
from deploy.preview.traffic import FAULTS, broken, healthy

PICTURES: Final = Path(__file__).parents[2] / "docs" / "pictures"
DAY_SECONDS: Final = 86_400
BEFORE_SECONDS: Final = 25 * 3_600  # of traffic before the day begins: its first window is full
FAULT_SECONDS: Final = 20 * 3_600
LIVE_SECONDS: Final = 300  # what is shown of the pipeline's work
SHOWN_OF_FAULTS: Final = ("lara-health",)


def boards() -> dict[str, Any]:
    """Every dashboard by its uid."""
    files = dashboards(thresholds())
    return {Path(path).stem: json.loads(text) for path, text in files.items() if path.endswith(".json")}


def healthy_pictures(folder: Path, end: int, directory: Path) -> None:
    """Every dashboard, over a day and over lara at work."""
    records = healthy((end - DAY_SECONDS - BEFORE_SECONDS) * 1000, end * 1000)
    last = end - STEP_SECONDS
    past(records, range(end - DAY_SECONDS, last, STEP_SECONDS), directory)
    with embedded(directory) as settings, observed(settings, records, directory) as watching:
        now = time.time()
        for uid, board in boards().items():
            start = now - (LIVE_SECONDS if uid == "lara-pipeline" else DAY_SECONDS)
            picture(board, watching.address, Moment(start, now), folder / f"{uid}.png")


def fault_pictures(folder: Path, end: int, directory: Path) -> None:
    """The states with a fault, in an order that is drawn."""
    names = list(FAULTS)
    Random(end).shuffle(names)
    for number, name in enumerate(names, 1):
        there = directory / name
        there.mkdir()
        records = healthy((end - DAY_SECONDS - BEFORE_SECONDS) * 1000, end * 1000, seed=number + 1)
        faulty = broken(records, name, end * 1000 - FAULT_SECONDS * 1000)
        past(faulty, range(end - DAY_SECONDS, end + 1, STEP_SECONDS), there)
        with prometheus(there) as asked:
            for uid in SHOWN_OF_FAULTS:
                moment = Moment(end - DAY_SECONDS, end)
                picture(boards()[uid], asked.address, moment, folder / f"state-{number}-{uid}.png")
    lines = (f"state-{number}: {name}\n" for number, name in enumerate(names, 1))
    (folder / "answers.txt").write_text("".join(lines), "utf-8")


def main(folder: Path) -> None:
    """Make all pictures."""
    bundle()
    end = int(time.time()) // 60 * 60
    with tempfile.TemporaryDirectory(prefix="lara-preview-") as name:
        directory = Path(name)
        (directory / "healthy").mkdir()
        healthy_pictures(folder, end, directory / "healthy")
        (directory / "faults").mkdir()
        fault_pictures(folder, end, directory / "faults")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
