"""Figures by counting the books: who was marked with what, in which window.

`E` is the as-of time rounded up to a whole minute. A window `w` holds `E - w <= ts < E`; the settled cohort
is the same, half an hour earlier. Everything is counted by its own event time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypedDict, TypeVar

if TYPE_CHECKING:
    from .truth import Done, Retrieved

MINUTE = 60_000
MATURITY = 30 * MINUTE
WIDTHS = {"5m": 5 * MINUTE, "1h": 60 * MINUTE, "6h": 360 * MINUTE, "24h": 1440 * MINUTE, "7d": 10080 * MINUTE}
WINDOWS = (*WIDTHS, "all")
DEFINITIONS = ("strict", "standard", "broad")

Labels = dict[str, str]
Thing = TypeVar("Thing", "Retrieved", "Done")
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


class Row(TypedDict):
    """One figure with its labels."""

    name: str
    labels: Labels
    value: float


def metrics(
    retrievals: list[Retrieved], actions: list[Done], as_of_ms: int, windows: Iterable[str]
) -> list[Row]:
    """Every figure of every window at a time."""
    end = -(-as_of_ms // MINUTE) * MINUTE
    rows: list[Row] = []
    for window in windows:
        held = within(retrievals, end, window)
        settled = within(retrievals, end - MATURITY, window)
        acted = within(actions, end, window)
        rows += evidence(held, {"window": window, "cohort": "live"}, end)
        rows += evidence(settled, {"window": window, "cohort": "settled"}, end)
        rows += layer_one(held, {"window": window})
        rows += outcomes(acted, {"window": window})
        rows += coverage(held, acted, {"window": window})
    return rows


def within(things: list[Thing], end: int, window: str) -> list[Thing]:
    """Those whose own event time lies in the window that ends at `end`."""
    start = end - WIDTHS[window] if window in WIDTHS else None
    return [thing for thing in things if thing.ts < end and (start is None or thing.ts >= start)]


def by_role_and_surface(retrievals: list[Retrieved]) -> Iterator[tuple[Labels, list[Retrieved]]]:
    """The retrievals of each label set."""
    groups: defaultdict[tuple[str, str], list[Retrieved]] = defaultdict(list)
    for retrieval in retrievals:
        groups[retrieval.role, retrieval.surface].append(retrieval)
    for (role, surface), members in sorted(groups.items()):
        yield {"role": role, "surface": surface}, members


def evidence(retrievals: list[Retrieved], labels: Labels, end: int) -> Iterator[Row]:
    """Layers 2 and 3 of one window and cohort."""
    cohort = labels["cohort"]
    for group, members in by_role_and_surface(retrievals):
        tally: Tally = Counter(mark for member in members for mark in marks(member, end))
        base = labels | group
        for (name, value), count in tally.items():
            if name.startswith("lara_") and not (name == "lara_retrievals_pending" and cohort == "settled"):
                yield row(name, base | ({LABEL_OF[name]: value} if name in LABEL_OF else {}), count)
        for ratio, numerator, denominator, label, exists in EVIDENCE_RATIOS:
            if tally[denominator, ""] and exists in ("both", cohort):
                for value in DEFINITIONS if label else ("",):
                    share = tally[numerator, value] / tally[denominator, ""]
                    yield row(ratio, base | ({label: value} if label else {}), share)


def marks(retrieval: Retrieved, end: int) -> Iterator[tuple[str, str]]:
    """The figures one retrieval counts in."""
    has = retrieval.marks
    yield "lara_retrievals", ""
    yield from ((MARKED[mark], "") for mark in has & MARKED.keys())
    if "rejected" in has:
        yield "lara_retrievals_failed", ""
        yield "lara_retrievals_failed_by_signal", "rejected"
    else:
        yield "not failed", ""
    if {"A", "standard"} <= has:
        yield "confirmed", ""
    open_as = "lara_retrievals_unobserved" if retrieval.ts < end - MATURITY else "lara_retrievals_pending"
    for definition in DEFINITIONS:
        if definition in has:
            yield "lara_retrievals_positive", definition
        elif not has & {"A", "D", "rejected"}:
            yield open_as, definition


def layer_one(retrievals: list[Retrieved], labels: Labels) -> Iterator[Row]:
    """What was returned, and at which rank the consumed assets stood."""
    for group, members in by_role_and_surface(retrievals):
        base = labels | group
        listed = [member for member in members if "returned_asset_ids" in member.logged]
        ranks = [rank for member in members for rank in member.ranks.values()]
        nulls = sum(member.null for member in listed)
        yield row("lara_retrievals_without_list", base, len(members) - len(listed))
        yield row("lara_layer1_retrievals", base, len(listed))
        yield row("lara_retrievals_null", base, nulls)
        yield row("lara_consumed_assets", base, len(ranks))
        yield from ratio("lara_null_ratio", base, nulls, len(listed))
        yield from ratio("lara_consumed_rank", base, sum(ranks), len(ranks))


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


def coverage(retrievals: list[Retrieved], actions: list[Done], labels: Labels) -> Iterator[Row]:
    """Resolutions, and how much of the lineage is logged."""
    for resolution, count in sorted(Counter(action.meaning.resolution for action in actions).items()):
        yield row("lara_actions", labels | {"resolution": resolution}, count)
    name = "lara_lineage_coverage_ratio"
    for field in ("returned_asset_ids", "role", "request_id"):
        logged = sum(field in retrieval.logged for retrieval in retrievals)
        yield from ratio(name, labels | {"field": field}, logged, len(retrievals))
    with_asset = sum(action.has_asset for action in actions)
    yield from ratio(name, labels | {"field": "consumed_asset_id"}, with_asset, len(actions))
    traceable = [action for action in actions if action.traceable]
    traced = sum(action.meaning.resolution in ("explicit", "inherited", "document") for action in traceable)
    yield from ratio(name, labels | {"field": "source_retrieval_id"}, traced, len(traceable))


def ratio(name: str, labels: Labels, numerator: int, denominator: int) -> Iterator[Row]:
    """The ratio, if there is anything to divide by."""
    if denominator:
        yield row(name, labels, numerator / denominator)


def row(name: str, labels: Labels, value: float) -> Row:
    """One row."""
    return {"name": name, "labels": labels, "value": value}
