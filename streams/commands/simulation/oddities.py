"""Scenes of producers that err: claims the list refutes, ids that never arrive, clocks that run ahead."""

from dataclasses import replace

from .acts import (
    DANGLING,
    REFUTED,
    SOURCELESS,
    explicit,
    export_document,
    held,
    look_up,
    pick,
    place,
    place_found,
    remove,
    stranger,
    take,
    use,
)
from .books import Meaning
from .cast import Found, Turn, Visit
from .stage import OUTCOMES, Stage
from .wire import MINUTE, SECOND

SKEW = 4 * MINUTE  # how far ahead a clock may be: within the 5 minutes that are tolerated


def wrong_way(stage: Stage, visit: Visit, asset: str, verdict: str, way: str, **ids: str | None) -> None:
    """A user action, or an agent's export, that comes to nothing."""
    meaning = Meaning(verdict, way)
    if stage.chance(0.8):
        return stage.user(visit, meaning, asset=asset, **ids)
    return stage.act(visit, "agent", stage.rng.choice(OUTCOMES), meaning, asset=asset, **ids)


def refuted(stage: Stage, visit: Visit, turn: Turn) -> None:
    """A claim names a retrieval whose list is known and holds neither the asset nor an ancestor of it."""
    stage.go_on(visit)
    found = next((found for found in turn.found if found.complete), None) or look_up(stage, visit)[1]
    stage.wait(visit)
    stage.rng.choice((refuted_claim, refuted_placement, refuted_made))(stage, visit, found)


def refuted_claim(stage: Stage, visit: Visit, found: Found) -> None:
    """The action's own claim is refuted, whatever else it names."""
    asset, document = stranger(stage, found), None
    if found.null and stage.chance(0.5):
        return stage.user(visit, Meaning("refuted", "empty list, without asset"), claim=found.id)
    if stage.chance(0.5):
        _, other = look_up(stage, visit, asset)
        stage.wait(visit)
        document = place_found(stage, visit, stage.new_id("d"), other, asset).document
        stage.wait(visit)
    way = "empty list" if found.null else "beside a placement" if document else "not in the list"
    return wrong_way(stage, visit, asset, "refuted", way, claim=found.id, document=document)


def refuted_placement(stage: Stage, visit: Visit, found: Found) -> None:
    """A placement's claim is refuted: so are its actions, those of its copies, and the document."""
    asset, document = stranger(stage, found), stage.new_id("d")
    actor = stage.rng.choice(("user", None))
    wrong = place(stage, visit, document, asset, REFUTED, claim=found.id, actor=actor)
    stage.wait(visit)
    use(stage, visit, wrong)
    stage.wait(visit)
    use(stage, visit, place(stage, visit, document, asset, REFUTED, copy_of=wrong.id))
    stage.go_on(visit)
    export_document(stage, visit, [wrong], document)


def refuted_made(stage: Stage, visit: Visit, found: Found) -> None:
    """A derived asset is claimed outside its document, where nobody knows what it is made of."""
    if found.null:
        return refuted_claim(stage, visit, found)
    asset, made = take(stage, found), stage.new_id("made")
    first = place_found(stage, visit, stage.new_id("d"), found, asset)
    stage.wait(visit)
    place(stage, visit, first.document, made, first.made_of(made), derived_from=asset)
    stage.wait(visit)
    return stage.user(visit, Meaning("refuted", "derived, without its document"), asset=made, claim=found.id)


def dangling(stage: Stage, visit: Visit, turn: Turn) -> None:
    """Something names an id that never arrives, or not there."""
    stage.go_on(visit)
    scene = stage.rng.choice((dangling_claim, dangling_placement_id, dangling_placement, dangling_copy))
    scene(stage, visit, pick(stage, turn))


def dangling_claim(stage: Stage, visit: Visit, found: Found) -> None:
    """The claimed retrieval never arrives; that the asset could be found otherwise does not help."""
    asset, document = take(stage, found), None
    if stage.chance(0.5):
        document = place_found(stage, visit, stage.new_id("d"), found, asset).document
        stage.wait(visit)
    wrong_way(stage, visit, asset, "dangling", "claim", claim=stage.new_id("r"), document=document)


def dangling_placement_id(stage: Stage, visit: Visit, found: Found) -> None:
    """The placement is unknown, or named without its document, or in another one."""
    asset = take(stage, found)
    placed = place_found(stage, visit, stage.new_id("d"), found, asset)
    stage.wait(visit)
    for way, placement, document in (
        ("unknown placement", stage.new_id("p"), placed.document),
        ("placement without document", placed.id, None),
        ("placement of another document", placed.id, stage.new_id("d")),
    ):
        wrong_way(stage, visit, asset, "dangling", way, placement=placement, document=document)
        stage.wait(visit)


def dangling_placement(stage: Stage, visit: Visit, found: Found) -> None:
    """A placement claims a retrieval that never arrives."""
    asset, document = take(stage, found), stage.new_id("d")
    actor, claim = stage.rng.choice(("user", None)), stage.new_id("r")
    wrong = place(stage, visit, document, asset, DANGLING, claim=claim, actor=actor)
    stage.wait(visit)
    use(stage, visit, wrong)
    stage.wait(visit)
    export_document(stage, visit, [wrong], document)


def dangling_copy(stage: Stage, visit: Visit, found: Found) -> None:
    """A copy of an unknown placement, or of one in another document, without naming the retrieval itself."""
    first = place_found(stage, visit, stage.new_id("d"), found, take(stage, found))
    stage.wait(visit)
    source = stage.rng.choice((first.id, stage.new_id("p")))
    copy = place(stage, visit, stage.new_id("d"), first.asset, DANGLING, copy_of=source)
    stage.go_on(visit)
    use(stage, visit, copy)
    visit.session.books.note("dangling copy")


def baseless(stage: Stage, visit: Visit, turn: Turn) -> None:
    """What is named is known, and leads nowhere."""
    stage.go_on(visit)
    scene = stage.rng.choice((sourceless, of_another_asset, empty_document, circular))
    scene(stage, visit, pick(stage, turn))


def sourceless(stage: Stage, visit: Visit, found: Found) -> None:
    """Placements without a source, or made of an asset that was never placed there, alone in a document."""
    asset, document = take(stage, found), stage.new_id("d")
    alone = place(stage, visit, document, asset, SOURCELESS, actor=stage.rng.choice(("user", None)))
    stage.wait(visit)
    use(stage, visit, alone)
    stage.wait(visit)
    origin = stranger(stage, found)
    made = place(stage, visit, document, stage.new_id("made"), SOURCELESS, derived_from=origin)
    stage.wait(visit)
    use(stage, visit, made)
    stage.go_on(visit)
    export_document(stage, visit, [alone, made], document)


def of_another_asset(stage: Stage, visit: Visit, found: Found) -> None:
    """The action names a placement and an asset that is not its."""
    placed = place_found(stage, visit, stage.new_id("d"), found, take(stage, found))
    other = next(asset for asset in stage.catalogue if asset != placed.asset)
    stage.wait(visit)
    ids = {"asset": other, "placement": placed.id, "document": placed.document}
    stage.user(visit, Meaning("none", "placement of another asset"), **ids)


def empty_document(stage: Stage, visit: Visit, found: Found) -> None:
    """A document in which nothing is live is exported, or edited as a whole, which credits nothing."""
    placed = place_found(stage, visit, stage.new_id("d"), found, take(stage, found))
    stage.wait(visit)
    meaning = Meaning("none", "whole document, no outcome")
    stage.act(visit, "user", "edit", meaning, document=placed.document)
    remove(stage, visit, placed)
    stage.wait(visit)
    export_document(stage, visit, [], placed.document)


def circular(stage: Stage, visit: Visit, found: Found) -> None:
    """Two placements are copies of each other."""
    asset, document = take(stage, found), stage.new_id("d")
    one, other = stage.new_id("p"), stage.new_id("p")
    place(stage, visit, document, asset, SOURCELESS, identity=one, copy_of=other)
    stage.wait(visit)
    placed = place(stage, visit, document, asset, SOURCELESS, identity=other, copy_of=one)
    stage.wait(visit)
    stage.user(visit, placed.meaning("circular copies"), placement=other, document=document)


def skewed(stage: Stage, visit: Visit, _: Turn) -> None:
    """A retrieval's clock runs ahead: a claim holds if the retrieval is stamped little after the action."""
    stage.go_on(visit)
    near = stage.chance(0.6)
    ahead = stage.rng.randint(30 * SECOND, SKEW) if near else stage.rng.randint(8 * MINUTE, 20 * MINUTE)
    _, found = look_up(stage, visit, ahead=ahead)
    asset = take(stage, found)
    stage.wait(visit, SECOND, 20 * SECOND)
    if stage.chance(0.5):
        return skewed_placement(stage, visit, found, asset, near)
    meaning = explicit(found.credit(asset), "stamped after the action")
    meaning = meaning if near else Meaning("dangling", "stamped too far after the action")
    return stage.user(visit, meaning, asset=asset, claim=found.id)


def skewed_placement(stage: Stage, visit: Visit, found: Found, asset: str, near: bool) -> None:
    """The same claim on a placement; once the retrieval's time has come, it holds in any case."""
    document = stage.new_id("d")
    lineage = held(found, asset) if near else DANGLING
    placed = place(stage, visit, document, asset, lineage, claim=found.id, actor="user")
    stage.wait(visit, SECOND, 20 * SECOND)
    use(stage, visit, placed)
    visit.session.books.note(
        "placement claims a retrieval stamped later" if near else "placement claims too early"
    )
    if not near:
        stage.wait(visit, 20 * MINUTE, 60 * MINUTE)
        use(stage, visit, replace(placed, lineage=held(found, asset)))


def excluded(stage: Stage, visit: Visit, _: Turn) -> None:
    """An action of a real session names a synthetic retrieval: it is excluded with it."""
    stage.go_on(visit)
    inner = Visit(stage.session(stage.surface(), synthetic=True, user=None), visit.clock)
    _, found = look_up(stage, inner)
    visit.clock = inner.clock
    stage.wait(visit)
    body = {"actor": "user", "action": "export", "source_retrieval_id": found.id}
    stage.wire.send_excluded("action", visit.clock, {**visit.session.common(), **body})
    visit.session.books.note("names a synthetic retrieval")
