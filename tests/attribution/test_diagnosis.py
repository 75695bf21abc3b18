"""List and evidence read together: the table of the contract, literally, and what it is looked up with."""

import pytest

from attribution.diagnosis import JUDGED, TABLE, VERDICTS, Diagnosis, diagnose, quality_of
from attribution.statements import Offer, Route
from attribution.verdict import Hints, evidence_of, judge
from tests.building import DEFAULT, MINUTE, act, event, judgement, prompt, retrieval, settle, user

HALF = 500_000_000


def test_the_table_is_that_of_the_contract():
    """Failure outranks use; nothing else is in it."""
    assert TABLE == {
        ("good", "failed"): "misused",
        ("good", "used"): "working",
        ("good", "neither"): "unused",
        ("bad", "failed"): "retrieval_fault",
        ("bad", "used"): "tolerated",
        ("bad", "neither"): "masked",
    }
    assert JUDGED == ("misused", "working", "unused", "retrieval_fault", "tolerated", "masked")
    assert (*JUDGED, "unjudged", "pending") == VERDICTS


@pytest.mark.parametrize(
    ("quality", "failed", "used", "verdict"),
    [
        ("good", True, True, "misused"),
        ("good", True, False, "misused"),
        ("good", False, True, "working"),
        ("good", False, False, "unused"),
        ("bad", True, True, "retrieval_fault"),
        ("bad", True, False, "retrieval_fault"),
        ("bad", False, True, "tolerated"),
        ("bad", False, False, "masked"),
        (None, True, True, "unjudged"),
        (None, False, False, "unjudged"),
    ],
)
def test_a_verdict_is_looked_up(quality, failed, used, verdict):
    """It waits for maturity where there is no evidence at all, whatever the list was worth."""
    assert diagnose(True, quality, failed, used) == Diagnosis(verdict, quiet=not failed and not used)


@pytest.mark.parametrize("quality", ["good", "bad", None])
@pytest.mark.parametrize("failed", [True, False])
def test_what_cannot_be_judged_is_unjudged_at_once(quality, failed):
    """It comes before pending: there is nothing to wait for."""
    assert diagnose(False, quality, failed, False) == Diagnosis("unjudged", quiet=False)


@pytest.mark.parametrize(
    ("null", "ndcg", "without_relevant", "expected"),
    [
        (True, None, False, "bad"),
        (True, HALF, False, "bad"),
        (False, HALF - 1, False, "bad"),
        (False, HALF, False, "good"),
        (False, None, True, "bad"),
        (False, None, False, None),
        (False, 0, False, "bad"),
    ],
)
def test_bad_is_a_null_a_low_ndcg_or_only_irrelevant_labels(null, ndcg, without_relevant, expected):
    """Exactly one half is good; without NDCG, what is not bad is unknown."""
    assert quality_of(null, ndcg, without_relevant) == expected


# --- at a retrieval ---------------------------------------------------------------------------------


def diagnosed(returned, grades=(), verbs=(), intents=None, **fields):
    record = event(retrieval("r1", returned, request_id="q1", **fields))
    route = (Route(("a",), ("a",)),)
    offers = [Offer(act(verb, id=verb, asset_id="a"), "explicit", route) for verb in verbs]
    hints = Hints(grades=dict(grades), intents=intents)
    return judge(record, evidence_of(record, offers, None), hints, DEFAULT).diagnosis


@pytest.mark.parametrize(
    ("returned", "fields", "hints"),
    [
        (["a"], {}, {"intents": 0}),
        ([], {}, {"intents": 0}),
        (["a"], {"page_of": "r0"}, {}),
        ([], {"page_of": "r0"}, {}),
        (None, {}, {}),
        ([None, None], {}, {}),
    ],
    ids=["misrouted", "misrouted null", "page", "empty page", "no list", "no ids"],
)
def test_a_misrouted_retrieval_a_page_and_a_list_without_ids_are_unjudged(returned, fields, hints):
    """Whatever labels and evidence say."""
    for verbs in ((), ("export",), ("reject",)):
        found = diagnosed(returned, {"a": 1}, verbs, **fields, **hints)
        assert found == Diagnosis("unjudged", quiet=False)


@pytest.mark.parametrize(
    ("returned", "grades", "verbs", "verdict"),
    [
        ([], {}, (), "masked"),
        (["x", "a"], {"a": 1}, ("export",), "working"),
        (["x", "a"], {"a": 1}, ("export", "reject"), "misused"),
        (["x", "a"], {"a": 1}, ("click",), "unused"),
        (["x", "y", "a", "a"], {"a": 1}, ("select",), "working"),
        (["x", "y", "z", "a"], {"a": 1}, ("select",), "tolerated"),
        (["a"], {"a": 0}, (), "masked"),
        (["a"], {"a": -1}, ("reject",), "retrieval_fault"),
        (["a"], {"b": 0}, (), "unjudged"),
        (["a"], {"b": 1}, ("export",), "tolerated"),
        (["a"], {}, ("export",), "unjudged"),
        ([*"0123456789", "a"], {"a": 0}, (), "unjudged"),
        ([*"012345678", "a"], {"a": 0}, (), "masked"),
        ([None, "a"], {"a": 1}, ("export",), "working"),
    ],
    ids=str,
)
def test_list_labels_and_evidence_make_the_verdict(returned, grades, verbs, verdict):
    """Used is U by `standard`, so a click leaves it unused; a label beyond the tenth does not make it bad."""
    assert diagnosed(returned, grades, verbs).verdict == verdict


@pytest.mark.parametrize(("intents", "verdict"), [(None, "masked"), (1, "masked"), (2, "masked")])
def test_only_a_prompt_that_needed_nothing_takes_it_out(intents, verdict):
    """An unlabelled prompt does not."""
    assert diagnosed([], intents=intents).verdict == verdict


def test_every_retrieval_has_one_verdict_and_a_quiet_one_waits_until_it_is_mature():
    """Pending before half an hour; then masked, and in the ratio of the judged."""
    sent = (
        retrieval("r1", []),
        retrieval("r2", ["a"]),
        user("export", consumed_asset_id="a", source_retrieval_id="r2"),
        judgement("relevance", retrieval_id="r2", asset_id="a", grade=1),
        prompt("q3"),
        retrieval("r3", ["a"], request_id="q3"),
        judgement("intent", request_id="q3", retrieval_intents=0),
    )
    found = settle(*sent)
    young, mature = 30 * MINUTE, 30 * MINUTE + 1
    name = "lara_diagnosis_retrievals"
    for seconds, counts in (
        (young, {"pending": 1, "masked": 0, "working": 1, "unjudged": 1}),
        (mature, {"pending": 0, "masked": 1, "working": 1, "unjudged": 1}),
    ):
        assert {verdict: found.figure(name, seconds, verdict=verdict) for verdict in counts} == counts
        assert found.figure(name, seconds) == 3
    assert found.figure("lara_masked_failure_ratio", young) == 0
    assert found.figure("lara_masked_failure_ratio", mature) == 0.5


@pytest.mark.parametrize(
    ("quiet", "mature", "verdict"),
    [(True, False, "pending"), (True, True, "masked"), (False, False, "masked"), (False, True, "masked")],
)
def test_a_verdict_waits_for_evidence_only_while_its_retrieval_is_quiet_and_young(quiet, mature, verdict):
    """At the reader's time."""
    assert Diagnosis("masked", quiet).at(mature) == verdict
