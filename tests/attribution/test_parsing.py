"""Parsing: what is an event, what is none and why, and the digest of what was sent."""

import hashlib
import json
import string

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attribution.events import EVENT_TYPES, Event, type_of
from attribution.parsing import FORMS, JUDGEMENT_NEEDS, MAXIMUM_EVENT_BYTES, REASONS, Rejected, parse
from tests.building import agent, encoded, event, judgement, placement, prompt, retrieval, user

PROMPT = {"type": "prompt", "request_id": "q", "session_guid": "s", "ts": 5}
RETRIEVAL = {"type": "retrieval", "retrieval_id": "r", "session_guid": "s", "ts": 5}
PLACEMENT = {"type": "placement", "placement_id": "p", "document_id": "d", "asset_id": "a", "ts": 5}
ACTION = {"type": "action", "actor": "user", "action": "export", "session_guid": "s", "ts": 5}
GRADE = {"type": "judgement", "kind": "relevance", "query": "card", "asset_id": "a", "grade": 1, "ts": 5}
INTENT = {"type": "judgement", "kind": "intent", "request_id": "q", "retrieval_intents": 2, "ts": 5}
GOAL = {"type": "judgement", "kind": "goal", "request_id": "q", "reached": True, "ts": 5}
MINIMAL = (PROMPT, RETRIEVAL, PLACEMENT, ACTION, GRADE, INTENT, GOAL)
FULL = (
    prompt(text="hi", route="search", reformulation=False, conversation_id="c", surface="chat", user_id="u"),
    retrieval(
        role="browse", query="card", need_id="n", page_of="r0", latency_ms=1.5, tokens=7, synthetic=False
    ),
    placement(op="remove", source_retrieval_id="r1", derived_from_asset_id="a0", actor="agent"),
    agent("show", shown_asset_ids=["a1", None, "a2"], request_id="q1", reason="none", latency_ms=3),
    user("export", consumed_asset_id="a1", source_retrieval_id="r1", placement_id="p1", document_id="d1"),
    judgement("relevance", retrieval_id="r1", query="card", asset_id="a1", grade=-1, judge="human"),
    *MINIMAL,
)


def digest_of(fields: dict[str, object]) -> bytes:
    """The digest as the contract words it."""
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def reason(sent: object) -> str | None:
    found = parse(encoded(sent))
    return found.reason if isinstance(found, Rejected) else None


def is_event_or_known_rejection(value: bytes) -> None:
    found = parse(value)
    if isinstance(found, Rejected):
        assert found.reason in REASONS
        assert found.detail
        assert found.event_type in (*EVENT_TYPES, "unknown")
    else:
        assert isinstance(found, Event)


# --- never raises -----------------------------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
    st.sampled_from(["user", "place", "goal", "2026-03-02T10:00:00Z", 2**63, -(2**63) - 1, "x" * 257, 1e300]),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.binary(max_size=60))
@example(b"")
@example(b"\xef\xbb\xbf{}")
@example(b'{"type":"prompt","request_id":"\\ud800"}')
@example(b"[" * 100_000)
@example(b'{"type":"prompt","session_guid":"s","ts":5,"request_id":' + b"9" * 5_000 + b"}")
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_an_event_or_rejected_for_a_known_reason(value):
    """Nothing that a topic can hold raises."""
    is_event_or_known_rejection(value)


@pytest.mark.slow
@given(anything)
@settings(max_examples=100, deadline=None)
def test_any_json_is_an_event_or_rejected_for_a_known_reason(value):
    """Whatever is valid JSON is read without raising."""
    is_event_or_known_rejection(json.dumps(value).encode())


@given(st.sampled_from(FULL), st.data())
@settings(max_examples=200, deadline=None)
def test_a_damaged_event_is_an_event_or_rejected_for_a_known_reason(sent, data):
    """A field of another type, or one left out, never raises."""
    name = data.draw(st.sampled_from([*sent, *FORMS[sent["type"]].converters]))
    left_out = {key: value for key, value in sent.items() if key != name}
    is_event_or_known_rejection(
        encoded(data.draw(st.one_of(anything.map(lambda v: {**sent, name: v}), st.just(left_out))))
    )


@given(st.sampled_from(FULL), st.integers(0, 400), st.integers(0, 255))
@settings(max_examples=100, deadline=None)
def test_a_record_with_a_flipped_byte_is_an_event_or_rejected_for_a_known_reason(sent, position, byte):
    """Damage on the wire is counted, not raised."""
    value = bytearray(encoded(sent))
    value[position % len(value)] = byte
    is_event_or_known_rejection(bytes(value))


# --- reasons ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", FULL)
def test_what_the_contract_allows_is_an_event(sent):
    """Every type is read, with its required fields alone and with all others."""
    assert type_of(event(sent)) == sent["type"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"{", "not_json"),
        (b"", "not_json"),
        (b'{"type":NaN}', "not_json"),
        (b'{"type":"prompt","request_id":"\xff"}', "not_json"),
        (b"[1, 2]", "not_an_object"),
        (b"null", "not_an_object"),
        (b'"prompt"', "not_an_object"),
        (b"{}", "unknown_type"),
        (b'{"type":""}', "unknown_type"),
        (b'{"type":7}', "unknown_type"),
        (b'{"type":"Prompt"}', "unknown_type"),
        (b'{"type":["prompt"]}', "unknown_type"),
        (b'{"type":"hologram"}', "unknown_type"),
    ],
)
def test_what_is_no_object_of_a_known_type_says_so(value, expected):
    """Each way of being no event has its own reason."""
    assert reason(value) == expected


def test_a_value_longer_than_a_record_may_be_is_not_even_read():
    """One byte more than the broker's own limit is oversize; as many are read."""
    padding = " " * (MAXIMUM_EVENT_BYTES - len(encoded(PROMPT)))
    assert reason(encoded(PROMPT) + padding.encode()) is None
    assert reason(encoded(PROMPT) + padding.encode() + b" ") == "oversize"


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        *((PROMPT, name) for name in ("request_id", "session_guid", "ts")),
        *((RETRIEVAL, name) for name in ("retrieval_id", "session_guid", "ts")),
        *((PLACEMENT, name) for name in ("placement_id", "document_id", "asset_id", "ts")),
        *((ACTION, name) for name in ("actor", "action", "session_guid", "ts")),
        *((GRADE, name) for name in ("kind", "query", "asset_id", "grade", "ts")),
        *((INTENT, name) for name in ("request_id", "retrieval_intents")),
        *((GOAL, name) for name in ("request_id", "reached")),
    ],
    ids=lambda value: value if isinstance(value, str) else value["type"],
)
@pytest.mark.parametrize("blank", ["left out", None, ""])
def test_a_required_field_that_is_absent_null_or_empty_is_missing(sent, name, blank):
    """The three ways of not sending a field are one, and the detail names the field."""
    damaged = {key: value for key, value in sent.items() if key != name}
    if blank != "left out":
        damaged[name] = blank
    found = parse(encoded(damaged))
    assert isinstance(found, Rejected)
    assert (found.reason, found.event_type) == ("missing_field", sent["type"])
    assert name in found.detail


def test_a_placement_and_a_judgement_need_no_session():
    """A session is required of prompts, retrievals and actions only."""
    assert reason(PLACEMENT) is None
    assert reason(GOAL) is None


def test_of_two_fields_that_can_serve_one_is_enough():
    """A grade names a retrieval or a query, a goal a retrieval or a request."""
    assert reason({**GRADE, "query": None, "retrieval_id": "r"}) is None
    assert reason({**GOAL, "request_id": None, "retrieval_id": "r"}) is None
    assert set(JUDGEMENT_NEEDS) == {"relevance", "intent", "goal"}


@pytest.mark.parametrize(
    ("sent", "change", "expected"),
    [
        (PROMPT, {"request_id": 1.0}, "wrong_type"),
        (PROMPT, {"request_id": True}, "wrong_type"),
        (PROMPT, {"request_id": ["q"]}, "wrong_type"),
        (PROMPT, {"request_id": "x" * 257}, "out_of_range"),
        (PROMPT, {"user_id": {"id": 1}}, "wrong_type"),
        (PROMPT, {"surface": 7}, "wrong_type"),
        (PROMPT, {"text": ["a"]}, "wrong_type"),
        (PROMPT, {"synthetic": "true"}, "wrong_type"),
        (PROMPT, {"synthetic": 1}, "wrong_type"),
        (PROMPT, {"reformulation": 0}, "wrong_type"),
        (RETRIEVAL, {"returned_asset_ids": "a"}, "wrong_type"),
        (RETRIEVAL, {"returned_asset_ids": {}}, "wrong_type"),
        (RETRIEVAL, {"returned_asset_ids": ["a", 1.5]}, "wrong_type"),
        (RETRIEVAL, {"returned_asset_ids": [["a"]]}, "wrong_type"),
        (RETRIEVAL, {"returned_asset_ids": ["x" * 257]}, "out_of_range"),
        (RETRIEVAL, {"latency_ms": "5"}, "wrong_type"),
        (RETRIEVAL, {"latency_ms": True}, "wrong_type"),
        (RETRIEVAL, {"latency_ms": -0.1}, "out_of_range"),
        (RETRIEVAL, {"tokens": 2**63}, "out_of_range"),
        (PLACEMENT, {"op": "move"}, "out_of_range"),
        (PLACEMENT, {"op": 1}, "wrong_type"),
        (PLACEMENT, {"actor": "robot"}, "out_of_range"),
        (ACTION, {"actor": "User"}, "out_of_range"),
        (ACTION, {"action": "Export"}, "out_of_range"),
        (ACTION, {"action": "2x"}, "out_of_range"),
        (ACTION, {"action": "export\n"}, "out_of_range"),
        (ACTION, {"action": "größer"}, "out_of_range"),
        (ACTION, {"shown_asset_ids": 7}, "wrong_type"),
        (GRADE, {"kind": "mood"}, "out_of_range"),
        (GRADE, {"grade": 1.0}, "wrong_type"),
        (GRADE, {"grade": True}, "wrong_type"),
        (GRADE, {"grade": 2**63}, "out_of_range"),
        (INTENT, {"retrieval_intents": -1}, "out_of_range"),
        (INTENT, {"retrieval_intents": 1.5}, "wrong_type"),
        (GOAL, {"reached": "yes"}, "wrong_type"),
    ],
    ids=str,
)
def test_a_known_field_of_the_wrong_type_or_an_impossible_value_makes_the_record_invalid(
    sent, change, expected
):
    """The whole record is invalid, and the detail names the field."""
    found = parse(encoded({**sent, **change}))
    assert isinstance(found, Rejected)
    assert found.reason == expected
    assert next(iter(change)) in found.detail


def test_unknown_fields_are_ignored():
    """A field that the contract does not know is no mistake, of whatever type, and not in the digest."""
    assert event({**PROMPT, "page": {"deep": [1]}, "retrieval_id": 1.5}) == event(PROMPT)


# --- ids, absence and time --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (12, "12"),
        ("12", "12"),
        (7, "7"),
        ("007", "007"),
        (-3, "-3"),
        (2**70, str(2**70)),
        ("x" * 256, "x" * 256),
    ],
)
def test_an_id_is_text_and_an_integer_its_decimal_text(sent, text):
    """12 is "12", and 7 is not "007"."""
    assert event({**PROMPT, "request_id": sent}).request_id == text
    assert event({**RETRIEVAL, "returned_asset_ids": [sent]}).returned_asset_ids == (text,)


def test_code_points_are_counted_and_not_bytes():
    """256 letters of four bytes are an id, 257 are none."""
    assert reason({**PROMPT, "request_id": "🂡" * 256}) is None
    assert reason({**PROMPT, "request_id": "🂡" * 257}) == "out_of_range"


@pytest.mark.parametrize("sent", FULL, ids=lambda sent: sent["type"])
@pytest.mark.parametrize("blank", ["", None])
def test_an_empty_or_null_field_is_as_good_as_absent(sent, blank):
    """Blanks in any optional field leave the event and its digest as they are."""
    blanks = {name: blank for name in FORMS[sent["type"]].converters if name not in sent}
    assert blanks
    assert event({**sent, **blanks}) == event(sent)


def test_an_empty_list_is_a_null_result_and_no_list_is_none():
    """An absent list is not an empty one."""
    assert event({**RETRIEVAL, "returned_asset_ids": []}).returned_asset_ids == ()
    assert event({**RETRIEVAL, "returned_asset_ids": None}).returned_asset_ids is None
    assert event({**RETRIEVAL, "returned_asset_ids": ""}).returned_asset_ids is None


def test_a_blank_element_keeps_its_position():
    """Null and "" in a list are a place without an id."""
    assert event({**RETRIEVAL, "returned_asset_ids": ["", "a", None, 3]}).returned_asset_ids == (
        None,
        "a",
        None,
        "3",
    )


@pytest.mark.parametrize(
    ("ts", "milliseconds"),
    [
        (0, 0),
        (1_772_445_600_123, 1_772_445_600_123),
        ("2026-03-02T10:00:00Z", 1_772_445_600_000),
        ("2026-03-02t10:00:00z", 1_772_445_600_000),
        ("2026-03-02T11:30:00+01:30", 1_772_445_600_000),
        ("2026-03-01T23:00:00.5-11:00", 1_772_445_600_500),
        ("2026-03-02T10:00:00.1239999Z", 1_772_445_600_123),
        ("2026-03-02T10:00:00.1Z", 1_772_445_600_100),
        ("2026-03-02T10:00:00-00:00", 1_772_445_600_000),
        ("1970-01-01T00:00:00Z", 0),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ],
)
def test_a_time_is_rfc_3339_or_milliseconds(ts, milliseconds):
    """Text with an offset is cut to whole milliseconds; an integer is taken as it is."""
    assert event({**PROMPT, "ts": ts}).ts == milliseconds


@pytest.mark.parametrize(
    ("ts", "expected"),
    [
        *(
            (ts, "wrong_type")
            for ts in (True, 5.0, [5], "5", "2026-03-02", "2026-03-02T10:00:00", "yesterday")
        ),
        *((ts, "wrong_type") for ts in ("2026-03-02 10:00:00Z", "2026-03-02T10:00Z", "20260302T100000Z")),
        *(
            (ts, "wrong_type")
            for ts in ("2026-03-02T10:00:00+0100", "2026-03-02T10:00:00.Z", " 2026-03-02T10:00:00Z")
        ),
        *((ts, "out_of_range") for ts in (-1, 253_402_300_800_000, 2**70, "1969-12-31T23:59:59Z")),
        *(
            (ts, "out_of_range")
            for ts in ("2026-02-29T00:00:00Z", "2026-03-02T24:00:00Z", "0000-01-01T00:00:00Z")
        ),
        *((ts, "out_of_range") for ts in ("2026-03-02T10:00:60Z", "2026-03-02T10:00:00+24:00")),
        ("२०२६-03-02T10:00:00Z", "wrong_type"),
    ],
    ids=str,
)
def test_what_is_no_time_makes_the_record_invalid(ts, expected):
    """A time without offset, in another notation or out of range is no time."""
    assert reason({**PROMPT, "ts": ts}) == expected


# --- the digest -------------------------------------------------------------------------------------


def test_the_digest_is_the_sha_256_of_the_known_present_fields():
    """Ids as text, ts in milliseconds, nothing filled in, keys sorted, UTF-8 without spaces."""
    sent = {
        "type": "retrieval",
        "ts": "2026-03-02T11:00:00.1239+01:00",
        "session_guid": 12,
        "retrieval_id": "r/ü\u2028",
        "returned_asset_ids": [7, "", "007"],
        "query": 'say "hi"\n\tto \\ 👋',
        "role": "",
        "request_id": None,
        "tokens": 3,
        "latency_ms": 1.5,
        "synthetic": False,
        "page": 2,
    }
    expected = {
        "type": "retrieval",
        "ts": 1_772_445_600_123,
        "session_guid": "12",
        "retrieval_id": "r/ü\u2028",
        "returned_asset_ids": ["7", None, "007"],
        "query": 'say "hi"\n\tto \\ 👋',
        "tokens": 3,
        "latency_ms": 1.5,
        "synthetic": False,
    }
    assert event(sent).digest == digest_of(expected)


def test_the_digest_of_a_small_event_worked_out_by_hand():
    """The bytes are written out once, so that another program can be checked against them."""
    text = '{"action":"export","actor":"user","session_guid":"s","ts":5,"type":"action"}'
    assert event(ACTION).digest == hashlib.sha256(text.encode()).digest()


@given(st.sampled_from(FULL), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_any_text_goes_into_the_digest_as_json_writes_it(sent, surface):
    """Control characters, quotes and every script are written as JSON does without escaping to ASCII."""
    known = {**sent, "surface": surface}
    assert event(known).digest == digest_of(known)


@given(st.sampled_from(FULL), st.randoms())
@settings(max_examples=60, deadline=None)
def test_neither_the_order_of_fields_nor_spaces_change_the_digest(sent, chance):
    """The same fields in another order are the same event."""
    names = list(sent)
    chance.shuffle(names)
    assert parse(json.dumps({name: sent[name] for name in names}, indent=2).encode()) == event(sent)


@pytest.mark.parametrize("sent", FULL, ids=lambda sent: sent["type"])
def test_every_field_that_is_present_is_in_the_digest(sent):
    """A record that leaves an optional field out is another record."""
    for name in sent.keys() - {"type"} - set(FORMS[sent["type"]].required):
        found = parse(encoded({key: value for key, value in sent.items() if key != name}))
        assert isinstance(found, Rejected) or found.digest != event(sent).digest


def test_an_event_comes_back_from_its_stored_form():
    """MessagePack keeps every field and the digest."""
    for sent in FULL:
        found = event(sent)
        stored = msgspec.msgpack.encode(found)
        assert msgspec.msgpack.decode(stored, type=type(found)) == found


def test_reasons_are_plain_names_with_a_sentence():
    """Whoever reads a dead letter finds what its reason means."""
    assert all(set(name) <= set(string.ascii_lowercase + "_") and REASONS[name] for name in REASONS)
