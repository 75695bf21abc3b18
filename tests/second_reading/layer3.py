"""5c. Layer 3: what came of it in the end (contract, sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.second_reading.judging import Judged
from tests.second_reading.rows import Labels, Row, ratio, row


def task_rows(labels: Labels, group: Sequence[Judged]) -> Iterator[Row]:
    """Tasks that were completed, by what was done, and goals that were reached, by what was said."""
    completed = [r for r in group if r.completed]
    labelled = [r for r in group if r.reached is not None]
    yield row("lara_completed_retrievals", labels, len(completed))
    yield from ratio("lara_task_completion_ratio", labels, completed, group)
    yield row("lara_goal_labelled_retrievals", labels, len(labelled))
    yield from ratio("lara_goal_ratio", labels, [r.reached for r in labelled], labelled)


def consumption_rows(labels: Labels, group: Sequence[Judged]) -> Iterator[Row]:
    """What was consumed from where in the list."""
    ranks = [rank for r in group for rank in r.ranks.values()]
    yield row("lara_consumed_assets", labels, len(ranks))
    if ranks:
        yield row("lara_consumed_rank", labels, sum(ranks) / len(ranks))


def spend_rows(labels: Labels, group: Sequence[Judged]) -> Iterator[Row]:
    """Milliseconds and tokens, where they were logged: by stage, and of completed tasks."""
    stages = {"retrieval": lambda r: [r.record], "action": lambda r: r.credited}
    for what in ("latency_ms", "tokens"):
        for stage, records in stages.items():
            spent = [one[what] for r in group for one in records(r) if one[what] is not None]
            yield row(f"lara_{what}_sum", {**labels, "stage": stage}, sum(map(round, spent)))
            yield row(f"lara_{what}_logged", {**labels, "stage": stage}, len(spent))
        tasks = [[one[what] for one in (r.record, *r.credited)] for r in group if r.completed]
        logged = [[round(spent) for spent in task if spent is not None] for task in tasks]
        yield row(f"lara_completed_{what}_sum", labels, sum(map(sum, logged)))
        yield row(f"lara_completed_{what}_logged", labels, len([task for task in logged if task]))


def click_rows(labels: Labels, group: Sequence[Judged]) -> Iterator[Row]:
    """Clicks on what was shown: over the retrievals whose list is known to hold something."""
    grids = [r for r in group if r.record["returned_asset_ids"]]
    if grids:
        yield row("lara_clicks_per_grid", labels, sum(r.clicks for r in grids) / len(grids))
    yield from ratio("lara_ctr_ratio", labels, [r.clicks for r in grids], grids)
