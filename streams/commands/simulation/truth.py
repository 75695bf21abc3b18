"""The books of the simulator: what each emitted event was meant to be, written down when it was emitted.

Nothing here finds out what an event means. A scene says "this export credits that retrieval, with this asset
at rank 3"; the books keep it, and count it (`figures.py`).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .figures import WINDOWS, Row, metrics

STRICT = frozenset({"export", "share", "download"})
STANDARD = STRICT | {"select", "place", "edit", "follow_up"}
NEVER_BROAD = frozenset({"reject", "correct", "not_helpful", "show"})
KNOWN_SURFACES = ("chat", "gallery", "editor", "unknown")
ROLES = ("direct_lookup", "browse", "act_on", "generation_reference", "task_step", "contextual")


@dataclass
class Retrieved:
    """A retrieval and what has been done with it: marks of evidence, and the rank of each consumed asset."""

    id: str
    ts: int
    session: str
    role: str
    surface: str
    logged: frozenset[str]  # which of returned_asset_ids, role, request_id the event carries
    null: bool
    marks: set[str] = field(default_factory=set)  # strict, standard, broad, A, D, rejected, corrected
    ranks: dict[str, int] = field(default_factory=dict)


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
    has_asset: bool
    traceable: bool  # names an asset, a placement or a document
    meaning: Meaning

    @property
    def credited(self) -> list[str]:
        return sorted({credit.retrieved.id for credit in self.meaning.credits})

    @property
    def outcome(self) -> bool:
        return self.actor == "user" and self.action in STRICT

    @property
    def cross_session(self) -> bool:
        return any(credit.retrieved.session != self.session for credit in self.meaning.credits)


class Truth:
    """All that was meant, and the figures that follow from it by counting."""

    def __init__(self) -> None:
        self.retrievals: list[Retrieved] = []
        self.actions: list[Done] = []
        self.dispositions: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()

    def note(self, occurrence: str) -> None:
        """Count that something of this kind occurred."""
        self._seen[occurrence] += 1

    def retrieved(self, retrieval: Retrieved) -> None:
        """Book a retrieval."""
        self.retrievals.append(retrieval)
        for name in ("returned_asset_ids", "role", "request_id"):
            if name not in retrieval.logged:
                self.note(f"retrieval without {name}")
        self.note(f"role {retrieval.role}")
        self.note(f"surface {retrieval.surface}")
        if retrieval.null:
            self.note("null result")

    def done(self, action: Done) -> None:
        """Book an action and its evidence on every retrieval it credits."""
        self.actions.append(action)
        meaning = action.meaning
        self.note(f"resolution {meaning.resolution}")
        if meaning.way:
            self.note(f"{meaning.resolution} {meaning.way}")
        if action.outcome and meaning.credits:
            self.note("attributed outcome across sessions" if action.cross_session else "attributed outcome")
        if len(action.credited) > 1:
            self.note(f"{meaning.resolution} crediting several")
        for credit in meaning.credits:
            self._credit(action, credit)

    def _credit(self, action: Done, credit: Credit) -> None:
        marks = user_marks(action.action) if action.actor == "user" else {action.meaning.grade} - {""}
        credit.retrieved.marks |= marks
        for mark in marks:
            self.note(f"evidence {mark}")
        self.note(f"credited {action.actor} {action.action}")
        if credit.asset and credit.rank and marks & {"standard", "A", "D"}:
            credit.retrieved.ranks[credit.asset] = credit.rank

    def read(self, disposition: str) -> None:
        """Book what reading one record comes to."""
        self.dispositions[disposition] += 1

    def metrics(self, as_of_ms: int, windows: Iterable[str] = WINDOWS) -> list[Row]:
        """The figures at a time, as rows of name, labels and value; counts of 0 are left out."""
        return metrics(self.retrievals, self.actions, as_of_ms, windows)

    def intake(self) -> dict[str, int]:
        """How many records of each disposition, read in the order in which they were returned."""
        return dict(sorted(self.dispositions.items()))

    def resolution_counts(self) -> dict[str, int]:
        """How many actions of each resolution, over all time."""
        return dict(sorted(Counter(action.meaning.resolution for action in self.actions).items()))

    def attributions(self) -> dict[str, tuple[str, list[str]]]:
        """Action id -> (resolution, credited retrievals), of all actions with an id.

        That is the event_id; for the `place` of a placement it is `place:<document_id>/<placement_id>`.
        """
        return {a.key: (a.meaning.resolution, a.credited) for a in self.actions if a.key is not None}

    def occurrences(self) -> dict[str, int]:
        """How often each rule, grade, definition, kind of evidence and oddity occurs."""
        seen = Counter(self._seen)
        for retrieval in self.retrievals:
            seen.update(f"retrieval {grade}" for grade in grades(retrieval.marks))
        seen.update({f"record {name}": count for name, count in self.dispositions.items()})
        return dict(sorted(seen.items()))


def user_marks(action: str) -> set[str]:
    """What a user's action says about a retrieval it is attributed to."""
    marks = {name for name, actions in (("strict", STRICT), ("standard", STANDARD)) if action in actions}
    if action not in NEVER_BROAD:
        marks.add("broad")
    return marks | {"reject": {"rejected"}, "correct": {"corrected"}}.get(action, set())


def grades(marks: set[str]) -> list[str]:
    """The marks of a retrieval, the definitions it has no evidence for, agent use that a user confirmed."""
    silent = [
        f"without evidence {name}"
        for name in ("strict", "standard", "broad")
        if not marks & {name, "A", "D", "rejected"}
    ]
    return [*sorted(marks), *silent, *(["agent use confirmed"] if {"A", "standard"} <= marks else [])]


def folded(surface: str | None) -> str:
    """The surface as a label: absent is `unknown`, one outside the configured list is `other`."""
    if surface is None:
        return "unknown"
    return surface if surface in KNOWN_SURFACES else "other"
