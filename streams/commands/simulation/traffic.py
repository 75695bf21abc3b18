"""The traffic: sessions come, prompt, retrieve, get an answer, and go on with what they found."""

from collections.abc import Callable

from . import agents, claims, documents, labels, oddities, searches
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


def traffic(stage: Stage, start_ms: int, end_ms: int) -> None:
    """Sessions at any time, until all prompts are used up."""
    while stage.prompts_left:
        user = stage.new_id("u") if stage.chance(stage.rates.signed_in) else None
        session = stage.session(stage.chance(stage.rates.synthetic), user)
        run(session_of_turns, stage, Visit(session, stage.rng.randrange(start_ms, end_ms)))


def run(scene: Callable[..., None], *arguments: object) -> None:
    """Play a scene as far as it happens before the end."""
    try:
        scene(*arguments)
    except Ended:
        return


def session_of_turns(stage: Stage, visit: Visit) -> None:
    """One session: turn after turn, the follow-ups of each take their own course."""
    at_chat = visit.session.surface == "chat"
    retrieving = stage.rates.retrieving_at_chat if at_chat else stage.rates.retrieving_elsewhere
    while True:
        turn = stage.prompt(visit)
        if stage.chance(retrieving):
            retrieve(stage, visit, turn)
            answer(stage, visit, turn)
            follow_up(stage, visit, turn)
        run(bare, stage, Visit(visit.session, visit.clock))
        if stage.chance(stage.rates.intended):
            run(labels.intended, stage, Visit(visit.session, visit.clock), turn)
        if stage.chance(1 / stage.rates.turns):
            return
        stage.wait(visit, 10 * SECOND, 5 * MINUTE)


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
    weights = [float(getattr(stage.rates, scene.__name__)) for scene in FOLLOW_UPS]
    while True:
        scene = stage.rng.choices(FOLLOW_UPS, weights)[0] if usable(turn) else oddities.refuted
        run(scene, stage, Visit(visit.session, visit.clock), turn)
        visit.session.books.note(f"scene {scene.__name__}")
        if not stage.chance(stage.rates.again):
            break
    if stage.chance(stage.rates.judged):
        run(labels.judged, stage, Visit(visit.session, visit.clock), turn)


def usable(turn: Turn) -> list[Found]:
    """The retrievals that may have returned something."""
    return [found for found in turn.found if not found.null]


def bare(stage: Stage, visit: Visit) -> None:
    """A user action that names nothing."""
    if stage.chance(stage.rates.bare_action):
        stage.wait(visit)
        stage.user(visit, Meaning("none", "names nothing"))
