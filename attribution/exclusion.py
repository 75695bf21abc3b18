"""Which records are not people's traffic (contract §1, "Synthetic").

Here is what a record says of itself; that it names something excluded, its entity is told (`Excluded`).
"""

from attribution.entities import Entity, key_of
from attribution.events import Event
from attribution.semantics import Exclusion, Semantics, normalised_query


def excluded_by_itself(event: Event, rules: Exclusion) -> bool:
    """Does the record say it is synthetic, or does a configured rule match its session, user or query?"""
    if event.synthetic:
        return True
    if event.session_guid is not None and event.session_guid.startswith(rules.session_prefixes):
        return True
    if event.user_id is not None and event.user_id in rules.user_ids:
        return True
    query = getattr(event, "query", None)
    if query is None or not rules.queries:
        return False
    return normalised_query(query) in {normalised_query(rule) for rule in rules.queries}


def is_excluded(entity: Entity, semantics: Semantics) -> bool:
    """Is the standing record of an action, placement or judgement synthetic, by itself or by its request?"""
    record = entity.standing
    if record is None:
        return False
    named = record.request_id is not None and entity.hears_from(
        "request_excluded", key_of("request", record.request_id)
    )
    return named or excluded_by_itself(record, semantics.exclusion)
