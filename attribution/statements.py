"""What one entity tells another.

Rules:
- A statement is a pure function of its sender's state. It goes to one receiver under one topic and one
  subject ("about action a"), and carries the sender's version: of two, the receiver keeps the newer.
- `None` is a statement too: "about this I have nothing to say (any more)".
- Every topic is heard by exactly one layer (`stages.py`); layers speak only to later layers.
"""

from typing import NamedTuple, TypeAlias

from msgspec import Struct

from attribution.events import Action, Placement


class Named(Struct, frozen=True, array_like=True, tag=1):
    """An event to the request it names: tell the event's entity if the request is excluded."""


class Excluded(Struct, frozen=True, array_like=True, tag=2):
    """A request or retrieval to what names it: I am synthetic, so you are."""


class Asked(Struct, frozen=True, array_like=True, tag=3):
    """A placement to the retrieval it claims: this document wants to know whether you are excluded."""

    document: str


class Placed(Struct, frozen=True, array_like=True, tag=4):
    """A placement record to its document."""

    record: Placement
    excluded: bool


class Act(Struct, frozen=True, array_like=True, tag=5):
    """An action as the other entities need it: what was done, when, by whom, to what."""

    id: str
    ts: int
    actor: str
    verb: str
    session_guid: str | None
    surface: str | None
    request_id: str | None
    asset_id: str | None = None
    document_id: str | None = None
    placement_id: str | None = None
    claim: str | None = None


class Logged(Struct, frozen=True, array_like=True, tag=6):
    """A retrieval to its request: when it fired and what it returned."""

    ts: int
    session_guid: str
    returned_asset_ids: tuple[str | None, ...] | None


class Shown(Struct, frozen=True, array_like=True, tag=7):
    """A request to its retrieval: the first agent `show` at or after you (milliseconds)."""

    ts: int


class Route(Struct, frozen=True, array_like=True):
    """One way from an action to a retrieval: the assets the claim is tested with, and those consumed.

    Both lists start with the asset itself and go on with its ancestors; `tested` is empty for a claim
    without asset. `through` are the placements from the action's to the one the claim stands on, empty for
    the action's own claim.
    """

    tested: tuple[str, ...]
    consumed: tuple[str, ...]
    through: tuple[str, ...] = ()


class Offer(Struct, frozen=True, array_like=True, tag=8):
    """An action to a retrieval it may belong to: test these claims, and take what stands."""

    act: Act
    rule: str
    routes: tuple[Route, ...]


class Decision(Struct, frozen=True, array_like=True, tag=9):
    """An action's home to the action: which rule applied, and which retrievals will answer.

    `rule` is a resolution of the contract, or `excluded`. `act` is given where the action has no event of
    its own (the `place` of a first placement record). `dangling` says that a source was named in vain.
    """

    rule: str
    retrievals: tuple[str, ...] = ()
    dangling: bool = False
    act: Act | None = None


class Answer(Struct, frozen=True, array_like=True, tag=10):
    """A retrieval to an action offered to it: `granted`, `refuted`, `dangling` or `excluded`."""

    grade: str
    session_guid: str | None = None


Content: TypeAlias = Named | Excluded | Asked | Placed | Act | Logged | Shown | Offer | Decision | Answer


class Address(NamedTuple):
    """Where a statement goes: the receiver's key, the topic, and what it is about ("" = the sender)."""

    receiver: str
    topic: str
    subject: str


class Message(NamedTuple):
    """A statement on its way. `heal`: it may be a repetition after a crash; what follows is restated."""

    address: Address
    sender: str
    version: int
    content: Content | None
    heal: bool


def act_of(action: Action, identity: str) -> Act:
    """The act of an action event."""
    return Act(
        id=identity,
        ts=action.ts,
        actor=action.actor,
        verb=action.action,
        session_guid=action.session_guid,
        surface=action.surface,
        request_id=action.request_id,
        asset_id=action.consumed_asset_id,
        document_id=action.document_id,
        placement_id=action.placement_id,
        claim=action.source_retrieval_id,
    )
