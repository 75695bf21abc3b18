"""The session's end: did it lead to an outcome? Once asked of the session alone, once of its retrievals.

The difference is the published bias of session measures: who exports elsewhere, days later, abandons nothing.
"""

from typing import cast

from attribution.contribution import Contribution, session_contribution
from attribution.entities import Entity
from attribution.semantics import ATTRIBUTION_HORIZON_MS, Semantics
from attribution.statements import Ended, Outcome


def contribute(identity: str, entity: Entity, semantics: Semantics) -> Contribution:
    """The counters of one session with a retrieval, in the minute of its earliest."""
    ended = [cast(Ended, content) for _, _, content in entity.heard("ended")]
    if not ended:
        return {}
    first = min(ended, key=lambda one: (one.ts, one.digest))
    outcomes = [cast(Outcome, content).ts for _, _, content in entity.heard("outcome")]
    in_session = any(first.ts <= ts <= first.ts + ATTRIBUTION_HORIZON_MS for ts in outcomes)
    by_lineage = any(one.outcome for one in ended)
    return session_contribution(first.ts, first.surface, in_session, by_lineage, semantics)
