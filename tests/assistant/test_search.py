"""The pipeline: permissions before everything, stages, cache, second look."""

import json
import logging
from datetime import date

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from assistant.documents import Document
from assistant.emitter import Emitter
from assistant.index import Index
from assistant.search import STAGES, Configuration, Search
from assistant.tool import SCHEMA, SearchTool
from attribution.parsing import Rejected, parse
from tests.assistant.test_emitter import Memory

QUERIES = ("GW-7", "goodwill refund code of agents", "refund outside the policy")


def test_a_document_is_found_by_its_code_and_by_its_meaning(search):
    """Exact tokens by keywords, other words by vectors, and both in one list."""
    assert search.search("EXP-1012").hits[0].document_id == "e11"
    assert search.search("打印出来颜色发暗").hits[0].document_id == "z27"


def test_without_a_half_its_list_is_empty(index):
    """And the fused list is that of the other."""
    found = Search(index, Configuration(keyword=False)).search("refund")
    assert found.stages["keyword"] == () and found.fired == found.stages["vector"]


def test_the_same_question_is_answered_from_the_cache(search):
    """Case and white space do not matter; the asker's groups do."""
    first, again = search.search("Refund times"), search.search(" refund  TIMES ")
    assert (first.cached, again.cached) == (False, True) and first.hits == again.hits
    assert not search.search("refund times", groups=frozenset({"support-staff"})).cached


def test_another_index_has_another_version(index):
    """A changed document is never answered from what was kept before, even if only its groups changed."""
    first = index.documents[0]
    shut = msgspec.structs.replace(first, access_groups=frozenset({"sales"}))
    versions = {Index([one], index.encoder).version for one in (first, shut)}
    assert len(versions) == 2 and Index([first], index.encoder).version in versions


def test_a_filter_is_applied_before(search):
    """Every stage knows documents of that product line only."""
    found = search.search("error code", filters={"product_line": "account"})
    lines = {one.document_id: one.product_line for one in search.index.documents}
    assert {lines[one] for stage in STAGES for one in found.stages[stage]} == {"account"}
    with pytest.raises(ValueError, match="no filter: colour"):
        search.search("x", filters={"colour": "red"})


@budget(max_examples=30, deadline=None)
@given(
    st.sampled_from([*QUERIES, "大客户折扣", "outage", "人工核验"]),
    st.frozensets(st.sampled_from(["sales", "support-staff", "engineering", "nobody"])),
)
def test_no_stage_holds_what_the_asker_may_not_read(index, query, groups):
    """Whatever is asked, by whomever."""
    guarded = {
        one.document_id for one in index.documents if one.access_groups and not one.access_groups & groups
    }
    found = Search(index).search(query, top_k=20, groups=groups)
    assert guarded.isdisjoint(one for stage in STAGES for one in found.stages[stage])
    assert guarded.isdisjoint(hit.document_id for hit in found.hits)


def test_without_the_group_nothing_anywhere_holds_the_document(search, caplog):
    """Result, cache, event and log: not the id, and not a word of it that the asker did not type."""
    caplog.set_level(logging.DEBUG)
    memory = Memory()
    emitter = Emitter(memory)
    turn = emitter.turn("s1", user_id="u1")
    tool = SearchTool(search, turn)
    results = [tool(query, 20) for query in QUERIES]
    emitter.close()
    events = [record.value for record in memory.records]
    held = repr((results, search.cache.values(), caplog.text))
    assert "e31" not in held and "Internal: goodwill" not in held
    assert not any(b"e31" in event for event in events) and len(events) == 1 + len(QUERIES)
    assert not any(isinstance(parse(event), Rejected) for event in events)


def test_with_the_group_it_is_found_and_masked(search):
    """The number of the billing lead is in no index, so in no result."""
    found = search.search("GW-7", groups=frozenset({"support-staff"}))
    assert found.hits[0].document_id == "e31"
    assert "7946" not in repr((found, search.index.documents, search.cache.values()))


def test_access_lost_since_the_index_was_made_counts_at_once(index):
    """Also for an answer from the cache; a document that is gone is nobody's."""
    now = {one.document_id: one.access_groups for one in index.documents}
    search = Search(index, access=now.get)
    assert search.search("EXP-1012").hits[0].document_id == "e11"
    now["e11"] = frozenset({"engineering"})
    del now["e10"]
    found = search.search("EXP-1012")
    assert found.cached and {"e10", "e11"}.isdisjoint(
        {*found.fired, *(hit.document_id for hit in found.hits)}
    )


def test_newer_documents_come_first_if_age_counts(index):
    """Two that say the same: with a half-life the newer one leads."""
    texts = [("a", date(2024, 1, 1)), ("b", date(2026, 1, 1))]
    documents = [Document(document_id=one, text="Refunds take 5 days.", updated_at=day) for one, day in texts]
    small = Index(documents, index.encoder)
    assert Search(small).search("refunds").fired == ("a", "b")
    aged = Search(small, Configuration(half_life_days=365), today=date(2026, 2, 1))
    assert aged.search("refunds").fired == ("b", "a")
    with pytest.raises(ValueError, match="today"):
        Search(small, Configuration(half_life_days=365))


def test_a_rewriter_adds_wordings(index):
    """What only another wording finds is in the list."""
    search = Search(index, Configuration(vector=False), rewriter=lambda query: ["EXP-1012"])
    assert search.search("zzz").fired[0] == "e11"


def test_every_stage_says_how_long_it_took(search):
    """In milliseconds."""
    assert set(search.search("refund").latency_ms) == {
        "understand",
        "keyword",
        "vector",
        "retrieve",
        "fuse",
        "rerank",
    }


def test_the_tool_keeps_its_schema(search):
    """A wrong call is answered, not raised; a right one has sources and lineage."""
    memory = Memory()
    emitter = Emitter(memory)
    tool = SearchTool(search, emitter.turn("s1"), role="direct_lookup")
    assert all("error" in tool(*wrong) for wrong in [("",), ("x", 0), ("x", True), (None,)])
    answer = tool("EXP-1012", top_k=2)
    emitter.close()
    event = json.loads(memory.records[1].value)
    assert [one["asset_id"] for one in answer["results"]] == event["returned_asset_ids"][:2]
    assert len(event["returned_asset_ids"]) > 2 and event["need_id"] and event["role"] == "direct_lookup"
    assert {one["retrieval_id"] for one in answer["results"]} == {event["retrieval_id"]}
    assert answer["results"][0]["source_id"] == "e11#0" and "[e11#0]" in answer["context"]
    assert SCHEMA["parameters"]["required"] == ["query"]
