"""The labelling sheet: rows for people to fill in, as CSV for spreadsheets or as JSON lines, and back.

Rules:
- In CSV a cell of text that a spreadsheet would run or rewrite gets an apostrophe in front: a formula, what
  begins like a number or a date (007, 1E5, MAR1), true and false. Reading takes one apostrophe off, so every
  text comes back as it was.
- What is read back need not be what was written: columns may be moved or added, and the separator may have
  become ; or a tab. Columns that answers are read from must be there.
- A row is named by its number in the spreadsheet, where the heading is row 1; in JSON lines by its line.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

PROTECTED: Final = re.compile(
    r"\s*(?:[=+\-@＝＋－＠'.0-9]"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ ,./-]*[0-9]"
    r"|(?:true|false)\s*$)",
    re.IGNORECASE,
)
TEXTS: Final = frozenset({"retrieval_id", "request_id", "query", "asset_id"})
ANSWERS: Final = ("grade", "retrieval_intents", "reached")
NEEDED: Final = ("retrieval_id", "request_id", "asset_id", *ANSWERS)
LONGEST_CELL: Final = 2**21  # above any query that an event can carry


class BadSheet(Exception):
    """A sheet cannot be read; the message says where and why."""


class SheetRow(Struct, frozen=True, kw_only=True):
    """One listed asset of one drawn retrieval; of a retrieval without any, one row without asset."""

    retrieval_id: str
    request_id: str
    role: str
    surface: str
    query: str | None
    position: int | None = None
    asset_id: str | None = None
    grade: int | None = None
    retrieval_intents: int | None = None
    reached: bool | None = None
    diagnosis: str | UnsetType = UNSET
    drawn: int
    stratum_size: int
    probability: float
    weight: float


class Filled(NamedTuple):
    """A row as it came back: its number, and the text of its cells."""

    number: int
    cells: Mapping[str, str]


def protect(text: str) -> str:
    """The cell for a text."""
    return f"'{text}" if PROTECTED.match(text) else text


def unprotect(cell: str) -> str:
    """The text of a cell."""
    return cell.removeprefix("'")


def as_csv(rows: Iterable[SheetRow], shows_diagnosis: bool) -> Iterator[str]:
    """The lines of a sheet for a spreadsheet, the heading first."""
    columns = [name for name in SheetRow.__struct_fields__ if shows_diagnosis or name != "diagnosis"]
    yield _line(columns)
    for row in rows:
        yield _line([_cell(name, getattr(row, name)) for name in columns])


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    return protect(value) if name in TEXTS else str(value)


def _line(cells: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def as_json_lines(rows: Iterable[SheetRow]) -> Iterator[str]:
    """The lines of a sheet for programs; texts are as they were sent."""
    return (msgspec.json.encode(row).decode() + "\n" for row in rows)


def filled_rows(content: bytes) -> Iterator[Filled]:
    """The rows of a sheet that came back, in either format. Raises `BadSheet`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSheet(f"the sheet is not UTF-8 (save it as `CSV UTF-8`): {error}") from None
    return _of_json_lines(text) if text.lstrip().startswith("{") else _of_csv(text)


def _of_csv(text: str) -> Iterator[Filled]:
    csv.field_size_limit(LONGEST_CELL)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    try:
        columns = [name.strip() for name in next(lines, [])]
        _check_columns(columns)
        for number, cells in enumerate(lines, 2):
            if len(cells) > len(columns):
                raise BadSheet(f"row {number} has {len(cells)} cells, the heading has {len(columns)}")
            found = dict(zip(columns, cells, strict=False))
            if any(cells):
                yield Filled(number, {name: _text_of(name, found.get(name, "")) for name in NEEDED})
    except csv.Error as error:
        raise BadSheet(f"the sheet is no CSV near line {lines.line_num}: {error}") from None


def _separator(text: str) -> str:
    """What stands between the headings: spreadsheets of some countries save with ; in place of a comma."""
    heading = text.partition("\n")[0]
    return max(",;\t", key=heading.count)


def _check_columns(columns: list[str]) -> None:
    missing = [name for name in NEEDED if columns.count(name) != 1]
    if missing:
        raise BadSheet(f"the sheet must have each of these columns once: {', '.join(missing)}")


def _text_of(name: str, cell: str) -> str:
    return unprotect(cell) if name in TEXTS else cell.strip()


def _of_json_lines(text: str) -> Iterator[Filled]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = msgspec.json.decode(line, type=dict[str, str | int | float | bool | None])
        except msgspec.DecodeError as error:
            raise BadSheet(f"line {number} is no object of plain cells: {error}") from None
        missing = [name for name in NEEDED if name not in found]
        if missing:
            raise BadSheet(f"line {number} lacks {', '.join(missing)}")
        yield Filled(number, {name: _plain(name, found[name]) for name in NEEDED})


def _plain(name: str, value: str | int | float | bool | None) -> str:
    text = "" if value is None else str(value)  # True and False are read whatever their case
    return text if name in TEXTS else text.strip()
