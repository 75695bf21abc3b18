"""From when on nothing can have expired: what may be compared, read again, or sent again.

Rules:
- An entity lives for `entity_ttl` seconds after its last write. Nothing is written more than a day before the
  time it is stamped with, apart from what `lara_events_ahead_total` counts.
- A state that is younger than that holds every entity it ever had, whatever their times are.
"""

from typing import Final

DAY_SECONDS: Final = 86_400
AHEAD_SECONDS: Final = DAY_SECONDS  # as far as a broker takes timestamps that are ahead of its clock


def whole_since(began: float | None, now: float, entity_ttl: int) -> int | None:
    """The first second (a day's beginning) from which on every entity is there; None: all of them are.

    `began` is when the state began, if it knows.
    """
    if began is not None and now - began < entity_ttl:
        return None
    return (int(now - entity_ttl + AHEAD_SECONDS) // DAY_SECONDS + 1) * DAY_SECONDS
