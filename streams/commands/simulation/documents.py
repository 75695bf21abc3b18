"""Scenes of documents: what is placed, copied, derived, removed and exported there (rules 2 and 3)."""

from .acts import (
    SOURCELESS,
    explicit,
    export_document,
    held,
    look_up,
    pick,
    place,
    place_found,
    remove,
    take,
    use,
    use_by_asset,
)
from .books import Meaning
from .cast import Placed, Turn, Visit
from .stage import Stage

MOST_STEPS = 16  # copies of copies that are followed


def placed(stage: Stage, visit: Visit, turn: Turn) -> None:
    """An asset is placed and acted on, perhaps in another session."""
    found = pick(stage, turn)
    stage.wait(visit)
    placement = place_found(stage, visit, stage.new_id("d"), found, take(stage, found))
    stage.go_on(visit)
    use(stage, visit, placement, stage.rng.choice((turn.request, None)))


def composed(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A document of several retrievals, of a placement of unknown source and a removed one, is exported."""
    found, document = pick(stage, turn), stage.new_id("d")
    stage.wait(visit)
    gone = place_found(stage, visit, document, found, take(stage, found))
    live = [place_found(stage, visit, document, found, take(stage, found))]
    stage.wait(visit)
    live.append(place(stage, visit, document, stage.rng.choice(stage.catalogue), SOURCELESS, actor="user"))
    remove(stage, visit, gone)
    for _ in range(stage.rng.randint(0, 2)):
        stage.go_on(visit)
        _, other = look_up(stage, visit)
        stage.wait(visit)
        live.append(place_found(stage, visit, document, other, take(stage, other)))
    stage.go_on(visit)
    export_document(stage, visit, live, document)
    if stage.chance(0.2):
        stage.wait(visit)
        export_document(stage, visit, live, document, "agent", "D")


def copied(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A placement is copied within its document, and into another one that names the retrieval itself."""
    found, document = pick(stage, turn), stage.new_id("d")
    stage.wait(visit)
    first = place_found(stage, visit, document, found, take(stage, found))
    stage.wait(visit)
    copy = place(stage, visit, document, first.asset, first.lineage, copy_of=first.id, actor="user")
    if stage.chance(0.5):
        stage.wait(visit)
        remove(stage, visit, first)
    stage.go_on(visit)
    use(stage, visit, copy)
    visit.session.books.note("action on a copy")
    stage.wait(visit)
    abroad = place_found(stage, visit, stage.new_id("d"), found, first.asset)
    stage.go_on(visit)
    use(stage, visit, abroad)
    visit.session.books.note("action on a copy in another document")


def derive(stage: Stage, visit: Visit, parent: Placed, claim: str | None = None) -> Placed:
    """Something new is made of a placed asset, and takes its place in the document."""
    stage.wait(visit)
    asset = stage.new_id("made")
    lineage = parent.made_of(asset)
    return place(
        stage, visit, parent.document, asset, lineage,
        derived_from=parent.asset, claim=claim, actor=stage.rng.choice(("user", None)),
    )  # fmt: skip


def derived(stage: Stage, visit: Visit, turn: Turn) -> None:
    """Assets are made of a retrieved one and of each other, and acted on; the first may be removed before."""
    found, document = pick(stage, turn), stage.new_id("d")
    stage.wait(visit)
    first = place_found(stage, visit, document, found, take(stage, found))
    second = derive(stage, visit, first)
    if stage.chance(0.5):
        stage.wait(visit)
        remove(stage, visit, first)
    third = derive(stage, visit, second)
    fourth = derive(stage, visit, third, claim=found.id)
    for made in stage.rng.sample((second, third, fourth), 2):
        stage.go_on(visit)
        use(stage, visit, made)
        visit.session.books.note("action on a derived asset")
    stage.wait(visit)
    if second.lineage.credit:
        meaning = explicit(second.lineage.credit, "by an ancestor in the list")
        stage.user(visit, meaning, claim=found.id, asset=second.asset, document=document)


def removed(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A removed placement gives nothing; its asset can still be found by the request."""
    found, document = pick(stage, turn), stage.new_id("d")
    asset = take(stage, found)
    stage.wait(visit)
    same_moment = stage.chance(0.4)
    if same_moment:
        gone = place(stage, visit, document, asset, held(found, asset), claim=found.id)
    else:
        gone = place_found(stage, visit, document, found, asset)
        stage.wait(visit)
    remove(stage, visit, gone)
    stage.go_on(visit)
    meaning = Meaning("none", "placed and removed at one moment" if same_moment else "by a removed placement")
    stage.user(visit, meaning, placement=gone.id, document=document, asset=stage.rng.choice((asset, None)))
    stage.wait(visit)
    holders = turn.holders(asset)
    stage.user(visit, Meaning("none", "by an asset no longer placed"), document=document, asset=asset)
    if holders:
        stage.wait(visit)
        meaning = Meaning("request", "of an asset no longer placed", tuple(h.credit(asset) for h in holders))
        stage.user(visit, meaning, document=document, asset=asset, request=turn.request)


def placed_twice(stage: Stage, visit: Visit, turn: Turn) -> None:
    """One asset is placed from two retrievals: the latest live placement has it."""
    found, document = pick(stage, turn), stage.new_id("d")
    asset = take(stage, found)
    stage.wait(visit)
    earlier = place_found(stage, visit, document, found, asset)
    stage.go_on(visit)
    _, again = look_up(stage, visit, asset)
    stage.wait(visit)
    later = place_found(stage, visit, document, again, asset)
    stage.wait(visit)
    use_by_asset(stage, visit, later)
    visit.session.books.note("latest of two placements")
    stage.wait(visit)
    stage.user(visit, earlier.meaning("by placement"), placement=earlier.id, document=document)
    remove(stage, visit, later)
    stage.go_on(visit)
    use_by_asset(stage, visit, earlier)
    visit.session.books.note("earlier of two placements, the later removed")


def retrieved_again(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A later turn returns the asset too: it belongs to the retrieval it was placed from."""
    found, document = pick(stage, turn), stage.new_id("d")
    asset = take(stage, found)
    stage.wait(visit)
    placement = place_found(stage, visit, document, found, asset)
    stage.go_on(visit)
    again, _ = look_up(stage, visit, asset)
    stage.wait(visit)
    use_by_asset(stage, visit, placement, again.request)
    visit.session.books.note("retrieved again, credited to the placement's retrieval")


def overridden(stage: Stage, visit: Visit, turn: Turn) -> None:
    """The action claims another retrieval than the placement: its own claim counts."""
    found, document = pick(stage, turn), stage.new_id("d")
    asset = take(stage, found)
    stage.wait(visit)
    place_found(stage, visit, document, found, asset)
    stage.go_on(visit)
    _, again = look_up(stage, visit, asset)
    stage.wait(visit)
    meaning = explicit(again.credit(asset), "against the placement")
    stage.user(visit, meaning, claim=again.id, asset=asset, document=document)


def restored(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A placement is removed and placed again from elsewhere: its source is that of its first place."""
    found = pick(stage, turn)
    asset, document = take(stage, found), stage.new_id("d")
    stage.wait(visit)
    placement = place_found(stage, visit, document, found, asset)
    stage.wait(visit)
    remove(stage, visit, placement)
    stage.go_on(visit)
    _, again = look_up(stage, visit, asset)
    stage.wait(visit)
    ids = {"identity": placement.id, "claim": again.id}
    place(stage, visit, document, asset, placement.lineage, actor="user", **ids)
    stage.wait(visit)
    use(stage, visit, placement)
    visit.session.books.note("action on a restored placement")


def long_chain(stage: Stage, visit: Visit, turn: Turn) -> None:
    """Copies of copies: followed for a while, not for ever."""
    found = pick(stage, turn)
    stage.wait(visit)
    link = place_found(stage, visit, stage.new_id("d"), found, take(stage, found))
    within = stage.chance(0.5)
    for step in range(MOST_STEPS - 4 if within else MOST_STEPS + 4):
        stage.wait(visit, 100, 2_000)
        lineage = link.lineage if step < MOST_STEPS else SOURCELESS
        link = place(stage, visit, link.document, link.asset, lineage, copy_of=link.id)
    stage.wait(visit)
    stage.user(visit, link.meaning("along a chain of copies"), placement=link.id, document=link.document)
