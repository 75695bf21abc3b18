"""What judges said: of several labels for one thing one holds (contract, sections 1, 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.second_reading.choosing import normalise_query
from tests.second_reading.records import Record
from tests.second_reading.rules import HORIZON
from tests.second_reading.world import grouped


class Judgements:
    """The labels that take part, by what they are about."""

    def __init__(self, records: Iterable[Record]) -> None:
        judgements = [r for r in records if r.type == "judgement"]
        intents = [j for j in judgements if j["kind"] == "intent"]
        goals = [j for j in judgements if j["kind"] == "goal"]
        relevance = [j for j in judgements if j["kind"] == "relevance"]
        self.intents_of_request = grouped(intents, lambda j: j["request_id"])
        self.goals_of_retrieval = grouped(goals, lambda j: j["retrieval_id"])
        self.grades_of_retrieval = grouped(relevance, lambda j: j["retrieval_id"])
        # A label that names a retrieval is about that one alone, whatever it names besides.
        self.goals_of_request = grouped(filter(is_at_large, goals), lambda j: j["request_id"])
        self.grades_of_query = grouped(filter(is_at_large, relevance), lambda j: normalise_query(j["query"]))

    def intents(self, request: str | None) -> int | None:
        """How many retrieval intents the prompt of a request was labelled to have."""
        return best(self.intents_of_request[request], lambda j: j["retrieval_intents"])

    def reached(self, retrieval: Record) -> bool | None:
        """Whether its goal was reached: by its own labels, else by those of its request."""
        for labels in (
            self.goals_of_retrieval[retrieval.identity],
            self.goals_of_request[retrieval.request],
        ):
            if labels:
                return bool(best(labels, lambda j: j["reached"]))
        return None

    def grades(self, retrieval: Record) -> dict[str, int]:
        """The grade of every asset that is labelled for a retrieval; below 0 is 0."""
        own = self.grades_of_retrieval[retrieval.identity]
        of_query = []
        if retrieval["query"] is not None:
            of_query = self.grades_of_query[normalise_query(retrieval["query"])]
        within_reach = [j for j in of_query if j.ts - HORIZON <= retrieval.ts]
        grades: dict[str, int] = {}
        for labels in (within_reach, own):  # the retrieval's own labels come last: they beat the query's
            for asset in {j["asset_id"] for j in labels}:
                about = [j for j in labels if j["asset_id"] == asset]
                grades[asset] = max(0, best(about, lambda j: j["grade"]))
        return grades


def is_at_large(label: Record) -> bool:
    return label["retrieval_id"] is None


def best(labels: Iterable[Record], value: Callable[[Record], int]) -> int | None:
    """A human beats any other judge, then the newest label wins, then the higher value."""
    chosen = max(labels, key=lambda j: (j["judge"] in (None, "human"), j.ts, value(j)), default=None)
    return None if chosen is None else value(chosen)
