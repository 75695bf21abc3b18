"""The traffic: sessions come, prompt, retrieve, get an answer, and go on with what they found."""

from collections.abc import Callable

from . import agents, claims, documents, labels, oddities, reactions, searches
from .acts import draw_lists
from .books import Meaning
from .cast import Found, Turn, Visit
from .stage import Stage
from .wire import MINUTE, SECOND, Ended

Scene = Callable[[Stage, Visit, Turn], None]

# What may follow a request that retrieved; the weight of a scene is the rate of its name.
FOLLOW_UPS: tuple[Scene, ...] = (
    claims.silence,
    claims.claimed,
    claims.claimed_bare,
    claims.requested,
    documents.placed,
    documents.composed,
    documents.copied,
    documents.derived,
    documents.removed,
    documents.placed_twice,
    documents.retrieved_again,
    documents.overridden,
    documents.restored,
    documents.long_chain,
    agents.delegated,
    agents.second_look,
    agents.substituted,
    searches.reformulated,
    searches.needed,
    searches.similar,
    searches.paged,
    oddities.refuted,
    oddities.dangling,
    oddities.baseless,
    oddities.skewed,
    oddities.excluded,
)
MOST_RETRIEVALS = 4


def traffic(stage: Stage, start_ms: int, last_ms: int) -> None:
    """Prompt after prompt, until all are used up: each begins a session on its surface, or goes on with one.

    So each prompt falls on its surface by itself, however long the sessions are.
    """
    going: dict[str | None, Visit] = {}
    while stage.prompts_left:
        surface = stage.surface()
        visit = going.pop(surface, None) or begin(stage, surface, stage.rng.randrange(start_ms, last_ms))
        if run(one_turn, stage, visit) and not stage.chance(1 / stage.rates.turns):
            stage.wait(visit, 10 * SECOND, 5 * MINUTE)
            going[surface] = visit


def begin(stage: Stage, surface: str | None, clock: int) -> Visit:
    """Somebody comes."""
    user = stage.new_id("u") if stage.chance(stage.rates.signed_in) else None
    return Visit(stage.session(surface, stage.chance(stage.rates.synthetic), user), clock)


def run(scene: Callable[..., None], *arguments: object) -> bool:
    """Play a scene as far as it happens before the end; whether it was played to its own end."""
    try:
        scene(*arguments)
    except Ended:
        return False
    return True


def one_turn(stage: Stage, visit: Visit) -> None:
    """One prompt; what follows on it takes its own course."""
    at_chat = visit.session.surface == "chat"
    rate = stage.rates.retrieving_at_chat if at_chat else stage.rates.retrieving_elsewhere
    retrieving = stage.chance(rate)
    turn = stage.prompt(visit, retrieving)
    if retrieving:
        retrieve(stage, visit, turn)
        answer(stage, visit, turn)
        follow_up(stage, visit, turn)
    run(bare, stage, Visit(visit.session, visit.clock))
    if stage.chance(stage.rates.intended):
        run(labels.intended, stage, Visit(visit.session, visit.clock), turn)


def retrieve(stage: Stage, visit: Visit, turn: Turn) -> None:
    """One retrieval or several, of the lists that were found, or of none, or with nothing logged."""
    count, rates = 1, stage.rates
    while count < MOST_RETRIEVALS and stage.chance(rates.second_retrieval):
        count += 1
    for assets in draw_lists(stage, count):
        stage.wait(visit, 50, 3_000)
        if stage.chance(rates.no_list):
            stage.retrieve(visit, turn, None)
        else:
            stage.retrieve(visit, turn, () if stage.chance(rates.null_result) else assets)


def answer(stage: Stage, visit: Visit, turn: Turn) -> None:
    """The agent may consume something, then the answer is shown."""
    if usable(turn) and stage.chance(stage.rates.agent_acts):
        agents.agent_acts(stage, visit, turn)
    if stage.chance(stage.rates.shown):
        stage.show(visit, turn)


def follow_up(stage: Stage, visit: Visit, turn: Turn) -> None:
    """What is done with the retrievals, beside the turns that follow in the session."""
    if stage.chance(stage.rates.reacted):
        reactions.reacted(stage, Visit(visit.session, visit.clock), turn)
    else:
        scenes(stage, visit, turn)
    if stage.chance(stage.rates.judged):
        run(labels.judged, stage, Visit(visit.session, visit.clock), turn)


def scenes(stage: Stage, visit: Visit, turn: Turn) -> None:
    """One scene, or several that know nothing of each other."""
    weights = [float(getattr(stage.rates, scene.__name__)) for scene in FOLLOW_UPS]
    while True:
        scene = stage.rng.choices(FOLLOW_UPS, weights)[0] if usable(turn) else oddities.refuted
        run(scene, stage, Visit(visit.session, visit.clock), turn)
        visit.session.books.note(f"scene {scene.__name__}")
        if not stage.chance(stage.rates.again):
            break


def usable(turn: Turn) -> list[Found]:
    """The retrievals that may have returned something."""
    return [found for found in turn.found if not found.null]


def bare(stage: Stage, visit: Visit) -> None:
    """A user action that names nothing."""
    if stage.chance(stage.rates.bare_action):
        stage.wait(visit)
        stage.user(visit, Meaning("none", "names nothing"))
