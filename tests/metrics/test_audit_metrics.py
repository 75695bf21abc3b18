"""What the exporter tells of the audits of the state."""

from metrics.audit_metrics import AuditCollector, Found


def test_before_the_first_audit_nothing_is_told():
    """A drift of 0 that nobody found would be worse than none."""
    assert AuditCollector().collect() == []


def test_every_family_that_is_described_is_told_of_the_last_audit():
    """With the values found, under the names that were promised."""
    audits = AuditCollector()
    audits.found = Found(finished=12.5, drift=3, entities=40, minutes=7)
    told = {family.name: [sample.value for sample in family.samples] for family in audits.collect()}
    assert told == {
        "lara_audit_finished_timestamp_seconds": [12.5],
        "lara_audit_drift": [3],
        "lara_audit_entities": [40],
        "lara_audit_minutes": [7],
    }
    assert [family.name for family in audits.describe()] == list(told)
