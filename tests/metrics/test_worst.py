"""The worst queries and assets: what counts against them, out of what, and in which order."""

import asyncio

import msgspec
import pytest

from attribution.retrievals import judged
from metrics.buckets import Span
from metrics.intervals import wilson
from metrics.windows import LIVE, SETTLED
from metrics.worst import SUBJECTS, Row, Worst, _order
from streams.commands.backtest import settle_lines
from streams.commands.simulator import COVERAGE, simulate
from tests.building import (
    BASE,
    DAY,
    DEFAULT,
    agent,
    at,
    judgement,
    placement,
    retrieval,
    settle,
    user,
)
from tests.properties import running

ALWAYS = {LIVE: Span(None, 10**9), SETTLED: Span(None, 10**9)}
CLAIM = {"source_retrieval_id": "r1"}


def population(store, semantics=DEFAULT):
    found = (
        judged(entity, semantics) for key, entity in store.entities().items() if key.startswith("retrieval:")
    )
    return [one for one in found if one is not None]


def table(subjects, by, *sent, least=1, limit=100, spans=ALWAYS):
    """(text, n, count) of the rows of one measure."""
    record = Worst(subjects, by, spans)
    for one in population(settle(*sent).store):
        record.add(one)
    (found,) = record.tables(limit, least)
    return [(row.text, row.n, row.count) for row in found.rows]


def queries(by, *sent, **options):
    return table("queries", by, *sent, **options)


def assets(by, *sent, **options):
    return table("assets", by, *sent, **options)


# --- queries ----------------------------------------------------------------------------------------


def test_a_query_is_null_where_its_list_is_empty():
    """Of retrievals in Layer 1: with a logged list, not misrouted; an empty page is not a null result."""
    sent = [
        retrieval("r1", [], query="cat"),
        retrieval("r2", ["a1"], query="cat"),
        retrieval("r3", None, query="cat"),
        retrieval("r4", [], query="cat", page_of="r2"),
        retrieval("r5", [], query="cat", request_id="q5"),
        judgement("intent", request_id="q5", retrieval_intents=0),
    ]
    assert queries("null", *sent) == [("cat", 3, 1)]


def test_a_query_is_rejected_or_failed_by_the_signals_of_its_retrievals():
    """A re-search is a failure, but no reject."""
    sent = [
        retrieval("r1", query="cat"),
        user("reject", consumed_asset_id="a1", **CLAIM),
        retrieval("r2", query="dog", seconds=600, session_guid="s2", need_id="n", request_id="q2"),
        retrieval("r3", query="puppy", seconds=660, session_guid="s2", need_id="n", request_id="q3"),
    ]
    assert queries("rejected", *sent) == [("cat", 1, 1)]
    assert queries("researched", *sent) == [("dog", 1, 1)]
    assert queries("failed", *sent) == [("cat", 1, 1), ("dog", 1, 1)]


def test_a_query_is_masked_out_of_those_with_a_judged_verdict():
    """A null result that nobody reacts to is masked; what has no label is in neither number."""
    sent = [
        retrieval("r1", [], query="cat"),
        retrieval("r2", ["a1"], query="cat"),
        judgement("relevance", retrieval_id="r2", asset_id="a1", grade=2),
        agent("use", request_id="r2", source_retrieval_id="r2", consumed_asset_id="a1"),
        retrieval("r3", ["a1"], query="cat"),
    ]
    assert queries("masked", *sent) == [("cat", 2, 1)]


def test_written_forms_of_one_query_are_one_and_the_most_frequent_is_shown():
    """Case and white space differ; of two forms as frequent the first by text."""
    forms = ["cat hat", "CAT hat", "Cat  hat", "cat hat"]
    sent = [retrieval(f"r{number}", [], query=query) for number, query in enumerate(forms)]
    assert queries("null", *sent) == [("cat hat", 4, 4)]
    assert queries("null", *sent[:3]) == [("CAT hat", 3, 3)]


def test_what_has_no_query_or_is_excluded_is_not_there():
    """Synthetic traffic fails nobody."""
    assert (
        queries("null", retrieval("r1", [], query=None), retrieval("r2", [], query="cat", synthetic=True))
        == []
    )


def test_few_cases_do_not_outrank_many():
    """By the lower bound: 8 of 10 before 1 of 1; then more cases, then the text; nothing counted, no row."""
    sent = [
        *(retrieval(f"m{number}", [] if number < 8 else ["a"], query="many") for number in range(10)),
        *(retrieval(f"{query}1", [], query=query) for query in ("b", "a")),
        retrieval("g1", ["a"], query="good"),
    ]
    assert queries("null", *sent) == [("many", 10, 8), ("a", 1, 1), ("b", 1, 1)]
    assert queries("null", *sent, limit=2) == [("many", 10, 8), ("a", 1, 1)]
    assert queries("null", *sent, least=2) == [("many", 10, 8)]


def test_equal_lower_bounds_go_by_the_number_of_cases():
    """No two shares have the same lower bound by chance: the rule is told to the order itself."""
    rows = [Row("a", 5, 1, 0.2, 0.1, 0.5), Row("z", 9, 1, 0.1, 0.1, 0.5)]
    assert [row.text for row in sorted(rows, key=_order)] == ["z", "a"]


def test_a_row_has_its_share_with_both_bounds():
    """Those of Wilson, exactly."""
    record = Worst("queries", "null", ALWAYS)
    for one in population(settle(retrieval("r1", [], query="cat"), retrieval("r2", query="cat")).store):
        record.add(one)
    (row,) = record.tables(1, 1)[0].rows
    assert (row.ratio, (row.lower, row.upper)) == (0.5, wilson(1, 2))


@pytest.mark.parametrize(("by", "expected"), [("null", 2), ("failed", 1)])
def test_each_measure_reads_the_minutes_of_its_cohort(by, expected):
    """Null results until now, failures where they had time to come; in minutes of the retrieval's own time."""
    minute = at(0) // 60_000
    spans = {LIVE: Span(minute, minute + 2), SETTLED: Span(minute - 1, minute + 1)}
    sent = [
        retrieval(f"r{number}", [], 60 * number, query="cat", need_id=f"n{number}", request_id=f"q{number}")
        for number in range(4)
    ]
    again = [
        retrieval(f"x{number}", [], 300, need_id=f"n{number}", request_id=f"x{number}") for number in range(4)
    ]
    assert queries(by, *sent, *again, spans=spans) == [("cat", expected, expected)]


# --- assets -----------------------------------------------------------------------------------------


def test_an_asset_is_rejected_where_a_user_rejected_it_or_what_was_made_of_it():
    """Of the lists that held it; what was placed counts for its best placed ancestor."""
    sent = [
        retrieval("r1", ["a1", "a2", "a1"]),
        retrieval("r2", ["a1", "a2"]),
        user("reject", consumed_asset_id="a2", source_retrieval_id="r2"),
        placement("p1", "made", derived_from_asset_id="a1", source_retrieval_id="r1"),
        user("reject", 130, event_id="u2", document_id="d1", placement_id="p1"),
    ]
    assert assets("rejected", *sent) == [("a1", 2, 1), ("a2", 2, 1)]


def test_a_reject_without_asset_blames_none():
    """The retrieval failed, but nobody knows by which of its assets."""
    assert assets("rejected", retrieval("r1"), user("reject", **CLAIM)) == []
    assert queries("rejected", retrieval("r1", query="cat"), user("reject", **CLAIM)) == [("cat", 1, 1)]


def test_an_asset_at_rank_1_is_unused_where_nothing_at_that_rank_was_used():
    """Silence and the use of another rank count against it; its own use and what was made of it do not."""
    made = placement("p1", "made", derived_from_asset_id="a1", source_retrieval_id="r4")
    sent = [
        retrieval("r1", ["a1", "a2"]),
        retrieval("r2", ["a1", "a2"]),
        user("select", consumed_asset_id="a2", source_retrieval_id="r2"),
        retrieval("r3", ["a1", "a2"]),
        user("export", consumed_asset_id="a1", source_retrieval_id="r3"),
        retrieval("r4", ["a1", "a2"]),
        made,
        user("share", document_id="d1", placement_id="p1"),
    ]
    assert assets("unused", *sent) == [("a1", 4, 2)]


def test_a_use_that_names_no_asset_says_nothing_of_rank_1():
    """Nor does a list that begins with null, or none."""
    sent = [
        retrieval("r1", ["a1"]),
        user("export", **CLAIM),
        retrieval("r2", [None, "a1"]),
        retrieval("r3", []),
    ]
    assert assets("unused", *sent) == []


def test_an_asset_is_irrelevant_where_its_label_says_0_or_less():
    """Of the lists of Layer 1 that hold it and have a label for it."""
    sent = [
        retrieval("r1", ["a1", "a2"]),
        retrieval("r2", ["a1", "a2"]),
        retrieval("r3", ["a1"]),
        retrieval("r4", ["a1"], request_id="q4"),
        judgement("intent", request_id="q4", retrieval_intents=0),
        *(
            judgement("relevance", event_id=f"j{number}", retrieval_id=name, asset_id=asset, grade=grade)
            for number, (name, asset, grade) in enumerate(
                [("r1", "a1", 0), ("r2", "a1", 2), ("r4", "a1", 0), ("r1", "a2", -1), ("r1", "elsewhere", 0)]
            )
        ),
    ]
    assert assets("irrelevant", *sent) == [("a2", 1, 1), ("a1", 2, 1)]


def test_an_asset_named_like_a_query_keeps_its_name():
    """Assets have one form."""
    sent = [
        retrieval("r1", ["cat"], query="CAT"),
        user("reject", consumed_asset_id="cat", **CLAIM),
    ]
    assert assets("rejected", *sent) == [("cat", 1, 1)]


# --- together ---------------------------------------------------------------------------------------


def test_every_subject_has_its_measures_and_all_are_made_without_a_name():
    """In the order in which they are told."""
    for subjects, measures in SUBJECTS.items():
        found = Worst(subjects, None, ALWAYS).tables(1, 1)
        assert [one.measure for one in found] == list(measures)
        assert len({one.name for one in measures}) == len(measures)


@pytest.mark.slow
def test_the_counts_add_up_to_the_figures():
    """Over all queries, simulated traffic has as many null results, failures and masked ones as its figures."""
    start = BASE
    end = start + 26 * 3_600_000
    made, _ = simulate(seed=4, start_ms=start, end_ms=end, prompts=400, rates=COVERAGE)
    store, _ = asyncio.run(settle_lines([one.value for one in made if one.value], DEFAULT))
    every = population(store)
    record = Worst("queries", None, ALWAYS)
    for one in every:
        query = one.record.query or "none was logged"
        record.add(one._replace(record=msgspec.structs.replace(one.record, query=query)))
    counts = {one.measure.name: sum(row.count for row in one.rows) for one in record.tables(10**6, 1)}
    totals: dict[str, float] = {}
    for (name, labels), value in running.metrics_of(store, end + 40 * DAY * 1000, DEFAULT).items():
        found = dict(labels)
        if found.get("window") == "all" and found.get("cohort", SETTLED) == SETTLED:
            key = f"{name} {found.get('signal', found.get('verdict', ''))}".strip()
            totals[key] = totals.get(key, 0) + value
    assert counts == {
        "null": totals["lara_retrievals_null"],
        "rejected": totals["lara_retrievals_failed_by_signal rejected"],
        "researched": totals["lara_retrievals_failed_by_signal researched"],
        "masked": totals["lara_diagnosis_retrievals masked"],
        "failed": totals["lara_retrievals_failed"],
    }
    assert all(counts.values())
