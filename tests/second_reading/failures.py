"""5a. Observable failure: what the traces of a retrieval say against it (contract, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.second_reading.choosing import normalise_query
from tests.second_reading.records import Record
from tests.second_reading.resolving import Resolved
from tests.second_reading.rules import HORIZON, INFERRED_RESEARCH_WITHIN, SIGNALS, SKEW, Rules
from tests.second_reading.world import Act, World

SUBSTITUTED_ROLES = {"act_on", "generation_reference", "task_step"}
SUBSTITUTING_VERBS = {"use", "select", "edit", "place", "generate"}

# Scripts that are written without spaces, as code point ranges (whole Unicode blocks).
UNSPACED = [
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x19E0, 0x19FF),  # Khmer Symbols
    (0x3005, 0x3007),  # Han: iteration mark, closing mark, zero
    (0x3040, 0x309F),  # Hiragana
    (0x30A0, 0x30FF),  # Katakana
    (0x31F0, 0x31FF),  # Katakana Phonetic Extensions
    (0x3400, 0x4DBF),  # Han: Extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA9E0, 0xA9FF),  # Myanmar Extended-B
    (0xAA60, 0xAA7F),  # Myanmar Extended-A
    (0xF900, 0xFAFF),  # Han: Compatibility Ideographs
    (0x20000, 0x3FFFF),  # Han: Extensions B and later
]


def signals_of(retrieval: Record, resolved: Resolved, first_uses: dict[str, int], world: World) -> list[str]:
    """Every signal that holds, in the order of the contract; whether it counts is another question."""
    holds = {
        "rejected": is_rejected([act for act, res in resolved if retrieval.identity in res.credits]),
        "researched": is_researched(retrieval, first_uses, world),
        "substituted": is_substituted(retrieval, resolved, world),
        "researched_inferred": is_researched_by_inference(retrieval, first_uses, world),
    }
    return [signal for signal in SIGNALS if holds[signal]]


def counted(signals: Iterable[str], rules: Rules) -> list[str]:
    """F: the signals without the shadow one, unless it is set to count."""
    return [s for s in signals if s != "researched_inferred" or rules.inferred_research == "count"]


def is_rejected(acts: Iterable[Act]) -> bool:
    return any(act.actor == "user" and act.verb == "reject" for act in acts)


# --- researched --------------------------------------------------------------------------------------


def is_researched(retrieval: Record, first_uses: dict[str, int], world: World) -> bool:
    """Somebody had to search again, and said so: by naming this retrieval, or the same need."""
    naming = [
        r
        for r in world.reformulating[retrieval.identity]
        if r is not retrieval and retrieval.ts - SKEW <= r.ts <= retrieval.ts + HORIZON
    ]
    needing = [
        r
        for r in world.in_conversation[retrieval.conversation]
        if retrieval["need_id"] is not None
        and r["need_id"] == retrieval["need_id"]
        and r.request != retrieval.request
        and retrieval.ts < r.ts <= retrieval.ts + HORIZON
    ]
    return any(not r.is_page and not was_used(retrieval, r.ts, first_uses, world) for r in naming + needing)


def is_researched_by_inference(retrieval: Record, first_uses: dict[str, int], world: World) -> bool:
    """Somebody seems to have searched again: a similar query of another turn, soon after."""
    return not retrieval.is_page and any(
        not r.is_page
        and r.request != retrieval.request
        and retrieval.ts < r.ts <= retrieval.ts + INFERRED_RESEARCH_WITHIN
        and is_similar(retrieval["query"], r["query"])
        and not was_used(retrieval, r.ts, first_uses, world)
        for r in world.in_conversation[retrieval.conversation]
    )


def was_used(retrieval: Record, t: int, first_uses: dict[str, int], world: World) -> bool:
    """Whether it, or a page of it, had a U (by `standard`) or an A at or before t."""
    return any(
        r.identity in first_uses and first_uses[r.identity] <= t
        for r in [retrieval, *world.pages_of[retrieval.identity]]
    )


def is_similar(one: str | None, other: str | None) -> bool:
    """Jaccard of at least 1/2; queries without a word are like no other."""
    a, b = words_of(one or ""), words_of(other or "")
    return bool(a | b) and 2 * len(a & b) >= len(a | b)


def words_of(query: str) -> set[str]:
    """The words of the normalised query, or two characters each where words are written without spaces."""
    words: set[str] = set()
    for word in normalise_query(query).split():
        for run in runs_of(word):
            if is_unspaced(run[0]) and len(run) > 1:
                words |= {run[i : i + 2] for i in range(len(run) - 1)}
            else:
                words.add(run)
    return words


def runs_of(word: str) -> list[str]:
    """The word cut wherever unspaced scripts begin or end."""
    runs: list[str] = []
    for character in word:
        if runs and is_unspaced(runs[-1][0]) == is_unspaced(character):
            runs[-1] += character
        else:
            runs.append(character)
    return runs


def is_unspaced(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in UNSPACED)


# --- substituted -------------------------------------------------------------------------------------


def is_substituted(retrieval: Record, resolved: Resolved, world: World) -> bool:
    """The agent went on with something that no list of its request had offered."""
    lists = [r["returned_asset_ids"] for r in world.retrieval_records[retrieval.request]]
    if retrieval["role"] not in SUBSTITUTED_ROLES or not retrieval["returned_asset_ids"] or None in lists:
        return False
    of_request = [(act, res) for act, res in resolved if act.record["request_id"] == retrieval.request]
    if any(retrieval.identity in res.credits for _, res in of_request):
        return False
    return any(
        is_substituting(act, retrieval, lists, world)
        and not any(world.retrievals[r].ts < retrieval.ts for r in res.credits)
        for act, res in of_request
    )


def is_substituting(act: Act, retrieval: Record, lists: Sequence[list[str | None]], world: World) -> bool:
    """Whether the agent consumed what is in none of the lists; a `null` in a list may be anything."""
    if act.actor != "agent" or act.verb not in SUBSTITUTING_VERBS or act.asset is None:
        return False
    if not act.ts - HORIZON <= retrieval.ts <= act.ts:
        return False
    may_be = {act.asset, None} | world.ancestors(act.asset, act.document, act.ts)
    return not any(element in may_be for returned in lists for element in returned)
