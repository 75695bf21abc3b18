import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.buckets import Span
from metrics.windows import LIVE, SETTLED, WINDOW_MINUTES, WINDOWS, end_minute, slice_of

windows = st.sampled_from(WINDOWS)
ends = st.integers(0, 40_000_000)
horizons = st.integers(0, 20_000)


@pytest.mark.parametrize(
    ("as_of_ms", "minute"), [(0, 0), (1, 1), (59_999, 1), (60_000, 1), (60_001, 2), (120_000, 2)]
)
def test_e_is_the_time_rounded_up_to_a_whole_minute(as_of_ms, minute):
    """A started minute is asked about whole; a whole minute stays itself."""
    assert end_minute(as_of_ms) == minute


def test_the_windows_are_those_of_the_contract():
    """Five windows, and all."""
    assert WINDOWS == ("5m", "1h", "6h", "24h", "7d", "all")


def test_spans_of_both_cohorts_of_an_hour():
    """Live ends at E, settled 30 minutes before it; only the older half of a live hour is mature."""
    assert slice_of("1h", LIVE, 1000, 30) == (Span(940, 1000), Span(940, 970))
    assert slice_of("1h", SETTLED, 1000, 30) == (Span(910, 970), Span(910, 970))


def test_a_live_window_shorter_than_the_horizon_has_no_mature_part():
    """Of the last 5 minutes nothing is mature: the span is empty, not reversed."""
    assert slice_of("5m", LIVE, 1000, 30).mature == Span(995, 995)


def test_all_begins_at_the_beginning():
    """Window `all` is everything before its end, in both cohorts."""
    assert slice_of("all", LIVE, 1000, 30) == (Span(None, 1000), Span(None, 970))
    assert slice_of("all", SETTLED, 1000, 30).whole == Span(None, 970)


def test_an_unknown_window_is_an_error():
    """A window that the contract does not have is not guessed."""
    with pytest.raises(KeyError):
        slice_of("2h", LIVE, 1000, 30)


@given(windows, ends, horizons)
def test_the_mature_part_is_what_settled_and_live_share(window, end, horizon):
    """A minute of a live window is mature exactly if it lies before the end of the settled window."""
    live = slice_of(window, LIVE, end, horizon)
    settled_end = slice_of(window, SETTLED, end, horizon).whole.end
    for minute in (live.mature.end - 1, live.mature.end, settled_end - 1, settled_end, end - 1):
        assert live.mature.holds(minute) == (live.whole.holds(minute) and minute < settled_end)


@given(windows, ends, horizons)
def test_consecutive_windows_tile_the_time(window, end, horizon):
    """The window that ends where another starts shares no minute with it and leaves none out."""
    length = WINDOW_MINUTES[window]
    if length is not None:
        later = slice_of(window, SETTLED, end, horizon).whole
        earlier = slice_of(window, SETTLED, end - length, horizon).whole
        assert earlier.end == later.start
        assert later.end - later.start == length
