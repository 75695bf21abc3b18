"""What one entity adds to the counters of a minute."""

import pytest

from attribution.contribution import (
    BY_LINEAGE,
    CREDITING,
    RESOLUTIONS,
    action_contribution,
    counter,
    difference,
    prompt_contribution,
    session_contribution,
)
from attribution.semantics import minute_of
from metrics.buckets import Span
from metrics.catalogue import CATALOGUE
from tests.building import DEFAULT, act, agent, at, event, judgement, prompt, retrieval, settle, user


def acted(resolution, cross_session=False, agreed=None, **fields):
    found = action_contribution(act(**fields), resolution, cross_session, agreed, DEFAULT)
    assert {minute for minute, _ in found} == {minute_of(at(120))}
    return {name: count for (_, name), count in found.items()}


# --- actions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", RESOLUTIONS)
def test_every_resolution_is_counted_and_only_some_credit(resolution):
    """An outcome is attributed if it credits a retrieval."""
    found = acted(resolution, document_id="d1", surface="chat")
    assert found[counter("actions", resolution)] == 1
    assert found["outcomes|chat|export"] == 1
    assert ("attributed_outcomes|chat|export" in found) is (resolution in CREDITING)
    assert ("lineage_logged|source_retrieval_id" in found) is (resolution in BY_LINEAGE)


def test_the_resolutions_are_those_of_the_contract():
    """By lineage rules 1 to 3, crediting also rules 4 and 5."""
    assert (
        *("explicit", "inherited", "document", "request", "inferred", "none", "refuted", "dangling"),
    ) == RESOLUTIONS
    assert {"explicit", "inherited", "document"} == BY_LINEAGE
    assert {"request", "inferred"} == CREDITING - BY_LINEAGE


@pytest.mark.parametrize(
    ("actor", "verb", "outcome"),
    [("user", "export", True), ("user", "share", True), ("user", "download", True), ("user", "edit", False)]
    + [("agent", "export", False), ("agent", "show", False)],
)
def test_an_outcome_is_an_export_share_or_download_by_the_user(actor, verb, outcome):
    """What an agent exports is none."""
    assert (f"outcomes|unknown|{verb}" in acted("explicit", actor=actor, verb=verb)) is outcome


def test_an_outcome_across_sessions_is_counted_beside():
    """Only outcomes are."""
    assert acted("explicit", cross_session=True)["cross_session_outcomes|unknown|export"] == 1
    assert not any("cross" in name for name in acted("explicit"))
    assert not any("cross" in name for name in acted("explicit", cross_session=True, verb="edit"))


@pytest.mark.parametrize(
    ("fields", "traceable"),
    [
        ({}, False),
        ({"asset_id": "a"}, True),
        ({"placement_id": "p"}, True),
        ({"document_id": "d"}, True),
        ({"claim": "r"}, False),
    ],
    ids=str,
)
def test_an_action_that_names_nothing_is_not_expected_to_be_traceable(fields, traceable):
    """An asset, a placement or a document makes it so; every action could name an asset."""
    found = acted("none", **fields)
    assert ("lineage_expected|source_retrieval_id" in found) is traceable
    assert found["lineage_expected|consumed_asset_id"] == 1
    assert ("lineage_logged|consumed_asset_id" in found) is ("asset_id" in fields)


@pytest.mark.parametrize(
    ("agreed", "expected"),
    [(None, set()), (True, {"inference_compared"}), (False, {"inference_compared", "inference_differs"})],
)
def test_inference_is_compared_only_where_it_can_be(agreed, expected):
    """It agrees, differs, or has nothing to say."""
    assert {name for name in acted("explicit", agreed=agreed) if name.startswith("inference")} == expected


# --- prompts and sessions ---------------------------------------------------------------------------


def asked(retrieved=False, intents=None, **fields):
    found = prompt_contribution(event(prompt(surface="chat", **fields)), retrieved, intents, DEFAULT)
    assert {minute for minute, _ in found} == {minute_of(at(0))}
    assert set(found.values()) == {1}
    return {name.removesuffix("|chat") for _, name in found}


@pytest.mark.parametrize(
    ("intents", "retrieved", "expected"),
    [
        (None, False, set()),
        (None, True, {"prompts_with_retrieval"}),
        (0, False, {"intent_labelled_prompts"}),
        (0, True, {"intent_labelled_prompts", "prompts_with_retrieval"}),
        (1, False, {"intent_labelled_prompts", "prompts_needing_retrieval", "prompts_missed"}),
        (1, True, {"intent_labelled_prompts", "prompts_needing_retrieval", "prompts_with_retrieval"}),
        (
            2,
            False,
            {
                *("intent_labelled_prompts", "prompts_needing_retrieval", "prompts_missed"),
                "multi_intent_prompts",
            },
        ),
    ],
)
def test_a_prompt_is_counted_by_its_label_and_whether_it_fired(intents, retrieved, expected):
    """Missed is a need without a retrieval; unlabelled prompts are in no share of labelled ones."""
    assert asked(retrieved, intents) == {"prompts", "prompts_by_route|other", *expected}


@pytest.mark.parametrize(
    ("flag", "retrieved", "expected"),
    [
        (None, True, set()),
        (None, False, set()),
        (False, True, {"flagged_prompts_with_retrieval"}),
        (True, True, {"flagged_prompts_with_retrieval", "search_reformulations"}),
        (False, False, {"flagged_prompts_without_retrieval"}),
        (True, False, {"flagged_prompts_without_retrieval", "downstream_corrections"}),
    ],
)
def test_asking_again_is_a_search_again_or_a_correction_by_what_the_prompt_fired(flag, retrieved, expected):
    """Prompts without the flag are in neither."""
    plain = {"prompts", "prompts_by_route|other", "prompts_with_retrieval"}
    assert asked(retrieved, reformulation=flag) - plain == expected


@pytest.mark.parametrize(("route", "label"), [("edit", "edit"), ("sing", "other"), (None, "other")])
def test_a_route_is_a_configured_label_or_other(route, label):
    """Absent is other, too."""
    assert f"prompts_by_route|{label}" in asked(route=route)


@pytest.mark.parametrize("in_session", [True, False])
@pytest.mark.parametrize("by_lineage", [True, False])
def test_a_session_is_abandoned_by_each_measure_apart(in_session, by_lineage):
    """In the minute and on the surface of its earliest retrieval."""
    found = session_contribution(at(61), "moon", in_session, by_lineage, DEFAULT)
    expected = {"sessions|other"}
    expected |= set() if in_session else {"sessions_abandoned|session|other"}
    expected |= set() if by_lineage else {"sessions_abandoned|lineage|other"}
    assert found == {(minute_of(at(61)), name): 1 for name in expected}


# --- counters ---------------------------------------------------------------------------------------


def test_a_difference_is_what_changed_and_holds_no_zeros():
    """Added to what was before it gives what is after."""
    before, after = {(1, "a"): 1, (1, "b"): 2, (2, "c"): 3}, {(1, "b"): 5, (2, "c"): 3, (3, "d"): 1}
    assert difference(before, after) == {(1, "a"): -1, (1, "b"): 3, (3, "d"): 1}
    assert difference(before, before) == {}
    assert difference({}, after) == after


EVERYTHING = (
    *(prompt(f"q{n}", route="edit", reformulation=True) for n in range(4)),
    judgement("intent", event_id="i0", request_id="q0", retrieval_intents=0),
    judgement("intent", event_id="i1", request_id="q1", retrieval_intents=2),
    judgement("intent", event_id="i3", request_id="q3", retrieval_intents=2),
    judgement("goal", request_id="q1", reached=True),
    judgement("relevance", event_id="g1", query="card", asset_id="a1", grade=1),
    judgement("relevance", event_id="g0", query="poster", asset_id="a1", grade=0),
    retrieval("r0", ["a1"], request_id="q0", role="browse", latency_ms=5, tokens=7),
    retrieval("r1", ["a1"], request_id="q1", query="card", need_id="n", latency_ms=5, tokens=7),
    retrieval("r2", ["a1"], 60, request_id="q2", query="card", need_id="n"),
    retrieval("r3", [], request_id="q2"),
    retrieval("r4", None, request_id="q2", session_guid="s2"),
    retrieval("r5", ["a1"], request_id="q5", query="poster"),
    *(
        user(verb, event_id=verb, consumed_asset_id="a1", source_retrieval_id="r1")
        for verb in ("export", "click", "reject", "correct")
    ),
    user("export", event_id="cross", consumed_asset_id="a1", source_retrieval_id="r1", session_guid="s9"),
    agent("use", request_id="q1", consumed_asset_id="a1", source_retrieval_id="r1"),
    agent("edit", request_id="q9", consumed_asset_id="a1", source_retrieval_id="r1"),
)


def test_every_counter_of_the_figures_is_one_that_something_contributes():
    """A row of the catalogue that reads a counter nobody writes would be 0 for ever."""
    (totals,) = settle(*EVERYTHING).store.sums([Span(None, 10**9)])
    written = {name.partition("|")[0] for name in totals}
    read = {
        term.counter.partition("|")[0]
        for figure in CATALOGUE
        for term in (*figure.formula.numerator, *figure.formula.denominator)
    }
    assert read <= written
    assert written <= read
