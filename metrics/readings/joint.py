"""Layers 1 and 2 read together: list and evidence of the same retrieval."""

from typing import Final

from metrics.reading import Layer, Moves, Reading

_LIST: Final = "retrieval.returned_asset_ids"

JOINT: Final = Layer(
    "Layers 1 and 2 together",
    "Was the list good, and was it used? Only both together tell a model that covers for search.",
    (
        Reading(
            title="Diagnosis and masked failures",
            figures=("lara_diagnosis_retrievals", "lara_masked_failure_ratio"),
            population="All retrievals have a verdict. The ratio is of the six judged ones: not "
            "`unjudged`, not `pending`.",
            numerator="Good list: `misused` (failed), `working` (used), `unused` (neither). Bad list: "
            "`retrieval_fault` (failed), `tolerated` (used), `masked` (neither). Bad is a null result, "
            "NDCG@10 below 0.5, or labels none of which is relevant while one of the first 10 has one.",
            denominator="By verdict there is none. Masked: the six judged verdicts.",
            moves=Moves(
                product="`unused` rises where results are shown by default",
                logging="`masked` and `unused` rise with evidence that is not logged; null results are "
                "judged without any label",
                model="`masked` rises with a model that answers without what was found; `tolerated` with one "
                "that makes do",
            ),
            misuses=(
                "All retrievals: with few labels the judged are mostly null results, and masked is high.",
                "Proof that the model covered: it may have, and nobody complained.",
            ),
            fields=(
                *(_LIST, "judgement.kind", "judgement.asset_id", "judgement.grade"),
                *("judgement.retrieval_id", "judgement.query", "action.actor", "action.action"),
                *("action.source_retrieval_id", "placement.source_retrieval_id"),
            ),
        ),
        Reading(
            title="Rank of what was used",
            figures=("lara_consumed_assets", "lara_consumed_rank"),
            population="Distinct pairs of a retrieval with a logged list and an asset used by U "
            "`standard`, A or D.",
            numerator="The first position of the asset in the list as it fired; else the smallest "
            "position of an ancestor it was made from.",
            denominator="Pairs that have a position.",
            moves=Moves(
                product="down where the first results are shown larger",
                logging="down if the list is logged after it was filtered or re-ranked",
                model="up with an agent that reads the whole list before it takes one",
            ),
            misuses=(
                "Ranking quality by itself: it says nothing of retrievals of which nothing was used.",
                "Comparing people, who look at the top, with agents, who read it all.",
            ),
            fields=(
                *(_LIST, "action.consumed_asset_id", "action.source_retrieval_id"),
                *("placement.source_retrieval_id", "placement.derived_from_asset_id"),
            ),
        ),
    ),
)
