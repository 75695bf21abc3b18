"""What state was counted under, and how a refusal says what differs."""

import msgspec
import pytest

from attribution.definitions import BROAD, STANDARD, STRICT, Definition
from attribution.semantics import Exclusion, Semantics
from streams.state.meaning import OtherMeaning, check_meaning, meaning_of, read_meaning

OURS = meaning_of(Semantics(), 8)
CHANGES = {
    "definitions": (STRICT, STANDARD),
    "surfaces": ("chat",),
    "exclusion": Exclusion(session_prefixes=("probe-",)),
    "inferred_research": "count",
    "inference": "credit",
    "gain": "linear",
    "completion": (("others", ("user export",)),),
    "routes": ("edit",),
    "maximum_statements": 9,
    "maximum_variants": 9,
}


def changed(**fields):
    return msgspec.structs.replace(Semantics(), **fields)


def test_every_field_of_the_semantics_has_a_change_here():
    """A new setting of the semantics gets a row."""
    assert CHANGES.keys() == set(Semantics.__struct_fields__)


@pytest.mark.parametrize("field", CHANGES)
def test_whatever_can_change_a_figure_is_named(field):
    """The same meaning is accepted, another one refused by name."""
    check_meaning(meaning_of(Semantics(), 8), OURS)
    with pytest.raises(OtherMeaning, match=field.rstrip("s")):
        check_meaning(meaning_of(changed(**{field: CHANGES[field]}), 8), OURS)


@pytest.mark.parametrize("field", ["session_prefixes", "user_ids", "queries"])
def test_every_rule_of_exclusion_is_in_the_meaning(field):
    """Each of the three lists tells two meanings apart."""
    assert meaning_of(changed(exclusion=Exclusion(**{field: ("x",)})), 8) != OURS


def said(theirs, ours=OURS):
    with pytest.raises(OtherMeaning) as refusal:
        check_meaning(theirs, ours)
    return str(refusal.value)


def test_a_definition_changed_under_its_version_is_called_so():
    """Not "changed": that one is a mistake of whoever wrote it."""
    broader = Definition("standard", 1, actions=("click",))
    assert "definition `standard` says something else under the same version 1" in said(
        meaning_of(changed(definitions=(STRICT, broader, BROAD)), 8)
    )
    newer = Definition("standard", 2, actions=("click",))
    assert "definition `standard` was version 2, is 1" in said(
        meaning_of(changed(definitions=(STRICT, newer, BROAD)), 8)
    )
    assert "definition `broad` is new" in said(meaning_of(changed(definitions=(STRICT, STANDARD)), 8))


def test_other_shards_are_named():
    """An entity would be looked for in the wrong one."""
    assert "`shards` was 4, is 8" in said(meaning_of(Semantics(), 4))


def test_a_newer_and_an_older_form_are_told_apart():
    """An older program must not touch what a newer one wrote."""
    newer = OURS.replace('"form":1', '"form":2')
    assert "of newer lara than this one (form 1)" in said(newer)
    assert "of older lara than this one (form 2)" in said(OURS, newer)


@pytest.mark.parametrize("field", CHANGES)
def test_a_meaning_can_be_read_back(field):
    """Whoever compares two states reads each under its own."""
    semantics = changed(**{field: CHANGES[field]})
    assert read_meaning(meaning_of(semantics, 5)) == (semantics, 5)


def test_the_meaning_of_another_program_cannot_be_read():
    """Its fields may mean something else."""
    with pytest.raises(OtherMeaning, match="form 99"):
        read_meaning('{"form": 99}')
