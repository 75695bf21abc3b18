"""The example, indexed once, and an emitter's records in memory."""

from pathlib import Path

import pytest

import assistant
from assistant.documents import load
from assistant.evaluation import evaluate, load_cases, with_reranker
from assistant.index import Index
from assistant.search import Search
from assistant.vectors import UniversalSentenceEncoder
from streams.commands.evaluate import layer_one

EXAMPLES = Path(assistant.__path__[0]) / "examples"


@pytest.fixture(scope="session")
def index():
    return Index(load([EXAMPLES / "documents.jsonl"]), UniversalSentenceEncoder())


@pytest.fixture
def search(index):
    search = Search(index)
    yield search
    search.close()


@pytest.fixture(scope="session")
def cases():
    return load_cases([EXAMPLES / "queries.jsonl"])


@pytest.fixture(scope="session")
def scored(index, cases):
    """What every stage of the example scores."""
    return evaluate(with_reranker(Search(index), cases), cases, layer_one)
