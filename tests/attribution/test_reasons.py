"""Why an action belongs where it belongs: every rule's reason, and that reasons and decisions never disagree."""

import pytest
from hypothesis import HealthCheck, example, given, settings

from attribution import actions, retrievals
from attribution.contribution import difference
from attribution.entities import NOBODY, Entity, key_of, split_key
from attribution.exclusion import exclusion_of as exclusion_of_record
from attribution.reasons import Known, added, inferred, is_placing, steps
from attribution.semantics import Exclusion, Semantics
from attribution.statements import Decision
from attribution.verdict import GRANTED, grade, refusal
from tests.building import DAY, DEFAULT, agent, placement, prompt, retrieval, settle, user
from tests.properties import running
from tests.properties.strategies import streams

CREDIT = Semantics(inference="credit", exclusion=Exclusion(("probe-",), ("robot",), ("insulin",)))
ROBOT_PLACING = [  # found once: a placing without a record of its own, excluded by its placement
    b'{"type":"retrieval","ts":1772359260000,"retrieval_id":"r1","session_guid":"s1","returned_asset_ids":["a1"]}',
    b'{"type":"placement","ts":1772359380000,"placement_id":"p1","document_id":"d1","asset_id":"a1",'
    b'"user_id":"robot","event_id":"e0","session_guid":"s1","actor":"user"}',
]
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def known_of(entities, act):
    """The places that may decide an action, as they are in a store."""

    def entity(kind, name):
        return entities.get(key_of(kind, name), Entity()) if name is not None else NOBODY

    return Known(
        entity("document", act.document_id),
        entity("request", act.request_id),
        entity("session", act.session_guid),
    )


def explained(*sent, action="x", semantics=DEFAULT):
    """The steps of one action among these records."""
    entities = settle(*sent, semantics=semantics).store.entities()
    act = actions.known_act(action, entities[key_of("action", action)])
    return steps(act, known_of(entities, act), semantics)


def reasons(*sent, **asked):
    return [(step.rule, step.reason) for step in explained(*sent, **asked)]


def last(*sent, **asked):
    """The rule that decides, its reason and its decision."""
    step = explained(*sent, **asked)[-1]
    return step.rule, step.reason, step.decision.rule, step.decision.retrievals


def edit(seconds=120, **fields):
    return user("edit", seconds, event_id="x", **fields)


def export(seconds=120, **fields):
    return user("export", seconds, event_id="x", document_id="d1", **fields)


# --- reasons and decisions never disagree -----------------------------------------------------------


@pytest.mark.parametrize("semantics", [running.SEMANTICS, CREDIT], ids=["shadow", "credit"])
def test_the_steps_end_with_the_decision_that_the_action_was_told(semantics):
    """Of any records: the rule that decides, the retrievals it names, and whether a source was named in vain."""

    @EXAMPLES
    @given(streams)
    @example(ROBOT_PLACING)
    def check(values):
        entities = running.settle_in_memory([running.accepted(values)], semantics).entities()
        for key, entity in entities.items():
            kind, name = split_key(key)
            act = actions.known_act(name, entity) if kind == "action" else None
            if act is None or act.verb == actions.SHOW or exclusion_of_record(entity, semantics) is not None:
                continue
            told, known = actions.decision_of(act, entity), known_of(entities, act)
            *before, decisive = steps(act, known, semantics)
            found = decisive.decision
            assert (found.rule, found.retrievals, found.dangling) == (
                told.rule,
                told.retrievals,
                told.dangling,
            )
            assert all(step.decision is None for step in before)
            by_time = inferred(act, known.session).decision
            heard = by_time is not None and told.rule != "excluded"  # its session hears of no excluded one
            guessed = by_time.retrievals[0] if heard else None
            assert guessed == actions.guessed(entity)
            assert is_placing(act) == (entity.standing is None)

    check()


def test_a_refusal_and_a_grade_never_disagree():
    """Of any records: what is granted has no reason against it, and nothing else is without one."""

    @EXAMPLES
    @given(streams)
    def check(values):
        entities = running.settle_in_memory([running.accepted(values)]).entities()
        for key, entity in entities.items():
            if split_key(key)[0] == "retrieval":
                record = retrievals.record_of(entity)
                for offer in retrievals.offers(entity):
                    result, why = grade(record, offer)[0], refusal(record, offer)
                    assert (result == GRANTED) == (why is None)
                    assert (result == "refuted") == (why in ("empty_list", "not_in_list"))
                excluded = retrievals.is_excluded(entity, running.SEMANTICS)
                assert excluded == (retrievals.exclusion_of(entity, running.SEMANTICS) is not None)

    check()


# --- rule by rule -----------------------------------------------------------------------------------


def test_an_own_claim_ends_the_search():
    """Whatever else the action names."""
    found = explained(edit(source_retrieval_id="r9", document_id="d1", placement_id="p9"))
    assert [(step.rule, step.reason) for step in found] == [(1, "claim")]
    assert found[0].decision == Decision("explicit", ("r9",))


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([edit(placement_id="p1")], (2, "no_document", "dangling", ())),
        ([edit(placement_id="p1", document_id="d1")], (2, "unknown_placement", "dangling", ())),
        (
            [placement(seconds=200), edit(placement_id="p1", document_id="d1")],
            (2, "unknown_placement", "dangling", ()),
        ),
        (
            [placement(), edit(placement_id="p1", document_id="d1", consumed_asset_id="a2")],
            (2, "other_asset", "none", ()),
        ),
        (
            [placement(), placement(seconds=90, op="remove"), edit(placement_id="p1", document_id="d1")],
            (2, "not_live", "none", ()),
        ),
        ([placement(), edit(placement_id="p1", document_id="d1")], (2, "no_source", "none", ())),
        (
            [placement(derived_from_asset_id="a0"), edit(placement_id="p1", document_id="d1")],
            (2, "no_ancestor", "none", ()),
        ),
        (
            [placement(source_placement_id="p9"), edit(placement_id="p1", document_id="d1")],
            (2, "unknown_original", "dangling", ()),
        ),
        (
            [placement(source_placement_id="p1"), edit(placement_id="p1", document_id="d1")],
            (2, "cycle", "none", ()),
        ),
        (
            [placement(source_retrieval_id="r1"), edit(document_id="d1", consumed_asset_id="a1")],
            (2, "claimed", "inherited", ("r1",)),
        ),
        ([export()], (3, "no_sources", "none", ())),
        ([placement(), export()], (3, "no_sources", "none", ())),
        ([placement(source_placement_id="p9"), export()], (3, "no_sources", "dangling", ())),
        ([placement(source_retrieval_id="r1"), export()], (3, "sources", "document", ("r1",))),
        (
            [retrieval(request_id="q1"), edit(request_id="q1", consumed_asset_id="a1")],
            (4, "held", "request", ("r1",)),
        ),
        ([edit()], (6, "left_open", "none", ())),
        (
            [placement(source_retrieval_id="r1", synthetic=True), edit(placement_id="p1", document_id="d1")],
            (0, "excluded_placement", "excluded", ()),
        ),
    ],
    ids=lambda value: f"{value[0]}-{value[1]}" if isinstance(value, tuple) else "",
)  # fmt: skip
def test_the_rule_that_decides_says_why(sent, expected):
    """Each way a rule can end has a reason of its own."""
    assert last(*sent) == expected


def test_a_way_of_more_than_16_steps_is_told_as_such():
    """The chain is followed for 16 steps and no further."""
    copies = [placement("p0", source_retrieval_id="r1")]
    copies += [placement(f"p{step}", source_placement_id=f"p{step - 1}") for step in range(1, 18)]
    assert last(*copies, edit(placement_id="p17", document_id="d1"))[1] == "too_long"
    step = explained(*copies, edit(placement_id="p16", document_id="d1"))[-1]
    assert (step.reason, len(step.sources[0].path)) == ("claimed", 17)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ["no_claim", "no_placement", "no_document", "no_request", "shadow", "left_open"]),
        (
            {"document_id": "d1"},
            ["no_claim", "no_placement", "other_verb", "no_request", "shadow", "left_open"],
        ),
        (
            {"document_id": "d1", "consumed_asset_id": "a1", "request_id": "q9"},
            ["no_claim", "none_live", "not_whole", "not_held", "shadow", "left_open"],
        ),
        ({"request_id": "q1"}, ["no_claim", "no_placement", "no_document", "no_asset", "shadow", "left_open"]),
    ],
)  # fmt: skip
def test_a_rule_that_does_not_apply_says_why(fields, expected):
    """Up to the last, which always does."""
    assert reasons(edit(**fields)) == list(enumerate(expected, 1))


def test_a_known_placement_that_does_not_exist_for_the_action_is_shown():
    """It was placed later, or more than 30 days before: the reader sees when."""
    late = explained(placement(seconds=200), edit(placement_id="p1", document_id="d1"))[-1]
    assert (late.reason, late.placement.first.placement_id) == ("unknown_placement", "p1")
    never = explained(edit(placement_id="p1", document_id="d1"))[-1]
    assert never.placement is None


def test_rule_4_says_of_every_retrieval_of_the_request_why_it_is_not_meant():
    """By its list or its time."""
    step = explained(
        retrieval("r1", ["a9"], request_id="q1"),
        retrieval("r2", None, request_id="q1"),
        retrieval("r3", ["a1"], 121, request_id="q1"),
        retrieval("r4", ["a1"], 120 - 31 * DAY, request_id="q1"),
        retrieval("r5", [], request_id="q1"),
        edit(request_id="q1", consumed_asset_id="a1"),
    )[3]
    assert (step.rule, step.reason) == (4, "not_held")
    assert step.asked == {
        "r1": "not_in_list", "r2": "no_list", "r3": "later", "r4": "too_old", "r5": "not_in_list",
    }  # fmt: skip


def test_rule_5_says_of_every_retrieval_of_the_session_why_it_is_not_meant():
    """Also where it is only a shadow."""
    entities = settle(
        retrieval("r1", ["a1"], 5, user_id="u2"),
        retrieval("r2", ["a9"]),
        retrieval("r3", ["a1"], 121),
        retrieval("r4", ["a1"], 119 - 1800),
        retrieval("r5", ["a1"], 10),
        edit(consumed_asset_id="a1", user_id="u1"),
    ).store.entities()
    step = inferred(actions.known_act("x", entities["action:x"]), entities["session:s1"])
    assert step.decision == Decision("inferred", ("r5",))
    assert step.asked == {
        "r1": "other_user", "r2": "not_in_list", "r3": "later", "r4": "too_old", "r5": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({}, "no_asset"), ({"consumed_asset_id": "a1"}, "not_named")],
)
def test_rule_5_says_what_it_lacks(fields, reason):
    """An asset to look for, or a list that holds it."""
    entity = settle(edit(**fields)).store.entities()["action:x"]
    assert inferred(actions.known_act("x", entity), NOBODY).reason == reason


def test_rule_5_needs_a_session():
    """A placing may have none."""
    sent = placement(actor="user", session_guid=None)
    entity = settle(sent).store.entities()["action:place:d1/p1"]
    assert inferred(actions.known_act("place:d1/p1", entity), NOBODY).reason == "no_session"


def test_where_inference_credits_rule_5_decides():
    """After rule 4 had nothing to say."""
    sent = retrieval(), edit(consumed_asset_id="a1")
    assert last(*sent, semantics=Semantics(inference="credit")) == (5, "named", "inferred", ("r1",))
    assert last(*sent) == (6, "left_open", "none", ())


# --- what an action changes at a retrieval ----------------------------------------------------------


def test_what_an_action_adds_is_the_difference_it_makes():
    """Of two exports either alone would do; of a reject and an export each adds its own."""
    claim = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}
    alone = settle(retrieval(), user("export", **claim)).store.entities()["retrieval:r1"]
    found = added("user-export", "r1", alone, DEFAULT)
    without = settle(retrieval()).store.entities()["retrieval:r1"]
    assert found == difference(
        retrievals.contribute("r1", without, DEFAULT), retrievals.contribute("r1", alone, DEFAULT)
    )
    assert found[29540760, "retrievals_positive|strict|unspecified|unknown"] == 1
    twice = settle(retrieval(), user("export", **claim), user("share", **claim)).store.entities()[
        "retrieval:r1"
    ]
    assert added("user-export", "r1", twice, DEFAULT) == {}
    assert added("nobody", "r1", twice, DEFAULT) == {}


def test_a_refused_or_excluded_action_adds_nothing():
    """It is no evidence; and an excluded retrieval counts nothing at all."""
    claim = {"source_retrieval_id": "r1", "consumed_asset_id": "a9"}
    refuted = settle(retrieval(), user("export", **claim)).store.entities()["retrieval:r1"]
    assert added("user-export", "r1", refuted, DEFAULT) == {}
    robot = settle(prompt(synthetic=True), retrieval(request_id="q1"), agent("use", **claim))
    assert added("agent-use", "r1", robot.store.entities()["retrieval:r1"], DEFAULT) == {}
