"""Words, fusion, decay, budget, cache, documents: each part by itself."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.cache import Cache
from assistant.context import assemble, estimated_tokens
from assistant.documents import MASK, BadDocument, Document, load, masked
from assistant.fusion import decayed, reciprocal_rank_fusion
from assistant.permissions import candidates
from assistant.rerank import CrossEncoderReranker
from assistant.text import exact_tokens, tokens
from assistant.trained import Example, TrainedOnOtherHalf, half_of
from assistant.vectors import SentenceTransformerEncoder

IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)
GROUPS = st.frozensets(st.sampled_from(["sales", "staff", "legal"]))


def test_exact_tokens_stay_whole():
    """A version and an error code are one token each, also beside Chinese and in full width."""
    assert exact_tokens("升级到5.1.3后报ＵＰＬ－3301") == {"5.1.3", "upl-3301"}
    assert "4" not in tokens("4.2.1") and {"sign-on", "sign", "on"} <= set(tokens("sign-on"))


def test_chinese_is_cut_into_words():
    """A longer word is also found by the shorter ones in it."""
    assert {"退款", "自动"} <= set(tokens("退款 自动续费"))


@given(st.lists(IDS, max_size=4), st.randoms())
def test_fusion_does_not_depend_on_the_order_of_the_lists(lists, random):
    """Every id of any list is there once, and shuffled lists give the same order."""
    fused = reciprocal_rank_fusion(lists)
    shuffled = random.sample(lists, len(lists))
    assert list(reciprocal_rank_fusion(shuffled)) == list(fused)
    assert set(fused) == {one for ranked in lists for one in ranked}


@given(IDS)
def test_one_list_keeps_its_order(ranked):
    """Fused with nothing, a list stays what it is, whatever k."""
    assert list(reciprocal_rank_fusion([ranked, []], k=1)) == ranked


def test_an_older_document_falls_behind():
    """After one half-life a score is halved; of the future, or without age, it stays."""
    assert decayed({"old": 1.0, "new": 0.6, "next": 0.1}, {"old": 30, "next": -5}, 30) == {
        "new": 0.6,
        "old": 0.5,
        "next": 0.1,
    }


@given(st.lists(GROUPS, max_size=8), GROUPS)
def test_a_candidate_is_open_or_shares_a_group(access, groups):
    """Nobody is given what none of their groups may read, and nothing else is held back."""
    documents = [
        Document(document_id=str(number), text="x", updated_at=date(2026, 1, 1), access_groups=one)
        for number, one in enumerate(access)
    ]
    assert candidates(documents, groups, {}) == [not one or not one.isdisjoint(groups) for one in access]


@given(st.lists(st.text(max_size=40), max_size=6), st.integers(0, 60))
def test_a_context_stays_within_its_budget(texts, budget):
    """Headings and gaps count too, and what is cited is what is in it."""
    context = assemble([(f"d{number}#0", text) for number, text in enumerate(texts)], budget)
    assert context.tokens == estimated_tokens(context.text) <= budget
    assert all(f"[{source}]" in context.text for source in context.source_ids)


def test_the_cache_forgets_what_was_unused_for_longest():
    """And counts what it had and had not."""
    cache = Cache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("b"), cache.values(), cache.hits, cache.misses) == (None, [1, 3], 1, 1)


def test_sensitive_texts_are_masked():
    """What a document names, and every e-mail address and card number."""
    text = "Call 0123, mail a.b@example.com, card 4111 1111 1111 1111."
    document = Document(document_id="d", text=text, updated_at=date(2026, 1, 1), sensitive=("0123",))
    assert masked(document).text == f"Call {MASK}, mail {MASK}, card {MASK}."


def test_markdown_is_a_document(tmp_path):
    """Its head is the metadata."""
    path = tmp_path / "guide.md"
    path.write_text("---\ntitle: Guide\nupdated_at: 2026-01-02\naccess_groups: sales, staff\n---\n# Hello\n")
    [document] = load([path])
    assert (document.document_id, document.title, document.text) == ("guide", "Guide", "# Hello\n")
    assert document.access_groups == {"sales", "staff"}


@pytest.mark.parametrize(
    "line", ["{", '{"document_id": "a"}', '{"document_id":"a","text":"","updated_at":"x"}']
)
def test_a_bad_document_is_named_with_its_line(tmp_path, line):
    """Whoever wrote it finds it."""
    path = tmp_path / "d.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(BadDocument, match="line 2"):
        load([path])


@pytest.mark.parametrize("model", [CrossEncoderReranker, SentenceTransformerEncoder])
def test_models_of_a_hub_are_an_extra_of_their_own(model):
    """Without sentence-transformers they say what is missing."""
    try:
        import sentence_transformers  # noqa: F401  # only to know whether it is there
    except ImportError:
        with pytest.raises(ImportError, match="sentence_transformers"):
            model("any")


def test_a_query_is_reranked_by_the_model_of_the_other_half(index):
    """Labels of a query's own half change nothing in its scores."""
    queries = [f"query {number}" for number in range(12)]
    examples = [Example(one, ["query text", "other"], [True, False]) for one in queries]
    own = half_of(queries[0])
    turned = [one._replace(relevant=[False, True]) if half_of(one.query) == own else one for one in examples]
    scores = [
        TrainedOnOtherHalf(given, index.encoder).scores(queries[0], ["query text", "other"])
        for given in (examples, turned)
    ]
    assert scores[0] == scores[1] and scores[0][0] > scores[0][1]
