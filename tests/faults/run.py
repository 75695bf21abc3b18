"""Run one plan, and say what it did."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import structlog

from streams.state.store import Due
from tests.faults.checks import Broken
from tests.faults.drained import SEMANTICS, check_drained, expected
from tests.faults.plan import Plan
from tests.faults.servers import Server, Twin
from tests.faults.world import World


class Outcome(NamedTuple):
    """What a run did, and what was broken at its end; "" if nothing was."""

    trace: tuple[str, ...]
    broken: str
    letters: int
    happened: Counter[str]


def run(plan: Plan, server: Server | None = None) -> Outcome:
    """Run one plan, on the twin or on a server that holds nothing yet."""
    after_waves = expected(plan)

    def drained(world: World, marks: Sequence[Due]) -> None:
        check_drained(world, after_waves[world.logs.wave], all_said=not marks)

    server = server or Twin()
    with quiet():
        world = World(plan, server, SEMANTICS[plan.semantics], drained)
        try:
            world.run()
            broken = server.endless()
        except Broken as error:
            broken = str(error) or "broken"
    return Outcome(tuple(world.trace), broken, len(world.letters), world.happened.counts)


@contextmanager
def quiet() -> Iterator[None]:
    """Faults are no news here."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**before)
