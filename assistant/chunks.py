"""A document cut at its own boundaries: sections are given back (parents), chunks of them are searched
(children).

Rules:
- Everything is a span of the document's text, so nothing can be lost or made up: the chunks of a document
  cover all of it but white space.
- A section begins at a heading and keeps the path of headings above it. A heading in a code block is none.
- Prose is cut between paragraphs, then sentences, then anywhere; a chunk begins with whole sentences of the
  one before, at most `overlap` characters. Code is cut between blank lines, then lines, and does not
  overlap.
- A limit is of characters: at most `limit` in a chunk.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

LIMIT: Final = (
    400  # about 100 English words, or 400 Chinese characters: what a sentence encoder was trained on
)
OVERLAP: Final = 80
HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*")
FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
SENTENCE: Final = re.compile(r"(?<=[。！？；])|(?<=[.!?])\s+|\n+")
PARAGRAPH: Final = re.compile(r"\n[ \t]*\n\s*")
LINE: Final = re.compile(r"(?<=\n)")


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a document's text."""

    start: int
    end: int


class Section(NamedTuple):
    """A parent: a heading with what follows up to the next, and the headings above it with its own."""

    span: Span
    path: tuple[str, ...]


class Chunk(NamedTuple):
    """A child: a piece of the section with this number."""

    section: int
    span: Span
    is_code: bool


def sections(text: str) -> list[Section]:
    """The sections of a Markdown text, in order; they cover it without gaps."""
    starts: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    path: list[tuple[int, str]] = []
    for start, line, in_code in _lines(text):
        heading = None if in_code else HEADING.fullmatch(line.rstrip("\n"))
        if heading:
            level = len(heading[1])
            path = [*(one for one in path if one[0] < level), (level, heading[2])]
            starts.append((start, tuple(title for _, title in path)))
    ends = [start for start, _ in starts[1:]] + [len(text)]
    found = [Section(Span(start, end), path) for (start, path), end in zip(starts, ends, strict=True)]
    return [section for section in found if text[slice(*section.span)].strip()]


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Every line: its start, itself, and whether it is of a code block (fences included)."""
    start, fence = 0, ""
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        yield start, line, bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        start += len(line)


def chunks(text: str, limit: int = LIMIT, overlap: int = OVERLAP) -> list[Chunk]:
    """The chunks of a text. Raises ValueError unless `0 <= overlap < limit`."""
    if not 0 <= overlap < limit:
        raise ValueError(f"an overlap of {overlap} does not fit into {limit} characters")
    found: list[Chunk] = []
    code_lines = [(start, start + len(line), in_code) for start, line, in_code in _lines(text)]
    for number, section in enumerate(sections(text)):
        inside = [one for one in code_lines if section.span.start <= one[0] < section.span.end]
        for block, is_code in _blocks(inside):
            pieces = _pieces(text, block, limit, (PARAGRAPH, LINE) if is_code else (PARAGRAPH, SENTENCE))
            packed = _pack(list(pieces), limit, 0 if is_code else overlap)
            found += [Chunk(number, span, is_code) for span in packed]
    return found


def _blocks(lines: Iterable[tuple[int, int, bool]]) -> list[tuple[Span, bool]]:
    """Neighbouring lines of one kind together."""
    blocks: list[tuple[Span, bool]] = []
    for start, end, is_code in lines:
        if blocks and blocks[-1][1] == is_code:
            blocks[-1] = (Span(blocks[-1][0].start, end), is_code)
        else:
            blocks.append((Span(start, end), is_code))
    return blocks


def _pieces(text: str, span: Span, limit: int, boundaries: Sequence[re.Pattern[str]]) -> Iterator[Span]:
    """Spans without outer white space, none longer than the limit; finer boundaries only where they must."""
    span = _stripped(text, span)
    if span.start == span.end:
        return
    if not boundaries:
        yield from (Span(at, min(at + limit, span.end)) for at in range(span.start, span.end, limit))
        return
    cuts = [span.start, *(one.end() for one in boundaries[0].finditer(text, *span)), span.end]
    for start, end in pairwise(cuts):
        piece = _stripped(text, Span(start, end))
        if boundaries[0] is SENTENCE and piece.end - piece.start <= limit and piece.start < piece.end:
            yield piece
        else:
            yield from _pieces(text, piece, limit, boundaries[1:])


def _stripped(text: str, span: Span) -> Span:
    inner = text[slice(*span)]
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, max(start, span.end - len(inner) + len(inner.rstrip())))


def _pack(pieces: Sequence[Span], limit: int, overlap: int) -> Iterator[Span]:
    """As many pieces in a chunk as fit; the next begins with the last ones that fit into the overlap."""
    first, past = 0, 0
    while past < len(pieces):
        begun = past
        while past < len(pieces) and pieces[past].end - pieces[first].start <= limit:
            past += 1
        if past == begun:  # with the overlap the next piece does not fit: leave some of it out
            first += 1
            continue
        end = pieces[past - 1].end
        yield Span(pieces[first].start, end)
        first = past
        while first > begun and end - pieces[first - 1].start <= overlap:
            first -= 1
