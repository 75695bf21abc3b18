"""The incident of docs/operating.md happens again: the same message, the same commands, the same queries named."""

import re

import pytest

from tests.live.fleet import settings_for
from tests.live.incident import ALERT, PAGE, QUERIES, ROLE, told, walk

CHANGING = (
    r"\d{4}-\d\d-\d\d[T ][\d:.]+Z",
    r"browse-\d+",
    r"\b\d+ s\b",
    r"[\d.]+% to [\d.]+%",
    r"[\d.]+% of n = \d+",
)


def lasting(section: str) -> list[str]:
    """Its lines without times, ids and what depends on how many events of the hour were counted."""
    for pattern in CHANGING:
        section = re.sub(pattern, "…", section)
    return section.split()


@pytest.mark.prove
async def test_the_incident_is_told_as_it_happens(bootstrap, redis_url, prefix, tmp_path):
    """Alert, runbook, dashboard, commands and what they print: only times and ids differ from the page."""
    seen = await walk(settings_for(bootstrap, redis_url, prefix), tmp_path)
    assert seen.message.name == ALERT and seen.message.labels["role"] == ROLE
    assert all(query in seen.steps[0].output for query in QUERIES)
    (written,) = re.findall(r"<!-- run: incident -->\n(.*?)<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert lasting(told(seen)) == lasting(written)
