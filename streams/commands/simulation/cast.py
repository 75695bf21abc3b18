"""Who and what is on the stage: sessions, turns and what they found, placements and their lineage."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .books import Credit, Meaning, Prompted, Retrieved
from .truth import Truth


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

    prompt: Prompted
    requested: bool  # the retrievals carry the request's id
    found: list[Found] = field(default_factory=list)
    shown: bool = False

    @property
    def request(self) -> str:
        return self.prompt.request

    def holders(self, asset: str) -> list[Found]:
        """The retrievals that carry the request's id and returned the asset."""
        return [found for found in self.found if self.requested and asset in found.listed]


class Search(NamedTuple):
    """What a retrieval says of its search: a query (None: one of its own), and the ids it names."""

    query: str | None = None
    topic: str | None = None  # what the query asks for, if it only looks different
    need: str | None = None
    reformulates: str | None = None
    page_of: str | None = None
    role: str | None = None


PLAIN = Search()


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
