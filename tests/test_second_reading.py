"""The second reading itself: the right totals of the real logs, and the shared cases in our own words."""

from __future__ import annotations

import hashlib
import json
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
    """An action on the second page credits the second page, at its rank in that list."""
    reading = reading_of(
        retrieval("r1", "10:00:00", ["A1", "A2", "A3"], request_id="q1"),
        retrieval("r2", "10:00:08", ["A4", "A5", "A6"], request_id="q1", page_of="r1", page=2),
        user("a1", "select", "10:00:12", consumed_asset_id="A5", source_retrieval_id="r2"),
    )
    assert credit(reading, "a1") == ("explicit", ["r2"])
    assert reading.outcomes["r2"]["ranks"] == {"A5": 2}
    assert values(reading, "lara_orf_ratio", **SETTLED) == [0.0]
    assert values(reading, "lara_null_ratio", window="all") == [0.0]


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


def test_order_of_the_records_does_not_matter() -> None:
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
    ]
    first = reading_of(*events)
    assert credit(first, "a2") == credit(first, "place:D1/p3") == ("excluded", [])
    shuffle = random.Random(7)
    for _ in range(30):
        again = events + shuffle.choices(events, k=5)
        shuffle.shuffle(again)
        reading = reading_of(*again)
        assert (reading.attributions, reading.outcomes) == (first.attributions, first.outcomes)
        assert reading.metrics == first.metrics
        assert sum(reading.intake.values()) == len(again)
