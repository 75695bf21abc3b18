"""What people and the agent do in the simulated assistant: each act is sent, and booked as it was meant.

The caller says what an act means (`Meaning`, `Lineage`); the stage finds nothing out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from .rates import Rates
from .truth import ROLES, STRICT, Credit, Done, Meaning, Retrieved, Truth, folded
from .wire import MINUTE, SECOND, Ended, Wire

CATALOGUE = 2_000
HOUR = 60 * MINUTE
OUTCOMES = tuple(sorted(STRICT))
# What a user does, as often as it stands here; `favourite` is an action that no definition names.
USER_ACTIONS = (
    *["export"] * 6, *["share"] * 2, *["download"] * 3, *["select"] * 4, *["edit"] * 5, *["follow_up"] * 3,
    *["click"] * 4, "helpful", "not_helpful", "favourite", *["reject"] * 2, *["correct"] * 2,
)  # fmt: skip
GENERATIVE = ("generate", "edit")
AGENT_OTHER = ("select", "use", "export", "share", "download")


@dataclass(frozen=True)
class Session:
    """Somebody at the assistant. What a synthetic session does is booked in books nobody reads."""

    guid: str
    surface: str | None
    user: str | None
    conversation: str | None
    synthetic: bool
    books: Truth

    def common(self) -> dict[str, object]:
        """The fields all of its events carry."""
        return {
            "session_guid": self.guid,
            "surface": self.surface,
            "user_id": self.user,
            "conversation_id": self.conversation,
            "synthetic": True if self.synthetic else None,
        }


@dataclass
class Visit:
    """Where a course of events stands: whose session, what time."""

    session: Session
    clock: int


@dataclass(frozen=True)
class Found:
    """A retrieval as its scene sees it: the list it logged (None: none), and its page in the books."""

    id: str
    assets: tuple[str | None, ...] | None
    book: Retrieved

    @property
    def listed(self) -> list[str]:
        return [asset for asset in self.assets or () if asset is not None]

    @property
    def null(self) -> bool:
        return self.assets == ()

    @property
    def complete(self) -> bool:
        """Whether its list refutes what it does not hold."""
        return self.assets is not None and None not in self.assets

    def credit(self, asset: str) -> Credit:
        """Credit for an asset at the place it holds in the list."""
        rank = self.assets.index(asset) + 1 if self.assets and asset in self.listed else None
        return Credit(self.book, asset, rank)


@dataclass
class Turn:
    """A prompt and what was retrieved for it."""

    request: str
    requested: bool  # the retrievals carry the request's id
    found: list[Found] = field(default_factory=list)
    shown: bool = False

    def holders(self, asset: str) -> list[Found]:
        """The retrievals that carry the request's id and returned the asset."""
        return [found for found in self.found if self.requested and asset in found.listed]


class Lineage(NamedTuple):
    """Where a placement comes from: `held` by the retrieval of the credit, or refuted, dangling, none."""

    verdict: str
    credit: Credit | None = None


@dataclass(frozen=True)
class Placed:
    """A placement and the lineage it was meant to have."""

    id: str
    document: str
    asset: str
    lineage: Lineage

    def meaning(self, way: str, grade: str = "") -> Meaning:
        """What an action through this placement means."""
        verdict, credit = self.lineage
        if credit is None:
            return Meaning(verdict, way)
        return Meaning("inherited", way, (replace(credit, asset=self.asset),), grade)

    def made_of(self, asset: str) -> Lineage:
        """The lineage of another asset made of this one: the same retrieval, the same rank."""
        verdict, credit = self.lineage
        return Lineage(verdict, credit and replace(credit, asset=asset))


class Stage:
    """The assistant: its catalogue, its sessions, and what can be done there."""

    def __init__(self, rng: Random, rates: Rates, wire: Wire, truth: Truth, prompts: int) -> None:
        self.rng, self.rates, self.wire, self.truth = rng, rates, wire, truth
        self.prompts_left = prompts
        self.catalogue = [self._asset(number) for number in range(CATALOGUE)]
        self.chance, self.new_id = wire.chance, wire.new_id

    def _asset(self, number: int) -> str:
        if self.wire.chance(self.rates.numeric_id):
            return str(10_000 + number)
        return f"asset-{number}" if number % 10 else f"größe-{number}"

    def session(self, synthetic: bool, user: str | None) -> Session:
        """A new session on some surface."""
        kinds = ("chat", "gallery", "editor")
        surface: str | None = "chat" if self.chance(self.rates.chat_entry) else self.rng.choice(kinds[1:])
        if self.chance(self.rates.foreign_surface):
            surface = "canvas"
        if self.chance(self.rates.no_surface):
            surface = None
        guid = self.new_id("s")
        conversation = self.new_id("c") if self.chance(self.rates.conversation) else None
        return Session(guid, surface, user, conversation, synthetic, Truth() if synthetic else self.truth)

    def wait(self, visit: Visit, low: int = SECOND, high: int = 2 * MINUTE) -> None:
        """Time passes."""
        visit.clock += self.rng.randint(low, high)

    def go_on(self, visit: Visit) -> None:
        """Time passes; perhaps the next act happens in another session, hours to two days later."""
        self.wait(visit)
        if self.chance(self.rates.another_session):
            visit.session = self.session(visit.session.synthetic, visit.session.user)
            self.wait(visit, HOUR, 6 * HOUR if self.chance(0.6) else 48 * HOUR)

    def prompt(self, visit: Visit) -> Turn:
        """A user turn, as long as there are any left to simulate."""
        if not self.prompts_left:
            raise Ended
        request = self.new_id("q")
        text = f"show me {self.rng.choice(self.catalogue)}"
        self.wire.send("prompt", visit.clock, {**visit.session.common(), "request_id": request, "text": text})
        self.prompts_left -= 1
        return Turn(request, requested=not self.chance(self.rates.no_request))

    def retrieve(
        self, visit: Visit, turn: Turn, assets: Sequence[str | None] | None, ahead: int = 0
    ) -> Found:
        """A retrieval of this list (None: not logged), stamped by a clock that is so much ahead."""
        role = self._role()
        sent = {
            "retrieval_id": self.new_id("r"),
            "request_id": turn.request if turn.requested else None,
            "role": role,
            "query": f"like {self.rng.choice(self.catalogue)}",
            "returned_asset_ids": assets,
            "latency_ms": self.rng.randint(5, 400),
        }
        session, stamped, identity = visit.session, visit.clock + ahead, str(sent["retrieval_id"])
        self.wire.send("retrieval", stamped, {**session.common(), **sent})
        logged = {name for name in ("returned_asset_ids", "request_id") if sent[name] is not None}
        known_role = {"role"} if role in ROLES else set[str]()
        book = Retrieved(
            identity, stamped, session.guid, str(role) if known_role else "unspecified",
            folded(session.surface), frozenset(logged | known_role), null=assets is not None and not assets,
        )  # fmt: skip
        session.books.retrieved(book)
        turn.found.append(Found(identity, None if assets is None else tuple(assets), book))
        return turn.found[-1]

    def _role(self) -> str | None:
        if self.chance(self.rates.no_role):
            return None
        return "muse" if self.chance(self.rates.foreign_role) else self.rng.choice(ROLES)

    def show(self, visit: Visit, turn: Turn) -> bool:
        """The answer reaches the user. Answers whether the show names its request: else it bounds nothing."""
        if self.chance(self.rates.shown_at_once):
            visit.session.books.note("show at the moment of the event before")
        else:
            self.wait(visit, SECOND, 20 * SECOND)
        bound = not self.chance(self.rates.unbound_show)
        assets = turn.found[-1].listed[:5] if turn.found else []
        body = {"actor": "agent", "action": "show", "shown_asset_ids": assets}
        request = {"request_id": turn.request if bound else None}
        self.wire.send("action", visit.clock, {**visit.session.common(), **body, **request})
        visit.session.books.note("show" if bound else "show without request_id")
        turn.shown = turn.shown or bound
        return bound

    def act(self, visit: Visit, actor: str, action: str, meaning: Meaning, **ids: str | None) -> None:
        """An action with these ids (asset, claim, placement, document, request), and what it means."""
        session = visit.session
        body = {
            "actor": actor,
            "action": action,
            "consumed_asset_id": ids.get("asset"),
            "source_retrieval_id": ids.get("claim"),
            "placement_id": ids.get("placement"),
            "document_id": ids.get("document"),
            "request_id": ids.get("request"),
            "reason": self.rng.choice(("wrong_object", "wrong_path", None)) if action == "reject" else None,
        }
        key = self.wire.send("action", visit.clock, {**session.common(), **body})
        traceable = any(ids.get(name) for name in ("asset", "placement", "document"))
        surface, asset = folded(session.surface), bool(ids.get("asset"))
        session.books.done(
            Done(key, visit.clock, actor, action, surface, session.guid, asset, traceable, meaning)
        )

    def user(self, visit: Visit, meaning: Meaning, **ids: str | None) -> None:
        """Some user action."""
        action = self.rng.choice(USER_ACTIONS)
        self.act(visit, "user", action, meaning, **ids)

    def agent(self, visit: Visit, meaning: Meaning, **ids: str | None) -> None:
        """Some agent consumption: mostly a generative edit."""
        action = self.rng.choice(GENERATIVE if self.chance(self.rates.generative) else AGENT_OTHER)
        self.act(visit, "agent", action, meaning, **ids)
