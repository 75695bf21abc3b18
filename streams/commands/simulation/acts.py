"""The acts that scenes are made of: looking something up, taking an asset of it, placing it, removing it."""

from .books import Credit, Done, Meaning, folded
from .cast import PLAIN, Found, Lineage, Placed, Search, Turn, Visit
from .stage import Stage

SOURCELESS, REFUTED, DANGLING = Lineage("none"), Lineage("refuted"), Lineage("dangling")
Assets = tuple[str | None, ...]


def draw_lists(stage: Stage, count: int) -> list[Assets]:
    """Lists of different assets, all found by one request."""
    sizes = [stage.rng.randint(2, 12) for _ in range(count)]
    pool = stage.rng.sample(stage.catalogue, sum(sizes) + 1)
    lists: list[list[str | None]] = [[pool.pop() for _ in range(size)] for size in sizes]
    if count > 1 and stage.chance(stage.rates.shared_asset):
        for assets in lists:
            assets.insert(stage.rng.randint(0, len(assets)), pool[0])
    for assets in lists:
        if stage.chance(stage.rates.repeated):
            assets.append(assets[0])
            stage.truth.note("asset twice in a list")
        if stage.chance(stage.rates.hole):
            assets.insert(stage.rng.randint(0, len(assets)), None)
            stage.truth.note("list with a null element")
    return [tuple(assets) for assets in lists]


def look_up(
    stage: Stage, visit: Visit, asset: str | None = None, ahead: int = 0, search: Search = PLAIN
) -> tuple[Turn, Found]:
    """A new prompt with one retrieval, whose complete list holds the asset."""
    turn = stage.prompt(visit, retrieving=True)
    if not ahead:
        stage.wait(visit, 50, 2_000)
    assets: list[str | None] = [*stage.rng.sample(stage.catalogue, stage.rng.randint(3, 10))]
    if asset is not None and asset not in assets:
        assets.insert(stage.rng.randint(0, len(assets)), asset)
    return turn, stage.retrieve(visit, turn, assets, ahead, search)


def pick(stage: Stage, turn: Turn) -> Found:
    """A retrieval of the turn that may have returned something."""
    return stage.rng.choice([found for found in turn.found if not found.null])


def take(stage: Stage, found: Found) -> str:
    """An asset of the list; any asset if none was logged, and now and then if one of the list is unknown."""
    if not found.listed or (not found.complete and stage.chance(0.5)):
        return stage.rng.choice(stage.catalogue)
    return stage.rng.choice(found.listed)


def stranger(stage: Stage, found: Found) -> str:
    """An asset the list does not hold."""
    while (asset := stage.rng.choice(stage.catalogue)) in found.listed:
        pass
    return asset


def explicit(credit: Credit, way: str = "", grade: str = "") -> Meaning:
    """The action's own claim holds."""
    return Meaning("explicit", way, (credit,), grade)


def held(found: Found, asset: str) -> Lineage:
    """A placement whose claim holds."""
    return Lineage("held", found.credit(asset))


def place(
    stage: Stage, visit: Visit, document: str, asset: str, lineage: Lineage, *,
    actor: str | None = None, grade: str = "", **ids: str | None,
) -> Placed:  # fmt: skip
    """Place an asset in a document, with this lineage; placed by somebody, that is an action too.

    The ids: claim, copy_of, derived_from, request, and identity, if the placement has its id already.
    """
    session, identity = visit.session, ids.get("identity") or stage.new_id("p")
    placed = Placed(identity, document, asset, lineage)
    common = session.common()
    if stage.chance(stage.rates.no_session):
        common |= {"session_guid": None, "conversation_id": None}
        stage.truth.note("placement without session_guid")
    body = {
        "placement_id": placed.id,
        "document_id": document,
        "asset_id": asset,
        "op": stage.rng.choice(("place", None)),
        "actor": actor,
        "request_id": ids.get("request"),
        "source_retrieval_id": ids.get("claim"),
        "source_placement_id": ids.get("copy_of"),
        "derived_from_asset_id": ids.get("derived_from"),
    }
    stage.wire.send("placement", visit.clock, {**common, **body})
    if actor is not None and ids.get("identity") is None:
        key = f"place:{document}/{placed.id}"
        guid = None if common["session_guid"] is None else session.guid
        meaning = placed.meaning("by placing", grade)
        done = Done(key, visit.clock, actor, "place", folded(session.surface), guid, asset, True, meaning)
        session.books.done(done)
    return placed


def remove(stage: Stage, visit: Visit, placed: Placed) -> None:
    """Take a placement out of its document."""
    body = {
        "placement_id": placed.id,
        "document_id": placed.document,
        "asset_id": placed.asset,
        "op": "remove",
    }
    stage.wire.send("placement", visit.clock, {**visit.session.common(), **body})
    visit.session.books.note("placement removed")


def place_found(stage: Stage, visit: Visit, document: str, found: Found, asset: str) -> Placed:
    """The plain case: an asset of a retrieval, placed with its claim, by the user or nobody in particular."""
    actor = stage.rng.choice(("user", None))
    return place(stage, visit, document, asset, held(found, asset), actor=actor, claim=found.id)


def use(stage: Stage, visit: Visit, placed: Placed, request: str | None = None) -> None:
    """A user acts on a placement: by its id, or by document and asset if it is the latest of its asset."""
    if stage.chance(0.5):
        asset = stage.rng.choice((placed.asset, None))
        meaning = placed.meaning("by placement")
        stage.user(
            visit, meaning, placement=placed.id, document=placed.document, asset=asset, request=request
        )
    else:
        use_by_asset(stage, visit, placed, request)


def use_by_asset(stage: Stage, visit: Visit, placed: Placed, request: str | None = None) -> None:
    """A user acts on the asset of a document: on its latest placement there."""
    meaning = placed.meaning("by document and asset")
    stage.user(visit, meaning, document=placed.document, asset=placed.asset, request=request)


def export_document(
    stage: Stage, visit: Visit, live: list[Placed], document: str, actor: str = "user", grade: str = ""
) -> None:
    """Export, share or download a document as a whole: this credits what is live in it."""
    credits = tuple(p.lineage.credit for p in live if p.lineage.credit)
    verdicts = [p.lineage.verdict for p in live]
    failed = next((verdict for verdict in ("refuted", "dangling") if verdict in verdicts), "none")
    meaning = Meaning("document" if credits else failed, "" if credits else "whole document", credits, grade)
    stage.act(visit, actor, stage.rng.choice(("export", "share", "download")), meaning, document=document)
