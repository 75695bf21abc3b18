"""The third look: query and text read together. Slower and better than two halves that never meet."""

from collections.abc import Sequence
from typing import Any, Protocol


class Reranker(Protocol):
    """Whatever scores texts for a query."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A score a text; higher is better. They are compared within one query only."""


class CrossEncoderReranker:
    """Any cross-encoder of sentence-transformers. Raises ImportError if that is not installed."""

    def __init__(self, model: str) -> None:
        from sentence_transformers import CrossEncoder

        self._model: Any = CrossEncoder(model)

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """As `Reranker.scores`."""
        return [float(score) for score in self._model.predict([(query, text) for text in texts])]
