"""Retrieval health: is retrieval broken, and in which layer?"""

from typing import Final

from attribution.diagnosis import VERDICTS
from deploy.generate.boards.commands import (
    ACTION,
    DOCTOR,
    FAILED_QUERIES,
    MASKED_QUERIES,
    NULL_QUERIES,
    REPORT,
    SAMPLE,
    SAMPLE_SURFACES,
)
from deploy.generate.panels import Board, Panel, Row
from deploy.generate.queries import ask
from deploy.generate.shapes import by_label, counted, headline, trend
from deploy.generate.shapes_layers import Layer, layers
from deploy.generate.thresholds import Limits
from metrics.windows import LIVE

FIELD: Final = "lara_lineage_coverage_ratio"


def health(limits: Limits) -> Board:
    """From the layer, over its size and its verdicts, to its course."""
    return Board(
        "lara-health",
        "lara · Retrieval health",
        "Is retrieval broken, and in which layer?",
        (
            Row("Which layer?", (layers(_layers(), limits, "Layers, from the first to the last", DOCTOR),)),
            Row("How bad is it?", _headlines()),
            Row("Whose fault?", (_diagnosis(),)),
            Row("Since when?", _trends()),
            Row("Can these figures be trusted?", _trust()),
        ),
    )


def _layers() -> tuple[Layer, ...]:
    """The layers in their order, each by the figures that tell of it."""
    return (
        Layer("producer", "source found (n: actions)", ask(FIELD, field="source_retrieval_id")),
        Layer("producer", "lists logged (n: retrievals)", ask(FIELD, field="returned_asset_ids")),
        Layer("0 · planner", "retrieved, though none was needed", ask("lara_misroute_ratio")),
        Layer("1 · index", "empty lists", ask("lara_null_ratio")),
        Layer("1 · ranking", "NDCG@10, in % of the ideal", ask("lara_ndcg_at_k", k="10")),
        Layer("1 + 2", "bad list, and nobody reacted (masked)", ask("lara_masked_failure_ratio")),
        Layer("2 · use", "observable failure (ORF)", ask("lara_orf_ratio")),
        Layer("2 · use", "genuine positive (GPR)", ask("lara_gpr_ratio")),
        Layer("2 · use", "no evidence at all (UOR)", ask("lara_uor_ratio")),
    )


def _headlines() -> tuple[Panel, ...]:
    return (
        headline(ask("lara_misroute_ratio"), "Layer 0 · misrouted", SAMPLE_SURFACES, "misrouted", 5),
        headline(ask("lara_null_ratio"), "Layer 1 · empty lists", NULL_QUERIES, "null", 5),
        headline(ask("lara_ndcg_at_k", k="10"), "Layer 1 · ranking", SAMPLE, "NDCG@10", 4),
        headline(ask("lara_orf_ratio"), "Layer 2 · observable failure", FAILED_QUERIES, "ORF", 5),
        headline(ask("lara_masked_failure_ratio"), "Layers 1 + 2 · masked", MASKED_QUERIES, "masked", 5),
    )


def _diagnosis() -> Panel:
    """How many retrievals of a role have which verdict, and the masked share of the judged."""
    asks = {
        verdict.replace("_", " "): ask("lara_diagnosis_retrievals", "role", verdict=verdict)
        for verdict in VERDICTS
    }
    asks["masked %"] = ask("lara_masked_failure_ratio", "role")
    return by_label(asks, "Diagnosis: list and evidence together, by role", MASKED_QUERIES)


def _trends() -> tuple[Panel, ...]:
    return (
        trend(ask("lara_null_ratio"), "Empty lists", NULL_QUERIES, "null", 8),
        trend(ask("lara_ndcg_at_k", k="10"), "Ranking (NDCG@10)", SAMPLE, "NDCG@10", 8),
        trend(ask("lara_masked_failure_ratio"), "Masked failure", MASKED_QUERIES, "masked", 8),
        trend(ask("lara_orf_ratio"), "Observable failure (ORF)", FAILED_QUERIES, "ORF", 8),
        trend(ask("lara_gpr_ratio"), "Genuine positives (GPR, $definition)", REPORT, "GPR", 8),
        trend(ask("lara_uor_ratio"), "No evidence at all (UOR, $definition)", DOCTOR, "UOR", 8),
    )


def _trust() -> tuple[Panel, ...]:
    quiet = {
        "retrievals": ask("lara_retrievals", cohort=LIVE),
        "no list": ask("lara_retrievals_without_list"),
        "pending": ask("lara_retrievals_pending", cohort=LIVE),
        "pending %": ask("lara_pending_ratio", cohort=LIVE),
    }
    by_role = {name: one._replace(by=("role",)) for name, one in quiet.items()}
    return (
        by_label({"logged": ask(FIELD, "field")}, "Lineage that was logged", DOCTOR, 7),
        counted(ask("lara_actions", "resolution"), "Actions by the rule that decided", ACTION, 7),
        by_label(by_role, "Without a list, or too young to judge", DOCTOR, 10),
    )
