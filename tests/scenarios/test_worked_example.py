"""The framework's worked example, as docs/worked-example.md tells it: one sentence, and one export two days later."""

import json
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

from streams.commands.cli import main
from tests.building import DEFAULT, settle
from tests.properties import running
from tests.second_reading import read
from tests.worked_example import FIRST_DAY

FILE = Path(__file__).parents[2] / "docs" / "worked-example.jsonl"
EVENTS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
EVENING, LATER = 13 * 3600, 60 * 3600  # seconds after the prompt: the first day, and after the export
RETRIEVAL = {"role": "act_on", "surface": "chat"}


@pytest.fixture(scope="module")
def first_day():
    return settle(*EVENTS[:FIRST_DAY])


@pytest.fixture(scope="module")
def third_day():
    return settle(*EVENTS)


def share(found, ratio, seconds, **labels):
    return found.figure(ratio, seconds, cohort="settled", **RETRIEVAL, **labels)


def test_the_events_tell_the_story():
    """One sentence, 20 candidates of which the fourth is taken, an export without a claim in another session."""
    prompt, retrieval, select, edit, placement, show, export = EVENTS
    assert "birthday invitation" in prompt["text"] and "title" in prompt["text"]
    assert len(retrieval["returned_asset_ids"]) == 20
    fourth = retrieval["returned_asset_ids"][3]
    assert [one["action"] for one in (select, edit, show, export)] == ["select", "edit", "show", "export"]
    assert {select["consumed_asset_id"], edit["consumed_asset_id"], placement["derived_from_asset_id"]} == {
        fourth
    }
    assert "source_retrieval_id" not in export and "placement_id" not in export
    assert (export["session_guid"], export["surface"]) == ("editor-7", "editor")
    assert len(EVENTS) - 1 == FIRST_DAY


def test_in_the_evening_there_is_agent_consumption_and_no_positive(first_day):
    """ACR comes first; the retrieval is not unobserved, and nothing has failed."""
    assert share(first_day, "lara_acr_ratio", EVENING) == 1
    for definition in ("strict", "standard", "broad"):
        assert share(first_day, "lara_gpr_ratio", EVENING, definition=definition) == 0
        assert share(first_day, "lara_uor_ratio", EVENING, definition=definition) == 0
    assert share(first_day, "lara_orf_ratio", EVENING) == 0
    assert first_day.figure("lara_outcomes", EVENING) is None


def test_after_the_export_the_retrieval_of_two_days_ago_is_a_positive(third_day):
    """In its own minute: GPR of the last 24 hours knows nothing of it."""
    for definition in ("strict", "standard", "broad"):
        assert share(third_day, "lara_gpr_ratio", LATER, definition=definition) == 1
    assert share(third_day, "lara_acr_ratio", LATER) == 1
    assert share(third_day, "lara_agent_use_confirmed_ratio", LATER) == 1
    assert share(third_day, "lara_retrievals", LATER, window="7d") == 1
    assert share(third_day, "lara_retrievals", LATER, window="24h") == 0
    assert third_day.figure("lara_outcomes", LATER, window="24h") == 1


def test_the_export_is_attributed_across_sessions_by_the_placement(third_day):
    """Rule 2, not a claim of its own, and nothing that time and session could have found."""
    assert third_day.credit("w7") == ("inherited", ["r1"])
    assert third_day.attributions["w7"]["cross_session"] is True
    assert third_day.figure("lara_attributed_outcomes", LATER, surface="editor") == 1
    assert third_day.figure("lara_cross_session_outcomes", LATER, surface="editor") == 1
    assert third_day.figure("lara_inference_disagreement_ratio", LATER) == 0


def test_what_was_consumed_had_rank_4(first_day, third_day):
    """The candidate itself, and the new asset by its ancestor."""
    assert third_day.outcomes["r1"]["ranks"] == {"c04": 4, "mia-is-six": 4}
    for found, seconds in ((first_day, EVENING), (third_day, LATER)):
        assert found.figure("lara_consumed_rank", seconds) == 4


def test_the_session_is_abandoned_by_itself_and_not_by_lineage(first_day, third_day):
    """By both on the first day; the difference is the bias of session measures."""

    def abandoned(found, seconds):
        ratio = "lara_session_abandonment_ratio"
        return {how: found.figure(ratio, seconds, attribution=how) for how in ("session", "lineage")}

    assert abandoned(first_day, EVENING) == {"session": 1, "lineage": 1}
    assert abandoned(third_day, LATER) == {"session": 1, "lineage": 0}


def test_the_second_reading_says_the_same(third_day):
    """Figure by figure, at the time of the page."""
    values = FILE.read_bytes().splitlines()
    as_of = 1_772_668_800_000  # 2026-03-05
    expected = running.rows_of(read(values, as_of).metrics)
    assert running.metrics_of(third_day.store, as_of, DEFAULT) == pytest.approx(expected)


def test_the_order_of_arrival_changes_nothing(third_day):
    """The export first, the retrieval last, or any other way."""
    figures = third_day.figures(LATER)
    for order in list(permutations(EVENTS))[::301]:
        assert settle(*order, one_by_one=True).figures(LATER) == figures


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        (["retrieval", "r1"], ["asset mia-is-six, rank 4 (its ancestor c04)", "lara_acr_ratio"]),
        (["action", "w7"], ["outcome: yes; attributed: yes; of another session: yes"]),
        (
            ["action", "place:invitation/p1"],
            ["rule 2 (a placement) applies: placement p1 of document invitation"],
        ),
        (["document", "invitation"], ["source: placement p1, which claims retrieval r1"]),
    ],
)
def test_each_link_of_the_chain_can_be_explained(asked, lines):
    """From the search, from the export, from the placing and from the document."""
    found = CliRunner().invoke(main, ["explain", *asked, str(FILE)])
    assert found.exit_code == 0, found.output
    assert [line for line in lines if line not in found.stdout] == []
