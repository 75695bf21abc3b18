"""What is searched: masked documents, their sections and chunks, and both halves over the chunks.

Rules:
- The version is a digest of all that was indexed, so that a result of another index is never taken for one
  of this.
- A chunk is searched with the headings above it: a paragraph seldom repeats what it is about.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from assistant.chunks import LIMIT, OVERLAP, Section, chunks, sections
from assistant.documents import Document, masked
from assistant.keyword import Keyword
from assistant.vectors import Encoder

Mask = NDArray[np.bool_]


class Place(NamedTuple):
    """Where a chunk belongs: the document's number, and the section's in it."""

    document: int
    section: int


class Index:
    """Documents ready to be searched. Raises ValueError if there are none."""

    def __init__(
        self, documents: Sequence[Document], encoder: Encoder, limit: int = LIMIT, overlap: int = OVERLAP
    ) -> None:
        if not documents:
            raise ValueError("there is no document to search")
        self.documents = [masked(document) for document in documents]
        self.places: list[Place] = []
        texts: list[str] = []
        for number, document in enumerate(self.documents):
            parents = sections(document.text)
            for chunk in chunks(document.text, limit, overlap):
                self.places.append(Place(number, chunk.section))
                heading = (document.title, *parents[chunk.section].path)
                texts.append(
                    "\n".join([*dict.fromkeys(filter(None, heading)), document.text[slice(*chunk.span)]])
                )
        self.encoder = encoder
        self._keyword = Keyword(texts)
        self._vectors = encoder.encode(texts)
        self._of_document = np.array([place.document for place in self.places])
        content = msgspec.json.encode([self.documents, texts, self._vectors.shape], order="sorted")
        self.version = blake2b(content + self._vectors.tobytes(), digest_size=8).hexdigest()

    def section(self, place: Place) -> tuple[Section, str]:
        """A parent and its text."""
        document = self.documents[place.document]
        section = sections(document.text)[place.section]
        return section, document.text[slice(*section.span)].strip()

    def by_keyword(self, query: str, candidates: Sequence[bool], depth: int) -> list[Place]:
        """The best chunk of each candidate document that shares a word with the query, best first."""
        scores = self._keyword.scores(query)
        return self._best(scores, self._rows(candidates) & (scores > 0), depth)

    def by_vector(self, query: str, candidates: Sequence[bool], depth: int) -> list[Place]:
        """The best chunk of each candidate document by cosine, best first."""
        scores = self._vectors @ self.encoder.encode([query])[0]
        return self._best(scores, self._rows(candidates), depth)

    def _rows(self, candidates: Sequence[bool]) -> Mask:
        rows: Mask = np.asarray(candidates, np.bool_)[self._of_document]
        return rows

    def _best(self, scores: NDArray[np.float32], rows: Mask, depth: int) -> list[Place]:
        """A place a document; rows that are out are not looked at. Ties by document_id, then by section."""
        best: dict[int, tuple[float, str, Place]] = {}
        for row in np.flatnonzero(rows):
            place = self.places[row]
            key = (-float(scores[row]), self.documents[place.document].document_id, place)
            best[place.document] = min(key, best.get(place.document, key))
        return [place for _, _, place in sorted(best.values())[:depth]]
