"""Why an action belongs to what it belongs to: the rules of contract §2 in their order, and what each found.

Rules:
- A step looks with the functions that decide (`lineage`, `requests`, `inference`); nothing is decided here.
- The steps end with the first that has a decision; it is the decision that the action was told.
- Step 0 is no rule of the contract: what names an excluded placement is excluded before any rule is asked.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from attribution.contribution import Counter, difference
from attribution.documents import placements_in
from attribution.entities import NOBODY, Entity
from attribution.events import PLACE
from attribution.inference import listed_of, named_by_time, why_not_named
from attribution.lineage import (
    DOCUMENT_VERBS,
    Lineage,
    Resolution,
    Source,
    World,
    placement_for,
    resolve,
    resolve_placing,
)
from attribution.requests import records_of, why_not_held
from attribution.retrievals import contribute
from attribution.semantics import Semantics
from attribution.statements import Act, Decision

Refusals = Mapping[str, str | None]  # retrieval -> why not this one; None: this one
NOTHING: Final[Refusals] = MappingProxyType({})


class Known(NamedTuple):
    """The places that may decide an action: its document, request and session, as far as it names them."""

    document: Entity = NOBODY
    request: Entity = NOBODY
    session: Entity = NOBODY


class Step(NamedTuple):
    """One rule: what it found, and, of the rule that decides, the decision."""

    rule: int
    reason: str
    decision: Decision | None = None
    placement: Lineage | None = None  # rule 2: the one looked at, or that is known but does not exist for it
    sources: tuple[Source, ...] = ()  # rules 2 and 3: where what was placed came from
    asked: Refusals = NOTHING  # rules 4 and 5: the retrievals asked


def steps(act: Act, known: Known, semantics: Semantics) -> tuple[Step, ...]:
    """The rules that were asked, in their order, up to the one that decides."""
    found: list[Step] = []
    for ask in _RULES:
        step = ask(act, known, semantics)
        if step is not None:
            found.append(step)
            if step.decision is not None:
                break
    return tuple(found)


def is_placing(act: Act) -> bool:
    """Is it the action `place` of a placement, which has no event of its own?"""
    return act.id.startswith(PLACE)


def _excluded(act: Act, known: Known, semantics: Semantics) -> Step | None:
    _, excluded = placements_in(known.document)
    if act.placement_id not in excluded:
        return None
    return Step(0, "excluded_placement", Decision("excluded"))


def _by_claim(act: Act, known: Known, semantics: Semantics) -> Step:
    if act.claim is None:
        return Step(1, "no_claim")
    return Step(1, "claim", Decision("explicit", (act.claim,)))


def _by_placement(act: Act, known: Known, semantics: Semantics) -> Step:
    if act.placement_id is None and (act.asset_id is None or act.document_id is None):
        return Step(2, "no_placement")
    if act.document_id is None:
        return Step(2, "no_document", Decision("dangling"))
    placements, _ = placements_in(known.document)
    world, named = World(placements, act.ts), placements.get(act.placement_id or "")
    if is_placing(act) and named is not None:
        return _sourced(world, named, resolve_placing(act, named, placements))
    resolution = resolve(act, placements)
    placement, failing = placement_for(world, act)
    if placement is None or failing:
        return Step(2, failing, resolution.decision, placement or named)
    return _sourced(world, placement, resolution)


def _sourced(world: World, placement: Lineage, resolution: Resolution) -> Step:
    source = world.source(placement)
    return Step(2, source.ending, resolution.decision, placement, (source,))


def _by_document(act: Act, known: Known, semantics: Semantics) -> Step:
    if act.document_id is None:
        return Step(3, "no_document")
    if act.asset_id is not None or act.placement_id is not None:
        return Step(3, "not_whole")
    if act.verb not in DOCUMENT_VERBS:
        return Step(3, "other_verb")
    placements, _ = placements_in(known.document)
    world = World(placements, act.ts)
    sources = tuple(world.source(placement) for placement in world.live())
    decision = resolve(act, placements).decision
    found = any(source.claim is not None for source in sources)
    return Step(3, "sources" if found else "no_sources", decision, sources=sources)


def _by_request(act: Act, known: Known, semantics: Semantics) -> Step:
    if act.request_id is None:
        return Step(4, "no_request")
    if act.asset_id is None:
        return Step(4, "no_asset")
    asked = {name: why_not_held(act, record) for name, record in sorted(records_of(known.request).items())}
    holding = tuple(name for name, why in asked.items() if why is None)
    if not holding:
        return Step(4, "not_held", asked=asked)
    return Step(4, "held", Decision("request", holding), asked=asked)


def _by_inference(act: Act, known: Known, semantics: Semantics) -> Step:
    return inferred(act, known.session) if semantics.inference == "credit" else Step(5, "shadow")


def inferred(act: Act, session: Entity) -> Step:
    """What rule 5 says, whether it is asked or only compared."""
    if act.asset_id is None:
        return Step(5, "no_asset")
    if act.session_guid is None:
        return Step(5, "no_session")
    candidates = listed_of(session)
    asked = {name: why_not_named(act, listed) for name, listed in sorted(candidates.items())}
    named = named_by_time(act, candidates)
    if named is None:
        return Step(5, "not_named", asked=asked)
    return Step(5, "named", Decision("inferred", (named,)), asked=asked)


def _left_open(act: Act, known: Known, semantics: Semantics) -> Step:
    return Step(6, "left_open", Decision("none"))


_RULES: Final[tuple[Callable[[Act, Known, Semantics], Step | None], ...]] = (
    _excluded,
    _by_claim,
    _by_placement,
    _by_document,
    _by_request,
    _by_inference,
    _left_open,
)


def added(
    action_id: str, retrieval_id: str, entity: Entity, semantics: Semantics
) -> dict[tuple[int, Counter], int]:
    """What a retrieval counts more, or less, because this action was offered to it."""
    offered = {key: said for key, said in entity.said.get("offer", {}).items() if key[1] != action_id}
    without = entity._replace(said={**entity.said, "offer": offered})
    return difference(
        contribute(retrieval_id, without, semantics), contribute(retrieval_id, entity, semantics)
    )
