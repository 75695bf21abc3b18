"""The keyword half: BM25 over tokens."""

from collections.abc import Sequence

import bm25s
import numpy as np
from numpy.typing import NDArray

from assistant.text import tokens

Scores = NDArray[np.float32]


class Keyword:
    """BM25 (Lucene's form, k1 1.5, b 0.75) over texts. How rare a word is, is counted over all of them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._model = bm25s.BM25()
        self._model.index([tokens(text) for text in texts], show_progress=False)
        self._known = frozenset(self._model.vocab_dict)
        self._size = len(texts)

    def scores(self, query: str) -> Scores:
        """A score a text, 0 where it shares no word with the query."""
        known = [token for token in tokens(query) if token in self._known]
        if not known:
            return np.zeros(self._size, np.float32)
        return np.asarray(self._model.get_scores(known), np.float32)
