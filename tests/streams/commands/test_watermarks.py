"""What setting a watermark does, in words, and where reading stands."""

import pytest

from streams.commands.watermarks import Standing, consequence
from streams.state.store import Partition

P = Partition("lara.actions", 3)


@pytest.mark.parametrize(
    ("offset", "told"),
    [
        (10, "lara.actions 3: from 1210 to 10: 1,200 offsets are read again, which changes no figure"),
        (
            1220,
            "lara.actions 3: from 1210 to 1220: 10 offsets are never read; figures stay without their records",
        ),
        (1210, "lara.actions 3: from 1210 to 1210: where it is"),
    ],
    ids=["back", "forward", "nowhere"],
)
def test_setting_a_watermark_says_what_it_does(offset, told):
    """Going back and going forward are told apart, and how far."""
    assert consequence(P, 1210, offset) == told


@pytest.mark.parametrize(
    ("watermark", "outside"), [(None, False), (5, False), (9, False), (4, True), (10, True)]
)
def test_a_watermark_outside_its_log_is_loss(watermark, outside):
    """Retention overtook it, or the topic is another; without one, reading begins at the start."""
    assert Standing("lara.actions", 3, watermark, 5, 9, 0, 0.0, ()).outside == outside
