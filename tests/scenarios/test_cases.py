"""Public bug reports of this field, told in our own words, and what is right in the contract's terms.

The numbers are those of ../shared/cases, which lie beside the project and are run too, where they are there.
"""

import asyncio
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiokafka.structs import ConsumerRecord
from click.testing import CliRunner

from attribution.semantics import Exclusion, Semantics
from metrics.buckets import MinuteBuckets, Span
from metrics.exporter import QualityCollector
from streams.codec import decode
from streams.commands.cli import main
from streams.settings import Settings, published
from streams.state.audit import audit
from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.building import (
    DAY,
    DEFAULT,
    LONG_AFTER,
    MINUTE,
    Found,
    agent,
    at,
    encoded,
    events,
    judgement,
    placement,
    retrieval,
    settle,
    user,
)
from tests.properties import running
from tests.streams.state.memory_contents import MemoryContents, lose

SHARED = Path(__file__).parents[3] / "shared" / "cases"
SETTLED = {"cohort": "settled"}
LIVE = {"cohort": "live"}
STANDARD = {"definition": "standard"}
CREDIT = Semantics(inference="credit")


def search(name: Any, returned: Any, seconds: float = 0, **fields: Any) -> dict[str, Any]:
    """A direct lookup in the chat, with a request of its own."""
    plain = {"role": "direct_lookup", "surface": "chat", "request_id": f"q-{name}"}
    return retrieval(name, returned, seconds, **{**plain, **fields})


def positives(found: Found) -> tuple[float | None, float | None]:
    """U by `standard`, of how many retrievals."""
    return found.figure("lara_retrievals_positive", **SETTLED, **STANDARD), found.figure(
        "lara_retrievals", **SETTLED
    )


def nulls(found: Found, seconds: float = LONG_AFTER, **labels: str) -> tuple[float | None, float | None]:
    """Null results, of how many logged lists."""
    return tuple(
        found.figure(name, seconds, **labels) for name in ("lara_retrievals_null", "lara_layer1_retrievals")
    )


def abandoned(found: Found) -> dict[str, float | None]:
    """The share of abandoned sessions, asked of the session and of lineage."""
    ratio = "lara_session_abandonment_ratio"
    return {how: found.figure(ratio, attribution=how) for how in ("session", "lineage")}


def unobserved(found: Found, seconds: float = LONG_AFTER) -> float | None:
    return found.figure("lara_retrievals_unobserved", seconds, **SETTLED, **STANDARD)


# --- what an action belongs to ----------------------------------------------------------------------


def test_01_an_action_that_no_search_preceded_belongs_to_none():
    """An empty claim is none, and a search five seconds later is not its origin."""
    found = settle(
        user("select", 0, event_id="a1", consumed_asset_id="A1", source_retrieval_id=""),
        search("r1", ["A1", "A2"], 5),
    )
    assert found.credit("a1") == ("none", [])
    assert positives(found) == (0, 1)
    assert unobserved(found) == 1


def test_02_a_claim_on_a_search_that_was_never_logged_dangles():
    """It is not moved to another search that happens to hold the asset."""
    found = settle(
        search("r1", ["A1", "A2"]),
        user("select", 3, event_id="a1", consumed_asset_id="A1", source_retrieval_id="r-typed-gol"),
    )
    assert found.credit("a1") == ("dangling", [])
    assert positives(found) == (0, 1)
    assert found.figure("lara_actions", resolution="dangling") == 1


def test_03_a_second_page_is_a_retrieval_of_its_own_with_its_own_ranks():
    """Nobody searched again, and nobody got nothing, though the page repeats the query in the next turn."""
    query = {"query": "wedding invite", "need_id": "n1"}
    for request in ("q1", "q2"):
        found = settle(
            search("r1", ["A1", "A2", "A3"], request_id="q1", **query),
            search("r2", ["A4", "A5", "A6"], 8, request_id=request, page_of="r1", page=2, **query),
            user("select", 12, event_id="a1", consumed_asset_id="A5", source_retrieval_id="r2"),
        )
        assert found.figure("lara_retrievals_failed_by_signal", **SETTLED) == 0
        assert found.figure("lara_orf_ratio", **SETTLED) == 0
    assert found.credit("a1") == ("explicit", ["r2"])
    assert found.outcomes["r2"]["ranks"] == {"A5": 2}
    assert found.figure("lara_retrievals_failed", **SETTLED) == 0
    assert nulls(found) == (0, 2)


@pytest.mark.parametrize("absent", [{}, {"returned_asset_ids": None}], ids=["left out", "null"])
def test_05_a_list_that_was_not_logged_is_no_empty_list(absent):
    """It is outside the null rate, and inside everything that evidence says."""
    unlogged = {**search("r1", None), **absent}
    found = settle(unlogged, search("r2", [], 10), search("r3", ["A1"], 20))
    assert nulls(found) == (1, 2)
    assert found.figure("lara_null_ratio") == 0.5
    assert found.figure("lara_retrievals_without_list") == 1
    assert found.figure("lara_retrievals", **SETTLED) == 3
    assert unobserved(found) == 3


def test_06_an_export_built_from_several_searches_credits_each_and_counts_once():
    """What was uploaded adds nothing."""
    found = settle(
        search("r1", ["A1", "A2"]),
        placement("p1", "A1", 5, source_retrieval_id="r1"),
        search("r2", ["B7", "B8"], 20),
        placement("p2", "B7", 25, source_retrieval_id="r2"),
        placement("p3", "UP1", 30),
        user("export", 60, event_id="a1", document_id="d1"),
    )
    assert found.credit("a1") == ("document", ["r1", "r2"])
    assert found.figure("lara_attributed_outcomes", action="export") == 1
    assert found.figure("lara_outcomes", action="export") == 1
    assert positives(found) == (2, 2)


def test_08_the_placement_keeps_the_credit_against_a_later_list():
    """A list that merely shows the asset again takes nothing."""
    found = settle(
        search("r1", ["A1", "A2"]),
        placement("p1", "A1", 5, source_retrieval_id="r1"),
        search("r2", ["A9", "A1"], 60),
        user("edit", 90, event_id="a1", consumed_asset_id="A1", document_id="d1"),
        user("export", 100, event_id="a2", consumed_asset_id="A1", document_id="d1"),
    )
    assert found.credit("a1") == found.credit("a2") == ("inherited", ["r1"])
    assert found.outcomes["r1"]["ranks"] == {"A1": 1}
    assert found.outcomes["r2"]["action_ids"] == []
    assert unobserved(found) == 1


def test_09_an_export_in_another_session_two_days_later_belongs_to_the_first_search():
    """The document carries the origin where the session does not."""
    chat = {"session_guid": "chat-1", "request_id": "q1"}
    twenty = [f"A{number}" for number in range(1, 21)]
    found = settle(
        search("r1", twenty, **chat),
        placement("p1", "A4", 1, source_retrieval_id="r1", actor="agent", **chat),
        agent(
            "edit",
            2,
            event_id="a1",
            consumed_asset_id="A4",
            source_retrieval_id="r1",
            document_id="d1",
            **chat,
        ),
        user("export", 2 * DAY + 2, event_id="a2", document_id="d1", session_guid="editor-9"),
    )
    assert found.credit("a1") == ("explicit", ["r1"])
    assert found.credit("a2") == ("document", ["r1"])
    assert found.figure("lara_acr_ratio", **SETTLED) == 1
    assert found.figure("lara_cross_session_outcomes") == 1
    assert positives(found) == (1, 1)
    assert found.figure("lara_consumed_rank") == 4
    assert abandoned(found) == {"session": 1, "lineage": 0}


def test_12_equal_timestamps_give_one_answer_in_every_order_of_arrival():
    """Nothing is guessed: the action belongs to none, and both searches are without evidence."""
    sent = (
        search("r1", ["A1"], event_id="e2"),
        user("select", 0, event_id="e1", consumed_asset_id="A1"),
        search("r2", ["A1"], event_id="e3"),
    )
    figures = [settle(*order, one_by_one=True).figures() for order in permutations(sent)]
    assert all(one == figures[0] for one in figures)
    assert settle(*sent).credit("e1") == ("none", [])
    assert unobserved(settle(*sent)) == 2


def test_12_where_inference_credits_ties_go_by_retrieval_id_in_every_order_of_arrival():
    """A retrieval at the action's very instant is before it, and r2 is greater than r1."""
    sent = (
        search("r1", ["A1"], event_id="e2"),
        user("select", 0, event_id="e1", consumed_asset_id="A1"),
        search("r2", ["A1"], event_id="e3"),
    )
    orders = [settle(*order, semantics=CREDIT, one_by_one=True) for order in permutations(sent)]
    assert len(orders) == 6
    for found in orders:
        assert found.credit("e1") == ("inferred", ["r2"])
        assert found.figures() == orders[0].figures()
        assert (positives(found), unobserved(found)) == ((1, 2), 1)


def test_14_a_retrieval_is_unobserved_until_its_evidence_comes_and_never_both():
    """The early answer is corrected, and at every step all retrievals add up."""
    before = settle(search("r1", ["A1"]))
    after = settle(
        search("r1", ["A1"]),
        user("select", 28 * MINUTE + 20, consumed_asset_id="A1", source_retrieval_id="r1"),
        one_by_one=True,
    )
    as_of = 31 * MINUTE + 40
    for found, positive in ((before, 0), (after, 1)):
        labels = {**LIVE, **STANDARD}
        counts = [
            found.figure(f"lara_retrievals_{name}", as_of, **labels)
            for name in ("positive", "unobserved", "pending")
        ]
        assert counts == [positive, 1 - positive, 0]
        assert sum(counts) == found.figure("lara_retrievals", as_of, **LIVE)
    assert unobserved(after, 66 * MINUTE + 40) == 0


def test_14_before_half_an_hour_it_is_pending():
    """Neither seen nor unobserved."""
    found = settle(search("r1", ["A1"]))
    assert found.figure("lara_retrievals_pending", 30 * MINUTE, **LIVE, **STANDARD) == 1
    assert found.figure("lara_retrievals_unobserved", 30 * MINUTE, **LIVE, **STANDARD) == 0
    assert found.figure("lara_retrievals_unobserved", 30 * MINUTE + 1, **LIVE, **STANDARD) == 1


# --- time -------------------------------------------------------------------------------------------


def fetched(*values: Any, timestamp: int = 0, topic: str = "lara.retrievals") -> list[ConsumerRecord]:
    """Records as they come from the broker; the timestamp is the event's own where none is given."""
    found = []
    for offset, value in enumerate(values, 100):
        encoding = value if value is None or isinstance(value, bytes) else encoded(value)
        stamp = timestamp or (value["ts"] if isinstance(value, dict) else at(0))
        found.append(ConsumerRecord(topic, 3, offset, stamp, 0, None, encoding, None, 0, 0, ()))
    return found


def test_15_one_fast_clock_makes_nobody_late():
    """The honest ones count in their own minutes; the fast one takes part when its minute comes."""
    fast = search("r-fast", ["A1"], DAY)
    honest = [search("r1", ["A1"]), *(search(f"r{n}", ["A1"], n * MINUTE) for n in range(2, 12))]
    decoded = decode([*fetched(fast, timestamp=at(1)), *fetched(*honest)], with_payload=False)
    assert (len(decoded.events), decoded.letters, decoded.ahead) == (12, [], 1)
    assert decoded.newest == {"retrieval": at(11 * MINUTE)}
    found = settle(fast, *honest)
    assert found.figure("lara_retrievals", 12 * MINUTE, window="1h", **LIVE) == 11
    assert found.figure("lara_retrievals", DAY + MINUTE, window="1h", **LIVE) == 1


def test_17_a_very_late_record_sits_in_its_own_minute():
    """It changes the window that holds it and no other; what names it later is attributed as ever."""
    three_hours = 3 * 60 * MINUTE
    recent = [search(f"r{n}", ["A1"], three_hours + n) for n in range(1, 5)]
    late = search("r-late", [], 0)
    found = settle(*recent, late, one_by_one=True)
    as_of = three_hours + 5 * MINUTE
    assert nulls(found, as_of, window="1h") == (0, 4)
    assert nulls(found, as_of, window="6h") == (1, 5)
    listed = search("r-late", ["A7"], 0)
    named = settle(
        *recent,
        listed,
        user("select", as_of, event_id="a1", consumed_asset_id="A7", source_retrieval_id="r-late"),
    )
    assert named.credit("a1") == ("explicit", ["r-late"])


def test_19_ids_that_look_like_numbers_are_text():
    """15 is "15" and 7 is not "007"; without a claim nothing is guessed."""
    found = settle(
        search("r1", ["007", "12", 15]),
        user("select", 1, event_id="a1", consumed_asset_id=7),
        user("select", 2, event_id="a2", consumed_asset_id=12),
        user("select", 3, event_id="a3", consumed_asset_id="15", source_retrieval_id="r1"),
        user("select", 4, event_id="a4", consumed_asset_id=7, source_retrieval_id="r1"),
        user("select", 5, event_id="a5", consumed_asset_id=12, source_retrieval_id="r1"),
    )
    assert found.credit("a1") == found.credit("a2") == ("none", [])
    assert found.credit("a3") == found.credit("a5") == ("explicit", ["r1"])
    assert found.credit("a4") == ("refuted", [])
    assert found.outcomes["r1"]["ranks"] == {"12": 2, "15": 3}


def test_19_where_inference_credits_7_is_still_not_007():
    """In all orders of arrival: 12 is found at rank 2, 15 was claimed at rank 3, and 7 is in no list."""
    sent = (
        search("r1", ["007", "12", 15]),
        user("select", 1, event_id="a1", consumed_asset_id=7),
        user("select", 2, event_id="a2", consumed_asset_id=12),
        user("select", 3, event_id="a3", consumed_asset_id="15", source_retrieval_id="r1"),
    )
    for order in permutations(sent):
        found = settle(*order, semantics=CREDIT, one_by_one=True)
        assert found.credit("a1") == ("none", [])
        assert found.credit("a2") == ("inferred", ["r1"])
        assert found.credit("a3") == ("explicit", ["r1"])
        assert found.outcomes["r1"]["ranks"] == {"12": 2, "15": 3}


# --- what is no event, and what is nobody's ---------------------------------------------------------


def test_21_tombstones_and_broken_payloads_stop_nothing():
    """Each is counted, and each that is no event is a dead letter that says where it lay and why."""
    decoded = decode(
        fetched(
            search("r1", ["A1"]),
            None,
            b'{"type": "retrieval", "retrieval_id": ',
            b"[1, 2]",
            b'{"type": "hologram"}',
            search("r2", ["A1"], 1),
        ),
        with_payload=False,
    )
    letters = [msgspec.json.decode(letter.value) for letter in decoded.letters]
    where = [(one["topic"], one["partition"], one["offset"], one["reason"]) for one in letters]
    assert where == [
        ("lara.retrievals", 3, 102, "not_json"),
        ("lara.retrievals", 3, 103, "not_an_object"),
        ("lara.retrievals", 3, 104, "unknown_type"),
    ]
    assert decoded.tally == {("unknown", "tombstone"): 1, ("unknown", "invalid"): 3}
    store = running.settle_in_memory([decoded.events], Semantics())
    assert store.sums([Span(None, 10**9)])[0]["retrievals|direct_lookup|chat"] == 2


def test_23_state_that_vanishes_is_found_by_an_audit_and_takes_nothing_else_with_it():
    """What r1 counted stays, the audit says that one retrieval is lost, and r2 is as if nothing had happened."""
    searches = (search("r1", ["A1"]), search("r2", ["A2"], 1))
    exports = [
        user("export", 59 + n, event_id=f"a{n}", consumed_asset_id=f"A{n}", source_retrieval_id=f"r{n}")
        for n in (1, 2)
    ]
    store = running.settle_in_memory([events(*searches)], DEFAULT)
    lose(store, "retrieval:r1")
    asyncio.run(settle_more(store, *exports))
    found = audit(MemoryContents(store, range(at(0) // 60_000, at(0) // 60_000 + 60)), DEFAULT)
    assert found.lost == {"retrieval": 1}
    whole = settle(*searches, *exports)
    outcomes = running.outcomes_in(running.outputs_in(store, DEFAULT))
    assert outcomes == {"r2": whole.outcomes["r2"]}
    lived = Found(store, DEFAULT, {}, outcomes, {})
    assert positives(lived) == (1, 2)
    assert positives(whole) == (2, 2)


async def settle_more(store: MemoryStore, *sent: dict[str, Any]) -> None:
    await drive(events(*sent), DEFAULT, store, await store.open(), "more")


def test_24_evidence_after_its_retrieval_is_gone_makes_no_counter_negative():
    """A state that was lost is an unknown retrieval: nothing is taken back that nobody counted."""
    found = settle(
        search("r2", ["B1"], 66 * MINUTE + 40),
        user("select", 66 * MINUTE + 50, event_id="a1", consumed_asset_id="A1", source_retrieval_id="r1"),
    )
    assert found.credit("a1") == ("dangling", [])
    (totals,) = found.store.sums([Span(None, 10**9)])
    assert min(totals.values()) > 0
    assert all(0 <= value <= 1 for (name, _), value in found.figures().items() if name.endswith("_ratio"))
    assert all(value >= 0 for value in found.figures().values())
    assert (positives(found), unobserved(found)) == ((0, 1), 1)


def test_24_a_retrieval_that_is_logged_after_its_evidence_takes_it_up():
    """State that comes back makes the same figures as state that was never gone."""
    lost = search("r1", ["A1"])
    others = (
        search("r2", ["B1"], 66 * MINUTE + 40),
        user("select", 66 * MINUTE + 50, event_id="a1", consumed_asset_id="A1", source_retrieval_id="r1"),
    )
    back = settle(*others, lost, one_by_one=True)
    assert back.credit("a1") == ("explicit", ["r1"])
    assert back.figures() == settle(lost, *others).figures()
    assert (positives(back), unobserved(back)) == ((1, 2), 1)


def label(asset: str, grade: int, **about: Any) -> dict[str, Any]:
    """A judgement of relevance at the start."""
    return judgement("relevance", event_id=f"j-{asset}-{about}", asset_id=asset, grade=grade, **about)


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_26_a_repeated_asset_makes_no_ndcg_above_one(gain):
    """It earns once, at its first position, and K stays the divisor of precision."""
    semantics = Semantics(gain=gain)
    first, second = (
        search(name, returned, seconds, query="q")
        for name, returned, seconds in (("r1", ["A", "A"], 10), ("r2", ["X", "A", "A"], 20))
    )
    graded = label("A", 1, query="q")
    for retrieved, ndcg in (((first,), 1), ((second,), 0.630929754), ((first, second), 1.630929754 / 2)):
        found = settle(graded, *retrieved, semantics=semantics)
        assert found.figure("lara_ndcg_at_k", k="10") == pytest.approx(ndcg, abs=1e-12)
        assert found.figure("lara_precision_at_k", k="5") == 0.2


def test_28_without_a_relevant_label_there_is_no_ndcg_and_precision_is_0():
    """It is counted apart, and a perfect ranking beside it still reaches 1."""
    found = settle(
        label("A", 2, query="q1"),
        label("B", 0, query="q2"),
        search("r1", ["A"], 10, query="q1"),
        search("r2", ["B"], 20, query="q2"),
        search("r3", ["C"], 30, query="q3"),
    )
    names = ("judged_retrievals", "ranked_retrievals", "judged_without_relevant")
    assert [found.figure(f"lara_{name}") for name in names] == [2, 1, 1]
    assert found.figure("lara_ndcg_at_k", k="10") == found.figure("lara_mrr") == 1
    assert found.figure("lara_precision_at_k", k="1") == 0.5
    alone = settle(label("B", 0, query="q2"), search("r2", ["B"], 20, query="q2"))
    assert alone.figure("lara_ndcg_at_k") is None
    assert alone.figure("lara_precision_at_k", k="1") == 0
    assert alone.figure("lara_diagnosis_retrievals", verdict="masked") == 1


class Clock:
    """A wall clock that is set by hand, in seconds after the first event."""

    def __init__(self) -> None:
        self.seconds = 30.0

    def __call__(self) -> float:
        return at(self.seconds) / 1000


def scraped(collector: QualityCollector, name: str, **labels: str) -> list[float]:
    samples = [sample for family in collector.collect() for sample in family.samples]
    return [one.value for one in samples if one.name == name and labels.items() <= one.labels.items()]


def test_31_the_ratio_of_an_empty_window_is_absent_and_its_count_0():
    """Never 0, never the value of an hour ago."""
    clock, buckets = Clock(), MinuteBuckets()
    collector = QualityCollector(buckets, clock, published(Settings().definitions))
    hour = {"window": "1h", "cohort": "live", "definition": "standard"}
    counted = {"window": "1h", "cohort": "live"}
    assert scraped(collector, "lara_gpr_ratio") == []
    assert sum(scraped(collector, "lara_retrievals")) == 0

    select = user("select", 5, consumed_asset_id="A1", source_retrieval_id="r1")
    (totals,) = settle(search("r1", ["A1"]), select).store.sums([Span(None, 10**9)])
    for counter, value in totals.items():
        buckets.add(at(0) // 60_000, counter, value)
    assert scraped(collector, "lara_gpr_ratio", **hour) == [1]
    assert scraped(collector, "lara_retrievals", **counted) == [1]

    clock.seconds += 7200
    assert scraped(collector, "lara_gpr_ratio", **hour) == []
    assert scraped(collector, "lara_retrievals", **counted) == [0]
    assert scraped(collector, "lara_retrievals_positive", **hour) == [0]


@pytest.mark.slow
def test_33_free_text_never_becomes_a_label():
    """600 surfaces and roles are one label set, and the sum over labels is exactly 600."""
    sent = [
        search(
            f"r{n}", ["A1"], n, role=f"role {n}", surface=f"chat-{n:04d}", query=f"query {n}", user_id=f"u{n}"
        )
        for n in range(600)
    ]
    found = settle(*sent)
    labels = [dict(of) for (name, of), _ in found.figures().items() if name == "lara_retrievals"]
    assert {(one["role"], one["surface"]) for one in labels} == {("unspecified", "other")}
    assert found.figure("lara_retrievals", **LIVE) == 600
    values = {value for _, of in found.figures() for _, value in of}
    assert not any(value.startswith(("chat-", "role ", "query", "u1", "q-", "r1", "s1")) for value in values)


def test_34_a_result_without_ids_keeps_its_positions():
    """Something came back, so it is no null result; the third of three has rank 3."""
    found = settle(
        search("r1", [None, None, "A3"]),
        search("r2", [None, None], 10),
        user("select", 12, event_id="a1", consumed_asset_id="A3", source_retrieval_id="r1"),
        label("A3", 1, retrieval_id="r1"),
        label("A3", 1, retrieval_id="r2"),
    )
    assert nulls(found) == (0, 2)
    assert found.figure("lara_judged_retrievals") == 1
    assert found.figure("lara_ndcg_at_k", k="5") == 0.5
    assert found.figure("lara_precision_at_k", k="5") == 0.2
    assert found.figure("lara_diagnosis_retrievals", verdict="unjudged") == 1
    assert found.outcomes["r1"]["ranks"] == {"A3": 3}


REUSED = (
    search("search:1", ["A1", "A2"], event_id="e1", query="JFK-SEA direct"),
    search("search:1", ["B1", "B2"], 20, event_id="e2", query="JFK-SEA one stop"),
    search("search:1", ["B1", "B2"], 20, event_id="e2", query="JFK-SEA one stop"),
    agent("select", 30, event_id="a1", consumed_asset_id="B1", source_retrieval_id="search:1"),
)


def test_36_of_a_call_id_that_is_used_again_the_first_stands_in_every_order_of_arrival():
    """The other is a dead letter, its second delivery a duplicate; the claim on it is refuted."""
    figures = []
    for order in permutations(REUSED):
        found = settle(*order, one_by_one=True)
        figures.append(found.figures())
        assert found.credit("a1") == ("refuted", [])
        (letter,) = found.letters.values()
        assert (letter["reason"], letter["id"], letter["event_id"]) == (
            "retrieval_id_reused",
            "search:1",
            "e2",
        )
    assert all(one == figures[0] for one in figures)
    assert settle(*REUSED).figure("lara_retrievals", **LIVE) == 1


def test_36_the_list_of_the_other_record_is_no_substitute():
    """The agent used what one of the two calls returned: it took nothing from elsewhere."""
    used = agent("use", 30, event_id="a1", consumed_asset_id="B1", request_id="q-search:1")
    foreign = agent("use", 30, event_id="a2", consumed_asset_id="C1", request_id="q-search:1")
    calls = [{**call, "role": "act_on"} for call in REUSED[:2]]
    for order in permutations((*calls, used)):
        found = settle(*order, one_by_one=True)
        assert found.outcomes["search:1"]["failure_signals"] == []
        assert found.credit("a1") == ("none", [])
    assert settle(*calls, foreign).outcomes["search:1"]["failure_signals"] == ["substituted"]


def test_36_the_intake_counts_one_conflict_and_one_duplicate_in_every_order(tmp_path):
    """A redelivery is counted once as what it is."""
    for number, order in enumerate(permutations(REUSED)):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(b"\n".join(encoded(one) for one in order))
        printed = CliRunner().invoke(main, ["backtest", str(file), "--json"]).stderr
        assert "read 4 records: applied 2" in printed
        assert "conflict 1" in printed
        assert "duplicate 1" in printed


ROBOTS = [
    search(f"m{n}", ["A1"], n * MINUTE, session_guid=f"probe-{n}", query="Insulin") for n in range(1, 21)
]
PEOPLE = (
    search("r1", [], 30, query="birthday"),
    search("r2", ["A1"], 90, query="logo"),
    user("select", 95, event_id="a1", consumed_asset_id="A1", source_retrieval_id="r2"),
)
MARKED = [{**robot, "synthetic": True} for robot in ROBOTS]


@pytest.mark.parametrize(
    ("robots", "exclusion"),
    [
        (MARKED, Exclusion()),
        (ROBOTS, Exclusion(session_prefixes=("probe-",))),
        (ROBOTS, Exclusion(queries=("insulin",))),
    ],
    ids=["marked", "session prefix", "query"],
)
def test_38_monitoring_robots_are_in_no_figure(robots, exclusion):
    """The figures are those of people alone; what a robot's search is named by is excluded with it."""
    semantics = Semantics(exclusion=exclusion)
    people = settle(*PEOPLE, semantics=semantics)
    claimer = user(
        "export", 30 * MINUTE, event_id="a-robot", consumed_asset_id="A1", source_retrieval_id="m1"
    )
    found = settle(*robots, *PEOPLE, claimer, semantics=semantics)
    assert found.figures() == people.figures()
    assert found.figure("lara_sessions") == 1
    assert found.figure("lara_orf_ratio", **SETTLED) == 0
    assert unobserved(found) == 1
    assert nulls(found) == (1, 2)
    assert positives(found) == (1, 2)
    assert found.credit("a-robot") == ("excluded", [])
    assert sum(outcome["excluded"] for outcome in found.outcomes.values()) == 20


# --- the chain in words -----------------------------------------------------------------------------

TWICE = (
    search("r-first", ["A1", "A2"], session_guid="chat-1", query="party [red]"),
    placement("p1", "A2", 10, source_retrieval_id="r-first", session_guid="chat-1", actor="user"),
    search("r-again", ["A2"], 60, session_guid="chat-1", query="party"),
    user("export", 2 * DAY, event_id="a-export", document_id="d1", session_guid="editor-2", surface="editor"),
)


def test_an_asset_found_twice_and_exported_two_days_later_is_credited_to_the_search_it_was_placed_from():
    """The later search saw it too, and was not used."""
    for order in permutations(TWICE):
        found = settle(*order, one_by_one=True)
        assert found.credit("a-export") == ("document", ["r-first"])
        assert found.credit("place:d1/p1") == ("inherited", ["r-first"])
        assert found.outcomes["r-again"]["action_ids"] == []
        assert found.figure("lara_cross_session_outcomes", surface="editor") == 1


def explained(name: str, file: Path, *options: str) -> str:
    found = CliRunner().invoke(main, ["explain", "retrieval", name, str(file), *options])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_explain_prints_the_chain_from_the_search_to_the_export(tmp_path):
    """What it returned, who used it by which rule and placement, at which rank, and what is counted."""
    file = tmp_path / "twice.jsonl"
    file.write_bytes(b"\n".join(encoded(one) for one in TWICE))
    printed = explained("r-first", file)
    for line in (
        "fired 2026-03-02 10:00:00.000Z in session chat-1, request q-r-first, role direct_lookup, surface chat",
        "query: party [red]",
        "returned: 2 assets: A1, A2",
        "user place in session chat-1  (place:d1/p1)",
        "2026-03-04 10:00:00.000Z  user export in session editor-2  (a-export)",
        "rule 3, the whole document p1 of document d1",
        "asset A2, rank 2",
        "U by strict: yes",
        "+1  retrievals_positive|strict|direct_lookup|chat",
    ):
        assert line in printed
    other = explained("r-again", file)
    assert "actions credited to it: none" in other
    assert "no evidence by standard: unobserved" in other


def test_explain_says_the_same_to_programs(tmp_path):
    """The record of the outcome, what was refused and why, and the counters with their minute."""
    file = tmp_path / "twice.jsonl"
    bad = user("edit", 90, event_id="a-bad", consumed_asset_id="A9", source_retrieval_id="r-first")
    file.write_bytes(b"\n".join(encoded(one) for one in (*TWICE, bad)))
    found = json.loads(explained("r-first", file, "--json"))
    (record,) = found["records"]
    assert [credit["action_id"] for credit in record["credits"]] == ["place:d1/p1", "a-export"]
    assert found["refused"] == [
        {"action_id": "a-bad", "rule": "explicit", "grade": "refuted", "why": "the list holds none of A9"}
    ]
    assert {
        "minute": "2026-03-02 10:00:00.000Z",
        "counter": "retrievals|direct_lookup|chat",
        "count": 1,
    } in found["counted"]


# --- the shared files -------------------------------------------------------------------------------


def values_of(path: Path) -> list[bytes]:
    """The records of a case; lines that instruct a harness are left out, unless they are a raw value."""
    lines = json.loads(path.read_text())["events"]
    raw = [
        line["value"] if line.get("_op") == "raw" else json.dumps(line)
        for line in lines
        if raw_or_event(line)
    ]
    return [value.encode() for value in raw if value is not None]


def raw_or_event(line: dict[str, Any]) -> bool:
    return line.get("_op", "raw") == "raw"


def rotations(values: list[bytes]) -> list[list[bytes]]:
    """All rotations; of a long case four."""
    steps = range(0, len(values), len(values) // 4 if len(values) > 50 else 1)
    return [values[step:] + values[:step] for step in steps]


@pytest.mark.slow
@pytest.mark.skipif(
    not SHARED.is_dir(), reason=f"{SHARED} is not here: the shared cases lie beside the project"
)
def test_every_shared_case_settles_to_the_same_figures_in_every_rotation_of_its_order():
    """Whatever a case is about, nothing raises, and arrival changes nothing."""
    paths = sorted(SHARED.glob("*.json"))
    assert paths
    for path in paths:
        figures = [
            settle(*rotation, one_by_one=len(rotation) < 50).figures()
            for rotation in rotations(values_of(path))
        ]
        assert figures and all(one == figures[0] for one in figures), path.name
