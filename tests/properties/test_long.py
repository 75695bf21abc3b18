"""The long form of the properties, for `make prove`."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams.state.memory import MemoryStore
from tests.properties.strategies import streams
from tests.properties.test_law import AS_OFS, check_law
from tests.state_suite import crash_test

pytestmark = pytest.mark.prove


@given(streams, st.integers(0, 2**32), AS_OFS)
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_law_holds_over_ten_thousand_streams(values, seed, as_of):
    """Figures, resolutions and outcomes are those of a plain batch reading of the contract."""
    check_law(values, seed, as_of)


test_crashes_change_no_figure_over_ten_thousand_streams = crash_test(MemoryStore, 10_000)
