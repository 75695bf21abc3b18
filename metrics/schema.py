"""What a row of the catalogue can say.

Rules:
- A figure is a count, a ratio of counts or a mean; all are made of sums of counters, added and taken away.
- A counter of a term is written without the labels of the scope's group, which are appended when it is read:
  `retrievals_positive|{definition}` of role browse on chat is `retrievals_positive|strict|browse|chat`.
  A name in braces is a label of the figure's own, and takes every value of its vocabulary.
- A group is one kind of thing that is counted. Its anchor is the counter that every thing of the group is in:
  the label sets of the anchor are the label sets of the group.
- A figure has the cohorts that its scope names; without any it reads the window that ends now.
- Report and backtest print every window, and both bounds of every ratio. The exporter prints what `exported`
  names.
"""

from enum import Enum
from typing import Final, NamedTuple

from metrics.windows import LIVE, SETTLED

Windows = tuple[str, ...]


class Kind(Enum):
    """How numerator and denominator make a value."""

    COUNT = "count"  # the numerator
    RATIO = "ratio"  # a share of counts, with bounds
    MEAN = "mean"  # a quotient that is no share: no bounds


class Part(Enum):
    """Which things of a window a term counts, by their age."""

    WHOLE = "all"
    MATURE = "mature"
    YOUNG = "not mature"


class Term(NamedTuple):
    """One counter in a sum, added (`sign` 1) or taken away (-1)."""

    counter: str
    sign: int = 1
    part: Part = Part.WHOLE


Sum = tuple[Term, ...]


class Formula(NamedTuple):
    """A value: numerator / (denominator × scale); a count has no denominator.

    `scale` is for scores, which are added up as integers of 1e-9.
    """

    kind: Kind
    numerator: Sum
    denominator: Sum = ()
    scale: int = 1


class Group(NamedTuple):
    """One kind of thing that is counted, and the labels that all its figures have."""

    entity: str
    labels: tuple[str, ...]
    anchor: str


class Scope(NamedTuple):
    """Over what a figure ranges: a group, the cohorts (none: no such label) and labels of its own."""

    group: Group
    cohorts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    values: tuple[str, ...] = ()  # of the only label of its own, where these are not its whole vocabulary


class Exported(NamedTuple):
    """The windows that the exporter prints, by cohort (no cohort reads as `live`), and those with bounds."""

    live: Windows
    settled: Windows = ()
    bounds: Windows = ()

    def windows(self, cohort: str | None) -> Windows:
        """The windows of one cohort (None: no cohort)."""
        return self.settled if cohort == SETTLED else self.live


class Figure(NamedTuple):
    """One row of the catalogue; `own_reading` is the † of the contract."""

    name: str
    help: str
    formula: Formula
    scope: Scope
    exported: Exported
    own_reading: bool = False

    @property
    def cohorts(self) -> tuple[str | None, ...]:
        """The cohorts that are printed; None is "no cohort"."""
        return self.scope.cohorts or (None,)

    @property
    def label_names(self) -> tuple[str, ...]:
        """All labels, in their fixed order."""
        cohort = ("cohort",) if self.scope.cohorts else ()
        return ("window", *cohort, *self.scope.group.labels, *self.scope.labels)


class PublishedDefinition(NamedTuple):
    """A definition of the genuine positive, as it stands beside the figures."""

    name: str
    version: str
    digest: str


BOTH_COHORTS: Final = (LIVE, SETTLED)


def of(counter: str) -> Sum:
    """One counter."""
    return (Term(counter),)


def either(*sums: Sum) -> Sum:
    """Several counters, added."""
    return tuple(term for one in sums for term in one)


def aged(counter: str, part: Part) -> Sum:
    """One counter of things of an age."""
    return (Term(counter, 1, part),)


def less(counter: str, removed: str, part: Part = Part.WHOLE) -> Sum:
    """One counter without those that are in another."""
    return (Term(counter, 1, part), Term(removed, -1, part))


def count(numerator: Sum) -> Formula:
    """How many."""
    return Formula(Kind.COUNT, numerator)


def ratio(numerator: Sum, denominator: Sum) -> Formula:
    """Which share: the numerator counts some of the things that the denominator counts."""
    return Formula(Kind.RATIO, numerator, denominator)


def mean(numerator: Sum, denominator: Sum, scale: int = 1) -> Formula:
    """How much each, on average."""
    return Formula(Kind.MEAN, numerator, denominator, scale)
