"""Which records are not people's traffic (contract §1, "Synthetic").

Here is what a record says of itself; that it names something excluded, its entity is told (`Excluded`).
"""

from attribution.entities import Entity, key_of
from attribution.events import Event
from attribution.semantics import Exclusion, Semantics, normalised_query


def excluded_by_itself(event: Event, rules: Exclusion) -> bool:
    """Does the record say it is synthetic, or does a configured rule match its session, user or query?"""
    return own_exclusion(event, rules) is not None


def own_exclusion(event: Event, rules: Exclusion) -> str | None:
    """What of the record excludes it: `synthetic`, `session`, `user` or `query`; None: nothing."""
    if event.synthetic:
        return "synthetic"
    if event.session_guid is not None and event.session_guid.startswith(rules.session_prefixes):
        return "session"
    if event.user_id is not None and event.user_id in rules.user_ids:
        return "user"
    query = getattr(event, "query", None)
    if query is None or not rules.queries:
        return None
    matched = normalised_query(query) in {normalised_query(rule) for rule in rules.queries}
    return "query" if matched else None


def is_excluded(entity: Entity, semantics: Semantics) -> bool:
    """Is the standing record of an action, placement or judgement synthetic, by itself or by its request?"""
    return exclusion_of(entity, semantics) is not None


def exclusion_of(entity: Entity, semantics: Semantics) -> str | None:
    """What excludes the standing record: as `own_exclusion`, or `request`; None: nothing."""
    record = entity.standing
    if record is None:
        return None
    named = record.request_id is not None and entity.hears_from(
        "request_excluded", key_of("request", record.request_id)
    )
    return own_exclusion(record, semantics.exclusion) or ("request" if named else None)
