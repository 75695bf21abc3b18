"""The pages of the simulator's books: what a prompt, a retrieval, an action or a label was meant to be."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

STRICT = frozenset({"export", "share", "download"})
STANDARD = STRICT | {"select", "place", "edit", "follow_up"}
NEVER_BROAD = frozenset({"reject", "correct", "not_helpful", "show"})
KNOWN_SURFACES = ("chat", "gallery", "editor", "unknown")
ROLES = ("direct_lookup", "browse", "act_on", "generation_reference", "task_step", "contextual")
# What completes the task of a role, by actor; of the roles that are not here, a user's outcome.
FOUND = {"user": STRICT | {"select", "place"}, "agent": frozenset[str]()}
COMPLETES = {
    "direct_lookup": FOUND,
    "browse": FOUND,
    "act_on": {"user": STRICT | {"select", "place", "edit"}},
    "generation_reference": {"user": STRICT, "agent": frozenset({"generate", "use"})},
}
USED = frozenset({"standard", "A", "D"})


Spent = dict[str, int]  # latency_ms and tokens, as far as they were logged


@dataclass
class Prompted:
    """A user turn, and whether something was retrieved for it that carries its request."""

    request: str
    ts: int
    surface: str
    route: str
    reformulation: bool | None
    retrieved: bool = False


@dataclass
class Retrieved:
    """A retrieval and what has been done with it: marks of evidence, and the rank of each consumed asset."""

    id: str
    ts: int
    session: str
    request: str  # its own id if it does not carry that of its prompt
    role: str
    surface: str
    logged: frozenset[str]  # which of returned_asset_ids, role, request_id the event carries
    assets: tuple[str | None, ...] | None
    topic: str | None  # what was asked for: queries that only look different have one topic
    page: bool = False
    spent: Spent = field(default_factory=dict)
    spent_on: list[Spent] = field(default_factory=list)  # by the actions that are credited to it
    marks: set[str] = field(default_factory=set)  # strict, standard, broad, A, D, rejected, corrected
    ranks: dict[str, int] = field(default_factory=dict)
    clicks: int = 0
    completed: bool = False
    substituted: bool = False
    first_use: int | None = None  # by a user (standard) or, before the answer, by the agent
    pages: list[Retrieved] = field(default_factory=list)
    searched_again: list[int] = field(default_factory=list)  # when somebody said so
    searched_alike: list[int] = field(default_factory=list)  # when it only looked like it

    @property
    def null(self) -> bool:
        """Nothing was found; an empty page only says that there is no more."""
        return self.assets == () and not self.page

    @property
    def used(self) -> bool:
        return bool(self.marks & USED)

    def excused(self, ts: int) -> bool:
        """Whether it or a page of it had been used when somebody searched again."""
        return any(r.first_use is not None and r.first_use <= ts for r in (self, *self.pages))

    @property
    def signals(self) -> set[str]:
        """What speaks against it, the shadow signal included."""
        holds = {
            "rejected": "rejected" in self.marks,
            "researched": any(not self.excused(ts) for ts in self.searched_again),
            "substituted": self.substituted,
            "researched_inferred": any(not self.excused(ts) for ts in self.searched_alike),
        }
        return {name for name, held in holds.items() if held}

    @property
    def failed(self) -> bool:
        return bool(self.signals - {"researched_inferred"})


@dataclass(frozen=True)
class Credit:
    """One retrieval an action belongs to, by one asset of known rank (None: in no position of a list)."""

    retrieved: Retrieved
    asset: str | None = None
    rank: int | None = None


@dataclass(frozen=True)
class Meaning:
    """What an action is meant to be: its resolution, by which way, whom it credits, and an agent's grade."""

    resolution: str
    way: str = ""
    credits: tuple[Credit, ...] = ()
    grade: str = ""  # of an agent's consumption: "A" or "D"


@dataclass(frozen=True)
class Done:
    """An action as it is booked. `key` names it in the answers: its event_id, if it has one."""

    key: str | None
    ts: int
    actor: str
    action: str
    surface: str
    session: str | None
    asset: str | None
    traceable: bool  # names an asset, a placement or a document
    meaning: Meaning
    spent: Spent = field(default_factory=dict)

    @property
    def credited(self) -> list[str]:
        return sorted({credit.retrieved.id for credit in self.meaning.credits})

    @property
    def outcome(self) -> bool:
        return self.actor == "user" and self.action in STRICT

    @property
    def cross_session(self) -> bool:
        return any(credit.retrieved.session != self.session for credit in self.meaning.credits)

    def marks(self) -> set[str]:
        """What it says about a retrieval it is attributed to."""
        if self.actor != "user":
            return {self.meaning.grade} - {""}
        named = (("strict", STRICT), ("standard", STANDARD))
        marks = {name for name, actions in named if self.action in actions}
        if self.action not in NEVER_BROAD:
            marks.add("broad")
        return marks | {"reject": {"rejected"}, "correct": {"corrected"}}.get(self.action, set())

    def completes(self, role: str) -> bool:
        return self.action in COMPLETES.get(role, {"user": STRICT}).get(self.actor, ())


Label = tuple[bool, int, int]  # by a human?, when, value: of several labels the greatest holds


class Labels:
    """What judges said. A subject is what a label is about."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], Label] = {}
        self._grades: defaultdict[tuple[str, str], dict[str, Label]] = defaultdict(dict)

    def say(self, kind: str, about: str, label: Label) -> None:
        """An intent or goal label: `intents` of a request, `goal of a request`, `goal of a retrieval`."""
        self._values[kind, about] = max(label, self._values.get((kind, about), label))

    def grade(self, kind: str, about: str, asset: str, label: Label) -> None:
        """A relevance label: `retrieval` and its id, or `topic` and what was asked for."""
        grades = self._grades[kind, about]
        grades[asset] = max(label, grades.get(asset, label))

    def intents(self, request: str) -> int | None:
        label = self._values.get(("intents", request))
        return label and label[2]

    def reached(self, retrieval: Retrieved) -> bool | None:
        """Its own label, else that of its request."""
        label = self._values.get(("goal of a retrieval", retrieval.id))
        label = label or self._values.get(("goal of a request", retrieval.request))
        return None if label is None else bool(label[2])

    def grades(self, retrieval: Retrieved) -> dict[str, int]:
        """The grade of each labelled asset: its own labels beat those of its query."""
        labels: dict[str, Label] = {}
        if retrieval.topic is not None:
            labels |= self._grades.get(("topic", retrieval.topic), {})
        labels |= self._grades.get(("retrieval", retrieval.id), {})
        return {asset: max(0, grade) for asset, (_, _, grade) in labels.items()}


@dataclass
class Books:
    """All pages."""

    prompts: list[Prompted] = field(default_factory=list)
    retrievals: list[Retrieved] = field(default_factory=list)
    actions: list[Done] = field(default_factory=list)
    labels: Labels = field(default_factory=Labels)


def folded(surface: str | None) -> str:
    """The surface as a label: absent is `unknown`, one outside the configured list is `other`."""
    if surface is None:
        return "unknown"
    return surface if surface in KNOWN_SURFACES else "other"
