"""`lara doctor`, what is noted: every entity once, as counts with a few ids. Nothing is judged here.

Rules:
- Noted are standing records. What is excluded (synthetic) is counted as such, and as nothing else.
- A note has a name of `Name`. The ladder and the checks are tables over these names.
- Of every name the same few ids are kept whatever the order, so that one state has one answer.
- Optional fields come from the event structs. A field that only some records of a type can have
  (`APPLIES`) is missed in those only.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from attribution.events import EVENT_TYPES, Event, Judgement, type_of
from attribution.parsing import FORMS, JUDGEMENT_NEEDS

Name = Literal[
    # of retrievals
    "retrievals", "lists", "own requests", "roles", "needs", "judged", "goals", "unasked", "holes",
    "empty pages", "counted ids", "unknown retrievals", "records of retrievals", "reused retrieval ids",
    # of requests and prompts
    "prompts", "routes", "flags", "intents", "requests", "prompted", "shown", "unshown", "records of prompts",
    "reused request ids", "counted request ids",
    # of placements
    "placements", "sources of placements",
    # of actions
    "actions", "assets", "ways", "user actions", "rejects", "outcomes", "outcomes in documents",
    "shows", "shows without request", "unknown verbs", "resolved", "refuted", "none with asset",
    "never logged", "too far", "unknown placements",
    # of several
    "standing", "records", "excluded", "costed", "latencies", "tokens", "turns", "conversations",
    "no conversation", "users", "no user", "other surfaces", "other roles", "other routes",
    "reused in another session",
]  # fmt: skip

EXAMPLES: Final = 3
MAXIMUM_VALUES: Final = 1_000  # of one name; a producer may put anything into a surface

SHOW: Final = "show"
# Fields that only some records of a type can have. Judgements: only the kinds that need the field.
APPLIES: Final[Mapping[tuple[str, str], Callable[[Any], bool]]] = {
    **{
        ("action", field): lambda action: action.action != SHOW
        for field in ("consumed_asset_id", "source_retrieval_id", "placement_id", "document_id")
    },
    ("action", "shown_asset_ids"): lambda action: action.action == SHOW,
    ("action", "reason"): lambda action: action.action == "reject",
}
OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    event_type: tuple(name for name in form.converters if name not in form.required)
    for event_type, form in FORMS.items()
}
_NEEDED: Final = {
    kind: {field for group in groups for field in group} for kind, groups in JUDGEMENT_NEEDS.items()
}
_OF_SOME_KINDS: Final = frozenset(
    field
    for fields in _NEEDED.values()
    for field in fields
    if not all(field in one for one in _NEEDED.values())
)


def applies(event: Event, field: str) -> bool:
    """Can a record like this one carry the field?"""
    if isinstance(event, Judgement):
        return field not in _OF_SOME_KINDS or field in _NEEDED[event.kind]
    condition = APPLIES.get((type_of(event), field))
    return condition is None or condition(event)


class Notes:
    """What was counted, with examples and values."""

    def __init__(self) -> None:
        self.counts: Counter[Name] = Counter()
        self.values: dict[Name, Counter[str]] = {}
        self.records: Counter[str] = Counter(dict.fromkeys(EVENT_TYPES, 0))
        self.expected: Counter[tuple[str, str]] = Counter()  # (type, field): records that can have it
        self.missing: Counter[tuple[str, str]] = Counter()
        self._examples: dict[Name, tuple[str, ...]] = {}

    def note(
        self, name: Name, holds: bool = True, example: str | None = None, value: str | None = None
    ) -> None:
        """Count something, if it holds."""
        if not holds:
            return
        self.counts[name] += 1
        if example is not None:
            kept = {*self._examples.get(name, ()), example}
            self._examples[name] = tuple(sorted(kept, key=_findable)[:EXAMPLES])
        if value is not None:
            values = self.values.setdefault(name, Counter())
            if value in values or len(values) < MAXIMUM_VALUES:
                values[value] += 1

    def examples(self, name: Name) -> tuple[str, ...]:
        """A few ids of what was counted under a name."""
        return self._examples.get(name, ())

    def fields(self, event: Event) -> None:
        """Count a standing record, and the optional fields that it lacks."""
        event_type = type_of(event)
        self.counts["records"] += 1
        self.records[event_type] += 1
        for field in OPTIONAL[event_type]:
            if applies(event, field):
                self.expected[event_type, field] += 1
                self.missing[event_type, field] += getattr(event, field) is None


def _findable(identity: str) -> tuple[int, str]:
    """Short ids first: a producer knows its own, and not the digest that stands in for a missing one."""
    return len(identity), identity
