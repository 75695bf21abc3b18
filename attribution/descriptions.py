"""What every field of the contract means, a sentence each: for the published schemas and docs/topics.md.

Rules:
- A field is described once, by its name. Where it means something else in one record, that record has a row
  of its own, `record.field`; the record is an event's `type`, or the struct of an output.
- A sentence names the unit, and what absence means where it is not just "not known".
- Values that a vocabulary of the core names are taken from there.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from attribution.contribution import RESOLUTIONS
from attribution.diagnosis import VERDICTS
from attribution.events import ROLES, UNSPECIFIED
from attribution.parsing import REASONS
from attribution.semantics import FAILURE_SIGNALS, OTHER, UNKNOWN_SURFACE


def _words(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


EVENT_FIELDS: Final[Mapping[str, str]] = {
    "type": "Which of the five events this is.",
    "ts": "When it happened (event time): RFC 3339 text with an offset, cut to milliseconds, or milliseconds "
    "since the epoch.",
    "event_id": "Identity of the event within its type; without one, its content is its identity.",
    "prompt.event_id": "Tells a copy of the prompt from another prompt that uses its `request_id` again.",
    "retrieval.event_id": "Tells a copy of the retrieval from another that uses its `retrieval_id` again.",
    "session_guid": "The session in which it happened.",
    "conversation_id": "The conversation, which may outlast a session: on all events or on none; by default "
    "`session_guid`.",
    "request_id": "The user turn to which it belongs.",
    "prompt.request_id": "Identity of the user turn.",
    "retrieval.request_id": "The user turn that the search serves; by default `retrieval_id`.",
    "judgement.request_id": "The user turn that is judged.",
    "surface": "Where in the product it happened: a configured surface, any other counts as "
    f"`{OTHER}`; by default `{UNKNOWN_SURFACE}`.",
    "user_id": "Who it was, to tell two people of one session apart; never a label of a figure.",
    "synthetic": "True of test traffic, which is in no figure.",
    "text": "What the user wrote.",
    "route": f"What the assistant decided to do: a configured route, any other or none counts as `{OTHER}`.",
    "reformulation": "Whether the user said again, in other words, what was not met; absent if not known.",
    "retrieval_id": "The retrieval that is judged.",
    "retrieval.retrieval_id": "Identity of the retrieval, over all sessions.",
    "role": f"What the list is for: {_words(ROLES)}; any other or none counts as `{UNSPECIFIED}`.",
    "query": "What was searched for.",
    "judgement.query": "The query that is judged: holds for every retrieval with the same one.",
    "need_id": "The need behind the search, the same whenever it is searched for again.",
    "reformulates_retrieval_id": "The earlier retrieval that this one repeats in other words.",
    "page_of": "The retrieval of the first page, if this is a further page.",
    "returned_asset_ids": "The full ranked list, before anything filters it: `[]` is a null result, a `null` "
    "element keeps its position, absent means not logged.",
    "retriever": "The retriever that answered.",
    "latency_ms": "How long it took, in milliseconds.",
    "tokens": "How many tokens it took.",
    "placement_id": "The placement that was acted on, of `document_id`.",
    "placement.placement_id": "Identity of the placement in its document; its later records are its history.",
    "document_id": "The document that was acted on.",
    "placement.document_id": "The document that the asset enters or leaves.",
    "asset_id": "The asset that is judged.",
    "placement.asset_id": "The asset that is placed.",
    "op": "Whether the asset enters (`place`, the default) or leaves (`remove`).",
    "source_retrieval_id": "Claim: the retrieval from which the asset came.",
    "source_placement_id": "The placement, in the same document, of which this is a copy.",
    "derived_from_asset_id": "The asset of which this one was made.",
    "actor": "Who acted.",
    "placement.actor": "Who placed it, which makes the first `place` an action `place` too.",
    "action": "What was done: lower case letters, digits and _, such as `export`.",
    "consumed_asset_id": "The asset that was used.",
    "shown_asset_ids": "What was shown to the user, in the order displayed; of an agent's `show`.",
    "reason": "Why it was done; of a `reject` `wrong_object` or `wrong_path`.",
    "kind": "What is judged, which says what else is required.",
    "grade": "How relevant the asset is: 1 and above is relevant, below 0 counts as 0.",
    "retrieval_intents": "How many searches the user turn asks for.",
    "reached": "Whether the user's goal was reached.",
    "judge": "Who judges: `human` (the default), any other text is a model.",
}

EVIDENCE_KINDS: Final = ("user", "agent", "delegated", "rejected", "corrected", "other")

OUTPUT_FIELDS: Final[Mapping[str, str]] = {
    "version": "Of several records with one key, that with the greatest version is the truth.",
    "action_id": "Identity of the action.",
    "retrieval_id": "Identity of the retrieval.",
    "ts": "When the action happened, in milliseconds since the epoch.",
    "Outcome.ts": "When the retrieval fired, in milliseconds since the epoch.",
    "Reused.ts": "When the lost event happened, in milliseconds since the epoch.",
    "actor": "Who acted: `user` or `agent`.",
    "action": "What was done.",
    "resolution": f"The rule that attributed it, or why none did: {_words((*RESOLUTIONS, 'excluded'))}.",
    "Withdrawn.resolution": "It is no action any more: what was said of it before is taken back.",
    "retrieval_ids": "The retrievals that are credited.",
    "named_retrieval_ids": "The retrievals that were asked, credited or not.",
    "cross_session": "Whether a credited retrieval lies in another session than the action.",
    "session_guid": "The session of the action.",
    "Outcome.session_guid": "The session of the retrieval.",
    "document_id": "The document of the action.",
    "consumed_asset_id": "The asset that was used.",
    "excluded": "True of synthetic traffic: it is in no figure, and nothing else is said of it.",
    "request_id": "The user turn of the retrieval.",
    "role": f"What the list was for: {_words((*ROLES, UNSPECIFIED))}.",
    "surface": f"The surface of the retrieval: a configured one or `{OTHER}`.",
    "query": "What was searched for.",
    "returned_asset_ids": "The ranked list as logged; absent if it was not.",
    "positive": "By definition: whether a user's action makes it a genuine positive.",
    "agent_consumed": "Whether the agent used it in its own user turn, before the answer was shown.",
    "delegated": "Whether the agent used it in another user turn, or after the answer was shown.",
    "failed": "Whether an observable failure was seen.",
    "failure_signals": f"The signals seen: {_words(FAILURE_SIGNALS)}.",
    "corrected": "Whether the user corrected what was made of it, which is no failure.",
    "ranks": "By consumed asset: its position in the list, from 1, or the smallest of its ancestors'.",
    "misrouted": "Whether its user turn was judged to ask for no search.",
    "ndcg_at_10": "NDCG at 10, from 0 to 1; absent without a relevant label.",
    "diagnosis": f"Ranking and use read together: {_words(VERDICTS)}.",
    "completed": "Whether the task of its role was completed.",
    "goal_reached": "Whether the goal was judged to be reached; absent if nobody judged.",
    "credits": "The actions that count for it.",
    "Credit.resolution": "The rule by which the action was attributed.",
    "evidence": f"As what the action counts: {_words(EVIDENCE_KINDS)}.",
    "consumed_asset_ids": "The assets that were used.",
    "placement_ids": "The placements through which it was attributed.",
    "reason": f"Why: {_words(name for name in REASONS if not name.endswith('_reused'))}.",
    "Reused.reason": "`retrieval_id_reused` or `request_id_reused`, or `duplicate` of a copy beside one.",
    "detail": "The reason in a sentence, for whoever sent the record.",
    "type": "The event's type, or `unknown`.",
    "topic": "The topic of the record.",
    "partition": "The partition of the record.",
    "offset": "The offset of the record.",
    "sha256": "SHA-256 of the record's value, in hexadecimal digits.",
    "value": "The record's value as text; only if that is switched on.",
    "id": "The identity that both events claim.",
    "digest": "Digest of the event that lost its identity, in hexadecimal digits.",
    "standing_digest": "Digest of the event that stands, in hexadecimal digits.",
    "event_id": "The `event_id` of the event that lost its identity.",
    "left_out": "The largest fields, left out since Kafka takes no record so long; absent if it is whole.",
    "replaces": "What this record corrects, if its decision changed: tells of arrival, and is in no figure.",
    "said": "By field: what the record before said where this one differs.",
    "because": "What newly reached the action or retrieval, at most 5.",
    "more_causes": "How many more causes there are.",
    "what": "A statement by its topic, or `record`.",
    "sender": "Who said it: kind and identity; of a record its digest.",
}


def described(fields: Mapping[str, str], record: str, name: str) -> str:
    """What a field means in one record."""
    return fields.get(f"{record}.{name}") or fields[name]
