"""What a deployment may configure of the meaning of its figures, as one frozen value.

Two runs with the same events and the same `Semantics` have the same figures; it is kept
beside the state, because state counted under one meaning cannot be continued under another.
"""

import unicodedata
from typing import Final

from msgspec import Struct

from attribution.definitions import DEFAULT_DEFINITIONS, STANDARD, Definition

MINUTE_MS: Final = 60_000
DAY_MS: Final = 86_400_000
ATTRIBUTION_HORIZON_MS: Final = 30 * DAY_MS  # for an action only the 30 days before it exist
CLOCK_SKEW_MS: Final = 5 * MINUTE_MS  # a claim may name a retrieval stamped this much later
LATENESS_MS: Final = 7 * DAY_MS  # older than its broker timestamp by more than this: late
STATE_HORIZON_MS: Final = ATTRIBUTION_HORIZON_MS + LATENESS_MS

# The last one is a shadow signal: published, and in F only where `inferred_research` is "count".
FAILURE_SIGNALS: Final = ("rejected", "researched", "substituted", "researched_inferred")
SHADOW_SIGNAL: Final = "researched_inferred"

DEFAULT_SURFACES: Final = ("chat", "gallery", "editor", "unknown")
# Role -> what completes the task of a retrieval, as "actor verb"; roles not named are `OTHERS`.
OTHERS: Final = "others"
_TAKEN: Final = ("user export", "user share", "user download")
_FOUND: Final = ("user select", "user place", *_TAKEN)
DEFAULT_COMPLETION: Final = (
    ("direct_lookup", _FOUND),
    ("browse", _FOUND),
    ("act_on", (*_FOUND, "user edit")),
    ("generation_reference", ("agent generate", "agent use", *_TAKEN)),
    (OTHERS, _TAKEN),
)

DEFAULT_ROUTES: Final = ("retrieve", "generate", "edit", "answer")
UNKNOWN_SURFACE: Final = "unknown"
OTHER: Final = "other"


class Exclusion(Struct, frozen=True):
    """Which traffic is not people's: matched records, and all that names them, are in no figure."""

    session_prefixes: tuple[str, ...] = ()
    user_ids: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


class Semantics(Struct, frozen=True):
    """The configurable meaning of the figures."""

    definitions: tuple[Definition, ...] = DEFAULT_DEFINITIONS
    surfaces: tuple[str, ...] = DEFAULT_SURFACES
    exclusion: Exclusion = Exclusion()
    inferred_research: str = "shadow"  # or "count"
    inference: str = "shadow"  # or "credit"
    gain: str = "exponential"  # or "linear"
    completion: tuple[tuple[str, tuple[str, ...]], ...] = DEFAULT_COMPLETION
    routes: tuple[str, ...] = DEFAULT_ROUTES
    maximum_statements: int = 1000  # of one topic that an entity keeps (`bounds.py`)
    maximum_variants: int = 16  # records of one identity that are kept, the first by (ts, digest)

    @property
    def standard(self) -> Definition:
        """The definition that other rules of the contract read (re-search, rank, diagnosis)."""
        return next(definition for definition in self.definitions if definition.name == STANDARD.name)

    @property
    def failure_signals(self) -> tuple[str, ...]:
        """The signals that make F."""
        counted = self.inferred_research == "count"
        return tuple(signal for signal in FAILURE_SIGNALS if counted or signal != SHADOW_SIGNAL)

    def surface(self, sent: str | None) -> str:
        """The label of a surface: as configured, or `other`; absent is `unknown`."""
        value = sent or UNKNOWN_SURFACE
        return value if value in self.surfaces else OTHER

    def completes(self, role: str, actor: str, verb: str) -> bool:
        """Does this action, attributed to a retrieval of the role, complete its task?"""
        by_role = dict(self.completion)
        return f"{actor} {verb}" in by_role.get(role, by_role.get(OTHERS, ()))

    def route(self, sent: str | None) -> str:
        """The label of a planner's route: as configured, or `other`."""
        return sent if sent is not None and sent in self.routes else OTHER


def normalised_query(query: str) -> str:
    """Two queries are the same when this is: NFKC, case-folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split())


def minute_of(ts: int) -> int:
    """The bucket of an event time: whole minutes since the epoch."""
    return ts // MINUTE_MS
