"""The exporter: figures computed from shared state when Prometheus asks, and never in between.

Rules:
- One process reads the shared state: which worker counted what does not matter.
- Quality figures are gauges: they are read from state, and a correction may lower them.
- When the reader fails, `lara_exporter_up` is 0 and no quality figure is printed: an old value, or a 0 that
  nobody counted, would be worse than none. The scrape itself succeeds, so that this 0 arrives.
- Which windows and bounds are printed is said by the catalogue's rows.
- The clock is handed in. Scrapes take turns, so a reader need not be safe for threads.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final, Protocol
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app, start_http_server
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from metrics.buckets import CounterReader
from metrics.catalogue import CATALOGUE
from metrics.figures import LOWER, UPPER, Metric, Vocabularies, exported_figures
from metrics.health import NO_CHECKS, Checks, with_health
from metrics.schema import Figure, PublishedDefinition
from metrics.vocabularies import VOCABULARIES
from metrics.windows import DEFAULT_HORIZON_MINUTES

# Newest event time and newest commit time of a topic, in seconds since the epoch; None: none yet.
Newest = tuple[float | None, float | None]

BOUND_HELP: Final = {
    LOWER: "Lower bound (95 %, Wilson): ",
    UPPER: "Upper bound (95 %, Wilson): ",
}


class Freshness(Protocol):
    """Whatever knows how far the state has come."""

    def freshness(self) -> Mapping[str, Newest]:
        """The newest event time and commit time, by topic."""


class QualityCollector:
    """Computes every exported figure at scrape time; register it, or hand it to `serve`.

    `clock` gives seconds since the epoch. `reader_errors` are the exceptions that mean "the state cannot be
    read now", and are told to `on_failure`; any other one is a programming error and fails the scrape.
    """

    def __init__(
        self,
        reader: CounterReader,
        clock: Callable[[], float],
        definitions: Sequence[PublishedDefinition],
        horizon_minutes: int = DEFAULT_HORIZON_MINUTES,
        reader_errors: tuple[type[Exception], ...] = (OSError,),
        freshness: Freshness | None = None,
        vocabularies: Vocabularies = VOCABULARIES,
        on_failure: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self._on_failure = on_failure
        self._reader = reader
        self._clock = clock
        self._definitions = definitions
        self._horizon_minutes = horizon_minutes
        self._reader_errors = reader_errors
        self._freshness = freshness
        self._vocabularies = vocabularies
        self._turn = Lock()

    def describe(self) -> list[Family]:
        """All families, without values: their names can be asked for and never clash unseen."""
        return [
            *_quality_families(()),
            *_freshness_families({}),
            _definition_family(()),
            *_own_families(up=True, scrape_seconds=0.0),
        ]

    def collect(self) -> list[Family]:
        """All families that have a value now."""
        with self._turn:
            started = self._clock()
            families = self._read(started)
            own = _own_families(up=families is not None, scrape_seconds=max(0.0, self._clock() - started))
        found = [*(families or ()), _definition_family(self._definitions), *own]
        return [family for family in found if family.samples]

    def _read(self, now: float) -> list[Family] | None:
        try:
            metrics = exported_figures(
                self._reader, int(now * 1000), self._definitions, self._horizon_minutes, self._vocabularies
            )
            newest = self._freshness.freshness() if self._freshness else {}
        except self._reader_errors as error:
            self._on_failure(error)
            return None
        return [*_quality_families(metrics), *_freshness_families(newest)]


def registry_of(collector: Collector) -> CollectorRegistry:
    """A registry of its own for one collector."""
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


def serve(
    source: Collector | CollectorRegistry, port: int, address: str = "0.0.0.0", checks: Checks = NO_CHECKS
) -> WSGIServer:
    """Serve a collector, or a registry, over HTTP in a thread of its own, in the format that is asked for.

    Beside it the checks are answered.

    Port 0 takes a free one, to be read from `server_port`. End it with `shutdown()` and `server_close()`.
    Raises OSError if the port is taken.
    """
    registry = source if isinstance(source, CollectorRegistry) else registry_of(source)
    server, _ = start_http_server(port, address, registry)
    server.set_app(with_health(make_wsgi_app(registry), checks))
    return server


def _quality_families(metrics: Iterable[Metric]) -> list[Family]:
    families = {family.name: family for figure in CATALOGUE for family in _families(figure)}
    for metric in metrics:
        families[metric.name].add_metric(list(metric.labels.values()), metric.value)
    return list(families.values())


def _families(figure: Figure) -> list[GaugeMetricFamily]:
    bounds = BOUND_HELP.items() if figure.exported.bounds else ()
    helps = {figure.name: figure.help} | {figure.name + end: text + figure.help for end, text in bounds}
    return [GaugeMetricFamily(name, text, labels=figure.label_names) for name, text in helps.items()]


def _freshness_families(newest: Mapping[str, Newest]) -> list[GaugeMetricFamily]:
    event = GaugeMetricFamily(
        "lara_newest_event_timestamp_seconds", "Newest event time that was counted.", labels=["topic"]
    )
    commit = GaugeMetricFamily(
        "lara_newest_commit_timestamp_seconds",
        "When events of the topic were last counted.",
        labels=["topic"],
    )
    for topic, times in newest.items():
        for family, seconds in zip((event, commit), times, strict=True):
            if seconds is not None:
                family.add_metric([topic], seconds)
    return [event, commit]


def _definition_family(definitions: Iterable[PublishedDefinition]) -> InfoMetricFamily:
    family = InfoMetricFamily(
        "lara_definition", "Definitions of the genuine positive that the figures were counted by."
    )
    for name, version, digest in definitions:
        family.add_metric([], {"definition": name, "version": version, "digest": digest})
    return family


def _own_families(up: bool, scrape_seconds: float) -> list[Family]:
    return [
        GaugeMetricFamily("lara_exporter_up", "1 if the state could be read, else 0.", value=int(up)),
        GaugeMetricFamily(
            "lara_exporter_scrape_seconds", "How long it took to compute this scrape.", value=scrape_seconds
        ),
    ]
