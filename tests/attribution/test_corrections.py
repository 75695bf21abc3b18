"""What a new output record takes the place of, and why."""

from attribution.corrections import Cause, Correction, correction
from attribution.outputs import Attribution, Outcome, Reused, Withdrawn
from attribution.statements import Decision
from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.building import DEFAULT, entity, events, placement, retrieval, user

NONE = Attribution(action_id="x", ts=1, actor="user", action="export", resolution="none")
CREDITED = Attribution(
    action_id="x", ts=1, actor="user", action="export", resolution="explicit", retrieval_ids=("r1",)
)
QUIET = Outcome(retrieval_id="r1", positive={"strict": False}, diagnosis="unjudged")


def test_the_old_values_of_what_changed_and_nothing_else():
    """A reader need not compare two records."""
    found = correction(entity(), entity(), [NONE], [CREDITED])
    assert found == Correction({"resolution": "none", "retrieval_ids": ()})
    exported = Outcome(retrieval_id="r1", positive={"strict": True}, diagnosis="unjudged")
    assert correction(entity(), entity(), [QUIET], [exported]) == Correction({"positive": {"strict": False}})


def test_what_was_never_said_is_not_corrected():
    """Nor is a change of a record that decides nothing: another query, one more record that lost its id."""
    assert correction(entity(), entity(), [], [CREDITED]) is None
    assert correction(entity(), entity(), [QUIET], [Outcome(**{**as_dict(QUIET), "query": "cats"})]) is None
    reused = Reused(reason="duplicate", type="retrieval", id="r1", ts=1, digest="a", standing_digest="b")
    assert correction(entity(), entity(), [QUIET], [QUIET, reused]) is None


def as_dict(record):
    return {name: getattr(record, name) for name in record.__struct_fields__}


def test_an_action_that_is_none_any_more_says_what_it_was():
    """Withdrawn replaces the resolution and the retrievals it had."""
    found = correction(entity(), entity(), [CREDITED], [Withdrawn(action_id="x")])
    assert found == Correction({"resolution": "explicit", "retrieval_ids": ("r1",)})


def test_the_causes_are_what_newly_reached_the_entity():
    """Statements that are new or say something else, and records; at most five, the others are counted."""
    old = entity(user("export"), decision=[("document:d1", "x", Decision("none"))])
    new = entity(
        user("export"),
        decision=[("document:d1", "x", Decision("none")), *(
            (f"request:q{number}", "x", Decision("request")) for number in range(7)
        )],
    )  # fmt: skip
    found = correction(old, new, [NONE], [CREDITED])
    assert found.because[0] == Cause("decision", "request:q0")
    assert (len(found.because), found.more_causes) == (5, 2)
    new = entity(user("export"))
    assert correction(entity(), new, [NONE], [CREDITED]).because == (
        Cause("record", new.own[0].digest.hex()),
    )


async def corrections(*batches):
    store = MemoryStore(DEFAULT)
    term = await store.open()
    found = {}
    for number, batch in enumerate(batches):
        await drive(events(*batch), DEFAULT, store, term, f"{number}/w")
        marks = {due.key: due.correction for due in await store.due(99)}
        found = {key: one for key, one in marks.items() if one is not None}
    return found


async def test_a_claim_that_arrives_before_its_retrieval_is_corrected_by_it():
    """Dangling is taken back, and the retrieval that answered is named."""
    act = user("export", source_retrieval_id="r1", consumed_asset_id="a1", event_id="x")
    found = await corrections([act], [retrieval("r1", returned=["a1"])])
    assert found["action:x"].said == {"resolution": "dangling", "retrieval_ids": []}
    assert found["action:x"].because[0] == Cause("answer", "retrieval:r1")


async def test_a_verdict_that_changes_names_the_action_that_changed_it():
    """An export makes an unobserved retrieval a genuine positive."""
    act = user("export", source_retrieval_id="r1", consumed_asset_id="a1", event_id="x")
    found = await corrections([retrieval("r1", returned=["a1"])], [act])
    assert found["retrieval:r1"].said["positive"] == {"strict": False, "standard": False, "broad": False}
    assert Cause("offer", "action:x") in found["retrieval:r1"].because


async def test_what_is_settled_in_one_batch_was_never_said_otherwise():
    """Between two layers an action may look undecided; nobody was told."""
    act = user("export", document_id="d1", event_id="x", consumed_asset_id="a1")
    placed = placement(source_retrieval_id="r1", asset="a1")
    assert await corrections([retrieval("r1", returned=["a1"]), placed, act]) == {}
