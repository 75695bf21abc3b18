"""`lara study`: an assistant set to the published figures, and what lara's report says of it.

Rules:
- The simulated stream is settled as `lara backtest` settles a file, and every figure must be the truth's.
- Every set figure is printed beside what was measured and its 95 % interval. No rate was chosen after a look
  at a seed: with so many figures, at most seeds some interval does not hold what was set.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from attribution.entities import split_key
from attribution.outputs import Outcome as RetrievalOutcome
from attribution.outputs import of_retrieval
from attribution.semantics import Semantics
from metrics.tables import new_table
from metrics.totals import Share, Totals
from streams.commands.backtest import compute, intake_line, settle_lines
from streams.commands.comparison import print_differences
from streams.commands.set_figures import Outcome, Readings, outcomes
from streams.commands.simulation.stage import GENERATIVE
from streams.commands.simulator import DAY_MS, PUBLISHED, QUIET_MS, START_MS, Record, Truth, lines, simulate
from streams.settings import Settings
from streams.state.memory import MemoryStore

DAYS: Final = 7  # in which sessions begin
END_MS: Final = START_MS + DAYS * DAY_MS + QUIET_MS


def study(settings: Settings, prompts: int, seed: int) -> None:
    """Print the set figures beside the measured; ends with exit code 1 if a figure is not the truth's."""
    console, started = Console(), time.monotonic()
    records, truth = stream(prompts, seed)
    sys.stderr.write(f"{len(records):,} records simulated after {time.monotonic() - started:.0f} s\n")
    store, intake = asyncio.run(settle_lines(lines(records), settings.semantics))
    sys.stderr.write(f"{intake_line(intake)}; settled after {time.monotonic() - started:.0f} s\n")
    metrics = compute(store, settings, END_MS)
    readings = Readings(Totals(metrics), asyncio.run(generative_edits(store, settings.semantics)))
    found = outcomes(PUBLISHED, readings)
    console.print(f"{prompts:,} prompts of an assistant set to the published figures, seed {seed}\n")
    console.print(table_of(found))
    inside = sum(one.within for one in found)
    console.print(f"\n{inside} of {len(found)} intervals hold what was set")
    if print_differences(console, metrics, truth.metrics(END_MS)):
        sys.exit(1)


def stream(prompts: int, seed: int) -> tuple[list[Record], Truth]:
    """So many prompts of the published assistant, with time for all that follows on them."""
    return simulate(
        seed=seed, start_ms=START_MS, end_ms=END_MS, prompts=prompts, rates=PUBLISHED, quiet_ms=QUIET_MS
    )


async def generative_edits(store: MemoryStore, semantics: Semantics) -> Share:
    """Of the agent consumptions in the credits of `lara.outcomes`, those that generate or edit."""
    verbs: dict[str, str] = {}
    async for page in store.scan("retrieval"):
        for key, entity in page.items():
            for output in of_retrieval(split_key(key)[1], entity, semantics):
                if isinstance(output.record, RetrievalOutcome):
                    credits = output.record.credits
                    verbs |= {one.action_id: one.action for one in credits if one.evidence == "agent"}
    return Share(sum(verb in GENERATIVE for verb in verbs.values()), len(verbs))


def table_of(found: Sequence[Outcome]) -> Table:
    """What was set beside what came out."""
    table = new_table("In %", "figure", "set", "measured", "95 % interval", "of n", "holds")
    for one in found:
        lower, upper = (f"{100 * bound:.2f}" for bound in one.interval)
        measured = "–" if one.share.value is None else f"{100 * one.share.value:.2f}"
        holds = Text("yes" if one.within else "no", "" if one.within else "yellow")
        cells = (f"{100 * one.set_to:.2f}", measured, f"{lower}–{upper}", f"{one.share.trials:,}", holds)
        table.add_row(one.what, *cells)
    return table
