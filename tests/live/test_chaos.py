"""Chaos as a test: a minute, and ten before an issue is called resolved."""

import pytest

from tests.live.chaos import FAULTS, chaos

DAILY_SECONDS = 25.0  # of faults; starting, draining and comparing take as long again


async def test_a_minute_of_chaos_costs_nothing(prefix, tmp_path):
    """Some of the faults, short: every figure and every output is that of a backtest."""
    await chaos(tmp_path, prefix, DAILY_SECONDS, seed=1, outage=3, pause=1)


@pytest.mark.prove
async def test_ten_minutes_of_chaos_cost_nothing(prefix, tmp_path):
    """Every fault, and servers out of reach for a minute: nothing is lost, nothing counted twice."""
    world = await chaos(tmp_path, prefix, 600, seed=1, outage=60, pause=8)
    done = "\n".join(world.done)
    assert not [fault.__name__ for fault in FAULTS if fault.__name__.replace("_", " ") not in done]
