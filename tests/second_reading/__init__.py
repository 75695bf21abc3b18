"""A second reading of the contract: plain, slow, in one batch, and sharing not a line with the product.

It answers one question for the tests: what would a careful reader of `contract.md` (and of
`docs/decisions.md`, where the contract leaves a gap) work out by hand from these records?
So it goes the way a reader would, in five steps:

1. parse      every record value becomes a `Record` (known, present fields only) or is invalid;
2. choose     of the records of one identity the first by (ts, digest) stands;
3. exclude    what is synthetic, and whatever names it, takes part in nothing;
4. resolve    every action walks the rules of section 2 and ends with the retrievals it credits;
5. sum        what is true of each retrieval (section 3) is counted window by window (section 5).

Nothing is incremental, cached or clever, and nothing but `intake` looks at the order of the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.second_reading.choosing import choose_standing, find_excluded, take_in
from tests.second_reading.figures import figures
from tests.second_reading.judging import judge_all, outcomes_of
from tests.second_reading.labels import Judgements
from tests.second_reading.layer0 import all_prompts
from tests.second_reading.records import as_time
from tests.second_reading.resolving import attributions_of, resolve
from tests.second_reading.rows import wilson
from tests.second_reading.rules import MINUTE, Rules
from tests.second_reading.sessions import all_sessions
from tests.second_reading.world import World, all_acts

__all__ = ["Reading", "Rules", "as_time", "read", "wilson"]


@dataclass(frozen=True)
class Reading:
    """What the records say."""

    intake: dict[str, int]
    attributions: dict[str, dict[str, Any]]
    outcomes: dict[str, dict[str, Any]]
    metrics: list[dict[str, Any]]


def read(values: Sequence[bytes | None], as_of_ms: int | None = None, rules: Rules | None = None) -> Reading:
    """Read all record values at once."""
    rules = rules or Rules()
    records, intake = take_in(values, rules)
    standing = choose_standing(records)
    excluded = find_excluded(standing, rules)
    taking_part = [r for r in standing if r not in excluded]
    world, judgements = World(taking_part, records), Judgements(taking_part)
    acts = all_acts(standing)
    resolved = [(act, resolve(act, world, rules)) for act in acts if act.record not in excluded]
    retrievals = judge_all(resolved, world, judgements, rules)
    prompts = all_prompts(world, judgements, rules)
    sessions = all_sessions(world, resolved, rules)
    if as_of_ms is None:
        timed = ("prompt", "retrieval", "placement", "action")
        as_of_ms = max((r.ts for r in taking_part if r.type in timed), default=0)
    end = -(-as_of_ms // MINUTE) * MINUTE
    return Reading(
        intake=intake,
        attributions=attributions_of(acts, resolved, world),
        outcomes=outcomes_of(standing, retrievals),
        metrics=list(figures(retrievals, prompts, sessions, resolved, world, end, rules)),
    )
