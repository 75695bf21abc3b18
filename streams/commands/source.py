"""Where a question is answered from: event files, settled here and now, or the live state."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from attribution.entities import Entity
from streams.commands.backtest import Intake, latest_event, lines_of, settle_lines
from streams.connections import store_of
from streams.settings import Settings
from streams.state.store import Store


class Source(NamedTuple):
    """Entities to read, the time by which they are judged (ms since the epoch), and what files held."""

    store: Store
    latest: int
    intake: Intake | None = None

    async def entity(self, key: str) -> Entity:
        """One entity; one that nobody wrote is empty."""
        return (await self.store.load([key])).get(key, Entity())

    async def entities(self, kind: str) -> AsyncIterator[tuple[str, Entity]]:
        """Every entity of a kind, each once, with its key."""
        seen: set[str] = set()
        async for page in self.store.scan(kind):
            for key, entity in page.items():
                if key not in seen:
                    seen.add(key)
                    yield key, entity


@asynccontextmanager
async def source(
    settings: Settings, files: Sequence[Path], any_meaning: bool = False
) -> AsyncIterator[Source]:
    """The state of some files as of their latest event, or, without files, the live state as of now.

    Live state that was counted under other settings raises `OtherMeaning`, unless any meaning will do.
    """
    if files:
        settled, intake = await settle_lines(lines_of(files), settings.semantics)
        yield Source(settled, latest_event(settled.entities(), settings.semantics), intake)
        return
    live = store_of(settings)
    try:
        if not any_meaning:
            await live.confirm()
        yield Source(live, int(time.time() * 1000))
    finally:
        await live.close()
