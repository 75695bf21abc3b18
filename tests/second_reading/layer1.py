"""5c. Layer 1: what the list was worth (contract, section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.second_reading.judging import Judged
from tests.second_reading.rows import Labels, Row, ratio, row
from tests.second_reading.scores import UNIT


def list_rows(labels: Labels, group: Sequence[Judged]) -> Iterator[Row]:
    listed = [r for r in group if r.record["returned_asset_ids"] is not None]
    layer1 = [r for r in listed if not r.is_misrouted]
    null = [r for r in layer1 if r.is_null]
    yield row("lara_retrievals_without_list", labels, len(group) - len(listed))
    yield row("lara_layer1_retrievals", labels, len(layer1))
    yield row("lara_retrievals_null", labels, len(null))
    yield from ratio("lara_null_ratio", labels, null, layer1)
    judged = [r.scores for r in layer1 if r.scores is not None]
    ranked = [scores.ranking for scores in judged if scores.ranking is not None]
    yield row("lara_judged_retrievals", labels, len(judged))
    yield row("lara_ranked_retrievals", labels, len(ranked))
    yield row("lara_judged_without_relevant", labels, len(judged) - len(ranked))
    for k in (5, 10):
        at_k = labels | {"k": str(k)}
        yield from mean("lara_judged_coverage_at_k", at_k, [scores.coverage[k] for scores in judged])
        yield from mean("lara_recall_at_k", at_k, [ranking.recall[k] for ranking in ranked])
        yield from mean("lara_ndcg_at_k", at_k, [ranking.ndcg[k] for ranking in ranked])
    for k in (1, 5, 10):
        precisions = [scores.precision[k] for scores in judged]
        yield from mean("lara_precision_at_k", labels | {"k": str(k)}, precisions)
    yield from mean("lara_mrr", labels, [ranking.mrr for ranking in ranked])


def mean(name: str, labels: Labels, scores: Sequence[int]) -> Iterator[Row]:
    if scores:
        yield row(name, labels, sum(scores) / (len(scores) * UNIT))


def routing_rows(labels: Labels, group: Sequence[Judged]) -> Iterator[Row]:
    """Retrievals that nobody wanted: of those whose prompt was labelled, the ones labelled 0."""
    labelled = [r for r in group if r.intents is not None]
    misrouted = [r for r in labelled if r.is_misrouted]
    yield row("lara_misrouted_retrievals", labels, len(misrouted))
    yield row("lara_routing_labelled_retrievals", labels, len(labelled))
    yield from ratio("lara_misroute_ratio", labels, misrouted, labelled)
