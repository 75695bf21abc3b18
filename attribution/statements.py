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
    """An event to what it names: tell me if you are excluded. A placement to its action: you may be one."""


class Excluded(Struct, frozen=True, array_like=True, tag=2):
    """A request or retrieval to what names it: I am synthetic, so you are; after so many steps of naming."""

    steps: int = 0


class Asked(Struct, frozen=True, array_like=True, tag=3):
    """A placement or show to the retrieval it claims: this entity wants to know whether you are excluded."""

    key: str


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
    user_id: str | None = None
    ancestors: tuple[str, ...] = ()  # of the asset, as its document knows them
    latency_ms: int | None = None
    tokens: int | None = None


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
    ancestors: tuple[str, ...] = ()


class Answer(Struct, frozen=True, array_like=True, tag=10):
    """A retrieval to an action offered to it: `granted`, `refuted`, `dangling` or `excluded`."""

    grade: str
    session_guid: str | None = None
    ts: int = 0


class Lists(Struct, frozen=True, array_like=True, tag=11):
    """A retrieval to every request that one of its records names: what these records returned."""

    lists: tuple[tuple[str | None, ...] | None, ...]


class Fired(Struct, frozen=True, array_like=True, tag=12):
    """A retrieval to its conversation: when it fired, for which need, with which words."""

    ts: int
    request_id: str
    need_id: str | None
    words: tuple[str, ...]
    is_page: bool


class Researched(Struct, frozen=True, array_like=True, tag=13):
    """A conversation to a retrieval: when it was first searched for again, by need and by words."""

    by_need: tuple[int, ...]
    by_words: tuple[int, ...]


class Again(Struct, frozen=True, array_like=True, tag=14):
    """A retrieval to the one it says it reformulates: when."""

    ts: int


class Used(Struct, frozen=True, array_like=True, tag=15):
    """A page to its first page: when it was first used (U by `standard`, or A)."""

    ts: int


class Acted(Struct, frozen=True, array_like=True, tag=16):
    """A resolved action to its request: what it consumed, and when what it credits had fired."""

    act: Act
    credited: tuple[tuple[str, int], ...]


class Substituted(Struct, frozen=True, array_like=True, tag=17):
    """A request to a retrieval: the agent's first use of an asset that no list of the request holds."""

    action_id: str


class Label(Struct, frozen=True, array_like=True, tag=18):
    """A judgement to what it is about: `intent` (retrievals needed) or `goal` (reached, 0 or 1)."""

    kind: str
    human: bool
    ts: int
    value: int


class Routed(Struct, frozen=True, array_like=True, tag=19):
    """A request to its retrieval: how many retrievals its prompt needed, as labelled."""

    intents: int


class Goal(Struct, frozen=True, array_like=True, tag=28):
    """A request to its retrieval: whether the goal was reached, as labelled."""

    reached: int


class Graded(Struct, frozen=True, array_like=True, tag=20):
    """A judgement of relevance to the retrieval or query it is about."""

    asset: str
    human: bool
    ts: int
    grade: int


class Asks(Struct, frozen=True, array_like=True, tag=21):
    """A retrieval to its query: this is when I was fired, tell me your labels."""

    ts: int


class Grades(Struct, frozen=True, array_like=True, tag=22):
    """A query to a retrieval: the label of each asset that holds for it."""

    grades: tuple[tuple[str, int], ...]


class Listed(Struct, frozen=True, array_like=True, tag=23):
    """A retrieval to its session: what it returned, for rule 5."""

    ts: int
    user_id: str | None
    returned_asset_ids: tuple[str | None, ...]


class Seen(Struct, frozen=True, array_like=True, tag=24):
    """An action to its session; `placing` if it has no event of its own."""

    act: Act
    placing: bool = False


class Guess(Struct, frozen=True, array_like=True, tag=25):
    """A session to an action: the retrieval that rule 5 names."""

    retrieval_id: str


class Ended(Struct, frozen=True, array_like=True, tag=26):
    """A retrieval to its session: when it fired, where, and whether an outcome credits it."""

    ts: int
    digest: bytes
    surface: str | None
    outcome: bool


class Outcome(Struct, frozen=True, array_like=True, tag=27):
    """An action to its session: a user exported, shared or downloaded something."""

    ts: int


# fmt: off
Content: TypeAlias = (
    Named | Excluded | Asked | Placed | Act | Logged | Shown | Offer | Decision | Answer
    | Lists | Fired | Researched | Again | Used | Acted | Substituted
    | Label | Routed | Goal | Graded | Asks | Grades
    | Listed | Seen | Guess | Ended | Outcome
)
# fmt: on


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


def whole(amount: float | None) -> int | None:
    """Milliseconds and tokens are summed as whole numbers, so that sums do not depend on their order."""
    return None if amount is None else round(amount)


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
        user_id=action.user_id,
        latency_ms=whole(action.latency_ms),
        tokens=whole(action.tokens),
    )
