import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.intervals import Z, wilson

shares = st.integers(1, 10**12).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))


def test_z_is_that_of_the_contract():
    """The bounds are comparable to the last digit only with the same z."""
    assert Z == 1.959963984540054


@pytest.mark.parametrize(
    ("hits", "trials", "lower", "upper"),
    [
        (0, 10, 0.0, 0.277533),
        (5, 10, 0.236593, 0.763407),
        (10, 10, 0.722467, 1.0),
        (35, 84, 0.317148, 0.523474),
    ],
)
def test_bounds_are_those_of_the_textbook_formula(hits, trials, lower, upper):
    """Values of (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), worked out apart from the code."""
    assert wilson(hits, trials) == pytest.approx((lower, upper), abs=1e-6)


def test_nothing_counted_has_no_interval():
    """0 of 0 says nothing, so there are no bounds."""
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("hits", "trials"), [(-1, 5), (6, 5), (0, -1)])
def test_what_is_no_share_is_an_error(hits, trials):
    """A numerator outside its denominator is a mistake of the caller."""
    with pytest.raises(ValueError, match="no share"):
        wilson(hits, trials)


@given(shares)
def test_bounds_hold_the_share_and_stay_between_0_and_1(share):
    """0 <= lower <= share <= upper <= 1, whatever was counted."""
    hits, trials = share
    lower, upper = wilson(hits, trials)
    assert 0.0 <= lower <= hits / trials <= upper <= 1.0


@given(shares)
def test_bounds_mirror_for_the_complement(share):
    """The interval of what did not happen is the mirror image of what did."""
    hits, trials = share
    lower, upper = wilson(hits, trials)
    assert wilson(trials - hits, trials) == pytest.approx((1 - upper, 1 - lower), abs=1e-9)


def test_never_and_always_have_exact_bounds():
    """0 of n is bounded by 0 and n of n by 1, without a trace of rounding."""
    for trials in range(1, 2_000):
        assert wilson(0, trials).lower == 0.0
        assert wilson(trials, trials).upper == 1.0
