"""The engine: one batch, step by step, against a table that loses comparisons, crashes and is shared.

`settle` is driven by hand here. Between any two of its effects another batch may settle completely, or the
process may end and the batch come again: the outcome must be what one batch of everything gives.
"""

import random
from collections import Counter
from itertools import permutations

import pytest

from attribution.contribution import difference
from attribution.derived import outputs_of
from attribution.engine import Load, Save, settle
from attribution.entities import Entity, key_of, split_key
from attribution.outputs import Withdrawn
from attribution.semantics import Exclusion, Semantics
from attribution.stages import KINDS, STAGES
from tests.building import DEFAULT, agent, at, events, judgement, placement, prompt, retrieval, user

pytestmark = pytest.mark.slow  # every order, and a crash at every effect, of eleven scenes

RULES = Semantics(exclusion=Exclusion(session_prefixes=("probe-",)))


def no_floor(key):
    return 0


class Table:
    """What a store holds, and every effect that was asked of it."""

    def __init__(self, whole=False):
        self.whole = whole  # can a save be all or nothing?
        self.entities = {}
        self.counters = Counter()
        self.effects = []

    def answer(self, effect):
        self.effects.append(effect)
        if isinstance(effect, Load):
            return {key: self.entities[key] for key in effect.keys if key in self.entities}
        stored = {write.key: self.entities.get(write.key, Entity()).version for write in effect.writes}
        won = [write for write in effect.writes if stored[write.key] == write.expected]
        if effect.whole and len(won) < len(effect.writes):
            won = []
        for write in won:
            self.entities[write.key] = write.entity
            self.counters.update(write.deltas)
        return {write.key for write in effect.writes} - {write.key for write in won}

    @property
    def saves(self):
        return [effect.writes for effect in self.effects if isinstance(effect, Save)]

    @property
    def writes(self):
        return [write for writes in self.saves for write in writes]


class Batch:
    """A batch on its way."""

    def __init__(self, table, sent, semantics=DEFAULT, floor=no_floor):
        self._table = table
        self._settling = settle(sent, semantics, floor, whole=table.whole)
        self._answer = None
        self.dispositions = None

    def step(self):
        """One effect; False once there are none left."""
        try:
            effect = self._settling.send(self._answer)
        except StopIteration as finished:
            self.dispositions = finished.value.dispositions
            return False
        self._answer = self._table.answer(effect)
        return True

    def run(self, steps=10**6):
        """At most so many effects; says how many there were."""
        return next((done for done in range(steps) if not self.step()), steps)


def settled(*batches, semantics=DEFAULT, floor=no_floor, table=None):
    table = table or Table()
    for batch in batches:
        Batch(table, batch, semantics, floor).run()
    return table


def dispositions(*sent, semantics=DEFAULT, one_by_one=True):
    table, found = Table(), []
    batches = [[one] for one in events(*sent)] if one_by_one else [events(*sent)]
    for batch in batches:
        running = Batch(table, batch, semantics)
        running.run()
        found += running.dispositions
    return found


def outputs(table, semantics=DEFAULT):
    """What is announced; an action that is withdrawn is as good as one that never was."""
    found = [
        output for key, entity in table.entities.items() for output in outputs_of(key, entity, semantics)
    ]
    return {
        (output.topic, output.key): output.record
        for output in found
        if not isinstance(output.record, Withdrawn)
    }


def audited(table, semantics=DEFAULT):
    """The counters, which must be what the entities themselves contribute."""
    total = Counter()
    for key, entity in table.entities.items():
        kind, name = split_key(key)
        total.update(KINDS[kind].contribute(name, entity, semantics))
    counted = {counter: count for counter, count in table.counters.items() if count}
    assert counted == total
    return counted


# --- two batches that meet, and batches that come again ------------------------------------------------

CHAIN = (
    [retrieval(request_id="q1"), placement("p1", source_retrieval_id="r1", actor="agent", request_id="q1")],
    [
        placement("p2", source_placement_id="p1"),
        user("export", document_id="d1"),
        user("edit", placement_id="p2", document_id="d1"),
    ],
)
SHOWN = (
    [retrieval(request_id="q1"), agent("use", 30, request_id="q1", consumed_asset_id="a1")],
    [agent("show", 20, request_id="q1"), user("select", request_id="q1", consumed_asset_id="a2")],
)
MOVED = (
    [retrieval(), placement(source_retrieval_id="r1"), user("export", 120, event_id="x", document_id="d1")],
    [placement(document_id="d2"), user("export", 110, event_id="x", document_id="d2")],
)
ROBOT = (
    [retrieval(request_id="q1"), placement(source_retrieval_id="r1"), user("export", document_id="d1")],
    [prompt(synthetic=True), retrieval("r2"), user("share", source_retrieval_id="r2", request_id="q1")],
)
REUSED = (
    [retrieval(seconds=5, event_id="late"), user("select", source_retrieval_id="r1", consumed_asset_id="a1")],
    [retrieval(seconds=1, event_id="first", returned=["a9"]), agent("select", source_retrieval_id="r1")],
)
ANOTHER_REQUEST = (
    [retrieval(seconds=5, request_id="q1"), user("select", request_id="q1", consumed_asset_id="a1")],
    [retrieval(seconds=1, request_id="q2"), user("click", request_id="q2", consumed_asset_id="a1")],
)
AGAIN = (
    [retrieval(request_id="q1", need_id="n", query="card"), retrieval("r2", page_of="r1", request_id="q1")],
    [
        retrieval(
            "r3", ["a1"], 60, request_id="q3", need_id="n", query="card", reformulates_retrieval_id="r1"
        ),
        user("export", 30, source_retrieval_id="r2", consumed_asset_id="a1"),
    ],
)
PASSED_OVER = (
    [retrieval(role="act_on", request_id="q1"), agent("use", request_id="q1", consumed_asset_id="a9")],
    [
        retrieval(seconds=1, request_id="q1", event_id="other", returned=["a9"]),
        placement("p1", "a9", 9, derived_from_asset_id="a1"),
        agent("edit", request_id="q1", document_id="d1", consumed_asset_id="a9"),
    ],
)
JUDGED = (
    [
        prompt(),
        retrieval(request_id="q1", query="card"),
        judgement("relevance", query="card", asset_id="a2", grade=1),
    ],
    [
        judgement("intent", request_id="q1", retrieval_intents=0),
        judgement("goal", request_id="q1", reached=True),
        judgement("relevance", event_id="own", retrieval_id="r1", asset_id="a1", grade=2),
    ],
)
LINKED = (
    [
        retrieval("r2", page_of="r1", seconds=5),
        user("export", source_retrieval_id="r2", consumed_asset_id="a1"),
    ],
    [retrieval(synthetic=True), retrieval("r3", reformulates_retrieval_id="r2", seconds=9)],
)
GUESSED = (
    [retrieval(), user("export", consumed_asset_id="a1")],
    [retrieval("r2", seconds=60), placement(actor="user", seconds=90), user("click", consumed_asset_id="a1")],
)
NAMES = {
    **{"chain": CHAIN, "shown": SHOWN, "moved": MOVED, "robot": ROBOT, "reused": REUSED},
    **{"another request": ANOTHER_REQUEST, "again": AGAIN, "passed over": PASSED_OVER, "judged": JUDGED},
    **{"linked": LINKED, "guessed": GUESSED},
}
SCENES = pytest.mark.parametrize("scene", NAMES.values(), ids=NAMES)
MODES = pytest.mark.parametrize("whole", [False, True], ids=["layered", "whole"])
MEANINGS = pytest.mark.parametrize(
    "semantics", [DEFAULT, Semantics(inference="credit", inferred_research="count")], ids=["shadow", "credit"]
)


def orders(sent):
    """All orders of a few events; of more, a sample."""
    found = list(permutations(sent))
    return found if len(found) <= 60 else random.Random(1).sample(found, 60)


@SCENES
@MEANINGS
@MODES
def test_batches_may_be_cut_and_ordered_as_they_come(scene, semantics, whole):
    """Outputs and counters are those of all events at once."""
    sent = events(*scene[0], *scene[1])
    at_once = settled(sent, semantics=semantics)
    for order in orders(sent):
        table = settled(*([one] for one in order), semantics=semantics, table=Table(whole))
        assert outputs(table, semantics) == outputs(at_once, semantics)
        assert audited(table, semantics) == audited(at_once, semantics)


@SCENES
@MEANINGS
@MODES
def test_another_batch_may_settle_between_any_two_effects(scene, semantics, whole):
    """What it took away is loaded again and settled again."""
    first, second = (events(*part) for part in scene)
    expected = settled([*first, *second], semantics=semantics)
    for one, other in ((first, second), (second, first)):
        for steps in range(Batch(Table(whole), one, semantics).run()):
            table = Table(whole)
            interrupted = Batch(table, one, semantics)
            interrupted.run(steps)
            settled(other, table=table, semantics=semantics)
            interrupted.run()
            assert outputs(table, semantics) == outputs(expected, semantics)
            assert audited(table, semantics) == audited(expected, semantics)


def test_a_comparison_lost_at_a_later_layer_restates_what_an_earlier_one_changed():
    """The winner took over our record without telling of it, and we find nothing changed: so all is told."""
    before, late, other = (
        [user("export", event_id="x1", source_retrieval_id="r1")],
        [retrieval(), user("export", event_id="x2", source_retrieval_id="r1")],
        [user("export", event_id="x3", source_retrieval_id="r1")],
    )
    expected = settled(events(*before, *late, *other))
    for steps in range(Batch(settled(events(*before)), events(*late)).run()):
        table = settled(events(*before))
        interrupted = Batch(table, events(*late))
        interrupted.run(steps)
        settled(events(*other), table=table)
        interrupted.run()
        assert outputs(table) == outputs(expected)
        assert audited(table) == audited(expected)


@SCENES
@MEANINGS
@MODES
def test_a_batch_that_crashed_between_any_two_effects_comes_again_and_mends_it(scene, semantics, whole):
    """Also where the batch after it was already settled."""
    first, second = (events(*part) for part in scene)
    expected = settled([*first, *second], semantics=semantics)
    for one, other in ((first, second), (second, first)):
        for steps in range(Batch(Table(whole), one, semantics).run()):
            for later in ([one, other], [other, one]):
                table = Table(whole)
                Batch(table, one, semantics).run(steps)
                settled(*later, table=table, semantics=semantics)
                assert outputs(table, semantics) == outputs(expected, semantics)
                assert audited(table, semantics) == audited(expected, semantics)


@SCENES
@MEANINGS
@MODES
def test_a_second_batch_that_crashed_comes_again_event_by_event(scene, semantics, whole):
    """How the broker cuts the redelivery does not matter."""
    for first, second in ([events(*part) for part in scene], [events(*part) for part in reversed(scene)]):
        expected = settled([*first, *second], semantics=semantics)
        for steps in range(
            Batch(settled(first, semantics=semantics, table=Table(whole)), second, semantics).run()
        ):
            table = settled(first, semantics=semantics, table=Table(whole))
            Batch(table, second, semantics).run(steps)
            settled(*([one] for one in reversed(second)), table=table, semantics=semantics)
            assert outputs(table, semantics) == outputs(expected, semantics)
            assert audited(table, semantics) == audited(expected, semantics)


def test_who_names_an_excluded_request_hears_of_it_although_the_request_does_not_come_again():
    """A crash after the request noted the name is mended by the name's redelivery alone."""
    robot = events(prompt(synthetic=True))
    naming = events(retrieval(), user("export", source_retrieval_id="r1", request_id="q1"))
    for steps in range(Batch(settled(robot), naming).run()):
        table = settled(robot)
        Batch(table, naming).run(steps)
        settled(naming, table=table)
        assert outputs(table)["attributions", "user-export"].resolution == "excluded"
        assert outputs(table)["outcomes", "r1"].credits == ()


# --- the order of effects -----------------------------------------------------------------------------


def test_senders_are_saved_before_their_receivers_hear_of_it():
    """One save a layer, in the order of the layers, each of entities of the layer's kind."""
    sent = [
        prompt(),
        *CHAIN[0],
        *CHAIN[1],
        agent("use", request_id="q1", consumed_asset_id="a9"),
        retrieval("r2", query="card", need_id="n"),
        retrieval("r3", query="card", need_id="n", seconds=9),
        judgement("relevance", query="card", asset_id="a1", grade=1),
    ]
    table = settled(events(*sent))
    kinds = [{split_key(write.key)[0] for write in writes} for writes in table.saves]
    assert kinds == [{layer.kind} for layer in STAGES]


def test_what_may_be_saved_whole_is_saved_once():
    """Each entity is written once, and counted and announced as by all layers one after the other."""
    sent = [events(*part) for part in CHAIN]
    layered, whole = settled(*sent), settled(*sent, table=Table(whole=True))
    assert [len(writes) for writes in whole.saves] == [
        len({one.key for one in writes}) for writes in whole.saves
    ]
    assert len(whole.saves) == len(sent)
    assert outputs(whole) == outputs(layered)
    assert audited(whole) == audited(layered)


def test_a_whole_save_that_is_lost_is_settled_layer_by_layer():
    """Somebody else writes at the same time: then each layer has its own chance."""
    table, other = Table(whole=True), events(user("export", source_retrieval_id="r1"))
    batch = Batch(table, events(*CHAIN[0]))
    while not any(isinstance(effect, Load) and "retrieval:r1" in effect.keys for effect in table.effects):
        batch.step()
    settled(other, table=table)
    table.effects = []
    batch.run()
    assert [effect.whole for effect in table.effects if isinstance(effect, Save)][:2] == [True, False]
    assert outputs(table) == outputs(settled([*events(*CHAIN[0]), *other]))


def test_what_a_layer_says_to_itself_is_settled_before_the_next_layer():
    """A page of a page of a synthetic retrieval is excluded in the same batch, whatever the order."""
    chain = [
        retrieval("r3", page_of="r2", seconds=3),
        retrieval("r2", page_of="r1", seconds=2),
        retrieval("r1", synthetic=True),
    ]
    for order in permutations(events(*chain)):
        table = settled(list(order))
        assert not audited(table)
        assert {record.excluded for record in outputs(table).values()} == {True}


def test_an_entity_is_loaded_once_a_batch():
    """However many layers visit it."""
    table = settled(events(*CHAIN[0], *CHAIN[1]))
    loaded = [key for effect in table.effects if isinstance(effect, Load) for key in effect.keys]
    assert len(loaded) == len(set(loaded))


def test_a_batch_of_nothing_has_no_effect():
    """Neither load nor save."""
    assert settled([]).effects == []


def test_a_lost_comparison_is_loaded_again_and_written_above_what_won():
    """The loser's second write expects the winner's version, and holds what both were sent."""
    table = Table()
    batch = Batch(table, events(user("export", source_retrieval_id="r1", consumed_asset_id="a1")))
    batch.step()
    while "retrieval:r1" not in getattr(table.effects[-1], "keys", ()):
        batch.step()
    winner = settled(events(retrieval()), table=table).entities["retrieval:r1"].version
    table.effects = []
    batch.run()
    assert [write.expected for write in table.writes if write.key == "retrieval:r1"] == [0, winner]
    assert table.entities["retrieval:r1"].version == winner + 1
    assert outputs(table)["attributions", "user-export"].resolution == "explicit"


def test_a_redelivered_event_is_stated_again_although_it_changes_nothing():
    """All whom its layers tell something are looked at; nothing is counted, announced or said otherwise."""
    sent = events(*CHAIN[0], *CHAIN[1])
    table = settled(sent)
    before, table.effects = outputs(table), []
    settled([sent[0]], table=table)
    looked_at = {key for effect in table.effects if isinstance(effect, Load) for key in effect.keys}
    assert looked_at >= {"retrieval:r1", "request:q1", "action:user-export", "action:place:d1/p1"}
    assert not any(write.deltas or write.due for write in table.writes)
    assert {write.key for write in table.writes} == {
        *("request:q1", "session:s1", "action:place:d1/p1"),
    }
    assert outputs(table) == before


def test_a_receiver_that_lost_its_state_hears_everything_again_by_redelivery():
    """A save that did not survive is repaired, whichever it was."""
    sent = events(*CHAIN[0], *CHAIN[1])
    whole = settled(sent)
    for key in whole.entities:
        table = settled(sent)
        lost = table.entities.pop(key)
        kind, name = split_key(key)
        table.counters.update(difference(KINDS[kind].contribute(name, lost, DEFAULT), {}))
        settled(sent, table=table)
        assert outputs(table) == outputs(whole)
        assert audited(table) == audited(whole)


# --- versions, deltas, marks --------------------------------------------------------------------------


def test_a_new_version_is_above_the_old_one_and_at_least_the_floor():
    """A version number never comes back with other content, even after a roll-back."""
    first, second = events(retrieval(seconds=2), retrieval(seconds=1))
    table = settled([first], floor=lambda key: 1000 if key == "retrieval:r1" else 5)
    assert table.entities["retrieval:r1"].version == 1000
    assert table.entities["request:r1"].version == 7
    settled([second], table=table)
    assert table.entities["retrieval:r1"].version == 1001
    third = events(retrieval(seconds=0))
    settled(third, floor=lambda key: 1002, table=table)
    assert table.entities["retrieval:r1"].version == 1002


def test_a_write_expects_the_version_that_was_loaded_or_written_before():
    """Within a batch each write of an entity builds on its last."""
    table = settled(events(*CHAIN[0], *CHAIN[1]))
    version = {}
    for write in table.writes:
        assert write.expected == version.get(write.key, 0)
        version[write.key] = write.entity.version
    assert any(write.expected for write in table.writes)


def test_a_correction_takes_back_what_was_counted():
    """An earlier record moves the retrieval to its own minute and list."""
    table = settled(events(retrieval(seconds=70)), events(retrieval(seconds=5, returned=[])))
    assert {name for _, name in audited(table) if name.startswith(("retrievals", "layer1"))} == {
        "retrievals|unspecified|unknown", "layer1_retrievals|unspecified|unknown", "retrievals_null|unspecified|unknown",
    }  # fmt: skip
    assert {minute for minute, _ in audited(table)} == {at(0) // 60_000}


def due(table):
    return {write.key for write in table.writes if write.due}


def test_what_is_announced_is_due_and_nothing_else():
    """Actions with a resolution and logged retrievals; neither requests, placements nor documents."""
    assert due(settled(events(*CHAIN[0], *CHAIN[1]))) == {
        "retrieval:r1", "action:place:d1/p1", "action:user-export", "action:user-edit",
    }  # fmt: skip


def test_an_action_is_due_only_once_it_is_resolved():
    """The write by which it waits for an answer announces nothing."""
    table = settled(events(user("export", source_retrieval_id="r1")))
    assert [write.due for write in table.writes if write.key == "action:user-export"] == [False, True]


def test_what_changes_no_output_is_not_due():
    """A duplicate with other content of a later time, or an unasked answer, changes nothing to be told."""
    table = settled(events(retrieval(seconds=1)))
    table.effects = []
    settled(events(retrieval(seconds=2, query="card")), table=table)
    assert table.writes
    assert due(table) == set()


def test_a_conflict_is_due_with_the_entity_that_decided_it():
    """A request is announced for nothing else."""
    table = settled(events(prompt(seconds=1)))
    assert due(table) == set()
    settled(events(prompt(seconds=2, event_id="other")), table=table)
    assert due(table) == {"request:q1"}


def test_a_new_credit_is_due_on_both_sides():
    """The retrieval's state changes, and the action gets its resolution."""
    table = settled(events(retrieval()))
    table.effects = []
    settled(events(user("export", source_retrieval_id="r1", consumed_asset_id="a1")), table=table)
    assert due(table) == {"retrieval:r1", "action:user-export"}


# --- former receivers ---------------------------------------------------------------------------------


def test_whoever_was_told_something_and_now_is_told_nothing_hears_that():
    """The address is kept, so that a crash does not hide it."""
    first, second = (events(*part) for part in MOVED)
    table = settled(first)
    assert outputs(table)["attributions", "x"].resolution == "document"
    settled(second, table=table)
    former = {address.receiver for address in table.entities["action:x"].former}
    assert former == {"document:d1"}
    assert outputs(table)["attributions", "x"].resolution == "none"
    assert outputs(table)["outcomes", "r1"].credits == ()


def test_a_receiver_that_is_told_something_again_is_no_longer_former():
    """An earlier record may lead back to where a later one began."""
    back = events(user("export", 100, event_id="x", document_id="d1"))
    table = settled(*(events(*part) for part in MOVED), back)
    assert {address.receiver for address in table.entities["action:x"].former} == {"document:d2"}
    assert outputs(table)["attributions", "x"].resolution == "document"


# --- dispositions -------------------------------------------------------------------------------------

A, D, C, S = "applied", "duplicate", "conflict", "synthetic"
FIRST, AGAIN = retrieval(seconds=1), retrieval(seconds=2)
OTHER = retrieval(seconds=3, event_id="other")
NAMELESS = user("export", event_id=None)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([FIRST], [A]),
        ([FIRST, FIRST, FIRST], [A, D, D]),
        ([FIRST, AGAIN], [A, D]),
        ([AGAIN, FIRST], [A, D]),
        ([FIRST, OTHER], [A, C]),
        ([OTHER, FIRST], [A, C]),
        ([FIRST, OTHER, OTHER], [A, C, D]),
        ([OTHER, OTHER, FIRST], [A, D, C]),
        ([OTHER, FIRST, OTHER], [A, C, D]),
        ([prompt(seconds=1), prompt(seconds=2, event_id="other")], [A, C]),
        ([prompt(), prompt()], [A, D]),
        ([placement(), placement(seconds=70, op="remove")], [A, A]),
        ([placement(event_id="e"), placement(event_id="e", document_id="d2")], [A, D]),
        ([user("export"), user("export", 130)], [A, D]),
        ([NAMELESS, NAMELESS], [A, D]),
        ([NAMELESS, {**NAMELESS, "surface": "chat"}], [A, A]),
        ([judgement("goal", request_id="q1", reached=True)] * 2, [A, D]),
        ([retrieval(synthetic=True)], [S]),
        ([retrieval(session_guid="probe-1")], [S]),
        ([retrieval(seconds=1, synthetic=True), AGAIN], [S, S]),
        ([AGAIN, retrieval(seconds=1, synthetic=True)], [A, S]),
        ([FIRST, retrieval(seconds=2, synthetic=True)], [A, D]),
    ],
    ids=str,
)
def test_what_becomes_of_each_record(sent, expected):
    """Synthetic as the standing record has it, else duplicate, else conflict, else applied."""
    assert dispositions(*sent, semantics=RULES) == expected
    assert dispositions(*sent, semantics=RULES, one_by_one=False) == expected


def test_a_record_that_comes_again_after_a_crash_is_a_duplicate():
    """It was written, whatever else was not."""
    table, sent = Table(), events(retrieval())
    Batch(table, sent).run(4)
    again = Batch(table, sent)
    again.run()
    assert again.dispositions == ["duplicate"]


def test_outputs_are_those_of_the_kind_of_entity():
    """A key says what it is a key of."""
    table = settled(events(retrieval(), prompt("r1")))
    assert [one.topic for one in outputs_of("retrieval:r1", table.entities["retrieval:r1"], DEFAULT)] == [
        "outcomes"
    ]
    assert outputs_of(key_of("request", "r1"), table.entities["request:r1"], DEFAULT) == []
