"""A small reranker trained on the other half of an evaluation set, so that the last stage can be tried
without a model from a hub.

Rules:
- A query is reranked by a model that has never seen a label of its half: two halves, by a hash of the
  query.
- It is a logistic regression on five features of a query and a text. It says what a trained reranker could
  add on this set, and is none to use elsewhere.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assistant.text import HAN, exact_tokens, normalised, tokens
from assistant.vectors import Encoder

Numbers = NDArray[np.float64]
STEPS: Final = 500  # on the example the loss then changes by less than 1e-6 a step
RATE: Final = 0.5
RIDGE: Final = 0.01


class Example(NamedTuple):
    """A query, texts found for it, and for each whether it is relevant."""

    query: str
    texts: Sequence[str]
    relevant: Sequence[bool]


def half_of(query: str) -> int:
    """0 or 1, by the query alone."""
    return blake2b(normalised(query).encode(), digest_size=1).digest()[0] % 2


class TrainedOnOtherHalf:
    """A `Reranker` of two models: each half of the queries is scored by that of the other."""

    def __init__(self, examples: Iterable[Example], encoder: Encoder) -> None:
        self._encoder = encoder
        halves: tuple[list[Example], list[Example]] = ([], [])
        for example in examples:
            halves[half_of(example.query)].append(example)
        self._weights = (self._fit(halves[1]), self._fit(halves[0]))

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """As `Reranker.scores`."""
        return [float(one) for one in self._features(query, texts) @ self._weights[half_of(query)]]

    def _fit(self, examples: Sequence[Example]) -> Numbers:
        """Weights by gradient descent; every query counts the same, however many texts it has."""
        if not examples:
            raise ValueError("one half of the queries has no example: the set is too small to rerank")
        features = np.vstack([self._features(one.query, one.texts) for one in examples])
        wanted = np.concatenate([np.asarray(one.relevant, np.float64) for one in examples])
        weights = np.zeros(features.shape[1])
        for _ in range(STEPS):
            error = 1 / (1 + np.exp(-features @ weights)) - wanted
            weights -= RATE * (features.T @ error / len(wanted) + RIDGE * weights)
        return weights

    def _features(self, query: str, texts: Sequence[str]) -> Numbers:
        """(texts, 6): shares of words, of exact tokens, of character pairs; cosine, same script, 1."""
        vectors = self._encoder.encode([query, *texts])
        words, exact, pairs = set(tokens(query)), exact_tokens(query), _pairs(query)
        rows = [
            (
                _share(words, set(tokens(text))),
                _share(exact, exact_tokens(text)),
                _share(pairs, _pairs(text)),
                float(vectors[0] @ vector),
                float(_is_chinese(query) == _is_chinese(text)),
                1.0,
            )
            for text, vector in zip(texts, vectors[1:], strict=True)
        ]
        return np.array(rows, np.float64)


def _share(of: set[str], among: set[str]) -> float:
    return len(of & among) / len(of) if of else 0.0


def _pairs(text: str) -> set[str]:
    plain = normalised(text)
    return {plain[at : at + 2] for at in range(len(plain) - 1)}


def _is_chinese(text: str) -> bool:
    return any(HAN[0] <= one <= HAN[-1] for one in text)
