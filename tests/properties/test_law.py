"""The law: every figure is a function of the set of accepted events."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attribution.events import Event
from tests.properties import running
from tests.properties.strategies import BASE, DAY, MINUTE, streams
from tests.second_reading import read

AS_OFS = st.sampled_from((BASE + 31 * MINUTE, BASE + DAY, BASE + 31 * DAY))


def cut(events: Sequence[Event], seed: int) -> list[list[Event]]:
    """The events shuffled, some twice, in batches of any size."""
    chance = random.Random(seed)
    mixed = [*events, *(event for event in events if chance.random() < 0.3)]
    chance.shuffle(mixed)
    batches = []
    while mixed:
        size = chance.choice((1, 2, 5, 50))
        batches.append(mixed[:size])
        mixed = mixed[size:]
    return batches


def check_law(values: list[bytes | None], seed: int, as_of: int) -> None:
    """The product, fed in some order and cut, finds what the second reading finds."""
    store = running.settle_in_memory(cut(running.accepted(values), seed))
    reading = read(values, as_of, running.RULES)
    outputs = running.outputs_in(store)
    assert running.attributions_in(outputs) == reading.attributions
    assert running.outcomes_in(outputs) == reading.outcomes
    # NDCG is a sum of floats rounded to billionths: the last digit may differ between two ways to sum.
    assert running.metrics_of(store, as_of) == pytest.approx(running.rows_of(reading.metrics), abs=2e-9)


@pytest.mark.slow
@given(streams, st.integers(0, 2**32), AS_OFS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_order_duplication_and_batch_cut_gives_what_the_second_reading_finds(values, seed, as_of):
    """Figures, resolutions and outcomes are those of a plain batch reading of the contract."""
    check_law(values, seed, as_of)
