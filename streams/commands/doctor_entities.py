"""`lara doctor`, one entity at a time: what each kind of entity has to say for the notes.

Retrievals come before actions: an action that dangles is told apart by what its retrieval said of it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, cast

from attribution import actions, exclusion, requests, retrievals
from attribution.entities import Entity
from attribution.events import ROLES, Action, Event, Placement, Prompt, Retrieval
from attribution.labels import best, labels_of
from attribution.outputs import conflicts
from attribution.semantics import OTHER, Semantics
from attribution.verdict import DANGLING, OUTCOME_VERBS, grade
from streams.commands.doctor_notes import SHOW, Name, Notes
from streams.commands.source import Source

# A counter behind at most two letters, as in `7` or `r7`: seldom unique over all sessions.
COUNTED: Final = re.compile(r"[A-Za-z]{0,2}[-_]?\d{1,4}", re.ASCII)
# The actions that the contract knows; `place` comes with a placement, and as an action of a user.
_TAKING: Final = frozenset({"select", "edit", "export", "share", "download", "place"})
KNOWN_VERBS: Final = {
    "user": _TAKING | {"click", "follow_up", "reject", "correct", "helpful", "not_helpful"},
    "agent": _TAKING | {"use", "generate", SHOW},
}
# By which statements a retrieval hears that somebody names it.
NAMED_BY: Final = {
    "offer": "actions",
    "asked": "placements and shows",
    "linked": "retrievals",
    "grade": "judgements",
    "label": "judgements",
}


class Examiner:
    """Reads entities into notes."""

    def __init__(self, semantics: Semantics) -> None:
        self.notes = Notes()
        self._semantics = semantics
        self._too_far: set[str] = set()  # actions that name a retrieval which is logged, but out of reach
        self._kinds: Mapping[str, Callable[[str, Entity], None]] = {
            "retrieval": self._retrieval,
            "request": self._request,
            "placement": self._placement,
            "action": self._action,
            "judgement": self._judgement,
        }

    async def read(self, source: Source) -> Notes:
        """All entities of a source."""
        for kind, examine in self._kinds.items():
            async for key, entity in source.entities(kind):
                examine(key.partition(":")[2], entity)
        return self.notes

    def _counts(self, event: Event, excluded: bool) -> bool:
        """Note what every record may carry; is it people's?"""
        self.notes.note("standing")
        if excluded:
            self.notes.note("excluded")
            return False
        self.notes.fields(event)
        surface = self._semantics.surface(event.surface)
        self.notes.note("other surfaces", surface == OTHER, event.event_id, event.surface)
        return True

    def _turn(self, event: Event, identity: str) -> None:
        """Of prompts, retrievals and actions: what ties them to a conversation and to a user."""
        note = self.notes.note
        note("turns")
        note("conversations", event.conversation_id is not None)
        note("no conversation", event.conversation_id is None, identity)
        note("users", event.user_id is not None)
        note("no user", event.user_id is None, identity)

    def _reused(self, identity: str, entity: Entity, records: Name, reused: Name) -> None:
        """Other events under an identity that is taken."""
        self.notes.note(records)
        for other in entity.own[1:]:
            if conflicts(other, entity.own[0]):
                self.notes.note(records)
                self.notes.note(reused, True, identity)
                elsewhere = other.session_guid != entity.own[0].session_guid
                self.notes.note("reused in another session", elsewhere, identity)

    def _retrieval(self, identity: str, entity: Entity) -> None:
        record = retrievals.record_of(entity)
        if record is None:
            by = next((who for topic, who in NAMED_BY.items() if any(entity.heard(topic))), None)
            self.notes.note("unknown retrievals", by is not None, identity, by)
            return
        if not self._counts(record, retrievals.is_excluded(entity, self._semantics)):
            return
        self._reused(identity, entity, "records of retrievals", "reused retrieval ids")
        self._turn(record, identity)
        self._cost(record)
        self._logged(record, identity)
        for offer in retrievals.offers(entity):
            if grade(record, offer)[0] == DANGLING:
                self._too_far.add(offer.act.id)
        verdict = retrievals.verdict_of(entity, self._semantics)
        self.notes.note("judged", verdict is not None and verdict.scores is not None)
        self.notes.note("goals", verdict is not None and verdict.goal is not None)

    def _logged(self, record: Retrieval, identity: str) -> None:
        """Which fields of its own a retrieval carries."""
        note, returned = self.notes.note, record.returned_asset_ids
        note("retrievals")
        note("lists", returned is not None)
        note("holes", returned is not None and None in returned, identity)
        note("empty pages", returned == () and record.page_of is not None, identity)
        note("own requests", record.request_id is not None)
        note("roles", record.role in ROLES)
        note("other roles", record.role is not None and record.role not in ROLES, identity, record.role)
        note("needs", record.need_id is not None or record.reformulates_retrieval_id is not None)
        note("unasked", record.query is None, identity)
        note("counted ids", COUNTED.fullmatch(identity) is not None, identity)

    def _request(self, identity: str, entity: Entity) -> None:
        prompt = cast(Prompt | None, entity.standing)
        excluded = requests.is_excluded(entity, self._semantics)
        if prompt is not None and self._counts(prompt, excluded):
            self._prompt(identity, prompt, entity)
        if not excluded and any(entity.heard("record")):
            self.notes.note("requests")
            self.notes.note("prompted", prompt is not None)
            shown = any(entity.heard("show"))
            self.notes.note("shown", shown)
            self.notes.note("unshown", not shown, identity)

    def _prompt(self, identity: str, prompt: Prompt, entity: Entity) -> None:
        self._reused(identity, entity, "records of prompts", "reused request ids")
        self._turn(prompt, identity)
        note, folded = self.notes.note, prompt.route is not None
        note("prompts")
        note("routes", folded)
        folded = folded and self._semantics.route(prompt.route) == OTHER
        note("other routes", folded, identity, prompt.route)
        note("flags", prompt.reformulation is not None)
        note("intents", best(labels_of(entity, "intent")) is not None)
        note("counted request ids", COUNTED.fullmatch(identity) is not None, identity)

    def _placement(self, identity: str, entity: Entity) -> None:
        record = cast(Placement | None, entity.standing)
        if record is None or not self._counts(record, exclusion.is_excluded(entity, self._semantics)):
            return
        sources = (record.source_retrieval_id, record.source_placement_id, record.derived_from_asset_id)
        if record.op != "remove":
            self.notes.note("placements")
            self.notes.note("sources of placements", any(source is not None for source in sources))

    def _action(self, identity: str, entity: Entity) -> None:
        record = cast(Action | None, entity.standing)
        one = actions.resolved(identity, entity, self._semantics)
        excluded = exclusion.is_excluded(entity, self._semantics) or (
            one is not None and one.resolution == "excluded"
        )
        if record is not None and self._counts(record, excluded):
            self._acted(record, identity)
        if one is not None and not excluded:
            self._resolved(one)

    def _acted(self, record: Action, identity: str) -> None:
        """Which fields an action carries."""
        note, user = self.notes.note, record.actor == "user"
        self._turn(record, identity)
        note("unknown verbs", record.action not in KNOWN_VERBS[record.actor], identity, record.action)
        if record.action == SHOW:
            note("shows", not user)
            note("shows without request", not user and record.request_id is None, identity)
            return
        ways = (record.source_retrieval_id, record.placement_id, record.document_id)
        outcome = user and record.action in OUTCOME_VERBS
        note("actions")
        note("assets", record.consumed_asset_id is not None)
        note("ways", any(way is not None for way in ways))
        note("user actions", user)
        note("rejects", user and record.action == "reject")
        note("outcomes", outcome)
        note("outcomes in documents", outcome and record.document_id is not None)
        if not user:
            self._cost(record)

    def _cost(self, record: Retrieval | Action) -> None:
        self.notes.note("costed")
        self.notes.note("latencies", record.latency_ms is not None)
        self.notes.note("tokens", record.tokens is not None)

    def _resolved(self, one: actions.Resolved) -> None:
        """Which rule an action found, or why it found nothing; a `place` too, which has no record."""
        note, act = self.notes.note, one.act
        dangling = one.resolution == "dangling"
        note("resolved")
        note("refuted", one.resolution == "refuted", act.id)
        note("none with asset", one.resolution == "none" and act.asset_id is not None, act.id)
        note("unknown placements", dangling and not one.named_retrieval_ids, act.id)
        if dangling and one.named_retrieval_ids:
            note("too far" if act.id in self._too_far else "never logged", True, act.id)

    def _judgement(self, identity: str, entity: Entity) -> None:
        record = entity.standing
        if record is not None:
            self._counts(record, exclusion.is_excluded(entity, self._semantics))
