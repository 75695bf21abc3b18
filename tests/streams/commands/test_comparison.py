"""A report beside the truth: what counts as the same, and what is said of it."""

from typing import Any

from rich.console import Console

from metrics.figures import Metric
from streams.commands.comparison import differences, print_differences


def metric(name: str, value: float) -> Metric:
    return Metric(name, {"window": "all"}, value)


def truth(**values: float) -> list[dict[str, Any]]:
    return [{"name": name, "labels": {"window": "all"}, "value": value} for name, value in values.items()]


def test_the_same_figures_differ_in_nothing():
    """Bounds are the report's own."""
    found = [metric("lara_prompts", 4), metric("lara_acr_ratio", 0.5), metric("lara_acr_ratio_lower", 0.1)]
    assert differences(found, truth(lara_prompts=4, lara_acr_ratio=0.5)) == []


def test_a_count_of_0_is_as_good_as_absent_and_a_ratio_of_0_is_not():
    """The truth leaves out counts of 0; a ratio that is absent has nothing to be a share of."""
    found = [metric("lara_prompts", 0), metric("lara_acr_ratio", 0.0)]
    assert differences(found, []) == [("lara_acr_ratio", {"window": "all"}, 0.0, None)]


def test_another_value_and_one_that_only_one_side_knows_are_told():
    """With both values."""
    found = [metric("lara_prompts", 4)]
    assert differences(found, truth(lara_prompts=5, lara_sessions=1)) == [
        ("lara_prompts", {"window": "all"}, 4, 5),
        ("lara_sessions", {"window": "all"}, None, 1),
    ]


def test_what_differs_is_printed_and_counted():
    """And so is that nothing does."""
    console = Console(record=True, width=120)
    assert print_differences(console, [metric("lara_prompts", 4)], truth(lara_prompts=5)) == 1
    assert print_differences(console, [metric("lara_prompts", 4)], truth(lara_prompts=4)) == 0
    said = console.export_text()
    assert "lara_prompts {'window': 'all'}: reported 4, true 5" in said
    assert "1 of 1 figures differ" in said
    assert "all 1 figures equal" in said
