"""Every field of the contract is described, once, and nothing else is."""

import pytest

from attribution.descriptions import EVENT_FIELDS, EVIDENCE_KINDS, OUTPUT_FIELDS, described
from attribution.parsing import FORMS
from streams.commands.explain.words import EVIDENCE
from streams.commands.schemas.outputs import PARTS, RECORDS

EVENT_RECORDS = {event_type: {"type", *form.kinds} for event_type, form in FORMS.items()}
STRUCTS = [*(record for records in RECORDS.values() for record in records), *PARTS]
OUTPUT_RECORDS = {struct.__name__: set(struct.__struct_fields__) for struct in STRUCTS}
TABLES = pytest.mark.parametrize(
    ("table", "records"),
    [(EVENT_FIELDS, EVENT_RECORDS), (OUTPUT_FIELDS, OUTPUT_RECORDS)],
    ids=["events", "outputs"],
)


@TABLES
def test_every_field_is_described_in_a_sentence(table, records):
    """Of every record."""
    for record, names in records.items():
        for name in names:
            text = described(table, record, name)
            assert text[0].isupper() or text[0] == "`"
            assert text.endswith(".")


@TABLES
def test_nothing_is_described_that_is_not_there(table, records):
    """Every row is of some record, and none is hidden by rows of all its records."""
    for row in table:
        record, _, name = row.rpartition(".")
        if record:
            assert name in records[record]
        else:
            assert [
                one for one, names in records.items() if name in names and f"{one}.{name}" not in table
            ], row


@TABLES
def test_a_row_of_its_own_says_something_of_its_own(table, records):
    """Else it would be said twice."""
    assert len(set(table.values())) == len(table)


def test_the_kinds_of_evidence_are_those_that_explain_knows():
    """One vocabulary."""
    assert set(EVIDENCE_KINDS) == {*EVIDENCE, "user"}  # of which definitions tell
