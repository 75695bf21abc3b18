"""The placement record and the judgement: homes that only decide which record of an identity stands."""

from typing import cast

from attribution.entities import Entity, key_of
from attribution.events import Placement
from attribution.exclusion import excluded_by_itself
from attribution.semantics import Semantics
from attribution.statements import Address, Asked, Content, Placed


def is_excluded(entity: Entity, semantics: Semantics) -> bool:
    """Is the standing record synthetic, by itself or by the request it names?"""
    record = entity.standing
    if record is None:
        return False
    named = record.request_id is not None and entity.hears_from(
        "request_excluded", key_of("request", record.request_id)
    )
    return named or excluded_by_itself(record, semantics.exclusion)


def speak_placement(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The record to its document, and the document's question to the retrieval it claims."""
    record = cast(Placement | None, entity.standing)
    if record is None:
        return {}
    document = key_of("document", record.document_id)
    placed = Placed(record, is_excluded(entity, semantics))
    said: dict[Address, Content] = {Address(document, "placement", ""): placed}
    if record.source_retrieval_id is not None:
        retrieval = key_of("retrieval", record.source_retrieval_id)
        said[Address(retrieval, "asked", document)] = Asked(record.document_id)
    return said


def speak_judgement(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """A judgement has nobody to tell yet: Layers 0 and 1 and goals will hear it."""
    return {}
