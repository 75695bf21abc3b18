"""Does search find what people judged relevant? Every stage of every query, and two stages query by query.

Rules:
- What a list scores is the caller's `Scorer`: lara's own Layer 1, so that a score here is one of the live
  figures.
- Two lists are compared over the same queries by flipping the signs of their differences at random (a
  paired permutation test, two-sided, seeded). Of several slices the p-values are Holm's.
- A slice gets worse if its mean falls and its p is below `ALPHA`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np

from assistant.cache import Cache
from assistant.search import STAGES, Search
from assistant.trained import Example, TrainedOnOtherHalf

ALPHA: Final = 0.05
FLIPS: Final = 9_999  # with the one that happened 10,000: p is known to about 0.004 at 0.05
ALL: Final = "all"

Scorer: TypeAlias = Callable[[Sequence[str], Mapping[str, int]], Mapping[str, float]]
Scores: TypeAlias = Sequence[Mapping[str, Mapping[str, float]]]  # a query: stage -> metric -> score


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A query and its grades, 0 (irrelevant) to 2 by document id. `groups` are the asker's."""

    query: str
    grades: dict[str, int]
    slice: str = "other"
    language: str = ""
    groups: frozenset[str] = frozenset()


class Difference(NamedTuple):
    """Candidate less baseline in one slice; p is Holm's."""

    slice: str
    mean: float
    p: float
    better: int
    worse: int
    n: int

    @property
    def regressed(self) -> bool:
        """Is the candidate surely worse here?"""
        return self.mean < 0 and self.p < ALPHA


class BadSet(ValueError):
    """A set that cannot be read, with its line."""


def load_cases(paths: Iterable[Path]) -> list[Case]:
    """The cases of JSON lines. Raises `BadSet`, for a query twice or without relevant document too."""
    found: dict[str, Case] = {}
    for path in paths:
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if line.strip():
                case = _case(line, f"{path}, line {number}")
                if found.setdefault(case.query, case) is not case:
                    raise BadSet(f"{path}, line {number}: the query is there twice: {case.query}")
    if not found:
        raise BadSet("no case in the set")
    return list(found.values())


def _case(line: bytes, where: str) -> Case:
    try:
        case = msgspec.json.decode(line, type=Case)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadSet(f"{where}: {error}") from None
    if not all(0 <= grade <= 2 for grade in case.grades.values()):
        raise BadSet(f"{where}: grades are 0, 1 and 2")
    if not any(case.grades.values()):
        raise BadSet(f"{where}: no document is relevant")
    return case


def unknown_documents(search: Search, cases: Iterable[Case]) -> list[str]:
    """Ids that are graded and in no document: their grades can never be earned."""
    graded = {one for case in cases for one in case.grades}
    return sorted(graded - {one.document_id for one in search.index.documents})


def with_reranker(search: Search, cases: Sequence[Case]) -> Search:
    """The same search with a reranker trained on the other half of the cases, on what it will see."""
    index, seen = search.index, _Seen()
    training = Search(
        index, search.configuration, seen, cache=Cache(size=0)
    )  # else a query's texts are another's
    examples = []
    for case in cases:
        seen.texts = ()
        fired = training.search(case.query, groups=case.groups).fired
        relevant = [case.grades.get(one, 0) > 0 for one in fired[: len(seen.texts)]]
        if relevant:
            examples.append(Example(case.query, seen.texts, relevant))
    training.close()
    return Search(index, search.configuration, TrainedOnOtherHalf(examples, index.encoder))


class _Seen:
    """A reranker that changes nothing and keeps what it was shown last."""

    texts: Sequence[str] = ()

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.texts = texts
        return [0.0] * len(texts)


def evaluate(search: Search, cases: Sequence[Case], scorer: Scorer) -> Scores:
    """What the list of every stage scores, query by query."""
    scored = []
    for case in cases:
        stages = search.search(case.query, groups=case.groups).stages
        scored.append({stage: scorer(stages[stage], case.grades) for stage in STAGES})
    return scored


def slices(cases: Sequence[Case]) -> dict[str, list[int]]:
    """Slice, language and all -> the numbers of their cases."""
    found: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        for name in filter(None, (case.slice, case.language)):
            found.setdefault(name, []).append(number)
    return {**found, ALL: list(range(len(cases)))}


def permutation_p(differences: Sequence[float], seed: int = 1) -> float:
    """How often signs flipped at random make a mean at least as far from 0; 1 / 10,000 at the least."""
    given = np.asarray(differences, np.float64)
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), (FLIPS, len(given)))
    as_far = np.abs(signs @ given) >= abs(given.sum()) - 1e-9
    return (int(as_far.sum()) + 1) / (FLIPS + 1)


def compare(
    baseline: Sequence[float], candidate: Sequence[float], members: Mapping[str, Sequence[int]], seed: int = 1
) -> list[Difference]:
    """The candidate against the baseline, slice by slice."""
    apart = [new - old for old, new in zip(baseline, candidate, strict=True)]
    inside = {name: [apart[number] for number in numbers] for name, numbers in members.items()}
    p = _holm({name: permutation_p(values, seed) for name, values in inside.items()})
    return [
        Difference(
            name,
            sum(values) / len(values),
            p[name],
            sum(value > 0 for value in values),
            sum(value < 0 for value in values),
            len(values),
        )
        for name, values in inside.items()
    ]


def _holm(p: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down: the smallest p times their number, the next times one less, and never falling."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(p, key=lambda one: p[one])):
        highest = max(highest, min(1.0, p[name] * (len(p) - rank)))
        adjusted[name] = highest
    return adjusted
