"""Scenes of judges: they label intents, relevance and goals, contradict each other, and err."""

from collections.abc import Mapping

from .cast import Found, Turn, Visit
from .stage import Stage
from .wire import HOUR, SECOND

JUDGES = (None, "human", "human", "gpt", "critic")
HUMAN = (None, "human")
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def judged(stage: Stage, visit: Visit, turn: Turn) -> None:
    """Somebody judges what a turn retrieved."""
    stage.wait(visit)
    for found in turn.found:
        if stage.chance(0.8):
            relevance(stage, visit, found)
    if stage.chance(0.5):
        goal(stage, visit, turn)


def relevance(stage: Stage, visit: Visit, found: Found) -> None:
    """Assets of the list and others are graded, for the retrieval or for its query; some of them twice."""
    listed = list(dict.fromkeys(found.listed))
    if stage.chance(0.5):
        graded = [(asset, max(0, 3 - place)) for place, asset in enumerate(listed[:4])]
    else:
        highest = 0 if stage.chance(0.3) else 3
        assets = stage.rng.sample(listed, stage.rng.randint(0, len(listed)))
        others = stage.rng.sample(stage.catalogue, stage.rng.randint(0, 2))
        graded = [(asset, stage.rng.randint(-1, highest)) for asset in (*assets, *others)]
    for asset, grade in graded:
        grade_it(stage, visit, found, asset, grade)
        if stage.chance(0.1):
            grade_it(stage, visit, found, asset, stage.rng.randint(-1, 3))
        stage.wait(visit, 0, SECOND)


def grade_it(stage: Stage, visit: Visit, found: Found, asset: str, grade: int) -> None:
    """One relevance label."""
    book, judge = found.book, stage.rng.choice(JUDGES)
    topic = book.topic if stage.chance(0.3) else None
    about = {"retrieval_id": found.id} if topic is None else {"query": restyled(stage, topic)}
    body = {"kind": "relevance", "asset_id": asset, "grade": grade, "judge": judge, **about}
    say(stage, visit, body)
    subject = ("retrieval", found.id) if topic is None else ("topic", topic)
    visit.session.books.labels.grade(*subject, asset, (judge in HUMAN, visit.clock, grade))
    visit.session.books.note(f"relevance of a {subject[0]}")


def goal(stage: Stage, visit: Visit, turn: Turn) -> None:
    """Whether the user got there: said of the request, of one retrieval, or of both."""
    found = stage.rng.choice(turn.found)
    abouts = (
        ("goal of a request", "request_id", turn.request),
        ("goal of a retrieval", "retrieval_id", found.id),
    )
    for kind, name, about in stage.rng.sample(abouts, stage.rng.randint(1, 2)):
        for _ in range(2 if stage.chance(0.2) else 1):
            judge, reached = stage.rng.choice(JUDGES), stage.chance(0.5)
            say(stage, visit, {"kind": "goal", name: about, "reached": reached, "judge": judge})
            visit.session.books.labels.say(kind, about, (judge in HUMAN, visit.clock, reached))
            visit.session.books.note(kind)
            stage.wait(visit)


def intended(stage: Stage, visit: Visit, turn: Turn) -> None:
    """How many retrievals a prompt wanted, retrieving or not; sometimes two judges say so."""
    stage.wait(visit, SECOND, HOUR)
    for _ in range(2 if stage.chance(0.2) else 1):
        judge, intents = stage.rng.choice(JUDGES), stage.rng.randint(0, 2)
        body = {"kind": "intent", "request_id": turn.request, "retrieval_intents": intents, "judge": judge}
        say(stage, visit, body)
        visit.session.books.labels.say("intents", turn.request, (judge in HUMAN, visit.clock, intents))
        visit.session.books.note(f"{intents} intents")
        stage.wait(visit, 0, SECOND)


def say(stage: Stage, visit: Visit, body: Mapping[str, object]) -> None:
    """Send a label."""
    stage.wire.send("judgement", visit.clock, {**visit.session.common(), **body})
    visit.session.books.note(f"judgement {body['kind']}")


def restyled(stage: Stage, query: str) -> str:
    """The same query as somebody else types it."""
    styles = (query, query.upper(), f"  {query.replace(' ', '   ')} ", query.translate(FULL_WIDTH))
    return stage.rng.choice(styles)
