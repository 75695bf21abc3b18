"""The scene of one reaction to each retrieval: which share of them meets what evidence is a rate of its own.

Rules:
- The reactions to the retrievals of a request are drawn one by one; none is credited to two retrievals.
- No scene follows beside it, and nothing is retrieved in it. So the rates are the figures.
"""

from typing import Final

from .acts import explicit, held, place, take
from .cast import Found, Turn, Visit
from .stage import OUTCOMES, Stage

# The name of the rate, and the user actions one of which it is.
REACTIONS: Final = (
    ("taken_away", OUTCOMES),
    ("worked_with", ("select", "edit", "follow_up")),
    ("noticed", ("click", "helpful", "favourite")),
    ("turned_down", ("reject",)),
)


def reacted(stage: Stage, visit: Visit, turn: Turn) -> None:
    """Each retrieval that found something meets the user's reaction, or none."""
    for found in turn.found:
        action = None if found.null else reaction(stage)
        if action is not None:
            react(stage, Visit(visit.session, visit.clock), found, action)


def reaction(stage: Stage) -> str | None:
    """One user action, drawn by the rates."""
    drawn = stage.rng.random()
    for name, actions in REACTIONS:
        drawn -= getattr(stage.rates, name)
        if drawn < 0:
            return stage.rng.choice(actions)
    return None


def react(stage: Stage, visit: Visit, found: Found, action: str) -> None:
    """The user acts, perhaps in another session: on the asset as it was found, or as it was placed."""
    asset = take(stage, found)
    stage.wait(visit)
    if stage.chance(0.5):
        stage.go_on(visit)
        meaning = explicit(found.credit(asset), "in one reaction")
        return stage.act(visit, "user", action, meaning, asset=asset, claim=found.id)
    placed = place(stage, visit, stage.new_id("d"), asset, held(found, asset), claim=found.id)
    stage.go_on(visit)
    ids = {"placement": placed.id, "document": placed.document}
    return stage.act(visit, "user", action, placed.meaning("by placement"), **ids)
