"""What `lara doctor` notes of some records, for its tests."""

import asyncio

from attribution.semantics import Semantics
from streams.commands.backtest import settle_lines
from streams.commands.doctor_entities import Examiner
from streams.commands.doctor_findings import Finding, findings_of
from streams.commands.doctor_notes import Notes
from streams.commands.source import Source
from tests.building import DEFAULT, encoded


def examined(*sent: object, semantics: Semantics = DEFAULT) -> Notes:
    """The notes of these records, settled in this order."""

    async def read() -> Notes:
        store, _ = await settle_lines([encoded(one) for one in sent], semantics)
        return await Examiner(semantics).read(Source(store, 0))

    return asyncio.run(read())


def findings(*sent: object, semantics: Semantics = DEFAULT) -> dict[str, Finding]:
    """What is found in these records, by name."""
    return {one.name: one for one in findings_of(examined(*sent, semantics=semantics), None)}
