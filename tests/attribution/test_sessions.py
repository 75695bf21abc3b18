"""The session's end: abandoned, once asked of the session and once of its retrievals."""

from itertools import permutations

import pytest

from attribution.semantics import minute_of
from attribution.sessions import contribute
from attribution.statements import Ended, Outcome
from tests.building import DAY, DEFAULT, MINUTE, agent, at, entity, placement, retrieval, settle, user


def ended(name, seconds=0, outcome=False, surface="chat", digest=b"1"):
    return (f"retrieval:{name}", "", Ended(at(seconds), digest, surface, outcome))


def outcome(name, seconds):
    return (f"action:{name}", "", Outcome(at(seconds)))


def counted(*retrievals, outcomes=()):
    found = contribute("s1", entity(ended=retrievals, outcome=outcomes), DEFAULT)
    assert {minute for minute, _ in found} <= {minute_of(at(0))}
    return {name for _, name in found}


BOTH = {"sessions|chat", "sessions_abandoned|session|chat", "sessions_abandoned|lineage|chat"}


def test_a_session_without_an_outcome_is_abandoned_by_both():
    """It counts once, however many retrievals it has."""
    assert counted(ended("r1"), ended("r2", 5)) == BOTH


def test_a_session_without_a_retrieval_is_none():
    """Outcomes alone make no session of search."""
    assert counted(outcomes=[outcome("x", 5)]) == set()


@pytest.mark.parametrize(
    ("seconds", "abandoned"),
    [(-0.001, True), (0, False), (30 * DAY, False), (30 * DAY + 0.001, True)],
    ids=["before", "same moment", "30 days", "over 30 days"],
)
def test_an_outcome_in_the_session_counts_from_its_first_retrieval_for_thirty_days(seconds, abandoned):
    """Both bounds belong to it; what lineage says is another question."""
    found = counted(ended("r1"), ended("r2", 20), outcomes=[outcome("x", seconds)])
    assert ("sessions_abandoned|session|chat" in found) is abandoned
    assert "sessions_abandoned|lineage|chat" in found


def test_an_outcome_of_any_of_its_retrievals_saves_it_by_lineage():
    """Wherever and whenever that was."""
    found = counted(ended("r1"), ended("r2", 20, outcome=True))
    assert found == BOTH - {"sessions_abandoned|lineage|chat"}


def test_a_session_counts_by_the_time_and_surface_of_its_earliest_retrieval():
    """At one moment the smaller digest is first."""
    known = [
        ended("r1", 60, surface="editor"),
        ended("r2", 0, surface="gallery", digest=b"2"),
        ended("r3", 0, surface="chat", digest=b"1"),
    ]
    for order in permutations(known):
        assert counted(*order) == BOTH
    assert "sessions|other" in counted(ended("r1", surface="moon"))
    assert "sessions|unknown" in counted(ended("r1", surface=None))


# --- from records to figures ------------------------------------------------------------------------


def abandonment(*sent, seconds=30 * DAY):
    found = settle(*sent)
    ratio = "lara_session_abandonment_ratio"
    return tuple(found.figure(ratio, seconds, attribution=how) for how in ("session", "lineage"))


SEARCH = retrieval("r1", ["a1"], surface="chat")
EXPORT = {"consumed_asset_id": "a1", "source_retrieval_id": "r1"}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([], (1, 1)),
        ([user("export", **EXPORT)], (0, 0)),
        ([user("export")], (0, 1)),
        ([user("export", session_guid="s2", **EXPORT)], (1, 0)),
        ([user("select", **EXPORT)], (1, 1)),
        ([agent("export", **EXPORT)], (1, 1)),
        ([user("export", **{**EXPORT, "consumed_asset_id": "a9"})], (0, 1)),
        ([user("export", synthetic=True, **EXPORT)], (1, 1)),
        ([user("export", 31 * DAY, **EXPORT)], (1, 1)),
        ([user("export", -5, **EXPORT)], (1, 0)),
    ],
    ids=[
        "nothing", "in it", "of something else", "elsewhere", "no outcome", "by an agent", "refuted",
        "synthetic", "over 30 days", "stamped before",
    ],
)  # fmt: skip
def test_the_two_measures_differ_where_sessions_and_lineage_do(sent, expected):
    """An outcome elsewhere is an abandoned session with a found result, and the other way round."""
    assert abandonment(SEARCH, *sent) == expected


def test_the_outcome_of_a_document_saves_every_session_behind_it():
    """Two sessions searched, a third one exported."""
    sent = (
        retrieval("r1", ["a1"], session_guid="s1"),
        retrieval("r2", ["a2"], session_guid="s2"),
        placement("p1", "a1", source_retrieval_id="r1", session_guid="s1"),
        placement("p2", "a2", source_retrieval_id="r2", session_guid="s2"),
        user("export", document_id="d1", session_guid="s3"),
    )
    assert abandonment(*sent) == (1, 0)
    assert settle(*sent).figure("lara_sessions") == 2


def test_only_mature_sessions_are_asked():
    """A young session is counted, and not yet called abandoned."""
    assert abandonment(SEARCH, seconds=30 * MINUTE) == (None, None)
    assert abandonment(SEARCH, seconds=30 * MINUTE + 1) == (1, 1)
    assert settle(SEARCH).figure("lara_sessions", 30 * MINUTE) == 1


def test_an_excluded_retrieval_makes_no_session():
    """Nor does it lend a session its time."""
    robot = retrieval("r0", ["a1"], -60, synthetic=True, surface="editor")
    assert settle(robot).figure("lara_sessions") is None
    assert settle(robot, SEARCH).figure("lara_sessions", surface="chat") == 1


def test_abandonment_is_the_same_in_every_order_of_arrival():
    """An outcome that comes first is not forgotten."""
    sent = (SEARCH, retrieval("r2", ["a2"], 5, surface="editor"), user("export", **EXPORT))
    figures = [settle(*order, one_by_one=True).figures() for order in permutations(sent)]
    assert all(one == figures[0] for one in figures)
