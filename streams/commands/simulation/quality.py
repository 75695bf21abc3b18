"""Figures of what was returned and what came of it: Layer 1, diagnosis, tasks, goals, clicks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .rows import Labels, Row, grouped, ratio, row, share
from .scores import RANKING, RELEVANCE, UNIT, Scored

NAMES = {
    "precision": "lara_precision_at_k",
    "coverage": "lara_judged_coverage_at_k",
    "recall": "lara_recall_at_k",
    "ndcg": "lara_ndcg_at_k",
    "mrr": "lara_mrr",
}


def quality(retrievals: list[Scored], labels: Labels, end: int) -> Iterator[Row]:
    """All of it, for one window."""
    for group, members in grouped(retrievals, "role", "surface"):
        base = labels | group
        yield from lists(members, base)
        yield from scores([member for member in members if member.intents != 0], base)
        yield from routing(members, base)
        yield from diagnosis(members, base, end)
        yield from tasks(members, base)
        yield from clicks(members, base)
        yield from spending(members, base)


def lists(members: list[Scored], base: Labels) -> Iterator[Row]:
    """What was returned, and at which rank the consumed assets stood."""
    listed = [member for member in members if member.book.assets is not None]
    routed = [member for member in listed if member.intents != 0]
    ranks = [rank for member in members for rank in member.book.ranks.values()]
    yield row("lara_retrievals_without_list", base, len(members) - len(listed))
    yield row("lara_layer1_retrievals", base, len(routed))
    yield row("lara_retrievals_null", base, sum(member.book.null for member in routed))
    yield from share("lara_null_ratio", base, [member.book.null for member in routed])
    yield row("lara_consumed_assets", base, len(ranks))
    yield from ratio("lara_consumed_rank", base, sum(ranks), len(ranks))


def scores(routed: list[Scored], base: Labels) -> Iterator[Row]:
    """The means of the scores."""
    judged = [member.relevance for member in routed if member.relevance is not None]
    ranked = [member.ranking for member in routed if member.ranking is not None]
    yield row("lara_judged_retrievals", base, len(judged))
    yield row("lara_ranked_retrievals", base, len(ranked))
    yield row("lara_judged_without_relevant", base, len(judged) - len(ranked))
    for names, values in ((RELEVANCE, judged), (RANKING, ranked)):
        for name in names:
            score, _, k = name.partition(" ")
            total = sum(value[name] for value in values)
            yield from ratio(NAMES[score], base | ({"k": k} if k else {}), total, len(values) * UNIT)


def routing(members: list[Scored], base: Labels) -> Iterator[Row]:
    """Retrievals nobody wanted, among those whose prompt was labelled."""
    misrouted = [member.intents == 0 for member in members if member.intents is not None]
    yield row("lara_misrouted_retrievals", base, sum(misrouted))
    yield row("lara_routing_labelled_retrievals", base, len(misrouted))
    yield from share("lara_misroute_ratio", base, misrouted)


def diagnosis(members: list[Scored], base: Labels, end: int) -> Iterator[Row]:
    """Whose fault it was."""
    verdicts = Counter(member.verdict(end) for member in members)
    for verdict, count in sorted(verdicts.items()):
        yield row("lara_diagnosis_retrievals", base | {"verdict": verdict}, count)
    judged = verdicts.total() - verdicts["pending"] - verdicts["unjudged"]
    yield from ratio("lara_masked_failure_ratio", base, verdicts["masked"], judged)


def tasks(members: list[Scored], base: Labels) -> Iterator[Row]:
    """Tasks that were completed, and goals that somebody said were reached."""
    completed = [member.book.completed for member in members]
    reached = [member.reached for member in members if member.reached is not None]
    yield row("lara_completed_retrievals", base, sum(completed))
    yield from share("lara_task_completion_ratio", base, completed)
    yield row("lara_goal_labelled_retrievals", base, len(reached))
    yield from share("lara_goal_ratio", base, reached)


def clicks(members: list[Scored], base: Labels) -> Iterator[Row]:
    """Clicks on what was shown."""
    counts = [member.book.clicks for member in members if member.book.assets]
    yield from ratio("lara_clicks_per_grid", base, sum(counts), len(counts))
    yield from share("lara_ctr_ratio", base, [count > 0 for count in counts])


def spending(members: list[Scored], base: Labels) -> Iterator[Row]:
    """What was logged to be spent, by stage, and on tasks that were completed."""
    for what in ("latency_ms", "tokens"):
        stages = {
            "retrieval": [member.book.spent for member in members],
            "action": [spent for member in members for spent in member.book.spent_on],
        }
        for stage, spents in stages.items():
            logged = [spent[what] for spent in spents if what in spent]
            yield row(f"lara_{what}_sum", base | {"stage": stage}, sum(logged))
            yield row(f"lara_{what}_logged", base | {"stage": stage}, len(logged))
        done = [member.book for member in members if member.book.completed]
        tasks = [[one[what] for one in (book.spent, *book.spent_on) if what in one] for book in done]
        yield row(f"lara_completed_{what}_sum", base, sum(map(sum, tasks)))
        yield row(f"lara_completed_{what}_logged", base, sum(map(bool, tasks)))
