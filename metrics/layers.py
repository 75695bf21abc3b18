"""The report's tables of Layers 0 and 1, of both layers together, and of sessions."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table

from attribution.diagnosis import JUDGED, PENDING, UNJUDGED, VERDICTS
from metrics.tables import Fitting, Labels, new_table, number, percent, rows, side_by_side
from metrics.totals import Share, Totals, View

PROMPT_RATIOS: Final = (
    ("fired\na retrieval", "lara_invocation_ratio"),
    ("missed\none", "lara_missed_retrieval_ratio"),
    ("several\nneeds", "lara_multi_intent_ratio"),
    ("searched\nagain", "lara_search_reformulation_ratio"),
    ("corrected\ndownstream", "lara_downstream_correction_ratio"),
)
DIAGNOSIS: Final = "lara_diagnosis_retrievals"
SCORES: Final = (
    ("P@5", "lara_precision_at_k", "lara_judged_retrievals", "5"),
    ("R@10", "lara_recall_at_k", "lara_ranked_retrievals", "10"),
    ("NDCG@10", "lara_ndcg_at_k", "lara_ranked_retrievals", "10"),
    ("MRR", "lara_mrr", "lara_ranked_retrievals", None),
)

COSTS: Final[tuple[tuple[str, str, Labels], ...]] = (
    ("retrieval", "", {"stage": "retrieval"}),
    ("action credited", "", {"stage": "action"}),
    ("completed task", "completed_", {}),
)


def _prompts(totals: Totals, window: str) -> Table:
    """Layer 0: the prompts of each surface, and how the planner treated them, in %."""
    view = View(window)
    found = new_table("Prompts, in %", "surface", "n", *(heading for heading, _ in PROMPT_RATIOS))
    for metric in totals.matching(view, "lara_prompts"):
        labels = {"surface": metric.labels["surface"]}
        cells = [percent(_only(totals, view, name, labels)) for _, name in PROMPT_RATIOS]
        found.add_row(labels["surface"], f"{int(metric.value):,}", *cells)
    return found


def _only(totals: Totals, view: View, name: str, labels: Labels) -> float | None:
    values = [metric.value for metric in totals.matching(view, name, **labels)]
    return values[0] if values else None


def _ranking(totals: Totals, window: str) -> Table:
    """Layer 1 by its labels."""
    view = View(window)
    found = new_table("How good the lists were", "role", "judged", *(heading for heading, *_ in SCORES))
    if not totals.sum(view, "lara_judged_retrievals"):
        return found
    for labels, name, style in rows(totals, view, "lara_judged_retrievals", "role"):
        judged = totals.sum(view, "lara_judged_retrievals", **labels)
        cells = [_mean(totals, view, score, weight, k, labels) for _, score, weight, k in SCORES]
        found.add_row(name, f"{judged:,}", *(number(cell, 3) for cell in cells), style=style)
    return found


def _mean(totals: Totals, view: View, score: str, weight: str, k: str | None, labels: Labels) -> float | None:
    """A mean of means, each weighted by how many retrievals it is of."""
    wanted = labels if k is None else {**labels, "k": k}
    parts = [
        (metric.value, totals.sum(view, weight, role=metric.labels["role"], surface=metric.labels["surface"]))
        for metric in totals.matching(view, score, **wanted)
    ]
    total = sum(count for _, count in parts)
    return sum(value * count for value, count in parts) / total if total else None


def diagnosis(totals: Totals, window: str) -> RenderableType:
    """Both layers together: one table, or three where it would not fit."""
    view = View(window)
    if not sum(totals.sum(view, DIAGNOSIS, verdict=verdict) for verdict in JUDGED):
        return ""
    parts = [_verdicts(totals, view, some) for some in (JUDGED[:3], JUDGED[3:], (UNJUDGED, PENDING))]
    return Fitting(_verdicts(totals, view, VERDICTS), parts)


def _verdicts(totals: Totals, view: View, verdicts: Sequence[str]) -> Table:
    masked = ("masked\n%", "") if "masked" in verdicts else ()
    headings = (name.replace("_", "\n") for name in verdicts)
    found = new_table("List and evidence together", "role", *headings, *masked)
    for labels, name, style in rows(totals, view, DIAGNOSIS, "role"):
        counts = {verdict: totals.sum(view, DIAGNOSIS, verdict=verdict, **labels) for verdict in VERDICTS}
        share = Share(counts["masked"], sum(counts[verdict] for verdict in JUDGED))
        shown = (f"{counts[verdict]:,}" for verdict in verdicts)
        found.add_row(name, *shown, *(side_by_side(share) if masked else ()), style=style)
    return found


def _sessions(totals: Totals, window: str) -> Table:
    """The published bias: what the session abandons, lineage often finds elsewhere."""
    view = View(window)
    name = "lara_session_abandonment_ratio"
    found = new_table("Sessions abandoned, in %", "surface", "n", "by session", "by lineage")
    for metric in totals.matching(view, "lara_sessions"):
        labels = {"surface": metric.labels["surface"]}
        seen = [_only(totals, view, name, {**labels, "attribution": how}) for how in ("session", "lineage")]
        found.add_row(labels["surface"], f"{int(metric.value):,}", *map(percent, seen))
    return found


def _cost(totals: Totals, window: str) -> Table:
    """What retrievals, the actions credited to them and completed tasks took, where it was logged."""
    view = View(window)
    found = new_table("Cost, where logged", "of", "n", "mean\nms", "n", "mean\ntokens")
    for name, part, labels in COSTS:
        cells: list[str] = []
        for what in ("latency_ms", "tokens"):
            count = totals.sum(view, f"lara_{part}{what}_logged", **labels)
            spent = totals.sum(view, f"lara_{part}{what}_sum", **labels)
            cells += [f"{count:,}", number(spent / count if count else None)]
        if cells[::2] != ["0", "0"]:
            found.add_row(name, *cells)
    return found


layer_tables: Final[tuple[Callable[[Totals, str], Table], ...]] = (_prompts, _ranking, _sessions, _cost)
