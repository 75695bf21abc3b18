"""Attribution by role: who uses what was retrieved, the user, the agent, or nobody?"""

from deploy.generate.boards.commands import ACTION, REPEATED_QUERIES, REPORT, RETRIEVAL
from deploy.generate.boards.pipeline import evidence_delay
from deploy.generate.panels import Board, Panel, Row
from deploy.generate.queries import ask
from deploy.generate.shapes import by_label, counted, trends, with_bounds
from deploy.generate.thresholds import Limits


def attribution(_: Limits) -> Board:
    """GPR against ACR, and what may explain them."""
    return Board(
        "lara-attribution",
        "lara · Attribution by role",
        "Who uses what was retrieved: the user, the agent, or nobody?",
        (
            Row("What became of retrievals", (_evidence(),)),
            Row("In time", _trends()),
            Row("What counts as a positive, and how sure is it", _definitions()),
            Row("How long evidence takes", (evidence_delay(),)),
            Row("What failure looks like", _failure()),
            Row("Outcomes and sessions", _outcomes()),
        ),
    )


def _evidence() -> Panel:
    asks = {
        "GPR": ask("lara_gpr_ratio", "role"),
        "ACR": ask("lara_acr_ratio", "role"),
        "1−ORF": ask("lara_no_observed_failure_ratio", "role"),
        "ORF": ask("lara_orf_ratio", "role"),
        "UOR": ask("lara_uor_ratio", "role"),
    }
    return by_label(asks, "GPR ($definition) against ACR, 1−ORF beside them: silence is in it", REPORT)


def _trends() -> tuple[Panel, ...]:
    both = {"GPR": ask("lara_gpr_ratio"), "ACR": ask("lara_acr_ratio"), "ORF": ask("lara_orf_ratio")}
    by_role = {"GPR": ask("lara_gpr_ratio", "role")}
    return (
        trends(both, "GPR ($definition) against ACR, and ORF", REPORT),
        trends(by_role, "GPR ($definition) by role", REPORT, legend="{{role}}"),
    )


def _definitions() -> tuple[Panel, ...]:
    names = ("strict", "standard", "broad")
    definitions = {name: ask("lara_gpr_ratio", "role", definition=name) for name in names}
    return (
        by_label(definitions, "GPR by definition, side by side", REPORT, 8),
        with_bounds(ask("lara_acr_ratio", "role"), "ACR", "ACR and how sure it is", REPORT, 8),
        with_bounds(ask("lara_orf_ratio", "role"), "ORF", "ORF and how sure it is", RETRIEVAL, 8),
    )


def _failure() -> tuple[Panel, ...]:
    signals = ask("lara_retrievals_failed_by_signal", "signal")
    asked_again = {
        "search again": ask("lara_search_reformulation_ratio", "surface"),
        "correct result": ask("lara_downstream_correction_ratio", "surface"),
    }
    counts = {
        "positive": ask("lara_retrievals_positive", "role"),
        "agent": ask("lara_retrievals_agent_consumed", "role"),
        "delegated": ask("lara_retrievals_delegated", "role"),
        "corrected": ask("lara_retrievals_corrected", "role"),
        "failed": ask("lara_retrievals_failed", "role"),
        "unobserved": ask("lara_retrievals_unobserved", "role"),
    }
    return (
        counted(signals, "Signals of failure", REPEATED_QUERIES, 5),
        by_label(asked_again, "Search reformulation against correction", REPORT, 7),
        by_label(counts, "Retrievals counted, by role", RETRIEVAL, 12),
    )


def _outcomes() -> tuple[Panel, ...]:
    outcomes = {
        "attributed %": ask("lara_attributed_outcome_ratio", "action"),
        "attributed": ask("lara_attributed_outcomes", "action"),
        "cross-session": ask("lara_cross_session_outcomes", "action"),
    }
    abandoned = {
        "by session": ask("lara_session_abandonment_ratio", "surface", attribution="session"),
        "by lineage": ask("lara_session_abandonment_ratio", "surface", attribution="lineage"),
    }
    agent = {
        "confirmed": ask("lara_agent_use_confirmed_ratio", "role"),
        "delegated": ask("lara_delegated_ratio", "role"),
    }
    return (
        by_label(outcomes, "Exports, shares and downloads", ACTION, 10),
        by_label(abandoned, "Abandoned: by session, by lineage", REPORT, 6),
        by_label(agent, "Agent use confirmed; delegated", RETRIEVAL, 8),
    )
