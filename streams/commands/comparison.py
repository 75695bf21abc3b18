"""The figures of a report beside the simulator's truth: every one of them, exactly."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console

from metrics.catalogue import CATALOGUE
from metrics.figures import LOWER, UPPER, Metric
from metrics.schema import Kind

COUNTS: Final = frozenset(one.name for one in CATALOGUE if one.formula.kind is Kind.COUNT)  # absent: 0
SHOWN: Final = 20  # differences that are printed; there are none or many

Difference = tuple[str, dict[str, str], float | None, float | None]


def differences(found: Sequence[Metric], truth: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """Figures whose value is not the truth's. The truth leaves out counts of 0, and bounds."""
    reported = {
        (metric.name, tuple(sorted(metric.labels.items()))): metric.value
        for metric in found
        if not metric.name.endswith((LOWER, UPPER))
    }
    true = {(row["name"], tuple(sorted(row["labels"].items()))): row["value"] for row in truth}
    return [
        (name, dict(labels), reported.get((name, labels)), true.get((name, labels)))
        for name, labels in sorted(reported.keys() | true.keys())
        if _differ(name, reported.get((name, labels)), true.get((name, labels)))
    ]


def _differ(name: str, reported: float | None, true: float | None) -> bool:
    return (reported or 0) != (true or 0) if name in COUNTS else reported != true


def print_differences(console: Console, found: Sequence[Metric], truth: Sequence[Mapping[str, Any]]) -> int:
    """Print the first differences, or that there are none; returns how many there are."""
    different = differences(found, truth)
    for name, labels, value, wanted in different[:SHOWN]:
        console.print(f"[red]differs[/red] {name} {labels}: reported {value}, true {wanted}")
    compared = sum(not metric.name.endswith((LOWER, UPPER)) for metric in found)
    if different:
        console.print(
            f"[red]{len(different)} of {compared:,} figures differ from the simulator's truth[/red]"
        )
    else:
        console.print(f"[green]all {compared:,} figures equal the simulator's truth exactly[/green]")
    return len(different)
