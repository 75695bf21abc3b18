from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from urllib.request import Request, urlopen

import pytest
from prometheus_client import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from metrics.catalogue import CATALOGUE
from metrics.exporter import QualityCollector, registry_of, serve
from metrics.scopes import REPORTED_ONLY
from metrics.worker_metrics import WorkerMetrics
from tests.metrics.traffic import (
    DEFINITIONS,
    NOW_MINUTE,
    NOW_MS,
    STANDARD,
    BrokenReader,
    buckets,
    busy,
)

OWN = {"lara_definition_info", "lara_exporter_up", "lara_exporter_scrape_seconds"}


def clock():
    return NOW_MS / 1000


class Fresh:
    def freshness(self):
        return {"lara.actions": (1.5, 2.5), "lara.prompts": (None, None)}


@contextmanager
def served(source):
    """The address at which a collector is served, for as long as the block lasts."""
    server = serve(source, 0, "127.0.0.1")
    try:
        yield f"http://127.0.0.1:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()


def fetched(source, query="", accept="text/plain"):
    """Status, content type and body of one scrape over HTTP."""
    with served(source) as address, urlopen(Request(address + query, headers={"Accept": accept})) as answer:
        return answer.status, answer.headers["Content-Type"], answer.read().decode()


def scraped(collector):
    """The text of one scrape."""
    return generate_latest(registry_of(collector)).decode()


def samples(body):
    """Every sample of a scrape: (name, labels) -> value; a series that stands twice is an error."""
    found = [sample for family in parse_text(body) for sample in family.samples]
    series = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in found}
    assert len(series) == len(found)
    return series


def named(body):
    return {name for name, _ in samples(body)}


def test_a_busy_exporter_has_at_most_6000_series():
    """6 roles, 4 surfaces and 3 definitions, everything counted in every window: a few thousand."""
    body = scraped(QualityCollector(busy(), clock, DEFINITIONS, freshness=Fresh()))
    assert 4_000 < len(samples(body)) <= 6_000


def test_a_scrape_holds_the_exported_windows_with_help_and_type():
    """The text parses, every family is a gauge with the help of its row, and no series is for `all`."""
    body = scraped(QualityCollector(busy(), clock, DEFINITIONS))
    families = {family.name: family for family in parse_text(body)}
    for figure in CATALOGUE:
        if figure.exported == REPORTED_ONLY:
            assert figure.name not in families
            continue
        assert families[figure.name].type == "gauge"
        assert families[figure.name].documentation == figure.help
        assert {sample.labels["window"] for sample in families[figure.name].samples} == {
            window for cohort in figure.cohorts for window in figure.exported.windows(cohort)
        }


def test_bounds_are_there_for_the_headline_only():
    """Lower and upper for null, GPR, ACR, ORF, UOR, masked, misroute and missed, and for no other ratio."""
    body = scraped(QualityCollector(busy(), clock, DEFINITIONS))
    bounds = {name for name in named(body) if name.endswith(("_lower", "_upper"))}
    headline = ("null", "gpr", "acr", "orf", "uor", "masked_failure", "misroute", "missed_retrieval")
    assert bounds == {f"lara_{name}_ratio_{end}" for name in headline for end in ("lower", "upper")}


def test_a_value_stands_at_its_labels():
    """3 of 4 settled retrievals of the last hour are positive."""
    counters = {"retrievals|browse|chat": 4, "retrievals_positive|standard|browse|chat": 3}
    body = scraped(QualityCollector(buckets((45, counters)), clock, (STANDARD,)))
    labels = {"window": "1h", "cohort": "settled", "role": "browse", "surface": "chat"}
    labels["definition"] = "standard"
    assert samples(body)["lara_gpr_ratio", tuple(sorted(labels.items()))] == 0.75


def test_absent_ratios_are_absent_while_their_counts_are_0():
    """Two hours without events: count 0 in the hour, no ratio, no NaN."""
    counters = {"retrievals|browse|chat": 1, "layer1_retrievals|browse|chat": 1}
    body = scraped(QualityCollector(buckets((120, counters)), clock, (STANDARD,)))
    hour = {name: value for (name, labels), value in samples(body).items() if ("window", "1h") in labels}
    assert hour["lara_retrievals"] == hour["lara_retrievals_null"] == 0
    assert not [name for name in hour if "_ratio" in name]
    assert "NaN" not in body


def test_time_passes_between_scrapes():
    """What leaves the window leaves the scrape: the clock is read each time."""
    now = [NOW_MINUTE * 60.0]
    collector = QualityCollector(buckets((1, {"retrievals|browse|chat": 1})), lambda: now[0], (STANDARD,))
    hour = tuple(sorted({"window": "1h", "cohort": "live", "role": "browse", "surface": "chat"}.items()))
    assert samples(scraped(collector))["lara_retrievals", hour] == 1
    now[0] += 7_200
    assert samples(scraped(collector))["lara_retrievals", hour] == 0


def test_an_empty_state_is_up_and_says_nothing():
    """No events yet: the exporter works, and there is no figure to show."""
    body = scraped(QualityCollector(buckets(), clock, DEFINITIONS))
    assert named(body) == OWN
    assert samples(body)["lara_exporter_up", ()] == 1


@pytest.mark.parametrize("error", [ConnectionError("gone"), TimeoutError("slow")])
def test_a_reader_that_fails_gives_up_0_and_no_quality_figure(error):
    """The scrape succeeds and says that the state could not be read; nothing else is shown instead."""
    collector = QualityCollector(BrokenReader(error), clock, DEFINITIONS, freshness=Fresh())
    status, _, body = fetched(collector)
    assert (status, named(body)) == (200, OWN)
    assert samples(body)["lara_exporter_up", ()] == 0


def test_other_errors_of_a_store_can_be_named():
    """A store's own exception type is handed in; the exporter imports no store."""

    class StoreError(Exception):
        pass

    collector = QualityCollector(
        BrokenReader(StoreError()), clock, DEFINITIONS, reader_errors=(OSError, StoreError)
    )
    assert samples(scraped(collector))["lara_exporter_up", ()] == 0


def test_a_programming_error_is_not_taken_for_a_failed_reader():
    """What nobody named fails the scrape instead of hiding behind a 0."""
    with pytest.raises(KeyError):
        QualityCollector(BrokenReader(KeyError("mistake")), clock, DEFINITIONS).collect()


def test_definitions_are_published_with_version_and_digest():
    """One constant 1 a definition, to be joined to the figures by name."""
    body = scraped(QualityCollector(buckets(), clock, DEFINITIONS))
    info = {key[1]: value for key, value in samples(body).items() if key[0] == "lara_definition_info"}
    assert info == {
        (("definition", name), ("digest", digest), ("version", version)): 1
        for name, version, digest in DEFINITIONS
    }


def test_freshness_is_given_by_topic_and_absent_where_unknown():
    """Alerts compare these times with now; a topic without events has none."""
    body = scraped(QualityCollector(buckets(), clock, DEFINITIONS, freshness=Fresh()))
    found = {key: value for key, value in samples(body).items() if "newest" in key[0]}
    topic = (("topic", "lara.actions"),)
    assert found == {
        ("lara_newest_event_timestamp_seconds", topic): 1.5,
        ("lara_newest_commit_timestamp_seconds", topic): 2.5,
    }


def test_the_duration_of_a_scrape_is_measured_by_the_clock_handed_in():
    """A clock that is set back gives 0, never a negative duration."""
    for times, seconds in (((10.0, 10.25), 0.25), ((10.0, 9.0), 0.0)):
        ticks = iter(times)
        families = QualityCollector(buckets(), lambda ticks=ticks: next(ticks), DEFINITIONS).collect()
        (sample,) = next(
            family.samples for family in families if family.name == "lara_exporter_scrape_seconds"
        )
        assert sample.value == seconds


def test_openmetrics_is_served_to_who_asks_for_it():
    """The format is negotiated, and its stricter parser accepts the scrape."""
    accept = "application/openmetrics-text; version=1.0.0"
    _, kind, body = fetched(QualityCollector(busy(), clock, DEFINITIONS, freshness=Fresh()), accept=accept)
    assert kind.startswith("application/openmetrics-text")
    assert {family.name for family in parse_openmetrics(body)} >= {"lara_gpr_ratio", "lara_definition"}


def test_single_families_can_be_asked_for():
    """`name[]` works because the collector describes its families without reading the state."""
    _, _, body = fetched(QualityCollector(busy(), clock, DEFINITIONS), query="?name[]=lara_null_ratio")
    assert named(body) == {"lara_null_ratio"}


def test_registering_does_not_read_the_state():
    """An exporter starts while the state is away."""
    registry_of(QualityCollector(BrokenReader(KeyError("read")), clock, DEFINITIONS))


def test_a_registry_is_served_as_well_as_a_collector():
    """A worker's own registry goes through the same door."""
    worker = WorkerMetrics()
    worker.redis_errors.inc()
    status, _, body = fetched(worker.registry)
    assert (status, samples(body)["lara_redis_errors_total", ()]) == (200, 1)


def test_a_second_scrape_at_the_same_time_waits_its_turn():
    """A reader is never asked by two scrapes at once."""
    inside, most = [], []

    class SlowReader:
        def sums(self, spans):
            inside.append(1)
            most.append(len(inside))
            Event().wait(0.02)
            inside.pop()
            return [{} for _ in spans]

    collector = QualityCollector(SlowReader(), clock, DEFINITIONS)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: collector.collect(), range(8)))
    assert most == [1] * 8
