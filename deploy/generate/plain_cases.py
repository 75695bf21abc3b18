"""Cases for promtool of the alerts that write their own expression.

Rules:
- Time begins at 0, which is also the time that `time()` tells; a minute is a sample.
- `fires` is shown with the numbers of `deploy/values.yaml`: whoever changes those sees it here.
"""

from collections.abc import Mapping
from typing import Final

from deploy.generate.cases import Case, Firing, Look

WORKER: Final = 'instance="worker-1"'
STALLED: Final = f"lara_stalled_seconds{{{WORKER}}}"
ASSIGNED: Final = f"lara_assigned_partitions{{{WORKER}}}"
COMMIT: Final = 'lara_newest_commit_timestamp_seconds{topic="lara.actions"}'
NEWEST: Final = 'lara_newest_event_timestamp_seconds{topic="lara.actions"}'
LAG: Final = 'lara_lag_seconds{topic="lara.actions", partition="0"}'
INVALID: Final = 'lara_events_total{type="action", disposition="invalid"}'
APPLIED: Final = 'lara_events_total{type="action", disposition="applied"}'
LOSSES: Final = 'lara_losses_total{topic="lara.actions", reason="retention"}'
ACTIONS: Final = 'lara_actions{window="1h", resolution="none"}'
ACTIONS_NOW: Final = 'lara_actions{window="5m", resolution="none"}'
RETRIEVALS: Final = 'lara_retrievals{window="1h", cohort="live", role="browse", surface="chat"}'
EXPORTER: Final = 'up{job="lara-exporter"}'
CANARY: Final = 'up{job="canary"}'
NO_RETRIEVALS: Final[Firing] = (({}, "25 actions in the last hour, and not one retrieval"),)
DOWN: Final[Firing] = (({}, "No exporter shows figures"),)
NO_CANARY: Final[Firing] = (({}, "Canary events do not come through"),)
HEARD: Final[Firing] = (({}, "Always fires: whoever no longer hears it has lost Prometheus or Alertmanager"),)
BEHIND: Final[Firing] = (({}, "The pipeline is 16m 40s behind"),)
BACKFILL: Final = "Events are read that are {} old: a rebuild or a backfill"
LOST: Final[Firing] = (
    (
        {"topic": "lara.actions", "reason": "retention"},
        "Records of lara.actions may be lost (retention)",
    ),
)
AUDIT: Final = "lara_audit_finished_timestamp_seconds"
QUIET: Final = (Look(30),)


def stalled(text: str) -> Firing:
    """What is told of a stall."""
    return (({}, f"Nothing gets on for {text}: figures stand still"),)


PLAIN_CASES: Final[Mapping[str, tuple[Case, ...]]] = {
    "LaraActionsWithoutRetrievals": (
        Case(
            "fires",
            {ACTIONS: "25+0x14 25+0x40", ACTIONS_NOW: "3+0x60", RETRIEVALS: "0+0x14 7+0x40"},
            (Look(9), Look(11, NO_RETRIEVALS), Look(20, NO_RETRIEVALS), Look(30)),
        ),
        Case("stays quiet", {ACTIONS: "25+0x40", ACTIONS_NOW: "3+0x40", RETRIEVALS: "7+0x40"}, QUIET),
        Case("low traffic", {ACTIONS: "19+0x40", ACTIONS_NOW: "3+0x40", RETRIEVALS: "0+0x40"}, QUIET),
        Case("n = 0", {ACTIONS: "0+0x40", ACTIONS_NOW: "0+0x40", RETRIEVALS: "0+0x40"}, QUIET),
        Case("absent", {}, QUIET),
        Case(
            "fires where there never was a retrieval",
            {ACTIONS: "25+0x40", ACTIONS_NOW: "3+0x40"},
            (Look(11, NO_RETRIEVALS),),
        ),
        Case("actions are over", {ACTIONS: "25+0x40", ACTIONS_NOW: "0+0x40", RETRIEVALS: "0+0x40"}, QUIET),
    ),
    "LaraPipelineStalled": (
        Case(
            "fires",
            {STALLED: "0+60x10 0+0x40", ASSIGNED: "4+0x50"},
            (Look(3), Look(4, stalled("4m 0s")), Look(13, stalled("10m 0s")), Look(17)),
        ),
        Case("stays quiet", {STALLED: "0 30 60 0+0x30", ASSIGNED: "4+0x40", COMMIT: "0+60x40"}, QUIET),
        Case("low traffic", {STALLED: "0+0x40", ASSIGNED: "4+0x40", COMMIT: "0+0x40"}, QUIET),
        Case("n = 0", {STALLED: "0+0x40", ASSIGNED: "4+0x40"}, QUIET),
        # Nothing at all is known of workers and state: that is no reason to be quiet.
        Case("absent", {}, (Look(2), Look(5, stalled("5m 0s")))),
        Case(
            "fires when the fleet was killed",
            {STALLED: "0+0x10 stale", ASSIGNED: "4+0x10 stale", COMMIT: "0+60x10 600+0x30"},
            (Look(12), Look(14, stalled("4m 0s"))),
        ),
        Case(
            "fires when workers hold nothing",
            {STALLED: "0+0x40", ASSIGNED: "0+0x40", COMMIT: "0+0x40"},
            (Look(4, stalled("4m 0s")),),
        ),
    ),
    "LaraPipelineBehind": (
        Case("fires", {LAG: "1000+0x19 5+0x40"}, (Look(14), Look(16, BEHIND), Look(30, BEHIND), Look(36))),
        Case("stays quiet", {LAG: "600+0x40"}, QUIET),
        Case("low traffic", {LAG: "0+0x20 40+0x3 0+0x20"}, QUIET),
        Case("n = 0", {LAG: "0+0x40"}, QUIET),
        Case("absent", {}, QUIET),
    ),
    "LaraBackfillRunning": (
        Case(
            "fires",
            {LAG: "1000+0x5 0+0x80"},
            (
                Look(1, (({}, BACKFILL.format("16m 40s")),)),
                Look(60, (({}, BACKFILL.format("16m 40s")),)),
                Look(68),
            ),
        ),
        Case("stays quiet", {LAG: "5+0x40", COMMIT: "0+60x40", NEWEST: "-5+60x40"}, QUIET),
        Case("low traffic", {LAG: "0+0x40", COMMIT: "0+0x40", NEWEST: "-60+0x40"}, QUIET),
        Case("n = 0", {LAG: "0+0x40"}, QUIET),
        Case("absent", {}, QUIET),
        Case(
            "fires while a new state catches up",
            {LAG: "0+0x40", COMMIT: "0+60x40", NEWEST: "-2000+60x40"},
            (Look(5, (({}, BACKFILL.format("33m 20s")),)),),
        ),
        Case("it was long ago", {LAG: "0+0x40", COMMIT: "-3000+0x40", NEWEST: "-9000+0x40"}, QUIET),
    ),
    "LaraDeadLetters": (
        Case(
            "fires",
            {INVALID: "0+1x80 80+0x120", APPLIED: "0+100x200"},
            (
                Look(10),
                Look(70, (({"disposition": "invalid"}, "About 60 records are dead letters: invalid"),)),
                Look(150),
            ),
        ),
        Case("stays quiet", {INVALID: "7+0x80", APPLIED: "0+100x80"}, (Look(70),)),
        Case("low traffic", {INVALID: "0+0.2x80", APPLIED: "0+1x80"}, (Look(70),)),
        Case("n = 0", {INVALID: "0+0x80", APPLIED: "0+0x80"}, (Look(70),)),
        Case("absent", {}, QUIET),
        Case("few among very many", {INVALID: "0+1x80", APPLIED: "0+5000x80"}, (Look(70),)),
    ),
    "LaraInputLost": (
        Case(
            "fires",
            {LOSSES: "_x10 1+0x200"},
            (
                Look(9),
                Look(11, LOST),
                Look(120, LOST),
                Look(140),
            ),
        ),
        Case("stays quiet", {LOSSES: "0+0x40", APPLIED: "0+100x40"}, QUIET),
        Case("low traffic", {LOSSES: "0+0x40", APPLIED: "0+0.1x40"}, QUIET),
        Case("n = 0", {LOSSES: "0+0x40"}, QUIET),
        Case("absent", {}, QUIET),
    ),
    "LaraAuditDrift": (
        Case(
            "fires",
            {"lara_audit_drift": "3+0x5 0+0x40"},
            (Look(1, (({}, "The state has lost or invented 3 counts"),)), Look(7)),
        ),
        Case("stays quiet", {"lara_audit_drift": "0+0x40"}, QUIET),
        Case("low traffic", {"lara_audit_drift": "0+0x40", "lara_audit_entities": "1+0x40"}, QUIET),
        Case("n = 0", {"lara_audit_drift": "0+0x40", "lara_audit_entities": "0+0x40"}, QUIET),
        Case("absent", {}, QUIET),
    ),
    "LaraAuditOverdue": (
        Case(
            "fires",
            {AUDIT: "-86400+0x10 0+0x40"},
            (Look(5), Look(7, (({}, "No audit has finished for 1d 0h 7m 0s"),)), Look(13)),
        ),
        Case("stays quiet", {AUDIT: "0+0x40"}, QUIET),
        Case("low traffic", {AUDIT: "-40000+0x40", "lara_audit_entities": "1+0x40"}, QUIET),
        Case("n = 0", {AUDIT: "0+0x40", "lara_audit_entities": "0+0x40"}, QUIET),
        Case("absent", {}, QUIET),
    ),
    "LaraRedisNearLimit": (
        Case(
            "fires",
            {"lara_redis_used_bytes": "80+0x9 50+0x40", "lara_redis_limit_bytes": "100+0x50"},
            (
                Look(4),
                *(Look(at, (({}, "Redis has used 80% of its maxmemory"),)) for at in (6, 16)),
                Look(26),
            ),
        ),
        Case(
            "stays quiet", {"lara_redis_used_bytes": "69+0x40", "lara_redis_limit_bytes": "100+0x40"}, QUIET
        ),
        Case("low traffic", {"lara_redis_used_bytes": "1+0x40", "lara_redis_limit_bytes": "100+0x40"}, QUIET),
        Case("n = 0", {"lara_redis_used_bytes": "80+0x40", "lara_redis_limit_bytes": "0+0x40"}, QUIET),
        Case("absent", {"lara_redis_used_bytes": "80+0x40"}, QUIET),
    ),
    "LaraExporterDown": (
        Case(
            "fires",
            {EXPORTER: "0+0x5 1+0x40", "lara_exporter_up": "_x6 1+0x40"},
            (Look(1), Look(3, DOWN), Look(7)),
        ),
        Case("stays quiet", {EXPORTER: "1+0x40", "lara_exporter_up": "1+0x40"}, QUIET),
        Case("low traffic", {EXPORTER: "1 0 1+0x40", "lara_exporter_up": "1+0x40"}, (Look(3), *QUIET)),
        Case("n = 0", {EXPORTER: "1+0x40", "lara_exporter_up": "0+0x40"}, (Look(3, DOWN),)),
        Case("absent", {}, (Look(1), Look(3, DOWN))),
    ),
    "LaraCanaryLost": (
        Case(
            "fires",
            {"lara_canary_lost_total": "0+0x2 0+1x8 8+0x60", CANARY: "1+0x80"},
            (Look(3), Look(9, NO_CANARY), Look(26, NO_CANARY), Look(36)),
        ),
        Case(
            "stays quiet",
            {
                "lara_canary_lost_total": "5+0x40",
                "lara_canary_last_returned_timestamp_seconds": "0+60x40",
                CANARY: "1+0x40",
            },
            QUIET,
        ),
        Case("low traffic", {"lara_canary_lost_total": "0+0x9 1+0x40", CANARY: "1+0x40"}, QUIET),
        Case("n = 0", {"lara_canary_sent_total": "0+0x40", CANARY: "1+0x40"}, QUIET),
        Case("absent", {}, QUIET),
        Case(
            "fires when nothing returns",
            {"lara_canary_last_returned_timestamp_seconds": "0+0x40", CANARY: "1+0x40"},
            (Look(6), Look(9, NO_CANARY)),
        ),
        Case("fires when the canary is down", {CANARY: "0+0x40"}, (Look(3, NO_CANARY),)),
    ),
    "LaraWatchdog": (
        Case("fires", {}, (Look(1, HEARD),)),
        # It is never quiet: that is what it is for.
        *(Case(name, {COMMIT: "0+0x40"}, (Look(30, HEARD),)) for name in ("stays quiet", "low traffic")),
        *(Case(name, {}, (Look(30, HEARD),)) for name in ("n = 0", "absent")),
    ),
}
