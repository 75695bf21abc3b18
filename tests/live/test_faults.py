"""The schedules of faults on a real Redis, which is killed and loses the end of its log of writes.

As `tests/faults/test_faults.py`; here also the function library, times to live and real connections are under
test. `make test` runs 50 seeds, `make prove` 500.
"""

from collections.abc import Iterator

import pytest

from tests.faults.edits import edited
from tests.faults.mutations import MUTATIONS, REDIS
from tests.faults.plan import Plan, plan_of
from tests.faults.plans import PLANS
from tests.faults.run import run
from tests.faults.servers import RealRedis

DAILY, ALL, CHUNK = 50, 500, 50
CHUNKS = [
    pytest.param(
        range(start, start + CHUNK),
        id=f"{start}-{start + CHUNK - 1}",
        marks=() if start < DAILY else pytest.mark.prove,
    )
    for start in range(0, ALL, CHUNK)
]
IN_REDIS = [name for name, one in MUTATIONS.items() if one.where == REDIS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealRedis]:
    """A Redis of our own, that may be killed."""
    server = RealRedis(tmp_path_factory.mktemp("redis"))
    yield server
    server.end()


def broken(plan: Plan, server: RealRedis) -> str:
    """What the run breaks; "" if nothing."""
    server.begin()
    return run(plan, server).broken


@pytest.mark.parametrize("seeds", CHUNKS)
def test_seeds_of_faults_on_redis_leave_what_one_batch_leaves(seeds, server):
    """The same plans as on the twin."""
    found = {seed: why for seed in seeds if (why := broken(plan_of(seed), server))}
    assert found == {}, f"python -m tests.faults {min(found)} --redis --shrink"


@pytest.mark.parametrize("name", PLANS)
def test_a_named_plan_on_redis_leaves_what_one_batch_leaves(name, server):
    """The same plans as on the twin."""
    assert broken(PLANS[name], server) == ""


@pytest.mark.parametrize("name", IN_REDIS)
def test_without_a_protection_in_redis_a_named_test_fails(name, server):
    """And with it, that test passes."""
    plan = PLANS[MUTATIONS[name].plan]
    assert broken(plan, server) == ""
    with edited(*MUTATIONS[name].edits):
        assert broken(plan, server)
    assert broken(plan, server) == ""
