"""Documents with their metadata, from JSON lines or Markdown.

Rules:
- A Markdown file is one document: `key: value` lines between two `---` lines, then the text. Its id is the
  file's name without the ending, unless the head gives one.
- No access group means that everybody may read it.
- What is sensitive is masked when a document is loaded: the value itself is in no index, cache, context or
  log.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Final

import msgspec

MASK: Final = "█████"
E_MAIL: Final = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b", re.ASCII)
CARD_NUMBER: Final = re.compile(r"(?<!\d)(?:\d[ -]?){15}\d(?!\d)", re.ASCII)
HEAD: Final = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What is searched: `text` is Markdown; `sensitive` are texts in it that nobody is to see."""

    document_id: str
    text: str
    updated_at: date
    title: str = ""
    product_line: str = ""
    kind: str = ""
    access_groups: frozenset[str] = frozenset()
    sensitive: tuple[str, ...] = ()


class BadDocument(ValueError):
    """A document that cannot be read, with its file and line."""


def load(paths: Iterable[Path]) -> list[Document]:
    """The documents of `.jsonl` and `.md` files, masked. Raises `BadDocument`, for an id twice too."""
    found: dict[str, Document] = {}
    for path in paths:
        for document in _markdown(path) if path.suffix == ".md" else _lines(path):
            if document.document_id in found:
                raise BadDocument(f"{path}: document {document.document_id} is there twice")
            found[document.document_id] = masked(document)
    return list(found.values())


def _lines(path: Path) -> Iterator[Document]:
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            try:
                yield msgspec.json.decode(line, type=Document)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise BadDocument(f"{path}, line {number}: {error}") from None


def _markdown(path: Path) -> Iterator[Document]:
    whole = path.read_text("utf-8")
    head = HEAD.match(whole)
    if head is None:
        raise BadDocument(f"{path}: no head of `key: value` lines between two lines of ---")
    pairs = (line.partition(":") for line in head[1].splitlines() if line.strip())
    fields: dict[str, object] = {key.strip(): value.strip() for key, _, value in pairs}
    for name in ("access_groups", "sensitive"):
        if name in fields:
            fields[name] = [part.strip() for part in str(fields[name]).split(",") if part.strip()]
    try:
        yield msgspec.convert({"document_id": path.stem, **fields, "text": whole[head.end() :]}, Document)
    except msgspec.ValidationError as error:
        raise BadDocument(f"{path}: {error}") from None


def masked(document: Document) -> Document:
    """The document without its sensitive texts, e-mail addresses and card numbers."""
    return msgspec.structs.replace(
        document,
        text=_hide(document.text, document.sensitive),
        title=_hide(document.title, document.sensitive),
        sensitive=(),
    )


def _hide(text: str, sensitive: Iterable[str]) -> str:
    for value in sorted(filter(None, sensitive), key=len, reverse=True):
        text = text.replace(value, MASK)
    return CARD_NUMBER.sub(MASK, E_MAIL.sub(MASK, text))
