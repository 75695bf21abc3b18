"""`lara explain retrieval`: the chain in words and as JSON, from the same state that is counted."""

import pytest

from tests.building import DAY, agent, judgement, placement, prompt, retrieval, user

CLAIM = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}


# --- the record -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (retrieval(returned=None), "not logged (outside null rate and Layer 1)"),
        (retrieval(returned=[]), "nothing: a null result"),
        (retrieval(returned=[], page_of="r0"), "nothing: an empty page"),
        (retrieval(returned=["a1", None, 3]), "3 assets: a1, null, 3"),
    ],
)
def test_what_was_returned_is_told_as_it_counts(words, sent, said):
    """Absent, empty and null elements are different things."""
    assert said in words(sent)


def test_the_record_is_told_with_the_labels_it_counts_under(words):
    """Request, role and surface as they are after defaults and folding."""
    assert "session s1, request r1, role unspecified, surface other" in words(
        retrieval(surface="moon", role="sing")
    )


def test_what_a_producer_sent_is_printed_as_it_is(words):
    """Square brackets are no markup."""
    printed = words(
        retrieval("[bold]r1[/bold]", ["[red]"], query="[/x] tag", session_guid="[s]"), name="[bold]r1[/bold]"
    )
    for text in ("retrieval [bold]r1[/bold]", "query: [/x] tag", "1 assets: [red]", "session [s]"):
        assert text in printed


def test_what_looks_like_an_emoji_is_printed_as_it_is(words):
    """An id may hold colons."""
    assert "retrieval a:cat:b" in words(retrieval("a:cat:b"), name="a:cat:b")


def test_a_record_that_lost_the_id_is_named(words):
    """It does not stand."""
    assert "a record that does not stand: 2026-03-02 10:00:05.000Z, event other" in words(
        retrieval(), retrieval(seconds=5, event_id="other")
    )


# --- who is credited, and who is not ----------------------------------------------------------------


def test_every_kind_of_evidence_is_told_in_words(words):
    """U, A, D, F, a correction, and what is none."""
    printed = words(
        retrieval(request_id="q1"),
        agent("use", 10, request_id="q1", **CLAIM),
        agent("show", 20, request_id="q1"),
        agent("edit", 30, request_id="q1", **CLAIM),
        agent("click", 40, request_id="q1", **CLAIM),
        *(user(verb, **CLAIM) for verb in ("export", "reject", "correct")),
    )
    for said in (
        "its answer was shown 2026-03-02 10:00:20.000Z",
        "agent consumption (A)",
        "delegated use (D)",
        "no evidence",
        "a user action",
        "an observable failure (F)",
        "a correction",
        "A (agent consumption): yes",
        "D (delegated use): yes",
        "F (observable failure): yes",
        "rejected: the user rejected it",
    ):
        assert said in printed


def test_every_rule_is_told_with_the_way_it_went(words):
    """Claim, placement and its original, whole document, request."""
    printed = words(
        retrieval(request_id="q1"),
        placement("p1", "a1", source_retrieval_id="r1"),
        placement("p2", "a2", source_placement_id="p1"),
        user("edit", event_id="x1", **CLAIM),
        user("edit", event_id="x2", document_id="d1", placement_id="p2"),
        user("export", event_id="x3", document_id="d1"),
        user("select", event_id="x4", request_id="q1", consumed_asset_id="a2"),
    )
    assert "rule 1, its own claim" in printed
    assert "rule 2, inherited from placement p2 ← p1 of document d1" in printed
    assert "rule 3, the whole document" in printed
    assert "rule 4, same request" in printed


@pytest.mark.parametrize(
    ("sent", "grade", "why"),
    [
        (
            [retrieval(), user("export", **CLAIM | {"consumed_asset_id": "a9"})],
            "refuted",
            "the list holds none of a9",
        ),
        ([retrieval(returned=[]), user("export", **CLAIM)], "refuted", "the list is known and empty"),
        ([user("export", **CLAIM)], "dangling", "never logged"),
        ([retrieval(), user("export", 31 * DAY, **CLAIM)], "dangling", "30 days"),
    ],
    ids=["not in the list", "empty list", "never logged", "too old"],
)
def test_a_claim_that_does_not_hold_is_told_with_its_reason(words, data, sent, grade, why):
    """So that the producer can mend it; for programs too."""
    assert f"{grade}: " in words(*sent)
    assert why in words(*sent)
    (refused,) = data(*sent)["refused"]
    assert (refused["action_id"], refused["grade"]) == ("user-export", grade)
    assert why in refused["why"]


def test_a_refused_placement_is_named(words):
    """So that the reader can look at its document."""
    printed = words(
        retrieval(),
        placement("p1", "a9", source_retrieval_id="r1"),
        user("edit", document_id="d1", placement_id="p1"),
    )
    refused = printed.split("claims that do not hold")[1]
    assert "rule 2, inherited from placement p1 of document d1" in refused
    assert "refuted: the list holds none of a9" in refused


def test_a_retrieval_that_only_claims_know_is_told_as_such(words, data):
    """It has no record and counts nothing."""
    assert "was never logged; actions claim it:" in words(user("export", **CLAIM))
    assert "was never logged; no action claims it" in words(placement(source_retrieval_id="r1"))
    found = data(user("export", **CLAIM))
    assert (found["records"], found["counted"]) == ([], [])


@pytest.mark.parametrize(
    ("sent", "because", "said"),
    [
        ([retrieval(synthetic=True)], "synthetic", "it says that it is synthetic"),
        ([retrieval(request_id="q1"), prompt(synthetic=True)], "request", "the prompt of its request"),
        ([retrieval(page_of="r0"), retrieval("r0", synthetic=True)], "link", "a retrieval that it names"),
    ],
    ids=["itself", "request", "link"],
)
def test_a_retrieval_of_robots_says_why_it_is_in_no_figure(words, data, sent, because, said):
    """By itself, by its request, or by what it names."""
    assert f"excluded: {said}" in words(*sent)
    assert "in these figures" not in words(*sent)
    found = data(*sent)
    assert found["records"][0]["excluded"] is True
    assert found["excluded_because"] == because
    assert found["counted"] == found["figures"] == []


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("SESSION_PREFIXES", "s", "its session matches"),
        ("USER_IDS", "u1", "its user is"),
        ("QUERIES", "card", "its query is"),
    ],
)
def test_a_configured_rule_that_excludes_it_is_named(words, monkeypatch, setting, value, said):
    """The reader sees which setting to look at."""
    monkeypatch.setenv(f"LARA_SYNTHETIC_{setting}", value)
    assert f"excluded: {said}" in words(retrieval(query="Card", user_id="u1"))


def test_what_nobody_knows_is_said_and_is_code_1(explain):
    """A misspelt id must not look like a retrieval without evidence."""
    found = explain(retrieval(), name="r-unknown")
    assert (found.exit_code, found.stdout) == (1, "")
    assert "r-unknown" in found.stderr


# --- the verdict ------------------------------------------------------------------------------------


def test_without_evidence_it_is_pending_until_it_is_mature_and_then_unobserved(words):
    """By the time asked about; of a file that is its latest event."""
    pending = words(retrieval(), prompt("q9", seconds=29 * 60))
    assert "no evidence by standard: pending until 2026-03-02 10:30:00.000Z" in pending
    assert "list and evidence together: pending until 2026-03-02 10:30:00.000Z, then unjudged" in pending
    unobserved = words(retrieval(), prompt("q9", seconds=31 * 60))
    assert "no evidence by standard: unobserved" in unobserved
    assert "unobserved" in words(retrieval(), options=["--as-of", "2026-03-03"])


def test_what_is_counted_is_what_the_figures_read(data):
    """The counters are those of the state, with their minute."""
    found = data(retrieval(seconds=65), user("export", **CLAIM))
    counted = {one["counter"]: one["count"] for one in found["counted"]}
    assert counted["retrievals|unspecified|unknown"] == 1
    assert counted["retrievals_positive|strict|unspecified|unknown"] == 1
    assert {one["minute"] for one in found["counted"]} == {"2026-03-02 10:01:00.000Z"}
    assert found["records"][0]["ranks"] == {"a1": 1}


def test_it_matures_with_its_minute_as_the_figures_do(words):
    """Not 30 minutes after its second, but when the settled windows hold its minute."""
    sent = retrieval(seconds=45)
    before = words(sent, options=["--as-of", "2026-03-02T10:30:00Z"])
    assert "no evidence by strict: pending until 2026-03-02 10:30:00.000Z" in before
    assert "no evidence by strict: unobserved" in words(sent, options=["--as-of", "2026-03-02T10:30:00.001Z"])


def test_a_user_action_says_by_which_definitions_it_is_a_positive(words):
    """By all, by some, by none."""
    printed = words(
        retrieval(), *(user(verb, **CLAIM) for verb in ("export", "select", "click", "not_helpful"))
    )
    for said in (
        "(U) by strict, standard, broad",
        "(U) by standard, broad",
        "(U) by broad",
        "U by no definition",
    ):
        assert f"is a user action: {'' if 'no def' in said else 'a genuine positive '}{said}" in printed


def test_a_signal_names_what_is_behind_it(words):
    """The later search, by its time or its id; the action that took something else."""
    again = retrieval("r2", seconds=60, request_id="q2", need_id="n1", reformulates_retrieval_id="r1")
    printed = words(retrieval(need_id="n1", request_id="q1", query="red card"), again)
    assert "before it was used (at 2026-03-02 10:01:00.000Z, by r2 at 2026-03-02 10:01:00.000Z)" in printed
    alike = words(retrieval(request_id="q1", query="red card"), retrieval("r2", seconds=60, query="red card"))
    assert "(a shadow signal) (at 2026-03-02 10:01:00.000Z)" in alike
    assert "F (observable failure): no" in alike
    other = words(
        retrieval(request_id="q1", role="act_on"), agent("use", 10, request_id="q1", consumed_asset_id="a9")
    )
    assert "that no list of the request holds (action agent-use)" in other


def test_labels_that_hold_are_told(words):
    """Intents of the prompt, and the goal."""
    printed = words(
        retrieval(request_id="q1"),
        judgement("intent", request_id="q1", retrieval_intents=0),
        judgement("goal", request_id="q1", reached=True),
    )
    assert "its prompt needed 0 retrievals, as labelled: misrouted" in printed
    assert "goal reached, as labelled: yes" in printed


def test_the_session_is_abandoned_by_itself_and_not_by_lineage(words, data):
    """The export elsewhere is told beside the retrieval it credits."""
    sent = retrieval(), user("export", session_guid="s2", **CLAIM)
    assert data(*sent)["session_abandoned"] == {"session": True, "lineage": False}
    assert "(attribution session): yes" in words(*sent)
    assert "(attribution lineage): no" in words(*sent)
    assert data(retrieval(synthetic=True))["session_abandoned"] is None


# --- the figures ------------------------------------------------------------------------------------


def test_the_figures_that_it_is_in_are_told_by_their_published_names(words):
    """Once each, with the windows, the shared labels above them, and values that are equal together."""
    printed = words(retrieval(role="browse", surface="chat"), user("select", **CLAIM), prompt("q9", 7200))
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    for said in (
        "counted in the minute 2026-03-02 10:00:00.000Z",
        "in the windows 6h, 24h, 7d, all (live and settled) as of 2026-03-02 12:00:00.000Z",
        "role browse, surface chat",
        "lara_retrievals 1",
        "lara_gpr_ratio 0 of 1 (definition strict), 1 of 1 each (definition standard, broad)",
        "lara_uor_ratio 1 of 1 (definition strict), 0 of 1 each (definition standard, broad), settled only",
        "lara_consumed_rank 1 over 1",
    ):
        assert said in lines
    assert "lara_retrievals_failed " not in printed


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("2026-03-02T10:00:00Z", "in no window yet as of"),
        ("2026-03-02T10:06:00Z", "in the windows 1h, 6h, 24h, 7d, all (live) as of"),
        ("2026-03-02T12:00:00Z", "in the windows 6h, 24h, 7d, all (live and settled) as of"),
        ("2026-03-03T10:01:00Z", "in the windows 7d, all (live) and 24h, 7d, all (settled) as of"),
    ],
)
def test_the_windows_of_both_cohorts_are_told(words, moment, said):
    """A young one is told when it will be settled."""
    printed = words(retrieval(), options=["--as-of", moment])
    assert f"  {said} " in printed
    young = moment == "2026-03-02T10:06:00Z"
    assert ("; settled after 2026-03-02 10:30:00.000Z" in printed) == young


def test_the_keys_of_the_data_are_these(data):
    """Programs may rely on them."""
    found = data(retrieval(), user("export", **CLAIM | {"consumed_asset_id": "a9"}))
    assert list(found) == [
        *("retrieval_id", "as_of", "records", "excluded_because", "refused", "session_abandoned"),
        *("counted", "figures"),
    ]
    assert list(found["refused"][0]) == ["action_id", "rule", "grade", "why"]
    assert list(found["counted"][0]) == ["minute", "counter", "count"]
    assert list(found["figures"][0]) == ["name", "labels", "numerator", "denominator", "windows"]


def test_a_program_reads_which_windows_it_is_in(data):
    """By cohort; a figure without cohorts is in the live ones."""
    found = data(retrieval(), options=["--as-of", "2026-03-03"])
    by_name = {one["name"]: one for one in found["figures"]}
    assert by_name["lara_retrievals"]["windows"] == {
        "live": ["24h", "7d", "all"],
        "settled": ["24h", "7d", "all"],
    }
    assert by_name["lara_uor_ratio"]["windows"] == {"settled": ["24h", "7d", "all"]}
    assert by_name["lara_null_ratio"] == {
        "name": "lara_null_ratio",
        "labels": {"role": "unspecified", "surface": "unknown"},
        "numerator": 0,
        "denominator": 1,
        "windows": {"live": ["24h", "7d", "all"]},
    }
