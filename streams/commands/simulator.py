"""A seeded simulator of an AI assistant (chat, gallery, editor) whose truth is known by construction.

`simulate` emits prompts, retrievals, placements, actions and judgements. What each of them means is known
before it is sent, and `Truth` holds what was meant. It is no second attribution: nothing is resolved here.
The same seed gives the same stream. How often what happens is a table (`Rates`), with three settings: `DEMO`,
`PUBLISHED` (the published LARA figures) and `COVERAGE` (every rule, grade and oddity often).
"""

import sys
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from .simulation.rates import COVERAGE, DEMO, LIKES, PUBLISHED, Rates
from .simulation.stage import Stage
from .simulation.traffic import traffic
from .simulation.truth import Truth
from .simulation.wire import HOUR, Record, Wire

__all__ = ["COVERAGE", "DEMO", "LIKES", "PUBLISHED", "Rates", "Record", "Truth", "lines", "simulate"]

DAY_MS: Final = 24 * HOUR
START_MS: Final = 1_772_409_600_000  # 2 March 2026: any fixed time, so that a seed always gives the same file
QUIET_MS: Final = 3 * DAY_MS  # longer than what follows on a prompt mostly takes


def simulate(
    *, seed: int, start_ms: int, end_ms: int, prompts: int, rates: Rates = DEMO, quiet_ms: int = 0
) -> tuple[list[Record], Truth]:
    """The records of so many prompts in [start_ms, end_ms), in time order, and what they mean.

    What would follow later than `end_ms` does not happen and is not booked. In the last `quiet_ms` no session
    begins: what follows on the earlier ones has time to happen.
    """
    if end_ms - quiet_ms <= start_ms:
        raise ValueError("the simulated time must not be empty")
    rng, truth = Random(seed), Truth()
    wire = Wire(rng, rates, seed, end_ms, truth)
    traffic(Stage(rng, rates, wire, truth, prompts), start_ms, end_ms - quiet_ms)
    return wire.records(), truth


def lines(records: Iterable[Record]) -> Iterator[bytes]:
    """The records that a file of JSON lines can hold: those with a value, in one line."""
    return (one.value for one in records if one.value and b"\n" not in one.value)


def write(like: str, prompts: int, seed: int, days: int) -> None:
    """Write a stream to standard output, as a file that `lara backtest` and `lara replay` read."""
    end = START_MS + days * DAY_MS + QUIET_MS
    records, _ = simulate(
        seed=seed, start_ms=START_MS, end_ms=end, prompts=prompts, rates=LIKES[like], quiet_ms=QUIET_MS
    )
    count = 0
    for line in lines(records):
        sys.stdout.buffer.write(line + b"\n")
        count += 1
    sys.stdout.buffer.flush()
    left = len(records) - count
    sys.stderr.write(f"wrote {count:,} lines; left out {left:,} records without a value\n")
