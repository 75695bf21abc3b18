"""From when on nothing can have expired."""

import pytest

from streams.state.expiry import DAY_SECONDS, whole_since

DAY = DAY_SECONDS
TTL = 51 * DAY
NOW = 20_000 * DAY + 3600


@pytest.mark.parametrize("age", [0, TTL - 1])
def test_a_state_that_is_younger_than_its_entities_live_holds_everything(age):
    """Whatever the times of its events are."""
    assert whole_since(NOW - age, NOW, TTL) is None


@pytest.mark.parametrize("began", [NOW - TTL, NOW - 10 * TTL, None], ids=["just", "long", "unknown"])
def test_an_older_state_is_whole_from_the_time_to_live_on(began):
    """A day later, since events may be stamped ahead; and from the beginning of a day on."""
    since = whole_since(began, NOW, TTL)
    assert since % DAY == 0
    assert NOW - TTL + DAY < since <= NOW - TTL + 2 * DAY
