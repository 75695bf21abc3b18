from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from metrics.buckets import MinuteBuckets, Span

minutes = st.integers(0, 20)
additions = st.lists(st.tuples(minutes, st.sampled_from(["a", "b|x", "b|y"]), st.integers(-2, 2)))
spans = st.lists(st.builds(Span, st.none() | minutes, minutes))


@given(additions, spans)
def test_sums_are_those_of_adding_everything_up_by_hand(added, asked):
    """Each span sums the differences of its minutes, in the order asked."""
    filled = MinuteBuckets()
    for minute, counter, delta in added:
        filled.add(minute, counter, delta)

    for span, sums in zip(asked, filled.sums(asked), strict=True):
        expected = Counter()
        for minute, counter, delta in added:
            if (span.start is None or minute >= span.start) and minute < span.end:
                expected[counter] += delta
        assert sums == {counter: value for counter, value in expected.items() if value}


def test_a_counter_that_returns_to_zero_vanishes():
    """What is corrected away is not there any more, not even as 0."""
    filled = MinuteBuckets()
    filled.add(5, "retrievals|browse|chat", 1)
    filled.add(5, "retrievals|browse|chat", -1)
    assert filled.sums([Span(None, 10)]) == [{}]


def test_a_span_holds_its_start_and_not_its_end():
    """Spans are half open: neighbours share no minute."""
    filled = MinuteBuckets()
    filled.add(5, "n", 1)
    assert filled.sums([Span(5, 6), Span(4, 5), Span(6, 7), Span(5, 5)]) == [{"n": 1}, {}, {}, {}]
