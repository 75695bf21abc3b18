"""What one entity adds to the counters of a minute: the only place where anything is counted.

Rules:
- A counter is one text, `name|label|label`; its labels come from closed vocabularies and hold no `|`.
- A contribution is a pure function of the entity. When an entity changes, the difference between its
  contributions before and after goes to the buckets; a batch run sums the same function.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from attribution.events import Prompt
from attribution.semantics import Semantics, minute_of
from attribution.statements import Act
from attribution.verdict import is_outcome

Counter: TypeAlias = str
Contribution: TypeAlias = Mapping[tuple[int, Counter], int]  # (minute, counter) -> how many

RESOLUTIONS: Final = (
    "explicit",
    "inherited",
    "document",
    "request",
    "inferred",
    "none",
    "refuted",
    "dangling",
)
LINEAGE_FIELDS: Final = (
    "returned_asset_ids",
    "role",
    "request_id",
    "consumed_asset_id",
    "source_retrieval_id",
)
# Resolutions by which lineage itself, not a guess, names the retrieval (rules 1 to 3).
BY_LINEAGE: Final = frozenset({"explicit", "inherited", "document"})


def counter(name: str, *labels: str) -> Counter:
    """The text of a counter."""
    return "|".join((name, *labels))


def lineage_counters(logged: Mapping[str, bool]) -> dict[Counter, int]:
    """Which lineage fields an event should carry, and does."""
    expected = {counter("lineage_expected", field): 1 for field in logged}
    return expected | {counter("lineage_logged", field): 1 for field, there in logged.items() if there}


def prompt_contribution(
    prompt: Prompt, retrieved: bool, intents: int | None, semantics: Semantics
) -> Contribution:
    """The counters of one prompt: was a retrieval fired, was one needed, and was the user asking again?"""
    surface = semantics.surface(prompt.surface)
    needed, asked_again = (intents or 0) >= 1, bool(prompt.reformulation)
    flagged = prompt.reformulation is not None
    facts = {
        "prompts": True,
        "prompts_with_retrieval": retrieved,
        "intent_labelled_prompts": intents is not None,
        "prompts_needing_retrieval": needed,
        "prompts_missed": needed and not retrieved,
        "multi_intent_prompts": (intents or 0) >= 2,
        "flagged_prompts_with_retrieval": flagged and retrieved,
        "search_reformulations": asked_again and retrieved,
        "flagged_prompts_without_retrieval": flagged and not retrieved,
        "downstream_corrections": asked_again and not retrieved,
    }
    counts = {counter(name, surface): 1 for name, holds in facts.items() if holds}
    counts[counter("prompts_by_route", semantics.route(prompt.route), surface)] = 1
    minute = minute_of(prompt.ts)
    return {(minute, name): count for name, count in counts.items()}


def action_contribution(
    act: Act, resolution: str, cross_session: bool, agreed: bool | None, semantics: Semantics
) -> Contribution:
    """The counters of one resolved action, in the minute it happened.

    `agreed`: would inference have named the same retrieval? None where the two cannot be compared.
    """
    counts = {counter("actions", resolution): 1}
    if is_outcome(act):
        labels = (semantics.surface(act.surface), act.verb)
        counts[counter("outcomes", *labels)] = 1
        if resolution in CREDITING:
            counts[counter("attributed_outcomes", *labels)] = 1
        if cross_session:
            counts[counter("cross_session_outcomes", *labels)] = 1
    if agreed is not None:
        counts["inference_compared"] = 1
    if agreed is False:
        counts["inference_differs"] = 1
    logged = {"consumed_asset_id": act.asset_id is not None}
    if act.asset_id is not None or act.placement_id is not None or act.document_id is not None:
        logged["source_retrieval_id"] = resolution in BY_LINEAGE
    counts.update(lineage_counters(logged))
    minute = minute_of(act.ts)
    return {(minute, name): count for name, count in counts.items()}


def session_contribution(
    ts: int, surface: str | None, in_session: bool, by_lineage: bool, semantics: Semantics
) -> Contribution:
    """The counters of one session with a retrieval: abandoned, by each of two ways to see it?"""
    label, minute = semantics.surface(surface), minute_of(ts)
    abandoned = {"session": not in_session, "lineage": not by_lineage}
    counts = {counter("sessions", label): 1}
    counts |= {counter("sessions_abandoned", how, label): 1 for how, holds in abandoned.items() if holds}
    return {(minute, name): count for name, count in counts.items()}


# A resolution is one of these only if it credits a retrieval.
CREDITING: Final = BY_LINEAGE | {"request", "inferred"}


def difference(before: Contribution, after: Contribution) -> dict[tuple[int, Counter], int]:
    """after − before, without zeros."""
    changed = {key: count - before.get(key, 0) for key, count in after.items()}
    changed.update({key: -count for key, count in before.items() if key not in after})
    return {key: delta for key, delta in changed.items() if delta}
