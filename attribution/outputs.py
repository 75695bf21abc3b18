"""What the world is told of one entity: its records on the output topics.

Rules:
- Every record has a key and the version of the entity it was read from: the newest version of a key is true.
- An action or retrieval that is excluded says so: the figures no longer hold what may have been said before.
- What a record `replaces` is added when it is sent (`corrections.py`): it is no part of the state.
- A record that lost its identity to another (`…_id_reused`) is a dead letter of the entity that decided so.
"""

from typing import Final, Literal, NamedTuple, TypeAlias, cast

from msgspec import Struct

from attribution import actions, retrievals
from attribution.corrections import Correction
from attribution.entities import Entity
from attribution.events import Action, Event, Retrieval, identity, request_of, role_of, type_of
from attribution.ranking import BILLION
from attribution.semantics import Semantics
from attribution.verdict import Evidence, Verdict

ATTRIBUTIONS: Final = "attributions"
OUTCOMES: Final = "outcomes"
DEADLETTERS: Final = "deadletters"


class Attribution(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One resolved action (topic `attributions`, key `action_id`)."""

    action_id: str
    ts: int
    actor: str
    action: str
    resolution: str
    retrieval_ids: tuple[str, ...] = ()
    named_retrieval_ids: tuple[str, ...] = ()
    cross_session: bool = False
    session_guid: str | None = None
    document_id: str | None = None
    consumed_asset_id: str | None = None
    version: int = 0
    replaces: Correction | None = None
    left_out: tuple[str, ...] = ()


class Withdrawn(Struct, frozen=True, kw_only=True):
    """An action that is none any more, by an earlier record: no actor placed it, or it was only a show."""

    action_id: str
    resolution: Literal["withdrawn"] = "withdrawn"
    version: int = 0
    replaces: Correction | None = None


class Credit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One action that counts for a retrieval, and as what."""

    action_id: str
    ts: int
    actor: str
    action: str
    resolution: str
    evidence: str
    consumed_asset_ids: tuple[str, ...] = ()
    placement_ids: tuple[str, ...] = ()


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The whole state of one retrieval (topic `outcomes`, key `retrieval_id`)."""

    retrieval_id: str
    excluded: bool = False
    ts: int | None = None
    session_guid: str | None = None
    request_id: str | None = None
    role: str | None = None
    surface: str | None = None
    query: str | None = None
    returned_asset_ids: tuple[str | None, ...] | None = None
    positive: dict[str, bool] = {}
    agent_consumed: bool = False
    delegated: bool = False
    failed: bool = False
    failure_signals: tuple[str, ...] = ()
    corrected: bool = False
    ranks: dict[str, int] = {}
    misrouted: bool = False
    ndcg_at_10: float | None = None
    diagnosis: str | None = None
    completed: bool = False
    goal_reached: bool | None = None
    credits: tuple[Credit, ...] = ()
    version: int = 0
    replaces: Correction | None = None
    left_out: tuple[str, ...] = ()


class Reused(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record whose identity belongs to another (topic `deadletters`, key type, identity and digest)."""

    reason: str
    type: str
    id: str
    ts: int
    digest: str
    standing_digest: str
    event_id: str | None = None
    version: int = 0


Record: TypeAlias = Attribution | Withdrawn | Outcome | Reused


class Output(NamedTuple):
    """One record for an output topic; the announcer puts the entity's version into it."""

    topic: str
    key: str
    record: Record


def of_action(identity: str, entity: Entity, semantics: Semantics) -> list[Output]:
    """The action's resolution, as soon as it has one."""
    one = actions.resolved(identity, entity, semantics)
    if one is None:
        withdrawn = Output(ATTRIBUTIONS, identity, Withdrawn(action_id=identity))
        return [withdrawn] if _is_withdrawn(entity) else []
    record = Attribution(
        action_id=identity,
        ts=one.act.ts,
        actor=one.act.actor,
        action=one.act.verb,
        resolution=one.resolution,
        retrieval_ids=one.retrieval_ids,
        named_retrieval_ids=one.named_retrieval_ids,
        cross_session=one.cross_session,
        session_guid=one.act.session_guid,
        document_id=one.act.document_id,
        consumed_asset_id=one.act.asset_id,
    )
    return [Output(ATTRIBUTIONS, identity, record)]


def _is_withdrawn(entity: Entity) -> bool:
    """Was it an action once, and is none now: no placing any more, or, by an earlier record, a mere show?

    One that was told of its request before its record came was none yet.
    """
    if entity.standing is None:
        once = "request_excluded" not in entity.said and bool(entity.said or entity.version)
        return once and not any(entity.heard("decision"))
    shown = cast(Action, entity.standing).action == actions.SHOW
    return shown and any(cast(Action, record).action != actions.SHOW for record in entity.own[1:])


def of_retrieval(identity: str, entity: Entity, semantics: Semantics) -> list[Output]:
    """The retrieval's state, if it was ever logged, and the records that lost its id."""
    record = retrievals.record_of(entity)
    if record is None:
        return []
    verdict = retrievals.verdict_of(entity, semantics)
    outcome = (
        Outcome(retrieval_id=identity, excluded=True)
        if verdict is None
        else _outcome(record, verdict, semantics)
    )
    return [Output(OUTCOMES, identity, outcome), *reused(entity, "retrieval_id_reused")]


def of_request(identity: str, entity: Entity, semantics: Semantics) -> list[Output]:
    """The prompts that lost the request's id."""
    return list(reused(entity, "request_id_reused"))


def _outcome(record: Retrieval, verdict: Verdict, semantics: Semantics) -> Outcome:
    return Outcome(
        retrieval_id=record.retrieval_id,
        ts=record.ts,
        session_guid=record.session_guid,
        request_id=request_of(record),
        role=role_of(record),
        surface=semantics.surface(record.surface),
        query=record.query,
        returned_asset_ids=record.returned_asset_ids,
        positive=dict(verdict.positive),
        agent_consumed=verdict.agent_consumed,
        delegated=verdict.delegated,
        failed=verdict.failed,
        failure_signals=verdict.signals,
        corrected=verdict.corrected,
        ranks=dict(verdict.ranks),
        misrouted=verdict.intents == 0,
        ndcg_at_10=None if verdict.ndcg_at_10 is None else verdict.ndcg_at_10 / BILLION,
        diagnosis=verdict.diagnosis.verdict,
        completed=verdict.completed,
        goal_reached=None if verdict.goal is None else bool(verdict.goal),
        credits=tuple(_credit(one) for one in verdict.evidence),
    )


def _credit(evidence: Evidence) -> Credit:
    act = evidence.act
    return Credit(
        action_id=act.id,
        ts=act.ts,
        actor=act.actor,
        action=act.verb,
        resolution=evidence.rule,
        evidence=evidence.kind,
        consumed_asset_ids=tuple(route.consumed[0] for route in evidence.routes if route.consumed),
        placement_ids=tuple(placement for route in evidence.routes for placement in route.through),
    )


def reused(entity: Entity, reason: str) -> list[Output]:
    """Records of another event under this identity. Once there is one, all that do not stand are listed."""
    if len(entity.own) < 2 or not any(conflicts(event, entity.own[0]) for event in entity.own[1:]):
        return []
    return [_reused(event, entity.own[0], reason) for event in entity.own[1:]]


def conflicts(event: Event, standing: Event) -> bool:
    """Another event under the same identity, not another copy of the same one."""
    return event.event_id != standing.event_id and event.digest != standing.digest


def _reused(event: Event, standing: Event, reason: str) -> Output:
    record = Reused(
        reason=reason if conflicts(event, standing) else "duplicate",
        type=type_of(event),
        id=identity(event),
        ts=event.ts,
        digest=event.digest.hex(),
        standing_digest=standing.digest.hex(),
        event_id=event.event_id,
    )
    return Output(DEADLETTERS, f"{record.type}:{record.id}:{record.digest}", record)
