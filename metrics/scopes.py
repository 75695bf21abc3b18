"""What the rows of the catalogue are made of: kinds of things, exported windows, and sums of counters."""

from typing import Final

from metrics.schema import BOTH_COHORTS, Exported, Group, Part, Scope, aged, either, less, of
from metrics.windows import LIVE, SETTLED

RETRIEVAL: Final = Group("retrieval", ("role", "surface"), anchor="retrievals")
OUTCOME: Final = Group("action", ("surface", "action"), anchor="outcomes")
ACTION: Final = Group("action", (), anchor="actions")
LINEAGE: Final = Group("retrieval or action", (), anchor="lineage_expected")

SESSION: Final = Group("session", ("surface",), anchor="sessions")
PROMPT: Final = Group("prompt", ("surface",), anchor="prompts")

EVIDENCE: Final = Scope(RETRIEVAL, BOTH_COHORTS)
EVIDENCE_BY_DEFINITION: Final = Scope(RETRIEVAL, BOTH_COHORTS, ("definition",))
EVIDENCE_BY_SIGNAL: Final = Scope(RETRIEVAL, BOTH_COHORTS, ("signal",))
SETTLED_BY_DEFINITION: Final = Scope(RETRIEVAL, (SETTLED,), ("definition",))
LIVE_BY_DEFINITION: Final = Scope(RETRIEVAL, (LIVE,), ("definition",))
LAYER_ONE: Final = Scope(RETRIEVAL)
OUTCOMES: Final = Scope(OUTCOME)
AT_5_10: Final = Scope(RETRIEVAL, (), ("k",), ("5", "10"))
AT_1_5_10: Final = Scope(RETRIEVAL, (), ("k",), ("1", "5", "10"))
BY_STAGE: Final = Scope(RETRIEVAL, (), ("stage",))
BY_VERDICT: Final = Scope(RETRIEVAL, (), ("verdict",))
SESSIONS: Final = Scope(SESSION)
BY_ATTRIBUTION: Final = Scope(SESSION, (), ("attribution",))
ACTIONS: Final = Scope(ACTION)
PROMPTS: Final = Scope(PROMPT)
BY_ROUTE: Final = Scope(PROMPT, (), ("route",))
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
HOUR_AND_DAY: Final = Exported(ALERT_AND_DAY)
REPORTED_ONLY: Final = Exported(())
WITH_BOUNDS: Final = TAKEN_AWAY._replace(bounds=ALERT_AND_DAY)
DAY_WITH_BOUNDS: Final = Exported(("24h",), bounds=("24h",))
# What rests on labels, which are few and late: an alert reads the day, and whether six hours still say so.
QUARTER_AND_DAY: Final = Exported(("6h", "24h"))
QUARTER_AND_DAY_WITH_BOUNDS: Final = QUARTER_AND_DAY._replace(bounds=("6h", "24h"))
NOW_HOUR_AND_DAY: Final = Exported(("5m", *ALERT_AND_DAY))

N: Final = of("retrievals")
POSITIVE: Final = of("retrievals_positive|{definition}")
CONSUMED: Final = of("retrievals_agent_consumed")
DELEGATED: Final = of("retrievals_delegated")
FAILED: Final = of("retrievals_failed")
# Evidenced is in U, A, D or F: in several of them still once.
UNOBSERVED: Final = less("retrievals", "retrievals_evidenced|{definition}", Part.MATURE)
PENDING: Final = less("retrievals", "retrievals_evidenced|{definition}", Part.YOUNG)

# A retrieval without evidence is pending while it is young, and has its verdict when it is mature.
DIAGNOSIS: Final = either(
    of("diagnosis|{verdict}"),
    aged("diagnosis_quiet|{verdict}", Part.MATURE),
    aged("diagnosis_young|{verdict}", Part.YOUNG),
)
MASKED: Final = either(of("diagnosis|masked"), aged("diagnosis_quiet|masked", Part.MATURE))
JUDGED: Final = either(of("diagnosis_judged"), aged("diagnosis_quiet_judged", Part.MATURE))
