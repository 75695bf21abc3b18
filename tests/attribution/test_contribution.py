"""What one entity adds to the counters of a minute."""

import pytest

from attribution.contribution import (
    BY_LINEAGE,
    CREDITING,
    FAILURE_SIGNALS,
    RESOLUTIONS,
    action_contribution,
    counter,
    difference,
    retrieval_contribution,
)
from attribution.semantics import minute_of
from attribution.statements import Offer, Route
from attribution.verdict import judge
from metrics.catalogue import CATALOGUE
from tests.building import DEFAULT, act, at, event, retrieval

MINUTE = minute_of(at(0))


def counted(sent, *verbs, actor="user", asset="a1"):
    """The counters of a retrieval that is credited with these verbs, all in one minute."""
    record = event(sent)
    route = (Route((asset,), (asset,)),)
    offers = [Offer(act(verb, id=verb, actor=actor, asset_id=asset), "explicit", route) for verb in verbs]
    found = retrieval_contribution(record, judge(record, offers, None, DEFAULT), DEFAULT)
    assert {minute for minute, _ in found} == {minute_of(record.ts)}
    return {name: count for (_, name), count in found.items()}


def acted(resolution, cross_session=False, **fields):
    found = action_contribution(act(**fields), resolution, cross_session, DEFAULT)
    assert {minute for minute, _ in found} == {minute_of(at(120))}
    return {name: count for (_, name), count in found.items()}


def without_lineage(counters):
    return {name: count for name, count in counters.items() if not name.startswith("lineage_")}


def lineage(counters):
    return {name for name in counters if name.startswith("lineage_logged")}


# --- retrievals -------------------------------------------------------------------------------------


def test_a_retrieval_without_evidence_is_counted_and_nothing_else():
    """That it is unobserved or pending is what the reader finds missing."""
    assert without_lineage(counted(retrieval(role="browse", surface="chat"))) == {
        "retrievals|browse|chat": 1,
        "layer1_retrievals|browse|chat": 1,
    }


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"returned": None}, {"retrievals", "retrievals_without_list"}),
        ({"returned": []}, {"retrievals", "layer1_retrievals", "retrievals_null"}),
        ({"returned": [], "page_of": "r0"}, {"retrievals", "layer1_retrievals"}),
        ({"returned": [None]}, {"retrievals", "layer1_retrievals"}),
    ],
    ids=["no list", "empty", "empty page", "no ids"],
)
def test_a_null_result_is_a_known_empty_list_that_is_no_page(fields, expected):
    """A list that was not logged is outside Layer 1."""
    names = {name.partition("|")[0] for name in without_lineage(counted(retrieval(**fields)))}
    assert names == expected


def test_labels_are_closed_vocabularies():
    """What a producer writes is folded before it is counted."""
    assert counted(retrieval(role="sing", surface="moon"))["retrievals|unspecified|other"] == 1
    assert counted(retrieval())["retrievals|unspecified|unknown"] == 1


def test_evidence_is_counted_for_each_definition_apart():
    """An export is positive for all three, a click for broad; each makes its definition evidenced."""
    export = counted(retrieval(), "export")
    click = counted(retrieval(), "click")
    for definition in ("strict", "standard", "broad"):
        for name in ("retrievals_positive", "retrievals_evidenced"):
            key = counter(name, definition, "unspecified", "unknown")
            assert export[key] == 1
            assert (key in click) is (definition == "broad")


def test_agent_and_failure_evidence_count_for_every_definition():
    """U ∪ A ∪ D ∪ F has A, D and F in common."""
    for verbs, actor in ((["use"], "agent"), (["reject"], "user")):
        found = counted(retrieval(request_id="q1"), *verbs, actor=actor)
        assert sum(name.startswith("retrievals_evidenced|") for name in found) == 3
        assert not any(name.startswith("retrievals_positive|") for name in found)


def test_signals_corrections_and_confirmed_use_are_counted():
    """Each under its own name."""
    found = counted(retrieval(request_id="q1"), "reject", "correct")
    assert found["retrievals_failed|unspecified|unknown"] == 1
    assert found["retrievals_failed_by_signal|rejected|unspecified|unknown"] == 1
    assert found["retrievals_corrected|unspecified|unknown"] == 1
    record = event(retrieval(request_id="q1"))
    route = (Route(("a1",), ("a1",)),)
    both = [
        Offer(act("use", id="1", actor="agent"), "explicit", route),
        Offer(act(id="2"), "explicit", route),
    ]
    confirmed = retrieval_contribution(record, judge(record, both, None, DEFAULT), DEFAULT)
    assert confirmed[MINUTE, "retrievals_agent_use_confirmed|unspecified|unknown"] == 1
    assert confirmed[MINUTE, "retrievals_agent_consumed|unspecified|unknown"] == 1


def test_agent_use_that_only_a_click_followed_is_not_confirmed():
    """`standard` confirms, not `broad`."""
    record = event(retrieval(request_id="q1"))
    route = (Route(("a1",), ("a1",)),)
    offers = [
        Offer(act("use", id="1", actor="agent"), "explicit", route),
        Offer(act("click", id="2"), "explicit", route),
    ]
    found = retrieval_contribution(record, judge(record, offers, None, DEFAULT), DEFAULT)
    assert (MINUTE, "retrievals_agent_use_confirmed|unspecified|unknown") not in found


def test_ranks_are_summed_over_distinct_assets():
    """The mean is made of a sum and a count."""
    found = counted(retrieval(returned=["a9", "a1"]), "export", "share")
    assert found["consumed_assets|unspecified|unknown"] == 1
    assert found["consumed_rank_sum|unspecified|unknown"] == 2


def test_what_a_retrieval_logs_is_counted_against_what_it_could():
    """A list, a role of the six and a request."""
    assert lineage(counted(retrieval(role="browse", request_id="q1"))) == {
        "lineage_logged|returned_asset_ids",
        "lineage_logged|role",
        "lineage_logged|request_id",
    }
    assert lineage(counted(retrieval(returned=None, role="sing"))) == set()
    assert sum(name.startswith("lineage_expected") for name in counted(retrieval(returned=None))) == 3


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
    assert FAILURE_SIGNALS == ("rejected",)


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


# --- counters ---------------------------------------------------------------------------------------


def test_a_difference_is_what_changed_and_holds_no_zeros():
    """Added to what was before it gives what is after."""
    before, after = {(1, "a"): 1, (1, "b"): 2, (2, "c"): 3}, {(1, "b"): 5, (2, "c"): 3, (3, "d"): 1}
    assert difference(before, after) == {(1, "a"): -1, (1, "b"): 3, (3, "d"): 1}
    assert difference(before, before) == {}
    assert difference({}, after) == after


def test_every_counter_of_the_figures_is_one_that_something_contributes():
    """A row of the catalogue that reads a counter nobody writes would be 0 for ever."""
    offers = ("export", "reject", "correct", "click")
    written = {
        *counted(retrieval(returned=["a9", "a1"], role="browse", request_id="q1"), *offers),
        *counted(retrieval(returned=[], role="browse", request_id="q1")),
        *counted(retrieval(returned=None, request_id="q1"), "use", "export", actor="agent"),
        *acted("explicit", cross_session=True, asset_id="a1"),
        "retrievals_delegated|x|y",
        "retrievals_agent_use_confirmed|x|y",
    }
    names = {name.partition("|")[0] for name in written}
    for figure in CATALOGUE:
        for term in (*figure.formula.numerator, *figure.formula.denominator):
            assert term.counter.partition("|")[0] in names
