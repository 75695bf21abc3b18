"""The catalogue: one row a figure. Report, exporter and documentation are made from these rows.

Rules:
- A new figure is a new row here and a new counter in the core; no other file changes.
- Names, labels and meaning are those of the contract, section 5; a published name is in the help.
- A ratio of the headline is exported together with the counts it is made of, in the same windows: there are
  no series for "all", so a dashboard adds counts up over roles and surfaces, and divides.
- Exported windows are chosen for the number of series: the headline in all five, a breakdown in one. With
  6 roles, 4 surfaces and 3 definitions, all of them busy, there are fewer than 6,000 (a test counts them).
- Definitions of the genuine positive are data given at run time; every other vocabulary is in `VOCABULARIES`.
"""

from collections.abc import Mapping
from typing import Final

from metrics.schema import (
    BOTH_COHORTS,
    Exported,
    Figure,
    Group,
    Part,
    Scope,
    count,
    less,
    mean,
    of,
    ratio,
)
from metrics.windows import LIVE, SETTLED

RESOLUTIONS: Final = (
    *("explicit", "inherited", "document", "request", "inferred"),
    *("none", "refuted", "dangling"),
)

# The values of the labels that are a figure's own, in the order in which they are printed.
VOCABULARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "signal": ("rejected",),
    "resolution": RESOLUTIONS,
    "field": ("returned_asset_ids", "role", "request_id", "consumed_asset_id", "source_retrieval_id"),
}

RETRIEVAL: Final = Group("retrieval", ("role", "surface"), anchor="retrievals")
OUTCOME: Final = Group("action", ("surface", "action"), anchor="outcomes")
ACTION: Final = Group("action", (), anchor="actions")
LINEAGE: Final = Group("retrieval or action", (), anchor="lineage_expected")

EVIDENCE: Final = Scope(RETRIEVAL, BOTH_COHORTS)
EVIDENCE_BY_DEFINITION: Final = Scope(RETRIEVAL, BOTH_COHORTS, ("definition",))
EVIDENCE_BY_SIGNAL: Final = Scope(RETRIEVAL, BOTH_COHORTS, ("signal",))
SETTLED_BY_DEFINITION: Final = Scope(RETRIEVAL, (SETTLED,), ("definition",))
LIVE_BY_DEFINITION: Final = Scope(RETRIEVAL, (LIVE,), ("definition",))
LAYER_ONE: Final = Scope(RETRIEVAL)
OUTCOMES: Final = Scope(OUTCOME)
BY_RESOLUTION: Final = Scope(ACTION, (), ("resolution",))
BY_FIELD: Final = Scope(LINEAGE, (), ("field",))

FIVE: Final = ("5m", "1h", "6h", "24h", "7d")
ALERT_AND_DAY: Final = ("1h", "24h")  # the first is read by an alert, the second by people

TRAFFIC: Final = Exported(FIVE, FIVE)
HEADLINE: Final = Exported(ALERT_AND_DAY, FIVE, bounds=ALERT_AND_DAY)
HEADLINE_COUNT: Final = HEADLINE._replace(bounds=())
BREAKDOWN: Final = Exported(("24h",), ("24h",))
UNSETTLED_HEADLINE: Final = Exported(FIVE, bounds=ALERT_AND_DAY)  # of figures without cohorts
UNSETTLED_COUNT: Final = UNSETTLED_HEADLINE._replace(bounds=())
UNSETTLED_BREAKDOWN: Final = Exported(("24h",))
TAKEN_AWAY: Final = Exported(("1h", "24h", "7d"))

N: Final = of("retrievals")
POSITIVE: Final = of("retrievals_positive|{definition}")
CONSUMED: Final = of("retrievals_agent_consumed")
DELEGATED: Final = of("retrievals_delegated")
FAILED: Final = of("retrievals_failed")
# Evidenced is in U, A, D or F: in several of them still once.
UNOBSERVED: Final = less("retrievals", "retrievals_evidenced|{definition}", Part.MATURE)
PENDING: Final = less("retrievals", "retrievals_evidenced|{definition}", Part.YOUNG)

# fmt: off
# (a table: its rows stay as short as they can be read)

# Layers 2 and 3: what became of a retrieval.
WHAT_BECAME_OF_IT: Final = (
    Figure("lara_retrievals",
           "Retrievals that fired.",
           count(N), EVIDENCE, TRAFFIC),
    Figure("lara_retrievals_positive",
           "Retrievals to which a user action of the definition is attributed: genuine positives (U).",
           count(POSITIVE), EVIDENCE_BY_DEFINITION, HEADLINE_COUNT),
    Figure("lara_gpr_ratio",
           "Share of retrievals with a genuine positive, published as GPR.",
           ratio(POSITIVE, N), EVIDENCE_BY_DEFINITION, HEADLINE),
    Figure("lara_retrievals_agent_consumed",
           "Retrievals whose result the agent consumed before its response reached the user (A).",
           count(CONSUMED), EVIDENCE, HEADLINE_COUNT),
    Figure("lara_acr_ratio",
           "Share of retrievals whose result the agent consumed, published as ACR.",
           ratio(CONSUMED, N), EVIDENCE, HEADLINE),
    Figure("lara_retrievals_delegated",
           "Retrievals whose result the agent used later or for another request (D).",
           count(DELEGATED), EVIDENCE, BREAKDOWN, own_reading=True),
    Figure("lara_delegated_ratio",
           "Share of retrievals whose result the agent used later or for another request.",
           ratio(DELEGATED, N), EVIDENCE, BREAKDOWN, own_reading=True),
    Figure("lara_retrievals_failed",
           "Retrievals with at least one signal of observable failure (F).",
           count(FAILED), EVIDENCE, HEADLINE_COUNT),
    Figure("lara_orf_ratio",
           "Share of retrievals with an observable failure, published as ORF.",
           ratio(FAILED, N), EVIDENCE, HEADLINE),
    Figure("lara_no_observed_failure_ratio",
           "Share of retrievals without an observable failure, 1 − ORF; silence is in it: no satisfaction.",
           ratio(less("retrievals", "retrievals_failed"), N), EVIDENCE, BREAKDOWN),
    Figure("lara_retrievals_failed_by_signal",
           "Retrievals with this signal of observable failure; one retrieval may have several signals.",
           count(of("retrievals_failed_by_signal|{signal}")), EVIDENCE_BY_SIGNAL, BREAKDOWN),
    Figure("lara_retrievals_unobserved",
           "Mature retrievals without positive, agent consumption, delegated use or failure.",
           count(UNOBSERVED), EVIDENCE_BY_DEFINITION, HEADLINE_COUNT),
    Figure("lara_uor_ratio",
           "Share of retrievals, all of them mature, about which nothing was observed, published as UOR.",
           ratio(UNOBSERVED, N), SETTLED_BY_DEFINITION, HEADLINE),
    Figure("lara_retrievals_pending",
           "Retrievals without any evidence so far that are too young to be called unobserved.",
           count(PENDING), LIVE_BY_DEFINITION, BREAKDOWN),
    Figure("lara_pending_ratio",
           "Share of retrievals without any evidence so far that are too young to be called unobserved.",
           ratio(PENDING, N), LIVE_BY_DEFINITION, BREAKDOWN),
    Figure("lara_retrievals_corrected",
           "Retrievals whose asset the user kept and whose result the user corrected; never a failure.",
           count(of("retrievals_corrected")), EVIDENCE, BREAKDOWN),
    Figure("lara_agent_use_confirmed_ratio",
           "Share of agent-consumed retrievals that also have a genuine positive by the standard definition.",
           ratio(of("retrievals_agent_use_confirmed"), CONSUMED), EVIDENCE, BREAKDOWN),
)

# Layer 1: what a retrieval returned. Its list is there when it fires; nothing to wait for, so no cohort.
WHAT_IT_RETURNED: Final = (
    Figure("lara_retrievals_without_list",
           "Retrievals whose returned list was not logged; they are outside Layer 1.",
           count(of("retrievals_without_list")), LAYER_ONE, UNSETTLED_BREAKDOWN),
    Figure("lara_layer1_retrievals",
           "Retrievals of Layer 1: those whose returned list was logged.",
           count(of("layer1_retrievals")), LAYER_ONE, UNSETTLED_COUNT),
    Figure("lara_retrievals_null",
           "Retrievals of Layer 1 that returned nothing.",
           count(of("retrievals_null")), LAYER_ONE, UNSETTLED_COUNT),
    Figure("lara_null_ratio",
           "Share of the retrievals of Layer 1 that returned nothing, published as null result rate.",
           ratio(of("retrievals_null"), of("layer1_retrievals")), LAYER_ONE, UNSETTLED_HEADLINE),
    Figure("lara_consumed_assets",
           "Distinct pairs of a retrieval and an asset of its list that user or agent used.",
           count(of("consumed_assets")), LAYER_ONE, UNSETTLED_BREAKDOWN),
    Figure("lara_consumed_rank",
           "Mean position, from 1, of used assets in the list as it was when the retrieval fired.",
           mean(of("consumed_rank_sum"), of("consumed_assets")), LAYER_ONE, UNSETTLED_BREAKDOWN),
)

# What users took away, and how actions found the retrieval they belong to.
WHAT_WAS_DONE: Final = (
    Figure("lara_outcomes",
           "Outcomes: exports, shares and downloads by users.",
           count(of("outcomes")), OUTCOMES, TAKEN_AWAY),
    Figure("lara_attributed_outcomes",
           "Outcomes that credit at least one retrieval; each counts once, however many it credits.",
           count(of("attributed_outcomes")), OUTCOMES, TAKEN_AWAY),
    Figure("lara_cross_session_outcomes",
           "Outcomes that credit a retrieval of another session.",
           count(of("cross_session_outcomes")), OUTCOMES, TAKEN_AWAY),
    Figure("lara_attributed_outcome_ratio",
           "Share of outcomes that credit at least one retrieval.",
           ratio(of("attributed_outcomes"), of("outcomes")), OUTCOMES, TAKEN_AWAY),
    Figure("lara_actions",
           "Actions, all but show, by the rule that decided which retrieval they belong to.",
           count(of("actions|{resolution}")), BY_RESOLUTION, UNSETTLED_COUNT),
    Figure("lara_lineage_coverage_ratio",
           "Share of the events that should carry this field of the lineage and do.",
           ratio(of("lineage_logged|{field}"), of("lineage_expected|{field}")), BY_FIELD, TAKEN_AWAY),
)
# fmt: on

CATALOGUE: Final = (*WHAT_BECAME_OF_IT, *WHAT_IT_RETURNED, *WHAT_WAS_DONE)
