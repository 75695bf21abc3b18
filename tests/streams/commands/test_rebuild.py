"""How far a rebuild has come, in numbers and in words."""

import pytest

from streams.app import Bounds
from streams.commands.rebuild import Progress, read_of
from streams.state.store import Partition

P, Q = Partition("lara.actions", 0), Partition("lara.actions", 1)


@pytest.mark.parametrize(
    ("marks", "read"),
    [({}, 0), ({P: 5}, 0), ({P: 8}, 3), ({P: 15, Q: 1}, 11), ({P: 99, Q: 99}, 14), ({P: 2}, 0)],
    ids=["none", "its beginning", "some", "ended", "beyond", "before the log"],
)
def test_what_is_read_lies_below_the_watermarks_and_in_the_log(marks, read):
    """What retention took is not read, and what came later is not waited for."""
    assert read_of(marks, {P: Bounds(5, 15), Q: Bounds(0, 4)}) == read


@pytest.mark.parametrize(
    ("progress", "sentence"),
    [
        (Progress(0, 100, 0.0), "0 of 100 records (0.0 %), 0 a second"),
        (Progress(2500, 10_000, 5.0), "2,500 of 10,000 records (25.0 %), 500 a second, 0:00:15 left"),
        (Progress(0, 0, 1.0), "0 of 0 records (100.0 %), 0 a second"),
    ],
    ids=["begun", "on its way", "nothing to read"],
)
def test_progress_says_how_much_how_fast_and_how_long(progress, sentence):
    """Without a rate nothing is foretold."""
    assert progress.sentence == sentence
