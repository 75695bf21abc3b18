"""The retrieval: its record, the claims on it, and what is true of it.

Three layers. `record` is home to retrieval records; it tells its request what was returned, its conversation
what was looked for, and whatever claims it whether it is excluded. `evidence` tests what is offered, answers
every action, and tells a first page that a page was used. `verdict` hears what others say of it.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, cast

from attribution.contribution import Contribution
from attribution.entities import Entity, key_of, remembered
from attribution.events import Retrieval, request_of
from attribution.exclusion import excluded_by_itself, own_exclusion
from attribution.labels import best, best_grades, graded, labels_of, query_key
from attribution.lineage import MAXIMUM_STEPS
from attribution.need import words
from attribution.requests import EXCLUDED
from attribution.retrieval_counters import retrieval_contribution
from attribution.semantics import Semantics
from attribution.statements import (
    Address,
    Again,
    Answer,
    Asked,
    Asks,
    Content,
    Ended,
    Excluded,
    Fired,
    Goal,
    Grades,
    Listed,
    Lists,
    Logged,
    Named,
    Offer,
    Researched,
    Routed,
    Shown,
    Used,
)
from attribution.verdict import Hints, Verdict, evidence_of, grade, judge, used_at

NAMED: Final = Named()


def record_of(entity: Entity) -> Retrieval | None:
    """The standing record."""
    return cast(Retrieval | None, entity.standing)


def _links(record: Retrieval) -> list[str]:
    """The retrievals that a record names: its first page, and what it reformulates."""
    named = (record.page_of, record.reformulates_retrieval_id)
    return [key_of("retrieval", one) for one in named if one is not None and one != record.retrieval_id]


@remembered
def steps_to_exclusion(entity: Entity, semantics: Semantics) -> int | None:
    """0 for a standing record that is synthetic by itself or its request; else by what it names; None: not.

    Each name is one step, and at most `MAXIMUM_STEPS` count, so that two retrievals that name each other
    do not hold each other excluded when the cause is gone.
    """
    record = record_of(entity)
    if record is None:
        return None
    request = key_of("request", request_of(record))
    if excluded_by_itself(record, semantics.exclusion) or entity.hears_from("request_excluded", request):
        return 0
    links = _links(record)
    said = (
        cast(Excluded, one).steps + 1 for sender, _, one in entity.heard("link_excluded") if sender in links
    )
    steps = min(said, default=MAXIMUM_STEPS + 1)
    return steps if steps <= MAXIMUM_STEPS else None


def is_excluded(entity: Entity, semantics: Semantics) -> bool:
    """Is the standing record synthetic, by itself, by its request, or by a retrieval that it names?"""
    return steps_to_exclusion(entity, semantics) is not None


def exclusion_of(entity: Entity, semantics: Semantics) -> str | None:
    """What excludes the standing record: as `own_exclusion`, `request`, or a `link`; None: nothing."""
    record, steps = record_of(entity), steps_to_exclusion(entity, semantics)
    if record is None or steps is None:
        return None
    return "link" if steps else own_exclusion(record, semantics.exclusion) or "request"


def _linking(entity: Entity, record: Retrieval, steps: int | None) -> dict[Address, Content]:
    """To the retrievals it names, that it does; to those that name it, that it is excluded."""
    own = key_of("retrieval", record.retrieval_id)
    said: dict[Address, Content] = {Address(key, "linked", own): NAMED for key in _links(record)}
    if steps is not None:
        told = {sender for sender, _, _ in entity.heard("linked")}
        said |= {Address(key, "link_excluded", key): Excluded(steps) for key in told}
    return said


def speak_record(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The standing record to its request; or, if excluded, that it is so to those that claim it."""
    record = record_of(entity)
    if record is None:
        return {}
    steps = steps_to_exclusion(entity, semantics)
    said = _linking(entity, record, steps)
    if steps is not None:
        keys = sorted({cast(Asked, content).key for _, _, content in entity.heard("asked")})
        return said | {Address(key, "retrieval_excluded", key): EXCLUDED for key in keys}
    logged = Logged(record.ts, record.session_guid or "", record.returned_asset_ids)
    said[Address(key_of("request", request_of(record)), "record", "")] = logged
    said.update(_lists(entity))
    said.update(_need(record))
    if record.query is not None:
        said[Address(query_key(record.query), "asks", "")] = Asks(record.ts)
    if record.returned_asset_ids and record.session_guid is not None:
        listed = Listed(record.ts, record.user_id, record.returned_asset_ids)
        said[Address(key_of("session", record.session_guid), "listed", "")] = listed
    return said


def _lists(entity: Entity) -> dict[Address, Content]:
    """To every request that a record of this id names, standing or not: what these records returned."""
    lists: dict[str, tuple[tuple[str | None, ...] | None, ...]] = {}
    for record in (cast(Retrieval, one) for one in entity.own):
        request = request_of(record)
        lists[request] = (*lists.get(request, ()), record.returned_asset_ids)
    return {
        Address(key_of("request", request), "lists", ""): Lists(found) for request, found in lists.items()
    }


def _need(record: Retrieval) -> dict[Address, Content]:
    """To the conversation, what was looked for; to the retrieval that this one reformulates, that it does."""
    said: dict[Address, Content] = {}
    conversation = record.conversation_id or record.session_guid
    if conversation is not None and (record.need_id is not None or record.query is not None):
        looked_for = tuple(sorted(words(record.query or "")))
        is_page = record.page_of is not None
        fired = Fired(record.ts, request_of(record), record.need_id, looked_for, is_page)
        said[Address(key_of("conversation", conversation), "fired", "")] = fired
    named = record.reformulates_retrieval_id
    if named is not None and named != record.retrieval_id and record.page_of is None:
        said[Address(key_of("retrieval", named), "reformulated", "")] = Again(record.ts)
    return said


def offers(entity: Entity) -> Iterator[Offer]:
    """Every action offered to this retrieval, once."""
    by_action = {subject: cast(Offer, content) for _, subject, content in entity.heard("offer")}
    yield from by_action.values()


def speak_evidence(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The answer to every action offered."""
    record = record_of(entity)
    excluded = is_excluded(entity, semantics)
    session = record.session_guid if record is not None else None
    ts = record.ts if record is not None else 0
    said: dict[Address, Content] = {
        Address(key_of("action", offer.act.id), "answer", offer.act.id): Answer(
            "excluded" if excluded else grade(record, offer)[0], session, ts
        )
        for offer in offers(entity)
    }
    if record is not None and record.page_of is not None and not excluded:
        used = used_at(evidence_of(record, offers(entity), shown_at(entity, record)), semantics.standard)
        if used is not None:
            said[Address(key_of("retrieval", record.page_of), "page_used", "")] = Used(used)
    return said


def shown_at(entity: Entity, record: Retrieval) -> int | None:
    """When the answer of the retrieval's own request was shown, at or after it."""
    own_request = key_of("request", request_of(record))
    shown = [cast(Shown, said).ts for sender, _, said in entity.heard("shown") if sender == own_request]
    return min(shown, default=None)


@remembered
def verdict_of(entity: Entity, semantics: Semantics) -> Verdict | None:
    """What is true of the retrieval; None if it is excluded, or only claimed and never logged."""
    record = record_of(entity)
    if record is None or is_excluded(entity, semantics):
        return None
    evidence = evidence_of(record, offers(entity), shown_at(entity, record))
    return judge(record, evidence, _hints(entity, record), semantics)


class Judged(NamedTuple):
    """A retrieval that is in the figures: its record, what is true of it, and the labels that hold for it."""

    record: Retrieval
    verdict: Verdict
    grades: Mapping[str, int]

    @property
    def in_layer_one(self) -> bool:
        """Has it a logged list, and was a retrieval wanted?"""
        return self.record.returned_asset_ids is not None and self.verdict.intents != 0


def judged(entity: Entity, semantics: Semantics) -> Judged | None:
    """The retrieval with its verdict; None if it is in no figure."""
    record, verdict = record_of(entity), verdict_of(entity, semantics)
    if record is None or verdict is None:
        return None
    return Judged(record, verdict, grades_of(entity, record))


def speak_verdict(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """To the session: when the retrieval fired, and whether it led to an outcome, there or anywhere."""
    record, verdict = record_of(entity), verdict_of(entity, semantics)
    if record is None or verdict is None or record.session_guid is None:
        return {}
    ended = Ended(record.ts, record.digest, record.surface, verdict.outcome)
    return {Address(key_of("session", record.session_guid), "ended", ""): ended}


def grades_of(entity: Entity, record: Retrieval) -> dict[str, int]:
    """The label that holds for each asset: the retrieval's own, else its query's."""
    asked = query_key(record.query) if record.query is not None else ""
    by_query = {
        asset: grade
        for sender, _, said in entity.heard("query_grades")
        if sender == asked
        for asset, grade in cast(Grades, said).grades
    }
    return by_query | best_grades(graded(entity))


def _goal(entity: Entity, own_request: str) -> int | None:
    """The retrieval's own goal label, else its request's."""
    own = best(labels_of(entity, "goal"))
    if own is not None:
        return own
    told = [cast(Goal, said).reached for sender, _, said in entity.heard("goal") if sender == own_request]
    return told[0] if told else None


def _hints(entity: Entity, record: Retrieval) -> Hints:
    """What others say of this retrieval."""
    conversation = key_of("conversation", record.conversation_id or record.session_guid or "")
    researched = [
        cast(Researched, said) for sender, _, said in entity.heard("researched") if sender == conversation
    ]
    own_request = key_of("request", request_of(record))
    return Hints(
        by_need=tuple(ts for one in researched for ts in one.by_need),
        by_words=tuple(ts for one in researched for ts in one.by_words),
        reformulated=tuple(cast(Again, said).ts for _, _, said in entity.heard("reformulated")),
        page_used_at=min((cast(Used, said).ts for _, _, said in entity.heard("page_used")), default=None),
        goal=_goal(entity, own_request),
        grades=grades_of(entity, record),
        intents=next(
            (
                cast(Routed, said).intents
                for sender, _, said in entity.heard("routed")
                if sender == own_request
            ),
            None,
        ),
        substituted=entity.hears_from("substituted", own_request),
    )


def contribute(identity: str, entity: Entity, semantics: Semantics) -> Contribution:
    """The counters of one retrieval, in the minute it fired."""
    record, verdict = record_of(entity), verdict_of(entity, semantics)
    if record is None or verdict is None:
        return {}
    return retrieval_contribution(record, verdict, semantics)
