"""Runbooks of alerts on what a retrieval returned, and on whether one was fired at all."""

from collections.abc import Mapping
from typing import Final

from metrics.runbooks.runbook import Runbook

LISTS: Final[Mapping[str, Runbook]] = {
    "LaraNullRateSpike": Runbook(
        "Far more retrievals of this role on this surface return nothing than usual.",
        "Users and agents get no candidates. What follows (masked failures, fewer positives) is not told"
        " while this fires.",
        (
            "`lara worst queries --by null --window 1h`: are the queries new, or the usual ones?",
            "`lara doctor`: has a producer begun to log empty lists where it means that none was logged?",
            "Ask the search index of this surface directly with one of these queries.",
        ),
        (
            "Index empty or filtered too hard: restore it or take the filter back.",
            "Queries changed with the model that writes them: roll the prompt or model back.",
            "Logging: send no `returned_asset_ids` at all where the list is not known.",
        ),
        (
            "A load test or robot that asks for nonsense: mark it synthetic.",
            "A new role whose usual share is not known yet: its baseline is the configured one for a day.",
        ),
    ),
    "LaraNullsAtLowVolume": Runbook(
        "As LaraNullRateSpike, where an hour holds too few retrievals to tell: the count over a longer "
        "window.",
        "The same, for few users.",
        (
            "`lara worst queries --by null --window 6h --min-n 1`, then `lara explain retrieval ID` of "
            "an empty one.",
            "Look whether all come from one session: one user who tries the impossible is no outage.",
        ),
        ("As LaraNullRateSpike.",),
        ("One session or one test account: mark it synthetic if it is none of your users.",),
    ),
    "LaraNdcgDrop": Runbook(
        "By their labels, lists of this role on this surface are ranked much worse than usual.",
        "Good assets stand lower, or are gone. Users may not complain: see masked failures.",
        (
            "Compare `lara_recall_at_k` and `lara_precision_at_k`: recall down too means assets are "
            "missing, NDCG alone means they stand in the wrong order.",
            "Compare `lara_judged_coverage_at_k`: falling coverage means that labels, not lists, went "
            "missing.",
            "`lara sample --by role --window 24h`: judge some by hand, then `lara labels`.",
        ),
        (
            "Roll back the ranking, the embedding or the index that changed last.",
            "Labels of another judge: keep the kind of judge the same, or take the new one as a new "
            "baseline.",
        ),
        (
            "Other queries are labelled than usual (only hard ones, say).",
            "Grades of a new judge that is stricter.",
        ),
    ),
    "LaraMaskedFailures": Runbook(
        "Of the judged retrievals, more than usual had a bad list to which nobody reacted.",
        "A model may have covered for bad results: the answer looks right and rests on nothing.",
        (
            "`lara worst queries --by masked --window 24h`, then `lara explain retrieval ID` of one.",
            "Compare `lara_null_ratio` and `lara_ndcg_at_k`: is the list worse, or only the reaction gone?",
            "`lara_lineage_coverage_ratio`: reactions that are no longer logged look like silence.",
        ),
        (
            "Mend the lists: see LaraNullRateSpike and LaraNdcgDrop.",
            "Let the assistant say that it found nothing, rather than answer without.",
        ),
        (
            "Few labels and many null results, which are bad without a label; n is that of the labelled.",
            "A change of what is sampled for judging.",
        ),
    ),
    "LaraMissedRetrievals": Runbook(
        "By their labels, more prompts than usual needed a retrieval and fired none.",
        "The assistant answers from memory what it should have searched for.",
        (
            "Compare `lara_invocation_ratio` and `lara_prompts_by_route` with the day before.",
            "`lara doctor`: do retrievals still carry the `request_id` of their prompt? Without it they "
            "count as missed.",
        ),
        (
            "Roll back the planner, its prompt or its model.",
            "Mend the `request_id` of retrievals.",
        ),
        (
            "n is that of all labelled prompts, those that needed nothing too; the interval is exact.",
            "A judge that calls everything an intent.",
        ),
    ),
}
