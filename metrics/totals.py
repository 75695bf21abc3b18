"""Sums of published counts over the labels one does not ask about: what the exporter leaves to its reader.

Rules:
- Only counts are added, and sums over labels are exact; a ratio of a total is made from totals.
- Asking for what is not there gives 0: a count that is absent counts nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from metrics.figures import Metric
from metrics.intervals import Interval, wilson


class Share(NamedTuple):
    """A ratio with all that is needed to judge it."""

    hits: int
    trials: int

    @property
    def value(self) -> float | None:
        """The ratio; None without trials."""
        return self.hits / self.trials if self.trials else None

    @property
    def interval(self) -> Interval | None:
        """Its Wilson bounds; None where it is no share."""
        return wilson(self.hits, self.trials) if 0 <= self.hits <= self.trials else None


class View(NamedTuple):
    """One window of one cohort (None: figures without cohorts)."""

    window: str
    cohort: str | None = None


class Totals:
    """An index of metrics, to add them up."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics: defaultdict[tuple[str, View], list[Metric]] = defaultdict(list)
        for metric in metrics:
            view = View(metric.labels["window"], metric.labels.get("cohort"))
            self._metrics[metric.name, view].append(metric)

    def matching(self, view: View, name: str, **labels: str) -> list[Metric]:
        """The metrics of a name in a view that have these labels, in their order."""
        found = self._metrics.get((name, view), ())
        return [metric for metric in found if labels.items() <= metric.labels.items()]

    def sum(self, view: View, name: str, **labels: str) -> int:
        """The sum of a count over all labels that are not given."""
        return sum(int(metric.value) for metric in self.matching(view, name, **labels))

    def label_values(self, view: View, name: str, label: str) -> list[str]:
        """The values that a label of a figure takes in a view, in order of appearance."""
        return list(dict.fromkeys(metric.labels[label] for metric in self.matching(view, name)))

    def mean(self, view: View, name: str, weight: str, **labels: str) -> float | None:
        """The mean of a total: of published means, each weighted by its published count."""
        means = self.matching(view, name, **labels)
        counts = [self.sum(view, weight, **mean.labels) for mean in means]
        total = sum(mean.value * count for mean, count in zip(means, counts, strict=True))
        return total / sum(counts) if any(counts) else None

    @property
    def windows(self) -> list[str]:
        """The windows that are there, in order of appearance."""
        return list(dict.fromkeys(view.window for _, view in self._metrics))

    def content(self, window: str) -> list[Metric]:
        """All that a window says, without its name."""
        return [
            Metric(name, {**metric.labels, "window": ""}, metric.value)
            for (name, view), found in self._metrics.items()
            if view.window == window
            for metric in found
        ]

    def is_empty(self, window: str) -> bool:
        """Is every value of a window 0?"""
        return not any(
            metric.value
            for (_, view), found in self._metrics.items()
            if view.window == window
            for metric in found
        )
