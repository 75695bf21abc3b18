"""The state of one entity: merging what it is sent and told, and its stored form."""

from itertools import permutations

import msgspec
import pytest

from attribution.entities import (
    NOBODY,
    Entity,
    Said,
    decode,
    encode,
    key_of,
    split_key,
    with_message,
    with_record,
)
from attribution.events import standing_order
from attribution.statements import (
    Address,
    Answer,
    Asked,
    Decision,
    Excluded,
    Logged,
    Message,
    Named,
    Offer,
    Placed,
    Route,
    Shown,
)
from tests.building import act, agent, entity, event, events, judgement, placement, prompt, retrieval

CONTENTS = (
    Named(),
    Excluded(),
    Asked("d1"),
    Placed(event(placement()), True),
    act(),
    Logged(5, "s1", ("a1", None)),
    Logged(5, "s1", None),
    Shown(7),
    Offer(act(), "inherited", (Route(("a", "b"), ("c",), ("p1", "p0")),)),
    Decision("document", ("r1", "r2"), True, act()),
    Answer("granted", "s1"),
    None,
)
SENT = (
    prompt(text="hi"),
    retrieval(returned=["a1", None]),
    placement(op="remove"),
    agent("show", shown_asset_ids=["a1"]),
    judgement("goal", request_id="q1", reached=False),
)


def told(version, content, sender="action:x", subject="x", topic="offer"):
    return Message(Address("retrieval:r1", topic, subject), sender, version, content, heal=False)


def said(found):
    return {topic: dict(statements) for topic, statements in found.said.items()}


# --- the stored form --------------------------------------------------------------------------------


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: type(content).__name__)
def test_every_kind_of_statement_comes_back_from_the_stored_form(content):
    """None, "I no longer say anything", is a statement too and is kept with its version."""
    before = Entity(9, (), {"topic": {("action:x", "x"): Said(4, content), ("action:y", ""): Said(5, None)}})
    assert decode(9, encode(before)) == before


@pytest.mark.parametrize("sent", SENT, ids=lambda sent: sent["type"])
def test_every_type_of_event_comes_back_from_the_stored_form(sent):
    """With all its fields, and with the digest."""
    before = entity(sent)
    assert decode(1, encode(before)) == before


def test_former_addresses_come_back_from_the_stored_form():
    """Whom it no longer tells anything is part of an entity."""
    former = frozenset({Address("document:d1", "act", "x"), Address("retrieval:r1", "offer", "")})
    before = NOBODY._replace(version=3, former=former)
    assert decode(3, encode(before)).former == former


def test_the_version_is_the_stores_and_not_in_the_stored_form():
    """The same content under another version has the same bytes."""
    one = entity(*SENT)
    assert encode(one) == encode(one._replace(version=77))
    assert decode(77, encode(one)).version == 77


def test_the_stored_form_does_not_depend_on_the_order_of_former_addresses():
    """Two workers write the same bytes."""
    addresses = [Address(f"document:{name}", "act", "x") for name in "abcdef"]
    forms = {encode(NOBODY._replace(former=frozenset(order))) for order in permutations(addresses)}
    assert len(forms) == 1


def test_foreign_bytes_are_no_entity():
    """They raise, so that nothing is counted from them."""
    with pytest.raises(msgspec.DecodeError):
        decode(1, b"{}")


# --- records ----------------------------------------------------------------------------------------


def test_the_smallest_record_stands_whatever_came_first():
    """Merging is free of order."""
    records = events(retrieval(seconds=2), retrieval(seconds=1), retrieval(seconds=1, query="card"))
    for order in permutations(records):
        found = NOBODY
        for one in order:
            found = with_record(found, one, 16)
        assert list(found.own) == sorted(records, key=standing_order)
        assert found.standing is found.own[0]


def test_a_record_that_is_known_changes_nothing():
    """The very same entity comes back, so that nothing is written."""
    before = entity(retrieval())
    assert with_record(before, event(retrieval()), 16) is before
    assert NOBODY.standing is None


def test_of_many_records_under_one_identity_the_smallest_are_kept():
    """At the bound the largest falls out, in any order; one that would fall out at once changes nothing."""
    records = events(*(retrieval(seconds=second) for second in range(16 + 2)))
    forwards = backwards = NOBODY
    for one, other in zip(records, reversed(records), strict=True):
        forwards, backwards = with_record(forwards, one, 16), with_record(backwards, other, 16)
    assert forwards.own == backwards.own == tuple(records[:16])
    assert with_record(forwards, records[-1], 16) is forwards


# --- statements -------------------------------------------------------------------------------------


def test_the_newest_statement_of_a_sender_about_a_subject_is_kept():
    """Whatever arrives when, the highest version wins."""
    messages = [told(1, Shown(1)), told(2, None), told(3, Shown(3))]
    for order in permutations(messages):
        found = NOBODY
        for one in order:
            found = with_message(found, one)
        assert said(found) == {"offer": {("action:x", "x"): Said(3, Shown(3))}}


def test_an_older_or_equal_statement_changes_nothing():
    """The very same entity comes back."""
    before = with_message(NOBODY, told(2, Shown(1)))
    assert with_message(before, told(2, Shown(9))) is before
    assert with_message(before, told(1, None)) is before


def test_a_statement_that_was_taken_back_is_kept_as_such():
    """So that an older one that comes late does not bring it back."""
    taken_back = with_message(with_message(NOBODY, told(1, Shown(1))), told(2, None))
    assert said(taken_back) == {"offer": {("action:x", "x"): Said(2, None)}}
    assert with_message(taken_back, told(1, Shown(1))) is taken_back


def test_senders_and_subjects_and_topics_are_kept_apart():
    """One sender may say several things, several may speak about one."""
    found = NOBODY
    for one in (
        told(1, Shown(1)),
        told(1, Shown(2), subject="y"),
        told(1, Shown(3), sender="document:d"),
        told(1, Shown(4), topic="shown"),
    ):
        found = with_message(found, one)
    assert sorted(content.ts for _, _, content in found.heard("offer")) == [1, 2, 3]
    assert [content.ts for _, _, content in found.heard("shown")] == [4]


def test_only_what_says_something_is_heard():
    """A statement taken back is as good as none."""
    found = entity(offer=[("action:x", "x", None), ("action:y", "y", Shown(1))])
    assert [(sender, subject) for sender, subject, _ in found.heard("offer")] == [("action:y", "y")]
    assert found.hears_from("offer", "action:y")
    assert not found.hears_from("offer", "action:x")
    assert not found.hears_from("shown", "action:y")
    assert list(found.heard("nothing")) == []


@pytest.mark.parametrize("identity", ["r1", "a:b", ":", "place:d/p", "🂡"])
def test_a_key_names_kind_and_identity(identity):
    """Ids may hold the separator."""
    assert split_key(key_of("action", identity)) == ("action", identity)
