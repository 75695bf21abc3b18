"""Scenes of the agent: what it consumes before the answer is shown (A), and what it does otherwise (D).

The agent consumes only what a list of its request holds, or where a list is not logged: nothing it does means
that a retrieval was passed over, but in the scene `substituted`.
"""

from .acts import SOURCELESS, draw_lists, explicit, held, look_up, pick, place, place_found, remove
from .books import Meaning
from .cast import Found, Search, Turn, Visit
from .claims import by_request
from .stage import Stage

WORKING_ROLES = ("act_on", "generation_reference", "task_step")  # what they find is to be worked with


def grade(turn: Turn) -> str:
    """The grade of a consumption within the request, at this point of it."""
    return "A" if turn.requested and not turn.shown else "D"


def choose(stage: Stage, found: Found) -> str:
    """An asset of the list, any asset if none was logged."""
    return stage.rng.choice(found.listed or stage.catalogue)


def agent_acts(stage: Stage, visit: Visit, turn: Turn) -> None:
    """The agent consumes something: by claim, by request, or by placing it."""
    found = pick(stage, turn)
    asset, now = choose(stage, found), grade(turn)
    ids = {"asset": asset, "request": turn.request}
    stage.wait(visit, 100, 5_000)
    way = stage.rng.random()
    if way < 0.4 or not found.listed:
        stage.agent(visit, explicit(found.credit(asset), "by the agent", now), claim=found.id, **ids)
    elif way < 0.75:
        stage.agent(visit, by_request(turn, asset, now), **ids)
    elif way < 0.75 + stage.rates.agent_places:
        agent_places(stage, visit, turn, found)
    else:
        meaning = explicit(found.credit(asset), "without evidence")
        stage.act(visit, "agent", "preview", meaning, claim=found.id, **ids)


def agent_places(stage: Stage, visit: Visit, turn: Turn, found: Found) -> None:
    """The agent places an asset, and makes something of the placement."""
    document, asset, now = stage.new_id("d"), choose(stage, found), grade(turn)
    lineage, request = held(found, asset), turn.request
    ids = {"claim": found.id, "request": request}
    placed = place(stage, visit, document, asset, lineage, actor="agent", grade=now, **ids)
    stage.wait(visit, 100, 2_000)
    meaning = placed.meaning("by placement", now)
    stage.agent(visit, meaning, placement=placed.id, document=document, asset=asset, request=request)


def delegated(stage: Stage, visit: Visit, turn: Turn) -> None:
    """The agent goes on with what an earlier request found, or after its answer was shown."""
    found = pick(stage, turn)
    asset, way = choose(stage, found), stage.rng.randrange(4)
    stage.go_on(visit)
    if way == 3:
        placed = place_found(stage, visit, stage.new_id("d"), found, asset)
        stage.wait(visit)
        meaning = placed.meaning("delegated", "D")
        return stage.agent(visit, meaning, placement=placed.id, document=placed.document)
    request = turn.request if way == 0 and turn.shown else None
    if way == 1:
        request = stage.prompt(visit, retrieving=False).request
        stage.wait(visit, 100, 5_000)
    meaning = explicit(found.credit(asset), "delegated", "D")
    return stage.agent(visit, meaning, asset=asset, claim=found.id, request=request)


def second_look(stage: Stage, visit: Visit, _: Turn) -> None:
    """A request retrieves again after its first show: the second retrieval has until the second show."""
    stage.go_on(visit)
    turn, first = look_up(stage, visit)
    acts_on(stage, visit, turn, first, grade(turn))
    stage.show(visit, turn)
    stage.wait(visit, 100, 5_000)
    second = stage.retrieve(visit, turn, draw_lists(stage, 1)[0])
    acts_on(stage, visit, turn, second, "A" if turn.requested else "D")
    acts_on(stage, visit, turn, first, grade(turn))
    bounded = stage.show(visit, turn)
    acts_on(stage, visit, turn, second, "A" if turn.requested and not bounded else "D")


def acts_on(stage: Stage, visit: Visit, turn: Turn, found: Found, now: str) -> None:
    """The agent names what it consumes."""
    stage.wait(visit, 100, 5_000)
    asset = choose(stage, found)
    meaning = explicit(found.credit(asset), "around a second look", now)
    stage.agent(visit, meaning, asset=asset, claim=found.id, request=turn.request)


def substituted(stage: Stage, visit: Visit, _: Turn) -> None:
    """The agent works with something no list of its request holds; there may be an excuse."""
    stage.go_on(visit)
    foreign, way = stage.new_id("own"), stage.rng.random()
    earlier = look_up(stage, visit, foreign)[1] if way < 0.18 else None
    stage.wait(visit)
    search = Search(role=stage.rng.choice((*WORKING_ROLES, *WORKING_ROLES, "browse")))
    turn, first = look_up(stage, visit, search=search)
    if stage.chance(0.5):
        stage.wait(visit, 50, 2_000)
        assets = stage.rng.choice((None, None, (), draw_lists(stage, 1)[0]))
        stage.retrieve(visit, turn, assets, search=search)
    stage.wait(visit, 100, 5_000)
    if earlier is not None:
        meaning = explicit(earlier.credit(foreign), "delegated", "D")
        verb, ids = stage.rng.choice(("use", "edit")), {"claim": earlier.id, "request": turn.request}
        stage.act(visit, "agent", verb, meaning, asset=foreign, **ids)
        visit.session.books.note("substituted from an earlier retrieval")
    elif way < 0.36:
        made_of_it(stage, visit, turn, first)
    else:
        passed_over(stage, visit, turn, foreign)
    if stage.chance(0.3):
        acts_on(stage, visit, turn, first, grade(turn))
        first.book.substituted = False
        visit.session.books.note("substituted, and used all the same")


def passed_over(stage: Stage, visit: Visit, turn: Turn, foreign: str) -> None:
    """The agent takes something of its own; a list that is not complete might have held it."""
    verbs = ("use", "select", "edit", "place", "generate", "export", "share", "download")
    verb, request = stage.rng.choice(verbs), turn.request
    if verb == "place":
        place(stage, visit, stage.new_id("d"), foreign, SOURCELESS, actor="agent", request=request)
    else:
        meaning = Meaning("none", "asset in no list of the request")
        stage.act(visit, "agent", verb, meaning, asset=foreign, request=request)
    known, work = turn.requested and all(found.complete for found in turn.found), verb in verbs[:5]
    how = "worked with" if work else "exported"
    visit.session.books.note(f"agent's own {how}" if known else "agent's own, beside an incomplete list")
    for found in turn.found:
        found.book.substituted = known and work and not found.null and found.book.role in WORKING_ROLES


def made_of_it(stage: Stage, visit: Visit, turn: Turn, found: Found) -> None:
    """The agent works with an asset made of a listed one: credited nowhere, and no substitute."""
    asset, made = choose(stage, found), stage.new_id("made")
    first = place_found(stage, visit, stage.new_id("d"), found, asset)
    stage.wait(visit)
    gone = place(stage, visit, first.document, made, first.made_of(made), derived_from=asset)
    stage.wait(visit)
    remove(stage, visit, gone)
    stage.wait(visit)
    ids = {"document": first.document, "request": turn.request}
    stage.act(visit, "agent", "edit", Meaning("none", "made of a listed asset"), asset=made, **ids)
