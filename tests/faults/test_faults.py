"""Schedules of faults over the real pipeline, core and stores: `make test` runs 2,000 seeds, `make prove` all."""

from collections import Counter

import pytest

from tests.faults.happened import EXERCISED, PAIRS, SEEDS, chunk_of, crash_between
from tests.faults.plan import Fault, Plan, plan_of
from tests.faults.plans import PLANS
from tests.faults.run import run
from tests.faults.shrink import shrunk

DAILY, ALL = 2_000, 10_000
CHUNKS = [
    pytest.param(
        range(start, start + SEEDS),
        id=chunk_of(start),
        marks=pytest.mark.slow if start < DAILY else pytest.mark.prove,
    )
    for start in range(0, ALL, SEEDS)
]


def broken(plan: Plan) -> bool:
    return bool(run(plan).broken)


@pytest.mark.parametrize("seeds", CHUNKS)
def test_seeds_of_faults_leave_what_one_batch_leaves(seeds):
    """Crashes, zombies, lost answers, rebalances, restarts that lose writes, clocks that jump: still exact.

    A failing plan is printed as small as it can be. And all of that did happen, so often at least.
    """
    happened = Counter[str]()
    for seed in seeds:
        outcome = run(plan_of(seed))
        happened += outcome.happened
        if outcome.broken:
            smallest = shrunk(plan_of(seed), broken)
            pytest.fail(f"seed {seed}: {outcome.broken}\nmade small: {smallest}\n{run(smallest).broken}")
    assert {row.what: happened[row.what] for row in EXERCISED if happened[row.what] < row.times} == {}


@pytest.mark.parametrize("name", PLANS)
def test_a_named_plan_leaves_what_one_batch_leaves(name):
    """What was found once never comes back."""
    assert not run(PLANS[name]).broken


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("what", ["crash", "error", "lost", "late", "torn", "restart"])
def test_every_step_of_a_plan_survives_every_fault(what, whole):
    """Also between those effects of a worker that are so rare that seeds seldom meet them."""
    plan, happened = PLANS["every effect"]._replace(whole=whole), Counter[str]()
    for step in range(len(run(plan).trace)):
        outcome = run(plan._replace(faults=(*plan.faults, Fault(step, what, 3))))
        happened += outcome.happened
        assert not outcome.broken, (step, outcome.broken)
    if what == "crash" and not whole:
        assert {pair for pair in PAIRS if not happened[crash_between(*pair)]} == set()


@pytest.mark.parametrize("seed", range(5))
def test_the_same_seed_is_the_same_run(seed):
    """Step by step, and letter by letter."""
    assert run(plan_of(seed)) == run(plan_of(seed))


def test_a_plan_without_faults_is_what_one_batch_leaves():
    """The simulator itself changes nothing."""
    assert not broken(plan_of(1)._replace(faults=()))
