"""Which minutes a window means, at a given time.

Rules (contract, section 5):
- E is the time asked about, rounded up to a whole minute; a whole minute stays itself.
- Window w holds `E - w <= ts < E`; `all` holds every `ts < E`.
- Mature is what lies before `E - maturity horizon`.
- Cohort `live`: the window ends at E; `settled`: it ends at `E - maturity horizon`, so all of it is mature.
- A figure without cohorts reads the live window.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from attribution.semantics import MINUTE_MS
from metrics.buckets import Span

# The maturity horizon: evidence of nearly all retrievals that will ever have some is there by then.
DEFAULT_HORIZON_MINUTES: Final = 30

WINDOW_MINUTES: Final[Mapping[str, int | None]] = {
    "5m": 5,
    "1h": 60,
    "6h": 360,
    "24h": 1_440,
    "7d": 10_080,
    "all": None,
}

WINDOWS: Final = tuple(WINDOW_MINUTES)

LIVE: Final = "live"
SETTLED: Final = "settled"


class Slice(NamedTuple):
    """What one window and cohort reads: all its minutes, and those of them that are mature."""

    whole: Span
    mature: Span


def end_minute(as_of_ms: int) -> int:
    """E, in minutes since the epoch, for a time in ms since the epoch."""
    return -(-as_of_ms // MINUTE_MS)


def slice_of(window: str, cohort: str | None, end: int, horizon_minutes: int) -> Slice:
    """The minutes of a window of a cohort (None: no cohort) that ends with minute E = `end`.

    Raises KeyError for a window that does not exist.
    """
    settled_end = end - horizon_minutes
    if cohort == SETTLED:
        span = _span(window, settled_end)
        return Slice(span, span)
    whole = _span(window, end)
    return Slice(whole, _before(whole, settled_end))


def _span(window: str, end: int) -> Span:
    minutes = WINDOW_MINUTES[window]
    return Span(None if minutes is None else end - minutes, end)


def _before(span: Span, minute: int) -> Span:
    """The part of a span before a minute; empty (start = end) if it starts later."""
    return Span(span.start, minute if span.start is None else max(span.start, minute))
