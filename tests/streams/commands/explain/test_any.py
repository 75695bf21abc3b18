"""Whatever is in the state can be explained: every retrieval, action and document of any records."""

import asyncio

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.text import Text

from attribution import actions, retrievals
from attribution.entities import split_key
from metrics.figures import figures
from streams.commands.explain.action import explain_action
from streams.commands.explain.asking import Question
from streams.commands.explain.document import explain_document
from streams.commands.explain.retrieval import explain_retrieval
from streams.commands.source import Source
from streams.settings import Settings
from tests.building import DAY, MINUTE, at
from tests.properties import running
from tests.properties.strategies import streams

EXPLAIN = {"retrieval": explain_retrieval, "action": explain_action, "document": explain_document}
SETTINGS = {
    "shadow": Settings(
        synthetic_session_prefixes=("probe-",), synthetic_user_ids=("robot",), synthetic_queries=("insulin",)
    ),
    "credit": Settings(inference="credit", inferred_research="count"),
}
EXAMPLES = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_everything_is_explained_and_agrees_with_what_is_counted(name):
    """Words are made, data has its keys, and the counters are those of the core, under any settings."""
    chosen = SETTINGS[name]
    semantics, keys = chosen.semantics, {}

    @EXAMPLES
    @given(streams, st.sampled_from([0, 7 * MINUTE, 40 * MINUTE, 31 * DAY]))
    def check(values, seconds):
        store = running.settle_in_memory([running.accepted(values)], semantics)
        question = Question(Source(store, at(seconds)), chosen, at(seconds))
        published = {metric.name for metric in figures(store, at(seconds), semantics.definitions)}
        for key, entity in store.entities().items():
            kind, identity = split_key(key)
            if kind not in EXPLAIN:
                continue
            found = asyncio.run(EXPLAIN[kind](identity, question))
            assert all(Text.from_markup(line) is not None for line in found.words)
            assert msgspec.json.decode(msgspec.json.encode(found.data))
            assert keys.setdefault(kind, list(found.data)) == list(found.data)
            counted = {(one["minute"], one["counter"]): one["count"] for one in found.data["counted"]}
            if kind != "document":
                contribute = {"retrieval": retrievals.contribute, "action": actions.contribute}[kind]
                assert list(counted.values()) == list(contribute(identity, entity, semantics).values())
            in_windows = [one["name"] for one in found.data["figures"] if any(one["windows"].values())]
            assert set(in_windows) <= published

    check()


@EXAMPLES
@given(streams)
def test_a_document_tells_of_each_action_what_the_action_tells_of_itself(values):
    """The same resolution, and a reason for whatever credits nothing."""
    store = running.settle_in_memory([running.accepted(values)])
    question = Question(Source(store, at(0)), SETTINGS["shadow"], at(0))
    for key in store.entities():
        kind, identity = split_key(key)
        if kind == "document":
            for told in asyncio.run(explain_document(identity, question)).data["actions"]:
                (record,) = asyncio.run(explain_action(told["action_id"], question)).data["attributions"]
                assert told["resolution"] == record["resolution"]
                assert told["retrieval_ids"] == list(record.get("retrieval_ids", ()))
                assert told["why"].startswith(record["resolution"])
                assert len(told["why"]) > len(record["resolution"]) + 2
