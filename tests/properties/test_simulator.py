"""The product against a truth that was written down when the traffic was made up."""

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from attribution.events import Event
from attribution.semantics import Semantics
from streams.commands.simulator import COVERAGE, DEMO, Rates, Record, Truth, simulate
from streams.state.memory import MemoryStore
from tests.properties import running

pytestmark = pytest.mark.slow

MINUTE = 60_000
START = 1_790_000_000_123
END = START + 26 * 60 * MINUTE
DEFAULT = Semantics()
QUOTIENTS = ("_ratio", "_rank", "_at_k", "_mrr", "_per_grid")
BOUNDS = ("_ratio_lower", "_ratio_upper")
DIGEST = 64  # characters of an action that has no event_id, and no entry in the truth

STREAMS = pytest.mark.parametrize(
    ("rates", "seed", "prompts"), [(DEMO, 11, 800), (COVERAGE, 12, 400)], ids=["demo", "coverage"]
)


@cache
def simulated(rates: Rates, seed: int, prompts: int) -> tuple[list[Record], Truth]:
    return simulate(seed=seed, start_ms=START, end_ms=END, prompts=prompts, rates=rates)


@cache
def settled(rates: Rates, seed: int, prompts: int) -> MemoryStore:
    """The whole stream, shuffled, with some of it delivered twice, in batches of any size."""
    records, _ = simulated(rates, seed, prompts)
    return running.settle_in_memory(
        cut(running.accepted([record.value for record in records]), seed), DEFAULT
    )


def cut(events: Sequence[Event], seed: int) -> list[Sequence[Event]]:
    chance = random.Random(seed)
    shuffled = [*events, *chance.sample(list(events), len(events) // 20)]
    chance.shuffle(shuffled)
    batches = []
    while shuffled:
        size = chance.choice((30, 300, 1000))
        batches.append(shuffled[:size])
        shuffled = shuffled[size:]
    return batches


def values(rows: Any) -> dict[Any, float]:
    """By name and labels, without bounds; counts of 0 are as good as absent, ratios and means of 0 are not."""
    return {
        (name, labels): value
        for (name, labels), value in rows.items()
        if not name.endswith(BOUNDS) and (value or name.endswith(QUOTIENTS))
    }


@STREAMS
@pytest.mark.parametrize(
    "as_of", [END, END - 11 * 60 * MINUTE - 54_321, END + 50 * MINUTE], ids=["end", "earlier", "later"]
)
def test_every_figure_is_exactly_the_simulators_truth(
    rates: Rates, seed: int, prompts: int, as_of: int
) -> None:
    """Shuffled, cut and partly delivered twice, the stream gives what was meant, at any time asked about."""
    truth = running.rows_of(simulated(rates, seed, prompts)[1].metrics(as_of))
    names = {name for name, _ in truth}
    found = running.metrics_of(settled(rates, seed, prompts), as_of, DEFAULT)
    assert names
    assert values({key: value for key, value in found.items() if key[0] in names}) == values(truth)


@STREAMS
def test_every_action_is_attributed_as_the_simulator_meant_it(rates: Rates, seed: int, prompts: int) -> None:
    """Its resolution and the retrievals it credits; who is excluded was never booked."""
    attributions = running.attributions_in(running.outputs_in(settled(rates, seed, prompts), DEFAULT))
    found = {
        name: (one["resolution"], one["retrieval_ids"])
        for name, one in attributions.items()
        if one["resolution"] not in ("excluded", "withdrawn") and len(name) != DIGEST
    }
    assert found == simulated(rates, seed, prompts)[1].attributions()


@STREAMS
def test_resolutions_sum_to_all_actions(rates: Rates, seed: int, prompts: int) -> None:
    """Those without an id are counted like the others."""
    found = running.metrics_of(settled(rates, seed, prompts), END + MINUTE, DEFAULT)
    counts = {
        dict(labels)["resolution"]: value
        for (name, labels), value in found.items()
        if name == "lara_actions" and ("window", "all") in labels
    }
    assert {name: count for name, count in counts.items() if count} == simulated(rates, seed, prompts)[
        1
    ].resolution_counts()
