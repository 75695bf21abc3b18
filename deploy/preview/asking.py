"""Asks a Prometheus what a dashboard asks: the queries of its panels, with its variables filled in.

Rules:
- What is not chosen has the value that the dashboard starts with.
- A panel's answer is Prometheus' own, target by target: nothing is repaired on the way.
"""

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

Dashboard = Mapping[str, Any]
POINTS: Final = 200  # of a trend
SCRAPE_SECONDS: Final = 2


class Moment(NamedTuple):
    """The range of a dashboard that ends now, in seconds since the epoch."""

    start: float
    end: float

    @property
    def step(self) -> float:
        """Seconds between two points of a trend."""
        return max(SCRAPE_SECONDS, (self.end - self.start) / POINTS)


def panels_of(dashboard: Dashboard) -> Iterator[Dashboard]:
    """Every panel that asks something."""
    yield from (panel for panel in dashboard["panels"] if panel.get("targets"))


def choices_of(dashboard: Dashboard) -> dict[str, str]:
    """The value that every variable starts with."""
    return {one["name"]: _start(one) for one in dashboard["templating"]["list"]}


def _start(variable: Dashboard) -> str:
    chosen = str(variable["current"]["value"])
    return str(variable["allValue"]) if chosen == "$__all" else chosen


def filled(text: str, choices: Mapping[str, str], moment: Moment) -> str:
    """A query or a title with its variables filled in."""
    spans = {"__range": moment.end - moment.start, "__rate_interval": max(4 * SCRAPE_SECONDS, moment.step)}
    known = {**choices, **{name: f"{max(1, round(seconds))}s" for name, seconds in spans.items()}}
    return re.sub(r"\$\{?(\w+)\}?", lambda found: known.get(found[1], found[0]), text)


def answers(dashboard: Dashboard, address: str, moment: Moment) -> dict[str, list[Any]]:
    """By panel, what Prometheus answers to each of its targets."""
    choices = choices_of(dashboard)
    return {
        str(panel["id"]): [_ask(address, target, choices, moment) for target in panel["targets"]]
        for panel in panels_of(dashboard)
    }


def _ask(address: str, target: Dashboard, choices: Mapping[str, str], moment: Moment) -> Any:
    query = filled(target["expr"], choices, moment)
    if target.get("instant"):
        return asked(address, "query", query=query, time=moment.end)
    return asked(address, "query_range", query=query, start=moment.start, end=moment.end, step=moment.step)


def asked(address: str, path: str, **given: object) -> Any:
    """The result of one call of Prometheus' API. Raises ValueError with its error."""
    url = f"http://{address}/api/v1/{path}"
    try:
        with urllib.request.urlopen(url, urllib.parse.urlencode(given).encode(), timeout=60) as answer:
            body = json.load(answer)
    except urllib.error.HTTPError as error:
        raise ValueError(f"{given.get('query')}: {error.read().decode()}") from None
    data = body["data"]
    return data["result"] if isinstance(data, dict) else data
