"""The rules of contract §2 in words: what each found, and which of them decides."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from attribution.lineage import (
    CLAIMED,
    CYCLE,
    NO_ANCESTOR,
    NO_SOURCE,
    TOO_LONG,
    UNKNOWN_ORIGINAL,
    Lineage,
    Source,
)
from attribution.reasons import Refusals, Step, is_placing
from attribution.statements import Act
from streams.commands.explain.words import instant, listed

NAMES: Final = {
    0: "exclusion",
    1: "rule 1 (its own claim)",
    2: "rule 2 (a placement)",
    3: "rule 3 (the whole document)",
    4: "rule 4 (its request)",
    5: "rule 5 (its session, by time)",
    6: "rule 6 (nothing)",
}
LAST_RULE: Final = 6

# What a rule found, where its reason alone says it.
FOUND: Final = {
    (1, "no_claim"): "it names no retrieval",
    (2, "no_placement"): "it names no placement, and no asset in a document",
    (3, "no_document"): "it names no document",
    (3, "not_whole"): "it names an asset or a placement, not the document as a whole",
    (4, "no_request"): "it names no request",
    (4, "no_asset"): "it names no asset to look for",
    (5, "shadow"): 'only compared: `inference` is "shadow"',
    (5, "no_asset"): "it names no asset to look for",
    (5, "no_session"): "it names no session",
    (6, "left_open"): "no rule before it applies",
}
# What a retrieval that rules 4 and 5 ask has to say; None: it is meant.
HELD: Final[dict[str | None, str]] = {
    None: "listed the asset",
    "not_in_list": "did not list the asset",
    "no_list": "did not log its list",
    "other_user": "was of another user",
    "later": "fired after the action",
    "too_old": "fired too long before the action",
}
AT_ANOTHER_TIME: Final = ("later", "too_old")
NAMED_AT_MOST: Final = 3  # a session may have hundreds


def rule_words(act: Act, step: Step) -> Iterator[str]:
    """One rule: whether it applies and what it found; then the sources or retrievals it looked at."""
    applies = "applies" if step.decision is not None else "does not apply"
    yield f"{NAMES[step.rule]} {applies}: {found(act, step)}"
    yield from (f"    {source_words(source)}" for source in step.sources)
    yield from (f"    {line}" for line in asked_words(step.asked))


def found(act: Act, step: Step) -> str:
    """What the rule found, in a sentence."""
    told = FOUND.get((step.rule, step.reason))
    return told if told is not None else _FOUND[step.rule](act, step)


def reason(act: Act, asked: Sequence[Step]) -> str:
    """Why the rules lead nowhere, in a line: what the deciding one found, or what those before rule 6 did."""
    decisive = asked[-1]
    if decisive.sources:
        return "; ".join(source_words(source) for source in decisive.sources if source.claim is None)
    if decisive.rule != LAST_RULE:
        return found(act, decisive)
    looked = [found(act, step) for step in asked if (step.rule, step.reason) not in FOUND]
    return "; ".join(looked) or "it names nothing that leads to a retrieval"


def _excluded(act: Act, step: Step) -> str:
    return f"placement {act.placement_id} of document {act.document_id} is synthetic, or comes from what is"


def _claim(act: Act, step: Step) -> str:
    return f"it names retrieval {act.claim} itself"


def _placement(act: Act, step: Step) -> str:
    document, placement = f"document {act.document_id}", step.placement
    if step.reason == "no_document":
        return f"it names placement {act.placement_id} but no document in which to look for it"
    if step.reason == "none_live":
        return f"{document} has no live placement of asset {act.asset_id} at that time"
    if step.reason == "unknown_placement":
        since = "" if placement is None else f" at that time: it was placed {instant(placement.first.ts)}"
        return f"{document} knows no placement {act.placement_id}{since}"
    if placement is None:
        return f"{document} has no such placement"
    name = f"placement {placement.first.placement_id} of {document}"
    if step.reason == "other_asset":
        return f"{name} is of asset {placement.first.asset_id}, not {act.asset_id}"
    if step.reason == "not_live":
        return f"{name} is not live at that time: removed {instant(newest(placement, act.ts))}"
    if is_placing(act):
        return f"{name} itself"
    how = "named by the action" if act.placement_id is not None else f"the latest live one of {act.asset_id}"
    return f"{name}, {how}, placed {instant(placement.first.ts)}"


def newest(placement: Lineage, ts: int) -> int:
    """When the newest record of a placement at or before a time was (ms)."""
    return max(record[0] for record in placement.history if record[0] <= ts)


def _document(act: Act, step: Step) -> str:
    if step.reason == "other_verb":
        return f"{act.verb} of a whole document is no export, share or download"
    if not step.sources:
        return f"nothing is live in document {act.document_id} at that time"
    count = len(step.sources)
    return f"{count} {'placement is' if count == 1 else 'placements are'} live in document {act.document_id}"


def _request(act: Act, step: Step) -> str:
    if step.decision is not None:
        return f"request {act.request_id} has retrievals whose list holds asset {act.asset_id}"
    return f"request {act.request_id} has no retrieval whose list holds asset {act.asset_id}"


def _inferred(act: Act, step: Step) -> str:
    if step.decision is not None:
        return f"session {act.session_guid} showed asset {act.asset_id} in a list of the 30 minutes before"
    return f"session {act.session_guid} showed asset {act.asset_id} in no list of the 30 minutes before"


_FOUND: Final[dict[int, Callable[[Act, Step], str]]] = {
    0: _excluded,
    1: _claim,
    2: _placement,
    3: _document,
    4: _request,
    5: _inferred,
}


def asked_words(asked: Refusals) -> Iterator[str]:
    """The retrievals that were asked, those first that hold the asset; many of a kind are only counted."""
    for why, said in HELD.items():
        names = [name for name, found in asked.items() if found == why]
        if why in AT_ANOTHER_TIME and len(names) > NAMED_AT_MOST:
            yield f"{len(names)} retrievals {said}"
        else:
            yield from (f"retrieval {name} {said}" for name in names)


ENDINGS: Final = {
    NO_SOURCE: "which names no source",
    NO_ANCESTOR: "whose ancestor was never placed here before it",
    UNKNOWN_ORIGINAL: "whose original is not in this document",
    CYCLE: "where the way goes round in a circle",
    TOO_LONG: "where the way ends after 16 steps",
}


def source_words(source: Source) -> str:
    """The way from a placement to its source, step by step."""
    steps = [f"placement {source.path[0].first.placement_id}"]
    for before, after in zip(source.path, source.path[1:], strict=False):
        steps.append(f"{_step(before)} placement {after.first.placement_id}")
    last = source.path[-1].first
    if source.ending == CLAIMED:
        return f"source: {listed([*steps, f'which claims retrieval {last.source_retrieval_id}'])}"
    named = last.source_placement_id or last.derived_from_asset_id
    missing = f" ({named})" if named is not None and source.ending in (UNKNOWN_ORIGINAL, NO_ANCESTOR) else ""
    return f"no source: {listed([*steps, ENDINGS[source.ending] + missing])}"


def _step(placement: Lineage) -> str:
    record = placement.first
    if record.source_placement_id is not None:
        return "copied from"
    return f"derived from {record.derived_from_asset_id} of"
