"""The alerts: one row each. Rules, tests of rules, routes and docs/alerts.md are made from these rows.

Rules:
- Numbers and durations are not here: `deploy/values.yaml` has them, by the name of the alert.
- Most rows have one of four forms, whose expression is made for them; the others write theirs, where `$name`
  is a number of the values file, a duration in seconds, `[$window]` as it is, or the name of a scrape job.
- A row that watches figures names them, in `metrics/watched.py` or in `figures`: none can be deleted unseen.
- `explains`: while the alert fires, those are not sent. What is sent is then the cause, not what follows.
- Every alert has its runbook in `metrics/runbooks/`, under the same name.
"""

from enum import Enum
from typing import Final, NamedTuple


class Form(Enum):
    """How an expression is made, and which numbers it takes."""

    RISE = "rise"  # a share is surely above its limit
    COLLAPSE = "collapse"  # a share or mean is surely below its limit
    FEW_BAD = "few bad"  # as RISE, where the hour holds too few to tell: a count over a longer window
    FEW_GOOD = "few good"  # as COLLAPSE, likewise: not a single one
    PLAIN = "plain"  # the row's own expression


class Kind(Enum):
    """What an alert is about."""

    QUALITY = "quality"  # of search and of what was logged: figures
    PIPELINE = "pipeline"  # of lara itself
    WATCHDOG = "watchdog"


class Severity(Enum):
    """Who hears of it: a pager, a ticket, nobody."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"
    NONE = "none"  # the watchdog's own way


class Same(NamedTuple):
    """Alerts that another one explains, by name or by kind, where these labels are the same."""

    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    kind: Kind | None = None


class Alert(NamedTuple):
    """One row."""

    name: str
    form: Form
    kind: Kind
    layer: str
    severity: Severity
    watches: str = ""  # a key of WATCHED
    extends: str = ""  # of FEW_…: the alert whose limit and minimum it takes
    expression: str = ""  # of PLAIN
    summary: str = ""  # of PLAIN, as a template of Prometheus
    figures: tuple[str, ...] = ()  # of PLAIN: figures of the catalogue in the expression
    explains: tuple[Same, ...] = ()


# Figures are incomplete, so what they say is not to be believed.
NO_QUALITY: Final = Same(kind=Kind.QUALITY)
FOLLOW_NULLS: Final = Same(
    (
        *("LaraMaskedFailures", "LaraPositivesCollapse", "LaraNoPositives"),
        *("LaraAgentConsumptionCollapse", "LaraNoAgentConsumption"),
    ),
    ("role", "surface"),
)

# fmt: off
# (a table: its rows stay as short as they can be read)
OF_QUALITY: Final = (
    Alert("LaraNullRateSpike", Form.RISE, Kind.QUALITY, "1", Severity.WARNING, "null",
          explains=(FOLLOW_NULLS,)),
    Alert("LaraNullsAtLowVolume", Form.FEW_BAD, Kind.QUALITY, "1", Severity.WARNING, "null",
          extends="LaraNullRateSpike", explains=(FOLLOW_NULLS,)),
    Alert("LaraNdcgDrop", Form.COLLAPSE, Kind.QUALITY, "1", Severity.WARNING, "ndcg"),
    Alert("LaraFailureRateSpike", Form.RISE, Kind.QUALITY, "2", Severity.WARNING, "orf"),
    Alert("LaraFailuresAtLowVolume", Form.FEW_BAD, Kind.QUALITY, "2", Severity.WARNING, "orf",
          extends="LaraFailureRateSpike"),
    Alert("LaraPositivesCollapse", Form.COLLAPSE, Kind.QUALITY, "2", Severity.WARNING, "gpr"),
    Alert("LaraNoPositives", Form.FEW_GOOD, Kind.QUALITY, "2", Severity.WARNING, "gpr",
          extends="LaraPositivesCollapse"),
    Alert("LaraAgentConsumptionCollapse", Form.COLLAPSE, Kind.QUALITY, "2", Severity.WARNING, "acr"),
    Alert("LaraNoAgentConsumption", Form.FEW_GOOD, Kind.QUALITY, "2", Severity.WARNING, "acr",
          extends="LaraAgentConsumptionCollapse"),
    Alert("LaraMaskedFailures", Form.RISE, Kind.QUALITY, "1 and 2", Severity.WARNING, "masked"),
    Alert("LaraMissedRetrievals", Form.RISE, Kind.QUALITY, "0", Severity.WARNING, "missed"),
    Alert("LaraLineageCoverageBroken", Form.COLLAPSE, Kind.QUALITY, "lineage", Severity.WARNING, "coverage"),
    Alert("LaraClaimsBroken", Form.RISE, Kind.QUALITY, "lineage", Severity.WARNING, "claims"),
    Alert("LaraActionsWithoutRetrievals", Form.PLAIN, Kind.QUALITY, "lineage", Severity.CRITICAL,
          expression="""
sum(max by (resolution) (lara_actions{window="1h"})) >= $minimum
and on () sum(max by (resolution) (lara_actions{window="5m"})) > 0
and on () (sum(lara_retrievals{window="1h", cohort="live"}) or vector(0)) == 0
""",
          summary="{{ $value }} actions in the last hour, and not one retrieval",
          figures=("lara_actions", "lara_retrievals")),
)
OF_THE_PIPELINE: Final = (
    Alert("LaraPipelineStalled", Form.PLAIN, Kind.PIPELINE, "pipeline", Severity.CRITICAL,
          expression="lara:pipeline:stalled_seconds > $after",
          summary="Nothing gets on for {{ $value | humanizeDuration }}: figures stand still",
          explains=(NO_QUALITY, Same(("LaraPipelineBehind", "LaraCanaryLost")))),
    Alert("LaraPipelineBehind", Form.PLAIN, Kind.PIPELINE, "pipeline", Severity.WARNING,
          expression="max(lara_lag_seconds) > $after",
          summary="The pipeline is {{ $value | humanizeDuration }} behind",
          explains=(NO_QUALITY, Same(("LaraCanaryLost",)))),
    Alert("LaraBackfillRunning", Form.PLAIN, Kind.PIPELINE, "pipeline", Severity.INFO,
          expression="""
max(lara_lag_seconds) > $after
or (max(lara_newest_commit_timestamp_seconds) - max(lara_newest_event_timestamp_seconds)) > $after
  and on () (time() - max(lara_newest_commit_timestamp_seconds)) < $after
""",
          summary="Events are read that are {{ $value | humanizeDuration }} old: a rebuild or a backfill",
          explains=(NO_QUALITY,)),
    Alert("LaraDeadLetters", Form.PLAIN, Kind.PIPELINE, "pipeline", Severity.WARNING,
          expression="""
sum by (disposition) (increase(lara_events_total{disposition=~"invalid|late|conflict"}[$window])) > $count
and sum by (disposition) (increase(lara_events_total{disposition=~"invalid|late|conflict"}[$window]))
  / on () group_left () sum(increase(lara_events_total[$window])) > $share
""",
          summary="About {{ $value | humanize }} records are dead letters: {{ $labels.disposition }}"),
    Alert("LaraInputLost", Form.PLAIN, Kind.PIPELINE, "pipeline", Severity.CRITICAL,
          expression="""
sum by (topic, reason) (increase(lara_losses_total[$window])) > 0
or sum by (topic, reason) (lara_losses_total unless lara_losses_total offset $window) > 0
""",
          summary="Records of {{ $labels.topic }} may be lost ({{ $labels.reason }})"),
    Alert("LaraAuditDrift", Form.PLAIN, Kind.PIPELINE, "state", Severity.CRITICAL,
          expression="max(lara_audit_drift) > 0",
          summary="The state has lost or invented {{ $value }} counts"),
    Alert("LaraAuditOverdue", Form.PLAIN, Kind.PIPELINE, "state", Severity.WARNING,
          expression="time() - max(lara_audit_finished_timestamp_seconds) > $after",
          summary="No audit has finished for {{ $value | humanizeDuration }}"),
    Alert("LaraRedisNearLimit", Form.PLAIN, Kind.PIPELINE, "state", Severity.WARNING,
          expression="max(lara_redis_used_bytes / (lara_redis_limit_bytes > 0)) > $share",
          summary="Redis has used {{ $value | humanizePercentage }} of its maxmemory"),
    Alert("LaraExporterDown", Form.PLAIN, Kind.PIPELINE, "pipeline", Severity.CRITICAL,
          expression="""
(max(up{job="$exporter"}) or vector(0)) == 0
or max(lara_exporter_up) == 0
""",
          summary="No exporter shows figures",
          explains=(NO_QUALITY,)),
    Alert("LaraCanaryLost", Form.PLAIN, Kind.PIPELINE, "pipeline", Severity.CRITICAL,
          expression="""
sum(increase(lara_canary_lost_total[$window])) >= $count
or (time() - max(lara_canary_last_returned_timestamp_seconds)) > $after
or max(up{job="$canary"}) == 0
""",
          summary="Canary events do not come through"),
    Alert("LaraWatchdog", Form.PLAIN, Kind.WATCHDOG, "pipeline", Severity.NONE,
          expression="vector(1)",
          summary="Always fires: whoever no longer hears it has lost Prometheus or Alertmanager"),
)
# fmt: on

# Seconds for which nothing got on: as workers say, or without a worker that reads, since the newest commit.
RECORDED: Final = {
    "lara:pipeline:stalled_seconds": """
(max(lara_stalled_seconds) and on () sum(lara_assigned_partitions) > 0)
or (time() - max(lara_newest_commit_timestamp_seconds))
or time() * absent(lara_newest_commit_timestamp_seconds)
""",
}

ALERTS: Final = {alert.name: alert for alert in (*OF_QUALITY, *OF_THE_PIPELINE)}
