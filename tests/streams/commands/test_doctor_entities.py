"""What the doctor reads out of entities, each oddity from the fewest records that show it."""

import pytest

from attribution.semantics import Exclusion, Semantics
from tests.building import DAY, agent, judgement, placement, prompt, retrieval, user
from tests.streams.commands.examined import examined, findings

CLAIM = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}
WITH_IDS = {"conversation_id": "c1", "user_id": "u1", "query": "balloons"}


def clean(*sent):
    """Findings beyond those that so small records always give."""
    usual = {"counted_retrieval_ids", "counted_request_ids", "without_show", "without_user", "without_query"}
    return {name: one for name, one in findings(*sent).items() if name not in usual}


def test_a_full_story_has_no_finding():
    """Prompt, retrieval, placement, show and export, with all ids."""
    assert (
        findings(
            prompt("turn-1", **WITH_IDS),
            retrieval("search-1", request_id="turn-1", **WITH_IDS),
            placement("p1", "a1", 10, source_retrieval_id="search-1", actor="agent", request_id="turn-1"),
            agent("show", 20, request_id="turn-1", **WITH_IDS),
            user("export", 30, document_id="d1", **WITH_IDS),
        )
        == {}
    )


@pytest.mark.parametrize(
    ("name", "count", "examples", "sent"),
    [
        ("dangling_never_logged", 1, ("user-export",), [user("export", **CLAIM)]),
        ("dangling_out_of_reach", 1, ("user-export",), [retrieval(), user("export", 31 * DAY, **CLAIM)]),
        (
            "dangling_placement",
            2,
            ("x1", "x2"),
            [
                user("export", event_id="x1", document_id="d1", placement_id="p1"),
                user("export", event_id="x2", placement_id="p1"),
            ],
        ),
        ("unknown_retrievals", 1, ("r1",), [user("export", **CLAIM)]),
        ("refuted", 1, ("user-export",), [retrieval(returned=["a9"]), user("export", **CLAIM)]),
        ("none_with_asset", 1, ("user-export",), [user("export", consumed_asset_id="a1")]),
        (
            "none_with_asset",
            1,
            ("place:d1/p1",),
            [placement(actor="agent")],
        ),
        ("reused_retrieval_ids", 1, ("r1",), [retrieval(), retrieval(seconds=1, event_id="other")]),
        ("reused_request_ids", 1, ("q1",), [prompt(), prompt(seconds=1, event_id="other")]),
        (
            "reused_in_another_session",
            1,
            ("r1",),
            [retrieval(), retrieval(seconds=1, event_id="other", session_guid="s2")],
        ),
        ("unknown_verbs", 1, ("user-exported",), [user("exported"), user("export"), agent("use")]),
        ("shows_without_request", 1, ("agent-show",), [agent("show")]),
        (
            "mixed_conversations",
            1,
            ("q2",),
            [prompt("q1", conversation_id="c1"), prompt("q2")],
        ),
        ("other_surfaces", 1, ("e-q1",), [prompt(surface="moon"), prompt("q2", surface="chat")]),
        (
            "other_roles",
            1,
            ("r1",),
            [retrieval(role="muse"), retrieval("r2", role="browse"), retrieval("r3")],
        ),
        ("other_routes", 1, ("q1",), [prompt(route="joke"), prompt("q2", route="edit"), prompt("q3")]),
        ("holes", 1, ("r1",), [retrieval(returned=["a1", None]), retrieval("r2", returned=None)]),
        ("empty_pages", 1, ("r2",), [retrieval(), retrieval("r2", [], page_of="r1"), retrieval("r3", [])]),
        ("excluded", 1, (), [prompt(synthetic=True), prompt("q2")]),
    ],
)
def test_each_oddity_is_found_where_it_is(name, count, examples, sent):
    """And only there."""
    found = clean(*sent)[name]
    assert (found.count, found.examples) == (count, examples)


def test_what_belongs_to_nothing_odd_is_not_found():
    """A claim that holds, a removal, another copy, a show of a user."""
    found = clean(
        retrieval(),
        retrieval(),
        retrieval(seconds=1),
        user("export", **CLAIM),
        placement(op="remove", seconds=90, source_retrieval_id="r1"),
        user("show", 200),
    )
    assert set(found) == {"unknown_verbs"}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([user("export", **CLAIM)], {"dangling_never_logged", "unknown_retrievals"}),
        ([retrieval(), user("export", 31 * DAY, **CLAIM)], {"dangling_out_of_reach"}),
        ([user("export", placement_id="p1")], {"dangling_placement"}),
        ([user("helpful")], set()),
        ([retrieval(), retrieval(seconds=1, event_id="other")], {"reused_retrieval_ids"}),
        ([prompt(), prompt(seconds=1, event_id="other")], {"reused_request_ids"}),
    ],
)
def test_an_oddity_is_told_by_its_own_name_only(sent, expected):
    """Each way to dangle is another team's; feedback has no asset; one session may reuse its ids by mistake."""
    assert set(clean(*sent)) == expected


def test_removals_and_shows_of_users_are_no_records_of_a_need():
    """A removal has no source, and a user shows nothing to himself."""
    notes = examined(placement(op="remove"), placement("p2", op="place"), user("show"), agent("show"))
    assert (notes.counts["placements"], notes.counts["shows"]) == (1, 1)


@pytest.mark.parametrize(
    ("sent", "by"),
    [
        (user("export", **CLAIM), "actions"),
        (placement(source_retrieval_id="r1"), "placements and shows"),
        (agent("show", request_id="q1", source_retrieval_id="r1"), "placements and shows"),
        (retrieval("r2", page_of="r1"), "retrievals"),
        (judgement("relevance", retrieval_id="r1", asset_id="a1", grade=1), "judgements"),
        (judgement("goal", retrieval_id="r1", reached=True), "judgements"),
    ],
)
def test_a_retrieval_that_was_never_logged_is_told_with_who_names_it(sent, by):
    """So that the team can be asked."""
    assert clean(sent)["unknown_retrievals"].values == {by: 1}


def test_folded_values_are_told_by_how_often_they_came():
    """The operator sees which word to configure."""
    found = findings(prompt("q1", surface="moon"), prompt("q2", surface="mars"), prompt("q3", surface="moon"))
    assert found["other_surfaces"].values == {"moon": 2, "mars": 1}


@pytest.mark.parametrize(
    ("ids", "looks"),
    [
        (["1", "2", "3"], True),
        (["r1", "r2"], True),
        (["q-7"], True),
        ([1, 2], True),
        (["s1-r1", "s2-r1"], False),
        (["184223", "184224"], False),
        (["43336cc1-2343-4614-8726-e24f724a8631"], False),
        (["1", "9cf1a", "f3b33"], False),
    ],
)
def test_a_counter_is_no_global_id(ids, looks):
    """Unless a session, a long number or something random is in it; less than half is chance."""
    for name, make in (("counted_retrieval_ids", retrieval), ("counted_request_ids", prompt)):
        assert (name in findings(*(make(one) for one in ids))) is looks


def test_excluded_traffic_is_noted_as_such_and_as_nothing_else():
    """By itself, by its request, by its session, by the retrieval that it names."""
    notes = examined(
        prompt(synthetic=True),
        retrieval("r9", request_id="q1", surface="moon"),
        retrieval("r1", session_guid="probe-1"),
        user("export", **CLAIM),
        user("share", session_guid="probe-1", consumed_asset_id="a1"),
        semantics=Semantics(exclusion=Exclusion(("probe-",))),
    )
    assert notes.counts == {"standing": 5, "excluded": 5}
    assert not any(notes.records.values())


def test_the_notes_of_a_request_are_about_requests_that_retrieve():
    """A prompt that only chats needs no show."""
    notes = examined(
        prompt("q1"),
        retrieval("r1", request_id="q1"),
        retrieval("r2", request_id="q2"),
        retrieval("r3", request_id="q2"),
        prompt("q3"),
        agent("show", request_id="q1"),
        agent("show", event_id="x", request_id="q3"),
    )
    counts = notes.counts
    assert [counts[name] for name in ("prompts", "requests", "prompted", "shown", "unshown")] == [
        2,
        2,
        1,
        1,
        1,
    ]
