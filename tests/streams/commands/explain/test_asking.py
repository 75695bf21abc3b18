"""Where explanations look, and what is said while the state is on its way."""

import asyncio

import pytest
from click.testing import CliRunner

from attribution.semantics import Semantics
from streams.commands import source
from streams.commands.cli import main
from streams.commands.explain.action import explain_action
from streams.commands.explain.asking import Question
from streams.commands.explain.document import explain_document
from streams.commands.explain.retrieval import explain_retrieval
from streams.commands.source import Source
from streams.settings import Settings
from tests.building import at, placement, retrieval, settle, user

CLAIM = {"source_retrieval_id": "r1", "consumed_asset_id": "a1"}
SENT = (
    retrieval(request_id="q1"),
    placement(source_retrieval_id="r1", actor="agent"),
    user("export", event_id="x", session_guid="s2", document_id="d1", consumed_asset_id="a1"),
)
ASKED = [("retrieval", "r1"), ("action", "x"), ("action", "place:d1/p1"), ("document", "d1")]


class Some:
    """A store that holds some of the entities of another, as while others are still on their way."""

    def __init__(self, entities, kinds=None):
        self.entities = {
            key: entity for key, entity in entities.items() if kinds is None or key.split(":")[0] in kinds
        }
        self.closed = False

    async def load(self, keys):
        return {key: self.entities[key] for key in keys if key in self.entities}

    async def confirm(self):
        assert not self.closed

    async def close(self):
        self.closed = True


def asked(explain, name, *sent, kinds=None, one_by_one=False):
    """The words of an explanation, from these kinds of entity alone."""
    entities = settle(*sent, one_by_one=one_by_one).store.entities()
    known = Source(Some(entities, kinds), at(120))
    found = asyncio.run(explain(name, Question(known, Settings(), at(120))))
    return [line.strip() for line in found.words], found.data


@pytest.mark.parametrize(("kind", "name"), ASKED)
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["words", "json"])
def test_the_live_state_and_files_say_the_same(monkeypatch, explain, kind, name, options):
    """At the same time asked about; and the connection is closed."""
    store = Some(settle(*SENT, semantics=Semantics()).store.entities())
    monkeypatch.setattr(source, "store_of", lambda settings: store)
    options = [*options, "--as-of", "2026-03-05"]
    live = CliRunner().invoke(main, ["explain", kind, name, *options])
    assert live.exit_code == 0, live.output
    assert live.stdout == explain(*SENT, kind=kind, name=name, options=options).stdout
    assert store.closed


@pytest.mark.parametrize("kind", ["retrieval", "action", "document"])
def test_a_live_state_without_it_is_code_1(monkeypatch, kind):
    """One sentence, and the connection is closed too."""
    store = Some({})
    monkeypatch.setattr(source, "store_of", lambda settings: store)
    found = CliRunner().invoke(main, ["explain", kind, "nobody"])
    assert (found.exit_code, found.stdout, store.closed) == (1, "", True)
    article = "an" if kind == "action" else "a"
    assert found.stderr.startswith(f"nothing is known of {article} {kind} nobody: no record")


def test_an_action_that_waits_for_an_answer_says_so():
    """Between two saves of a worker, or while none runs."""
    sent = retrieval(), user("export", event_id="x", **CLAIM)
    entities = settle(*sent).store.entities()
    action = entities["action:x"]._replace(said={})
    known = Source(Some({**entities, "action:x": action}), at(120))
    found = asyncio.run(explain_action("x", Question(known, Settings(), at(120))))
    lines = [line.strip() for line in found.words]
    assert any(line.startswith("no resolution yet") for line in lines)
    assert "in these figures" not in " ".join(lines)
    assert (found.data["attributions"], found.data["counted"]) == ([], [])
    assert found.data["answers"][0]["grade"] is None


def test_a_placing_that_is_none_any_more_says_so():
    """An earlier record without an actor turned up: nobody placed it."""
    sent = placement(seconds=60, actor="user"), placement(seconds=50)
    lines, data = asked(explain_action, "place:d1/p1", *sent, one_by_one=True)
    assert lines[1].startswith("it is no action")
    assert data["attributions"][0]["resolution"] == "withdrawn"
    assert (data["rules"], data["counted"]) == ([], [])


def test_a_state_of_which_a_part_is_gone_is_explained_as_far_as_it_goes():
    """Entities expire one by one: what is left still speaks."""
    for kind, (explain, name) in {
        "action": (explain_action, "x"),
        "document": (explain_document, "d1"),
        "retrieval": (explain_retrieval, "r1"),
    }.items():
        lines, data = asked(explain, name, *SENT, kinds={kind})
        assert lines and data["as_of"] == "2026-03-02 10:02:00.000Z"
