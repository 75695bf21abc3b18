"""What stores share and that needs none: the watermark that counts."""

import pytest

from streams.state.store import Partition, lowest

P, Q = Partition("lara.actions", 0), Partition("lara.actions", 1)


@pytest.mark.parametrize(
    ("marks", "counts"),
    [([3, 1, 2], {P: 1}), ([0, 0], {P: 0}), ([3, None], {}), ([None, None], {})],
    ids=["lowest", "zero", "one without", "none"],
)
def test_the_lowest_watermark_counts_and_one_that_is_missing_anywhere_is_none(marks, counts):
    """A shard without one has read nothing."""
    assert lowest({P: marks}) == counts


def test_partitions_are_apart():
    """What one lacks does not take the other's."""
    assert lowest({P: [1, None], Q: [2, 5]}) == {Q: 2}
