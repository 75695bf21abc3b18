"""Ranking quality: how good are the lists, by their labels and by what was used of them?"""

from deploy.generate.boards.commands import (
    IRRELEVANT_ASSETS,
    NULL_QUERIES,
    REPORT,
    RETRIEVAL,
    SAMPLE,
    UNUSED_ASSETS,
)
from deploy.generate.panels import Board, Panel, Row
from deploy.generate.queries import ask
from deploy.generate.shapes import by_label, headline, trends
from deploy.generate.thresholds import Limits


def ranking(_: Limits) -> Board:
    """By labels, then by use."""
    return Board(
        "lara-ranking",
        "lara · Ranking quality",
        "How good are the lists, by their labels and by what was used of them?",
        (
            Row("By labels", _headlines()),
            Row("By role", (_scores(),)),
            Row("In time", _trends()),
            Row("By what was used", _use()),
            Row("Clicks, for comparison", (_clicks(),)),
        ),
    )


def _headlines() -> tuple[Panel, ...]:
    return (
        headline(ask("lara_ndcg_at_k", k="10"), "Against the ideal", IRRELEVANT_ASSETS, "NDCG@10"),
        headline(ask("lara_mrr"), "First relevant asset", IRRELEVANT_ASSETS, "MRR"),
        headline(ask("lara_precision_at_k", k="5"), "Relevant of the first 5", IRRELEVANT_ASSETS, "P@5"),
        headline(ask("lara_recall_at_k", k="10"), "Relevant that were found", IRRELEVANT_ASSETS, "R@10"),
    )


def _scores() -> Panel:
    asks = {
        "labelled@10": ask("lara_judged_coverage_at_k", "role", k="10"),
        "P@1": ask("lara_precision_at_k", "role", k="1"),
        "P@5": ask("lara_precision_at_k", "role", k="5"),
        "P@10": ask("lara_precision_at_k", "role", k="10"),
        "none relevant": ask("lara_judged_without_relevant", "role"),
        "R@5": ask("lara_recall_at_k", "role", k="5"),
        "R@10": ask("lara_recall_at_k", "role", k="10"),
        "NDCG@5": ask("lara_ndcg_at_k", "role", k="5"),
        "NDCG@10": ask("lara_ndcg_at_k", "role", k="10"),
        "MRR": ask("lara_mrr", "role"),
    }
    return by_label(asks, "Scores by role; n before the scores it is of (judged, then ranked)", SAMPLE)


def _trends() -> tuple[Panel, ...]:
    scores = {"NDCG@10": ask("lara_ndcg_at_k", k="10"), "MRR": ask("lara_mrr")}
    labelled = {f"first {k}": ask("lara_judged_coverage_at_k", k=k) for k in ("5", "10")}
    return (
        trends(scores, "NDCG@10 and MRR", IRRELEVANT_ASSETS, limit="lara_ndcg_at_k"),
        trends(labelled, "How much of the list is labelled", SAMPLE),
    )


def _use() -> tuple[Panel, ...]:
    lists = {
        "empty %": ask("lara_null_ratio", "role"),
        "empty": ask("lara_retrievals_null", "role"),
    }
    tasks = {
        "done %": ask("lara_task_completion_ratio", "role"),
        "done": ask("lara_completed_retrievals", "role"),
        "goal %": ask("lara_goal_ratio", "role"),
    }
    return (
        by_label({"mean rank": ask("lara_consumed_rank", "role")}, "Rank of used assets", UNUSED_ASSETS, 8),
        by_label(lists, "Empty lists", NULL_QUERIES, 8),
        by_label(tasks, "Tasks and goals", RETRIEVAL, 8),
    )


def _clicks() -> Panel:
    asks = {
        "clicks per grid": ask("lara_clicks_per_grid", "role", "surface"),
        "CTR": ask("lara_ctr_ratio", "role", "surface"),
    }
    return by_label(asks, "Clicks by role and surface: an assistant has hardly any", REPORT)
