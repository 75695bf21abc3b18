"""A seeded simulator of an AI assistant (chat, gallery, editor) whose truth is known by construction.

`simulate` emits prompts, retrievals, placements, actions and judgements. What each of them means is known
before it is sent, and `Truth` holds what was meant. It is no second attribution: nothing is resolved here.
The same seed gives the same stream. How often what happens is a table (`Rates`), with three settings: `DEMO`,
`PUBLISHED` (the published LARA figures) and `COVERAGE` (every rule, grade and oddity often).
"""

from random import Random

from .simulation.rates import COVERAGE, DEMO, PUBLISHED, Rates
from .simulation.stage import Stage
from .simulation.traffic import traffic
from .simulation.truth import Truth
from .simulation.wire import Record, Wire

__all__ = ["COVERAGE", "DEMO", "PUBLISHED", "Rates", "Record", "Truth", "simulate"]


def simulate(
    *, seed: int, start_ms: int, end_ms: int, prompts: int, rates: Rates = DEMO
) -> tuple[list[Record], Truth]:
    """The records of so many prompts in [start_ms, end_ms), in time order, and what they mean.

    What would follow later than `end_ms` does not happen and is not booked.
    """
    if end_ms <= start_ms:
        raise ValueError("the simulated time must not be empty")
    rng, truth = Random(seed), Truth()
    wire = Wire(rng, rates, seed, end_ms, truth)
    traffic(Stage(rng, rates, wire, truth, prompts), start_ms, end_ms)
    return wire.records(), truth
