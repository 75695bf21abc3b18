"""What people and the agent do in the simulated assistant: each act is sent, and booked as it was meant.

The caller says what an act means (`Meaning`, `Lineage`); the stage finds nothing out.
"""

from collections.abc import Mapping, Sequence
from random import Random

from .books import ROLES, STRICT, Done, Meaning, Prompted, Retrieved, Spent, folded
from .cast import PLAIN, Found, Search, Session, Turn, Visit
from .rates import Rates
from .truth import Truth
from .wire import HOUR, MINUTE, SECOND, Ended, Wire

CATALOGUE = 2_000
OUTCOMES = tuple(sorted(STRICT))
# What a user does, as often as it stands here; `favourite` is an action that no definition names.
USER_ACTIONS = (
    *["export"] * 6, *["share"] * 2, *["download"] * 3, *["select"] * 4, *["edit"] * 5, *["follow_up"] * 3,
    *["click"] * 4, "helpful", "not_helpful", "favourite", *["reject"] * 2, *["correct"] * 2,
)  # fmt: skip
ROUTES = ("retrieve", "generate", "edit", "answer")
GENERATIVE = ("generate", "edit")
AGENT_OTHER = ("select", "use", "export", "share", "download")


def booked(spent: Mapping[str, float | None]) -> Spent:
    """What was spent, in whole numbers."""
    return {name: round(value) for name, value in spent.items() if value is not None}


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

    def surface(self) -> str | None:
        """Where a prompt is entered; None if that is not logged."""
        surface = "chat" if self.chance(self.rates.chat_entry) else self.rng.choice(("gallery", "editor"))
        if self.chance(self.rates.foreign_surface):
            surface = "canvas"
        return None if self.chance(self.rates.no_surface) else surface

    def session(
        self, surface: str | None, synthetic: bool, user: str | None, conversation: str | None = None
    ) -> Session:
        """A new session on a surface, perhaps of a conversation that goes on."""
        guid = self.new_id("s")
        if conversation is None and self.chance(self.rates.conversation):
            conversation = self.new_id("c")
        return Session(guid, surface, user, conversation, synthetic, Truth() if synthetic else self.truth)

    def wait(self, visit: Visit, low: int = SECOND, high: int = 2 * MINUTE) -> None:
        """Time passes."""
        visit.clock += self.rng.randint(low, high)

    def go_on(self, visit: Visit) -> None:
        """Time passes; perhaps the next act happens in another session, hours to two days later."""
        self.wait(visit)
        if self.chance(self.rates.another_session):
            visit.session = self.session(self.surface(), visit.session.synthetic, visit.session.user)
            self.wait(visit, HOUR, 6 * HOUR if self.chance(0.6) else 48 * HOUR)

    def prompt(self, visit: Visit, retrieving: bool) -> Turn:
        """A user turn that will retrieve or not, as long as there are any left to simulate."""
        if not self.prompts_left:
            raise Ended
        flag = self._reformulating(visit, retrieving) if self.chance(self.rates.flagged) else None
        route = self.rng.choice((*ROUTES, "smalltalk")) if self.chance(self.rates.routed) else None
        label, surface = route if route in ROUTES else "other", folded(visit.session.surface)
        prompt = Prompted(self.new_id("q"), visit.clock, surface, label, flag)
        body = {
            "request_id": prompt.request,
            "text": f"show me {self.rng.choice(self.catalogue)}",
            "route": route,
            "reformulation": flag,
        }
        self.wire.send("prompt", visit.clock, {**visit.session.common(), **body})
        visit.session.books.prompted(prompt)
        self.prompts_left -= 1
        return Turn(prompt, requested=not self.chance(self.rates.no_request))

    def _reformulating(self, visit: Visit, retrieving: bool) -> bool:
        if visit.session.surface != "chat":
            return self.chance(self.rates.reformulation_elsewhere)
        if retrieving:
            return self.chance(self.rates.search_reformulation_at_chat)
        return self.chance(self.rates.downstream_correction_at_chat)

    def query(self) -> str:
        """A query of words that no other has."""
        if self.chance(self.rates.unspaced):
            return "".join(chr(self.rng.randrange(0x4E00, 0x9000)) for _ in range(self.rng.randint(8, 12)))
        return f"{self.rng.choice(self.catalogue)} {self.new_id('like')}"

    def retrieve(
        self, visit: Visit, turn: Turn, assets: Sequence[str | None] | None, ahead: int = 0,
        search: Search = PLAIN,
    ) -> Found:  # fmt: skip
        """A retrieval of this list (None: not logged), stamped by a clock that is so much ahead."""
        identity, query, role = self.new_id("r"), search.query or self.query(), search.role or self._role()
        sent = {
            "retrieval_id": identity,
            "request_id": turn.request if turn.requested else None,
            "role": role,
            "query": None if self.chance(self.rates.no_query) and search == PLAIN else query,
            "need_id": search.need,
            "reformulates_retrieval_id": search.reformulates,
            "page_of": search.page_of,
            "returned_asset_ids": assets,
        }
        spent = self.spend(400)
        session, stamped = visit.session, visit.clock + ahead
        self.wire.send("retrieval", stamped, {**session.common(), **sent, **spent})
        logged = {name for name in ("returned_asset_ids", "request_id") if sent[name] is not None}
        known_role = {"role"} if role in ROLES else set[str]()
        book = Retrieved(
            identity, stamped, session.guid, turn.request if turn.requested else identity,
            str(role) if known_role else "unspecified", folded(session.surface),
            frozenset(logged | known_role), None if assets is None else tuple(assets),
            (search.topic or query) if sent["query"] else None, search.page_of is not None, booked(spent),
        )  # fmt: skip
        session.books.retrieved(book)
        turn.prompt.retrieved = turn.prompt.retrieved or turn.requested
        turn.found.append(Found(identity, book.assets, book))
        return turn.found[-1]

    def spend(self, most_ms: int) -> dict[str, float | None]:
        """Milliseconds, whole or not, and tokens, where they are logged."""
        latency = self.rng.randint(5, most_ms) + self.rng.choice((0, 0, 0.25, 0.75))
        tokens = self.rng.randint(0, 5_000) if self.chance(self.rates.tokens) else None
        return {"latency_ms": latency if self.chance(self.rates.latency) else None, "tokens": tokens}

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
        spent = self.spend(20_000)
        key = self.wire.send("action", visit.clock, {**session.common(), **body, **spent})
        traceable = any(ids.get(name) for name in ("asset", "placement", "document"))
        surface, asset = folded(session.surface), ids.get("asset")
        session.books.done(
            Done(
                key,
                visit.clock,
                actor,
                action,
                surface,
                session.guid,
                asset,
                traceable,
                meaning,
                booked(spent),
            )
        )

    def user(self, visit: Visit, meaning: Meaning, **ids: str | None) -> None:
        """Some user action."""
        action = self.rng.choice(USER_ACTIONS)
        self.act(visit, "user", action, meaning, **ids)

    def agent(self, visit: Visit, meaning: Meaning, **ids: str | None) -> None:
        """Some agent consumption: mostly a generative edit."""
        action = self.rng.choice(GENERATIVE if self.chance(self.rates.generative) else AGENT_OTHER)
        self.act(visit, "agent", action, meaning, **ids)
