"""The queries and assets with the worst record: which cases they have, and their order.

Rules:
- A measure says of each retrieval which subjects it is a case of, and whether it counts against them.
- Order: by the lower Wilson bound of the share, so that few cases do not outrank many; then by the number of
  cases; then by the text. What nothing counts against is not listed.
- Evidence needs time: measures of evidence read the settled cohort, the others the live one.
- A query is its normalised form, shown as it was written most often (of several the first by text).
- An asset is what the list held. What was made of it later counts for it, as for the mean rank.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from attribution.diagnosis import JUDGED
from attribution.retrievals import Judged
from attribution.semantics import minute_of, normalised_query
from metrics.buckets import Span
from metrics.intervals import wilson
from metrics.windows import LIVE, SETTLED

Cases = Iterable[tuple[str, bool]]


class Measure(NamedTuple):
    """One way to be bad: whose cases a retrieval is, in which cohort, and what n and count are."""

    name: str
    title: str
    cohort: str
    cases: Callable[[Judged], Cases]
    of: str  # what n counts, in words
    hits: str  # what count counts, in words


def _of_query(holds: Callable[[Judged], bool | None]) -> Callable[[Judged], Cases]:
    """The one case that a retrieval is of its query; none where `holds` is None, or no query was logged."""

    def cases(one: Judged) -> Cases:
        found = holds(one)
        query = one.record.query
        return [(normalised_query(query), found)] if query is not None and found is not None else []

    return cases


def _null(one: Judged) -> bool | None:
    return one.verdict.null if one.in_layer_one else None


def _masked(one: Judged) -> bool | None:
    name = one.verdict.diagnosis.verdict
    return name == "masked" if name in JUDGED else None


def _listed(one: Judged) -> list[str]:
    """The assets of the list, each once, in its order."""
    return [asset for asset in dict.fromkeys(one.record.returned_asset_ids or ()) if asset is not None]


def _blamed(listed: Sequence[str], consumed: Sequence[str]) -> str | None:
    """The listed asset behind what was rejected: the asset itself, else the best placed of its ancestors."""
    if consumed and consumed[0] in listed:
        return consumed[0]
    return next((asset for asset in listed if asset in consumed), None)


def _rejected_assets(one: Judged) -> Cases:
    listed = _listed(one)
    rejects = (evidence for evidence in one.verdict.evidence if evidence.kind == "rejected")
    blamed = {_blamed(listed, route.consumed) for evidence in rejects for route in evidence.routes}
    return [(asset, asset in blamed) for asset in listed]


def _unused_first(one: Judged) -> Cases:
    """The asset at rank 1; of no retrieval that was used without saying which asset."""
    first = (one.record.returned_asset_ids or (None,))[0]
    verdict = one.verdict
    used = verdict.positive["standard"] or verdict.agent_consumed or verdict.delegated
    if first is None or (used and not verdict.ranks):
        return []
    return [(first, 1 not in verdict.ranks.values())]


def _irrelevant(one: Judged) -> Cases:
    graded = [asset for asset in _listed(one) if asset in one.grades] if one.in_layer_one else []
    return [(asset, one.grades[asset] <= 0) for asset in graded]


ALL: Final = "its retrievals"
QUERIES: Final = (
    Measure("null", "Null results", LIVE, _of_query(_null), "its retrievals of Layer 1", "null results"),
    Measure(
        "rejected",
        "Rejected",
        SETTLED,
        _of_query(lambda one: "rejected" in one.verdict.signals),
        ALL,
        "retrievals with a user `reject`",
    ),
    Measure(
        "researched",
        "Searched again",
        SETTLED,
        _of_query(lambda one: "researched" in one.verdict.signals),
        ALL,
        "retrievals whose need was searched for again before they were used",
    ),
    Measure(
        "masked",
        "Masked failures",
        SETTLED,
        _of_query(_masked),
        "its retrievals with one of the six judged verdicts",
        "those with the verdict `masked`",
    ),
    Measure(
        "failed",
        "Observable failures",
        SETTLED,
        _of_query(lambda one: one.verdict.failed),
        ALL,
        "retrievals in F, by whatever signal",
    ),
)
ASSETS: Final = (
    Measure(
        "rejected",
        "Rejected",
        SETTLED,
        _rejected_assets,
        "lists that held it",
        "those of which a user rejected it, or what was made of it; a `reject` without asset blames none",
    ),
    Measure(
        "unused",
        "Ranked first and not used",
        SETTLED,
        _unused_first,
        "lists that held it at rank 1, without those that were used without saying which asset",
        "those of which nothing at rank 1 was used (U by `standard`, A or D)",
    ),
    Measure(
        "irrelevant",
        "Judged irrelevant",
        LIVE,
        _irrelevant,
        "lists of Layer 1 that held it and have a label for it",
        "those where the label is grade 0 or less",
    ),
)


SUBJECTS: Final = {"queries": QUERIES, "assets": ASSETS}


class Row(Struct, frozen=True):
    """One query or asset: `count` of `n` cases count against it."""

    text: str
    n: int
    count: int
    ratio: float
    lower: float
    upper: float


class Table(NamedTuple):
    """A measure with its worst subjects, worst first."""

    measure: Measure
    rows: list[Row]


class Worst:
    """The record of every query or asset, counted from retrievals in any order."""

    def __init__(self, subjects: str, by: str | None, spans: Mapping[str, Span]) -> None:
        """`subjects` is one of `SUBJECTS`, `by` the name of a measure or None for all, `spans` by cohort."""
        self._spans = spans
        self._measures = [one for one in SUBJECTS[subjects] if by in (None, one.name)]
        self._cases: list[dict[str, list[int]]] = [{} for _ in self._measures]  # subject -> [n, count]
        self._are_queries = subjects == "queries"
        self._written: dict[str, dict[str, int]] = {}  # normalised query -> how it was written, how often

    def add(self, one: Judged) -> None:
        """One retrieval; each is added once."""
        minute = minute_of(one.record.ts)
        inside = {cohort for cohort, span in self._spans.items() if span.holds(minute)}
        for measure, cases in zip(self._measures, self._cases, strict=True):
            for subject, hit in measure.cases(one) if measure.cohort in inside else ():
                counts = cases.setdefault(subject, [0, 0])
                counts[0] += 1
                counts[1] += hit
        if self._are_queries and inside and one.record.query is not None:
            written = self._written.setdefault(normalised_query(one.record.query), {})
            written[one.record.query] = written.get(one.record.query, 0) + 1

    def tables(self, limit: int, least: int) -> list[Table]:
        """The first `limit` subjects by every measure, of those with at least `least` cases."""
        return [
            Table(measure, sorted(self._rows(cases, least), key=_order)[:limit])
            for measure, cases in zip(self._measures, self._cases, strict=True)
        ]

    def _rows(self, cases: Mapping[str, Sequence[int]], least: int) -> Iterator[Row]:
        for subject, (n, count) in cases.items():
            interval = wilson(count, n)
            if count and n >= least and interval is not None:
                yield Row(self._shown(subject), n, count, count / n, *interval)

    def _shown(self, subject: str) -> str:
        written = self._written.get(subject, {subject: 1})
        return min(written, key=lambda text: (-written[text], text))


def _order(row: Row) -> tuple[float, int, str]:
    return (-row.lower, -row.n, row.text)
