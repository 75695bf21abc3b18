"""A day with an incident: `python -m tests.live.incident` lives through it and writes what it saw into docs/operating.md.

An hour of an assistant that does well; then a release of the search service filters one role's results away.
Kafka, workers, exporter, Prometheus and Alertmanager are real, with the rules of production and the short
durations of `deploy/values-short.yaml`. Every command is run as it is printed, without the settings that name
this place. The picture is made of the same events.
"""

import asyncio
import re
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from deploy.preview.__main__ import PICTURES, boards
from deploy.preview.asking import Moment
from deploy.preview.history import past, prometheus
from deploy.preview.pictures import bundle, picture
from streams.commands.simulator import Record as Simulated
from streams.services import HOST, free_port, kafka, redis
from streams.settings import Settings
from tests.docs_printed import LEFT_OUT, ROOT
from tests.live.conftest import JARS
from tests.live.fleet import Fleet, lara, settings_for, start_lara
from tests.live.monitoring import Heard, Webhook, listening, monitoring, short_values
from tests.live.test_alerts import background, minute_that_leaves, retrievals, stamped, until, used

PAGE: Final = ROOT / "docs/operating.md"
SECTION: Final = re.compile(r"(<!-- run: incident -->\n).*?(<!-- end -->)", re.DOTALL)
PICTURE: Final = "incident-lara-health.png"
ALERT: Final = "LaraNullRateSpike"
ROLE: Final = "browse"
SEARCHES: Final = 80
# What people looked for; the filter of the release knows none of these product lines.
QUERIES: Final = (
    "summer poster",
    "wedding card",
    "menu for a cafe",
    "birthday invitation",
    "logo with a fox",
)
WIDTH: Final = 118  # of the page
SHOWN: Final = 40  # lines of a long answer


class Step(NamedTuple):
    """A command that somebody on call runs, and what it said."""

    command: str
    output: str


class Walk(NamedTuple):
    """What was seen: the message, the panel's value before and while, the commands, the end."""

    message: Heard
    after_seconds: float
    steps: list[Step]
    resolved_seconds: float


def searches(ts: int, found: bool) -> Iterator[dict]:
    """Searches of one role for what people look for, all of one moment."""
    for number, one in enumerate(retrievals(ROLE, ts, SEARCHES, found)):
        yield {**one, "query": QUERIES[number * number // 7 % len(QUERIES)]}


def steps(settings: Settings, retrieval_id: str) -> list[Step]:
    """The commands of the panel, of the runbook, and of the question why."""
    commands = (
        "worst queries --by null --window 1h --n 5",
        f"explain retrieval {retrieval_id}",
    )
    return [Step(one, lara(settings, *one.split())) for one in commands]


async def walk(settings: Settings, directory: Path) -> Walk:
    """Live through it."""
    exporter, scraping, alerting = free_port(), free_port(), free_port()
    own = settings.model_copy(update={"maturity_minutes": 1, "exporter_port": exporter})
    with listening() as webhook, start_lara(own, "exporter", log=directory / "exporter.log"):
        async with Fleet(own, directory) as fleet:
            fleet.start()
            await fleet.until_shared()
            await fleet.settle(background(seed=61))
            values = short_values([worker.port for worker in fleet.workers], exporter, alerting, webhook.port)
            with monitoring(directory, values, scraping, alerting):
                await until(lambda: bool(webhook.heard), 60, "the watchdog is heard")
                return await incident(fleet, own, webhook)


async def incident(fleet: Fleet, settings: Settings, webhook: Webhook) -> Walk:
    """The release, the message, the commands, the release taken back."""
    since = time.time()
    nulls = list(searches(minute_that_leaves(5), found=False))
    await fleet.settle(stamped(nulls))
    await until(lambda: ALERT in webhook.of("firing", since), 60, "the alert is heard")
    message = webhook.of("firing", since)[ALERT]
    taken = steps(settings, nulls[0]["retrieval_id"])
    mended = time.time()
    fine = list(searches(int(mended * 1000) - 100_000, found=True))
    await fleet.settle(stamped([*fine, *used(fine)]))
    await until(lambda: ALERT in webhook.of("resolved", since), 150, "the alert has ended")
    ended = webhook.of("resolved", since)[ALERT]
    return Walk(message, message.at - since, taken, ended.at - mended)


def told(seen: Walk) -> str:
    """The section of the page."""
    shown = [f"```console\n$ lara {step.command}\n{_short(step.output)}\n```" for step in seen.steps]
    labels = ", ".join(f"{name}={value}" for name, value in sorted(seen.message.labels.items()))
    return "\n\n".join(
        textwrap.fill(one, WIDTH) if one.startswith("**") else one
        for one in [
            f"**The message**, {seen.after_seconds:.0f} s after the first empty list here (the test's durations; in "
            "production `for` alone is 5 minutes):",
            f"```text\n{seen.message.name}\n{seen.message.annotations['summary']}\n{labels}\n"
            f"{seen.message.annotations['runbook_url']}\n{seen.message.annotations['dashboard_url']}\n```",
            "**The panel.** The link opens *Retrieval health*. In its first table Layer 1 is the first line that asks "
            "for a look, so what stands below may only follow from it. The panel *Layer 1 · empty lists* says what to run next.",
            f"![Retrieval health in the incident](pictures/{PICTURE})",
            "**The commands.** Which queries, and what was returned for one of them:",
            *shown,
            f"**What was wrong**: every query of role `{ROLE}`, whatever it asks for, returned a list that is there and "
            "empty. So it is neither the words nor lineage that is no longer logged: something takes all results away. "
            "The release of the hour before had added a filter on a field that this role's index does not have. It was "
            f"taken back; the message *resolved* came {seen.resolved_seconds:.0f} s after the first good results.",
        ]
    )


def _short(output: str) -> str:
    lines = [line.rstrip() for line in output.rstrip().splitlines()]
    return "\n".join([*lines[:SHOWN], *([LEFT_OUT] if len(lines) > SHOWN else [])])


def draw(directory: Path) -> None:
    """The dashboard, as of ten minutes into the same incident."""
    directory.mkdir()
    now = int(time.time()) // 60 * 60
    events = [*background(seed=61), *stamped(list(searches((now - 600) * 1000, found=False)))]
    records = [Simulated(one.kind, one.ts, one.value, one.key or b"") for one in events]
    past(records, range(now - 3600, now + 1, 60), directory)
    bundle()
    with prometheus(directory) as asked:
        picture(boards()["lara-health"], asked.address, Moment(now - 3600, now), PICTURES / PICTURE)


def main() -> None:
    """The command."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        with kafka(directory / "kafka", jars=JARS) as broker, redis(directory / "redis") as state:
            settings = settings_for(broker.address, f"redis://{HOST}:{state.port}", "shop")
            seen = asyncio.run(walk(settings, directory))
        section = told(seen)
        page = PAGE.read_text("utf-8")
        PAGE.write_text(SECTION.sub(lambda found: f"{found[1]}{section}\n{found[2]}", page), "utf-8")
        draw(directory / "picture")


if __name__ == "__main__":
    main()
