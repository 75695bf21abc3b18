"""The labelling sheet: every text comes back as it was, and whatever a spreadsheet made of the file is read or told."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.commands.sheet import (
    NEEDED,
    BadSheet,
    SheetRow,
    as_csv,
    as_json_lines,
    filled_rows,
    protect,
    unprotect,
)

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", " =cmd|' /C calc'!A0", "\t=1", "\r=1"]
REWRITTEN = ["007", "1E5", "1-2", "3/4", ".5", "12345678901234567890", "MAR1", "sept 2", "TRUE", "False"]
PLAIN = ["r1", "cat", "B01FLK0WBA", "marble", "true love", "a=1", "", "birthday (7)"]
texts = st.text() | st.sampled_from([*FORMULAS, *REWRITTEN, *PLAIN, "'", "''=", 'a,b;c\t"d"\r\ne', "\ufeff"])


def row(**fields):
    plain = {"retrieval_id": "r1", "request_id": "q1", "role": "browse", "surface": "chat", "query": "cat"}
    drawn = {"drawn": 1, "stratum_size": 3, "probability": 1 / 3, "weight": 3.0}
    return SheetRow(**{**plain, "position": 1, "asset_id": "a1", **drawn, **fields})


def sheet(*rows, shows_diagnosis=False):
    return "".join(as_csv(rows, shows_diagnosis)).encode()


def back(content):
    return [found.cells for found in filled_rows(content)]


@pytest.mark.parametrize("text", [*FORMULAS, *REWRITTEN])
def test_no_cell_begins_a_formula_a_number_or_a_date(text):
    """A spreadsheet would run or rewrite it; with an apostrophe in front it is text."""
    (_, cells) = csv.reader(io.StringIO(sheet(row(query=text, asset_id=text)).decode(), newline=""))
    assert [cell for cell in cells if cell.endswith(text)] == [f"'{text}", f"'{text}"]
    assert unprotect(protect(text)) == text


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_text_stays_as_it_is(text):
    """Judges copy ids into the catalogue."""
    assert protect(text) == text


@given(texts, texts, texts)
def test_every_text_comes_back_unharmed_from_both_formats(identity, query, asset):
    """Quotes, separators, line breaks, apostrophes and formulas."""
    one = row(retrieval_id=f"x{identity}", request_id=query, query=query, asset_id=asset)
    wanted = {"retrieval_id": f"x{identity}", "request_id": query, "asset_id": asset}
    for content in (sheet(one), "".join(as_json_lines([one])).encode()):
        (found,) = back(content)
        assert {name: found[name] for name in wanted} == wanted


def test_the_columns_are_those_of_the_page_and_the_diagnosis_only_if_asked_for():
    """Cells to fill are empty."""
    heading, cells = (line.split(",") for line in sheet(row()).decode().splitlines())
    assert heading == [
        *("retrieval_id", "request_id", "role", "surface", "query", "position", "asset_id"),
        *("grade", "retrieval_intents", "reached", "drawn", "stratum_size", "probability", "weight"),
    ]
    assert cells == ["r1", "q1", "browse", "chat", "cat", "1", "a1", "", "", "", "1", "3", f"{1 / 3}", "3.0"]
    shown = sheet(row(diagnosis="masked"), shows_diagnosis=True).decode().splitlines()
    assert dict(zip(*(line.split(",") for line in shown), strict=True))["diagnosis"] == "masked"
    assert "diagnosis" not in "".join(as_json_lines([row()]))


def test_a_retrieval_without_assets_has_empty_cells():
    """None is nothing, not a word."""
    (found,) = back(sheet(row(query=None, position=None, asset_id=None)))
    assert found["asset_id"] == ""


def filled(text):
    return text.encode() if isinstance(text, str) else text


HEADING = ",".join(NEEDED)


@pytest.mark.parametrize(
    "content",
    [
        f"\ufeff{HEADING}\r\nr1,q1,a1, 2 ,1,TRUE\r\n",
        f"{HEADING}\nr1,q1,a1,2,1,TRUE".replace(",", ";"),
        f"{HEADING}\nr1,q1,a1,2,1,TRUE\n\n,,,,,\n".replace(",", "\t"),
        "comment,reached,retrieval_intents,grade,asset_id,request_id,retrieval_id\nwhy, TRUE,1,2,a1,q1,r1",
        '{"retrieval_id":"r1","request_id":"q1","asset_id":"a1","grade":" 2","retrieval_intents":1,"reached":true}',
        '\n{"reached":"TRUE","retrieval_id":"r1","request_id":"q1","asset_id":"a1","grade":2,"retrieval_intents":1}\n\n',
    ],
    ids=["bom", "semicolons", "tabs", "moved columns", "json", "json with empty lines"],
)
def test_what_spreadsheets_and_programs_do_to_a_sheet_is_read(content):
    """A byte order mark, other separators, moved and added columns, empty rows, spaces around answers."""
    (found,) = back(filled(content))
    answers = (found["grade"], found["retrieval_intents"], found["reached"].upper())
    assert (found["retrieval_id"], found["request_id"], found["asset_id"]) == ("r1", "q1", "a1")
    assert answers == ("2", "1", "TRUE")


def test_rows_are_numbered_as_the_spreadsheet_does():
    """A text of two lines is in one row; an empty row has a number too."""
    content = f'{HEADING}\n"r\n1",q1,a1,,,\n\nr2,q2,a2,,,\n'.encode()
    assert [found.number for found in filled_rows(content)] == [2, 4]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "columns once: retrieval_id, request_id, asset_id, grade, retrieval_intents, reached"),
        (HEADING.replace("grade", "Grade"), "columns once: grade"),
        (f"{HEADING},grade", "columns once: grade"),
        (f"{HEADING}\nr1,q1,a1,2,,,surplus", "row 2 has 7 cells, the heading has 6"),
        (f'{HEADING}\n"r1"x,q1,a1,2,,', "no CSV near line 2"),
        (HEADING.encode() + b"\nr\xe9", "not UTF-8"),
        ("{", "line 1 is no object"),
        ('{"grade": [1]}', "line 1 is no object of plain cells"),
        ('{"retrieval_id": "r1", "request_id": "q1", "asset_id": "a"}', "line 1 lacks grade, retrieval_intents"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_place(content, said):
    """A sentence for whoever has the sheet open."""
    with pytest.raises(BadSheet, match=said):
        list(filled_rows(filled(content)))
