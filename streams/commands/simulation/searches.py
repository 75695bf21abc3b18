"""Scenes of people who search again: by naming what they searched, by need, or in similar words; and pages.

Each begins with a look-up of its own, so that nobody else searches again for the same.
"""

from .acts import draw_lists, explicit, look_up
from .agents import acts_on, grade
from .cast import Found, Search, Turn, Visit
from .labels import relevance
from .stage import Stage
from .wire import HOUR, MINUTE, SECOND


def perhaps_used(stage: Stage, visit: Visit, turn: Turn, found: Found, rate: float = 0.5) -> None:
    """Somebody may judge it, or do something with it: a use in the meaning of the definitions, or not."""
    if stage.chance(stage.rates.judged):
        relevance(stage, visit, found)
    if not found.listed or not stage.chance(rate):
        return None
    if stage.chance(0.4):
        return acts_on(stage, visit, turn, found, grade(turn))
    stage.wait(visit)
    asset = stage.rng.choice(found.listed)
    return stage.user(visit, explicit(found.credit(asset), "around a search"), asset=asset, claim=found.id)


def again(visit: Visit, found: Found, later: Found, way: str) -> None:
    """Book that somebody searched again."""
    found.book.searched_again.append(later.book.ts)
    used = "after a use" if found.book.excused(later.book.ts) else "without a use"
    visit.session.books.note(f"searched again {way} {used}")


def elsewhere(stage: Stage, visit: Visit) -> None:
    """On to another session, which may belong to the same conversation."""
    old = visit.session
    kept = old.conversation if stage.chance(0.7) else None
    visit.session = stage.session(stage.surface(), old.synthetic, old.user, kept)
    stage.wait(visit, HOUR, 6 * HOUR)


def same_conversation(one: Visit, other: Visit) -> bool:
    """Whether they talk in one conversation, which is the session if none is named."""
    ones, others = one.session, other.session
    return (ones.conversation or ones.guid) == (others.conversation or others.guid)


def reformulated(stage: Stage, visit: Visit, _: Turn) -> None:
    """A later retrieval names the one it reformulates, in whatever session; its clock may run behind."""
    stage.go_on(visit)
    behind = stage.chance(0.25)
    ahead = stage.rng.randint(2 * MINUTE, 4 * MINUTE) if behind else 0
    turn, found = look_up(stage, visit, ahead=ahead)
    if behind:
        stage.wait(visit, SECOND, 30 * SECOND)
    else:
        perhaps_used(stage, visit, turn, found, 0.6)
        stage.go_on(visit)
    _, later = look_up(stage, visit, search=Search(reformulates=found.id))
    again(visit, found, later, "by a clock that runs behind" if behind else "by name")
    perhaps_used(stage, visit, turn, found, 0.2)


def needed(stage: Stage, visit: Visit, _: Turn) -> None:
    """A need is searched for again: by the same request, which says nothing, and by another one."""
    stage.go_on(visit)
    origin, search = Visit(visit.session, visit.clock), Search(need=stage.new_id("n"))
    turn, found = look_up(stage, visit, search=search)
    searched = [found]
    if stage.chance(0.4):
        stage.wait(visit)
        searched.append(stage.retrieve(visit, turn, draw_lists(stage, 1)[0], search=search))
        if turn.requested:
            visit.session.books.note("need met twice by one request")
        else:
            again(visit, found, searched[1], "by need")
    perhaps_used(stage, visit, turn, found)
    stage.wait(visit)
    if stage.chance(0.3):
        elsewhere(stage, visit)
    _, later = look_up(stage, visit, search=search)
    for one in searched:
        if same_conversation(origin, visit):
            again(visit, one, later, "by need")
        else:
            visit.session.books.note("need of another conversation")


def similar(stage: Stage, visit: Visit, _: Turn) -> None:
    """A later query of the same, of similar or of other words; soon, too late or in another conversation."""
    stage.go_on(visit)
    first = stage.query()
    turn, found = look_up(stage, visit, search=Search(query=first))
    origin = Visit(visit.session, visit.clock)
    perhaps_used(stage, visit, turn, found, 0.3)
    how, query = stage.rng.choice(tuple(reworded(stage, first).items()))
    topic = first if how == "same" else None
    when = stage.rng.choice(("soon", "soon", "too late", "elsewhere"))
    if when == "elsewhere":
        elsewhere(stage, visit)
    else:
        stage.wait(visit, *((SECOND, 4 * MINUTE) if when == "soon" else (11 * MINUTE, 20 * MINUTE)))
    _, later = look_up(stage, visit, search=Search(query=query, topic=topic))
    visit.session.books.note(f"{how} query in {'words' if ' ' in first else 'Chinese'}")
    visit.session.books.note(f"query again {when}")
    if how != "other" and when == "soon" and same_conversation(origin, visit):
        found.book.searched_alike.append(later.book.ts)


def reworded(stage: Stage, query: str) -> dict[str, str]:
    """The same query as somebody else types it, a similar one, and one of mostly other words."""
    if " " not in query:
        half = query[: len(query) // 2]
        return {"same": f" {query}", "similar": f"{query}啊", "other": half[::-1] + half}
    thing, like = query.split()
    new = stage.new_id("in")
    similar = stage.rng.choice((f"{like} {new} {thing}", f"{thing} {new} {like} {stage.new_id('on')}"))
    return {"same": f"{thing.upper()}   {like.upper()}", "similar": similar, "other": f"{like} {new}"}


def paged(stage: Stage, visit: Visit, _: Turn) -> None:
    """More of the same list is asked for, until there is no more; what is used of a page excuses the first.

    A page that names the first one, or shares its need, does not search again.
    """
    stage.go_on(visit)
    search = Search(query=stage.query(), need=stage.new_id("n"))
    turn, found = look_up(stage, visit, search=search)
    more = search._replace(page_of=found.id, reformulates=found.id if stage.chance(0.3) else None)
    pages: list[Found] = []
    for _count in range(stage.rng.randint(1, 3)):
        stage.wait(visit)
        turn = stage.prompt(visit, retrieving=True) if stage.chance(0.5) else turn
        stage.wait(visit, 50, 2_000)
        page = stage.retrieve(visit, turn, () if stage.chance(0.25) else draw_lists(stage, 1)[0], search=more)
        found.book.pages.append(page.book)
        pages.append(page)
        perhaps_used(stage, visit, turn, page)
        if page.assets == ():
            break
    if stage.chance(0.6):
        stage.wait(visit)
        named = stage.chance(0.4)
        by = Search(reformulates=found.id) if named else Search(need=search.need)
        _, later = look_up(stage, visit, search=by)
        again(visit, found, later, "beside pages")
        for page in pages if not named else ():
            again(visit, page, later, "beside pages")
