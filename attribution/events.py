"""The five events of the contract (§1), as a producer sends them.

Rules:
- One struct a type; a field that is absent, null or "" is None. Defaults of the contract (`request_id`,
  `conversation_id`, `surface`) are not filled in here: they are functions below, so that the digest sees
  only what was sent.
- The annotation of a field is its rule: `parsing.py` reads the `kind` of each.
- `digest` is not sent: it is the SHA-256 of the known, present fields, and breaks every tie.
"""

from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

Id: TypeAlias = Annotated[str, Meta(min_length=1, max_length=256, extra={"kind": "id"})]
Text: TypeAlias = Annotated[str, Meta(extra={"kind": "text"})]
Flag: TypeAlias = Annotated[bool, Meta(extra={"kind": "flag"})]
Milliseconds: TypeAlias = Annotated[int, Meta(extra={"kind": "timestamp"})]
Whole: TypeAlias = Annotated[int, Meta(extra={"kind": "whole"})]
Count: TypeAlias = Annotated[int, Meta(ge=0, extra={"kind": "count"})]
Amount: TypeAlias = Annotated[float, Meta(ge=0, extra={"kind": "amount"})]
Ids: TypeAlias = Annotated[tuple[Id | None, ...], Meta(extra={"kind": "ids"})]
Actor: TypeAlias = Annotated[str, Meta(pattern="^(user|agent)$", extra={"kind": "actor"})]
Verb: TypeAlias = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$", extra={"kind": "verb"})]
Operation: TypeAlias = Annotated[str, Meta(pattern="^(place|remove)$", extra={"kind": "operation"})]
JudgementKind: TypeAlias = Annotated[
    str, Meta(pattern="^(relevance|intent|goal)$", extra={"kind": "judgement_kind"})
]

ROLES: Final = ("direct_lookup", "browse", "act_on", "generation_reference", "task_step", "contextual")
UNSPECIFIED: Final = "unspecified"


class Common(Struct, frozen=True, kw_only=True, array_like=True, omit_defaults=True):
    """What every event may carry."""

    ts: Milliseconds
    digest: bytes
    event_id: Id | None = None
    session_guid: Id | None = None
    conversation_id: Id | None = None
    request_id: Id | None = None
    surface: Text | None = None
    user_id: Id | None = None
    synthetic: Flag | None = None


class Prompt(Common, frozen=True, kw_only=True, array_like=True, tag="prompt"):
    """One user turn. Identity: `request_id`."""

    text: Text | None = None
    route: Text | None = None
    reformulation: Flag | None = None


class Retrieval(Common, frozen=True, kw_only=True, array_like=True, tag="retrieval"):
    """One search by the assistant. Identity: `retrieval_id`."""

    retrieval_id: Id
    role: Text | None = None
    query: Text | None = None
    need_id: Id | None = None
    reformulates_retrieval_id: Id | None = None
    page_of: Id | None = None
    returned_asset_ids: Ids | None = None
    retriever: Text | None = None
    latency_ms: Amount | None = None
    tokens: Amount | None = None


class Placement(Common, frozen=True, kw_only=True, array_like=True, tag="placement"):
    """An asset enters or leaves a document. Several records of one `placement_id` are its history."""

    placement_id: Id
    document_id: Id
    asset_id: Id
    op: Operation | None = None
    source_retrieval_id: Id | None = None
    source_placement_id: Id | None = None
    derived_from_asset_id: Id | None = None
    actor: Actor | None = None


class Action(Common, frozen=True, kw_only=True, array_like=True, tag="action"):
    """Something a user or the agent did."""

    actor: Actor
    action: Verb
    consumed_asset_id: Id | None = None
    source_retrieval_id: Id | None = None
    placement_id: Id | None = None
    document_id: Id | None = None
    shown_asset_ids: Ids | None = None
    reason: Text | None = None
    latency_ms: Amount | None = None
    tokens: Amount | None = None


class Judgement(Common, frozen=True, kw_only=True, array_like=True, tag="judgement"):
    """A label: of relevance, of a prompt's retrieval intents, or of a reached goal."""

    kind: JudgementKind
    retrieval_id: Id | None = None
    query: Text | None = None
    asset_id: Id | None = None
    grade: Whole | None = None
    retrieval_intents: Count | None = None
    reached: Flag | None = None
    judge: Text | None = None


Event: TypeAlias = Prompt | Retrieval | Placement | Action | Judgement
EVENT_TYPES: Final[dict[str, type[Event]]] = {
    "prompt": Prompt,
    "retrieval": Retrieval,
    "placement": Placement,
    "action": Action,
    "judgement": Judgement,
}

# Fields that must be there, beside those without which the struct cannot be made.
SESSION_REQUIRED: Final = frozenset({"prompt", "retrieval", "action"})


PLACE: Final = "place:"
EVENT: Final = "event:"


def type_of(event: Event) -> str:
    """The `type` an event was sent under."""
    return type(event).__struct_config__.tag  # type: ignore[return-value]  # a str tag, see the classes


def identity(event: Event) -> str:
    """What makes two records the same event, within a type (contract §1, "Identity")."""
    if isinstance(event, Retrieval):
        return event.retrieval_id
    if isinstance(event, Prompt):
        return event.request_id or event.digest.hex()
    own = event.event_id or event.digest.hex()
    # The ids of actions that have no event (`placing_id`) are not to be had by one that has.
    return f"{EVENT}{own}" if isinstance(event, Action) and own.startswith((PLACE, EVENT)) else own


def placing_id(placement: Placement) -> str:
    """The id of a placement's `place`: `place:<document>/<placement>`, / and % escaped in the document's."""
    document = placement.document_id.replace("%", "%25").replace("/", "%2F")
    return f"{PLACE}{document}/{placement.placement_id}"


def standing_order(event: Event) -> tuple[int, bytes]:
    """Of several records with one identity the smallest of these stands."""
    return (event.ts, event.digest)


def request_of(retrieval: Retrieval) -> str:
    """The request a retrieval belongs to; by default one of its own."""
    return retrieval.request_id or retrieval.retrieval_id


def role_of(retrieval: Retrieval) -> str:
    """One of the six roles, or `unspecified`."""
    return retrieval.role if retrieval.role in ROLES else UNSPECIFIED
