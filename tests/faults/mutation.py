"""What one row of `mutations.py` is."""

from typing import Final, NamedTuple

from tests.faults.edits import Edit
from tests.faults.happened import chunk_of
from tests.faults.plans import is_seed

TWIN, REDIS = "twin", "redis"
TESTS: Final = {
    TWIN: "tests/faults/test_faults.py::test_a_named_plan_leaves_what_one_batch_leaves",
    REDIS: "tests/live/test_faults.py::test_a_named_plan_on_redis_leaves_what_one_batch_leaves",
}
SEEDS_TEST: Final = "tests/faults/test_faults.py::test_seeds_of_faults_leave_what_one_batch_leaves"


class Mutation(NamedTuple):
    """One protection, as issue 4 names it; what is taken out, and how; the plan that then fails, and where."""

    protection: str
    removed: str
    edits: tuple[Edit, ...]
    plan: str
    where: str = TWIN

    @property
    def test(self) -> str:
        """The test that fails."""
        if is_seed(self.plan):
            return f"{SEEDS_TEST}[{chunk_of(int(self.plan))}]"
        return f"{TESTS[self.where]}[{self.plan}]"


def one(
    protection: str, removed: str, plan: object, function: object, changes: dict[str, str], where: str = TWIN
) -> Mutation:
    """With changes of one function; of the library of Redis, if there is none."""
    return Mutation(protection, removed, (Edit(function, changes),), str(plan), where)
