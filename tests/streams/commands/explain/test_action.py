"""`lara explain action`: which rule found what, what the retrievals answered, and the figures."""

import pytest

from tests.building import DAY, agent, judgement, placement, prompt, retrieval, user

CLAIM = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}
KEYS = [
    *("action_id", "as_of", "records", "attributions", "excluded_because", "rules", "answers"),
    *("inference", "outcome", "counted", "figures"),
]


@pytest.fixture
def told(words):
    """The words for the action `x`, line by line without indentation."""

    def run(*sent, name="x", options=()):
        return [line.strip() for line in words(*sent, kind="action", name=name, options=options).splitlines()]

    return run


@pytest.fixture
def found(data):
    def run(*sent, name="x", options=()):
        return data(*sent, kind="action", name=name, options=options)

    return run


def edit(seconds=120, **fields):
    return user("edit", seconds, event_id="x", **fields)


def export(seconds=120, **fields):
    return user("export", seconds, event_id="x", **fields)


IN_DOCUMENT = {"document_id": "d1", "placement_id": "p1"}


# --- the record and its intake ----------------------------------------------------------------------


def test_the_record_is_told_with_all_that_it_names(told):
    """Who, when, where, and every id that a rule could use."""
    lines = told(edit(request_id="q1", document_id="d1", surface="moon", **CLAIM))
    assert "2026-03-02 10:02:00.000Z  user edit in session s1, surface other" in lines
    assert "names retrieval r1, document d1, asset a1, request q1" in lines
    assert "intake: applied; no other record has its id" in lines
    assert "names no retrieval, placement, document, asset or request" in told(edit())


def test_records_that_do_not_stand_are_told(told, found):
    """The first by time stands; the other is a duplicate, whatever it says."""
    sent = edit(source_retrieval_id="r9"), export(60, **CLAIM), retrieval()
    assert "intake: applied; of the records with its id this one stands" in told(*sent)
    assert "a record that does not stand: 2026-03-02 10:02:00.000Z, event x" in told(*sent)
    assert [(one["action"], one["stands"]) for one in found(*sent)["records"]] == [
        ("export", True),
        ("edit", False),
    ]


def test_what_a_producer_sent_is_printed_as_it_is(told):
    """Square brackets and colons are no markup."""
    lines = told(edit(source_retrieval_id="[red]r:cat:", session_guid="[/s]"), retrieval())
    assert "names retrieval [red]r:cat:" in lines
    assert "at retrieval [red]r:cat:: dangling" in lines
    assert any("in session [/s]" in line for line in lines)


def test_a_show_is_told_to_be_no_evidence(told, found):
    """What it is good for is said of an agent's; a user's is nothing."""
    lines = told(agent("show", event_id="x", request_id="q1"))
    assert "a show is not resolved, and is no evidence and in no figure" in lines
    assert any("the answer to request q1 reached the user" in line for line in lines)
    assert not any("reached the user" in line for line in told(user("show", event_id="x", request_id="q1")))
    data = found(agent("show", event_id="x", request_id="q1"))
    assert (data["rules"], data["attributions"], data["figures"]) == ([], [], [])


# --- which rule ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "lines"),
    [
        (
            [retrieval(), edit(**CLAIM)],
            ["rule 1 (its own claim) applies: it names retrieval r1 itself", "not asked: rules 2, 3, 4, 5, 6",
             "resolution: explicit, credited to retrieval r1"],
        ),
        (
            [retrieval(), placement(source_retrieval_id="r1"), placement("p2", "a2", source_placement_id="p1"),
             placement("p3", "a3", derived_from_asset_id="a2"), edit(document_id="d1", consumed_asset_id="a3")],
            ["rule 1 (its own claim) does not apply: it names no retrieval",
             "rule 2 (a placement) applies: placement p3 of document d1, the latest live one of a3, "
             "placed 2026-03-02 10:01:00.000Z",
             "source: placement p3, derived from a2 of placement p2, copied from placement p1, "
             "which claims retrieval r1",
             "not asked: rules 3, 4, 5, 6", "resolution: inherited, credited to retrieval r1"],
        ),
        (
            [retrieval(), retrieval("r2", ["a2"]), placement(source_retrieval_id="r1"),
             placement("p2", "a2", source_retrieval_id="r2"), placement("p3", "up"), export(document_id="d1")],
            ["rule 3 (the whole document) applies: 3 placements are live in document d1",
             "source: placement p2, which claims retrieval r2", "no source: placement p3, which names no source",
             "resolution: document, credited to retrievals r1, r2"],
        ),
        (
            [retrieval(request_id="q1"), retrieval("r2", ["a9"], request_id="q1"),
             edit(request_id="q1", consumed_asset_id="a1")],
            ["rule 4 (its request) applies: request q1 has retrievals whose list holds asset a1",
             "retrieval r1 listed the asset", "retrieval r2 did not list the asset", "not asked: rules 5, 6",
             "resolution: request, credited to retrieval r1"],
        ),
        (
            [retrieval(), edit(consumed_asset_id="a1")],
            ['rule 5 (its session, by time) does not apply: only compared: `inference` is "shadow"',
             "rule 6 (nothing) applies: no rule before it applies",
             "resolution: none: it credits nothing"],
        ),
    ],
    ids=["explicit", "inherited", "document", "request", "none"],
)  # fmt: skip
def test_each_rule_is_told_with_what_it_found(told, sent, lines):
    """In order, up to the one that decides."""
    printed = told(*sent)
    assert [line for line in lines if line not in printed] == []


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ([edit(placement_id="p1")], "it names placement p1 but no document in which to look for it"),
        ([edit(**IN_DOCUMENT)], "document d1 knows no placement p1"),
        (
            [placement(seconds=180), edit(**IN_DOCUMENT)],
            "document d1 knows no placement p1 at that time: it was placed 2026-03-02 10:03:00.000Z",
        ),
        (
            [placement(), edit(consumed_asset_id="a2", **IN_DOCUMENT)],
            "placement p1 of document d1 is of asset a1, not a2",
        ),
        (
            [placement(), placement(seconds=90, op="remove"), edit(**IN_DOCUMENT)],
            "placement p1 of document d1 is not live at that time: removed 2026-03-02 10:01:30.000Z",
        ),
        ([edit(document_id="d1")], "edit of a whole document is no export, share or download"),
        ([export(document_id="d1")], "nothing is live in document d1 at that time"),
        ([placement(), edit(**IN_DOCUMENT)], "no source: placement p1, which names no source"),
        (
            [placement(source_placement_id="p9"), edit(**IN_DOCUMENT)],
            "no source: placement p1, whose original is not in this document (p9)",
        ),
        (
            [placement(derived_from_asset_id="a0"), edit(**IN_DOCUMENT)],
            "no source: placement p1, whose ancestor was never placed here before it (a0)",
        ),
        (
            [placement(source_placement_id="p1"), edit(**IN_DOCUMENT)],
            "no source: placement p1, where the way goes round in a circle",
        ),
    ],
)
def test_a_rule_that_leads_nowhere_says_on_what_it_failed(told, sent, said):
    """With the ids and times that one needs to mend it."""
    assert any(line.endswith(said) for line in told(*sent)), told(*sent)


def test_many_retrievals_of_another_time_are_only_counted(told):
    """A session may have hundreds; those of the time in question are named."""
    later = [retrieval(f"r{number}", ["a1"], 200 + number) for number in range(5)]
    lines = told(*later, retrieval("r-now", ["a9"]), edit(consumed_asset_id="a1"))
    assert "5 retrievals fired after the action" in lines
    assert "retrieval r-now did not list the asset" in lines
    assert "retrieval r1 fired after the action" in told(*later[:2], edit(consumed_asset_id="a1"))


# --- what the retrievals say ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "grade", "why"),
    [
        ([retrieval(), edit(**CLAIM | {"consumed_asset_id": "a7"})], "refuted", "the list holds none of a7"),
        ([retrieval(returned=[]), edit(**CLAIM)], "refuted", "the list is known and empty"),
        ([edit(**CLAIM)], "dangling", "this retrieval was never logged"),
        (
            [retrieval(), edit(31 * DAY, **CLAIM)],
            "dangling",
            "the retrieval is not within the 30 days before the action (or 5 minutes after it)",
        ),
    ],
)
def test_a_claim_that_does_not_hold_says_why(told, found, sent, grade, why):
    """In the words of explain retrieval, and for programs."""
    lines = told(*sent)
    assert f"resolution: {grade}: it credits nothing" in lines
    assert f"at retrieval r1: {grade}" in lines
    assert why in lines
    (answer,) = found(*sent)["answers"]
    assert (answer["grade"], answer["why"], answer["evidence"], answer["adds"]) == (grade, why, None, [])


def test_of_an_export_of_a_document_every_retrieval_answers_for_itself(told, found):
    """One credits, one refuses."""
    sent = (
        retrieval(), retrieval("r2", ["a9"]), placement(source_retrieval_id="r1"),
        placement("p2", "a2", source_retrieval_id="r2"), export(document_id="d1"),
    )  # fmt: skip
    lines = told(*sent)
    assert "resolution: document, credited to retrieval r1" in lines
    assert "at retrieval r1: granted" in lines
    assert "at retrieval r2: refuted" in lines
    assert {one["retrieval_id"]: one["grade"] for one in found(*sent)["answers"]} == {
        "r1": "granted",
        "r2": "refuted",
    }


def test_a_credit_says_what_it_is_there_and_what_it_changes(told, found):
    """U by definition, rank, task, session; and nothing changes where another action says the same."""
    sent = retrieval(role="act_on", session_guid="s9"), edit(**CLAIM)
    lines = told(*sent)
    for said in (
        "fired 2026-03-02 10:00:00.000Z in session s9, another than the action's, request –",
        "asset a1, rank 1",
        "is a user action: a genuine positive (U) by standard, broad",
        "completes the task of role act_on",
        "changes these counts there:",
        "lara_retrievals_positive +1 each (definition standard, broad)",
        "lara_retrievals_pending -1 each (definition standard, broad), live only",
    ):
        assert said in lines
    again = told(*sent, user("share", event_id="y", **CLAIM))
    assert "without it the counts there would be the same" in again
    (answer,) = found(*sent)["answers"]
    assert (answer["evidence"], answer["positive"], answer["session_guid"]) == (
        "user",
        ["standard", "broad"],
        "s9",
    )


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ([agent("use", event_id="x", request_id="q1", **CLAIM)], "agent consumption (A)"),
        ([agent("use", event_id="x", request_id="q2", **CLAIM)], "delegated use (D)"),
        ([agent("click", event_id="x", **CLAIM)], "no evidence"),
        ([user("reject", event_id="x", **CLAIM)], "an observable failure (F)"),
        ([user("correct", event_id="x", **CLAIM)], "a correction"),
        ([user("helpful", event_id="x", **CLAIM)], "a user action: a genuine positive (U) by broad"),
    ],
)
def test_every_kind_of_evidence_is_told(told, sent, said):
    """As the retrieval grades it."""
    assert any(line.startswith(f"is {said}") for line in told(retrieval(request_id="q1"), *sent))


# --- excluded ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "because", "said"),
    [
        ([edit(synthetic=True, **CLAIM)], "synthetic", "it says that it is synthetic"),
        ([edit(request_id="q1", **CLAIM), prompt(synthetic=True)], "request", "the prompt of its request"),
        ([edit(**CLAIM), retrieval(synthetic=True)], "retrieval", "the retrieval that it belongs to"),
        ([edit(**IN_DOCUMENT), placement(synthetic=True)], "placement", "the placement that it names"),
        (
            [edit(**IN_DOCUMENT), placement(source_retrieval_id="r1"), retrieval(synthetic=True)],
            "placement",
            "the placement that it names",
        ),
    ],
    ids=["itself", "request", "retrieval", "placement", "placement of a retrieval"],
)
def test_an_excluded_action_says_why(told, found, sent, because, said):
    """By itself or by what it names; it is in no figure."""
    lines = told(*sent)
    assert any(line.startswith(f"excluded: {said}") for line in lines)
    assert "in these figures" not in lines
    data = found(*sent)
    assert (data["excluded_because"], data["counted"], data["inference"]) == (because, [], None)
    assert data["attributions"][0]["resolution"] == "excluded"


def test_the_intake_of_synthetic_records_is_told_apart(told):
    """On its way in a record is synthetic by itself alone; what it names is found out later."""
    assert any(line.startswith("intake: synthetic;") for line in told(edit(synthetic=True)))
    assert any(line.startswith("intake: applied;") for line in told(edit(**CLAIM), retrieval(synthetic=True)))


# --- by time and session alone ----------------------------------------------------------------------


def test_what_rule_5_would_have_said_is_compared_with_lineage(told, found):
    """The same, another, nothing, or not to be compared."""
    sent = retrieval(), retrieval("r2", ["a1"], 60), edit(**CLAIM)
    lines = told(*sent)
    assert "by time and session alone (rule 5): retrieval r2" in lines
    assert "lineage credits another: they disagree" in lines
    assert (found(*sent)["inference"]["retrieval_id"], found(*sent)["inference"]["agrees"]) == ("r2", False)
    assert "lineage credits the same" in told(retrieval(), edit(**CLAIM))
    assert "by time and session alone (rule 5): no retrieval" in told(
        retrieval(session_guid="s9"), edit(**CLAIM)
    )
    refuted = told(retrieval(), retrieval("r2", ["a7"]), edit(**CLAIM | {"consumed_asset_id": "a7"}))
    assert "by time and session alone (rule 5): retrieval r2" in refuted
    assert any(line.startswith("not compared: ") for line in refuted)


def test_where_inference_credits_rule_5_is_told_as_the_rule_that_applies(told, monkeypatch):
    """The setting is read."""
    monkeypatch.setenv("LARA_INFERENCE", "credit")
    lines = told(retrieval(), edit(consumed_asset_id="a1"))
    assert "resolution: inferred, credited to retrieval r1" in lines
    assert any(line.startswith("rule 5 (its session, by time) applies: ") for line in lines)


# --- outcomes and figures ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ([edit()], "outcome: no (not a user's export, share or download)"),
        ([export()], "outcome: yes; attributed: no; of another session: no"),
        ([retrieval(), export(**CLAIM)], "outcome: yes; attributed: yes; of another session: no"),
        (
            [retrieval(session_guid="s9"), export(**CLAIM)],
            "outcome: yes; attributed: yes; of another session: yes",
        ),
    ],
)
def test_whether_it_is_an_outcome_is_told(told, sent, said):
    """Attributed or not, and whether it crosses sessions."""
    assert said in told(*sent)


def test_the_figures_of_an_action_are_those_of_its_own_minute(told):
    """Though what it credits may be of another."""
    lines = [
        " ".join(line.split())
        for line in told(
            retrieval(), export(2 * DAY, surface="editor", **CLAIM), options=["--as-of", "2026-03-05"]
        )
    ]
    for said in (
        "counted in the minute 2026-03-04 10:00:00.000Z",
        "in the windows 24h, 7d, all as of 2026-03-05 00:00:00.000Z",
        "surface editor, action export",
        "lara_attributed_outcome_ratio 1 of 1",
        "lara_actions 1 (resolution explicit)",
        "lara_lineage_coverage_ratio 1 of 1 each (field consumed_asset_id, source_retrieval_id)",
        "+1 outcomes|editor|export",
    ):
        assert said in lines


def test_an_action_of_the_very_minute_asked_about_is_in_no_window_yet(told):
    """A file's figures are those at its latest event: what happens in that minute comes later."""
    lines = told(edit())
    assert (
        "in no window yet as of 2026-03-02 10:02:00.000Z: windows end before this minute; ask with a later --as-of"
        in lines
    )
    assert any(line.startswith("lara_actions") for line in lines)
    assert any(
        line.startswith("in the windows 5m, 1h")
        for line in told(edit(), options=["--as-of", "2026-03-02T10:02:01Z"])
    )


# --- ids --------------------------------------------------------------------------------------------


def test_a_placing_is_explained_by_its_id(told, found):
    """It has no record of its own; it is resolved through its placement."""
    sent = retrieval(), placement(actor="user", source_retrieval_id="r1", document_id="a/b")
    lines = told(*sent, name="place:a%2Fb/p1")
    assert "intake: it has no event of its own; it is the first record of this placement" in lines
    assert "rule 2 (a placement) applies: placement p1 of document a/b itself" in lines
    assert "resolution: inherited, credited to retrieval r1" in lines
    assert found(*sent, name="place:a%2Fb/p1")["records"] == []


def test_an_event_id_that_looks_like_a_placing_is_found_under_its_prefix(told, explain):
    """And whoever asks for the event_id as it was sent is told the name."""
    sent = user("edit", event_id="place:d1/p1")
    missed = explain(sent, kind="action", name="place:d1/p1")
    assert (missed.exit_code, missed.stdout) == (1, "")
    assert missed.stderr == "nothing is known of an action place:d1/p1; ask for: action event:place:d1/p1\n"
    assert "action event:place:d1/p1" in told(sent, name="event:place:d1/p1")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x-unknown", "nothing is known of an action x-unknown: no record of it was accepted"),
        ("r1", "nothing is known of an action r1; ask for: retrieval r1"),
    ],
)
def test_what_nobody_knows_is_said_and_is_code_1(explain, name, said):
    """With a hint if the id is that of something else."""
    found = explain(retrieval(), kind="action", name=name)
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.startswith(said)


def test_the_keys_of_the_data_are_these(found):
    """Programs may rely on them."""
    data = found(retrieval(), edit(**CLAIM))
    assert list(data) == KEYS
    assert list(data["rules"][0]) == ["rule", "applies", "reason", "found", "sources", "retrievals"]
    assert list(data["answers"][0]) == [
        *("retrieval_id", "grade", "why", "session_guid", "evidence", "positive", "adds"),
    ]
    assert list(data["inference"]) == ["retrieval_id", "agrees", "found", "retrievals"]
    assert list(found(judgement("goal", request_id="q1", reached=True), agent("show", event_id="x"))) == KEYS
