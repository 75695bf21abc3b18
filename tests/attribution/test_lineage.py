"""Which retrieval an action belongs to, as far as its document knows: every branch of rules 1 to 3."""

import random

import pytest

from attribution.events import Placement
from attribution.lineage import MAXIMUM_STEPS, placements_of, resolve, resolve_placing
from attribution.statements import Decision, Placed, Route
from tests.building import DAY, act, event, placement

NONE, DANGLING = Decision("none"), Decision("dangling")


def placed(*sent, excluded=()):
    """The statements of placement records; those of the ids in `excluded` say they are synthetic."""
    return [Placed(event(one), one["placement_id"] in excluded) for one in sent]


def world(*sent, excluded=(), retrievals=()):
    """The placements of a document, in any order of their records."""
    records = placed(*sent, excluded=excluded)
    random.Random(len(records)).shuffle(records)
    return placements_of(records, frozenset(retrievals))[0]


def resolved(action, *sent):
    return resolve(action, world(*sent))


def on_asset(asset="a1", seconds=120, **fields):
    return act("edit", seconds, document_id="d1", asset_id=asset, **fields)


def on_placement(placement_id="p1", seconds=120, **fields):
    return act("edit", seconds, document_id="d1", placement_id=placement_id, **fields)


def whole(verb="export", seconds=120):
    return act(verb, seconds, document_id="d1")


def inherited(claim, *through, asset="a1", tested=None):
    route = Route(tested or (asset,), (asset,), through)
    return Decision("inherited", (claim,)), {claim: (route,)}


def copies(count, **source):
    """p0 with a source, and so many copies, each of the one before; the last is asked about."""
    chain = [placement("p0", **source)]
    for step in range(1, count + 1):
        chain.append(placement(f"p{step}", source_placement_id=f"p{step - 1}"))
    return chain


# --- rule 1: the action's own claim -----------------------------------------------------------------


def test_an_own_claim_is_offered_where_it_points_whatever_the_document_says():
    """Rule 1 comes first: neither a live placement nor a removed one matters."""
    found = resolved(on_asset(claim="r9"), placement(source_retrieval_id="r1"))
    assert found == (Decision("explicit", ("r9",)), {"r9": (Route(("a1",), ("a1",)),)})


def test_an_own_claim_is_tested_with_the_ancestors_of_its_document_too():
    """The asset itself comes first, then all it was derived from, over any number of steps."""
    found = resolved(
        on_asset("a3", claim="r1"),
        placement("p1", "a2", derived_from_asset_id="a1"),
        placement("p2", "a3", derived_from_asset_id="a2"),
    )
    assert found.routes == {"r1": (Route(("a3", "a1", "a2"), ("a3", "a1", "a2")),)}


def test_a_claim_without_asset_is_tested_with_nothing():
    """It stands on any list but an empty one."""
    assert resolved(act(document_id="d1", claim="r1")).routes == {"r1": (Route((), ()),)}


# --- rule 2: a placement named by its id ------------------------------------------------------------


def test_a_placement_gives_its_own_claim():
    """The claim is offered to its retrieval, tested with the placement's asset."""
    assert resolved(on_placement(), placement(source_retrieval_id="r1")) == inherited("r1", "p1")


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([], DANGLING),
        ([placement("p2", source_retrieval_id="r1")], DANGLING),
        ([placement(op="remove", source_retrieval_id="r1")], DANGLING),
        ([placement(seconds=121, source_retrieval_id="r1")], DANGLING),
        ([placement(source_retrieval_id="r1"), placement(seconds=90, op="remove")], NONE),
        ([placement()], NONE),
        ([placement(source_placement_id="p9")], DANGLING),
    ],
    ids=[
        "nothing",
        "another",
        "never placed",
        "placed later",
        "removed",
        "without source",
        "copy of nothing",
    ],
)
def test_a_placement_id_decides_whatever_it_finds(sent, expected):
    """Unknown, or a copy of the unknown: dangling; not live or without source: none."""
    assert resolved(on_placement(asset_id="a1"), *sent) == (expected, {})


def test_a_placement_of_another_asset_than_the_actions_gives_nothing():
    """A mismatch is no match, and nothing else is tried."""
    sent = placement(source_retrieval_id="r1"), placement("p2", "a2", source_retrieval_id="r2")
    assert resolved(on_placement("p1", asset_id="a2"), *sent) == (NONE, {})
    assert resolved(on_placement("p1", asset_id="a1"), *sent) == inherited("r1", "p1")


# --- rule 2: a placement found by its asset ---------------------------------------------------------


def test_the_latest_live_placement_of_the_asset_is_taken():
    """The later first `place` wins; one of another asset, a removed one and one to come do not count."""
    found = resolved(
        on_asset(),
        placement("p1", seconds=10, source_retrieval_id="r1"),
        placement("p2", seconds=20, source_retrieval_id="r2"),
        placement("p3", seconds=30, source_retrieval_id="r3"),
        placement("p3", seconds=31, op="remove"),
        placement("p4", "a2", seconds=40, source_retrieval_id="r4"),
        placement("p5", seconds=121, source_retrieval_id="r5"),
    )
    assert found == inherited("r2", "p2")


def test_of_placements_at_one_moment_the_greater_id_in_bytes_is_the_latest():
    """Ids are compared as UTF-8, not as numbers and not as UTF-16."""
    assert resolved(
        on_asset(), placement("p10", source_retrieval_id="r10"), placement("p9", source_retrieval_id="r9")
    ) == inherited("r9", "p9")
    assert resolved(
        on_asset(), placement("\ufb03", source_retrieval_id="r1"), placement("🂡", source_retrieval_id="r2")
    ) == inherited("r2", "🂡")


def test_a_placement_placed_again_is_as_old_as_its_first_place():
    """A later record changes whether it lives, not what it is."""
    found = resolved(
        on_asset(),
        placement("p1", seconds=10, source_retrieval_id="r1"),
        placement("p1", "a9", seconds=50, source_retrieval_id="r9"),
        placement("p2", seconds=20, source_retrieval_id="r2"),
    )
    assert found == inherited("r2", "p2")


def test_without_a_live_placement_of_the_asset_the_request_may_decide():
    """Removed, of another asset or not there at all: rule 2 does not apply."""
    assert resolved(on_asset()).decision is None
    assert resolved(on_asset(), placement("p1", "a2", source_retrieval_id="r1")).decision is None
    removed = placement(source_retrieval_id="r1"), placement(seconds=90, op="remove")
    assert resolved(on_asset(), *removed).decision is None


def test_a_live_placement_without_source_decides_that_there_is_none():
    """Rule 2 applies, and does not fall through."""
    assert resolved(on_asset(), placement()) == (NONE, {})


# --- live -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ops", "live"),
    [
        ([("place", 10)], True),
        ([("place", 120)], True),
        ([("place", 10), ("remove", 20)], False),
        ([("place", 10), ("remove", 120)], False),
        ([("place", 10), ("remove", 121)], True),
        ([("place", 10), ("remove", 20), ("place", 30)], True),
        ([("place", 10), ("remove", 20), ("place", 121)], False),
        ([("remove", 5), ("place", 10)], True),
        ([("place", 10), ("remove", 10)], False),
        ([("place", 10), ("remove", 20), ("place", 20)], False),
        ([("place", 10), ("place", 10)], True),
    ],
    ids=str,
)
def test_a_placement_lives_while_its_newest_record_is_a_place(ops, live):
    """At one moment a removal comes after a placing; what comes after the action does not count."""
    sent = [
        placement(seconds=seconds, op=op, source_retrieval_id="r1", event_id=f"{op}{seconds}{number}")
        for number, (op, seconds) in enumerate(ops)
    ]
    assert resolved(on_placement(), *sent) == (inherited("r1", "p1") if live else (NONE, {}))


def test_an_operation_that_is_not_given_is_a_place():
    """`place` is the default."""
    assert resolved(on_placement(), placement(op=None, source_retrieval_id="r1")) == inherited("r1", "p1")


# --- the horizon ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "exists"),
    [(-0.001, False), (0, True), (30 * DAY, True), (30 * DAY + 0.001, False)],
    ids=["a millisecond before", "same moment", "30 days later", "30 days and a millisecond later"],
)
def test_a_placement_exists_for_thirty_days_and_not_before_it_was_made(seconds, exists):
    """Both bounds belong to the horizon; the first `place` counts."""
    sent = placement(seconds=100, source_retrieval_id="r1")
    expected = inherited("r1", "p1") if exists else (DANGLING, {})
    assert resolved(on_placement(seconds=100 + seconds), sent) == expected


def test_a_placement_renewed_within_the_horizon_is_still_as_old_as_its_first():
    """A second `place` does not bring it back."""
    sent = placement(seconds=0, source_retrieval_id="r1"), placement(seconds=DAY, source_retrieval_id="r1")
    assert resolved(on_placement(seconds=30 * DAY + 1), *sent) == (DANGLING, {})


def test_a_source_beyond_the_horizon_is_unknown_and_an_ancestor_beyond_it_is_none():
    """What does not exist for the action can be neither copied nor derived from."""
    late = 30 * DAY + 50
    copy = [
        placement("p0", seconds=0, source_retrieval_id="r1"),
        placement("p1", seconds=60, source_placement_id="p0"),
    ]
    assert resolved(on_placement(seconds=late), *copy) == (DANGLING, {})
    made = [
        placement("p0", "a0", seconds=0, source_retrieval_id="r1"),
        placement("p1", derived_from_asset_id="a0"),
    ]
    assert resolved(on_placement(seconds=late), *made) == (NONE, {})


# --- the source -------------------------------------------------------------------------------------


def test_a_copy_inherits_through_its_original():
    """The claim is tested where it stands: with the original's asset; consumed is the action's."""
    found = resolved(
        on_placement("p2"),
        placement("p1", "a1", source_retrieval_id="r1"),
        placement("p2", "a2", source_placement_id="p1"),
    )
    assert found == (Decision("inherited", ("r1",)), {"r1": (Route(("a1",), ("a2",), ("p2", "p1")),)})


def test_an_own_claim_comes_before_the_original_and_that_before_the_ancestor():
    """The first kind of source that a placement names is followed, and no other."""
    sent = [placement("p0", "a0", source_retrieval_id="r0"), placement("p1", source_retrieval_id="r1")]
    both = placement("p2", source_retrieval_id="r2", source_placement_id="p1", derived_from_asset_id="a0")
    assert resolved(on_placement("p2"), *sent, both).decision.retrievals == ("r2",)
    copied = placement("p2", source_placement_id="p1", derived_from_asset_id="a0")
    assert resolved(on_placement("p2"), *sent, copied).decision.retrievals == ("r1",)
    unknown = placement("p2", source_placement_id="p9", derived_from_asset_id="a0")
    assert resolved(on_placement("p2"), *sent, unknown) == (DANGLING, {})


def test_a_copy_of_a_removed_or_later_placement_still_inherits():
    """The original need not live, nor be older than its copy, only exist for the action."""
    sent = [
        placement("p1", seconds=80, source_retrieval_id="r1"),
        placement("p1", seconds=90, op="remove"),
        placement("p2", seconds=70, source_placement_id="p1"),
    ]
    assert resolved(on_placement("p2"), *sent).decision == Decision("inherited", ("r1",))


@pytest.mark.parametrize(("count", "reached"), [(1, True), (MAXIMUM_STEPS, True), (MAXIMUM_STEPS + 1, False)])
def test_a_source_is_followed_sixteen_steps(count, reached):
    """Sixteen copies away it is found, seventeen away there is none."""
    found = resolved(on_placement(f"p{count}"), *copies(count, source_retrieval_id="r1"))
    assert found.decision == (Decision("inherited", ("r1",)) if reached else NONE)
    assert MAXIMUM_STEPS == 16


def test_an_unknown_original_at_the_end_of_a_chain_dangles():
    """It was named, in vain."""
    assert resolved(on_placement("p3"), *copies(3, source_placement_id="p9")) == (DANGLING, {})


@pytest.mark.parametrize("count", [0, 1, 3])
def test_copies_in_a_circle_have_no_source(count):
    """Neither a copy of itself nor a longer circle loops for ever."""
    assert resolved(on_placement(f"p{count}"), *copies(count, source_placement_id=f"p{count}")) == (NONE, {})


def test_a_derived_asset_inherits_from_the_latest_placement_of_its_ancestor():
    """At or before it, removed or not; what was placed later is not its origin."""
    sent = [
        placement("p1", "a0", seconds=10, source_retrieval_id="r1"),
        placement("p2", "a0", seconds=60, source_retrieval_id="r2"),
        placement("p2", "a0", seconds=61, op="remove"),
        placement("p3", "a0", seconds=61, source_retrieval_id="r3"),
        placement("p4", "a1", seconds=60, derived_from_asset_id="a0"),
    ]
    found = resolved(on_placement("p4"), *sent)
    assert found == (Decision("inherited", ("r2",)), {"r2": (Route(("a0",), ("a1", "a0"), ("p4", "p2")),)})


def test_a_derived_asset_without_a_placed_ancestor_has_no_source():
    """An ancestor that was never placed here is no named placement: none, not dangling."""
    assert resolved(on_placement(), placement(derived_from_asset_id="a0")) == (NONE, {})


def test_assets_derived_from_each_other_have_no_source():
    """A circle of ancestors ends too."""
    sent = [
        placement("p1", "a1", derived_from_asset_id="a2"),
        placement("p2", "a2", derived_from_asset_id="a1"),
    ]
    assert resolved(on_placement("p1"), *sent) == (NONE, {})
    found = resolved(on_asset("a1", claim="r1"), *sent)
    assert found.routes == {"r1": (Route(("a1", "a2"), ("a1", "a2")),)}


def test_a_claim_on_a_derived_asset_is_tested_with_its_ancestors():
    """The placement's asset and all it was derived from in this document."""
    sent = [
        placement("p1", "a0", derived_from_asset_id="base"),
        placement("p2", "a1", source_retrieval_id="r1", derived_from_asset_id="a0"),
    ]
    assert resolved(on_placement("p2"), *sent).routes == {
        "r1": (Route(("a1", "a0", "base"), ("a1", "a0", "base"), ("p2",)),)
    }


# --- rule 3: the whole document ---------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["export", "share", "download"])
def test_an_export_of_a_document_asks_the_source_of_all_that_lives_in_it(verb):
    """One action, several retrievals, each with every asset placed from it."""
    found = resolved(
        whole(verb),
        placement("p1", "a1", seconds=10, source_retrieval_id="r1"),
        placement("p2", "a2", seconds=20, source_retrieval_id="r2"),
        placement("p3", "a3", seconds=30, source_placement_id="p1"),
        placement("p4", "a4", seconds=40),
        placement("p5", "a5", seconds=50, source_retrieval_id="r5"),
        placement("p5", "a5", seconds=51, op="remove"),
        placement("p6", "a6", seconds=121, source_retrieval_id="r6"),
    )
    assert found.decision == Decision("document", ("r1", "r2"))
    assert found.routes["r1"] == (Route(("a1",), ("a1",), ("p1",)), Route(("a1",), ("a3",), ("p3", "p1")))
    assert found.routes["r2"] == (Route(("a2",), ("a2",), ("p2",)),)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([], NONE),
        ([placement()], NONE),
        ([placement(source_placement_id="p9")], DANGLING),
        ([placement("p1"), placement("p2", source_placement_id="p9")], DANGLING),
        ([placement(source_retrieval_id="r1"), placement(seconds=90, op="remove")], NONE),
    ],
    ids=["empty", "uploaded", "copy of nothing", "both", "removed"],
)
def test_a_document_without_a_source_gives_none_or_dangling(sent, expected):
    """Dangling only if a source was named in vain."""
    assert resolved(whole(), *sent) == (expected, {})


def test_a_source_named_in_vain_is_remembered_beside_those_that_answer():
    """Should all of them refuse, the action is dangling or refuted, not none."""
    sent = placement("p1", source_retrieval_id="r1"), placement("p2", source_placement_id="p9")
    assert resolved(whole(), *sent).decision == Decision("document", ("r1",), dangling=True)


@pytest.mark.parametrize("verb", ["edit", "select", "reject", "generate"])
def test_another_action_on_a_whole_document_belongs_to_nothing(verb):
    """Rule 3 is for outcomes; the others name no asset that a request's list could hold."""
    assert resolved(whole(verb), placement(source_retrieval_id="r1")) == (NONE, {})


# --- the action `place`, and exclusion --------------------------------------------------------------


def test_a_placing_is_resolved_through_the_placement_itself():
    """Even where a later placement of the same asset exists at that moment."""
    lineages = world(
        placement("p1", seconds=60, source_retrieval_id="r1"),
        placement("p2", seconds=60, source_retrieval_id="r2"),
    )
    placing = act("place", 60, document_id="d1", placement_id="p1", asset_id="a1")
    assert resolve_placing(placing, lineages["p1"], lineages) == inherited("r1", "p1")
    lonely = world(placement("p1"))
    assert resolve_placing(placing, lonely["p1"], lonely) == (NONE, {})


def excluded_of(*sent, excluded=(), retrievals=()):
    kept, left_out = placements_of(placed(*sent, excluded=excluded), frozenset(retrievals))
    assert all(isinstance(first, Placement) for first in left_out.values())
    return sorted(kept), sorted(left_out)


def test_a_placement_is_excluded_with_its_first_place():
    """If that is synthetic, claims an excluded retrieval, or copies an excluded placement, over any steps."""
    sent = [
        placement("p1"),
        placement("p2", source_retrieval_id="r-robot"),
        placement("p3", source_placement_id="p2"),
        placement("p4", source_placement_id="p3"),
        placement("p5", source_retrieval_id="r1"),
    ]
    assert excluded_of(*sent, excluded=["p1"], retrievals=["r-robot"]) == (["p5"], ["p1", "p2", "p3", "p4"])


def test_an_excluded_later_record_is_only_left_out_of_the_history():
    """A robot's removal removes nothing."""
    first, removal = placement(source_retrieval_id="r1"), placement(seconds=90, op="remove")
    records = [Placed(event(first), False), Placed(event(removal), True)]
    kept, left_out = placements_of(records, frozenset())
    assert left_out == {}
    assert resolve(on_placement(), kept) == inherited("r1", "p1")


def test_a_placement_that_was_only_ever_removed_is_none():
    """Without a `place` there is no placement, excluded or not."""
    assert excluded_of(placement(op="remove"), placement("p2", op="remove"), excluded=["p2"]) == ([], [])
