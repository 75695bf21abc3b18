"""What a deployment may configure, and the names of things that are the same."""

import pytest

from attribution.definitions import STANDARD, STRICT, Definition
from attribution.semantics import (
    ATTRIBUTION_HORIZON_MS,
    CLOCK_SKEW_MS,
    LATENESS_MS,
    STATE_HORIZON_MS,
    Semantics,
    minute_of,
    normalised_query,
)


def test_the_horizons_are_those_of_the_contract():
    """30 days, 5 minutes, 7 days, and the state is kept for the first and the last."""
    day = 24 * 60 * 60 * 1000
    assert (30 * day, 5 * 60 * 1000, 7 * day) == (ATTRIBUTION_HORIZON_MS, CLOCK_SKEW_MS, LATENESS_MS)
    assert 37 * day == STATE_HORIZON_MS


@pytest.mark.parametrize(
    ("sent", "label"),
    [
        ("chat", "chat"),
        ("moon", "other"),
        (None, "unknown"),
        ("", "unknown"),
        ("unknown", "unknown"),
        ("CHAT", "other"),
    ],
)
def test_a_surface_is_a_configured_label_or_other(sent, label):
    """Absent is `unknown`; nothing else that a producer writes becomes a label."""
    assert Semantics().surface(sent) == label


def test_an_absent_surface_is_other_where_unknown_is_not_configured():
    """The list is the list."""
    assert Semantics(surfaces=("chat",)).surface(None) == "other"


def test_other_rules_read_the_standard_definition_as_it_is_configured():
    """A file may replace it by name."""
    own = Definition("standard", 2, actions=("export",))
    assert Semantics().standard is STANDARD
    assert Semantics(definitions=(STRICT, own)).standard is own


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("Birthday  Card", "birthday card"),
        ("\tcard\n", "card"),
        ("STRASSE", "straße"),
        ("ｃａｒｄ", "card"),
        ("ﬁne", "fine"),
        ("a\u00a0b", "a b"),
        ("e\u0301", "é"),
    ],
)
def test_queries_are_the_same_after_nfkc_case_folding_and_collapsed_space(query, same):
    """Width, case, ligatures, accents written apart and white space make no other query."""
    assert normalised_query(query) == normalised_query(same)


@pytest.mark.parametrize(
    ("role", "action", "completed"),
    [
        ("browse", ("user", "select"), True),
        ("browse", ("agent", "select"), False),
        ("act_on", ("user", "edit"), True),
        ("generation_reference", ("agent", "generate"), True),
        ("task_step", ("user", "export"), True),
        ("task_step", ("user", "select"), False),
        ("unspecified", ("user", "download"), True),
    ],
)
def test_a_task_is_completed_by_what_its_role_names(role, action, completed):
    """Roles that are not named are `others`."""
    assert Semantics().completes(role, *action) is completed


def test_completion_is_configured_per_role():
    """A role of its own, and nothing where not even `others` is named."""
    own = Semantics(completion=(("browse", ("user click",)),))
    assert own.completes("browse", "user", "click")
    assert not own.completes("browse", "user", "export")
    assert not own.completes("act_on", "user", "export")


@pytest.mark.parametrize(
    ("sent", "label"), [("edit", "edit"), ("sing", "other"), (None, "other"), ("", "other")]
)
def test_a_route_is_a_configured_label_or_other(sent, label):
    """Absent is other, too."""
    assert Semantics().route(sent) == label


@pytest.mark.parametrize(
    ("inferred", "signals"),
    [
        ("shadow", ("rejected", "researched", "substituted")),
        ("count", ("rejected", "researched", "substituted", "researched_inferred")),
    ],
)
def test_the_shadow_signal_makes_a_failure_only_where_it_counts(inferred, signals):
    """The other three always do."""
    assert Semantics(inferred_research=inferred).failure_signals == signals


def test_words_make_another_query():
    """Order and words are kept."""
    assert normalised_query("card birthday") != normalised_query("birthday card")


@pytest.mark.parametrize(
    ("ts", "minute"), [(0, 0), (59_999, 0), (60_000, 1), (1_772_445_600_000, 29_540_760)]
)
def test_a_bucket_is_a_whole_minute_since_the_epoch(ts, minute):
    """The last millisecond of a minute is still in it."""
    assert minute_of(ts) == minute
