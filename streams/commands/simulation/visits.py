"""Figures of prompts (Layer 0), of sessions, and of what a look at the session alone would have said."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from .books import Books, Done, Labels, Prompted, Retrieved
from .rows import MATURITY, MINUTE, Row, grouped, row, share
from .rows import Labels as RowLabels

HORIZON = 30 * 24 * 60 * MINUTE
LOOK_BACK = 30 * MINUTE


def prompts(asked: list[Prompted], labels: Labels, base: RowLabels) -> Iterator[Row]:
    """Layer 0 of one window."""
    for group, members in grouped(asked, "surface"):
        named = base | group
        intents = [(labels.intents(prompt.request), prompt.retrieved) for prompt in members]
        labelled = [(count, retrieved) for count, retrieved in intents if count is not None]
        yield row("lara_prompts", named, len(members))
        yield row("lara_intent_labelled_prompts", named, len(labelled))
        yield from share("lara_invocation_ratio", named, [prompt.retrieved for prompt in members])
        yield from share("lara_missed_retrieval_ratio", named, [not r for count, r in labelled if count])
        yield from share("lara_multi_intent_ratio", named, [count > 1 for count, _ in labelled])
        for name, retrieved in (("search_reformulation", True), ("downstream_correction", False)):
            chosen = [prompt.reformulation for prompt in members if prompt.retrieved == retrieved]
            yield from share(f"lara_{name}_ratio", named, [flag for flag in chosen if flag is not None])
        for route, count in sorted(Counter(prompt.route for prompt in members).items()):
            yield row("lara_prompts_by_route", named | {"route": route}, count)


@dataclass(frozen=True)
class Stay:
    """A session with a retrieval, of which the earliest gives it time and surface."""

    ts: int
    surface: str
    abandoned: dict[str, bool]


def stays(books: Books) -> list[Stay]:
    """The sessions, and whether anything came of them as far as each attribution sees."""
    retrieved: defaultdict[str, list[Retrieved]] = defaultdict(list)
    for retrieval in books.retrievals:
        retrieved[retrieval.session].append(retrieval)
    outcomes: defaultdict[str | None, list[int]] = defaultdict(list)
    credited: set[str] = set()
    for action in books.actions:
        if action.outcome:
            outcomes[action.session].append(action.ts)
            credited |= {credit.retrieved.session for credit in action.meaning.credits}
    found = []
    for session, members in retrieved.items():
        first = min(members, key=lambda member: member.ts)
        seen = any(first.ts <= ts <= first.ts + HORIZON for ts in outcomes[session])
        found.append(Stay(first.ts, first.surface, {"session": not seen, "lineage": session not in credited}))
    return found


def sessions(visited: list[Stay], base: RowLabels, end: int) -> Iterator[Row]:
    """Sessions and those that were abandoned, of one window."""
    for group, members in grouped(visited, "surface"):
        yield row("lara_sessions", base | group, len(members))
        for attribution in ("session", "lineage"):
            left = [member.abandoned[attribution] for member in members if member.ts < end - MATURITY]
            named = base | group | {"attribution": attribution}
            yield from share("lara_session_abandonment_ratio", named, left)


@dataclass(frozen=True)
class Glance:
    """An action of one retrieval whose asset the session had just seen, perhaps from another retrieval."""

    ts: int
    differs: bool


def glances(books: Books) -> list[Glance]:
    """What the latest list of the session shows, beside what was meant."""
    seen: defaultdict[tuple[str, str], list[Retrieved]] = defaultdict(list)
    for retrieval in books.retrievals:
        for asset in {asset for asset in retrieval.assets or () if asset is not None}:
            seen[retrieval.session, asset].append(retrieval)
    found = []
    for action in books.actions:
        latest = latest_shown(action, seen.get((action.session or "", action.asset or ""), []))
        single = action.meaning.resolution != "document" and len(action.credited) == 1
        if single and latest is not None:
            found.append(Glance(action.ts, latest != action.credited[0]))
    return found


def latest_shown(action: Done, retrievals: list[Retrieved]) -> str | None:
    """The latest of them within the half hour before the action."""
    recent = [(r.ts, r.id.encode()) for r in retrievals if action.ts - LOOK_BACK <= r.ts <= action.ts]
    return max(recent)[1].decode() if recent else None
