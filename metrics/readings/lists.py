"""Layer 1: what was returned, and how good it was by its labels."""

from typing import Final

from metrics.reading import Layer, Moves, Reading

_LIST: Final = "retrieval.returned_asset_ids"
_LABELS: Final = (
    *("judgement.kind", "judgement.retrieval_id", "judgement.query"),
    *("judgement.asset_id", "judgement.grade", "retrieval.query"),
)

LISTS: Final = Layer(
    "Layer 1: lists",
    "What did the retrieval return? Nothing has to be waited for, so there are no cohorts.",
    (
        Reading(
            title="Null results",
            figures=(
                "lara_layer1_retrievals",
                "lara_retrievals_null",
                "lara_null_ratio",
                "lara_retrievals_without_list",
            ),
            population="Retrievals with a logged list that are not misrouted. Those without a list are "
            "counted beside them.",
            numerator="Those whose list is empty. An empty page is no null result.",
            denominator="All retrievals of Layer 1, pages too.",
            moves=Moves(
                product="up with narrow filters, a new language or a thin catalogue",
                logging="a list that is logged after filtering shows nulls that search did not make; a "
                "list that is left out is no null",
                model="up with over-specific queries written by the model",
            ),
            misuses=(
                "Relevance: a full list can be all wrong.",
                "Search health alone, while `lara_retrievals_without_list` is high: those are outside.",
            ),
            fields=(_LIST, "retrieval.page_of"),
            published="1.51 % of retrievals return nothing. It says nothing of how well the others fit.",
        ),
        Reading(
            title="What is judged",
            figures=(
                "lara_judged_retrievals",
                "lara_ranked_retrievals",
                "lara_judged_without_relevant",
                "lara_judged_coverage_at_k",
            ),
            population="Retrievals of Layer 1 that are no page, have at least one label, and an empty "
            "list or an id in it.",
            numerator="Judged: all of these. Ranked: with a relevant label, grade 1 or more. The rest is "
            "without relevant. Coverage: labelled ids among the first min(K, length).",
            denominator="Coverage: a mean over judged retrievals.",
            moves=Moves(
                product="coverage falls with a new index: nobody has labelled what it returns",
                logging="a query label reaches every retrieval with the same query, from 30 days before "
                "it on: frequent queries dominate",
                model="moves with a judge that labels more, or is stricter",
            ),
            misuses=(
                "Quality: it says how much is known, and how far the scores below can be trusted.",
                "Taking judged retrievals for a sample of all, if labels were asked for where it hurt.",
            ),
            fields=(_LIST, *_LABELS),
        ),
        Reading(
            title="Precision, recall, NDCG, MRR",
            figures=("lara_precision_at_k", "lara_recall_at_k", "lara_ndcg_at_k", "lara_mrr"),
            population="Precision: judged retrievals. Recall, NDCG and MRR: ranked ones.",
            numerator="Relevant is a grade of 1 or more; unlabelled counts as 0, a repeat earns nothing. "
            "NDCG's ideal is made of all labels, returned or not. MRR: 1 / position of the first "
            "relevant.",
            denominator="Precision: K, however short the list. Recall: all relevant labels. NDCG: the ideal.",
            moves=Moves(
                product="up with better ranking, down with duplicates in the list",
                logging="down if the list is logged after the answer was composed, and lost its tail",
                model="moves with the judge's grades; the gain is a setting (`LARA_GAIN`)",
            ),
            misuses=(
                "Comparing systems at low judged coverage: the new one is punished for what nobody labelled.",
                "Recall of the catalogue: it is recall of what was labelled.",
                "Use: a good list may lie there unused, see the diagnosis.",
            ),
            fields=(_LIST, *_LABELS),
        ),
    ),
)
