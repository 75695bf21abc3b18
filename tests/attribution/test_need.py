"""Is it the same need: words, similarity, and what a conversation tells its retrievals."""

import pytest

from attribution.need import similar, speak_research, words
from attribution.statements import Address, Fired, Researched
from tests import similar_queries
from tests.building import DAY, DEFAULT, MINUTE, at, entity, retrieval, settle, user

SETTLED = {"cohort": "settled"}


def fired(name, seconds, need="n", said="", request=None, is_page=False):
    content = Fired(at(seconds), request or f"q-{name}", need, tuple(said.split()), is_page)
    return (f"retrieval:{name}", "", content)


def researched(*known):
    """What is said to the retrieval r1: when its need was searched for again, by need and by words."""
    said = speak_research("s1", entity(fired=known), DEFAULT)
    found = said.get(Address("retrieval:r1", "researched", ""), Researched((), ()))
    return found.by_need, found.by_words


# --- words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Birthday  card", {"birthday", "card"}),
        ("card card", {"card"}),
        ("", set()),
        (" \t ", set()),
        ("STRASSE ｃａｒｄ", {"strasse", "card"}),
        ("生日卡片", {"生日", "日卡", "卡片"}),
        ("卡", {"卡"}),
        ("red 生日卡", {"red", "生日", "日卡"}),
        ("red生日", {"red", "生日"}),
        ("カードです", {"カー", "ード", "ドで", "です"}),
        ("กขค", {"กข", "ขค"}),
        ("생일 카드", {"생일", "카드"}),
        ("\U00020000\U00020001", {"\U00020000\U00020001"}),
        ("a-b, c", {"a-b,", "c"}),
    ],
)
def test_words_are_divided_by_space_and_bigrams_where_a_script_has_none(query, expected):
    """Han, kana and Thai are cut into pairs of characters, a single one stands alone, Hangul has spaces."""
    assert words(query) == expected


@pytest.mark.parametrize(
    ("some", "others", "expected"),
    [
        ("abc", "abd", True),
        ("ab", "a", True),
        ("ab", "ac", False),
        ("abcd", "abe", False),
        ("a", "a", True),
        ("a", "b", False),
        ("a", "", False),
        ("", "", False),
    ],
)
def test_half_of_all_words_shared_is_similar(some, others, expected):
    """Exactly one half is enough, a third is not, and nothing is similar to no words."""
    assert similar(some, others) is expected
    assert similar(others, some) is expected


# --- by need ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "again"),
    [(0, False), (-1, False), (0.001, True), (30 * DAY, True), (30 * DAY + 0.001, False)],
    ids=["same moment", "before", "just after", "30 days", "over 30 days"],
)
def test_a_need_is_searched_again_later_within_thirty_days(seconds, again):
    """Greater than its own time, the last moment of the 30 days included."""
    by_need, _ = researched(fired("r1", 0), fired("r2", seconds))
    assert by_need == ((at(seconds),) if again else ())


@pytest.mark.parametrize(
    "other",
    [
        fired("r2", 9, need="m"),
        fired("r2", 9, need=None),
        fired("r2", 9, request="q-r1"),
        fired("r2", 9, is_page=True),
    ],
    ids=["another need", "no need", "same request", "a page"],
)
def test_what_is_another_need_or_the_same_turn_is_no_second_search(other):
    """Each condition alone keeps a later retrieval from being a re-search."""
    assert researched(fired("r1", 0), other) == ((), ())


def test_two_retrievals_without_a_need_do_not_share_one():
    """Absent is not equal to absent."""
    assert researched(fired("r1", 0, need=None), fired("r2", 9, need=None)) == ((), ())


def test_a_page_itself_may_be_searched_for_again():
    """Only the later retrieval must not be one."""
    assert researched(fired("r1", 0, is_page=True), fired("r2", 9)) == ((at(9),), ())


def test_the_first_later_search_is_told_whatever_came_first():
    """Use before it is before all later ones, so that one is enough."""
    assert researched(fired("r1", 0), fired("r3", 9), fired("r2", 5))[0] == (at(5),)
    assert researched(fired("r1", 0), fired("r2", 5, request="q-r1"), fired("r3", 9))[0] == (at(9),)


# --- by words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "again"),
    [(0, False), (0.001, True), (10 * MINUTE, True), (10 * MINUTE + 0.001, False)],
    ids=["same moment", "just after", "10 minutes", "over 10 minutes"],
)
def test_similar_words_count_within_ten_minutes(seconds, again):
    """The last moment of the ten minutes is included."""
    _, by_words = researched(fired("r1", 0, None, "a b"), fired("r2", seconds, None, "a b"))
    assert by_words == ((at(seconds),) if again else ())


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (fired("r1", 0, None, "a b"), fired("r2", 9, None, "a c")),
        (fired("r1", 0, None, "a"), fired("r2", 9, None, "a", request="q-r1")),
        (fired("r1", 0, None, "a"), fired("r2", 9, None, "a", is_page=True)),
        (fired("r1", 0, None, "a", is_page=True), fired("r2", 9, None, "a")),
        (fired("r1", 0, None, ""), fired("r2", 9, None, "")),
    ],
    ids=["other words", "same request", "later is a page", "first is a page", "no words"],
)
def test_other_words_the_same_turn_and_pages_are_no_similar_search(first, other):
    """Neither of the two may be a page."""
    assert researched(first, other) == ((), ())


def test_a_need_and_its_words_are_told_apart():
    """One is a failure signal, the other its shadow."""
    assert researched(fired("r1", 0, "n", "a"), fired("r2", 9, "n", "a")) == ((at(9),), (at(9),))
    assert researched(fired("r1", 0, "n", "a"), fired("r2", 9, "m", "a")) == ((), (at(9),))


# --- from record to signal --------------------------------------------------------------------------


def signals(*sent):
    """The signals of the retrieval r1."""
    return settle(*sent).outcomes["r1"]["failure_signals"]


FIRST = retrieval("r1", ["a1"], request_id="q1", need_id="n", query="card")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ["researched", "researched_inferred"]),
        ({"query": "poster"}, ["researched"]),
        ({"need_id": None}, ["researched_inferred"]),
        ({"session_guid": "s2"}, []),
        ({"session_guid": "s2", "conversation_id": "s1"}, ["researched", "researched_inferred"]),
        ({"conversation_id": "c2"}, []),
        ({"page_of": "r1"}, []),
        ({"request_id": "q1"}, []),
        ({"synthetic": True}, []),
    ],
    ids=str,
)
def test_a_need_is_searched_again_in_the_same_conversation(fields, expected):
    """The conversation is the session where none is named."""
    again = {"request_id": "q2", "need_id": "n", "query": "card", **fields}
    assert signals(FIRST, retrieval("r2", ["a2"], 60, **again)) == expected


@pytest.mark.parametrize(
    ("seconds", "fields", "expected"),
    [
        (60, {}, ["researched"]),
        (60, {"request_id": "q1"}, ["researched"]),
        (60, {"session_guid": "s2"}, ["researched"]),
        (0, {}, ["researched"]),
        (-5 * MINUTE, {}, ["researched"]),
        (-5 * MINUTE - 0.001, {}, []),
        (30 * DAY, {}, ["researched"]),
        (30 * DAY + 0.001, {}, []),
        (60, {"page_of": "r1"}, []),
    ],
    ids=str,
)
def test_a_named_reformulation_holds_wherever_it_was_and_up_to_five_minutes_earlier(
    seconds, fields, expected
):
    """Whoever names what it reformulates needs neither a need nor the same conversation."""
    again = retrieval(
        "r2", ["a2"], seconds, **{"reformulates_retrieval_id": "r1", "request_id": "q2", **fields}
    )
    assert signals(retrieval("r1", ["a1"], request_id="q1"), again) == expected


def test_a_retrieval_cannot_reformulate_itself():
    """It would be its own failure."""
    assert signals({**FIRST, "reformulates_retrieval_id": "r1"}) == []


SELECT = {"event_id": "x", "consumed_asset_id": "a1", "source_retrieval_id": "r1"}
AGAIN = retrieval("r2", ["a2"], 60, request_id="q2", need_id="n", query="card")


@pytest.mark.parametrize(
    ("action", "fails"),
    [
        (user("select", 59.999, **SELECT), False),
        (user("select", 60, **SELECT), False),
        (user("select", 60.001, **SELECT), True),
        (user("click", 30, **SELECT), True),
        (user("select", 30, **{**SELECT, "consumed_asset_id": "a9"}), True),
    ],
    ids=["before", "at the very moment", "after", "a click", "refuted"],
)
def test_what_was_used_by_then_was_not_searched_for_in_vain(action, fails):
    """A use at the very moment of the second search still saves the first; a click is none."""
    found = signals(FIRST, AGAIN, action)
    assert found == (["researched", "researched_inferred"] if fails else [])


@pytest.mark.parametrize(("seconds", "fails"), [(30, False), (60, False), (61, True)])
def test_a_page_that_was_used_saves_its_first_page(seconds, fails):
    """It belongs to the same search."""
    page = retrieval("p1", ["a5"], 10, request_id="q1", page_of="r1")
    used = user("export", seconds, consumed_asset_id="a5", source_retrieval_id="p1")
    assert bool(signals(FIRST, page, AGAIN, used)) is fails


def test_the_shadow_is_published_and_not_counted():
    """It is a signal by its own name and no failure."""
    found = settle(
        retrieval("r1", ["a1"], request_id="q1", query="red card"),
        retrieval("r2", ["a2"], 60, request_id="q2", query="card red"),
    )
    name = "lara_retrievals_failed_by_signal"
    assert found.figure(name, **SETTLED, signal="researched_inferred") == 1
    assert found.figure(name, **SETTLED, signal="researched") == 0
    assert found.figure("lara_retrievals_failed", **SETTLED) == 0


def test_similar_queries_agree_with_labelled_pairs_beyond_chance_in_every_script():
    """The figures are printed in docs/decisions.md, which another test compares."""
    for row in similar_queries.rows():
        assert float(row[-1]) > 0.3, dict(zip(similar_queries.HEADINGS, row, strict=True))


def test_kappa_is_0_where_signal_and_label_agree_by_chance_and_1_where_always():
    """Cohen's kappa on counts whose value is known."""
    assert similar_queries.Agreement(25, 25, 25, 25).kappa == 0
    assert similar_queries.Agreement(3, 0, 0, 7).kappa == 1
    assert similar_queries.Agreement(20, 5, 10, 15).kappa == pytest.approx(0.4)
