"""Run plans: one, or the plans of many seeds over some processes."""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import structlog

from tests.faults.checks import Broken
from tests.faults.drained import SEMANTICS, Expected, check_drained, expected
from tests.faults.plan import Plan, plan_of
from tests.faults.servers import Server, Twin
from tests.faults.world import World

PROCESSES = 2  # the machine that `make test` is measured on


class Outcome(NamedTuple):
    """What a run did, and what was broken at its end; "" if nothing was."""

    trace: tuple[str, ...]
    broken: str
    letters: int


def run(plan: Plan, server: Server | None = None, wanted: Expected | None = None) -> Outcome:
    """Run one plan, on the twin or on a server that holds nothing yet."""
    server = server or Twin()
    wanted = wanted or expected(plan)
    with quiet():
        world = World(plan, server, SEMANTICS[plan.semantics])
        try:
            world.run()
            check_drained(world, wanted, server.as_ofs)
        except Broken as broken:
            return Outcome(tuple(world.trace), str(broken) or "broken", len(world.letters))
    return Outcome(tuple(world.trace), "", len(world.letters))


@contextmanager
def quiet() -> Iterator[None]:
    """Faults are no news here."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**before)


def failing(seeds: Sequence[int]) -> list[int]:
    """The seeds whose plans fail on the twin."""
    return [seed for seed in seeds if run(plan_of(seed)).broken]


def over_processes(work: Callable[[Sequence[int]], list[int]], count: int, chunk: int = 50) -> list[int]:
    """What `work` finds among the seeds below `count`, in chunks over all processes."""
    chunks = [range(start, min(start + chunk, count)) for start in range(0, count, chunk)]
    with ProcessPoolExecutor(PROCESSES) as pool:
        return [seed for found in pool.map(work, chunks) for seed in found]
