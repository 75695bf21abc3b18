"""What one entity keeps, what it leaves out, and that arrival has no part in it."""

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.bounds import ANSWERED, KEPT, RECORDS, bounded, is_cut
from attribution.entities import NOBODY, with_message
from attribution.stages import STAGES
from attribution.statements import Address, Asks, Message, Offer, Route, Shown
from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.building import DEFAULT, act, at, events, judgement, placement, prompt, retrieval, user
from tests.properties import running

SMALL = msgspec.structs.replace(DEFAULT, maximum_statements=3)
# Topics that are not bounded: at most one statement comes from each of a few senders.
FEW = {
    **{"request_excluded": "one request", "retrieval_excluded": "a document's sources are bounded"},
    **{"link_excluded": "a retrieval names two others", "decision": "one home", "guess": "one session"},
    **{"answer": "a document's placements are bounded", "shown": "one request", "routed": "one request"},
    **{"goal": "one request", "substituted": "one request", "page_used": "pages of a list, one each"},
    **{"researched": "one conversation", "query_grades": "one query"},
}


def offer(number, sender=None):
    said = Offer(act(id=f"x{number}", seconds=number), "explicit", (Route((), ()),))
    sender = sender or f"action:x{number}"
    return Message(Address("retrieval:r1", "offer", f"x{number}"), sender, 1, said, heal=False)


def kept(messages, maximum=3):
    entity = NOBODY
    for message in messages:
        if not is_cut(entity, message):
            entity = bounded(with_message(entity, message), message.address.topic, maximum)
    return entity


def test_every_topic_is_bounded_or_comes_from_few():
    """A new topic gets a line here or a bound; what is answered is bounded."""
    topics = {topic for layer in STAGES for topic in layer.hears}
    assert topics == KEPT.keys() | FEW.keys()
    assert not KEPT.keys() & FEW.keys()
    assert KEPT.keys() >= ANSWERED


@given(st.permutations(range(8)))
def test_the_first_by_time_are_kept_whatever_came_first(order):
    """And the place of the first one left out is noted."""
    entity = kept([offer(number) for number in order])
    assert {subject for _, subject, _ in entity.heard("offer")} == {"x0", "x1", "x2"}
    assert entity.cut == {"offer": (at(3), "action:x3", "x3")}


def test_of_a_querys_askers_the_last_are_kept():
    """New retrievals get the labels of their query, however often it was asked before."""
    asks = [
        Message(Address("query:q", "asks", ""), f"retrieval:r{number}", 1, Asks(at(number)), heal=False)
        for number in range(6)
    ]
    assert {sender for sender, _, _ in kept(asks).heard("asks")} == {
        "retrieval:r3", "retrieval:r4", "retrieval:r5",
    }  # fmt: skip


def test_at_one_time_identity_decides():
    """Sender, then subject; never arrival."""
    same = [offer(1, sender=f"document:d{number}") for number in (4, 2, 5, 1, 3)]
    assert {sender for sender, _, _ in kept(same).heard("offer")} == {
        "document:d1", "document:d2", "document:d3",
    }  # fmt: skip


def test_below_the_bound_and_on_other_topics_nothing_changes():
    """The same object comes back."""
    entity = kept([offer(1), offer(2)])
    assert entity.cut == {}
    assert bounded(entity, "offer", 2) is entity
    shown = with_message(
        NOBODY, Message(Address("retrieval:r1", "shown", ""), "request:q", 1, Shown(1), False)
    )
    assert bounded(shown, "shown", 0) is shown


def test_nothing_is_kept_beyond_the_cut_again_but_what_is_taken_back_is_heard():
    """The cut never rises; "nothing" is no statement that takes a place."""
    entity = kept([offer(number) for number in range(5)])
    taken_back = offer(1)._replace(version=2, content=None)
    assert not is_cut(entity, taken_back)
    entity = with_message(entity, taken_back)
    assert is_cut(entity, offer(3)) and is_cut(entity, offer(4))
    assert not is_cut(entity, offer(0))


CLAIMS = [
    user("export", 100 + number, source_retrieval_id="r1", consumed_asset_id="a1", event_id=f"x{number}")
    for number in range(7)
]


async def settled_in(batches, semantics=SMALL):
    store = MemoryStore(semantics)
    term = await store.open()
    met = 0
    for batch in batches:
        met += sum((await drive(events(*batch), semantics, store, term, "t")).bounded.values())
    return store, met


def cut_up(sent, cuts):
    edges = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    return [sent[start:end] for start, end in itertools.pairwise(edges)]


@settings(max_examples=60, deadline=None)
@given(st.permutations(CLAIMS), st.lists(st.integers(1, 7), max_size=3))
async def test_actions_beyond_the_bound_are_credited_and_are_no_evidence(order, cuts):
    """Each of seven is attributed to the retrieval; the first three by time are its evidence."""
    store, met = await settled_in([[retrieval("r1", ["a1"])], *cut_up(order, cuts)])
    outputs = running.outputs_in(store, SMALL)
    assert [one["resolution"] for one in outputs["attributions"].values()] == ["explicit"] * 7
    credits = [credit["action_id"] for credit in outputs["outcomes"]["r1"]["credits"]]
    assert sorted(credits) == ["x0", "x1", "x2"]
    assert met >= 4


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.permutations(range(9)), st.lists(st.integers(1, 9), max_size=4))
async def test_figures_at_the_bound_are_a_function_of_the_events(order, cuts):
    """Retrievals, prompts and labels of one session and query, more than are kept, in any order and batches."""
    sent = [
        one
        for number in range(9)
        for one in [
            retrieval(f"r{number}", ["a1"], 10 * number, request_id=f"q{number}", query="cats", need_id="n")
        ]
    ]
    expected, _ = await settled_in([sent])
    found, _ = await settled_in(cut_up([sent[number] for number in order], cuts))
    as_of = at(7200)
    assert running.metrics_of(found, as_of, SMALL) == running.metrics_of(expected, as_of, SMALL)


async def test_placements_beyond_the_bound_do_not_exist_for_their_document():
    """An action on one that is left out dangles, as one on a placement that never came."""
    placed = [placement(f"p{number}", "a1", 10 + number, source_retrieval_id="r1") for number in range(5)]
    acts = [
        user("edit", 100, document_id="d1", placement_id=name, event_id=f"on-{name}") for name in ("p1", "p4")
    ]
    store, _ = await settled_in([[retrieval("r1", ["a1"])], placed, acts])
    found = running.outputs_in(store, SMALL)["attributions"]
    assert (found["on-p1"]["resolution"], found["on-p4"]["resolution"]) == ("inherited", "dangling")


async def test_state_stays_bounded_and_so_does_each_write():
    """Ten times the bound: what is stored of the retrieval does not grow after the bound is met."""
    sizes = []
    store, term = MemoryStore(SMALL), None
    term = await store.open()
    await drive(events(retrieval("r1", ["a1"]), prompt()), SMALL, store, term, "t")
    for number in range(30):
        act_of_many = user("click", 100 + number, source_retrieval_id="r1", event_id=f"y{number:02}")
        await drive(events(act_of_many), SMALL, store, term, "t")
        entity = store.entities()["retrieval:r1"]
        sizes.append(len(entity.said["offer"]))
    assert max(sizes) == sizes[-1] == 3


@pytest.mark.parametrize("maximum", [3, 1000])
async def test_a_label_reaches_the_newest_of_a_popular_query(maximum):
    """Within the bound all of them, beyond it the newest: whether the label came before or after."""
    semantics = msgspec.structs.replace(DEFAULT, maximum_statements=maximum)
    first = [retrieval(f"r{number}", ["a1"], number, query="cats") for number in range(3)]
    label = judgement("relevance", query="cats", asset_id="a1", grade=1, ts=at(50))
    later = [retrieval(f"r{number}", ["a1"], number, query="cats") for number in range(3, 6)]
    newest = {f"r{number}" for number in range(max(0, 6 - maximum), 6)}
    for order in ([first, [label], later], [first, later, [label]], [later, [label], first]):
        store, _ = await settled_in(order, semantics)
        outcomes = running.outputs_in(store, semantics)["outcomes"]
        assert {name for name, one in outcomes.items() if one.get("ndcg_at_10") is not None} == newest


async def test_records_of_one_identity_beyond_the_bound_are_counted():
    """The first by time are kept."""
    semantics = msgspec.structs.replace(DEFAULT, maximum_variants=2)
    store = MemoryStore(semantics)
    copies = [retrieval("r1", ["a1"], number, event_id=f"e{number}") for number in range(5)]
    found = await drive(events(*copies), semantics, store, await store.open(), "t")
    assert found.bounded == {RECORDS: 3}
    assert [record.event_id for record in store.entities()["retrieval:r1"].own] == ["e0", "e1"]
