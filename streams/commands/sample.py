"""`lara sample`: a labelling sheet of retrievals drawn at random.

Rules:
- The population is every retrieval of the window that is in the figures: quiet, failed and successful ones.
- A row is a retrieval and one of the first assets of its list; an asset that the list repeats has one row, at
  its first position. A retrieval without any asset to grade has one row, for its intents and its goal.
- What lara thinks of a retrieval is not in the sheet unless it is asked for: it would sway the judges.
"""

import asyncio
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import UNSET

from attribution.events import request_of, role_of
from attribution.retrievals import Judged
from attribution.semantics import Semantics
from metrics.sampling import Drawn, Sample
from streams.commands.backtest import NotKnown
from streams.commands.population import Period, period, population
from streams.commands.sheet import SheetRow, as_csv, as_json_lines
from streams.commands.source import source
from streams.settings import Settings

STRATA: Final = ("role", "surface", "none")


class Design(NamedTuple):
    """How to draw, and what the sheet shows."""

    number: int
    by: str
    seed: int
    depth: int
    shows_verdict: bool
    window: str
    as_of: int | None


def sample(settings: Settings, files: Sequence[Path], design: Design, format_name: str) -> None:
    """Print the sheet of some files, or of the live state."""
    rows = list(asyncio.run(drawn_rows(settings, files, design)))
    if not rows:
        raise NotKnown(f"there is no retrieval to draw from in the window {design.window}")
    sheet = as_csv(rows, design.shows_verdict) if format_name == "csv" else as_json_lines(rows)
    sys.stdout.writelines(sheet)
    retrievals = len({row.retrieval_id for row in rows})
    sys.stderr.write(f"drew {retrievals:,} retrievals, {len(rows):,} rows\n")


async def drawn_rows(settings: Settings, files: Sequence[Path], design: Design) -> Iterator[SheetRow]:
    """The rows of a sheet, those of one retrieval together."""
    semantics = settings.semantics
    drawing: Sample[Judged] = Sample(design.number, design.seed)
    async with source(settings, files) as found:
        when = period(found, design.as_of, design.window, settings)
        async for one in population(found, semantics):
            if when.holds(one.record.ts):
                drawing.offer(_stratum(one, design.by, semantics), one.record.retrieval_id, one)
    return (row for one in drawing.drawn() for row in _rows(one, design, when, semantics))


def _stratum(one: Judged, by: str, semantics: Semantics) -> str:
    strata = {"role": role_of(one.record), "surface": semantics.surface(one.record.surface), "none": ""}
    return strata[by]


def _rows(one: Drawn[Judged], design: Design, when: Period, semantics: Semantics) -> Iterator[SheetRow]:
    record, verdict, _ = one.item
    diagnosis = verdict.diagnosis.at(when.mature(record.ts))
    for position, asset in _to_grade(record.returned_asset_ids or (), design.depth):
        yield SheetRow(
            retrieval_id=record.retrieval_id,
            request_id=request_of(record),
            role=role_of(record),
            surface=semantics.surface(record.surface),
            query=record.query,
            position=position,
            asset_id=asset,
            diagnosis=diagnosis if design.shows_verdict else UNSET,
            drawn=one.drawn,
            stratum_size=one.stratum_size,
            probability=one.probability,
            weight=one.weight,
        )


def _to_grade(returned: Iterable[str | None], depth: int) -> list[tuple[int | None, str | None]]:
    """(position, asset) of the assets to grade of the first `depth` positions; without any, one of None."""
    first: dict[str, int] = {}
    for position, asset in zip(range(1, depth + 1), returned, strict=False):
        if asset is not None:
            first.setdefault(asset, position)
    return [(position, asset) for asset, position in first.items()] or [(None, None)]
