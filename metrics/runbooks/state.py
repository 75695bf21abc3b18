"""Runbooks of alerts on the state in Redis."""

from collections.abc import Mapping
from typing import Final

from metrics.runbooks.runbook import Runbook

STATE: Final[Mapping[str, Runbook]] = {
    "LaraAuditDrift": Runbook(
        "Buckets and entities differ: keys vanished, or somebody changed a count.",
        "Some figures are wrong, and stay so.",
        (
            "`lara audit`: which minutes, and how much.",
            "`lara doctor`: may Redis evict? Who ran `DEL`, or restored a backup?",
        ),
        (
            "Find the cause first, then `lara rebuild` and switch over (docs/operating.md).",
            "`lara report --compare PREFIX` says which figures were wrong.",
        ),
        (
            "An event stamped more than a day ahead that has expired.",
            "`LARA_OUTAGE_DAYS` that was smaller before.",
        ),
    ),
    "LaraAuditOverdue": Runbook(
        "The exporter's own audit has not finished for long.",
        "Drift would not be seen.",
        (
            "The exporter's log: `the state cannot be audited now`.",
            "`lara_audit_entities` and `LARA_AUDIT_KEYS_PER_SECOND`: how long should one take?",
        ),
        (
            "Raise `LARA_AUDIT_KEYS_PER_SECOND`, or `after` of this alert.",
            "`lara audit` once, by hand.",
        ),
        ("A large state: a million keys take an hour and a half at 200 a second.",),
    ),
    "LaraRedisNearLimit": Runbook(
        "Redis has nearly used its `maxmemory`.",
        "When it is full it refuses writes, and workers wait: figures stand still.",
        (
            "`redis-cli info memory`, and how it grew over the last week.",
            "`lara_bound_hits_total`: a robot that writes without end?",
            "A second state beside the live one (`lara rebuild`) takes as much again.",
        ),
        (
            "Raise `maxmemory`; no restart is needed.",
            "Delete a state that nobody needs any more (docs/operating.md, Rebuild).",
            "Never set an eviction policy.",
        ),
        ("Redis is shared with others: then their growth counts too.",),
    ),
}
