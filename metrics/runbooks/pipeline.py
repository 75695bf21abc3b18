"""Runbooks of alerts on the way from Kafka to the figures."""

from collections.abc import Mapping
from typing import Final

from metrics.runbooks.runbook import Runbook

PIPELINE: Final[Mapping[str, Runbook]] = {
    "LaraPipelineStalled": Runbook(
        "Workers have something to read and get on with nothing; or no worker reads at all.",
        "Figures stand still. Nothing is lost as long as Kafka keeps the records. Alerts on quality are "
        "silent.",
        (
            "`/readyz` of a worker says what it waits for; `lara_out_of_reach` names the service.",
            "`lara watermarks show`: how far behind, in records and seconds.",
            "No worker at all: exit code and last lines of its log (docs/cli.md lists the codes).",
        ),
        (
            "Redis or Kafka out of reach: mend it; workers go on by themselves.",
            "Workers gone: start them; they go on at their watermarks.",
            "One record that always ends a worker (code 70): keep log and record, `lara watermarks set` "
            "gets past it.",
        ),
        ("No worker is meant to run (maintenance): silence it.",),
    ),
    "LaraPipelineBehind": Runbook(
        "Workers read, but what they read is old.",
        "Figures are late; those of the last minutes are too low. Alerts on quality are silent.",
        (
            "`lara watermarks show`, twice: does the distance shrink?",
            "`lara_stage_seconds`: which neighbour is slow? `lara_commit_retries_total`: do workers "
            "stand in each other's way?",
        ),
        (
            "More workers, up to the number of partitions.",
            "Redis or Kafka slow: mend it.",
        ),
        ("Old logs are replayed with their own time: then it is a backfill, see LaraBackfillRunning.",),
    ),
    "LaraBackfillRunning": Runbook(
        "Events are counted that are much older than now: a rebuilt state catches up, or old logs come in.",
        "None. Windows are not complete yet, so alerts on quality are silent while it fires.",
        (
            "`lara watermarks show`: how much is left.",
            "Who runs `lara replay`, or started on an empty state?",
        ),
        ("Nothing. It resolves by itself, some time after the last old event.",),
        (
            "`lara rebuild` beside the live state is not seen here and changes no live figure; after the"
            " switch its catching up is.",
            "A few late events while nothing else comes.",
        ),
    ),
    "LaraDeadLetters": Runbook(
        "Records are refused: no valid event, too late, or an id that was used before.",
        "They are in no figure.",
        (
            "`lara deadletters list`: by reason, type and topic, with the latest.",
            "`lara deadletters show KEY` of one of them.",
        ),
        (
            "Mend the producer; `lara contract` has the schemas.",
            "Once it is mended: `lara deadletters replay --dry-run`, then without.",
        ),
        ("Old logs sent with today's timestamps are `late`: send them with `lara replay`.",),
    ),
    "LaraInputLost": Runbook(
        "A watermark lies outside its log: Kafka deleted records unread, or the topic is another one.",
        "With `retention` figures stay too low for good. The other reasons: see docs/operating.md, Loss.",
        (
            "The label `reason`, and the table in docs/operating.md.",
            "`lara watermarks show`: is more about to be deleted?",
        ),
        (
            "`retention`: raise the topic's retention first, then bring workers back.",
            "`cluster`: check `LARA_BOOTSTRAP` before anything else.",
            "If the records are elsewhere: `lara replay`; what is known counts once.",
        ),
        (
            "A topic that was deleted on purpose.",
            "It goes on firing until the window is over or workers restart.",
        ),
    ),
    "LaraExporterDown": Runbook(
        "No exporter is scraped, or none can read the state.",
        "There are no figures. Workers go on; nothing is lost.",
        (
            "`/readyz` of the exporter says why.",
            "Prometheus, page Targets: is it found and reached?",
        ),
        (
            "Redis out of reach: mend it. The exporter goes on by itself.",
            "`OtherMeaning`: exporter and state have different settings (docs/operating.md).",
            "Process gone: start `lara exporter`.",
        ),
        ("The scrape job has another name than in the values file.",),
    ),
    "LaraCanaryLost": Runbook(
        "Events that lara sends to itself do not come back in time; or the canary does not run.",
        "What is true of them is true of all events: they are not read, or not counted.",
        (
            "LaraPipelineStalled and LaraPipelineBehind explain it, if they fire.",
            "`lara watermarks show`, and the canary's log.",
        ),
        ("Follow the canary's way: broker, worker, Redis.",),
        ("Canary events that are refused since their rule of exclusion is missing: see its log.",),
    ),
    "LaraWatchdog": Runbook(
        "It always fires, and its receiver expects it.",
        "If it stops, no other alert comes either.",
        ("Is Prometheus up? Does Alertmanager list the alert? Does the receiver answer?",),
        ("Bring back what is missing.",),
        ("None: a receiver that pages when it fires is set up the wrong way round.",),
    ),
}
