"""The coverage ladder: which fields open which figures."""

from collections import Counter

import pytest

from metrics.catalogue import CATALOGUE
from streams.commands.doctor_ladder import CLOSED, LADDER, OPEN, PARTLY, climb
from streams.commands.doctor_notes import Notes
from tests.building import agent, judgement, placement, prompt, retrieval, settle, user
from tests.streams.commands.examined import examined

CLAIM = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}


def test_every_figure_of_the_catalogue_stands_on_exactly_one_rung():
    """A new figure needs a rung, and no figure is promised twice."""
    figures = Counter(f"lara_{name}" for rung in LADDER for need in rung.needs for name in need.figures)
    assert figures == Counter(figure.name for figure in CATALOGUE)


def test_the_ranked_list_comes_first():
    """What gives most comes first."""
    assert [rung.name for rung in LADDER][:3] == ["ranked list", "consumption", "placements"]


def steps(*sent):
    return {step.name: step for step in climb(examined(*sent))}


def test_without_any_record_every_rung_is_closed():
    """Nothing can be said, and nothing is promised."""
    assert {step.state for step in climb(Notes())} == {CLOSED}


@pytest.mark.parametrize(
    ("logged", "state"), [(0, CLOSED), (1, PARTLY), (94, PARTLY), (95, OPEN), (100, OPEN)]
)
def test_a_rung_is_open_when_nearly_all_records_carry_its_fields(logged, state):
    """Nearly: some lack a field for a good reason."""
    notes = Notes()
    notes.counts.update({"retrievals": 100, "lists": logged})
    assert climb(notes)[0].state == state


@pytest.mark.parametrize(
    ("rung", "sent"),
    [
        ("ranked list", [retrieval()]),
        ("consumption", [user("export", **CLAIM)]),
        ("placements", [placement(source_retrieval_id="r1"), user("export", document_id="d1")]),
        ("placements", [placement(source_placement_id="p0"), user("share", document_id="d1")]),
        ("placements", [placement(derived_from_asset_id="a0"), user("download", document_id="d1")]),
        ("requests", [prompt(), retrieval(request_id="q1"), agent("show", request_id="q1")]),
        ("roles", [retrieval(role="browse")]),
        (
            "judgements",
            [
                prompt(),
                retrieval(request_id="q1"),
                *(retrieval(f"x{number}", request_id="q2") for number in range(30)),
                judgement("relevance", retrieval_id="r1", asset_id="a1", grade=1),
                judgement("intent", request_id="q1", retrieval_intents=1),
                judgement("goal", request_id="q1", reached=True),
            ],
        ),
        (
            "failures",
            [user("reject"), *(user("click", event_id=f"{n}") for n in range(30)), retrieval(need_id="n")],
        ),
        ("failures", [user("reject"), retrieval(reformulates_retrieval_id="r0")]),
        ("costs", [retrieval(latency_ms=1, tokens=0), agent("use", latency_ms=1, tokens=2), user("export")]),
        ("turns", [prompt(route="joke", reformulation=False, conversation_id="c", user_id="u")]),
    ],
)
def test_each_rung_is_open_once_its_fields_are_logged(rung, sent):
    """On the records that should carry them, and closed without them."""
    assert steps(*sent)[rung].state == OPEN
    assert steps(prompt("other"))[rung].state == CLOSED


def test_a_rung_with_one_need_open_and_one_closed_is_partly_open():
    """And says which is which."""
    step = steps(user("export", source_retrieval_id="r1"))["consumption"]
    assert step.state == PARTLY
    assert [(need.logged, need.of, need.state) for need in step.fields] == [(1, 1, OPEN), (0, 1, CLOSED)]


def test_the_shares_are_those_of_the_report():
    """Where the report has the same share, the ladder shows the same."""
    sent = [
        retrieval(role="browse", request_id="q1"),
        retrieval("r2", None, role="muse"),
        retrieval("r3", []),
        user("export", **CLAIM),
        user("click"),
        agent("show", request_id="q1"),
    ]
    found, ladder = settle(*sent), steps(*sent)
    needs = {"returned_asset_ids": 0, "role": 4, "request_id": 3, "consumed_asset_id": 1}
    for field, rung in needs.items():
        need = next(one for one in ladder[LADDER[rung].name].fields if one.field.startswith(field))
        share = found.figure("lara_lineage_coverage_ratio", field=field)
        assert need.logged / need.of == share, field
