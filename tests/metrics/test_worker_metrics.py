import pytest
from prometheus_client import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from metrics.worker_metrics import DISPOSITIONS, EVENT_TYPES, EXEMPLAR_ID_CHARACTERS, STAGES, WorkerMetrics

# Contract, section 5: the worker's counters and histograms, in processing time.
FAMILIES = {
    "lara_events": ("counter", {"type", "disposition"}),
    "lara_events_ahead": ("counter", set()),
    "lara_lag_seconds": ("gauge", {"topic", "partition"}),
    "lara_assigned_partitions": ("gauge", set()),
    "lara_stage_seconds": ("histogram", {"stage"}),
    "lara_evidence_delay_seconds": ("histogram", set()),
    "lara_redis_errors": ("counter", set()),
    "lara_commit_retries": ("counter", set()),
    "lara_bound_hits": ("counter", {"topic"}),
    "lara_rewinds": ("counter", {"reason"}),
    "lara_losses": ("counter", {"topic", "reason"}),
    "lara_stalled_seconds": ("gauge", set()),
    "lara_out_of_reach": ("gauge", {"service"}),
}


@pytest.fixture
def worker():
    return WorkerMetrics()


def value(worker, name, **labels):
    return worker.registry.get_sample_value(name, labels)


def families(worker):
    return {family.name: family for family in parse_text(generate_latest(worker.registry).decode())}


def test_a_worker_has_the_families_of_the_contract(worker):
    """Their kinds and labels, and nothing else."""
    worker.lag_seconds.labels("lara.actions", "0").set(1)
    worker.rewinds.labels("gap").inc()
    worker.losses.labels("lara.actions", "retention").inc()
    found = {name: family for name, family in families(worker).items() if not name.endswith("_created")}
    assert {name: family.type for name, family in found.items()} == {
        name: kind for name, (kind, _) in FAMILIES.items()
    }
    for name, (_, labels) in FAMILIES.items():
        assert set(found[name].samples[0].labels) - {"le"} == labels


def test_every_disposition_of_every_type_is_there_from_the_start(worker):
    """A counter that appears with its first increase hides that increase from a rate."""
    for event_type in (*EVENT_TYPES, "unknown"):
        for disposition in DISPOSITIONS:
            assert value(worker, "lara_events_total", type=event_type, disposition=disposition) == 0
    assert all(value(worker, "lara_stage_seconds_count", stage=stage) == 0 for stage in STAGES)


def test_dispositions_are_those_of_the_contract_in_order():
    """First that fits."""
    expected = "tombstone invalid late synthetic duplicate conflict applied"
    assert " ".join(DISPOSITIONS) == expected


def test_events_are_counted_by_type_and_disposition(worker):
    """Whole batches can be added at once."""
    worker.count_event("retrieval", "applied", 7)
    worker.count_event("retrieval", "applied")
    assert value(worker, "lara_events_total", type="retrieval", disposition="applied") == 8


def test_what_a_producer_writes_never_becomes_a_label(worker):
    """A type that the contract does not have is counted as `unknown`."""
    worker.count_event("hologram", "invalid")
    assert value(worker, "lara_events_total", type="unknown", disposition="invalid") == 1
    assert value(worker, "lara_events_total", type="hologram", disposition="invalid") is None


def test_an_unknown_disposition_is_an_error(worker):
    """Dispositions sum to the records read only if there is no other."""
    with pytest.raises(ValueError, match="no disposition"):
        worker.count_event("retrieval", "ignored")


def test_two_workers_share_nothing(worker):
    """No registry at module level: two workers in one process count apart."""
    other = WorkerMetrics()
    other.redis_errors.inc()
    assert value(worker, "lara_redis_errors_total") == 0
    assert value(other, "lara_redis_errors_total") == 1


def test_the_maturity_horizon_is_a_bucket_of_the_evidence_delay(worker):
    """It can be read off which share of the evidence came before its retrieval was called settled."""
    worker.evidence_delay_seconds.observe(1800)
    worker.evidence_delay_seconds.observe(1801)
    assert value(worker, "lara_evidence_delay_seconds_bucket", le="1800.0") == 1


def exemplars(worker):
    """The exemplars of the evidence delay, as the worker serves them."""
    lines = generate_openmetrics(worker.registry).decode().splitlines()
    return [line.split(" # ")[1] for line in lines if " # {" in line]


def test_an_exemplar_names_the_retrieval_behind_a_delay():
    """With the setting on, the bucket that an action fell into names its retrieval."""
    worker = WorkerMetrics(exemplars=True)
    worker.observe_delay(2.0, "r1")
    (exemplar,) = exemplars(worker)
    assert exemplar.startswith('{retrieval_id="r1"} 2.0')


def test_no_id_is_in_the_metrics_unless_asked_for(worker):
    """Off by default, as no id and no text of a user is ever a label."""
    worker.observe_delay(2.0, "r1")
    assert exemplars(worker) == []
    assert value(worker, "lara_evidence_delay_seconds_count") == 1


def test_an_id_that_is_too_long_is_no_exemplar():
    """OpenMetrics bounds an exemplar; the delay counts all the same."""
    worker = WorkerMetrics(exemplars=True)
    worker.observe_delay(2.0, "r" * EXEMPLAR_ID_CHARACTERS)
    worker.observe_delay(20.0, "r" * (EXEMPLAR_ID_CHARACTERS + 1))
    assert len(exemplars(worker)) == 1
    assert value(worker, "lara_evidence_delay_seconds_count") == 2
