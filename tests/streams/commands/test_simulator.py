"""The simulator: the same stream from the same seed, everything in it, and a truth that a reader confirms."""

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from streams.commands.simulator import (
    COVERAGE,
    DEMO,
    PUBLISHED,
    Rates,
    Record,
    Truth,
    lines,
    simulate,
)
from tests.second_reading import Reading, read

pytestmark = pytest.mark.slow

MINUTE = 60_000
START = 1_790_000_000_123
END = START + 26 * 60 * MINUTE
COVERAGE_PROMPTS = 6_000
ENOUGH = 50
QUOTIENTS = ("_ratio", "_rank", "_at_k", "_mrr", "_per_grid")
BOUNDS = ("_ratio_lower", "_ratio_upper")

RESOLUTIONS = ("explicit", "inherited", "document", "request", "none", "refuted", "dangling")
WAYS = (
    "inherited by placing", "inherited by placement", "inherited by document and asset",
    "inherited delegated", "inherited along a chain of copies", "none along a chain of copies",
    "explicit in the list", "explicit without asset", "explicit without a list",
    "explicit under a null element", "explicit against the placement", "explicit by an ancestor in the list",
    "explicit by the agent", "explicit delegated", "explicit stamped after the action",
    "request crediting several", "request of an asset no longer placed", "document crediting several",
    "none by a removed placement", "none by an asset no longer placed", "none names nothing",
    "none asset in no list of the request", "none placement of another asset", "none circular copies",
    "none whole document", "none whole document, no outcome", "none placed and removed at one moment",
    "refuted empty list", "refuted not in the list", "refuted beside a placement", "refuted by placement",
    "refuted whole document", "refuted derived, without its document", "dangling claim",
    "dangling unknown placement", "dangling placement without document", "dangling by placement",
    "dangling copy", "dangling whole document", "dangling stamped too far after the action",
)  # fmt: skip
SEARCHES = (
    "searched again by name without a use", "searched again by name after a use",
    "searched again by need without a use", "searched again by need after a use",
    "searched again beside pages without a use", "searched again beside pages after a use",
    "searched again by a clock that runs behind without a use", "need met twice by one request",
    "need of another conversation", "same query in words", "similar query in words", "other query in words",
    "same query in Chinese", "similar query in Chinese", "other query in Chinese", "query again soon",
    "query again too late", "query again elsewhere", "page", "empty page", "agent's own worked with",
    "agent's own exported", "agent's own, beside an incomplete list", "substituted from an earlier retrieval",
    "substituted, and used all the same", "none made of a listed asset",
)  # fmt: skip
SIGNALS = tuple(f"signal {name}" for name in ("rejected", "researched", "substituted", "researched_inferred"))
LABELS = (
    "relevance of a retrieval", "relevance of a topic", "goal of a request", "goal of a retrieval",
    "0 intents", "1 intents", "2 intents", "reformulation True", "reformulation False", "reformulation None",
    "retrieval with latency_ms", "retrieval without latency_ms", "retrieval with tokens",
    "retrieval without tokens", "latency_ms of a credited action", "tokens of a credited action",
    *(f"route {name}" for name in ("retrieve", "generate", "edit", "answer", "other")),
)  # fmt: skip
VERDICTS = (
    "misused", "working", "unused", "retrieval_fault", "tolerated", "masked", "pending", "unjudged",
)  # fmt: skip
MARKS = ("strict", "standard", "broad", "A", "D", "rejected", "corrected")
GRADES = (
    *(f"retrieval {mark}" for mark in MARKS),
    *(f"retrieval without evidence {definition}" for definition in ("strict", "standard", "broad")),
    "retrieval agent use confirmed",
)
ROLES = ("direct_lookup", "browse", "act_on", "generation_reference", "task_step", "contextual")
SURFACES = ("chat", "gallery", "editor", "unknown", "other")
ODDITIES = (
    "attributed outcome across sessions",
    "null result", "asset twice in a list", "list with a null element",
    "retrieval without returned_asset_ids", "retrieval without role", "retrieval without request_id",
    "placement without session_guid", "placement removed", "action on a copy", "action on a derived asset",
    "action on a copy in another document", "action on a restored placement", "latest of two placements",
    "retrieved again, credited to the placement's retrieval", "event without event_id", "integer id",
    "timestamp as text", "blank field", "unknown field", "event_id sent again with other content",
    "conflict of a prompt", "conflict of a retrieval",
    "names a synthetic retrieval", "show without request_id",
    "show at the moment of the event before", "record synthetic", "record duplicate", "record conflict",
    "record invalid", "record tombstone", "topic judgement",
)  # fmt: skip


@cache
def simulated(seed: int, rates: Rates, prompts: int) -> tuple[list[Record], Truth]:
    return simulate(seed=seed, start_ms=START, end_ms=END, prompts=prompts, rates=rates)


@cache
def second_reading(seed: int, rates: Rates, prompts: int, as_of_ms: int) -> Reading:
    return read([record.value for record in simulated(seed, rates, prompts)[0]], as_of_ms)


STREAMS = pytest.mark.parametrize(
    ("seed", "rates", "prompts", "as_of_ms"),
    [
        (7, DEMO, 700, END),  # with retrievals that are pending at the end
        (2, DEMO, 700, END - 7 * 60 * MINUTE + 1),
        (3, COVERAGE, 500, END),
        (4, COVERAGE, 500, END - 11 * 60 * MINUTE - 54_321),
        (10**12 + 5, COVERAGE, 300, END + 50 * MINUTE),
    ],
    ids=["demo", "demo earlier", "coverage", "coverage earlier", "coverage later"],
)


def values(rows: Any) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """The rows by name and labels; counts of 0 are as good as absent, ratios and means of 0 are not.

    Bounds are left out: they are the reader's affair.
    """
    return {
        (row["name"], frozenset(row["labels"].items())): row["value"]
        for row in rows
        if not row["name"].endswith(BOUNDS) and (row["value"] or row["name"].endswith(QUOTIENTS))
    }


def test_the_same_seed_gives_the_same_stream_and_the_same_truth() -> None:
    """Nothing but the seed decides what is emitted."""
    arguments = {"start_ms": START, "end_ms": END, "prompts": 100, "rates": COVERAGE}
    one, other = simulate(seed=5, **arguments), simulate(seed=5, **arguments)
    assert one[0] == other[0]
    assert one[1].metrics(END) == other[1].metrics(END)
    assert one[1].occurrences() == other[1].occurrences()


def test_another_seed_gives_another_stream_without_common_ids() -> None:
    """Two simulations can be read together: their event_ids differ."""
    one, other = simulated(3, COVERAGE, 500)[1], simulated(4, COVERAGE, 500)[1]
    assert not one.attributions().keys() & other.attributions().keys()


def test_records_come_in_time_order_and_none_lies_outside_the_simulated_time() -> None:
    """Follow-ups that would fall after the end are not emitted."""
    times = [record.ts for record in simulated(3, COVERAGE, 500)[0]]
    assert times == sorted(times)
    assert all(START <= ts < END for ts in times)


def test_as_many_prompts_are_emitted_as_asked_for() -> None:
    """Prompts are counted once: neither the re-sent ones nor their conflicts are further prompts."""
    records, truth = simulated(7, DEMO, 700)
    intake = truth.intake()
    unusual = intake["duplicate"] + intake["conflict"] + intake["invalid"]
    sent = Counter(record.topic_type for record in records)["prompt"]
    assert 700 <= sent <= 700 + unusual


def test_an_empty_time_cannot_be_simulated() -> None:
    """There must be a moment in which something can happen."""
    for end, quiet in ((START, 0), (START + 5, 5)):
        with pytest.raises(ValueError, match="empty"):
            simulate(seed=1, start_ms=START, end_ms=end, prompts=1, quiet_ms=quiet)


def test_no_session_begins_in_the_quiet_time_and_what_follows_has_time_to_happen() -> None:
    """One hour in which sessions of one prompt begin, then two days for what users do elsewhere."""
    hour = 60 * MINUTE
    rates = replace(PUBLISHED, turns=1.0, retrieving_elsewhere=1.0)
    arguments = {"start_ms": START, "end_ms": START + 49 * hour, "prompts": 300, "rates": rates}
    truth = simulate(seed=6, quiet_ms=48 * hour, **arguments)[1]
    assert len(truth.prompts) == 300
    assert max(one.ts for one in truth.prompts) < START + hour
    assert max(one.ts for one in truth.actions) > START + 24 * hour
    assert max(one.ts for one in simulate(seed=6, **arguments)[1].prompts) > START + 24 * hour


def test_each_retrieval_meets_one_reaction_at_most_as_often_as_its_rate_says() -> None:
    """A user action of its own that credits no other retrieval; none of what found nothing."""
    rates = replace(
        PUBLISHED, retrieving_at_chat=1.0, retrieving_elsewhere=1.0, agent_acts=0.0, null_result=0.1
    )
    truth = simulate(
        seed=7,
        start_ms=START,
        end_ms=START + 96 * 60 * MINUTE,
        prompts=4_000,
        rates=rates,
        quiet_ms=72 * 60 * MINUTE,
    )[1]
    met = Counter(name for done in truth.actions for name in done.credited if done.actor == "user")
    assert all(len(done.credited) == 1 for done in truth.actions if done.action != "show")
    assert set(met.values()) == {1}
    assert not any(met[one.id] for one in truth.retrievals if one.null)
    found = [one for one in truth.retrievals if not one.null]
    for mark, rate in (("strict", 0.0812), ("standard", 0.2437), ("broad", 0.4671), ("rejected", 0.05)):
        share = sum(mark in one.marks for one in found) / len(found)
        assert share == pytest.approx(rate, abs=4 * (rate * (1 - rate) / len(found)) ** 0.5), mark


def test_a_file_holds_the_records_that_have_a_value_in_one_line() -> None:
    """Null values and broken lines are left out, and nothing else, in the same order."""
    records = [Record("prompt", 1, value, b"") for value in (b"{}", None, b"", b"{\n}", b"[]")]
    assert list(lines(records)) == [b"{}", b"[]"]


def test_every_rule_grade_definition_and_oddity_occurs_often_under_coverage() -> None:
    """Whatever is named here happens at least 50 times, and so does whatever else is counted."""
    occurrences = simulated(1, COVERAGE, COVERAGE_PROMPTS)[1].occurrences()
    expected = [
        *(f"resolution {name}" for name in RESOLUTIONS), *WAYS, *GRADES, *ODDITIES, *SEARCHES,
        *SIGNALS, *LABELS,
        *(f"role {name}" for name in (*ROLES, "unspecified")), *(f"surface {name}" for name in SURFACES),
    ]  # fmt: skip
    assert [name for name in expected if name not in occurrences] == []
    assert {name: count for name, count in occurrences.items() if count < ENOUGH} == {}


def test_every_verdict_and_every_pending_definition_occurs_often_under_coverage() -> None:
    """At the end there are retrievals too young to be called unobserved, and all kinds of the others."""
    rows = simulated(1, COVERAGE, COVERAGE_PROMPTS)[1].metrics(END, windows=("all",))
    for name, label, expected in (
        ("lara_retrievals_pending", "definition", MARKS[:3]),
        ("lara_diagnosis_retrievals", "verdict", VERDICTS),
    ):
        counts: Counter[str] = Counter()
        for row in rows:
            if row["name"] == name:
                counts[row["labels"][label]] += int(row["value"])
        assert {value: counts[value] >= ENOUGH for value in expected} == dict.fromkeys(expected, True)


def test_every_figure_of_the_second_reading_is_booked() -> None:
    """The truth leaves out nothing but bounds."""
    found = second_reading(7, DEMO, 700, END).metrics
    names = {row["name"] for row in found if not row["name"].endswith(BOUNDS)}
    assert {row["name"] for row in simulated(7, DEMO, 700)[1].metrics(END)} == names


def test_the_published_rates_retrieve_on_few_prompts() -> None:
    """About 0.31 % of the prompts retrieve."""
    prompts = 20_000
    requests = {
        record.key
        for record in simulate(seed=1, start_ms=START, end_ms=END, prompts=prompts, rates=PUBLISHED)[0]
        if record.topic_type == "retrieval"
    }
    assert 0.0015 < len(requests) / prompts < 0.006


@STREAMS
def test_every_retrieval_is_observed_or_unobserved_or_pending(
    seed: int, rates: Rates, prompts: int, as_of_ms: int
) -> None:
    """Per definition the sum is N: evidence, or none and mature, or none and not."""
    truth = simulated(seed, rates, prompts)[1]
    end = -(-as_of_ms // MINUTE) * MINUTE
    total: Counter[str] = Counter()
    for row in truth.metrics(as_of_ms, windows=("all",)):
        if row["labels"].get("cohort") == "live":
            total[row["name"] + row["labels"].get("definition", "")] += int(row["value"])
    for definition in MARKS[:3]:
        marks = {definition, "A", "D"}
        evidence = sum(r.ts < end and bool(r.marks & marks or r.failed) for r in truth.retrievals)
        unobserved = total[f"lara_retrievals_unobserved{definition}"]
        pending = total[f"lara_retrievals_pending{definition}"]
        assert evidence + unobserved + pending == total["lara_retrievals"]


@STREAMS
def test_the_second_reading_finds_every_attribution_that_was_meant(
    seed: int, rates: Rates, prompts: int, as_of_ms: int
) -> None:
    """Read from the records alone, every action with an event_id comes to what the simulator meant."""
    truth = simulated(seed, rates, prompts)[1]
    found = {
        name: (attribution["resolution"], attribution["retrieval_ids"])
        for name, attribution in second_reading(seed, rates, prompts, as_of_ms).attributions.items()
        if attribution["resolution"] != "excluded" and not is_digest(name)
    }
    assert found == truth.attributions()


@STREAMS
def test_the_second_reading_counts_the_figures_of_the_truth(
    seed: int, rates: Rates, prompts: int, as_of_ms: int
) -> None:
    """Every figure of every window has exactly the value that follows from what was meant."""
    rows = simulated(seed, rates, prompts)[1].metrics(as_of_ms)
    assert values(rows) == values(second_reading(seed, rates, prompts, as_of_ms).metrics)


@STREAMS
def test_the_second_reading_takes_in_what_was_sent(
    seed: int, rates: Rates, prompts: int, as_of_ms: int
) -> None:
    """Tombstones, invalid, synthetic, duplicate and conflicting records are as many as were sent."""
    records, truth = simulated(seed, rates, prompts)
    found = second_reading(seed, rates, prompts, as_of_ms).intake
    assert {name: count for name, count in found.items() if count} == truth.intake()
    assert sum(truth.intake().values()) == len(records)


@STREAMS
def test_resolution_counts_are_those_of_all_actions(
    seed: int, rates: Rates, prompts: int, as_of_ms: int
) -> None:
    """Actions without event_id have no attribution of their own, and are counted all the same."""
    found = second_reading(seed, rates, prompts, as_of_ms).attributions.values()
    counts = Counter(attribution["resolution"] for attribution in found)
    del counts["excluded"]
    assert counts == simulated(seed, rates, prompts)[1].resolution_counts()


def is_digest(name: str) -> bool:
    return len(name) == 64 and set(name) <= set("0123456789abcdef")
