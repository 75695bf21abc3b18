"""The placement record: a home that only decides which record of an identity stands."""

from typing import cast

from attribution.entities import Entity, key_of
from attribution.events import Placement
from attribution.exclusion import is_excluded
from attribution.semantics import Semantics
from attribution.statements import Address, Asked, Content, Placed


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
        said[Address(retrieval, "asked", document)] = Asked(document)
    return said
