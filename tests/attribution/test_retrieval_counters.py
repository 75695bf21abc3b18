"""What one retrieval adds to the counters of the minute it fired."""

import pytest

from attribution.contribution import counter
from attribution.diagnosis import JUDGED
from attribution.retrieval_counters import retrieval_contribution
from attribution.semantics import FAILURE_SIGNALS, SHADOW_SIGNAL, Semantics, minute_of
from attribution.statements import Offer, Route
from attribution.verdict import Hints, evidence_of, judge
from tests.building import DEFAULT, act, at, event, retrieval

MINUTE = minute_of(at(0))
ROUTE = (Route(("a1",), ("a1",)),)
BILLION = 1_000_000_000

NOTHING_SAID = Hints()


def contributed(sent, *offers, hints=NOTHING_SAID, semantics=DEFAULT):
    """The counters of a retrieval with this evidence, all in one minute."""
    record = event(sent)
    verdict = judge(record, evidence_of(record, offers, None), hints, semantics)
    found = retrieval_contribution(record, verdict, semantics)
    assert {minute for minute, _ in found} == {minute_of(record.ts)}
    assert 0 not in found.values()
    return {name: count for (_, name), count in found.items()}


def counted(sent, *verbs, actor="user", asset="a1", **options):
    """The counters of a retrieval that is credited with these verbs."""
    route = (Route((asset,), (asset,)),)
    offers = [Offer(act(verb, id=verb, actor=actor, asset_id=asset), "explicit", route) for verb in verbs]
    return contributed(sent, *offers, **options)


def names(counters):
    """The counters without the labels role and surface, lineage and diagnosis."""
    apart = ("lineage_", "diagnosis")
    return {name.rsplit("|", 2)[0] for name in counters if not name.startswith(apart)}


def without_lineage(counters):
    return {name: count for name, count in counters.items() if not name.startswith("lineage_")}


def lineage(counters):
    return {name for name in counters if name.startswith("lineage_logged")}


# --- evidence ---------------------------------------------------------------------------------------


def test_a_retrieval_without_evidence_is_counted_and_nothing_else():
    """That it is unobserved, or pending while it is young, is for the reader to say."""
    assert without_lineage(counted(retrieval(role="browse", surface="chat"))) == {
        "retrievals|browse|chat": 1,
        "layer1_retrievals|browse|chat": 1,
        "grids|browse|chat": 1,
        "diagnosis_quiet|unjudged|browse|chat": 1,
        "diagnosis_young|pending|browse|chat": 1,
    }


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"returned": None}, {"retrievals", "retrievals_without_list"}),
        ({"returned": []}, {"retrievals", "layer1_retrievals", "retrievals_null"}),
        ({"returned": [], "page_of": "r0"}, {"retrievals", "layer1_retrievals"}),
        ({"returned": [None]}, {"retrievals", "layer1_retrievals", "grids"}),
    ],
    ids=["no list", "empty", "empty page", "no ids"],
)
def test_a_null_result_is_a_known_empty_list_that_is_no_page(fields, expected):
    """A list that was not logged is outside Layer 1."""
    assert names(counted(retrieval(**fields))) == expected


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
    used, exported = (
        Offer(act("use", id="1", actor="agent"), "explicit", ROUTE),
        Offer(act(id="2"), "explicit", ROUTE),
    )
    confirmed = contributed(retrieval(request_id="q1"), used, exported)
    assert confirmed["retrievals_agent_use_confirmed|unspecified|unknown"] == 1
    assert confirmed["retrievals_agent_consumed|unspecified|unknown"] == 1


def test_agent_use_that_only_a_click_followed_is_not_confirmed():
    """`standard` confirms, not `broad`."""
    used = Offer(act("use", id="1", actor="agent"), "explicit", ROUTE)
    clicked = Offer(act("click", id="2"), "explicit", ROUTE)
    found = contributed(retrieval(request_id="q1"), used, clicked)
    assert "retrievals_agent_use_confirmed" not in names(found)


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


# --- signals ----------------------------------------------------------------------------------------


def test_every_signal_that_holds_is_counted_and_the_failure_once():
    """One retrieval may have several signals."""
    hints = Hints(by_need=(at(1),), by_words=(at(1),), substituted=True)
    found = counted(retrieval(role="act_on"), "reject", hints=hints)
    for signal in FAILURE_SIGNALS:
        assert found[counter("retrievals_failed_by_signal", signal, "act_on", "unknown")] == 1
    assert found["retrievals_failed|act_on|unknown"] == 1


@pytest.mark.parametrize(("inferred", "failed"), [("shadow", False), ("count", True)])
def test_the_shadow_signal_is_counted_by_its_name_and_a_failure_only_where_configured(inferred, failed):
    """Evidence of all definitions, too."""
    hints = Hints(by_words=(at(1),))
    found = names(counted(retrieval(), hints=hints, semantics=Semantics(inferred_research=inferred)))
    assert f"retrievals_failed_by_signal|{SHADOW_SIGNAL}" in found
    assert ("retrievals_failed" in found) is failed
    assert ("retrievals_evidenced|strict" in found) is failed


# --- Layer 0 and Layer 1 ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("intents", "expected"),
    [
        (None, {"layer1_retrievals"}),
        (0, {"routing_labelled_retrievals", "misrouted_retrievals"}),
        (1, {"routing_labelled_retrievals", "layer1_retrievals"}),
    ],
)
def test_a_misrouted_retrieval_leaves_layer_1_and_nothing_else(intents, expected):
    """It is still a retrieval with a grid, and has no scores."""
    hints = Hints(intents=intents, grades={"a1": 1})
    found = names(counted(retrieval(), hints=hints))
    scored = {name for name in found if "_sum" in name or name.startswith(("judged", "ranked"))}
    assert found - scored == {"retrievals", "grids", *expected}
    assert bool(scored) is (intents != 0)


def test_a_misrouted_null_result_is_in_no_null_rate():
    """Its list was not asked for."""
    assert "retrievals_null" not in names(counted(retrieval(returned=[]), hints=Hints(intents=0)))


def test_scores_are_summed_in_billionths():
    """Those of value 0 add nothing; a ranked retrieval is judged as well."""
    found = counted(retrieval(returned=["a9", "a1"]), hints=Hints(grades={"a1": 1}))
    labels = "|unspecified|unknown"
    assert {name: count for name, count in found.items() if "_sum" in name} == {
        "precision_sum|5" + labels: BILLION // 5,
        "precision_sum|10" + labels: BILLION // 10,
        "judged_coverage_sum|5" + labels: BILLION // 2,
        "judged_coverage_sum|10" + labels: BILLION // 2,
        "recall_sum|5" + labels: BILLION,
        "recall_sum|10" + labels: BILLION,
        "ndcg_sum|5" + labels: 630_929_754,
        "ndcg_sum|10" + labels: 630_929_754,
        "reciprocal_rank_sum" + labels: BILLION // 2,
    }
    assert {"judged_retrievals", "ranked_retrievals"} <= names(found)


@pytest.mark.parametrize(
    ("fields", "grades", "expected"),
    [
        ({}, {}, set()),
        ({}, {"a1": 0}, {"judged_retrievals", "judged_without_relevant"}),
        ({}, {"a7": 1}, {"judged_retrievals", "ranked_retrievals"}),
        ({"returned": []}, {"a1": 1}, {"judged_retrievals", "ranked_retrievals"}),
        ({"returned": [None]}, {"a1": 1}, set()),
        ({"returned": None}, {"a1": 1}, set()),
        ({"page_of": "r0"}, {"a1": 1}, set()),
    ],
    ids=["no label", "none relevant", "not returned", "null", "no ids", "no list", "page"],
)
def test_judged_are_those_with_a_label_and_a_list_that_can_be_judged(fields, grades, expected):
    """Pages have no scores, and what has no relevant label is counted apart."""
    found = names(counted(retrieval(**fields), hints=Hints(grades=grades)))
    assert {name for name in found if name.startswith(("judged_retr", "judged_with", "ranked"))} == expected


# --- diagnosis, completion, goals, clicks -----------------------------------------------------------


def diagnosis(counters):
    return {name.rsplit("|", 2)[0] for name in counters if name.startswith("diagnosis")}


@pytest.mark.parametrize(
    ("returned", "grades", "verbs", "expected"),
    [
        (["a1"], {"a1": 1}, ["export"], {"diagnosis|working", "diagnosis_judged"}),
        (["a1"], {}, ["export"], {"diagnosis|unjudged"}),
        ([], {}, [], {"diagnosis_quiet|masked", "diagnosis_quiet_judged", "diagnosis_young|pending"}),
        (["a1"], {}, [], {"diagnosis_quiet|unjudged", "diagnosis_young|pending"}),
        ([None], {}, [], {"diagnosis|unjudged"}),
        (None, {}, [], {"diagnosis|unjudged"}),
    ],
)
def test_a_quiet_verdict_is_kept_apart_until_its_age_is_known(returned, grades, verbs, expected):
    """The reader takes the verdict if it is mature, and pending if it is young."""
    assert diagnosis(counted(retrieval(returned=returned), *verbs, hints=Hints(grades=grades))) == expected


def test_every_judged_verdict_is_a_label_of_the_diagnosis():
    """Six of the eight are judged."""
    assert len(JUDGED) == 6


@pytest.mark.parametrize(
    ("role", "actor", "verb", "completed"),
    [
        *((role, "user", verb, True) for role in ("direct_lookup", "browse") for verb in ("select", "place")),
        *((role, "user", "edit", role == "act_on") for role in ("direct_lookup", "act_on", "task_step")),
        ("act_on", "user", "select", True),
        ("generation_reference", "agent", "generate", True),
        ("generation_reference", "agent", "use", True),
        ("generation_reference", "agent", "export", False),
        ("generation_reference", "user", "select", False),
        *(
            (role, "user", "export", True)
            for role in ("browse", "generation_reference", "contextual", "sing")
        ),
        *((role, "user", "select", False) for role in ("task_step", "contextual", None)),
        ("browse", "agent", "select", False),
        ("browse", "user", "click", False),
    ],
)
def test_what_completes_a_task_depends_on_the_role(role, actor, verb, completed):
    """The table of the contract; roles that are not of it are completed by what users take away."""
    found = names(counted(retrieval(role=role), verb, actor=actor))
    assert ("completed_retrievals" in found) is completed


@pytest.mark.parametrize(
    ("goal", "expected"),
    [(None, set()), (0, {"goal_labelled_retrievals"}), (1, {"goal_labelled_retrievals", "goals_reached"})],
)
def test_a_goal_is_counted_where_it_is_labelled(goal, expected):
    """Reached or not."""
    found = names(counted(retrieval(), hints=Hints(goal=goal)))
    assert {name for name in found if name.startswith("goal")} == expected


@pytest.mark.parametrize(
    ("returned", "clicks", "grids", "clicked"),
    [(["a1"], 2, 1, 1), ([None], 2, 1, 1), (None, 0, 0, 0), ([], 0, 0, 0)],
    ids=["listed", "no ids", "no list", "empty"],
)
def test_clicks_are_counted_on_grids(returned, clicks, grids, clicked):
    """A grid is a non-empty list; the clicks of an agent are none."""
    offers = [Offer(act("click", id=str(n), asset_id=None), "explicit", (Route((), ()),)) for n in range(2)]
    by_agent = Offer(act("click", id="9", actor="agent", asset_id=None), "explicit", (Route((), ()),))
    found = contributed(retrieval(returned=returned), *offers, by_agent)
    labels = "|unspecified|unknown"
    counts = [found.get(name + labels, 0) for name in ("clicks", "grids", "grids_clicked")]
    assert counts == [clicks, grids, clicked]


# --- latency and tokens -----------------------------------------------------------------------------

SPENT = ("latency_ms", "tokens", "completed_latency", "completed_tokens")


def spent(counters):
    return {name.rsplit("|", 2)[0]: count for name, count in counters.items() if name.startswith(SPENT)}


def test_latency_and_tokens_are_summed_and_counted_where_logged():
    """By stage, in whole milliseconds; what was not logged is in neither, a logged 0 is counted."""
    sent = retrieval(latency_ms=12.6, tokens=0)
    offers = [
        Offer(act("click", id="1", asset_id="a1", latency_ms=7), "explicit", ROUTE),
        Offer(act("click", id="2", asset_id="a1", latency_ms=8, tokens=9), "explicit", ROUTE),
    ]
    assert spent(contributed(sent, *offers)) == {
        "latency_ms_sum|retrieval": 13,
        "latency_ms_logged|retrieval": 1,
        "tokens_logged|retrieval": 1,
        "latency_ms_sum|action": 15,
        "latency_ms_logged|action": 2,
        "tokens_sum|action": 9,
        "tokens_logged|action": 1,
    }
    assert spent(counted(retrieval(), "click")) == {}


def test_a_completed_task_spent_what_its_retrieval_and_the_actions_credited_to_it_spent():
    """A refuted action is not credited."""
    sent = retrieval(latency_ms=10, tokens=3)
    wrong = (Route(("a9",), ("a9",)),)
    offers = [
        Offer(act("export", id="1", asset_id="a1", latency_ms=7, tokens=1), "explicit", ROUTE),
        Offer(act("click", id="2", asset_id="a9", latency_ms=100), "explicit", wrong),
    ]
    found = spent(contributed(sent, *offers))
    assert found["completed_latency_ms_sum"] == 17
    assert found["completed_tokens_sum"] == 4
    assert found["completed_latency_ms_logged"] == found["completed_tokens_logged"] == 1


def test_a_completed_task_that_logged_nothing_is_not_in_the_count_of_those_that_did():
    """A logged 0 is logged; the mean per completed task divides by those that logged something."""
    nothing, zero = (
        spent(
            contributed(retrieval(latency_ms=logged), Offer(act("export", asset_id="a1"), "explicit", ROUTE))
        )
        for logged in (None, 0)
    )
    assert "completed_latency_ms_logged" not in nothing
    assert zero["completed_latency_ms_logged"] == 1
