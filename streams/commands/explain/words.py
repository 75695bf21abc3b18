"""The words that the explanations share."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from rich.markup import escape

from attribution.events import Event, Retrieval
from attribution.semantics import Semantics
from attribution.statements import Act, Offer, Route
from attribution.verdict import Evidence, grade, refusal

EVIDENCE: Final = {
    "agent": "agent consumption (A): by the agent, in this retrieval's request, before its answer was shown",
    "delegated": "delegated use (D): by the agent, in another request or after the answer was shown",
    "rejected": "an observable failure (F): the user rejected it",
    "corrected": "a correction: neither a failure nor evidence",
    "other": "no evidence: an agent action that does not use the asset",
}
SIGNALS: Final = {
    "rejected": "the user rejected it",
    "researched": "the same need was searched for again, before it was used",
    "substituted": "the agent used an asset that no list of the request holds",
    "researched_inferred": "a similar query came soon after (a shadow signal)",
}
RULES: Final = {
    "explicit": "rule 1, its own claim",
    "inherited": "rule 2, inherited from placement",
    "document": "rule 3, the whole document",
    "request": "rule 4, same request",
    "inferred": "rule 5, same session, by time",
}
EXCLUSIONS: Final = {
    "synthetic": "it says that it is synthetic",
    "session": "its session matches a configured prefix of synthetic sessions",
    "user": "its user is configured as synthetic",
    "query": "its query is configured as synthetic",
    "request": "the prompt of its request is synthetic",
    "link": "a retrieval that it names (page_of, reformulates_retrieval_id) is synthetic",
    "placement": "the placement that it names is synthetic, or comes from what is",
    "retrieval": "the retrieval that it belongs to is synthetic",
    "copy": "it is copied from a placement that is synthetic",
    "itself": "it, or the prompt of its request, is synthetic",
}
REFUSALS: Final = {
    "never_logged": "this retrieval was never logged",
    "too_old": "the retrieval is not within the 30 days before the action (or 5 minutes after it)",
    "later": "the retrieval is not within the 30 days before the action (or 5 minutes after it)",
    "empty_list": "the list is known and empty",
}


def instant(ms: float) -> str:
    """A time, to the millisecond."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{int(ms) % 1000:03d}Z"


def yes(holds: bool) -> str:
    """Yes or no."""
    return "yes" if holds else "no"


def listed(names: Iterable[str]) -> str:
    """Names with commas."""
    return ", ".join(names)


def done(act: Act) -> str:
    """When, who and what, and in which session."""
    where = f" in session {act.session_guid}" if act.session_guid else ""
    return f"{instant(act.ts)}  {act.actor} {act.verb}{where}"


def not_standing(records: Iterable[Event]) -> Iterator[str]:
    """Records of the same identity that lost it to the one that stands."""
    for record in records:
        yield escape(f"  a record that does not stand: {instant(record.ts)}, event {record.event_id or '–'}")


def position(record: Retrieval, route: Route) -> str:
    """Where the list held the asset, or the best placed of its ancestors."""
    returned = record.returned_asset_ids or ()
    found = [asset for asset in route.consumed if asset in returned]
    if not found:
        return "not in the list" if record.returned_asset_ids is not None else "the list was not logged"
    best = route.consumed[0] if route.consumed[0] in returned else min(found, key=returned.index)
    rank = f"rank {returned.index(best) + 1}"
    return rank if best == route.consumed[0] else f"{rank} (its ancestor {best})"


def consumed(record: Retrieval, routes: Iterable[Route]) -> Iterator[str]:
    """The assets taken, and where in the list they were."""
    for route in routes:
        if route.consumed:
            yield escape(f"asset {route.consumed[0]}, {position(record, route)}")


def positives(evidence: Evidence, semantics: Semantics) -> list[str]:
    """The definitions by which this is a genuine positive."""
    if evidence.act.actor != "user":
        return []
    return [one.name for one in semantics.definitions if one.counts(evidence.act.verb)]


def evidence_of(evidence: Evidence, semantics: Semantics) -> str:
    """What a credited action is evidence of."""
    if evidence.kind != "user":
        return EVIDENCE[evidence.kind]
    counting = listed(positives(evidence, semantics))
    return f"a user action: {f'a genuine positive (U) by {counting}' if counting else 'U by no definition'}"


def why_refused(record: Retrieval | None, offer: Offer) -> tuple[str, str] | None:
    """The grade of an action that a retrieval does not take, and why; None: it takes it."""
    why = refusal(record, offer)
    if why is None:
        return None
    tested = dict.fromkeys(asset for route in offer.routes for asset in route.tested)
    words = REFUSALS.get(why) or f"the list holds none of {listed(tested)}"
    return grade(record, offer)[0], words
