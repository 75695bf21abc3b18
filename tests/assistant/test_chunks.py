"""Documents are cut at their own boundaries, and nothing is lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.chunks import Span, chunks, sections

WORDS = st.sampled_from(
    [
        "# One\n",
        "## Two\n",
        "\n\n",
        "\n",
        "```python\n",
        "```\n",
        "def f():\n    return 1\n",
        "A sentence. ",
        "退款。",
        "x" * 50,
        " ",
    ]
)
TEXTS = st.lists(WORDS, max_size=40).map("".join) | st.text(max_size=300)


@given(TEXTS, st.integers(5, 60), st.data())
def test_no_text_is_lost_and_overlap_is_bounded(text, limit, data):
    """Chunks cover everything but white space, none is too long, and neighbours share at most the overlap."""
    overlap = data.draw(st.integers(0, limit - 1))
    found = chunks(text, limit, overlap)
    covered = {at for chunk in found for at in range(*chunk.span)}
    assert all(at in covered or one.isspace() for at, one in enumerate(text))
    assert all(0 < chunk.span.end - chunk.span.start <= limit for chunk in found)
    for before, after in pairwise(found):
        assert before.span.end - after.span.start <= overlap
        assert before.span.start < after.span.start or before.span.end < after.span.end


@given(TEXTS)
def test_a_chunk_lies_in_its_section(text):
    """A child never leaves its parent, so the parent that is given back holds what was found."""
    parents = sections(text)
    for chunk in chunks(text, 40, 10):
        parent = parents[chunk.section].span
        assert parent.start <= chunk.span.start and chunk.span.end <= parent.end


def test_a_section_keeps_the_headings_above_it():
    """The path is that of the headings; one in a code block is none."""
    text = "# A\n\n## B\n\n```\n# no heading\n```\n\n## C\n\nx\n"
    assert [section.path for section in sections(text)] == [("A",), ("A", "B"), ("A", "C")]


def test_code_is_cut_between_blank_lines_without_overlap():
    """Two functions that do not fit into one chunk are two chunks, whole."""
    one = "def first():\n    return 1\n"
    two = "def second():\n    return 2\n"
    text = f"```\n{one}\n{two}```\n"
    found = [text[slice(*chunk.span)] for chunk in chunks(text, 36, 20)]
    assert all(chunk.is_code for chunk in chunks(text, 36, 20))
    assert any(one.strip() in chunk for chunk in found) and any(two.strip() in chunk for chunk in found)


def test_neighbours_share_whole_sentences():
    """An answer that lies on a cut is in both chunks."""
    text = "One is first. Two is second. Three is third."
    assert [chunk.span for chunk in chunks(text, 30, 15)] == [Span(0, 28), Span(14, 44)]


@pytest.mark.parametrize("overlap", [-1, 10])
def test_an_overlap_must_fit(overlap):
    """An overlap as long as a chunk would never end."""
    with pytest.raises(ValueError, match="does not fit"):
        chunks("x", 10, overlap)
