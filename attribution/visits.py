"""What reached one entity at one layer of a batch, and what it is after that.

Rules:
- A statement that the entity had already, or that may be a repetition, must be followed by a restatement of
  what depends on it ("heal"): of its subject, or of everything, as the topic's scope says.
- What lies beyond a bound (`bounds.py`) is not kept. It is counted, and answered if its topic is.
"""

from collections import Counter
from typing import Final, TypeAlias

from attribution.bounds import ANSWERED, bounded, is_cut
from attribution.entities import Entity, with_message
from attribution.events import Event
from attribution.stages import SCOPES, SUBJECT
from attribution.statements import Message

Heal: TypeAlias = frozenset[str | None]  # the subjects to restate; with None, everything
NOTHING: Final[Heal] = frozenset()
ALL: Final[Heal] = frozenset({None})


class Visit:
    """What reached one entity at one layer: records, messages, and what must be restated."""

    def __init__(self) -> None:
        self.records: list[tuple[int, Event]] = []
        self.messages: list[Message] = []
        self.passing: list[Message] = []  # not kept, but to be answered
        self.heal = NOTHING
        self.woken = False

    def add(self, other: "Visit") -> None:
        """Take over what reached the entity at a visit that was lost."""
        self.records = [*other.records, *self.records]
        self.messages = [*other.messages, *self.messages]
        self.heal |= other.heal
        self.woken |= other.woken

    def hear(self, stored: Entity, maximum: int) -> tuple[Entity, Counter[str]]:
        """The entity after all messages, and how many statements of each topic it does not keep."""
        entity, heal = stored, set(self.heal)
        for message in self.messages:
            after = entity if is_cut(entity, message) else with_message(entity, message)
            if message.heal or after is entity:
                heal |= _scope(message)
            entity = after
        self.heal = frozenset(heal)
        topics = {message.address.topic for message in self.messages}
        for topic in topics:
            entity = bounded(entity, topic, maximum)
        if not entity.cut:
            return entity, Counter()
        out = [message for message in self.messages if is_cut(entity, message)]
        self.passing = [message for message in out if message.address.topic in ANSWERED]
        met = Counter(message.address.topic for message in out)
        for topic in topics:
            met[topic] += len(stored.said.get(topic, {}).keys() - entity.said.get(topic, {}).keys())
        return entity, met


def _scope(message: Message) -> Heal:
    """What the hearing layer must restate when this message came again."""
    return frozenset({message.address.subject}) if SCOPES[message.address.topic] == SUBJECT else ALL
