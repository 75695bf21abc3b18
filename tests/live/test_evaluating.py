"""Samples, rankings and exports are the same from real Redis as from a file with the same events."""

import asyncio
import json
import uuid

import pytest

from attribution.events import Event
from attribution.parsing import Rejected, parse
from streams.commands.simulator import COVERAGE, simulate
from streams.connections import store_of
from streams.services import HOST, Service
from streams.settings import Settings
from streams.state.drive import drive
from tests.building import BASE
from tests.live.fleet import lara

END = BASE + 26 * 3_600_000
AS_OF = ("--as-of", str(END))


@pytest.fixture(scope="module")
def settings(redis_server: Service) -> Settings:
    """A prefix of their own for all tests of this module: they only read what `file` wrote."""
    url = f"redis://{HOST}:{redis_server.port}"
    return Settings(redis_url=url, prefix=f"test-evaluating-{uuid.uuid4().hex[:12]}")


@pytest.fixture(scope="module")
def file(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of simulated traffic that is settled in Redis too, some events at a time."""
    made, _ = simulate(seed=8, start_ms=BASE, end_ms=END, prompts=120, rates=COVERAGE)
    lines = [one.value for one in made if one.value and b"\n" not in one.value]
    path = tmp_path_factory.mktemp("evaluating") / "simulated.jsonl"
    path.write_bytes(b"\n".join(lines))
    asyncio.run(_settle(settings, [event for event in map(parse, lines) if not isinstance(event, Rejected)]))
    return str(path)


async def _settle(settings: Settings, events: list[Event]) -> None:
    store = store_of(settings)
    term = await store.open()
    for first in range(0, len(events), 200):
        await drive(events[first : first + 200], settings.semantics, store, term, "test")
    await store.close()


@pytest.mark.parametrize("options", [["--n", "7"], ["--by", "surface", "--seed", "3", "--show-verdict"]])
def test_a_sheet_is_the_same_from_redis_and_from_a_file(settings, file, options):
    """Line by line: what is drawn, in which order, with which weights."""
    live = lara(settings, "sample", *options, *AS_OF)
    assert len(live.splitlines()) > 20
    assert live == lara(settings, "sample", file, *options, *AS_OF)


@pytest.mark.parametrize("subjects", ["queries", "assets"])
def test_the_worst_are_the_same_from_redis_and_from_a_file(settings, file, subjects):
    """Every table, and none of them empty."""
    options = ["--min-n", "1", "--json", *AS_OF]
    live = json.loads(lara(settings, "worst", subjects, *options))
    assert all(table["rows"] for table in live["tables"])
    assert live == json.loads(lara(settings, "worst", subjects, file, *options))


@pytest.mark.parametrize("format_name", ["jsonl", "ragas"])
def test_an_export_is_the_same_from_redis_and_from_a_file(settings, file, format_name):
    """The same records, those of Redis in no order."""
    options = ["--format", format_name, *AS_OF]
    live = lara(settings, "export", *options).splitlines()
    assert len(live) > 5
    assert sorted(live) == sorted(lara(settings, "export", file, *options).splitlines())
