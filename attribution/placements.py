"""The placement record: a home that only decides which record of an identity stands.

Each record that could make an action `place` says so to that action, whether it stands or not. So an action
that is none exists, and is withdrawn, by what was sent alone: a restart of the state may have lost that it
was announced, and the records may be read again in another order.
"""

from typing import Final, cast

from attribution.entities import Entity, key_of
from attribution.events import Placement, placing_id
from attribution.exclusion import is_excluded
from attribution.semantics import Semantics
from attribution.statements import Address, Asked, Content, Named, Placed

NAMED: Final = Named()


def speak_placement(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    """The record to its document, the document's question to the retrieval it claims, and to the action that
    any of its records would be, that it may be one."""
    record = cast(Placement | None, entity.standing)
    if record is None:
        return {}
    document = key_of("document", record.document_id)
    placed = Placed(record, is_excluded(entity, semantics))
    said: dict[Address, Content] = {Address(document, "placement", ""): placed}
    if record.source_retrieval_id is not None:
        retrieval = key_of("retrieval", record.source_retrieval_id)
        said[Address(retrieval, "asked", document)] = Asked(document)
    placings = (cast(Placement, one) for one in entity.own)
    actions = {placing_id(one) for one in placings if one.actor is not None and one.op != "remove"}
    return said | {Address(key_of("action", action), "placing", ""): NAMED for action in actions}
