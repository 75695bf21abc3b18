import pytest

from metrics.schema import Exported, Figure, Group, Part, Scope, Term, count, less, mean, of, ratio
from metrics.windows import LIVE, SETTLED

THINGS = Group("thing", ("role", "surface"), anchor="things")


def figure(scope):
    return Figure("lara_things", "Things.", count(of("things")), scope, Exported(("1h",)))


@pytest.mark.parametrize(
    ("scope", "labels", "cohorts"),
    [
        (Scope(THINGS), ("window", "role", "surface"), (None,)),
        (Scope(THINGS, (LIVE,)), ("window", "cohort", "role", "surface"), (LIVE,)),
        (Scope(THINGS, (), ("definition",)), ("window", "role", "surface", "definition"), (None,)),
        (Scope(Group("action", (), "actions"), (), ("resolution",)), ("window", "resolution"), (None,)),
    ],
)
def test_labels_stand_in_one_order(scope, labels, cohorts):
    """Window, cohort where there are cohorts, labels of the group, own labels."""
    assert figure(scope).label_names == labels
    assert figure(scope).cohorts == cohorts


def test_exported_windows_are_named_by_cohort():
    """A figure without cohorts reads the windows that end now."""
    exported = Exported(("1h",), ("24h",))
    assert [exported.windows(cohort) for cohort in (LIVE, None, SETTLED)] == [("1h",), ("1h",), ("24h",)]


def test_formulas_are_made_of_sums_of_counters():
    """What is taken away is counted over the same part of the window as what it is taken from."""
    assert less("a", "b", Part.MATURE) == (Term("a", 1, Part.MATURE), Term("b", -1, Part.MATURE))
    assert ratio(of("a"), of("b")).denominator == (Term("b"),)
    assert mean(of("a"), of("b"), scale=10**9).scale == 10**9
