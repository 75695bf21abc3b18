"""The retrieval: its record, the claims on it, and what is true of it.

Two layers. `record` is home to retrieval records; it tells its request what was returned, and documents
that claim it whether it is excluded. `evidence` tests what is offered and answers every action.
"""

from collections.abc import Iterator
from typing import cast

from attribution.contribution import Contribution, retrieval_contribution
from attribution.entities import Entity, key_of
from attribution.events import Retrieval, request_of
from attribution.exclusion import excluded_by_itself
from attribution.requests import EXCLUDED
from attribution.semantics import Semantics
from attribution.statements import Address, Answer, Asked, Content, Logged, Offer, Shown
from attribution.verdict import Verdict, grade, judge


def record_of(entity: Entity) -> Retrieval | None:
    """The standing record."""
    return cast(Retrieval | None, entity.standing)


def is_excluded(entity: Entity, semantics: Semantics) -> bool:
    """Is the standing record synthetic, by itself or by its request?"""
    record = record_of(entity)
    if record is None:
        return False
    request = key_of("request", request_of(record))
    return excluded_by_itself(record, semantics.exclusion) or entity.hears_from("request_excluded", request)


def speak_record(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The standing record to its request; or, if excluded, that it is so to the documents that claim it."""
    record = record_of(entity)
    if record is None:
        return {}
    if is_excluded(entity, semantics):
        documents = {cast(Asked, content).document for _, _, content in entity.heard("asked")}
        keys = sorted(key_of("document", document) for document in documents)
        return {Address(key, "retrieval_excluded", key): EXCLUDED for key in keys}
    logged = Logged(record.ts, record.session_guid or "", record.returned_asset_ids)
    return {Address(key_of("request", request_of(record)), "record", ""): logged}


def offers(entity: Entity) -> Iterator[Offer]:
    """Every action offered to this retrieval, once."""
    by_action = {subject: cast(Offer, content) for _, subject, content in entity.heard("offer")}
    yield from by_action.values()


def speak_evidence(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The answer to every action offered."""
    record = record_of(entity)
    excluded = is_excluded(entity, semantics)
    session = record.session_guid if record is not None else None
    return {
        Address(key_of("action", offer.act.id), "answer", offer.act.id): Answer(
            "excluded" if excluded else grade(record, offer)[0], session
        )
        for offer in offers(entity)
    }


def verdict_of(entity: Entity, semantics: Semantics) -> Verdict | None:
    """What is true of the retrieval; None if it is excluded, or only claimed and never logged."""
    record = record_of(entity)
    if record is None or is_excluded(entity, semantics):
        return None
    shown = [
        cast(Shown, content).ts for sender, _, content in entity.heard("shown") if _is_own(sender, record)
    ]
    return judge(record, offers(entity), min(shown, default=None), semantics)


def _is_own(sender: str, record: Retrieval) -> bool:
    return sender == key_of("request", request_of(record))


def contribute(identity: str, entity: Entity, semantics: Semantics) -> Contribution:
    """The counters of one retrieval, in the minute it fired."""
    record, verdict = record_of(entity), verdict_of(entity, semantics)
    if record is None or verdict is None:
        return {}
    return retrieval_contribution(record, verdict, semantics)
