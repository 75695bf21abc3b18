"""The books of the simulator: what each emitted event was meant to be, written down when it was emitted.

Nothing here finds out what an event means. A scene says "this export credits that retrieval, with this asset
at rank 3"; the books keep it, and count it (`figures.py`).
"""

from collections import Counter
from collections.abc import Iterable

from .books import USED, Books, Credit, Done, Prompted, Retrieved
from .figures import metrics
from .rows import WINDOWS, Row


class Truth(Books):
    """All that was meant, and the figures that follow from it by counting."""

    def __init__(self) -> None:
        super().__init__()
        self.dispositions: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()

    def note(self, occurrence: str) -> None:
        """Count that something of this kind occurred."""
        self._seen[occurrence] += 1

    def prompted(self, prompt: Prompted) -> None:
        """Book a prompt."""
        self.prompts.append(prompt)
        self.note(f"route {prompt.route}")
        self.note(f"reformulation {prompt.reformulation}")

    def retrieved(self, retrieval: Retrieved) -> None:
        """Book a retrieval."""
        self.retrievals.append(retrieval)
        for name in ("returned_asset_ids", "role", "request_id"):
            if name not in retrieval.logged:
                self.note(f"retrieval without {name}")
        self.note(f"role {retrieval.role}")
        self.note(f"surface {retrieval.surface}")
        for name in ("latency_ms", "tokens"):
            self.note(f"retrieval with {name}" if name in retrieval.spent else f"retrieval without {name}")
        if retrieval.null:
            self.note("null result")
        if retrieval.page:
            self.note("empty page" if retrieval.assets == () else "page")

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
        for book in {credit.retrieved.id: credit.retrieved for credit in meaning.credits}.values():
            book.spent_on.append(action.spent)
            for name in action.spent:
                self.note(f"{name} of a credited action")

    def _credit(self, action: Done, credit: Credit) -> None:
        book, marks = credit.retrieved, action.marks()
        book.marks |= marks
        for mark in marks:
            self.note(f"evidence {mark}")
        self.note(f"credited {action.actor} {action.action}")
        if credit.asset and credit.rank and marks & USED:
            book.ranks[credit.asset] = credit.rank
        if marks & {"standard", "A"} and (book.first_use is None or action.ts < book.first_use):
            book.first_use = action.ts
        book.completed = book.completed or action.completes(book.role)
        book.clicks += (action.actor, action.action) == ("user", "click")

    def read(self, disposition: str) -> None:
        """Book what reading one record comes to."""
        self.dispositions[disposition] += 1

    def metrics(self, as_of_ms: int, windows: Iterable[str] = WINDOWS) -> list[Row]:
        """The figures at a time, as rows of name, labels and value; counts of 0 are left out."""
        return metrics(self, as_of_ms, windows)

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
            seen.update(f"retrieval {grade}" for grade in grades(retrieval))
            seen.update(f"signal {signal}" for signal in retrieval.signals)
        seen.update({f"record {name}": count for name, count in self.dispositions.items()})
        return dict(sorted(seen.items()))


def grades(retrieval: Retrieved) -> list[str]:
    """The marks of a retrieval, the definitions it has no evidence for, agent use that a user confirmed."""
    marks = retrieval.marks
    silent = [
        f"without evidence {name}"
        for name in ("strict", "standard", "broad")
        if not marks & {name, "A", "D"} and not retrieval.failed
    ]
    return [*sorted(marks), *silent, *(["agent use confirmed"] if {"A", "standard"} <= marks else [])]
