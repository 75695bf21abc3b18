"""The dashboard of the pipeline's own work, and every other panel that asks worker, exporter or audit.

Rules:
- What a family says comes from the process that serves it: a family that none serves is a KeyError.
- A counter that has counted nothing yet may be absent: it reads 0 as long as a worker is there, and not else.
- Counters are read over `$__rate_interval`, or over the range of the dashboard where their number is small.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from deploy.generate.boards.commands import ACTION, RETRIEVAL
from deploy.generate.panels import (
    COUNT,
    NUMBER,
    PER_SECOND,
    SECONDS,
    SHARE,
    Board,
    Column,
    Panel,
    Row,
)
from deploy.generate.queries import ask
from deploy.generate.shapes import by_label, counted, trends
from deploy.generate.thresholds import Limits
from metrics.audit_metrics import AuditCollector
from metrics.buckets import MinuteBuckets
from metrics.catalogue import CATALOGUE
from metrics.exporter import QualityCollector
from metrics.figures import LOWER, UPPER
from metrics.worker_metrics import WorkerMetrics

RATE: Final = "$__rate_interval"
SCRAPE: Final = "lara_exporter_scrape_seconds"
DELAY: Final = "lara_evidence_delay_seconds"
# What is above this bucket was not there when its retrieval entered the settled cohort.
MATURE_SECONDS: Final = "1800.0"
LIVE_WORKERS: Final = "sum (lara_assigned_partitions)"


def served() -> Iterator[tuple[str, str]]:
    """Every family that is no figure of the catalogue, and what it says."""
    suffixes = {"counter": "_total", "info": "_info"}
    families = (
        *WorkerMetrics().registry.collect(),
        *QualityCollector(MinuteBuckets(), float, []).describe(),
        *AuditCollector().describe(),
    )
    figures = {figure.name + end for figure in CATALOGUE for end in ("", LOWER, UPPER)}
    for family in families:
        if family.name not in figures:
            yield family.name + suffixes.get(family.type, ""), family.documentation


SERVED: Final[Mapping[str, str]] = dict(served())


def panel(
    kind: str,
    title: str,
    columns: tuple[Column, ...],
    next_command: str,
    width: int = 8,
    height: int = 8,
    labels: tuple[str, ...] = (),
    limit: str = "",
    exemplars: bool = False,
) -> Panel:
    """A panel about families of a process."""
    about = "\n\n".join(dict.fromkeys(f"`{one.figure}`: {SERVED[one.figure]}" for one in columns))
    return Panel(kind, title, columns, about, next_command, width, height, labels, limit, exemplars)


def ever(name: str) -> str:
    """How often in the dashboard's range; 0 while a worker is there that has never counted it."""
    return f"sum (increase({name}[$__range])) or 0 * {LIVE_WORKERS}"


def quantile(share: float, name: str, by: str = "", window: str = "$__range") -> str:
    """A quantile of a histogram; absent, not NaN, where nothing was observed."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share:g}, sum by ({labels}) (rate({name}_bucket[{window}]))) >= 0"


def evidence_delay() -> Panel:
    """How long after its retrieval an action happened: what the settled cohort may miss."""
    seen, late = f"sum (increase({DELAY}_count[$__range]))", f'le="{MATURE_SECONDS}"'
    within = f"sum (increase({DELAY}_bucket{{{late}}}[$__range]))"
    tiles = (
        Column("half within", quantile(0.5, DELAY), DELAY, SECONDS),
        Column("90 % within", quantile(0.9, DELAY), DELAY, SECONDS),
        Column("after 30 min", f"1 - {within} / ({seen} > 0)", DELAY, SHARE),
        Column("n", seen, DELAY, part=COUNT),
    )
    return panel("stat", "Evidence delay, in the dashboard's range", tiles, RETRIEVAL, 24, 4)


def _delays() -> Panel:
    """The same in time; with the setting, dots name retrievals."""
    lines = (
        Column(title, quantile(share, DELAY, window=RATE), DELAY, SECONDS)
        for title, share in (("half within", 0.5), ("90 % within", 0.9))
    )
    counts = Column("n per second", f"sum (rate({DELAY}_count[{RATE}]))", DELAY, PER_SECOND, COUNT)
    return panel("trend", "Evidence delay", (*lines, counts), RETRIEVAL, exemplars=True)


def pipeline(_: Limits) -> Board:
    """Pipeline operations."""
    return Board(
        "lara-pipeline",
        "lara · Pipeline operations",
        "Is everything read, counted and served?",
        (
            Row("Is it running?", _running()),
            Row("What is read", _reading()),
            Row("How fast", _speed()),
            Row("What went wrong", _wrong()),
            Row("Is the state right, and is lineage logged?", _state()),
        ),
        since="now-1h",
    )


def _tile(
    title: str, columns: tuple[Column, ...], next_command: str, limit: str = "", width: int = 6
) -> Panel:
    return panel("stat", title, columns, next_command, width, 4, limit=limit)


def _running() -> tuple[Panel, ...]:
    up, assigned, reach = "lara_exporter_up", "lara_assigned_partitions", "lara_out_of_reach"
    lag, stalled = "lara_lag_seconds", "lara_stalled_seconds"
    return (
        _tile(
            "Exporter",
            (
                Column("reads the state", f"min ({up})", up),
                Column("a scrape takes", f"max ({SCRAPE})", SCRAPE, SECONDS, COUNT),
            ),
            "lara doctor",
            up,
        ),
        _tile(
            "Workers",
            (
                Column("partitions read", f"sum ({assigned})", assigned),
                Column("workers", f"count ({assigned})", assigned, part=COUNT),
            ),
            "lara watermarks show",
            assigned,
        ),
        _tile(
            "Furthest behind", (Column("lag", f"max ({lag})", lag, SECONDS),), "lara watermarks show", lag, 4
        ),
        _tile(
            "Stalled for",
            (Column("stalled", f"max ({stalled})", stalled, SECONDS),),
            "lara doctor",
            stalled,
            4,
        ),
        _tile(
            "Services out of reach", (Column("services", f"sum ({reach})", reach),), "lara doctor", reach, 4
        ),
    )


def _reading() -> tuple[Panel, ...]:
    events, labels = "lara_events_total", ("type", "disposition")
    counts = Column("records", f"sum by ({', '.join(labels)}) (increase({events}[$__range])) > 0", events)
    rates = Column(
        "records a second",
        f"sum by (disposition) (rate({events}[{RATE}])) > 0",
        events,
        PER_SECOND,
        legend="{{disposition}}",
    )
    return (
        panel("trend", "Records read, by what became of them", (rates,), "lara deadletters list", 14, 9),
        panel("table", "Records in this range", (counts,), "lara deadletters list", 10, 9, labels),
    )


def _speed() -> tuple[Panel, ...]:
    lag, stage = "lara_lag_seconds", "lara_stage_seconds"
    newest, commit = "lara_newest_event_timestamp_seconds", "lara_newest_commit_timestamp_seconds"
    by_topic = Column("{{topic}}", f"max by (topic) ({lag})", lag, SECONDS, legend="{{topic}}")
    p99 = Column("{{stage}}", quantile(0.99, stage, "stage", RATE), stage, SECONDS, legend="{{stage}}")
    ages = (
        Column("newest event", f"time() - max by (topic) ({newest})", newest, SECONDS),
        Column("last counted", f"time() - max by (topic) ({commit})", commit, SECONDS),
    )
    return (
        panel("trend", "Lag by topic", (by_topic,), "lara watermarks show", 6, limit=lag),
        panel("trend", "99 % of batches within, by stage", (p99,), "lara doctor", 6),
        panel("table", "Age, by topic", ages, "lara watermarks show", 6, labels=("topic",)),
        _delays()._replace(width=6),
    )


def _wrong() -> tuple[Panel, ...]:
    """Counters that should rest."""
    tiles = {
        "lara_redis_errors_total": ("Redis calls failed", "lara doctor"),
        "lara_commit_retries_total": ("Entities done again", "lara doctor"),
        "lara_rewinds_total": ("Back to a watermark", "lara watermarks show"),
        "lara_losses_total": ("Losses", "lara watermarks show"),
        "lara_events_ahead_total": ("Stamped ahead", "lara doctor"),
        "lara_bound_hits_total": ("Bounds met", RETRIEVAL),
    }
    return tuple(
        _tile(title, (Column("in this range", ever(name), name),), command, name, 4)
        for name, (title, command) in tiles.items()
    )


def _state() -> tuple[Panel, ...]:
    drift, finished = "lara_audit_drift", "lara_audit_finished_timestamp_seconds"
    definition, labels = "lara_definition_info", ("definition", "version", "digest")
    counted_by = Column("counted by", f"max by ({', '.join(labels)}) ({definition})", definition)
    lineage = {"logged": ask("lara_lineage_coverage_ratio", "field")}
    disagree = {"disagree": ask("lara_inference_disagreement_ratio")}
    audit = (
        Column("drift", f"max ({drift})", drift),
        Column("ago", f"time() - max ({finished})", finished, SECONDS, COUNT),
        Column("entities", "max (lara_audit_entities)", "lara_audit_entities", NUMBER, COUNT),
        Column("minutes", "max (lara_audit_minutes)", "lara_audit_minutes", NUMBER, COUNT),
    )
    return (
        _tile("Last audit of the state", audit, "lara audit", drift, 24),
        by_label(lineage, "Lineage that was logged", "lara doctor", 6),
        counted(ask("lara_actions", "resolution"), "Actions by the rule that decided", ACTION, 6),
        trends(disagree, "Lineage and inference disagree", ACTION, 5)._replace(height=9),
        panel("table", "Definitions counted by", (counted_by,), "lara report", 7, 9, labels),
    )
