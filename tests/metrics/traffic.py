"""Counters as the core writes them, for the tests of what is made of them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from metrics.buckets import Counters, MinuteBuckets, Span
from metrics.figures import Metric
from metrics.schema import PublishedDefinition

MINUTE_MS = 60_000
NOW_MINUTE = 29_000_000
NOW_MS = NOW_MINUTE * MINUTE_MS

STRICT = PublishedDefinition("strict", "1", "aaaaaaaaaaaa")
STANDARD = PublishedDefinition("standard", "1", "bbbbbbbbbbbb")
BROAD = PublishedDefinition("broad", "1", "cccccccccccc")
DEFINITIONS = (STRICT, STANDARD, BROAD)
DEFINITION_NAMES = tuple(definition.name for definition in DEFINITIONS)

ROLES = ("direct_lookup", "browse", "act_on", "generation_reference", "task_step", "contextual")
SURFACES = ("chat", "gallery", "editor", "unknown")
OUTCOME_ACTIONS = ("export", "share", "download")
RESOLUTIONS = ("explicit", "inherited", "document", "request", "inferred", "none", "refuted", "dangling")
FIELDS = ("returned_asset_ids", "role", "request_id", "consumed_asset_id", "source_retrieval_id")

RETRIEVAL_COUNTERS = (
    *("retrievals", "retrievals_agent_consumed", "retrievals_delegated", "retrievals_failed"),
    *("retrievals_failed_by_signal|rejected", "retrievals_corrected", "retrievals_agent_use_confirmed"),
    *("retrievals_without_list", "layer1_retrievals", "retrievals_null"),
    *("consumed_assets", "consumed_rank_sum"),
    *(f"retrievals_positive|{name}" for name in DEFINITION_NAMES),
    *(f"retrievals_evidenced|{name}" for name in DEFINITION_NAMES),
)
OUTCOME_COUNTERS = ("outcomes", "attributed_outcomes", "cross_session_outcomes")


def buckets(*minutes: tuple[int, Mapping[str, int]]) -> MinuteBuckets:
    """Buckets with these counters, each set some minutes before now (0 is the minute that has just begun)."""
    filled = MinuteBuckets()
    for minutes_ago, counters in minutes:
        for counter, value in counters.items():
            filled.add(NOW_MINUTE - minutes_ago, counter, value)
    return filled


def busy(minutes_ago: Iterable[int] = (1, 32)) -> MinuteBuckets:
    """Every counter of every role, surface, action and definition: live and settled, in every window."""
    retrievals = (
        f"{name}|{role}|{surface}" for name, role, surface in product(RETRIEVAL_COUNTERS, ROLES, SURFACES)
    )
    outcomes = (
        f"{name}|{surface}|{action}"
        for name, surface, action in product(OUTCOME_COUNTERS, SURFACES, OUTCOME_ACTIONS)
    )
    actions = (f"actions|{resolution}" for resolution in RESOLUTIONS)
    lineage = (f"lineage_{state}|{field}" for state, field in product(("logged", "expected"), FIELDS))
    counters = dict.fromkeys((*retrievals, *outcomes, *actions, *lineage), 1)
    return buckets(*((minutes, counters) for minutes in minutes_ago))


def values(metrics: Iterable[Metric], name: str, **labels: str) -> list[int | float]:
    """The values of the metrics of a name that have these labels."""
    return [
        metric.value for metric in metrics if metric.name == name and labels.items() <= metric.labels.items()
    ]


class CountingReader:
    """A reader that remembers what it was asked."""

    def __init__(self, buckets: MinuteBuckets) -> None:
        self.calls: list[list[Span]] = []
        self._buckets = buckets

    def sums(self, spans: Sequence[Span]) -> list[Counters]:
        self.calls.append(list(spans))
        return self._buckets.sums(spans)


class BrokenReader:
    """A reader whose state cannot be read."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def sums(self, spans: Sequence[Span]) -> list[Counters]:
        raise self._error
