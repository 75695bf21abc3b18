"""`lara explain` over real Redis says what it says over the file of the same events."""

import time

import pytest
from click.testing import CliRunner

from attribution.parsing import parse
from attribution.semantics import Semantics
from streams.commands.cli import main
from streams.state.drive import drive
from streams.state.redis_store import RedisStore
from tests.scenarios.test_worked_example import FILE

ASKED = [
    ["retrieval", "r1"],
    ["action", "w7"],
    ["action", "place:invitation/p1"],
    ["document", "invitation"],
]


async def settled(redis_url: str, prefix: str) -> None:
    store = RedisStore(redis_url, Semantics(), clock=time.time, prefix=prefix)
    term = await store.open()
    await drive([parse(line) for line in FILE.read_bytes().splitlines()], Semantics(), store, term, "token")
    await store.close()


@pytest.fixture
async def state(redis_url, prefix, monkeypatch, tmp_path):
    """The worked example in Redis, and settings that name it."""
    await settled(redis_url, prefix)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LARA_REDIS_URL", redis_url)
    monkeypatch.setenv("LARA_PREFIX", prefix)


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_the_live_state_is_explained_as_the_file_is(state, asked):
    """In words and as data, at the same time asked about; an unknown id is code 1."""
    for option in ([], ["--json"]):
        options = ["--as-of", "2026-03-05", *option]
        live = CliRunner().invoke(main, ["explain", *asked, *options])
        assert live.exit_code == 0, live.output
        assert live.stdout == CliRunner().invoke(main, ["explain", *asked, str(FILE), *options]).stdout
    unknown = CliRunner().invoke(main, ["explain", asked[0], "nobody"])
    assert (unknown.exit_code, unknown.stdout) == (1, "")
