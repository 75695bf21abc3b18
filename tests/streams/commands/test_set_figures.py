"""The set figures: the published numbers follow from the rates, and are read from the right places."""

import pytest

from metrics.figures import Metric
from metrics.totals import Share, Totals
from streams.commands.set_figures import (
    SET_FIGURES,
    Outcome,
    Readings,
    abandonment,
    gpr,
    invocation,
    outcomes,
    reformulations,
)
from streams.commands.simulator import PUBLISHED

# What is published, then what is chosen where no number is.
PUBLISHED_FIGURES = {
    "prompts that retrieve": 0.0031,
    "prompts that retrieve, chat": 0.107,
    "null results": 0.0151,
    "generative edits by the agent": 0.82,
    "reformulations, chat": 0.444,
    "reformulations, gallery": 0.331,
}
CHOSEN_FIGURES = {
    "search reformulations, chat": 0.3,
    "GPR, strict": 0.08,
    "GPR, standard": 0.24,
    "GPR, broad": 0.46,
    "outcomes in another session": 0.7,
}
NOTHING = Readings(Totals([]), Share(0, 0))


def set_to(what: str) -> float:
    return next(one.set_to(PUBLISHED) for one in SET_FIGURES if one.what == what)


@pytest.mark.parametrize(("what", "value"), [*PUBLISHED_FIGURES.items(), *CHOSEN_FIGURES.items()])
def test_the_rates_make_the_published_figures(what, value):
    """Each rate of the table, or what follows from several, is the number that was meant."""
    assert set_to(what) == pytest.approx(value, abs=1e-12)


def test_what_is_published_without_a_number_holds_of_what_was_chosen():
    """Most of chat's reformulations are downstream; sessions overstate; definitions spread from 10 to 40 %."""
    assert set_to("downstream of these, chat") > 0.5
    assert set_to("search reformulations, chat") < set_to("reformulations, gallery")
    assert set_to("chat abandoned, by session") > set_to("chat abandoned, by lineage")
    assert set_to("GPR, strict") < 0.1
    assert set_to("GPR, broad") > 0.4


@pytest.mark.parametrize(("how", "seen"), [("session", 1 - PUBLISHED.another_session), ("lineage", 1.0)])
def test_the_abandoned_sessions_are_those_of_a_session_gone_through_turn_by_turn(how, seen):
    """Every way through a session, with its chance, until hardly any session goes on."""
    outcome = seen * 0.08
    chances = {(False, False): 1.0}  # (has retrieved, has an outcome), of a session that is still going on
    ended = {(True, False): 0.0, (True, True): 0.0, (False, False): 0.0}
    for _turn in range(300):
        after: dict[tuple[bool, bool], float] = {}
        for (retrieved, seen_one), chance in chances.items():
            for count, part in ((0, 0.893), (1, 0.0856), (2, 0.01712), (3, 0.003424), (4, 0.000856)):
                without = (1 - outcome) ** count
                for found, share in ((seen_one, without), (True, 1 - without)):
                    key = (retrieved or count > 0, found)
                    after[key] = after.get(key, 0.0) + chance * part * share
        for key, chance in after.items():
            if chance:
                ended[key] = ended.get(key, 0.0) + chance / 3
        chances = {key: chance * 2 / 3 for key, chance in after.items()}
    expected = ended[True, False] / (ended[True, False] + ended[True, True])
    assert set_to(f"chat abandoned, by {how}") == pytest.approx(expected, abs=1e-12)


def rows(window: str = "all") -> list[Metric]:
    """A report of 30 prompts, 4 of which retrieve, all of them in the chat."""
    chat, settled = {"window": window, "surface": "chat"}, {"cohort": "settled", "role": "browse"}
    editor = {**chat, "surface": "editor"}
    return [
        Metric("lara_prompts", chat, 10),
        Metric("lara_prompts", editor, 20),
        Metric("lara_invocation_ratio", chat, 0.4),
        Metric("lara_invocation_ratio", editor, 0.0),
        Metric("lara_search_reformulation_ratio", chat, 1 / 4),
        Metric("lara_downstream_correction_ratio", chat, 5 / 6),
        Metric("lara_sessions", chat, 3),
        Metric("lara_session_abandonment_ratio", {**chat, "attribution": "session"}, 1.0),
        Metric("lara_session_abandonment_ratio", {**chat, "attribution": "lineage"}, 2 / 3),
        Metric("lara_retrievals", chat | settled, 4),
        Metric("lara_retrievals", chat | settled | {"cohort": "live"}, 5),
        Metric("lara_retrievals_positive", chat | settled | {"definition": "strict"}, 1),
        Metric("lara_retrievals_positive", chat | settled | {"definition": "broad"}, 3),
    ]


READINGS = Readings(Totals([*rows(), *rows("24h")]), Share(9, 12))


@pytest.mark.parametrize(
    ("measure", "share"),
    [
        (invocation(), Share(4, 30)),
        (invocation(surface="chat"), Share(4, 10)),
        (lambda readings: reformulations(readings, "chat").search, Share(1, 4)),
        (lambda readings: reformulations(readings, "chat").downstream, Share(5, 6)),
        (lambda readings: reformulations(readings, "chat").both, Share(6, 10)),
        (lambda readings: reformulations(readings, "editor").both, Share(0, 20)),
        (abandonment("session"), Share(3, 3)),
        (abandonment("lineage"), Share(2, 3)),
        (gpr("strict"), Share(1, 4)),
        (gpr("broad"), Share(3, 4)),
        (gpr("standard"), Share(0, 4)),
    ],
)
def test_a_measured_share_is_made_of_what_the_report_prints_over_all_time(measure, share):
    """Ratios by the counts they are of, and counts of the settled cohort."""
    assert measure(READINGS) == share


def test_an_outcome_is_within_if_its_interval_holds_what_was_set():
    """Both bounds included."""
    share = Share(8, 100)
    lower, upper = share.interval
    assert [Outcome("", value, share).within for value in (lower, 0.08, upper)] == [True, True, True]
    assert [Outcome("", value, share).within for value in (lower - 1e-9, upper + 1e-9)] == [False, False]


def test_of_nothing_every_interval_is_everything():
    """A figure without any n says nothing against what was set."""
    found = outcomes(PUBLISHED, NOTHING)
    assert [one.what for one in found] == [one.what for one in SET_FIGURES]
    assert {(*one.interval, one.share.value) for one in found} == {(0.0, 1.0, None)}
