"""The tables of who speaks when: knowledge runs one way."""

import pytest

from attribution import actions, documents, inference, labels, need, placements, requests, retrievals
from attribution.derived import READS
from attribution.entities import Entity, split_key
from attribution.events import EVENT_TYPES
from attribution.semantics import Semantics
from attribution.stages import HOMES, KINDS, SCOPES, STAGES, SUBJECT, WHOLE
from streams.commands.simulator import COVERAGE, simulate
from tests.building import BASE, agent, judgement, placement, prompt, retrieval, settle, user

LAYERS = {layer.name: number for number, layer in enumerate(STAGES)}
# Which kinds of entity a topic is said to; the addresses that the code makes are compared with it below.
RECEIVERS = {
    ("prompt", "request_excluded"): {"retrieval", "placement", "action", "judgement"},
    ("placing", "placement"): {"document"},
    ("placing", "asked"): {"retrieval"},
    ("placing", "placing"): {"action"},
    ("judging", "label"): {"request", "retrieval"},
    ("judging", "grade"): {"retrieval", "query"},
    ("intake", "act"): {"document", "request"},
    ("intake", "show"): {"request"},
    ("intake", "offer"): {"retrieval"},
    ("intake", "seen"): {"session"},
    ("intake", "unresolved"): {"session"},
    ("intake", "decision"): {"action"},
    ("intake", "asked"): {"retrieval"},
    ("record", "record"): {"request"},
    ("record", "retrieval_excluded"): {"document", "request"},
    ("record", "lists"): {"request"},
    ("record", "fired"): {"conversation"},
    ("record", "reformulated"): {"retrieval"},
    ("record", "asks"): {"query"},
    ("record", "listed"): {"session"},
    ("record", "linked"): {"retrieval"},
    ("record", "link_excluded"): {"retrieval"},
    ("query", "query_grades"): {"retrieval"},
    ("research", "researched"): {"retrieval"},
    ("document", "act"): {"request"},
    ("document", "offer"): {"retrieval"},
    ("document", "decision"): {"action"},
    ("document", "seen"): {"session"},
    ("document", "unresolved"): {"session"},
    ("turn", "shown"): {"retrieval"},
    ("turn", "offer"): {"retrieval"},
    ("turn", "decision"): {"action"},
    ("turn", "routed"): {"retrieval"},
    ("turn", "goal"): {"retrieval"},
    ("turn", "unresolved"): {"session"},
    ("infer", "guess"): {"action"},
    ("infer", "decision"): {"action"},
    ("infer", "offer"): {"retrieval"},
    ("evidence", "answer"): {"action"},
    ("evidence", "page_used"): {"retrieval"},
    ("resolution", "acted"): {"request"},
    ("resolution", "outcome"): {"session"},
    ("use", "substituted"): {"retrieval"},
    ("verdict", "ended"): {"session"},
}
# What a layer may say to its own kind at its own turn: a retrieval to the one that it names, and back.
TO_ITSELF = {("record", "linked"), ("record", "link_excluded")}


def hearing(kind, topic):
    return [number for number, layer in enumerate(STAGES) if layer.kind == kind and topic in layer.hears]


def test_names_of_layers_are_unique_and_their_kinds_known():
    """A name stands for one layer."""
    assert len(LAYERS) == len(STAGES)
    assert {layer.kind for layer in STAGES} == set(KINDS)


def test_a_topic_is_heard_by_at_most_one_layer_of_a_kind():
    """Otherwise one statement would be applied in two places."""
    for kind in KINDS:
        topics = [topic for layer in STAGES if layer.kind == kind for topic in layer.hears]
        assert len(topics) == len(set(topics))


@pytest.mark.parametrize(("layer", "topic"), RECEIVERS, ids=str)
def test_what_a_layer_says_is_heard_by_a_later_layer_of_each_kind_it_is_said_to(layer, topic):
    """Knowledge runs one way, so that a batch settles in one pass; only links stay within their layer."""
    for kind in RECEIVERS[layer, topic]:
        (heard,) = hearing(kind, topic)
        assert heard > LAYERS[layer] or ((layer, topic) in TO_ITSELF and heard == LAYERS[layer])


def test_every_topic_that_is_said_has_its_receivers_in_this_table():
    """A new topic is not forgotten here."""
    assert {(layer.name, topic) for layer in STAGES for topic in layer.says} == set(RECEIVERS)


def test_every_topic_that_is_heard_is_said_by_an_earlier_layer():
    """`named` alone comes from the batch itself, and links alone from the same layer."""
    for number, layer in enumerate(STAGES):
        for topic in layer.hears:
            sayers = [
                LAYERS[name]
                for (name, said), kinds in RECEIVERS.items()
                if said == topic and layer.kind in kinds
            ]
            allowed = number + 1 if (layer.name, topic) in TO_ITSELF else number
            assert topic == "named" or (sayers and max(sayers) < allowed)


def test_every_topic_has_a_scope_and_no_other_has():
    """What is restated when a statement comes again is decided for each."""
    topics = {topic for layer in STAGES for topic in (*layer.hears, *layer.says)}
    assert set(SCOPES) == topics
    assert set(SCOPES.values()) == {WHOLE, SUBJECT}


def test_every_event_type_has_a_home_whose_first_layer_takes_it():
    """And every home is a kind of entity."""
    assert set(HOMES) == set(EVENT_TYPES)
    assert set(HOMES.values()) <= set(KINDS)


def test_only_prompts_and_retrievals_can_conflict():
    """Records of one placement are its history, and all else is known by its event_id."""
    assert {kind for kind, of in KINDS.items() if of.conflicts} == {"request", "retrieval"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_entity_of_which_nothing_is_known_counts_and_announces_nothing(kind):
    """The entity nobody has written yet is in no figure."""
    assert KINDS[kind].contribute("x", Entity(), Semantics()) == {}
    assert KINDS[kind].outputs("x", Entity(), Semantics()) == []


@pytest.mark.parametrize("layer", STAGES, ids=lambda layer: layer.name)
def test_a_layer_of_which_nothing_is_known_says_nothing(layer):
    """Silence is the start."""
    assert layer.speak("x", Entity(), Semantics()) == {}


@pytest.mark.slow
def test_layers_say_what_their_rows_name_to_the_kinds_expected_and_nothing_else():
    """Over traffic that holds every rule, the addresses are exactly those of the table."""
    records, _ = simulate(seed=3, start_ms=BASE, end_ms=BASE + 6 * 3_600_000, prompts=60, rates=COVERAGE)
    people = (record.value for record in records if record.value is not None)
    named = {"request_id": "q-robot"}
    robots = (
        prompt("q-robot", synthetic=True),
        retrieval("r-robot", **named),
        user("export", **named),
        placement("p-robot", source_retrieval_id="r-robot", **named),
        judgement("goal", reached=True, **named),
        retrieval("r-link", page_of="r-robot"),
        agent("show", request_id="q-shown", source_retrieval_id="r-robot"),
    )
    sent = (*people, *robots, *SPOKEN)
    said = addresses(Semantics(), *sent) | addresses(Semantics(inference="credit"), *sent)
    assert said == {(layer, topic, kind) for (layer, topic), kinds in RECEIVERS.items() for kind in kinds}


# Labels, needs and pages: what a stream without judges and long conversations does not hold.
SPOKEN = (
    prompt("q-a"),
    retrieval("r-a", ["a1"], 0, request_id="q-a", query="card", need_id="n", role="act_on"),
    retrieval("r-b", ["a2"], 5, request_id="q-b", query="card", need_id="n"),
    retrieval("r-c", ["a3"], 9, request_id="q-c", reformulates_retrieval_id="r-a"),
    retrieval("r-d", ["a4"], 9, request_id="q-d", page_of="r-a"),
    user("export", 20, event_id="x-d", consumed_asset_id="a4", source_retrieval_id="r-d"),
    agent("use", 9, event_id="x-foreign", request_id="q-a", consumed_asset_id="a9"),
    user("click", 30, event_id="x-open", consumed_asset_id="a2"),
    user("click", 30, event_id="x-in-document", consumed_asset_id="a2", document_id="d-empty"),
    user("click", 30, event_id="x-in-request", consumed_asset_id="a2", request_id="q-empty"),
    *(judgement("relevance", event_id=f"j-{n}", grade=1, asset_id="a1", **on)
      for n, on in enumerate(({"retrieval_id": "r-a"}, {"query": "card"}))),
    *(judgement("goal", event_id=f"g-{n}", reached=True, **on)
      for n, on in enumerate(({"retrieval_id": "r-a"}, {"request_id": "q-a"}))),
    judgement("intent", request_id="q-a", retrieval_intents=1),
)  # fmt: skip


def addresses(semantics, *sent):
    """Every (layer, topic, kind of receiver) that is said over these records."""
    said = set()
    for key, entity in settle(*sent, semantics=semantics).store.entities().items():
        kind, identity = split_key(key)
        for layer in (layer for layer in STAGES if layer.kind == kind):
            for address in layer.speak(identity, entity, semantics):
                said.add((layer.name, address.topic, split_key(address.receiver)[0]))
    return said


@pytest.mark.slow
def test_what_a_layer_says_depends_only_on_the_topics_that_it_reads():
    """Without the others it says the same: so it is asked once for the same records and topics of a batch."""
    records, _ = simulate(seed=3, start_ms=BASE, end_ms=BASE + 6 * 3_600_000, prompts=60, rates=COVERAGE)
    sent = (*(record.value for record in records if record.value is not None), *SPOKEN)
    for semantics in (Semantics(), Semantics(inference="credit", inferred_research="count")):
        for key, entity in settle(*sent, semantics=semantics).store.entities().items():
            kind, identity = split_key(key)
            for layer in (layer for layer in STAGES if layer.kind == kind):
                heard = {topic: said for topic, said in entity.said.items() if topic in READS[layer.name]}
                without = Entity(own=entity.own, said=heard)
                assert layer.speak(identity, without, semantics) == layer.speak(identity, entity, semantics)


def test_every_layer_speaks_with_the_function_of_its_module():
    """The order of the table is the order of the theory."""
    functions = {layer.name: layer.speak for layer in STAGES}
    assert functions["prompt"] is requests.speak_prompt
    assert functions["turn"] is requests.speak_turn
    assert functions["placing"] is placements.speak_placement
    assert functions["document"] is documents.speak_document
    assert functions["record"] is retrievals.speak_record
    assert functions["evidence"] is retrievals.speak_evidence
    assert functions["intake"] is actions.speak_intake
    assert functions["resolution"] is actions.speak_resolution
    assert functions["judging"] is labels.speak_judgement
    assert functions["query"] is labels.speak_query
    assert functions["research"] is need.speak_research
    assert functions["infer"] is inference.speak_inference
    assert functions["use"] is requests.speak_use
    assert functions["verdict"] is retrievals.speak_verdict
