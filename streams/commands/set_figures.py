"""The published figures: what the simulator is set to, and where a report says how they came out.

Rules:
- The value of a set figure is a rate of the simulator's table, or follows from its rates alone.
- Measured is what the report prints, over all time: its counts, or a ratio times the count that it is of.
  A sum over surfaces or roles is exact. All prompts are flagged, so that prompts are the flagged prompts.
- Only the share of generative edits is in no figure: it is counted in the credits of `lara.outcomes`.
- Intervals are the report's own: Wilson's, of 95 %.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from metrics.intervals import Interval
from metrics.totals import Share, Totals, View
from metrics.windows import SETTLED
from streams.commands.simulation.traffic import MOST_RETRIEVALS
from streams.commands.simulator import PUBLISHED, Rates

ALL_TIME: Final = View("all")
ALL_SETTLED: Final = View("all", SETTLED)


class Readings(NamedTuple):
    """A report, and the agent consumptions that are generative edits."""

    totals: Totals
    generative: Share


class SetFigure(NamedTuple):
    """One figure: by whom it is set (study, choice, or it follows from others), and where it is read."""

    what: str
    by: str
    set_to: Callable[[Rates], float]
    measure: Callable[[Readings], Share]
    read_from: str


class Outcome(NamedTuple):
    """How a set figure came out."""

    what: str
    set_to: float
    share: Share

    @property
    def interval(self) -> Interval:
        """The bounds; a figure that was not measured at all may be anything."""
        return self.share.interval or Interval(0.0, 1.0)

    @property
    def within(self) -> bool:
        """Does the interval hold what was set?"""
        return self.interval.lower <= self.set_to <= self.interval.upper


def outcomes(rates: Rates, readings: Readings) -> list[Outcome]:
    """Every set figure beside what was measured."""
    return [Outcome(one.what, one.set_to(rates), one.measure(readings)) for one in SET_FIGURES]


# --- what is set ------------------------------------------------------------------------------------


def retrieving(rates: Rates) -> float:
    """Prompts of any surface that retrieve."""
    elsewhere = (1 - rates.chat_entry) * rates.retrieving_elsewhere
    return rates.chat_entry * rates.retrieving_at_chat + elsewhere


def reformulating_at_chat(rates: Rates) -> float:
    """Prompts of the chat that are reformulations, retrieving or not."""
    return rates.retrieving_at_chat * rates.search_reformulation_at_chat + correcting_at_chat(rates)


def correcting_at_chat(rates: Rates) -> float:
    """Prompts of the chat that retrieve nothing and are downstream corrections."""
    return (1 - rates.retrieving_at_chat) * rates.downstream_correction_at_chat


def positive(*reactions: str) -> Callable[[Rates], float]:
    """Retrievals that meet one of these reactions: only one that found something meets any."""
    return lambda rates: (1 - rates.null_result) * sum(getattr(rates, name) for name in reactions)


def abandoned(rates: Rates, seen: float) -> float:
    """Chat sessions with a retrieval of which no outcome is seen, if so many of all outcomes are seen.

    After each turn a session ends with one probability, so what follows on its first retrieval does not
    depend on what was before.
    """
    more, last = rates.second_retrieval, MOST_RETRIEVALS
    counts = [more ** (count - 1) * (1 - more) for count in range(1, last)] + [more ** (last - 1)]
    without = 1 - seen * positive("taken_away")(rates)
    quiet_request = sum(chance * without**count for count, chance in enumerate(counts, 1))
    quiet_turn = 1 - rates.retrieving_at_chat * (1 - quiet_request)
    ends = 1 / rates.turns
    return quiet_request * ends / (1 - (1 - ends) * quiet_turn)


# --- what is measured -------------------------------------------------------------------------------


def counted(hits: str, trials: str, view: View = ALL_TIME, **labels: str) -> Callable[[Readings], Share]:
    """Two counts of the report, added up over the labels that are not named; `labels` are those of `hits`."""
    return lambda readings: Share(
        readings.totals.sum(view, hits, **labels), readings.totals.sum(view, trials)
    )


def part(readings: Readings, ratio: str, of: str, **labels: str) -> Share:
    """A ratio of the report by surface, with the count that it is of; added up if no surface is named."""
    hits = trials = 0
    for metric in readings.totals.matching(ALL_TIME, ratio, **labels):
        count = readings.totals.sum(ALL_TIME, of, surface=metric.labels["surface"])
        hits, trials = hits + round(metric.value * count), trials + count
    return Share(hits, trials)


def invocation(**labels: str) -> Callable[[Readings], Share]:
    """Prompts that retrieve."""
    return lambda readings: part(readings, "lara_invocation_ratio", "lara_prompts", **labels)


class Reformulations(NamedTuple):
    """The reformulations of one surface: among prompts with a retrieval, and among those without."""

    search: Share
    downstream: Share

    @property
    def both(self) -> Share:
        """Of all prompts of the surface."""
        hits = self.search.hits + self.downstream.hits
        return Share(hits, self.search.trials + self.downstream.trials)


def reformulations(readings: Readings, surface: str) -> Reformulations:
    """Both kinds: the report has a ratio for each, and the prompts that each is of."""
    fired = part(readings, "lara_invocation_ratio", "lara_prompts", surface=surface)
    counts = (fired.hits, fired.trials - fired.hits)
    names = ("lara_search_reformulation_ratio", "lara_downstream_correction_ratio")
    shares = []
    for name, count in zip(names, counts, strict=True):
        found = readings.totals.matching(ALL_TIME, name, surface=surface)
        shares.append(Share(sum(round(metric.value * count) for metric in found), count))
    return Reformulations(*shares)


def abandonment(attribution: str) -> Callable[[Readings], Share]:
    """Chat sessions with a retrieval and without an outcome, as this attribution sees it."""
    name, labels = "lara_session_abandonment_ratio", {"surface": "chat", "attribution": attribution}
    return lambda readings: part(readings, name, "lara_sessions", **labels)


def gpr(definition: str) -> Callable[[Readings], Share]:
    """GPR of the settled cohort."""
    names = ("lara_retrievals_positive", "lara_retrievals")
    return counted(*names, ALL_SETTLED, definition=definition)


def chat(kind: str) -> Callable[[Readings], Share]:
    """The chat's reformulations of one kind, or of both."""
    return lambda readings: getattr(reformulations(readings, "chat"), kind)


def downstream_part(readings: Readings) -> Share:
    """Of the chat's reformulations, those of prompts without a retrieval."""
    return Share(chat("downstream")(readings).hits, chat("both")(readings).hits)


STUDY, CHOICE, FOLLOWS = "study", "choice", "follows"
BOTH_RATIOS: Final = "`lara_search_reformulation_ratio` and `lara_downstream_correction_ratio`"
ABANDONED: Final = "`lara_session_abandonment_ratio` of chat"
GPR_COUNTS: Final = "`lara_retrievals_positive` / `lara_retrievals`, settled"

# fmt: off
# (a table: one figure after the other)
SET_FIGURES: Final = (
    SetFigure("prompts that retrieve", STUDY, retrieving, invocation(),
              "`lara_invocation_ratio` by surface, times `lara_prompts`, added up"),
    SetFigure("prompts that retrieve, chat", STUDY, lambda rates: rates.retrieving_at_chat,
              invocation(surface="chat"), "`lara_invocation_ratio` of chat"),
    SetFigure("null results", STUDY, lambda rates: rates.null_result,
              counted("lara_retrievals_null", "lara_layer1_retrievals"),
              "`lara_retrievals_null` / `lara_layer1_retrievals`"),
    SetFigure("generative edits by the agent", STUDY, lambda rates: rates.generative,
              lambda readings: readings.generative,
              "no figure: `generate` and `edit`, of the credits (A) in `lara.outcomes`"),
    SetFigure("reformulations, chat", STUDY, reformulating_at_chat, chat("both"),
              f"{BOTH_RATIOS} of chat, each times its prompts"),
    SetFigure("reformulations, gallery", STUDY, lambda rates: rates.reformulation_elsewhere,
              lambda readings: reformulations(readings, "gallery").both, "the same of gallery"),
    SetFigure("search reformulations, chat", CHOICE, lambda rates: rates.search_reformulation_at_chat,
              chat("search"), "`lara_search_reformulation_ratio` of chat"),
    SetFigure("downstream corrections, chat", FOLLOWS, lambda rates: rates.downstream_correction_at_chat,
              chat("downstream"), "`lara_downstream_correction_ratio` of chat"),
    SetFigure("downstream of these, chat", FOLLOWS,
              lambda rates: correcting_at_chat(rates) / reformulating_at_chat(rates), downstream_part,
              "corrections among the reformulations of chat"),
    SetFigure("GPR, strict", CHOICE, positive("taken_away"), gpr("strict"), GPR_COUNTS),
    SetFigure("GPR, standard", CHOICE, positive("taken_away", "worked_with"), gpr("standard"), GPR_COUNTS),
    SetFigure("GPR, broad", CHOICE, positive("taken_away", "worked_with", "noticed"), gpr("broad"),
              GPR_COUNTS),
    SetFigure("outcomes in another session", CHOICE, lambda rates: rates.another_session,
              counted("lara_cross_session_outcomes", "lara_attributed_outcomes"),
              "`lara_cross_session_outcomes` / `lara_attributed_outcomes`"),
    SetFigure("chat abandoned, by session", FOLLOWS,
              lambda rates: abandoned(rates, seen=1 - rates.another_session), abandonment("session"),
              ABANDONED),
    SetFigure("chat abandoned, by lineage", FOLLOWS, lambda rates: abandoned(rates, seen=1),
              abandonment("lineage"), ABANDONED),
)
# fmt: on


def set_figures_markdown() -> str:
    """The set figures as a Markdown table, for the docs."""
    rows = [
        f"| {one.what} | {100 * one.set_to(PUBLISHED):.2f} % | {one.by} | {one.read_from} |"
        for one in SET_FIGURES
    ]
    return "\n".join(
        ("| figure | set to | by | read from, over all time |", "| --- | --- | --- | --- |", *rows)
    )
