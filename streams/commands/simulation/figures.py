"""Figures by counting the books: who was marked with what, in which window.

`E` is the as-of time rounded up to a whole minute. A window `w` holds `E - w <= ts < E`; the settled cohort
is the same, half an hour earlier. Everything is counted by its own event time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from .books import Books, Done, Retrieved
from .quality import quality
from .rows import MATURITY, MINUTE, Labels, Row, grouped, ratio, row, share, within
from .scores import scored
from .visits import Glance, glances, prompts, sessions, stays

DEFINITIONS = ("strict", "standard", "broad")

Tally = Counter[tuple[str, str]]  # of (figure, what distinguishes it within a label set)

# ratio, numerator, denominator, label that distinguishes within a label set, cohort it exists for
EVIDENCE_RATIOS = (
    ("lara_gpr_ratio", "lara_retrievals_positive", "lara_retrievals", "definition", "both"),
    ("lara_acr_ratio", "lara_retrievals_agent_consumed", "lara_retrievals", "", "both"),
    ("lara_delegated_ratio", "lara_retrievals_delegated", "lara_retrievals", "", "both"),
    ("lara_orf_ratio", "lara_retrievals_failed", "lara_retrievals", "", "both"),
    ("lara_no_observed_failure_ratio", "not failed", "lara_retrievals", "", "both"),
    ("lara_uor_ratio", "lara_retrievals_unobserved", "lara_retrievals", "definition", "settled"),
    ("lara_pending_ratio", "lara_retrievals_pending", "lara_retrievals", "definition", "live"),
    ("lara_agent_use_confirmed_ratio", "confirmed", "lara_retrievals_agent_consumed", "", "both"),
)
LABEL_OF = {
    "lara_retrievals_positive": "definition",
    "lara_retrievals_unobserved": "definition",
    "lara_retrievals_pending": "definition",
    "lara_retrievals_failed_by_signal": "signal",
}
MARKED = {
    "A": "lara_retrievals_agent_consumed",
    "D": "lara_retrievals_delegated",
    "corrected": "lara_retrievals_corrected",
}
OUTCOME_FIGURES = ("lara_outcomes", "lara_attributed_outcomes", "lara_cross_session_outcomes")


def metrics(books: Books, as_of_ms: int, windows: Iterable[str]) -> list[Row]:
    """Every figure of every window at a time."""
    end = -(-as_of_ms // MINUTE) * MINUTE
    judged = [scored(retrieval, books.labels) for retrieval in books.retrievals]
    visited, glanced = stays(books), glances(books)
    rows: list[Row] = []
    for window in windows:
        base = {"window": window}
        held, acted = within(books.retrievals, end, window), within(books.actions, end, window)
        settled = within(books.retrievals, end - MATURITY, window)
        rows += evidence(held, base | {"cohort": "live"}, end)
        rows += evidence(settled, base | {"cohort": "settled"}, end)
        rows += quality(within(judged, end, window), base, end)
        rows += prompts(within(books.prompts, end, window), books.labels, base)
        rows += sessions(within(visited, end, window), base, end)
        rows += outcomes(acted, base)
        rows += coverage(held, acted, within(glanced, end, window), base)
    return rows


def evidence(retrievals: list[Retrieved], labels: Labels, end: int) -> Iterator[Row]:
    """Layers 2 and 3 of one window and cohort."""
    cohort = labels["cohort"]
    for group, members in grouped(retrievals, "role", "surface"):
        tally: Tally = Counter(mark for member in members for mark in marks(member, end))
        base = labels | group
        for (name, value), count in tally.items():
            if name.startswith("lara_") and not (name == "lara_retrievals_pending" and cohort == "settled"):
                yield row(name, base | ({LABEL_OF[name]: value} if name in LABEL_OF else {}), count)
        for name, numerator, denominator, label, exists in EVIDENCE_RATIOS:
            if tally[denominator, ""] and exists in ("both", cohort):
                for value in DEFINITIONS if label else ("",):
                    share = tally[numerator, value] / tally[denominator, ""]
                    yield row(name, base | ({label: value} if label else {}), share)


def marks(retrieval: Retrieved, end: int) -> Iterator[tuple[str, str]]:
    """The figures one retrieval counts in."""
    has = retrieval.marks
    yield "lara_retrievals", ""
    yield from ((MARKED[mark], "") for mark in has & MARKED.keys())
    yield from (("lara_retrievals_failed_by_signal", signal) for signal in retrieval.signals)
    yield ("lara_retrievals_failed" if retrieval.failed else "not failed"), ""
    if {"A", "standard"} <= has:
        yield "confirmed", ""
    open_as = "lara_retrievals_unobserved" if retrieval.ts < end - MATURITY else "lara_retrievals_pending"
    for definition in DEFINITIONS:
        if definition in has:
            yield "lara_retrievals_positive", definition
        elif not has & {"A", "D"} and not retrieval.failed:
            yield open_as, definition


def outcomes(actions: list[Done], labels: Labels) -> Iterator[Row]:
    """User exports, shares and downloads, and whom they credit."""
    tally: Counter[tuple[str, str, str]] = Counter()
    for action in actions:
        if action.outcome:
            counts = (True, bool(action.meaning.credits), action.cross_session)
            for name, holds in zip(OUTCOME_FIGURES, counts, strict=True):
                tally[name, action.surface, action.action] += holds
    for (name, surface, verb), count in sorted(tally.items()):
        base = labels | {"surface": surface, "action": verb}
        yield row(name, base, count)
        if name == "lara_attributed_outcomes":
            yield from ratio(
                "lara_attributed_outcome_ratio", base, count, tally["lara_outcomes", surface, verb]
            )


def coverage(
    retrievals: list[Retrieved], actions: list[Done], glanced: list[Glance], labels: Labels
) -> Iterator[Row]:
    """Resolutions, how much of the lineage is logged, and how often a glance at the session would differ."""
    for resolution, count in sorted(Counter(action.meaning.resolution for action in actions).items()):
        yield row("lara_actions", labels | {"resolution": resolution}, count)
    name = "lara_lineage_coverage_ratio"
    for field in ("returned_asset_ids", "role", "request_id"):
        logged = [field in retrieval.logged for retrieval in retrievals]
        yield from share(name, labels | {"field": field}, logged)
    with_asset = [action.asset is not None for action in actions]
    yield from share(name, labels | {"field": "consumed_asset_id"}, with_asset)
    traced = ("explicit", "inherited", "document")
    traceable = [action.meaning.resolution in traced for action in actions if action.traceable]
    yield from share(name, labels | {"field": "source_retrieval_id"}, traceable)
    differing = [glance.differs for glance in glanced]
    yield from share("lara_inference_disagreement_ratio", labels, differing)
