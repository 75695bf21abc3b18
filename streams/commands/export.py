"""`lara export`: retrievals with their lists, uses, labels and verdicts, for evaluation elsewhere.

Rules:
- One record a retrieval of the window that is in the figures. From files they come by time, then id; from the
  live state in no order.
- The live state is read, and written out, a page at a time.
- A file is written beside its place and then renamed: there is the whole of it or none of it, and only its
  owner may read it. A pipe or a device is written as it is.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from streams.commands.exported import Exported, exported, ragas_sample
from streams.commands.population import period, population
from streams.commands.source import source
from streams.settings import Settings

PAGE: Final = 1_000  # records written at once


class Choice(NamedTuple):
    """What to export, and where to (None: standard output)."""

    format_name: str
    output: Path | None
    window: str
    as_of: int | None


class Writer(Protocol):
    """A format over an open file."""

    def write(self, page: Sequence[Exported]) -> int:
        """Write what the format can hold of some records; how many they were."""

    def close(self) -> None:
        """Write what ends the file."""


class JsonLines:
    """One JSON object a line."""

    def __init__(self, out: IO[bytes], record: Callable[[Exported], Struct | None]) -> None:
        self._out, self._record = out, record

    def write(self, page: Sequence[Exported]) -> int:
        """As `Writer.write`."""
        records = [found for one in page if (found := self._record(one)) is not None]
        self._out.write(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
        return len(records)

    def close(self) -> None:
        """As `Writer.close`: nothing does."""


def _parquet(out: IO[bytes]) -> Writer:
    from streams.commands.parquet import Parquet

    return Parquet(out)


FORMATS: Final[dict[str, Callable[[IO[bytes]], Writer]]] = {
    "jsonl": lambda out: JsonLines(out, lambda one: one),
    "parquet": _parquet,
    "ragas": lambda out: JsonLines(out, ragas_sample),
}


def export(settings: Settings, files: Sequence[Path], choice: Choice) -> None:
    """Write the retrievals of some files, or of the live state."""
    with opened(choice.output) as out:
        writer = FORMATS[choice.format_name](out)
        written, found = asyncio.run(_write(settings, files, choice, writer))
        writer.close()
    left_out = f" of {found:,}; the others have no query, list or label" if written < found else ""
    sys.stderr.write(f"exported {written:,} retrievals{left_out}\n")


async def _write(
    settings: Settings, files: Sequence[Path], choice: Choice, writer: Writer
) -> tuple[int, int]:
    written, found = 0, 0
    page: list[Exported] = []
    async for record in records(settings, files, choice):
        page.append(record)
        if len(page) == PAGE:
            written, found = written + writer.write(page), found + len(page)
            page.clear()
    return written + writer.write(page), found + len(page)


async def records(settings: Settings, files: Sequence[Path], choice: Choice) -> AsyncIterator[Exported]:
    """The record of every retrieval, in the order of the export."""
    semantics = settings.semantics
    sorted_later: list[Exported] = []
    async with source(settings, files) as found:
        when = period(found, choice.as_of, choice.window, settings)
        async for one in population(found, semantics):
            if when.holds(one.record.ts):
                record = exported(one, when.mature(one.record.ts), semantics)
                if files:
                    sorted_later.append(record)
                else:
                    yield record
    for record in sorted(sorted_later, key=lambda one: (one.ts, one.retrieval_id)):
        yield record


@contextmanager
def opened(output: Path | None) -> Iterator[IO[bytes]]:
    """Where to write: a file that takes its place when all went well, or standard output."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif output.exists() and not output.is_file():
        with output.open("wb") as out:
            yield out
    else:
        target = output.resolve()
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as out:
            try:
                yield out
                out.flush()
                os.fsync(out.fileno())
                Path(out.name).replace(target)
            finally:
                Path(out.name).unlink(missing_ok=True)
