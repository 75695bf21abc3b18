"""What must hold: of every bucket at every moment, and of everything once all is read.

Rules:
- A bucket is the sum of what whole entities say, each by itself: so what holds of one entity's counters holds
  of every bucket after every write, also in the middle of a batch. Windows are sums of whole minutes, so it
  then holds of every figure in every window at any time asked about.
- Once all is read, all is as one batch of the same records leaves it: buckets, outputs, and no mark is left.
  Equal buckets are equal figures at any time, since figures are a function of them.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from attribution.diagnosis import VERDICTS
from attribution.ranking import BILLION
from attribution.semantics import FAILURE_SIGNALS, Semantics
from metrics.buckets import Counters
from metrics.catalogue import CATALOGUE
from metrics.schema import Group, Kind, Part, Sum, aged, either, of
from metrics.scopes import ACTION, CONSUMED, DELEGATED, FAILED, OUTCOME, PROMPT, RETRIEVAL, N
from metrics.vocabularies import VOCABULARIES

AGES: Final = (Part.MATURE, Part.YOUNG)
Terms = tuple[tuple[int, str], ...]  # (sign, counter)


class Law(NamedTuple):
    """0 <= `low` and, times `scale`, `low` <= `high`, of one group of things."""

    name: str
    group: Group
    low: Sum
    high: Sum
    scale: int = 1
    labels: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


def same(name: str, group: Group, one: Sum, other: Sum, labels: tuple[str, ...] = ()) -> tuple[Law, Law]:
    """Two sums that are equal."""
    return Law(name, group, one, other, labels=labels), Law(name, group, other, one, labels=labels)


SHARES: Final = tuple(
    Law(
        row.name,
        row.scope.group,
        row.formula.numerator,
        row.formula.denominator,
        row.formula.scale,
        row.scope.labels,
        row.scope.values,
    )
    for row in CATALOGUE
    if row.formula.kind is Kind.RATIO or row.formula.scale == BILLION
)
EVIDENCED: Final = of("retrievals_evidenced|{definition}")
POSITIVE: Final = of("retrievals_positive|{definition}")
DEFINITION: Final = ("definition",)
CLASSES: Final = (
    *(
        Law("each class of evidence is in U ∪ A ∪ D ∪ F", RETRIEVAL, one, EVIDENCED, labels=DEFINITION)
        for one in (POSITIVE, CONSUMED, DELEGATED, FAILED)
    ),
    Law(
        "U ∪ A ∪ D ∪ F has a class of evidence",
        RETRIEVAL,
        EVIDENCED,
        either(POSITIVE, CONSUMED, DELEGATED, FAILED),
        labels=DEFINITION,
    ),
    Law("U ∪ A ∪ D ∪ F is in N", RETRIEVAL, EVIDENCED, N, labels=DEFINITION),
    *same(
        "old retrievals have one verdict each",
        RETRIEVAL,
        N,
        either(
            *(of(f"diagnosis|{one}") for one in VERDICTS),
            *(aged(f"diagnosis_quiet|{one}", Part.MATURE) for one in VERDICTS),
            *(aged(f"diagnosis_young|{one}", Part.YOUNG) for one in VERDICTS),
        ),
    ),
    *same(
        "judged is with or without a relevant label",
        RETRIEVAL,
        of("judged_retrievals"),
        either(of("ranked_retrievals"), of("judged_without_relevant")),
    ),
    Law(
        "a failure has a signal",
        RETRIEVAL,
        FAILED,
        either(*(of(f"retrievals_failed_by_signal|{one}") for one in FAILURE_SIGNALS)),
    ),
    *same(
        "a prompt has one route",
        PROMPT,
        of("prompts"),
        either(*(of(f"prompts_by_route|{one}") for one in VOCABULARIES["route"])),
    ),
    Law(
        "an outcome in another session is attributed",
        OUTCOME,
        of("cross_session_outcomes"),
        of("attributed_outcomes"),
    ),
)
LAWS: Final = (*SHARES, *CLASSES)
_GROUPS: Final = {term.counter.partition("|")[0]: law.group for law in LAWS for term in (*law.low, *law.high)}


class Broken(AssertionError):
    """Something that must hold does not."""


def check_bucket(counters: Counters, minute: int, semantics: Semantics) -> None:
    """Raise `Broken` if a counter is negative, or a law of some group does not hold."""
    for counter, value in counters.items():
        if value < 0:
            raise Broken(f"{counter} is {value} in minute {minute}")
    names = tuple(one.name for one in semantics.definitions)
    for group, labels in {_place(counter) for counter in counters}:
        for name, low, high, scale in _compiled(group, labels, names):
            left, right = _total(low, counters), scale * _total(high, counters)
            if not 0 <= left <= right:
                raise Broken(f"{name} of {labels} in minute {minute}: not 0 <= {left} <= {right}")


@cache
def _place(counter: str) -> tuple[Group, tuple[str, ...]]:
    name, *labels = counter.split("|")
    group = _GROUPS.get(name, ACTION)
    return group, tuple(labels[len(labels) - len(group.labels) :])


def _total(terms: Terms, counters: Counters) -> int:
    return sum(sign * counters.get(counter, 0) for sign, counter in terms)


@cache
def _compiled(
    group: Group, labels: tuple[str, ...], definitions: tuple[str, ...]
) -> tuple[tuple[str, Terms, Terms, int], ...]:
    """The laws of a group with all its labels filled in, each once."""
    values = {**VOCABULARIES, "definition": definitions}
    found = {
        (_terms(law.low, own, labels, age), _terms(law.high, own, labels, age), law.scale): law.name
        for law in LAWS
        if law.group == group
        for own in _own(law, values)
        for age in AGES
    }
    return tuple((name, *rest) for rest, name in found.items())


def _own(law: Law, values: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, str]]:
    for chosen in product(*(law.values or values[label] for label in law.labels)):
        yield dict(zip(law.labels, chosen, strict=True))


def _terms(terms: Sum, own: Mapping[str, str], labels: tuple[str, ...], age: Part) -> Terms:
    return tuple(
        (term.sign, "|".join((term.counter.format_map(own), *labels)))
        for term in terms
        if term.part in (Part.WHOLE, age)
    )
