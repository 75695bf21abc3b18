"""Two sets of figures, compared row by row."""

from metrics.figures import Metric
from streams.commands.compare import Row, as_data, compare

CHAT, GALLERY = {"window": "all", "surface": "chat"}, {"surface": "gallery", "window": "all"}
LABELS = (("surface", "chat"), ("window", "all"))


def test_equal_figures_are_counted_and_none_differs():
    """In any order of rows and of labels."""
    some = [Metric("a", CHAT, 1.0), Metric("b", GALLERY, 0.5)]
    turned = [Metric("b", dict(reversed(GALLERY.items())), 0.5), Metric("a", CHAT, 1.0)]
    assert compare(some, turned) == (2, [])


def test_a_row_differs_by_its_value_or_by_being_absent():
    """Each side is named; what is absent is None."""
    found = compare(
        [Metric("a", CHAT, 1.0), Metric("b", CHAT, 2.0)], [Metric("a", CHAT, 3.0), Metric("c", CHAT, 0.0)]
    )
    assert found == (
        0,
        [Row("a", LABELS, 1.0, 3.0), Row("b", LABELS, 2.0, None), Row("c", LABELS, None, 0.0)],
    )


def test_bounds_are_left_out():
    """They follow from the counts, and would tell every difference three times."""
    bounds = [Metric("a_lower", CHAT, 0.1), Metric("a_upper", CHAT, 0.2)]
    assert compare([Metric("a", CHAT, 1.0), *bounds], [Metric("a", CHAT, 1.0)]) == (1, [])


def test_programs_are_told_every_row():
    """With labels as they are elsewhere."""
    found = compare([Metric("a", CHAT, 1.0)], [])
    assert as_data(5, ("lara", "lara-rebuilt"), found) == {
        "as_of": 5,
        "this": "lara",
        "other": "lara-rebuilt",
        "equal": 0,
        "differing": [{"figure": "a", "labels": CHAT, "this": 1.0, "other": None}],
    }
