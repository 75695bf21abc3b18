"""What the explanations share: where they look, how they are printed, and what is said of an unknown id.

Rules:
- An explanation is made once, as data and as words, from states that the core made; it computes nothing.
- Words are lines of rich markup; what a producer sent is escaped.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from rich.console import Console

from attribution.entities import Entity, key_of
from attribution.events import EVENT
from attribution.semantics import Semantics
from metrics.counted import Values
from streams.commands.backtest import NotKnown
from streams.commands.source import Source, source
from streams.settings import Settings

EXPLAINED: Final = ("retrieval", "action", "document")
NEVER_READ: Final = ": no record of it was accepted (what is invalid or late is a dead letter), or it is gone"


class Question(NamedTuple):
    """Where to look, by which settings, and the time by which figures are judged (ms since the epoch)."""

    known: Source
    settings: Settings
    moment: int

    @property
    def semantics(self) -> Semantics:
        """The meaning of the figures."""
        return self.settings.semantics

    @property
    def values(self) -> Values:
        """The values of every label that is a figure's own."""
        names = tuple(definition.name for definition in self.settings.definitions)
        return {**self.settings.vocabularies, "definition": names}

    async def entity(self, kind: str, identity: str | None) -> Entity:
        """One entity; without a name, one that nobody wrote."""
        return await self.known.entity(key_of(kind, identity)) if identity is not None else Entity()

    async def asked_for(self, kind: str, identity: str) -> Entity:
        """The entity that the question is about. Raises `NotKnown`."""
        entity = await self.entity(kind, identity)
        if entity != Entity():
            return entity
        # An event_id that looks like the id of a placing, or like this prefix, is kept under the prefix.
        names = [("action", f"{EVENT}{identity}"), *((other, identity) for other in EXPLAINED)]
        known = [f"{other} {name}" for other, name in names if await self.entity(other, name) != Entity()]
        hint = f"; ask for: {', '.join(known)}" if known else NEVER_READ
        raise NotKnown(f"nothing is known of {'an' if kind == 'action' else 'a'} {kind} {identity}{hint}")


class Explanation(NamedTuple):
    """For programs, and for people."""

    data: dict[str, Any]
    words: Iterable[str]


Explain = Callable[[str, Question], Awaitable[Explanation]]


def answer(
    explain: Explain,
    settings: Settings,
    identity: str,
    files: Sequence[Path],
    as_of: int | None,
    as_json: bool,
) -> None:
    """Print one explanation, from files or from the live state."""
    found = asyncio.run(_explained(explain, settings, identity, files, as_of))
    if as_json:
        sys.stdout.write(msgspec.json.encode(found.data).decode() + "\n")
        return
    console = Console(soft_wrap=True, highlight=False, emoji=False)
    for line in found.words:
        console.print(line)


async def _explained(
    explain: Explain, settings: Settings, identity: str, files: Sequence[Path], as_of: int | None
) -> Explanation:
    async with source(settings, files) as known:
        moment = known.latest if as_of is None else as_of
        return await explain(identity, Question(known, settings, moment))
