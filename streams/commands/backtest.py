"""`lara backtest`: the figures of event files, from the same core over the in-memory store."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from attribution.entities import Entity, split_key
from attribution.events import Event, Judgement
from attribution.exclusion import excluded_by_itself
from attribution.parsing import Rejected, parse
from attribution.semantics import Semantics
from metrics.buckets import CounterReader
from metrics.figures import Metric, figures
from metrics.report import as_json as json_of
from metrics.report import report as tables_of
from metrics.windows import WINDOWS
from streams.settings import Settings, published
from streams.state.drive import drive
from streams.state.memory import MemoryStore

BATCH = 1000  # events settled at once; larger ones gain nothing


class NotKnown(Exception):
    """What was asked for is not there; the message says what."""


class Intake(NamedTuple):
    """What became of the lines of some files."""

    dispositions: Counter[str]
    reasons: Counter[str]


def lines_of(files: Iterable[Path]) -> Iterator[bytes]:
    """The lines of JSON-lines files, without empty ones. Raises OSError."""
    for file in files:
        with file.open("rb") as lines:
            yield from (line for line in (raw.strip() for raw in lines) if line)


async def settle_lines(lines: Iterable[bytes], semantics: Semantics) -> tuple[MemoryStore, Intake]:
    """Settle every line that is an event."""
    store, intake = MemoryStore(semantics), Intake(Counter(), Counter())
    term = await store.open()
    waiting: list[Event] = []

    async def settle() -> None:
        settled = await drive(waiting, semantics, store, term, "backtest")
        intake.dispositions.update(settled.dispositions)
        waiting.clear()

    for line in lines:
        found = parse(line)
        if isinstance(found, Rejected):
            intake.dispositions["invalid"] += 1
            intake.reasons[found.reason] += 1
        else:
            waiting.append(found)
        if len(waiting) >= BATCH:
            await settle()
    await settle()
    return store, intake


def latest_event(entities: dict[str, Entity], semantics: Semantics) -> int:
    """The latest `ts` (ms) of a standing prompt, retrieval, placement or action; 0 if there is none."""
    standing = (entity.standing for entity in entities.values())
    return max(
        (
            event.ts
            for event in standing
            if event is not None
            and not isinstance(event, Judgement)
            and not excluded_by_itself(event, semantics.exclusion)
        ),
        default=0,
    )


def compute(store: MemoryStore, settings: Settings, as_of: int) -> list[Metric]:
    """Every figure of a settled store as of a time (ms)."""
    return current_figures(store, settings, as_of)


def current_figures(
    reader: CounterReader, settings: Settings, as_of: int, windows: Sequence[str] = WINDOWS
) -> list[Metric]:
    """Every figure of whatever can be read, as a deployment's settings publish it."""
    definitions = published(settings.definitions)
    return figures(reader, as_of, definitions, settings.maturity_minutes, windows, settings.vocabularies)


def backtest(settings: Settings, files: Sequence[Path], as_of: int | None, as_json: bool) -> None:
    """Print the figures of some files."""
    semantics = settings.semantics
    store, intake = asyncio.run(settle_lines(lines_of(files), semantics))
    entities = store.entities()
    if not entities:
        raise NotKnown(
            f"{intake_line(intake)}: not one is an event (docs/topics.md says what one looks like)"
        )
    moment = latest_event(entities, semantics) if as_of is None else as_of
    print_figures(moment, compute(store, settings, moment), settings, as_json)
    kinds = Counter(split_key(key)[0] for key in entities)
    sys.stderr.write(f"{intake_line(intake)}; entities: {_listed(kinds)}\n")


def print_figures(as_of: int, metrics: Sequence[Metric], settings: Settings, as_json: bool) -> None:
    """As the contract's JSON, or as tables."""
    if as_json:
        sys.stdout.write(json_of(as_of, metrics) + "\n")
    else:
        Console().print(tables_of(as_of, metrics, published(settings.definitions)))


def intake_line(intake: Intake) -> str:
    """One line that accounts for every line read."""
    reasons = f" ({_listed(intake.reasons)})" if intake.reasons else ""
    read = sum(intake.dispositions.values())
    return f"read {read:,} records: {_listed(intake.dispositions)}{reasons}"


def _listed(counts: Counter[str]) -> str:
    return " · ".join(f"{name} {count:,}" for name, count in counts.most_common()) or "none"
