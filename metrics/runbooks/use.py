"""Runbooks of alerts on what became of retrievals: failures, positives, agent consumption."""

from collections.abc import Mapping
from typing import Final

from metrics.runbooks.runbook import Runbook

USE: Final[Mapping[str, Runbook]] = {
    "LaraFailureRateSpike": Runbook(
        "Far more retrievals than usual were rejected, searched for again, or substituted by the agent.",
        "Users do not get what they look for, and say so.",
        (
            "`lara_retrievals_failed_by_signal`: which signal is it?",
            "`lara worst queries --by failed --window 1h`, and `lara worst assets --window 1h`.",
            "`lara explain retrieval ID` of some failed ones: which event was it?",
        ),
        (
            "`rejected`: look at what is shown. `researched`: at the query or the index. `substituted`: "
            "at the agent, which takes what no list holds.",
            "Roll back what changed last in search, ranking or agent.",
        ),
        (
            "A client that sends `reject` for closing a panel.",
            "A producer that gives every search of a conversation one `need_id`.",
        ),
    ),
    "LaraFailuresAtLowVolume": Runbook(
        "As LaraFailureRateSpike, where an hour holds too few retrievals to tell: the count over a "
        "longer window.",
        "The same, for few users.",
        ("`lara explain retrieval ID` of each of them: there are few.",),
        ("As LaraFailureRateSpike.",),
        ("One user who tries things out: a test account belongs to the synthetic ones.",),
    ),
    "LaraPositivesCollapse": Runbook(
        "The share of settled retrievals with a genuine positive (definition `standard`) has collapsed.",
        "Users no longer take what is found; or their actions are no longer logged or attributed.",
        (
            "First the lineage: `lara_lineage_coverage_ratio`, and `lara_actions` by resolution. If "
            "`none` or `dangling` rose, search is not the cause.",
            "`lara doctor`: which figures does the log allow today?",
            "Compare ORF and null rate of the same role: did lists get worse?",
            "`lara explain document ID` of a document that was exported: which link is missing?",
        ),
        (
            "Lineage: mend the client that lost `source_retrieval_id`, `placement_id` or `document_id`; "
            "figures of the past stay as they are.",
            "Search: as LaraNullRateSpike and LaraNdcgDrop.",
        ),
        (
            "Exports come later than usual (a holiday): they still count for the minute of their retrieval.",
            "Evidence that is late beyond the maturity horizon: see `lara_evidence_delay_seconds`.",
        ),
    ),
    "LaraNoPositives": Runbook(
        "As LaraPositivesCollapse, where an hour holds too few retrievals to tell: not one positive in a"
        " longer window.",
        "The same, for few users.",
        (
            "As LaraPositivesCollapse.",
            "`lara explain retrieval ID` of two or three: what is missing?",
        ),
        ("As LaraPositivesCollapse.",),
        ("A role that hardly anybody uses now.",),
    ),
    "LaraAgentConsumptionCollapse": Runbook(
        "The share of settled retrievals whose result the agent used before it answered has collapsed.",
        "The agent searches and then does not use what it found; or its actions are no longer logged.",
        (
            "`lara_lineage_coverage_ratio` of `request_id` and `source_retrieval_id`, and `lara_actions`"
            " by resolution.",
            "`lara_retrievals_delegated`: did A become D? Then the agent's `show` comes too early, or "
            "under another request.",
            "`lara explain retrieval ID` of one that should have been used.",
        ),
        (
            "Roll back the agent's prompt, tools or model.",
            "Log `show` when the answer reaches the user, and not before.",
        ),
        ("An agent that now asks before it acts: its use comes after `show` and is delegated.",),
    ),
    "LaraNoAgentConsumption": Runbook(
        "As LaraAgentConsumptionCollapse, where an hour holds too few retrievals to tell: not one in a "
        "longer window.",
        "The same, for few users.",
        ("As LaraAgentConsumptionCollapse.",),
        ("As LaraAgentConsumptionCollapse.",),
        ("A role that the agent hardly serves now.",),
    ),
}
