"""The retrievals that samples, rankings and exports are made of: all of a window that are in the figures.

Rules:
- A window is that of the contract, by the retrieval's own event time: `E - w <= ts < E`, E a whole minute.
- An excluded retrieval, and one that was only claimed and never logged, is left out.
- The state is read a page at a time; all that is kept of it are the ids that were seen.
"""

from collections.abc import AsyncIterator
from typing import NamedTuple

from attribution.retrievals import Judged, judged
from attribution.semantics import Semantics, minute_of
from metrics.buckets import Span
from metrics.windows import LIVE, SETTLED, end_minute, slice_of
from streams.commands.source import Source
from streams.settings import Settings


class Period(NamedTuple):
    """A window at a time (ms): its minutes by cohort."""

    as_of: int
    window: str
    spans: dict[str, Span]

    def holds(self, ts: int) -> bool:
        """Does a retrieval of this time (ms) lie in the window?"""
        return self.spans[LIVE].holds(minute_of(ts))

    def mature(self, ts: int) -> bool:
        """Is a retrieval of this time (ms) old enough to be called unobserved?"""
        return minute_of(ts) < self.spans[SETTLED].end


def period(found: Source, as_of: int | None, window: str, settings: Settings) -> Period:
    """The window as of the given time, or of the source's own latest."""
    moment = found.latest if as_of is None else as_of
    end = end_minute(moment)
    spans = {
        cohort: slice_of(window, cohort, end, settings.maturity_minutes).whole for cohort in (LIVE, SETTLED)
    }
    return Period(moment, window, spans)


async def population(found: Source, semantics: Semantics) -> AsyncIterator[Judged]:
    """Every retrieval that is in the figures, each once, in no order."""
    async for _, entity in found.entities("retrieval"):
        one = judged(entity, semantics)
        if one is not None:
            yield one
