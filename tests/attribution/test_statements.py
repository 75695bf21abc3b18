"""The words in which entities speak to each other."""

from typing import get_args

import msgspec
import pytest

from attribution.statements import Act, Address, Content, Message, Route, act_of
from tests.building import at, event, user


def test_an_act_holds_what_other_entities_need_of_an_action():
    """Every field of the act is the action's own."""
    action = event(
        user(
            "edit", 5, request_id="q", surface="chat", consumed_asset_id="a", document_id="d", placement_id="p",
            source_retrieval_id="r", user_id="u", latency_ms=12.6, tokens=3,
        )
    )  # fmt: skip
    assert act_of(action, "x") == Act(
        "x",
        at(5),
        "user",
        "edit",
        "s1",
        "chat",
        "q",
        asset_id="a",
        document_id="d",
        placement_id="p",
        claim="r",
        user_id="u",
        latency_ms=13,
        tokens=3,
    )


def test_an_act_names_nothing_that_its_action_does_not():
    """Absent stays absent: no default is filled in."""
    found = act_of(event(user("edit", 5)), "x")
    assert (found.request_id, found.asset_id, found.document_id, found.placement_id, found.claim) == (
        None,
    ) * 5
    assert (found.user_id, found.latency_ms, found.tokens, found.ancestors) == (None, None, None, ())


def test_every_kind_of_statement_has_a_tag_of_its_own():
    """A stored statement can be read back as what it was."""
    tags = [kind.__struct_config__.tag for kind in get_args(Content)]
    assert len(set(tags)) == len(tags)
    assert None not in tags


@pytest.mark.parametrize("kind", get_args(Content))
def test_statements_are_frozen(kind):
    """What was said is not changed by whoever hears it."""
    assert kind.__struct_config__.frozen


def test_a_message_carries_its_senders_version():
    """Of two, the receiver can keep the newer."""
    message = Message(Address("document:d", "act", "x"), "action:x", 3, None, heal=False)
    assert (message.version, message.content, message.address.receiver) == (3, None, "document:d")


def test_a_route_without_placements_is_an_own_claim():
    """`through` is empty by default, and routes with the same assets are equal."""
    assert Route(("a",), ("a",)) == Route(("a",), ("a",), ())
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(Route(("a",), ())), type=Route) == Route(("a",), ())
