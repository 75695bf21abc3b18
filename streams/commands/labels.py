"""`lara labels`: a filled sheet becomes judgement events.

Rules:
- An empty cell is no answer. Any other is an event or a mistake: with one mistake nothing is printed, and
  every mistake is told with its row.
- `grade` is about the retrieval and the asset of its row, `reached` about the retrieval, `retrieval_intents`
  about the request. The latter two may stand on any row of theirs. Two answers to one thing must agree.
- The event_id comes from what is said of what, by whom: read twice, a sheet gives the same events, and a
  changed answer gives another one, which is newer and so holds. A time that is given (`--ts`) is part of it:
  only so can an answer go back to one that was given before.
- Every event is read by the parser that workers use before it is printed.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from attribution.parsing import Rejected, parse
from metrics.report import instant
from streams.commands.sheet import BadSheet, Filled, filled_rows

MISTAKES_TOLD: Final = 20
WHOLE: Final = re.compile(r"-?[0-9]{1,18}")
FLAGS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _whole(cell: str) -> int:
    if WHOLE.fullmatch(cell) is None:
        raise ValueError("a whole number")
    return int(cell)


def _flag(cell: str) -> bool:
    if cell.casefold() not in FLAGS:
        raise ValueError(f"one of {', '.join(FLAGS)}")
    return FLAGS[cell.casefold()]


class Answer(NamedTuple):
    """A column to fill: what kind of judgement it makes, and about what."""

    column: str
    kind: str
    about: tuple[str, ...]
    read: Callable[[str], int | bool]


ANSWERS: Final = (
    Answer("grade", "relevance", ("retrieval_id", "asset_id"), _whole),
    Answer("retrieval_intents", "intent", ("request_id",), _whole),
    Answer("reached", "goal", ("retrieval_id",), _flag),
)


class Signature(NamedTuple):
    """Who judged, and when: `given` if the time was asked for."""

    judge: str
    ts: int
    given: bool


def labels(sheet: Path, judge: str, ts: int | None) -> None:
    """Print the judgements of a sheet, one JSON object a line."""
    signature = Signature(judge, int(time.time() * 1000) if ts is None else ts, ts is not None)
    rows = list(filled_rows(sheet.read_bytes()))
    events = judgements(rows, signature)
    sys.stdout.writelines(msgspec.json.encode(event).decode() + "\n" for event in events)
    counts = Counter(event["kind"] for event in events)
    told = " · ".join(f"{answer.kind} {counts[answer.kind]:,}" for answer in ANSWERS)
    empty = sum(not row.cells["grade"] for row in rows)
    sys.stderr.write(f"read {len(rows):,} rows, {empty:,} of them without grade: {told}\n")


def judgements(rows: Iterable[Filled], signature: Signature) -> list[dict[str, Any]]:
    """The events of filled rows. Raises `BadSheet` with every mistake."""
    found: dict[tuple[str, ...], tuple[int, dict[str, Any]]] = {}
    mistakes: list[str] = []
    for row in rows:
        for answer in ANSWERS:
            if row.cells[answer.column]:
                mistakes += _read(row, answer, signature, found)
    if mistakes:
        more = len(mistakes) - MISTAKES_TOLD
        raise BadSheet("\n".join([*mistakes[:MISTAKES_TOLD], *([f"… and {more} more"] if more > 0 else [])]))
    return [event for _, event in found.values()]


def _read(
    row: Filled,
    answer: Answer,
    signature: Signature,
    found: dict[tuple[str, ...], tuple[int, dict[str, Any]]],
) -> Iterator[str]:
    """Note the answer of one cell; what is wrong with it comes back."""
    about = {name: row.cells[name] for name in answer.about}
    missing = [name for name, value in about.items() if not value]
    if missing:
        yield f"row {row.number}: {answer.column} is filled, but there is no {' and no '.join(missing)}"
        return
    try:
        value = answer.read(row.cells[answer.column])
    except ValueError as wanted:
        yield f"row {row.number}: {answer.column} must be {wanted}, not {row.cells[answer.column]!r}"
        return
    event = _event(answer, about, value, signature)
    read = parse(msgspec.json.encode(event))
    if isinstance(read, Rejected):
        yield f"row {row.number}: {answer.column}: {read.detail}"
        return
    number, known = found.setdefault((answer.kind, *about.values()), (row.number, event))
    if known != event:
        told = f"{answer.column} is {value} here and {known[answer.column]} in row {number}"
        yield f"row {row.number}: {told}, for the same {' and '.join(about)}"


def _event(
    answer: Answer, about: Mapping[str, str], value: int | bool, signature: Signature
) -> dict[str, Any]:
    said = [
        answer.kind,
        signature.judge,
        *about.values(),
        value,
        *([signature.ts] if signature.given else []),
    ]
    identity = blake2b(msgspec.json.encode(said), digest_size=16).hexdigest()
    return {
        "type": "judgement",
        "event_id": f"label-{identity}",
        "ts": instant(signature.ts),
        "kind": answer.kind,
        **about,
        answer.column: value,
        "judge": signature.judge,
    }
