"""The second reading itself: the right totals of the real logs, and the shared cases in our own words."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from tests import second_reading
from tests.second_reading import Reading, Rules, as_time, read

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETTLED = {"window": "all", "cohort": "settled"}
LONG_AFTER = as_time("2026-04-01T00:00:00Z")


# --- builders ---------------------------------------------------------------------------------------


def at(clock: str) -> str:
    return f"2026-03-02T{clock}Z"


def event(kind: str, event_id: str, clock: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "event_id": event_id, "ts": at(clock), "session_guid": "s1"} | fields


def retrieval(retrieval_id: str, clock: str, returned: list[Any] | None, **fields: Any) -> dict[str, Any]:
    basic = {"retrieval_id": retrieval_id, "surface": "chat", "role": "direct_lookup"}
    listed = {} if returned is None else {"returned_asset_ids": returned}
    return event("retrieval", f"e-{retrieval_id}", clock, **(basic | listed | fields))


def placement(placement_id: str, clock: str, asset: str, **fields: Any) -> dict[str, Any]:
    basic = {"placement_id": placement_id, "document_id": "D1", "asset_id": asset}
    return event("placement", f"e-{placement_id}", clock, **(basic | fields))


def user(event_id: str, action: str, clock: str, **fields: Any) -> dict[str, Any]:
    return event("action", event_id, clock, actor="user", action=action, **fields)


def agent(event_id: str, action: str, clock: str, **fields: Any) -> dict[str, Any]:
    return event("action", event_id, clock, actor="agent", action=action, **fields)


def lines(*events: Any) -> list[bytes | None]:
    return [e if e is None or isinstance(e, bytes) else json.dumps(e).encode() for e in events]


def reading_of(*events: Any, as_of: str | int = LONG_AFTER, rules: Rules | None = None) -> Reading:
    return read(lines(*events), as_time(as_of), rules or Rules())


def values(reading: Reading, name: str, **labels: str) -> list[float]:
    wanted = labels.items()
    return [m["value"] for m in reading.metrics if m["name"] == name and wanted <= m["labels"].items()]


def total(reading: Reading, name: str, **labels: str) -> float:
    return sum(values(reading, name, **labels))


def credit(reading: Reading, action_id: str) -> tuple[str, list[str]]:
    attribution = reading.attributions[action_id]
    return attribution["resolution"], attribution["retrieval_ids"]


# --- the real logs ----------------------------------------------------------------------------------


def real_log(name: str) -> Reading:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not here: the real logs lie beside the project, in ../shared")
    return read(path.read_bytes().splitlines(), as_time("2026-11-01T00:00:00Z"))


def settled(reading: Reading, name: str, **labels: str) -> float:
    return total(reading, name, **SETTLED, **labels)


def resolutions(reading: Reading) -> dict[str, float]:
    rows = [m for m in reading.metrics if m["name"] == "lara_actions" and m["labels"]["window"] == "all"]
    return {m["labels"]["resolution"]: m["value"] for m in rows if m["value"]}


def test_chorus_log_has_its_right_totals() -> None:
    """Fifteen browser sessions: the reading finds the totals that stand beside the log."""
    reading = real_log("chorus_ubi.jsonl")
    assert settled(reading, "lara_retrievals") == 84
    assert total(reading, "lara_retrievals_null", window="all") == 6
    assert settled(reading, "lara_retrievals_positive", definition="standard") == 35
    assert settled(reading, "lara_retrievals_positive", definition="strict") == 0
    assert settled(reading, "lara_retrievals_agent_consumed") == 0
    assert settled(reading, "lara_retrievals_unobserved", definition="standard") == 49
    assert resolutions(reading) == {"explicit": 390, "refuted": 24, "dangling": 40}
    assert (reading.intake["invalid"], reading.intake["conflict"]) == (2, 14)
    assert sum(reading.intake.values()) == 1044


def test_airline_log_has_its_right_totals() -> None:
    """Two hundred agent conversations: the reading finds the totals that stand beside the log."""
    reading = real_log("tau_airline.jsonl")
    assert settled(reading, "lara_retrievals") == 179
    assert total(reading, "lara_retrievals_null", window="all") == 28
    assert settled(reading, "lara_retrievals_positive", definition="standard") == 30
    assert settled(reading, "lara_retrievals_agent_consumed") == 12
    assert settled(reading, "lara_retrievals_delegated") == 76
    assert settled(reading, "lara_retrievals_unobserved", definition="standard") == 88
    assert resolutions(reading) == {"explicit": 154, "none": 65}


@pytest.mark.slow
def test_webshop_log_has_its_right_totals() -> None:
    """Five hundred shopping runs: the reading finds the totals that stand beside the log."""
    reading = real_log("react_webshop.jsonl")
    assert settled(reading, "lara_retrievals") == 501
    assert total(reading, "lara_retrievals_null", window="all") == 2
    assert settled(reading, "lara_retrievals_agent_consumed") == 494
    assert settled(reading, "lara_retrievals_unobserved", definition="standard") == 7
    assert resolutions(reading) == {"explicit": 1517}


# --- the shared cases, in our own words ---------------------------------------------------------------


def test_01_empty_claim_is_no_claim() -> None:
    """An empty source id is absent, and an action before any search belongs to none."""
    reading = reading_of(
        user("a1", "select", "10:00:00", consumed_asset_id="A1", source_retrieval_id=""),
        retrieval("r1", "10:00:05", ["A1", "A2"]),
    )
    assert reading.intake["applied"] == 2
    assert credit(reading, "a1") == ("none", [])
    assert values(reading, "lara_gpr_ratio", **SETTLED, definition="standard") == [0.0]
    assert settled(reading, "lara_retrievals_unobserved", definition="standard") == 1


def test_02_claim_on_an_unknown_retrieval_dangles() -> None:
    """A claim that names no known retrieval is dangling and moves to no other one."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1", "A2"], request_id="q"),
        user("a1", "select", "10:00:03", consumed_asset_id="A1", source_retrieval_id="r9", request_id="q"),
    )
    assert credit(reading, "a1") == ("dangling", [])
    assert values(reading, "lara_gpr_ratio", **SETTLED, definition="standard") == [0.0]


def test_03_second_page_is_its_own_retrieval() -> None:
    """An action on the second page credits the second page, at its rank, and paging is no re-search."""
    invite = {"query": "wedding invite", "request_id": "q1"}
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1", "A2", "A3"], **invite, page=1),
        retrieval("r2", "10:00:08", ["A4", "A5", "A6"], **invite, page_of="r1", page=2),
        user("a1", "select", "10:00:12", consumed_asset_id="A5", source_retrieval_id="r2"),
    )
    assert credit(reading, "a1") == ("explicit", ["r2"])
    assert reading.outcomes["r2"]["ranks"] == {"A5": 2}
    assert values(reading, "lara_orf_ratio", **SETTLED) == [0.0]
    assert values(reading, "lara_null_ratio", window="all") == [0.0]
    assert total(reading, "lara_retrievals_failed_by_signal") == 0


def test_03_empty_page_is_no_null_result() -> None:
    """An empty page is in the denominator of the null rate and not in its numerator."""
    reading = reading_of(retrieval("r1", "10:00:00", ["A1"]), retrieval("r2", "10:00:08", [], page_of="r1"))
    assert values(reading, "lara_layer1_retrievals", window="all") == [2]
    assert values(reading, "lara_retrievals_null", window="all") == [0]


@pytest.mark.parametrize("nothing", [{}, {"returned_asset_ids": None}, {"returned_asset_ids": ""}])
def test_05_absent_list_is_not_an_empty_one(nothing: dict[str, Any]) -> None:
    """A list that was not logged is outside the null rate and inside the evidence figures."""
    reading = reading_of(
        retrieval("r1", "10:00:00", None, **nothing),
        retrieval("r2", "10:00:10", []),
        retrieval("r3", "10:00:20", ["A1"]),
    )
    assert values(reading, "lara_null_ratio", window="all") == [0.5]
    assert values(reading, "lara_retrievals_without_list", window="all") == [1]
    assert values(reading, "lara_retrievals", **SETTLED) == [3]


def test_06_one_export_credits_every_search_behind_the_document() -> None:
    """An export of a document credits the source of each live placement and is one outcome."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1", "A2"]),
        placement("p1", "10:00:05", "A1", source_retrieval_id="r1"),
        retrieval("r2", "10:00:20", ["B7", "B8"]),
        placement("p2", "10:00:25", "B7", source_retrieval_id="r2"),
        placement("p3", "10:00:30", "UP1"),
        user("a1", "export", "10:01:00", document_id="D1"),
    )
    assert credit(reading, "a1") == ("document", ["r1", "r2"])
    assert values(reading, "lara_attributed_outcomes", window="all", action="export") == [1]
    assert values(reading, "lara_gpr_ratio", **SETTLED, definition="strict") == [1.0]


def test_08_placement_keeps_its_credit_against_a_later_list() -> None:
    """What is done with a placed asset belongs to the search it was placed from."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1", "A2"]),
        placement("p1", "10:00:05", "A1", source_retrieval_id="r1"),
        retrieval("r2", "10:01:00", ["A9", "A1"]),
        user("a1", "edit", "10:01:30", consumed_asset_id="A1", document_id="D1"),
        user("a2", "export", "10:01:40", consumed_asset_id="A1", document_id="D1"),
    )
    assert credit(reading, "a1") == credit(reading, "a2") == ("inherited", ["r1"])
    assert reading.outcomes["r1"]["ranks"] == {"A1": 1}
    assert reading.outcomes["r2"]["action_ids"] == []


def test_09_export_two_days_later_in_another_session() -> None:
    """Lineage crosses sessions: the agent's use and the user's late export both reach the search."""
    reading = reading_of(
        retrieval("r1", "10:00:00", [f"A{n}" for n in range(1, 21)], request_id="q1", session_guid="chat-1"),
        placement(
            "p1",
            "10:00:01",
            "A4",
            source_retrieval_id="r1",
            actor="agent",
            request_id="q1",
            session_guid="chat-1",
        ),
        agent(
            "a1",
            "edit",
            "10:00:02",
            consumed_asset_id="A4",
            source_retrieval_id="r1",
            document_id="D1",
            request_id="q1",
            session_guid="chat-1",
        ),
        user("a2", "export", "10:00:02", document_id="D1", session_guid="editor-9")
        | {"ts": "2026-03-04T10:00:02.000Z"},
    )
    assert credit(reading, "a2") == ("document", ["r1"])
    assert reading.attributions["a2"]["cross_session"]
    assert not reading.attributions["a1"]["cross_session"]
    assert credit(reading, "place:D1/p1") == ("inherited", ["r1"])
    assert values(reading, "lara_acr_ratio", **SETTLED) == [1.0]
    assert values(reading, "lara_gpr_ratio", **SETTLED, definition="strict") == [1.0]
    assert values(reading, "lara_cross_session_outcomes", window="all") == [1]
    assert values(reading, "lara_consumed_rank", window="all") == [4.0]
    assert values(reading, "lara_agent_use_confirmed_ratio", **SETTLED) == [1.0]
    assert abandonment(reading) == ([1.0], [0.0])


def test_14_unobserved_until_the_evidence_comes() -> None:
    """A retrieval is unobserved or positive, never both, and all states add up to the retrievals."""
    first = retrieval("r1", "10:00:00", ["A1"])
    late = user("a1", "select", "10:28:20", consumed_asset_id="A1", source_retrieval_id="r1")
    live = {"window": "1h", "cohort": "live", "definition": "standard"}
    for as_of, events, expected in [
        ("10:05:00", [first], (0, 0, 1)),
        ("10:31:40", [first], (0, 1, 0)),
        ("10:31:40", [first, late], (1, 0, 0)),
        ("10:05:00", [first, late], (1, 0, 0)),
    ]:
        reading = reading_of(*events, as_of=at(as_of))
        names = ("lara_retrievals_positive", "lara_retrievals_unobserved", "lara_retrievals_pending")
        assert tuple(total(reading, name, **live) for name in names) == expected


def test_17_late_event_sits_in_its_own_minute() -> None:
    """An old event that comes last is counted where it happened."""
    events = [
        *[retrieval(f"r{n}", f"13:00:0{n}", ["A1"]) for n in range(1, 5)],
        retrieval("r-late", "10:00:00", []),
    ]
    reading = reading_of(*events, as_of=at("13:05:00"))
    assert values(reading, "lara_null_ratio", window="1h") == [0.0]
    assert values(reading, "lara_layer1_retrievals", window="1h") == [4]
    assert values(reading, "lara_null_ratio", window="6h") == [0.2]
    claim = user("a1", "select", "13:06:00", source_retrieval_id="r1", consumed_asset_id="A1")
    assert credit(reading_of(*events, claim), "a1") == ("explicit", ["r1"])


def test_19_ids_are_text() -> None:
    """The integer 12 is the text 12, and 7 is not 007."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["007", "12", 15], request_id="q"),
        user("a1", "select", "10:00:01", consumed_asset_id=7, request_id="q"),
        user("a2", "select", "10:00:02", consumed_asset_id=12, request_id="q"),
        user("a3", "select", "10:00:03", consumed_asset_id="15", source_retrieval_id="r1"),
    )
    assert credit(reading, "a1") == ("none", [])
    assert credit(reading, "a2") == ("request", ["r1"])
    assert credit(reading, "a3") == ("explicit", ["r1"])
    assert reading.outcomes["r1"]["ranks"] == {"12": 2, "15": 3}


def test_21_garbage_is_counted_and_passed_over() -> None:
    """A tombstone and three kinds of garbage are counted, and the reading goes on."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"]),
        None,
        b'{"type": "retrieval", "retrieval_id": ',
        b"[1, 2]",
        {"type": "hologram"},
        retrieval("r2", "10:00:01", ["A1"]),
    )
    assert values(reading, "lara_retrievals", **SETTLED) == [2]
    assert (reading.intake["tombstone"], reading.intake["invalid"], reading.intake["applied"]) == (1, 3, 2)


def test_31_ratio_over_nothing_is_absent() -> None:
    """An empty window has its counts as 0 for the label sets of the week, and no ratio."""
    events = [
        retrieval("r1", "10:00:00", ["A1"]),
        user("a1", "select", "10:00:05", consumed_asset_id="A1", source_retrieval_id="r1"),
    ]
    hour = {"window": "1h", "cohort": "live", "definition": "standard"}
    assert reading_of().metrics == []
    assert values(reading_of(*events, as_of=at("10:00:06")), "lara_gpr_ratio", **hour) == [1.0]
    later = reading_of(*events, as_of=at("12:00:06"))
    assert values(later, "lara_retrievals_positive", **hour) == [0]
    assert values(later, "lara_gpr_ratio", **hour) == []
    assert values(later, "lara_gpr_ratio_lower", **hour) == []


def test_33_free_text_never_becomes_a_label() -> None:
    """Roles outside of the six are unspecified, surfaces outside of the list are other."""
    reading = reading_of(
        *[
            retrieval(
                f"r{n}", f"10:{n // 60:02}:{n % 60:02}", ["A1"], role=f"role {n}", surface=f"chat-{n:04}"
            )
            for n in range(1, 601)
        ]
    )
    rows = [
        m
        for m in reading.metrics
        if m["name"] == "lara_retrievals" and SETTLED.items() <= m["labels"].items()
    ]
    assert [(m["labels"]["role"], m["labels"]["surface"], m["value"]) for m in rows] == [
        ("unspecified", "other", 600)
    ]


def test_36_call_id_that_is_used_again() -> None:
    """The earlier record stands, the other is one conflict, and its redelivery is a duplicate."""
    one = retrieval("search:1", "10:00:00", ["A1", "A2"]) | {"event_id": "e1"}
    two = retrieval("search:1", "10:00:20", ["B1", "B2"]) | {"event_id": "e2"}
    use = agent("a1", "select", "10:00:30", consumed_asset_id="B1", source_retrieval_id="search:1")
    for order in ([one, two, two, use], [two, use, two, one], [use, two, one, two]):
        reading = reading_of(*order)
        assert credit(reading, "a1") == ("refuted", [])
        assert values(reading, "lara_retrievals", **SETTLED) == [1]
        assert reading.intake == {
            "tombstone": 0,
            "invalid": 0,
            "synthetic": 0,
            "duplicate": 1,
            "conflict": 1,
            "applied": 2,
        }


@pytest.mark.parametrize(
    ("mark", "rules"),
    [
        ({"synthetic": True}, Rules()),
        ({}, Rules(synthetic_session_prefixes=("probe-",))),
        ({}, Rules(synthetic_queries=("  INSULIN ",))),
        ({"user_id": "robot"}, Rules(synthetic_user_ids=("robot",))),
    ],
)
def test_38_robots_are_in_no_figure(mark: dict[str, Any], rules: Rules) -> None:
    """Synthetic retrievals, marked or matched by a rule, are in no figure, nor is what names them."""
    robots = [
        retrieval(f"m{n}", f"10:{n:02}:00", ["A1"], query="insulin", session_guid=f"probe-{n}", **mark)
        for n in range(1, 21)
    ]
    reading = reading_of(
        *robots,
        retrieval("r1", "10:00:30", [], query="birthday"),
        retrieval("r2", "10:01:30", ["A1"], query="logo"),
        user("a1", "select", "10:01:35", consumed_asset_id="A1", source_retrieval_id="r2"),
        user("a2", "export", "10:01:36", consumed_asset_id="A1", source_retrieval_id="m1"),
        rules=rules,
    )
    assert reading.intake["synthetic"] == 20
    assert values(reading, "lara_null_ratio", window="all") == [0.5]
    assert values(reading, "lara_gpr_ratio", **SETTLED, definition="standard") == [0.5]
    assert values(reading, "lara_uor_ratio", **SETTLED, definition="standard") == [0.5]
    assert credit(reading, "a2") == ("excluded", [])
    assert reading.outcomes["m1"] == {"excluded": True}
    assert values(reading, "lara_outcomes") == []


# --- corners of the contract --------------------------------------------------------------------------


def is_valid(record: Any) -> bool:
    return reading_of(record).intake["invalid"] == 0


@pytest.mark.parametrize(
    ("ts", "ms"),
    [
        (0, 0),
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00.0019z", 1),
        ("1970-01-01T01:30:00.5+01:30", 500),
        ("1969-12-31T23:00:00-02:00", 3_600_000),
        ("1970-01-01T00:00:00-00:00", 0),
        (253_402_300_799_999, 253_402_300_799_999),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999),
    ],
)
def test_legal_time(ts: Any, ms: int) -> None:
    """A time is RFC 3339 text with an offset, cut to milliseconds, or integer milliseconds."""
    assert second_reading.as_time(ts) == ms


@pytest.mark.parametrize(
    "ts",
    [
        True,
        1.0,
        -1,
        253_402_300_800_000,
        "1000",
        "",
        None,
        "2026-03-02",
        "2026-03-02T10:00:00",
        "2026-03-02T10:00Z",
        "2026-03-02T10:00:00+0000",
        "2026-03-02T10:00:00.Z",
        "2026-03-02 10:00:00Z",
        "2026-03-02T10:00:00Z\n",
        "2026-02-30T10:00:00Z",
        "2026-03-02T24:00:00Z",
        "2026-03-02T10:00:00+24:00",
        "1970-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-00:01",
        "٢٠٢٦-03-02T10:00:00Z",
    ],
)
def test_illegal_time(ts: Any) -> None:
    """A time in another form, or outside of 1970 to 9999 in UTC, makes the record invalid."""
    assert not is_valid(retrieval("r1", "10:00:00", []) | {"ts": ts})


@pytest.mark.parametrize(
    "change",
    [
        {"type": ""},
        {"type": 1},
        {"retrieval_id": ""},
        {"retrieval_id": "x" * 257},
        {"retrieval_id": 1.0},
        {"retrieval_id": True},
        {"retrieval_id": "\ud800"},
        {"session_guid": None},
        {"returned_asset_ids": {}},
        {"returned_asset_ids": [["A1"]]},
        {"returned_asset_ids": [False]},
        {"query": 12},
        {"role": []},
        {"surface": 0},
        {"synthetic": "true"},
        {"synthetic": 1},
        {"tokens": 1.5},
        {"latency_ms": "12"},
    ],
)
def test_wrong_type_of_a_known_field(change: dict[str, Any]) -> None:
    """A known field of the wrong type, or a required one that is absent, makes the record invalid."""
    assert not is_valid(retrieval("r1", "10:00:00", []) | change)


@pytest.mark.parametrize(
    "change",
    [
        {"retrieval_id": "x" * 256},
        {"retrieval_id": 7},
        {"asset_id": {}, "document_id": 1.5, "colour": "\ud800"},
        {"returned_asset_ids": [None, "", 5]},
        {"synthetic": ""},
        {"role": "anything"},
        {"latency_ms": 1.5},
    ],
)
def test_unknown_fields_do_not_matter(change: dict[str, Any]) -> None:
    """Fields of other types are ignored, and values that stand for absence are no error."""
    assert is_valid(retrieval("r1", "10:00:00", []) | change)


@pytest.mark.parametrize(
    ("fields", "valid"),
    [
        ({"kind": "relevance", "retrieval_id": "r1", "asset_id": "A1", "grade": -1}, True),
        ({"kind": "relevance", "query": "cat", "asset_id": "A1", "grade": 2}, True),
        ({"kind": "relevance", "asset_id": "A1", "grade": 2}, False),
        ({"kind": "relevance", "query": "cat", "grade": 2}, False),
        ({"kind": "relevance", "query": "cat", "asset_id": "A1", "grade": 2.0}, False),
        ({"kind": "intent", "request_id": "q", "retrieval_intents": 0}, True),
        ({"kind": "intent", "request_id": "q", "retrieval_intents": -1}, False),
        ({"kind": "intent", "request_id": "q", "retrieval_intents": True}, False),
        ({"kind": "intent", "retrieval_intents": 1}, False),
        ({"kind": "goal", "request_id": "q", "reached": False}, True),
        ({"kind": "goal", "retrieval_id": "r1", "reached": True, "judge": "gpt"}, True),
        ({"kind": "goal", "retrieval_id": "r1", "reached": 1}, False),
        ({"kind": "goal", "reached": True}, False),
        ({"kind": "mood", "request_id": "q", "reached": True}, False),
        ({"request_id": "q", "reached": True}, False),
    ],
)
def test_judgements(fields: dict[str, Any], valid: bool) -> None:
    """Each kind of judgement has its own required fields, and none needs a session."""
    assert is_valid({"type": "judgement", "ts": at("10:00:00")} | fields) is valid


@pytest.mark.parametrize(
    "record",
    [
        user("a1", "Select", "10:00:00"),
        user("a1", "", "10:00:00"),
        event("action", "a1", "10:00:00", actor="robot", action="select"),
        placement("p1", "10:00:00", "A1", op="move"),
        placement("p1", "10:00:00", "A1", actor="robot"),
        placement("p1", "10:00:00", "A1", document_id=""),
        event("prompt", "e1", "10:00:00"),
        b"",
        b"\xff",
        b'\xef\xbb\xbf{"type": "prompt"}',
        b'{"type": "prompt", "request_id": "q", "session_guid": "s", "ts": NaN}',
        b"[" * 100_000,
    ],
)
def test_no_events(record: Any) -> None:
    """Values outside of their lists, missing ids and what is no JSON in UTF-8 are invalid."""
    assert not is_valid(record)


def test_digest_is_of_the_known_present_fields() -> None:
    """Two spellings of one event are one event, whatever stands in unknown or absent fields."""
    plain = {"type": "action", "ts": at("10:00:00"), "session_guid": "5", "actor": "user", "action": "click"}
    other = {**plain, "ts": as_time(plain["ts"]), "session_guid": 5, "reason": "", "zone": 1, "user_id": None}
    reading = reading_of(plain, other)
    canonical = '{"action":"click","actor":"user","session_guid":"5","ts":1772445600000,"type":"action"}'
    assert (reading.intake["applied"], reading.intake["duplicate"]) == (1, 1)
    assert list(reading.attributions) == [hashlib.sha256(canonical.encode()).hexdigest()]


@pytest.mark.parametrize(
    ("returned", "asset", "expected"),
    [
        (None, "A9", "explicit"),
        ([], "A9", "refuted"),
        ([], None, "refuted"),
        (["A1"], "A9", "refuted"),
        (["A1"], None, "explicit"),
        (["A1", None], "A9", "explicit"),
        (["A1", ""], "A9", "explicit"),
        (["A1"], "A1", "explicit"),
    ],
)
def test_claim_is_tested_where_it_stands(
    returned: list[Any] | None, asset: str | None, expected: str
) -> None:
    """A known list without the asset refutes a claim, unless an element of it is unknown."""
    reading = reading_of(
        retrieval("r1", "10:00:00", returned),
        user("a1", "select", "10:00:01", consumed_asset_id=asset, source_retrieval_id="r1"),
    )
    assert credit(reading, "a1") == (expected, ["r1"] if expected == "explicit" else [])
    assert reading.outcomes["r1"]["ranks"] == ({"A1": 1} if asset == "A1" else {})


@pytest.mark.parametrize(
    ("ts", "expected"),
    [
        ("2026-03-02T09:55:00Z", "explicit"),
        ("2026-03-02T09:54:59.999Z", "dangling"),
        ("2026-04-01T10:00:00Z", "explicit"),
        ("2026-04-01T10:00:00.001Z", "dangling"),
    ],
)
def test_claim_holds_from_the_skew_to_the_horizon(ts: str, expected: str) -> None:
    """A claim holds from five minutes before its retrieval to thirty days after it, bounds included."""
    claim = user("a1", "select", "10:00:00", source_retrieval_id="r1", consumed_asset_id="A1") | {"ts": ts}
    assert credit(reading_of(retrieval("r1", "10:00:00", ["A1"]), claim), "a1")[0] == expected


def test_placement_lives_until_it_is_removed() -> None:
    """A remove at the same instant wins; a placement that is not live is none and has no fallback."""
    events = [
        retrieval("r1", "10:00:00", ["A1"], request_id="q"),
        placement("p1", "10:01:00", "A1", source_retrieval_id="r1"),
        placement("p1", "10:02:00", "A1", op="remove") | {"event_id": "gone"},
        placement("p1", "10:02:00", "A1") | {"event_id": "again"},
        placement("p1", "10:03:00", "A1") | {"event_id": "back"},
    ]
    named = {"document_id": "D1", "placement_id": "p1", "request_id": "q"}
    reading = reading_of(
        *events,
        user("early", "edit", "10:00:59", **named),
        user("on", "edit", "10:01:00", **named),
        user("off", "edit", "10:02:30", **named),
        user("by-asset", "edit", "10:02:30", document_id="D1", consumed_asset_id="A1", request_id="q"),
        user("back-on", "edit", "10:03:00", **named),
        user("other-asset", "edit", "10:03:00", consumed_asset_id="A2", **named),
        user("no-document", "edit", "10:03:00", placement_id="p1", request_id="q"),
    )
    assert credit(reading, "early") == ("dangling", [])
    assert credit(reading, "on") == ("inherited", ["r1"])
    assert credit(reading, "off") == ("none", [])
    assert credit(reading, "by-asset") == ("request", ["r1"])
    assert credit(reading, "back-on") == ("inherited", ["r1"])
    assert credit(reading, "other-asset") == ("none", [])
    assert credit(reading, "no-document") == ("dangling", [])


@pytest.mark.parametrize(("copies", "expected"), [(16, "inherited"), (17, "none")])
def test_source_is_followed_sixteen_steps(copies: int, expected: str) -> None:
    """A copy of a copy leads to the first source over at most sixteen steps."""
    chain = [
        placement(f"p{n}", f"10:00:{n:02}", "A1", source_placement_id=f"p{n - 1}")
        for n in range(1, copies + 1)
    ]
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"]),
        placement("p0", "10:00:00", "A1", source_retrieval_id="r1"),
        *chain,
        user("a1", "edit", "10:01:00", document_id="D1", placement_id=f"p{copies}"),
    )
    assert credit(reading, "a1")[0] == expected


def test_source_of_copies_that_lead_nowhere() -> None:
    """A cycle has no source, an unknown origin dangles, and so it does in another document."""
    reading = reading_of(
        placement("p1", "10:00:00", "A1", source_placement_id="p2"),
        placement("p2", "10:00:00", "A1", source_placement_id="p1"),
        placement("p3", "10:00:00", "A1", source_placement_id="p9"),
        placement("p4", "10:00:00", "A1", source_placement_id="p1", document_id="D2"),
        user("cycle", "edit", "10:01:00", document_id="D1", placement_id="p1"),
        user("unknown", "edit", "10:01:00", document_id="D1", placement_id="p3"),
        user("elsewhere", "edit", "10:01:00", document_id="D2", placement_id="p4"),
        user("all", "export", "10:01:00", document_id="D1"),
    )
    assert [credit(reading, a)[0] for a in ("cycle", "unknown", "elsewhere", "all")] == [
        "none",
        "dangling",
        "dangling",
        "dangling",
    ]


def test_derived_asset_reaches_the_list_through_its_ancestors() -> None:
    """A derived asset inherits from the latest placement of its origin, and holds a claim by an ancestor."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A0", "A1"]),
        placement("p1", "10:00:01", "A1", source_retrieval_id="r1"),
        placement("p1", "10:00:02", "A1", op="remove") | {"event_id": "gone"},
        placement("p2", "10:00:03", "A1-blue", derived_from_asset_id="A1"),
        placement("p3", "10:00:04", "A1-blue-big", derived_from_asset_id="A1-blue", source_retrieval_id="r1"),
        user("inherits", "edit", "10:01:00", document_id="D1", consumed_asset_id="A1-blue"),
        user("through", "edit", "10:01:00", document_id="D1", consumed_asset_id="A1-blue-big"),
        user(
            "claims",
            "edit",
            "10:01:00",
            document_id="D1",
            consumed_asset_id="A1-blue",
            source_retrieval_id="r1",
        ),
        user(
            "abroad",
            "edit",
            "10:01:00",
            document_id="D2",
            consumed_asset_id="A1-blue",
            source_retrieval_id="r1",
        ),
    )
    assert credit(reading, "inherits") == credit(reading, "through") == ("inherited", ["r1"])
    assert credit(reading, "claims") == ("explicit", ["r1"])
    assert credit(reading, "abroad") == ("refuted", [])
    assert reading.outcomes["r1"]["ranks"] == {"A1-blue": 2, "A1-blue-big": 2}


def test_consumption_is_bounded_by_the_first_show() -> None:
    """Agent verbs up to the first show of the same request are A; otherwise they are D."""
    search = retrieval("r1", "10:00:00", ["A1"], request_id="q")
    early = agent("early", "show", "09:59:59", request_id="q")
    shown = agent("shown", "show", "10:00:10", request_id="q")
    for clock, request, verb, expected in [
        ("10:00:10", "q", "use", (True, False)),
        ("10:00:11", "q", "use", (False, True)),
        ("10:00:05", "q2", "use", (False, True)),
        ("10:00:05", "q", "click", (False, False)),
    ]:
        use = agent("a1", verb, clock, request_id=request, source_retrieval_id="r1", consumed_asset_id="A1")
        reading = reading_of(search, early, shown, use)
        outcome = reading.outcomes["r1"]
        assert (outcome["agent_consumed"], outcome["delegated"]) == expected
        assert "shown" not in reading.attributions


def test_rejection_and_correction() -> None:
    """A user's reject is a failure; a user's correct is neither failure nor evidence."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"]),
        retrieval("r2", "10:00:00", ["A1"]),
        user("a1", "reject", "10:00:01", consumed_asset_id="A1", source_retrieval_id="r1", reason="whatever"),
        user("a2", "correct", "10:00:01", consumed_asset_id="A1", source_retrieval_id="r2"),
    )
    assert reading.outcomes["r1"]["failure_signals"] == ["rejected"]
    assert (reading.outcomes["r2"]["failure_signals"], reading.outcomes["r2"]["corrected"]) == ([], True)
    assert settled(reading, "lara_retrievals_unobserved", definition="broad") == 1
    assert values(reading, "lara_retrievals_corrected", **SETTLED) == [1]
    assert values(reading, "lara_no_observed_failure_ratio", **SETTLED) == [0.5]


def test_wilson_bounds() -> None:
    """The bounds of 1 in 2 are those of Wilson's interval, and they never leave 0 to 1."""
    assert second_reading.wilson(1, 2) == pytest.approx((0.0945312057, 0.9054687943))
    assert second_reading.wilson(0, 3) == pytest.approx((0.0, 0.5614970317))
    assert second_reading.wilson(3, 3) == pytest.approx((0.4385029683, 1.0))


def test_lineage_coverage() -> None:
    """Coverage is the share of records that carry a field, and of traceable actions that were traced."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"], request_id="q"),
        retrieval("r2", "10:00:00", None, role="guess"),
        user("a1", "select", "10:00:01", consumed_asset_id="A1", source_retrieval_id="r1"),
        user("a2", "select", "10:00:01", consumed_asset_id="A1", request_id="q"),
        user("a3", "follow_up", "10:00:01", source_retrieval_id="r1"),
        agent("a4", "show", "10:00:01"),
    )
    coverage = {
        m["labels"]["field"]: m["value"]
        for m in reading.metrics
        if m["name"] == "lara_lineage_coverage_ratio" and m["labels"]["window"] == "all"
    }
    assert coverage == {
        "returned_asset_ids": 0.5,
        "role": 0.5,
        "request_id": 0.5,
        "consumed_asset_id": pytest.approx(2 / 3),
        "source_retrieval_id": 0.5,
    }


def test_without_as_of_the_newest_event_decides() -> None:
    """Without an as-of the windows end at the first whole minute not before the newest event."""
    events = [retrieval("r1", "10:00:00", ["A1"]), retrieval("r2", "10:04:59.5", ["A1"])]
    judgement = {
        "type": "judgement",
        "kind": "goal",
        "request_id": "q",
        "reached": True,
        "ts": at("23:00:00"),
    }
    reading = read(lines(*events, judgement))
    assert values(reading, "lara_retrievals", window="5m", cohort="live") == [2]


# --- observable failure ---------------------------------------------------------------------------------


def signals(reading: Reading, retrieval_id: str) -> list[str]:
    return reading.outcomes[retrieval_id]["failure_signals"]


def select(event_id: str, clock: str, retrieval_id: str) -> dict[str, Any]:
    return user(event_id, "select", clock, source_retrieval_id=retrieval_id)


def reject(event_id: str, clock: str, retrieval_id: str) -> dict[str, Any]:
    return user(event_id, "reject", clock, source_retrieval_id=retrieval_id)


@pytest.mark.parametrize(
    ("ts", "fields", "expected"),
    [
        ("2026-03-02T10:00:00.001Z", {}, ["researched"]),
        ("2026-03-02T10:00:00Z", {}, ["researched"]),
        ("2026-03-02T09:55:00Z", {}, ["researched"]),
        ("2026-03-02T09:54:59.999Z", {}, []),
        ("2026-04-01T10:00:00Z", {}, ["researched"]),
        ("2026-04-01T10:00:00.001Z", {}, []),
        ("2026-03-02T10:01:00Z", {"page_of": "r0"}, []),
        ("2026-03-02T10:01:00Z", {"request_id": "q1"}, ["researched"]),
        ("2026-03-02T10:01:00Z", {"session_guid": "s9"}, ["researched"]),
    ],
)
def test_reformulation_fails_the_retrieval_it_names(
    ts: str, fields: dict[str, Any], expected: list[str]
) -> None:
    """From five minutes before to thirty days after, any search but a page fails the one it reformulates."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"], request_id="q1"),
        retrieval("r2", "10:00:00", ["A1"], reformulates_retrieval_id="r1") | {"ts": ts} | fields,
        as_of="2026-06-01T00:00:00Z",
    )
    assert signals(reading, "r1") == expected
    assert signals(reading, "r2") == []
    assert total(reading, "lara_retrievals_failed_by_signal", **SETTLED, signal="researched") == len(expected)
    assert total(reading, "lara_retrievals_failed", **SETTLED) == len(expected)


@pytest.mark.parametrize(
    ("ts", "fields", "expected"),
    [
        ("2026-03-02T10:00:00.001Z", {}, ["researched"]),
        ("2026-03-02T10:00:00Z", {}, []),
        ("2026-04-01T10:00:00Z", {}, ["researched"]),
        ("2026-04-01T10:00:00.001Z", {}, []),
        ("2026-03-02T10:01:00Z", {"page_of": "r0"}, []),
        ("2026-03-02T10:01:00Z", {"request_id": "q1"}, []),
        ("2026-03-02T10:01:00Z", {"need_id": "n2"}, []),
        ("2026-03-02T10:01:00Z", {"session_guid": "s9"}, []),
        ("2026-03-02T10:01:00Z", {"session_guid": "s9", "conversation_id": "s1"}, ["researched"]),
    ],
)
def test_same_need_fails_the_earlier_retrieval(ts: str, fields: dict[str, Any], expected: list[str]) -> None:
    """A later search of another turn of the conversation with the same need fails the earlier one."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"], request_id="q1", need_id="n1"),
        retrieval("r2", "10:00:00", ["A1"], request_id="q2", need_id="n1") | {"ts": ts} | fields,
        as_of="2026-06-01T00:00:00Z",
    )
    assert signals(reading, "r1") == expected
    assert signals(reading, "r2") == []


def test_retrieval_that_reformulates_itself_does_not_fail() -> None:
    """A retrieval is not a later one than itself."""
    assert signals(reading_of(retrieval("r1", "10:00:00", [], reformulates_retrieval_id="r1")), "r1") == []


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (select("a1", "10:01:00", "r1"), []),
        (select("a1", "10:01:00.001", "r1"), ["researched"]),
        (select("a1", "10:00:30", "p1"), []),
        (user("a1", "click", "10:00:30", source_retrieval_id="r1"), ["researched"]),
        (agent("a1", "use", "10:00:30", source_retrieval_id="r1", request_id="q1"), []),
        (agent("a1", "use", "10:00:30", source_retrieval_id="p1", request_id="q1"), []),
        (agent("a1", "use", "10:00:30", source_retrieval_id="r1", request_id="q9"), ["researched"]),
    ],
)
def test_use_before_the_new_search_excuses_the_old_one(evidence: dict[str, Any], expected: list[str]) -> None:
    """A U or A of the retrieval or of a page of it, at or before the new search, makes that no re-search."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"], request_id="q1", query="red card"),
        retrieval("p1", "10:00:10", ["A2"], request_id="q1", query="red card", page_of="r1"),
        retrieval("r2", "10:01:00", ["A3"], query="card, blue", reformulates_retrieval_id="r1"),
        evidence,
    )
    assert signals(reading, "r1") == expected
    assert signals(reading, "p1") == []


@pytest.mark.parametrize(
    ("first", "second", "similar"),
    [
        ("Red  CARD", "red card", True),
        ("red card", "card", True),
        ("red card", "blue card", False),
        ("red birthday card", "birthday card red gold foil deluxe", True),
        ("red birthday card", "birthday card red gold foil deluxe big", False),
        ("ＣＡＲＤ", "card", True),
        ("生日贺卡", "生日贺卡 红", True),
        ("生日贺卡", "贺卡生日", True),
        ("生日贺卡", "贺卡", False),
        ("生日", "日生", False),
        ("猫", "猫", True),
        ("logo猫", "猫 logo", True),
        ("カードのデザイン", "デザインのカード", True),
        ("การ์ด", "การ์ดแต่งงาน", False),
        (" ", " ", False),
        (None, None, False),
    ],
)
def test_similar_queries_soon_after(first: str | None, second: str | None, similar: bool) -> None:
    """Half of the words in common, or of the character pairs where scripts know no spaces."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"], query=first), retrieval("r2", "10:01:00", ["A1"], query=second)
    )
    assert signals(reading, "r1") == (["researched_inferred"] if similar else [])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({}, {}, ["researched_inferred"]),
        ({}, {"ts": at("10:10:00")}, ["researched_inferred"]),
        ({}, {"ts": at("10:10:00.001")}, []),
        ({}, {"ts": at("10:00:00")}, []),
        ({}, {"request_id": "q1"}, []),
        ({}, {"session_guid": "s9"}, []),
        ({}, {"page_of": "r0"}, []),
        ({"page_of": "r0"}, {}, []),
    ],
)
def test_inferred_re_search(one: dict[str, Any], other: dict[str, Any], expected: list[str]) -> None:
    """It takes a first page of another turn of the same conversation, later and within ten minutes."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"], query="card", request_id="q1", **one),
        retrieval("r2", "10:01:00", ["A1"], query="card", request_id="q2") | other,
    )
    assert signals(reading, "r1") == expected
    used = reading_of(
        retrieval("r1", "10:00:00", ["A1"], query="card", request_id="q1", **one),
        retrieval("r2", "10:01:00", ["A1"], query="card", request_id="q2") | other,
        select("a1", "10:00:00", "r1"),
    )
    assert signals(used, "r1") == []


@pytest.mark.parametrize(("setting", "failed"), [("shadow", 0), ("count", 1)])
def test_inferred_re_search_is_a_failure_only_where_it_counts(setting: str, failed: int) -> None:
    """The shadow signal is always named and counted by its name, and is in F only if set to count."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"], query="card"),
        retrieval("r2", "10:01:00", ["A1"], query="card"),
        rules=Rules(inferred_research=setting),
    )
    assert signals(reading, "r1") == ["researched_inferred"]
    assert total(reading, "lara_retrievals_failed_by_signal", **SETTLED, signal="researched_inferred") == 1
    assert total(reading, "lara_retrievals_failed", **SETTLED) == failed
    assert values(reading, "lara_orf_ratio", **SETTLED) == [failed / 2]
    assert total(reading, "lara_retrievals_unobserved", **SETTLED, definition="standard") == 2 - failed


def substitution(*more: Any, **fields: Any) -> Reading:
    """An agent search for something to act on, and then a use of what was not found."""
    searched = retrieval("r1", "10:00:00", ["A1"], request_id="q1", role="act_on") | fields
    return reading_of(
        searched, agent("a1", "use", "10:00:30", consumed_asset_id="A9", request_id="q1"), *more
    )


def test_agent_that_takes_something_else_fails_the_retrieval() -> None:
    """The agent's use of an asset that no list of its request holds is a substitution."""
    reading = substitution()
    assert signals(reading, "r1") == ["substituted"]
    assert values(reading, "lara_orf_ratio", **SETTLED) == [1.0]
    assert total(reading, "lara_retrievals_failed_by_signal", **SETTLED, signal="substituted") == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "browse"},
        {"role": "contextual"},
        {"returned_asset_ids": None},
        {"returned_asset_ids": []},
        {"returned_asset_ids": ["A1", None]},
        {"returned_asset_ids": ["A9"]},
        {"ts": at("10:00:30.001")},
        {"ts": "2026-01-31T10:00:29.999Z"},
        {"request_id": "q2"},
    ],
)
def test_no_substitution_by_the_retrieval(fields: dict[str, Any]) -> None:
    """Other roles, lists that are empty, unknown or hold the asset, other times: nothing was substituted."""
    assert signals(substitution(**fields), "r1") == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        # Another list of the request: not logged, holding the asset, holding something unknown, or neither.
        ([retrieval("r2", "10:00:10", None, request_id="q1")], []),
        ([retrieval("r2", "10:05:00", ["A9"], request_id="q1") | {"role": "browse"}], []),
        ([retrieval("r2", "10:00:10", [None], request_id="q1")], []),
        ([retrieval("r2", "10:00:10", [], request_id="q1")], ["substituted"]),
        # A second record under the id of r1: its list was offered as well.
        ([retrieval("r1", "10:00:10", ["A9"], request_id="q1") | {"event_id": "again"}], []),
        ([retrieval("r1", "10:00:10", None, request_id="q1") | {"event_id": "again"}], []),
        ([retrieval("r1", "10:00:10", ["A9"], request_id="q2") | {"event_id": "again"}], ["substituted"]),
        # Something of the request was done with the retrieval after all.
        ([user("a2", "click", "10:09:00", source_retrieval_id="r1", request_id="q1")], []),
        ([user("a2", "click", "10:09:00", source_retrieval_id="r1", request_id="q2")], ["substituted"]),
        # The asset is a descendant of what was found.
        (
            [
                placement("p1", "10:00:20", "A8", derived_from_asset_id="A1"),
                agent("a1", "edit", "10:00:31", consumed_asset_id="A8", request_id="q1", document_id="D1")
                | {"ts": at("10:00:29")},
            ],
            [],
        ),
    ],
)
def test_substitution_by_the_rest_of_the_request(more: list[Any], expected: list[str]) -> None:
    """All lists and all actions of the request have a say."""
    assert signals(substitution(*more), "r1") == expected


@pytest.mark.parametrize(
    ("verb", "fields", "expected"),
    [
        ("select", {}, ["substituted"]),
        ("generate", {}, ["substituted"]),
        ("export", {}, []),
        ("click", {}, []),
        ("use", {"actor": "user"}, []),
        ("use", {"consumed_asset_id": None}, []),
        ("use", {"request_id": "q2"}, []),
        ("use", {"source_retrieval_id": "r0"}, []),
        ("use", {"source_retrieval_id": "r3"}, ["substituted"]),
        ("use", {"source_retrieval_id": "r-never"}, ["substituted"]),
    ],
)
def test_substitution_by_the_action(verb: str, fields: dict[str, Any], expected: list[str]) -> None:
    """The agent's own verbs substitute, unless the action belongs to an earlier retrieval."""
    reading = reading_of(
        retrieval("r0", "09:00:00", ["A9"], request_id="q0"),
        retrieval("r1", "10:00:00", ["A1"], request_id="q1", role="task_step"),
        retrieval("r3", "10:00:10", ["A9"], request_id="q3"),
        agent("a1", verb, "10:00:30", consumed_asset_id="A9", request_id="q1") | fields,
    )
    assert signals(reading, "r1") == expected


def test_agent_that_places_something_else_fails_the_retrieval() -> None:
    """A placement by the agent is an action as well, and ancestors count in its document."""
    search = retrieval("r1", "10:00:00", ["A1"], request_id="q1", role="generation_reference")
    other = placement("p1", "10:00:10", "UP1", actor="agent", request_id="q1")
    derived = {"derived_from_asset_id": "A1"}
    assert signals(reading_of(search, other), "r1") == ["substituted"]
    assert signals(reading_of(search, other | derived), "r1") == []


def test_signals_stand_in_the_order_of_the_contract() -> None:
    """All four signals may hold at once."""
    reading = substitution(
        user("a2", "reject", "10:00:40", source_retrieval_id="r1", request_id="q2"),
        retrieval("r2", "10:01:00", ["A1"], query="card", reformulates_retrieval_id="r1"),
        query="card",
    )
    assert signals(reading, "r1") == ["rejected", "researched", "substituted", "researched_inferred"]
    assert total(reading, "lara_retrievals_failed", **SETTLED) == 1


# --- Layer 0: prompts ---------------------------------------------------------------------------------


def prompt(request_id: str, clock: str, **fields: Any) -> dict[str, Any]:
    return event("prompt", f"e-{request_id}", clock, request_id=request_id, **({"surface": "chat"} | fields))


def judgement(kind: str, event_id: str, clock: str, **fields: Any) -> dict[str, Any]:
    return {"type": "judgement", "kind": kind, "event_id": event_id, "ts": at(clock)} | fields


def intents(event_id: str, request_id: str, number: int, clock: str = "12:00:00", **fields: Any) -> Any:
    return judgement("intent", event_id, clock, request_id=request_id, retrieval_intents=number, **fields)


ALL = {"window": "all"}


def test_prompts_with_and_without_a_retrieval() -> None:
    """A retrieval belongs to the prompt of its request, also if it came before, and pages do as well."""
    reading = reading_of(
        prompt("q1", "10:00:00"),
        prompt("q2", "10:00:00"),
        prompt("q3", "10:00:00", surface="moon"),
        prompt("q4", "10:00:00", surface="moon"),
        retrieval("r1", "09:00:00", [], request_id="q1"),
        retrieval("r2", "11:00:00", [], request_id="q1"),
        retrieval("q3", "10:00:00", [], page_of="r0"),
        retrieval("r4", "10:00:00", [], request_id="q4", synthetic=True),
    )
    for surface, prompts, share in [("chat", 2, 0.5), ("other", 2, 0.5)]:
        assert values(reading, "lara_prompts", **ALL, surface=surface) == [prompts]
        assert values(reading, "lara_invocation_ratio", **ALL, surface=surface) == [share]
    bounds = [
        values(reading, f"lara_invocation_ratio_{end}", **ALL, surface="chat") for end in ("lower", "upper")
    ]
    assert bounds == [[second_reading.wilson(1, 2)[0]], [second_reading.wilson(1, 2)[1]]]


def test_prompts_are_counted_once_and_by_their_own_time() -> None:
    """Repeated and conflicting prompts are no further ones; a quiet surface shows counts of 0 for a week."""
    twice = [prompt("q1", "10:00:00"), prompt("q1", "10:00:00"), prompt("q1", "10:09:00") | {"event_id": "x"}]
    reading = reading_of(*twice, as_of="2026-03-02T12:00:00Z")
    assert values(reading, "lara_prompts", window="1h") == [0]
    assert values(reading, "lara_intent_labelled_prompts", window="1h") == [0]
    assert values(reading, "lara_invocation_ratio", window="1h") == []
    assert values(reading, "lara_prompts", window="6h") == [1]
    later = reading_of(*twice, as_of="2026-03-10T12:00:00Z")
    assert values(later, "lara_prompts", window="7d") == []
    assert values(later, "lara_prompts", window="all") == [1]


def test_intents_that_were_missed_or_many() -> None:
    """Missed is a wanted search that did not happen; multi-intent is two or more of all labelled."""
    reading = reading_of(
        *[prompt(f"q{n}", "10:00:00") for n in range(6)],
        retrieval("r1", "10:00:10", ["A1"], request_id="q1"),
        retrieval("r4", "10:00:10", ["A1"], request_id="q4"),
        intents("j0", "q0", 0),
        intents("j1", "q1", 1),
        intents("j2", "q2", 1, "09:00:00"),
        intents("j3", "q3", 2),
        intents("j9", "q-never", 1),
    )
    assert values(reading, "lara_intent_labelled_prompts", **ALL) == [4]
    assert values(reading, "lara_missed_retrieval_ratio", **ALL) == [2 / 3]
    assert values(reading, "lara_multi_intent_ratio", **ALL) == [1 / 4]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([intents("j1", "q1", 1, judge="gpt"), intents("j2", "q1", 0, "11:00:00")], 0),
        ([intents("j1", "q1", 1, judge="gpt"), intents("j2", "q1", 0, "11:00:00", judge="human")], 0),
        ([intents("j1", "q1", 1, judge="Human"), intents("j2", "q1", 0, "11:00:00", judge="")], 0),
        ([intents("j1", "q1", 1, "11:00:00"), intents("j2", "q1", 0)], 0),
        ([intents("j1", "q1", 1, judge="a"), intents("j2", "q1", 0, "11:00:00", judge="b")], 1),
        ([intents("j1", "q1", 1), intents("j2", "q1", 0)], 1),
        ([intents("j1", "q1", 0), intents("j1", "q1", 1)], None),
    ],
)
def test_which_label_holds(labels: list[Any], expected: int | None) -> None:
    """Human beats any other judge, then the newest holds, then the higher; of one event one record stands."""
    reading = reading_of(prompt("q1", "10:00:00"), *labels)
    wanted = total(reading, "lara_missed_retrieval_ratio", **ALL)
    assert values(reading, "lara_intent_labelled_prompts", **ALL) == [1]
    assert expected is None or wanted == expected


def test_reformulations_of_prompts_with_and_without_a_search() -> None:
    """The flag counts where it is given: as search reformulation with a retrieval, as correction without."""
    searched = [retrieval(f"r{n}", "10:00:00", [], request_id=f"s{n}") for n in range(4)]
    reading = reading_of(
        *searched,
        *[
            prompt(f"s{n}", "10:00:00", reformulation=flag)
            for n, flag in enumerate([True, True, False, None])
        ],
        *[prompt(f"d{n}", "10:00:00", reformulation=flag) for n, flag in enumerate([True, False, "", None])],
    )
    assert values(reading, "lara_search_reformulation_ratio", **ALL) == [2 / 3]
    assert values(reading, "lara_downstream_correction_ratio", **ALL) == [1 / 2]


def test_prompts_by_route() -> None:
    """Routes outside of the configured list are `other`, and so is a route that was not logged."""
    given = ["retrieve", "retrieve", "answer", "teleport", "other", None]
    reading = reading_of(*[prompt(f"q{n}", "10:00:00", route=route) for n, route in enumerate(given)])
    rows = [
        m for m in reading.metrics if m["name"] == "lara_prompts_by_route" and m["labels"]["window"] == "all"
    ]
    found = {m["labels"]["route"]: m["value"] for m in rows}
    assert found == {"retrieve": 2, "generate": 0, "edit": 0, "answer": 1, "other": 3}
    assert (
        total(
            reading_of(prompt("q1", "10:00:00", route="x"), rules=Rules(routes=("x",))),
            "lara_prompts_by_route",
            **ALL,
            route="x",
        )
        == 1
    )


def test_retrievals_that_nobody_wanted_leave_layer_1() -> None:
    """A search of a prompt labelled 0 is misrouted: outside Layer 1, inside Layers 2 and 3."""
    reading = reading_of(
        retrieval("r0", "10:00:00", [], request_id="q0"),
        retrieval("r1", "10:00:00", ["A1"], request_id="q1"),
        retrieval("r2", "10:00:00", [], request_id="q2"),
        retrieval("r3", "10:00:00", None, request_id="q0"),
        retrieval("q4", "10:00:00", ["A1"]),
        prompt("q0", "10:00:00"),
        *[intents("j0", "q0", 0), intents("j1", "q1", 2), intents("j4", "q4", 0)],
    )
    assert values(reading, "lara_routing_labelled_retrievals", **ALL) == [4]
    assert values(reading, "lara_misrouted_retrievals", **ALL) == [3]
    assert values(reading, "lara_misroute_ratio", **ALL) == [3 / 4]
    assert values(reading, "lara_layer1_retrievals", **ALL) == [2]
    assert values(reading, "lara_retrievals_without_list", **ALL) == [1]
    assert values(reading, "lara_null_ratio", **ALL) == [1 / 2]
    assert values(reading, "lara_retrievals", **SETTLED) == [5]


# --- Layer 1: scores -----------------------------------------------------------------------------------


def grade(event_id: str, asset: str, number: int, clock: str = "12:00:00", **about: Any) -> Any:
    about = about if {"query", "retrieval_id"} & about.keys() else about | {"query": "q"}
    return judgement("relevance", event_id, clock, asset_id=asset, grade=number, **about)


def searched(returned: list[Any] | None, *labels: Any, rules: Rules | None = None, **fields: Any) -> Reading:
    """One search for `q`, and its labels."""
    return reading_of(
        retrieval("r1", "10:00:00", returned, **({"query": "q"} | fields)), *labels, rules=rules
    )


SCORES = ("coverage@5", "coverage@10", "P@1", "P@5", "P@10", "R@5", "R@10", "NDCG@5", "NDCG@10", "MRR")
NAMES = {
    "coverage": "lara_judged_coverage_at_k",
    "P": "lara_precision_at_k",
    "R": "lara_recall_at_k",
    "NDCG": "lara_ndcg_at_k",
    "MRR": "lara_mrr",
}


def score(reading: Reading, name: str) -> float | None:
    """A mean over the whole time by its usual name, such as `NDCG@10`; None if it is absent."""
    kind, _, k = name.partition("@")
    found = values(reading, NAMES[kind], **ALL, **({"k": k} if k else {}))
    assert len(found) < 2
    return found[0] if found else None


def judged_counts(reading: Reading) -> tuple[float, float, float]:
    names = ("lara_judged_retrievals", "lara_ranked_retrievals", "lara_judged_without_relevant")
    judged, ranked, without = (total(reading, name, **ALL) for name in names)
    return judged, ranked, without


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_26_asset_that_is_repeated_in_the_list(gain: str) -> None:
    """A repeated relevant asset earns once, at its first position, so that NDCG never exceeds 1."""
    labels = grade("j1", "A", 1, "10:00:00")
    for returned, expected in [(["A", "A"], 1.0), (["X", "A", "A"], 0.630929754)]:
        reading = searched(returned, labels, rules=Rules(gain=gain))
        assert score(reading, "NDCG@5") == score(reading, "NDCG@10") == expected
        assert score(reading, "P@5") == 0.2


def test_28_labels_without_a_relevant_one() -> None:
    """Without a relevant label NDCG is absent, the retrieval counted apart, and its precision 0."""
    labels = [grade("j1", "A", 2, query="q1"), grade("j2", "B", 0, query="q2")]
    reading = reading_of(
        retrieval("r1", "10:00:10", ["A"], query="q1"),
        retrieval("r2", "10:00:20", ["B"], query="q2"),
        retrieval("r3", "10:00:30", ["C"], query="q3"),
        *labels,
    )
    assert judged_counts(reading) == (2, 1, 1)
    assert score(reading, "NDCG@10") == score(reading, "MRR") == score(reading, "R@5") == 1.0
    assert score(reading, "P@1") == 0.5
    alone = reading_of(retrieval("r2", "10:00:20", ["B"], query="q2"), *labels)
    assert [score(alone, name) for name in SCORES] == [1.0, 1.0, 0.0, 0.0, 0.0, *[None] * 5]


def test_scores_of_a_long_list() -> None:
    """The scores of twelve positions, worked out by hand."""
    returned = ["X", "A", None, "B", "Y", "A", "C", "Z", "X", "W", "D", "V"]
    grades = {"A": 3, "B": 1, "C": -2, "D": 2, "E": 1, "X": 0}
    labels = [grade(f"j-{asset}", asset, number) for asset, number in grades.items()]
    reading = searched(returned, *labels)
    assert judged_counts(reading) == (1, 1, 0)
    # Labelled among the first 5: X A B; among the first 10: X A B A C X. Relevant: A B D E.
    assert [score(reading, f"coverage@{k}") for k in (5, 10)] == [0.6, 0.6]
    assert [score(reading, f"P@{k}") for k in (1, 5, 10)] == [0.0, 0.4, 0.2]
    assert [score(reading, f"R@{k}") for k in (5, 10)] == [0.5, 0.5]
    assert score(reading, "MRR") == 0.5
    log2 = math.log2
    for gain, a, b, d in [("exponential", 7, 1, 3), ("linear", 3, 1, 2)]:
        expected = (a / log2(3) + b / log2(5)) / (a + d / log2(3) + b / log2(4) + b / log2(5))
        found = searched(returned, *labels, rules=Rules(gain=gain))
        for k in (5, 10):
            assert score(found, f"NDCG@{k}") == pytest.approx(expected, abs=1e-9)


def test_ideal_is_cut_at_k_and_precision_is_not() -> None:
    """Twelve relevant assets of which three were found: the ideal holds K of them, and K divides P."""
    labels = [grade(f"j{n}", f"A{n}", 1) for n in range(12)]
    reading = searched(["A0", "A1", "A2"], *labels)
    discounts = [1 / math.log2(n + 1) for n in range(1, 11)]
    assert score(reading, "P@5") == 0.6
    assert score(reading, "R@10") == 0.25
    assert score(reading, "NDCG@5") == pytest.approx(sum(discounts[:3]) / sum(discounts[:5]), abs=1e-9)
    assert score(reading, "NDCG@10") == pytest.approx(sum(discounts[:3]) / sum(discounts), abs=1e-9)


def test_null_result_scores_nothing_where_something_is_relevant() -> None:
    """A null result with labels stays in the means, as 0; an empty page has no scores."""
    reading = searched([], grade("j1", "A", 1))
    assert judged_counts(reading) == (1, 1, 0)
    assert [score(reading, name) for name in SCORES] == [0.0] * 10
    assert judged_counts(searched([], grade("j1", "A", 0))) == (1, 0, 1)


@pytest.mark.parametrize(
    ("returned", "fields", "labels"),
    [
        (None, {}, []),
        ([None, None], {}, []),
        (["A"], {"page_of": "r0"}, []),
        ([], {"page_of": "r0"}, []),
        (["A"], {"query": None}, []),
        (["A"], {"query": "other"}, []),
        (["A"], {"request_id": "q0"}, [intents("j0", "q0", 0)]),
        (["A"], {"ts": "2026-01-31T11:59:59.999Z"}, []),
    ],
)
def test_retrievals_that_are_not_judged(returned: Any, fields: dict[str, Any], labels: list[Any]) -> None:
    """Without a list, an id in it or a label, as a page or misrouted, a retrieval has no scores."""
    reading = searched(returned, grade("j1", "A", 1), *labels, **fields)
    assert judged_counts(reading) == (0, 0, 0)
    assert [score(reading, name) for name in SCORES] == [None] * 10


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        # The query's own spelling does not matter, nor what came first, up to thirty days.
        ([grade("j1", "A", 1, query=" Ｑ ")], 1.0),
        ([grade("j1", "A", 1, "09:00:00")], 1.0),
        ([grade("j1", "A", 1) | {"ts": "2026-04-01T10:00:00Z"}], 1.0),
        ([grade("j1", "A", 1) | {"ts": "2026-04-01T10:00:00.001Z"}], None),
        # The retrieval's own label beats that of the query, whoever gave it, and has no such bound.
        ([grade("j1", "A", 1), grade("j2", "A", 0, "11:00:00", retrieval_id="r1", judge="gpt")], 0.0),
        ([grade("j1", "A", 1, retrieval_id="r1") | {"ts": "2026-05-01T10:00:00Z"}], 1.0),
        ([grade("j1", "A", 1, retrieval_id="r2", query="q")], None),
        # Human beats llm, newest beats older, higher beats lower.
        ([grade("j1", "A", 1, judge="gpt"), grade("j2", "A", 0, "11:00:00")], 0.0),
        ([grade("j1", "A", 1, "11:00:00"), grade("j2", "A", 0)], 0.0),
        ([grade("j1", "A", 1), grade("j2", "A", 0)], 1.0),
        ([grade("j1", "A", -1), grade("j2", "A", -5)], 0.0),
        # A label beyond its reach does not compete.
        ([grade("j1", "A", 1), grade("j2", "A", 0) | {"ts": "2026-04-03T10:00:00Z"}], 1.0),
        # Other assets keep the query's labels.
        ([grade("j1", "A", 1), grade("j2", "B", 0, retrieval_id="r1")], 1.0),
    ],
)
def test_which_grade_holds(labels: list[Any], expected: float | None) -> None:
    """For each asset one label holds: the retrieval's before the query's, human, newest, higher."""
    assert score(searched(["A"], *labels), "P@1") == expected


def test_scores_are_whole_billionths_before_they_are_summed() -> None:
    """Each score is rounded to 1e-9, half to even, and the mean is that of the rounded ones."""
    labels = [grade(f"j{n}", f"A{n}", 1) for n in range(3)]
    thirds = [retrieval(f"r{n}", "10:00:00", ["A0"], query="q") for n in range(2)]
    assert score(reading_of(*thirds, *labels), "R@5") == 0.333333333
    pages = [f"X{n}" for n in range(1023)]
    assert score(searched([*pages, "A"], grade("j1", "A", 1)), "MRR") == 0.000976562  # of 0.0009765625
    third = searched(["X", "Y", "A"], grade("j1", "A", 1))
    assert score(third, "NDCG@10") == 0.5
    assert not any(m["name"].endswith(("_lower", "_upper")) and "_at_k" in m["name"] for m in third.metrics)


def test_absurd_grades_are_no_harm() -> None:
    """Grades of any size can be compared."""
    labels = [grade("j1", "A", 10**30), grade("j2", "B", 1), grade("j3", "C", 10**30)]
    assert score(searched(["A", "C", "B"], *labels), "NDCG@10") == 1.0
    assert score(searched(["B"], *labels), "NDCG@10") == 0.0
    assert score(searched(["A", "C", "B"], *labels, rules=Rules(gain="linear")), "NDCG@10") == 1.0


def test_clicks_on_grids() -> None:
    """Clicks per list that holds something, by the user, of retrievals of any standing in Layer 1."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"], request_id="q0"),
        retrieval("r2", "10:00:00", [None]),
        retrieval("r3", "10:00:00", []),
        retrieval("r4", "10:00:00", None),
        retrieval("r5", "10:00:00", ["A1"], page_of="r1"),
        intents("j0", "q0", 0),
        *[user(f"a{n}", "click", f"10:00:0{n}", source_retrieval_id=f"r{n}") for n in range(1, 6)],
        *[user(f"b{n}", "click", f"10:00:0{n}", source_retrieval_id="r1") for n in range(3)],
        agent("a6", "click", "10:00:00", source_retrieval_id="r1"),
        user("a7", "select", "10:00:00", source_retrieval_id="r1"),
    )
    assert values(reading, "lara_clicks_per_grid", **ALL) == [6 / 3]
    assert values(reading, "lara_ctr_ratio", **ALL) == [1.0]
    assert len(values(reading, "lara_ctr_ratio_lower", **ALL)) == 1
    assert values(reading, "lara_clicks_per_grid_lower") == []
    assert values(reading_of(retrieval("r3", "10:00:00", [])), "lara_clicks_per_grid") == []


# --- diagnosis ------------------------------------------------------------------------------------------


def diagnosis(reading: Reading, window: str = "all") -> dict[str, float]:
    rows = [
        m
        for m in reading.metrics
        if m["name"] == "lara_diagnosis_retrievals" and m["labels"]["window"] == window
    ]
    assert len(rows) == 8
    return {m["labels"]["verdict"]: m["value"] for m in rows if m["value"]}


GOOD, POOR = ["A"], ["X", "Y", "Z", "A"]  # NDCG 1 and 0.43


@pytest.mark.parametrize(
    ("returned", "actions", "verdict"),
    [
        (GOOD, [reject("a1", "10:01:00", "r1"), select("a2", "10:01:00", "r1")], "misused"),
        (GOOD, [select("a1", "10:01:00", "r1")], "working"),
        (GOOD, [agent("a1", "use", "10:01:00", source_retrieval_id="r1")], "working"),
        (GOOD, [], "unused"),
        (GOOD, [user("a1", "click", "10:01:00", source_retrieval_id="r1")], "unused"),
        (POOR, [reject("a1", "10:01:00", "r1")], "retrieval_fault"),
        (POOR, [agent("a1", "use", "10:01:00", source_retrieval_id="r1", request_id="r1")], "tolerated"),
        (POOR, [], "masked"),
        ([], [], "masked"),
        (["X", None], [], "masked"),
        (["X", "Y", "A"], [], "unused"),  # NDCG is exactly 1/2
    ],
)  # fmt: skip
def test_diagnosis(returned: list[Any], actions: list[Any], verdict: str) -> None:
    """What the labels say of the list, against what became of it; failure outranks use."""
    reading = searched(returned, grade("j1", "A", 1), *actions)
    assert diagnosis(reading) == {verdict: 1}
    assert values(reading, "lara_masked_failure_ratio", **ALL) == [float(verdict == "masked")]
    assert len(values(reading, "lara_masked_failure_ratio_upper", **ALL)) == 1


@pytest.mark.parametrize(
    ("returned", "fields", "labels", "verdict"),
    [
        ([], {}, [], "masked"),
        ([], {"request_id": "q0"}, [], "unjudged"),
        ([], {"page_of": "r0"}, [], "unjudged"),
        (None, {}, [], "unjudged"),
        ([None], {}, [], "unjudged"),
        (["B"], {}, [], "unjudged"),
        (["B"], {}, [grade("j1", "B", 0)], "masked"),
        (["B"], {}, [grade("j1", "C", 0)], "unjudged"),
        ([*"abcdefghij", "B"], {}, [grade("j1", "B", 0)], "unjudged"),
        ([*"abcdefghi", "B"], {}, [grade("j1", "B", -1)], "masked"),
        (["B"], {}, [grade("j1", "C", 1)], "masked"),
    ],
)
def test_diagnosis_without_evidence(
    returned: Any, fields: dict[str, Any], labels: list[Any], verdict: str
) -> None:
    """A null result is bad without any label; otherwise it takes a label that can tell."""
    reading = searched(returned, intents("j0", "q0", 0), *labels, **fields)
    assert diagnosis(reading) == {verdict: 1}
    assert len(values(reading, "lara_masked_failure_ratio", **ALL)) == (verdict == "masked")


@pytest.mark.parametrize(
    ("as_of", "extra", "verdict"),
    [
        ("10:30:00", [], "pending"),
        ("10:30:00.001", [], "masked"),
        ("10:30:00", [select("a1", "10:09:00", "r1")], "tolerated"),
        ("10:30:00", [user("a1", "click", "10:09:00", source_retrieval_id="r1")], "pending"),
        ("10:30:00", [reject("a1", "10:09:00", "r1")], "retrieval_fault"),
        ("10:30:00", [intents("j0", "r1", 0)], "unjudged"),
    ],
)
def test_diagnosis_waits_for_maturity(as_of: str, extra: list[Any], verdict: str) -> None:
    """Without evidence by `standard` a retrieval that may be judged is pending until it is mature."""
    events = [retrieval("r1", "10:00:00", POOR, query="q"), grade("j1", "A", 1), *extra]
    assert diagnosis(reading_of(*events, as_of=at(as_of)), "1h") == {verdict: 1}
    unlabelled = reading_of(retrieval("r1", "10:00:00", POOR), as_of=at("10:30:00"))
    assert diagnosis(unlabelled, "1h") == {"pending": 1}
    assert values(unlabelled, "lara_masked_failure_ratio") == []


# --- Layer 3: tasks and goals -----------------------------------------------------------------------------

FOUND = {"user select", "user place", "user export", "user share", "user download"}
TAKEN_AWAY = {"user export", "user share", "user download"}


@pytest.mark.parametrize(
    ("role", "completing"),
    [
        ("direct_lookup", FOUND),
        ("browse", FOUND),
        ("act_on", FOUND | {"user edit"}),
        ("generation_reference", TAKEN_AWAY | {"agent generate", "agent use"}),
        ("task_step", TAKEN_AWAY),
        ("contextual", TAKEN_AWAY),
        (None, TAKEN_AWAY),
        ("sing", TAKEN_AWAY),
    ],
)
def test_what_completes_a_task(role: str | None, completing: set[str]) -> None:
    """Each role has its own deeds that complete it."""
    verbs = [
        "select",
        "place",
        "edit",
        "export",
        "share",
        "download",
        "use",
        "generate",
        "click",
        "follow_up",
    ]
    found = set()
    for actor in ("user", "agent"):
        for verb in verbs:
            act = event("action", "a1", "10:01:00", actor=actor, action=verb, source_retrieval_id="r1")
            reading = reading_of(retrieval("r1", "10:00:00", ["A1"], role=role), act)
            completed = total(reading, "lara_completed_retrievals", **ALL)
            assert values(reading, "lara_task_completion_ratio", **ALL) == [completed]
            found |= {f"{actor} {verb}"} if completed else set()
    assert found == completing


def test_tasks_are_shares_of_all_retrievals() -> None:
    """Misrouted ones, pages and those without a list are in the denominator as well."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"]),
        retrieval("r2", "10:00:00", None, request_id="q0"),
        retrieval("r3", "10:00:00", [], page_of="r1"),
        retrieval("r4", "10:00:00", []),
        intents("j0", "q0", 0),
        select("a1", "10:00:01", "r1"),
        select("a2", "10:00:02", "r1"),
        select("a3", "10:00:02", "r2"),
    )
    assert values(reading, "lara_completed_retrievals", **ALL) == [2]
    assert values(reading, "lara_task_completion_ratio", **ALL) == [0.5]


def goal(event_id: str, reached: bool, clock: str = "12:00:00", **about: Any) -> Any:
    return judgement("goal", event_id, clock, reached=reached, **about)


own = {"retrieval_id": "r1"}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], None),
        ([goal("j1", True, request_id="q1")], 1.0),
        ([goal("j1", True, **own)], 1.0),
        ([goal("j1", True, request_id="q1"), goal("j2", False, **own, judge="gpt")], 0.0),
        ([goal("j1", True, **own, judge="gpt"), goal("j2", False, "11:00:00", **own)], 0.0),
        ([goal("j1", True, "11:00:00", request_id="q1"), goal("j2", False, request_id="q1")], 0.0),
        ([goal("j1", True, request_id="q1"), goal("j2", False, request_id="q1")], 1.0),
        ([goal("j1", True, request_id="q1", retrieval_id="r9")], None),
        ([goal("j1", True, request_id="r1")], None),
    ],
)
def test_which_goal_label_holds(labels: list[Any], expected: float | None) -> None:
    """The retrieval's own label, else that of its request; human, newest, reached."""
    reading = reading_of(retrieval("r1", "10:00:00", ["A1"], request_id="q1"), *labels)
    labelled = expected is not None
    assert values(reading, "lara_goal_labelled_retrievals", **ALL) == [labelled]
    assert values(reading, "lara_goal_ratio", **ALL) == ([expected] if labelled else [])
    by_default = reading_of(retrieval("r1", "10:00:00", ["A1"]), goal("j1", True, request_id="r1"))
    assert values(by_default, "lara_goal_ratio", **ALL) == [1.0]


# --- sessions ---------------------------------------------------------------------------------------------


def abandonment(reading: Reading, window: str = "all", **labels: str) -> tuple[list[float], list[float]]:
    by_session, by_lineage = (
        values(reading, "lara_session_abandonment_ratio", window=window, attribution=attribution, **labels)
        for attribution in ("session", "lineage")
    )
    return by_session, by_lineage


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (user("a1", "export", "10:00:00"), ([0.0], [1.0])),
        (user("a1", "share", "09:59:59.999"), ([1.0], [1.0])),
        (user("a1", "download", "10:00:00") | {"ts": "2026-04-01T10:00:00Z"}, ([0.0], [1.0])),
        (user("a1", "download", "10:00:00") | {"ts": "2026-04-01T10:00:00.001Z"}, ([1.0], [1.0])),
        (user("a1", "select", "10:01:00", source_retrieval_id="r1"), ([1.0], [1.0])),
        (agent("a1", "export", "10:01:00", source_retrieval_id="r1"), ([1.0], [1.0])),
        (user("a1", "export", "10:01:00", source_retrieval_id="r1", session_guid="s2"), ([1.0], [0.0])),
        (user("a1", "export", "10:01:00", source_retrieval_id="r2", session_guid="s2"), ([1.0], [0.0])),
        (user("a1", "export", "09:56:00", source_retrieval_id="r1"), ([1.0], [0.0])),
        (user("a1", "export", "10:01:00", source_retrieval_id="r2"), ([0.0], [0.0])),
        (user("a1", "export", "10:01:00", synthetic=True), ([1.0], [1.0])),
    ],
)
def test_abandoned_sessions(act: dict[str, Any], expected: tuple[list[float], list[float]]) -> None:
    """By session: no outcome in it within thirty days; by lineage: none credited to its searches."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"]),
        retrieval("r2", "10:00:30", ["A1"]),
        act,
        as_of="2026-06-01T00:00:00Z",
    )
    assert total(reading, "lara_sessions", **ALL) == 1
    assert abandonment(reading) == expected


def test_sessions_count_by_their_earliest_retrieval() -> None:
    """A session has the time and surface of its earliest retrieval, and takes part when that is mature."""
    events = [
        retrieval("r1", "10:20:00", ["A1"], surface="gallery"),
        retrieval("r2", "10:00:00", [], surface="editor", session_guid="s2"),
        retrieval("r3", "10:10:00", [], surface="chat", session_guid="s2"),
        retrieval("r4", "09:00:00", [], synthetic=True),
        user("a1", "export", "10:00:00", session_guid="s3"),
    ]
    reading = reading_of(*events, as_of=at("10:31:00"))
    hour = {"window": "1h"}
    assert values(reading, "lara_sessions", **hour, surface="editor") == [1]
    assert values(reading, "lara_sessions", **hour, surface="gallery") == [1]
    assert values(reading, "lara_sessions", **hour, surface="chat") == []
    assert abandonment(reading, "1h", surface="editor") == ([1.0], [1.0])
    assert abandonment(reading, "1h", surface="gallery") == ([], [])
    assert values(reading, "lara_sessions", window="5m", surface="editor") == [0]
    assert len(values(reading, "lara_session_abandonment_ratio_lower", **hour)) == 2


# --- inference --------------------------------------------------------------------------------------------

CREDIT = Rules(inference="credit")


def test_12_equal_timestamps() -> None:
    """A retrieval comes before an action of the same instant; of two, the greater id is the latest."""
    events = [
        retrieval("r1", "10:00:00", ["A1"], query="birthday card"),
        retrieval("r2", "10:00:00", ["A1"], query="card again"),
        user("a1", "select", "10:00:00", consumed_asset_id="A1"),
    ]
    for order in itertools.permutations(events):
        assert credit(reading_of(*order), "a1") == ("none", [])
        reading = reading_of(*order, rules=CREDIT)
        assert credit(reading, "a1") == ("inferred", ["r2"])
        assert reading.outcomes["r2"]["ranks"] == {"A1": 1}
        assert values(reading, "lara_gpr_ratio", **SETTLED, definition="standard") == [0.5]
        assert resolutions(reading) == {"inferred": 1}


def test_19_inference_knows_ids_as_text() -> None:
    """The integer 12 is in the list as 12, and 7 is not in it as 007."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["007", "12", 15]),
        user("a1", "select", "10:00:01", consumed_asset_id=7),
        user("a2", "select", "10:00:02", consumed_asset_id=12),
        user("a3", "select", "10:00:03", consumed_asset_id="15", source_retrieval_id="r1"),
        rules=CREDIT,
    )
    assert credit(reading, "a1") == ("none", [])
    assert credit(reading, "a2") == ("inferred", ["r1"])
    assert credit(reading, "a3") == ("explicit", ["r1"])
    assert reading.outcomes["r1"]["ranks"] == {"12": 2, "15": 3}


@pytest.mark.parametrize(
    ("search", "act", "expected"),
    [
        ({}, {}, "inferred"),
        ({"ts": at("09:30:00")}, {}, "inferred"),
        ({"ts": at("09:29:59.999")}, {}, "none"),
        ({"ts": at("10:00:00.001")}, {}, "none"),
        ({}, {"session_guid": "s2"}, "none"),
        ({"session_guid": "s2", "conversation_id": "c"}, {"conversation_id": "c"}, "none"),
        ({"user_id": "u1"}, {"user_id": "u2"}, "none"),
        ({"user_id": "u1"}, {}, "inferred"),
        ({}, {"user_id": "u2"}, "inferred"),
        ({"returned_asset_ids": ["A2", None]}, {}, "none"),
        ({"returned_asset_ids": None}, {}, "none"),
        ({"synthetic": True}, {}, "none"),
        ({}, {"consumed_asset_id": None}, "none"),
        ({}, {"request_id": "r1"}, "request"),
        ({}, {"request_id": "q2"}, "inferred"),
        ({}, {"document_id": "D1"}, "inferred"),
        ({}, {"document_id": "D1", "placement_id": "p-never"}, "dangling"),
        ({}, {"source_retrieval_id": "r-never"}, "dangling"),
    ],
)
def test_what_is_inferred(search: dict[str, Any], act: dict[str, Any], expected: str) -> None:
    """The last list of the session within half an hour that holds the asset, if no other rule applied."""
    events = [
        retrieval("r1", "09:59:00", ["A1"]) | search,
        user("a1", "export", "10:00:00", consumed_asset_id="A1") | act,
    ]
    assert credit(reading_of(*events, rules=CREDIT), "a1")[0] == expected
    shadow = "none" if expected == "inferred" else expected
    assert credit(reading_of(*events), "a1")[0] == shadow


def test_inference_takes_the_latest_list_that_holds_the_asset() -> None:
    """Lists without the asset, and those of somebody else, are passed over."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1"]),
        retrieval("r3", "10:00:01", ["A2"]),
        retrieval("r4", "10:00:02", ["A1"], user_id="u2"),
        user("a1", "select", "10:00:03", consumed_asset_id="A1", user_id="u1"),
        user("a2", "select", "10:00:03", consumed_asset_id="A1"),
        rules=CREDIT,
    )
    assert credit(reading, "a1") == ("inferred", ["r1"])
    assert credit(reading, "a2") == ("inferred", ["r4"])


@pytest.mark.parametrize("rules", [Rules(), CREDIT])
def test_inference_is_compared_with_lineage(rules: Rules) -> None:
    """Of the actions with one retrieval by rules 1, 2 or 4, those for which rule 5 names another one."""
    a1, from_r1 = {"consumed_asset_id": "A1"}, {"source_retrieval_id": "r1"}
    agreeing = [
        user("a1", "select", "10:01:00", **a1, source_retrieval_id="r2"),
        user("a2", "select", "10:01:00", **a1, request_id="q2"),
    ]
    differing = [
        placement("p1", "10:00:20", "A1", **from_r1, actor="user"),
        user("a3", "select", "10:01:00", **a1, **from_r1),
        user("a4", "select", "10:01:00", **a1, document_id="D1"),
    ]
    not_compared = [
        placement("p2", "10:00:20", "A1", **from_r1, actor="user", session_guid=None),
        user("a5", "export", "10:01:00", document_id="D1"),
        user("a6", "select", "10:01:00", **a1),
        user("a7", "select", "10:01:00", **a1, **from_r1, session_guid="s2"),
        user("a8", "select", "10:01:00", **from_r1),
    ]
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1", "A2"], request_id="q1"),
        retrieval("r2", "10:00:10", ["A1"], request_id="q2"),
        *agreeing,
        *differing,
        *not_compared,
        rules=rules,
    )
    assert values(reading, "lara_inference_disagreement_ratio", **ALL) == [3 / 5]
    assert len(values(reading, "lara_inference_disagreement_ratio_upper", **ALL)) == 1
    assert values(reading_of(user("a1", "select", "10:00:00")), "lara_inference_disagreement_ratio") == []


# --- exclusion, and the law ---------------------------------------------------------------------------------


def test_what_is_excluded_says_nothing_about_the_rest() -> None:
    """Searches, pages, labels and prompts of a robot, and all that names them, touch no figure of people."""
    people = [
        prompt("q1", "10:00:00", reformulation=False),
        retrieval("r1", "10:00:30", ["A1"], request_id="q1", query="card", need_id="n1", role="act_on"),
        grade("j1", "A1", 1, query="card"),
    ]
    robots = [
        retrieval("m1", "10:00:40", ["A9"], session_guid="probe-1", query="card", request_id="q1"),
        retrieval("m2", "10:00:50", [], page_of="m1", query="card", need_id="n1"),
        retrieval("m3", "10:01:00", [], reformulates_retrieval_id="m2", query="card", need_id="n1"),
        retrieval("m4", "10:01:00", [], request_id="q9", query="card", reformulates_retrieval_id="r1"),
        retrieval("m5", "10:01:00", [], query="insulin", reformulates_retrieval_id="r1"),
        prompt("q9", "10:01:00", synthetic=True),
        agent("b1", "use", "10:01:10", consumed_asset_id="UP1", request_id="q1", user_id="robot"),
        user("b2", "export", "10:01:10", session_guid="probe-1"),
        user("b3", "reject", "10:01:10", source_retrieval_id="r1", request_id="q9"),
        grade("j2", "A1", 0, "13:00:00", query="card", synthetic=True),
        grade("j3", "A1", 0, "13:00:00", query="card", request_id="q9"),
        grade("j4", "A1", 0, "13:00:00", retrieval_id="m3"),
        goal("j5", True, request_id="q1", user_id="robot"),
        intents("j6", "q1", 0, session_guid="probe-2"),
    ]
    rules = Rules(
        synthetic_session_prefixes=("probe-",), synthetic_user_ids=("robot",), synthetic_queries=("insulin",)
    )
    reading = reading_of(*people, *robots, rules=rules)
    assert reading.metrics == reading_of(*people, rules=rules).metrics
    assert signals(reading, "r1") == []
    assert [name for name, outcome in reading.outcomes.items() if not outcome["excluded"]] == ["r1"]


@pytest.mark.parametrize("rules", [Rules(), Rules(inference="credit", inferred_research="count")])
def test_order_of_the_records_does_not_matter(rules: Rules) -> None:
    """Any order of the same records, with repetitions, gives the same attributions and figures."""
    events = [
        retrieval("r1", "10:00:00", ["A1", "A2"], request_id="q"),
        retrieval("r1", "10:00:30", ["B1"], request_id="q") | {"event_id": "again"},
        retrieval("m1", "10:00:00", ["A1"], synthetic=True),
        retrieval("m2", "10:00:10", ["A1"], page_of="m1"),
        placement("p1", "10:01:00", "A1", source_retrieval_id="r1", actor="user"),
        placement("p1", "10:02:00", "A1", op="remove") | {"event_id": "gone"},
        placement("p2", "10:01:30", "A1", source_placement_id="p1"),
        placement("p3", "10:01:30", "A1", source_retrieval_id="m2", actor="user"),
        user("a1", "export", "10:03:00", document_id="D1"),
        user("a1", "share", "10:03:00", document_id="D1"),
        user("a2", "edit", "10:03:00", document_id="D1", placement_id="p3"),
        user("a3", "select", "10:03:00", consumed_asset_id="A2", request_id="q"),
        retrieval("r2", "10:04:00", ["A2"], query="card", need_id="n1", role="act_on", request_id="q2"),
        retrieval("r2", "10:04:30", ["A3"], query="card", request_id="q2") | {"event_id": "again"},
        retrieval("r3", "10:05:00", ["A3"], query="a card", need_id="n1", session_guid="s2"),
        retrieval("r4", "10:05:00", ["A3"], reformulates_retrieval_id="r2", surface="gallery"),
        agent("a4", "use", "10:04:10", consumed_asset_id="A3", request_id="q2"),
        user("a5", "click", "10:05:00", consumed_asset_id="A3"),
        prompt("q2", "10:04:00", route="edit", reformulation=True),
        prompt("q2", "10:04:00", route="answer") | {"event_id": "again"},
        intents("j1", "q2", 2),
        intents("j2", "q2", 1),
        intents("j3", "q", 0),
        grade("j4", "A3", 1, query="CARD"),
        grade("j5", "A3", 2, query="card"),
        grade("j6", "A2", 1, retrieval_id="r2"),
        goal("j7", True, request_id="q2"),
        goal("j7", False, request_id="q2"),
    ]
    first = reading_of(*events, rules=rules)
    assert credit(first, "a2") == credit(first, "place:D1/p3") == ("excluded", [])
    shuffle = random.Random(7)
    for _ in range(30):
        again = events + shuffle.choices(events, k=5)
        shuffle.shuffle(again)
        reading = reading_of(*again, rules=rules)
        assert (reading.attributions, reading.outcomes) == (first.attributions, first.outcomes)
        assert reading.metrics == first.metrics
        assert sum(reading.intake.values()) == len(again)
