"""`lara explain document`: its placements as of a time, where they came from, and its actions."""

import pytest

from attribution.lineage import MAXIMUM_STEPS
from tests.building import DAY, MINUTE, agent, placement, prompt, retrieval, user

REMOVAL = placement(seconds=90, op="remove")


@pytest.fixture
def told(words):
    """The words for document d1, line by line without indentation."""

    def run(*sent, options=(), name="d1"):
        return [
            line.strip() for line in words(*sent, kind="document", name=name, options=options).splitlines()
        ]

    return run


@pytest.fixture
def found(data):
    def run(*sent, options=()):
        return data(*sent, kind="document", name="d1", options=options)

    return run


def states(found):
    return {one["placement_id"]: one["state"] for one in found["placements"]}


# --- placements -------------------------------------------------------------------------------------


def test_the_history_of_a_placement_is_told_record_by_record(told, found):
    """Who placed it, who removed it, and when; live or not at the time asked about."""
    sent = (
        placement(actor="agent"),
        placement(seconds=90, op="remove", actor="user"),
        placement(seconds=100, session_guid=None),
    )
    assert told(*sent)[3:7] == [
        "• p1  asset a1: live",
        "2026-03-02 10:01:00.000Z  place by agent in session s1",
        "2026-03-02 10:01:30.000Z  remove by user in session s1",
        "2026-03-02 10:01:40.000Z  place",
    ]
    removed = told(*sent, options=["--as-of", "2026-03-02T10:01:35Z"])
    assert "• p1  asset a1: removed 2026-03-02 10:01:30.000Z" in removed
    assert [one["op"] for one in found(*sent)["placements"][0]["history"]] == ["place", "remove", "place"]


@pytest.mark.parametrize(
    ("sent", "moment", "state"),
    [
        ([placement()], "2026-03-02T10:01:00Z", "live"),
        ([placement(), REMOVAL], "2026-03-02T10:01:29.999Z", "live"),
        ([placement(), REMOVAL], "2026-03-02T10:01:30Z", "removed"),
        ([placement()], "2026-03-02T10:00:59Z", "future"),
        ([placement()], "2026-04-01T10:01:00Z", "live"),
        ([placement()], "2026-04-01T10:01:00.001Z", "out_of_sight"),
        ([REMOVAL], "2026-03-03", "never_placed"),
        ([placement(synthetic=True)], "2026-03-03", "excluded"),
    ],
)
def test_the_state_of_a_placement_is_that_of_the_time_asked_about(found, told, sent, moment, state):
    """As an action of that moment would find it."""
    assert states(found(*sent, options=["--as-of", moment])) == {"p1": state}
    assert told(*sent, options=["--as-of", moment])


@pytest.mark.parametrize(
    ("sent", "because"),
    [
        ([placement(synthetic=True)], {"p1": "itself"}),
        ([placement(request_id="q1"), prompt(synthetic=True)], {"p1": "itself"}),
        ([placement(source_retrieval_id="r1"), retrieval(synthetic=True)], {"p1": "retrieval"}),
        (
            [placement(synthetic=True), placement("p2", source_placement_id="p1")],
            {"p1": "itself", "p2": "copy"},
        ),
    ],
)
def test_an_excluded_placement_says_why(found, told, sent, because):
    """By itself, by its request, or by what it comes from."""
    assert {one["placement_id"]: one["excluded_because"] for one in found(*sent)["placements"]} == because
    assert any("synthetic" in line for line in told(*sent))


def test_how_a_source_was_found_is_told_step_by_step(found, told):
    """Own claim, copy, derived asset."""
    sent = (
        placement(source_retrieval_id="r1"),
        placement("p2", "a2", source_placement_id="p1"),
        placement("p3", "a3", derived_from_asset_id="a2"),
        placement("p4", "up"),
    )
    by_id = {one["placement_id"]: one for one in found(*sent)["placements"]}
    assert (by_id["p3"]["retrieval_id"], by_id["p3"]["source"]) == ("r1", "claimed")
    assert by_id["p3"]["through"] == ["p3", "p2", "p1"]
    assert (by_id["p4"]["retrieval_id"], by_id["p4"]["source"]) == (None, "no_source")
    lines = told(*sent)
    assert (
        "source: placement p3, derived from a2 of placement p2, copied from placement p1, "
        "which claims retrieval r1"
    ) in lines
    assert "derived from asset a2" in lines
    assert "no source: placement p4, which names no source" in lines


def test_a_chain_is_followed_for_16_steps_and_a_circle_once_round(found):
    """And the reader sees where it ended."""
    copies = [placement("p0", source_retrieval_id="r1")]
    copies += [
        placement(f"p{step}", source_placement_id=f"p{step - 1}") for step in range(1, MAXIMUM_STEPS + 2)
    ]
    ends = {one["placement_id"]: one["source"] for one in found(*copies)["placements"]}
    assert (ends["p16"], ends["p17"]) == ("claimed", "too_long")
    circle = placement("p1", source_placement_id="p2"), placement("p2", source_placement_id="p1")
    (one, two) = found(*circle)["placements"]
    assert (one["source"], one["through"]) == ("cycle", ["p1", "p2"])
    assert (two["source"], two["through"]) == ("cycle", ["p2", "p1"])


def test_a_copy_from_elsewhere_is_told(found, told):
    """With its own claim it has a source; without, it dangles."""
    with_claim = placement(source_placement_id="p9", source_retrieval_id="r1")
    assert found(with_claim)["placements"][0]["copied_from_elsewhere"] == "p9"
    assert "copied from placement p9, which is not in this document" in told(with_claim)
    without = placement(source_placement_id="p9")
    assert found(without)["placements"][0]["source"] == "unknown_original"
    assert "no source: placement p1, whose original is not in this document (p9)" in told(without)
    here = placement("p2", source_placement_id="p1"), placement(source_retrieval_id="r1")
    assert {one["copied_from_elsewhere"] for one in found(*here)["placements"]} == {None}


def test_a_placement_out_of_sight_keeps_its_source(found):
    """As its own time saw it: what it was copied from was there then."""
    sent = placement(source_retrieval_id="r1"), placement("p2", source_placement_id="p1")
    later = found(*sent, options=["--as-of", "2026-06-01"])["placements"]
    assert [(one["state"], one["retrieval_id"]) for one in later] == [("out_of_sight", "r1")] * 2


def test_placements_come_by_the_time_of_their_first_record(found):
    """Whatever the order of the file."""
    sent = placement("p2", seconds=20), placement("p1", seconds=30), placement("p3", seconds=10)
    assert list(states(found(*sent))) == ["p3", "p2", "p1"]


# --- actions ----------------------------------------------------------------------------------------


def test_its_actions_are_told_with_their_resolution_and_why(told, found):
    """Placings too, by time; of one that credits nothing, what failed."""
    sent = (
        retrieval(request_id="q1"),
        placement(source_retrieval_id="r1", actor="agent"),
        placement("p2", "a2"),
        user("export", event_id="x1", document_id="d1", consumed_asset_id="a1"),
        user("edit", 130, event_id="x2", document_id="d1", placement_id="p9"),
        user("edit", 140, event_id="x3", document_id="d1", placement_id="p2"),
        user("edit", 150, event_id="x4", document_id="d1", consumed_asset_id="a7", request_id="q1"),
        user("edit", 160, event_id="x5", document_id="d1", consumed_asset_id="a7", source_retrieval_id="r1"),
        user("edit", 170, event_id="x6", document_id="d1"),
        user("edit", 180, event_id="x7", document_id="d2"),
    )
    why = {one["action_id"]: one["why"] for one in found(*sent)["actions"]}
    assert why == {
        "place:d1/p1": "inherited, credited to retrieval r1",
        "x1": "inherited, credited to retrieval r1",
        "x2": "dangling: document d1 knows no placement p9",
        "x3": "none: no source: placement p2, which names no source",
        "x4": "none: document d1 has no live placement of asset a7 at that time; "
        "request q1 has no retrieval whose list holds asset a7",
        "x5": "refuted: retrieval r1: the list holds none of a7",
        "x6": "none: edit of a whole document is no export, share or download",
    }
    lines = told(*sent)
    assert "• 2026-03-02 10:02:00.000Z  user export in session s1  (x1)" in lines
    assert why["x4"] in lines


def test_of_an_export_of_the_document_it_is_told_which_sources_refuse(found):
    """Credited to one of two."""
    sent = (
        *(retrieval(), retrieval("r2", ["a9"]), placement(source_retrieval_id="r1")),
        placement("p2", "a2", source_retrieval_id="r2"),
        user("export", document_id="d1"),
    )
    (one,) = found(*sent)["actions"]
    assert one["why"] == "document, credited to retrieval r1; not to retrieval r2: the list holds none of a2"


def test_a_placing_that_is_excluded_is_told_as_such(found):
    """It is an action of the document, in no figure."""
    (one,) = found(placement(actor="user", synthetic=True))["actions"]
    assert one["resolution"] == "excluded"
    assert one["why"] == "excluded: the placement that it names is synthetic, or comes from what is"


# --- figures ----------------------------------------------------------------------------------------


def test_its_figures_are_those_of_its_actions_by_the_windows_they_are_in(told, found):
    """A document is in none itself."""
    sent = (
        placement(source_retrieval_id="r1"),
        retrieval(),
        user("export", event_id="x1", document_id="d1"),
        user("export", 10 * MINUTE, event_id="x2", document_id="d1"),
        agent("edit", 2 * DAY, event_id="x3", document_id="d1"),
    )
    data = found(*sent, options=["--as-of", "2026-03-05"])
    outcomes = [one for one in data["figures"] if one["name"] == "lara_outcomes"]
    assert [(one["numerator"], one["windows"]["live"]) for one in outcomes] == [(2, ["7d", "all"])]
    lines = told(*sent, options=["--as-of", "2026-03-05"])
    assert "counted in 2 minutes from 2026-03-02 10:02:00.000Z to 2026-03-02 10:10:00.000Z" in lines
    assert "counted in the minute 2026-03-04 10:00:00.000Z" in lines
    assert not any(line.startswith("stored as") for line in lines)
    assert "in no figure" in told(placement())


def test_what_a_producer_sent_is_printed_as_it_is(told):
    """Square brackets are no markup, wherever they are."""
    sent = placement("[red]p", "[/a]", document_id="[b]d", derived_from_asset_id="[i]x")
    lines = told(sent, name="[b]d")
    assert lines[0].startswith("document [b]d as of")
    assert "• [red]p  asset [/a]: live" in lines
    assert "derived from asset [i]x" in lines


def test_an_empty_document_and_an_unknown_one_are_told_apart(told, explain):
    """An action named the first, nobody the second."""
    lines = told(user("export", document_id="d1"))
    assert "placements: none" in lines
    unknown = explain(retrieval(), kind="document", name="d9")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert unknown.stderr.startswith("nothing is known of a document d9: no record of it was accepted")


def test_the_keys_of_the_data_are_these(found):
    """Programs may rely on them."""
    data = found(placement(actor="user"))
    assert list(data) == ["document_id", "as_of", "placements", "actions", "counted", "figures"]
    assert list(data["placements"][0]) == [
        *("placement_id", "asset_id", "state", "excluded_because", "history", "retrieval_id", "source"),
        *("through", "copied_from_elsewhere"),
    ]
    assert list(data["placements"][0]["history"][0]) == ["ts", "op", "actor"]
    assert list(data["actions"][0]) == ["action_id", "resolution", "retrieval_ids", "why"]
