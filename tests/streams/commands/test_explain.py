"""`lara explain retrieval`: the chain in words and as JSON, from the same state that is counted."""

import json
import os

import pytest
from click.testing import CliRunner

from streams.commands.cli import main
from tests.building import DAY, agent, encoded, placement, prompt, retrieval, user

CLAIM = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No setting of the machine and no lara.toml of the working directory."""
    for name in [name for name in os.environ if name.startswith("LARA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def explain(tmp_path):
    """Runs the command over a file with these records."""

    def run(*sent, name="r1", options=()):
        path = tmp_path / "events.jsonl"
        path.write_bytes(b"\n".join(encoded(one) for one in sent))
        return CliRunner().invoke(main, ["explain", "retrieval", name, str(path), *options])

    return run


@pytest.fixture
def words(explain):
    def run(*sent, **fields):
        found = explain(*sent, **fields)
        assert found.exit_code == 0, found.output
        return found.stdout

    return run


@pytest.fixture
def data(explain):
    def run(*sent):
        return json.loads(explain(*sent, options=["--json"]).stdout)

    return run


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


def test_a_retrieval_that_only_claims_know_is_told_as_such(words, data):
    """It has no record and counts nothing."""
    assert "was never logged" in words(user("export", **CLAIM))
    found = data(user("export", **CLAIM))
    assert (found["records"], found["counted"]) == ([], [])


def test_a_retrieval_of_robots_says_that_it_is_in_no_figure(words, data):
    """By itself or by its request."""
    by_request = retrieval(request_id="q1"), prompt(synthetic=True)
    for sent in ([retrieval(synthetic=True)], by_request):
        assert "excluded" in words(*sent)
        found = data(*sent)
        assert found["records"][0]["excluded"] is True
        assert found["counted"] == []


def test_what_nobody_knows_is_said_and_is_code_1(explain):
    """A misspelt id must not look like a retrieval without evidence."""
    found = explain(retrieval(), name="r-unknown")
    assert (found.exit_code, found.stdout) == (1, "")
    assert "r-unknown" in found.stderr


# --- the verdict ------------------------------------------------------------------------------------


def test_without_evidence_it_is_pending_until_it_is_mature_and_then_unobserved(words):
    """By the time asked about; of a file that is its latest event."""
    pending = words(retrieval(), prompt("q9", seconds=29 * 60))
    assert "pending until 2026-03-02 10:30:00.000Z" in pending
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
