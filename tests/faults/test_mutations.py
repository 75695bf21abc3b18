"""The tests bite: with a protection taken out, the test that `mutations.py` names fails, and else it passes."""

import pytest

from tests.faults import test_faults
from tests.faults.edits import edited
from tests.faults.mutations import MUTATIONS, PROTECTIONS, REDIS
from tests.faults.plan import Plan
from tests.faults.plans import PLANS, is_seed, plan_called
from tests.faults.run import run
from tests.faults.shrink import shrunk
from tests.faults.test_faults import DAILY
from tests.live import test_faults as live

TESTS = {"tests/faults/test_faults.py": test_faults, "tests/live/test_faults.py": live}
ON_TWIN = [name for name, one in MUTATIONS.items() if one.where != REDIS]


def breaks(plan: Plan) -> bool:
    """A named test would fail, at a law or in the middle of the program."""
    try:
        return bool(run(plan).broken)
    except Exception:
        return True


@pytest.mark.parametrize("name", ON_TWIN)
def test_without_a_protection_a_named_test_fails(name):
    """And with it, that test passes."""
    plan = plan_called(MUTATIONS[name].plan)
    assert not breaks(plan)
    with edited(*MUTATIONS[name].edits):
        assert breaks(plan)
    assert not breaks(plan)


def test_every_protection_of_the_list_is_taken_out_and_every_plan_is_one_that_tests_run():
    """So that the table names tests that exist."""
    assert {one.protection for one in MUTATIONS.values()} == set(PROTECTIONS)
    plans = {one.plan for one in MUTATIONS.values()}
    assert {plan for plan in plans if not is_seed(plan)} <= PLANS.keys()
    assert all(int(plan) < DAILY for plan in plans if is_seed(plan))
    for one in MUTATIONS.values():
        module, name = one.test.partition("[")[0].split("::")
        assert hasattr(TESTS[module], name)


@pytest.mark.slow
def test_a_plan_that_fails_is_made_small():
    """A few records and faults are left, and none of them can go."""
    with edited(*MUTATIONS["restating-records"].edits):
        smallest = shrunk(plan_called(MUTATIONS["restating-records"].plan), breaks)
        parts = len(smallest.sent) + len(smallest.faults)
        assert breaks(smallest) and parts <= 12, smallest
        less = [
            smallest._replace(**{kind: (*some[:number], *some[number + 1 :])})
            for kind, some in (("sent", smallest.sent), ("faults", smallest.faults))
            for number in range(len(some))
        ]
        assert not any(breaks(plan) for plan in less)
