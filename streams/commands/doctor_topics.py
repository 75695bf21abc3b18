"""`lara doctor`, the topics: where they are missing, or not as the table of `streams/topics.py` has them.

Rules:
- A setting that differs is a finding once, with the topics it differs in; `OF_TOPICS` says how grave.
- Copies are judged by themselves, not by the setting `replication`: an operator may have created the topics.
- Input must be kept for the attribution horizon and the longest outage (setting `outage_days`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from streams.commands.doctor_findings import NOTE, PROBLEM, WARNING, Finding
from streams.commands.doctor_services import HORIZON_DAYS, found
from streams.commands.topics import retention_ms
from streams.settings import Settings
from streams.topics import (
    DAY_MS,
    FOREVER,
    Difference,
    Existing,
    differences,
    input_topics,
    wanted_topics,
)


class Grade(NamedTuple):
    """How grave it is that a setting of a topic differs, and what follows from it."""

    severity: str
    why: str


OF_TOPICS: Final[Mapping[str, Grade]] = {
    "cleanup.policy": Grade(
        PROBLEM, "outputs that are not compacted are deleted by age, input that is compacted loses records"
    ),
    "message.timestamp.type": Grade(
        WARNING, "retention and lateness go by the time of arrival, not by that of the event"
    ),
    "message.timestamp.before.max.ms": Grade(WARNING, "the broker refuses old events"),
    "message.timestamp.after.max.ms": Grade(NOTE, "how far ahead a clock may be before the broker refuses"),
    "segment.ms": Grade(NOTE, "a replay or a backlog makes other files than it should"),
}
RETENTION: Final = "retention.ms"
ALTER: Final = "Change it with kafka-configs; `lara topics create` leaves what exists as it is."


def topic_findings(existing: Sequence[Existing], settings: Settings) -> Iterator[Finding]:
    """How the topics are, compared with how they should be."""
    wanted = wanted_topics(settings.prefix, retention_ms(settings), settings.replication)
    missing = [name for name in wanted if name not in {one.name for one in existing}]
    if missing:
        yield found(
            "topics_missing", PROBLEM, "topics do not exist", "Run `lara topics create`.", sorted(missing)
        )
    inputs = set(input_topics(settings.prefix).values())
    counts = {one.name: one.partitions for one in existing if one.name in inputs}
    if len(set(counts.values())) > 1:
        shown = [f"{name} {count}" for name, count in sorted(counts.items())]
        what = "input topics have different numbers of partitions: a worker reads the same number of each"
        yield found("topics_uneven", PROBLEM, what, "Give all of them the highest number.", shown)
    yield from _copies(existing)
    differing = [one for topic in existing for one in differences(topic, wanted[topic.name])]
    for setting, grade in OF_TOPICS.items():
        some = [one for one in differing if one.setting == setting]
        if some:
            what = f"{setting} is {some[0].found}, wanted {some[0].wanted}: {grade.why}"
            name = "topics_" + setting.replace(".", "_")
            yield found(name, grade.severity, what, ALTER, [one.topic for one in some])
    yield from _retention([one for one in differing if one.setting == RETENTION], inputs, settings)


def _copies(existing: Sequence[Existing]) -> Iterator[Finding]:
    """Replicas, and how many of them must have a record before it counts as sent."""
    single = [one.name for one in existing if one.replicas == 1]
    if single:
        what = "topics have a single copy: a broker that is lost takes records with it"
        yield found(
            "topics_single", WARNING, what, "Give them three replicas, min.insync.replicas 2.", single
        )
    several = [
        (one, int(one.configuration.get("min.insync.replicas", 1))) for one in existing if one.replicas > 1
    ]
    weak = [one.name for one, least in several if least < one.replicas - 1]
    if weak:
        what = "min.insync.replicas is more than one below the replicas: a record may be lost with a broker"
        yield found("topics_insync_low", WARNING, what, "Set it to the replicas less one.", weak)
    stiff = [one.name for one, least in several if least >= one.replicas]
    if stiff:
        what = "min.insync.replicas is the number of replicas: one broker that is down stops all writing"
        yield found("topics_insync_high", WARNING, what, "Set it to the replicas less one.", stiff)


def _retention(differing: Sequence[Difference], inputs: set[str], settings: Settings) -> Iterator[Finding]:
    """Input that is kept for less than the horizon and an outage is lost before it is needed no more."""
    needed = (HORIZON_DAYS + settings.outage_days) * DAY_MS
    short = [one for one in differing if one.topic in inputs and FOREVER != int(one.found) < needed]
    if short:
        least = min(int(one.found) for one in short)
        yield found(
            "topics_retention",
            PROBLEM if least < HORIZON_DAYS * DAY_MS else WARNING,
            f"input is kept for {least / DAY_MS:,.1f} days: less than {HORIZON_DAYS} days of attribution and "
            f"an outage of {settings.outage_days}",
            f"Set retention.ms to {needed} or more.",
            [one.topic for one in short],
        )
    others = [one for one in differing if one not in short]
    if others:
        what = f"retention.ms is {others[0].found}, wanted {others[0].wanted} by the setting"
        yield found("topics_retention_other", NOTE, what, ALTER, [one.topic for one in others])
