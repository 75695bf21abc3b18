"""The state of one entity, whatever its kind: what it was sent, what it was told, whom it no longer tells.

Rules:
- `own` holds the event records of which this entity is the home, at most `maximum` of the smallest.
- `said` holds, for every (topic, sender, subject), the statement with the sender's newest version.
- `former` holds the addresses that were once told something and now are told nothing: they must hear that.
- `cut` holds, for a topic that outgrew its bound, from where on nothing is kept (`bounds.py`).
- An entity is a frozen value; a change gives a new one, and its stored form carries the version in front.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from attribution.events import Event, standing_order
from attribution.statements import Address, Content, Message

S = TypeVar("S")
T = TypeVar("T")


class Said(NamedTuple):
    """A statement as received: the sender's version, and what it said."""

    version: int
    content: Content | None


SaidKey = tuple[str, str]  # (sender, subject)
Rank = tuple[int, str, str]  # (time or its negative, sender, subject)


class Entity(NamedTuple):
    """One entity. Version 0 is the entity nobody has written yet."""

    version: int = 0
    own: tuple[Event, ...] = ()
    said: Mapping[str, Mapping[SaidKey, Said]] = MappingProxyType({})
    former: frozenset[Address] = frozenset()
    cut: Mapping[str, Rank] = MappingProxyType({})

    @property
    def standing(self) -> Event | None:
        """The record that stands, of those this entity is home to."""
        return self.own[0] if self.own else None

    def heard(self, topic: str) -> Iterator[tuple[str, str, Content]]:
        """(sender, subject, content) of every statement that says something, under one topic."""
        for (sender, subject), said in self.said.get(topic, {}).items():
            if said.content is not None:
                yield sender, subject, said.content

    def hears_from(self, topic: str, sender: str) -> bool:
        """Does this sender say anything under this topic?"""
        return any(who == sender for who, _, _ in self.heard(topic))


NOBODY: Final = Entity()


def remembered(derive: Callable[[Entity, S], T]) -> Callable[[Entity, S], T]:
    """A function of what an entity was sent and told, worked out once while the same state is asked about.

    Several ask of one state in a row: what it says, what it counts, what it announces.
    """
    last: tuple[object, object, object] = (None, None, None)
    found: T

    @functools.wraps(derive)
    def once(entity: Entity, semantics: S) -> T:
        nonlocal last, found
        own, said, of = last
        if own is not entity.own or said is not entity.said or of is not semantics:
            found = derive(entity, semantics)
            last = (entity.own, entity.said, semantics)
        return found

    return once


def with_record(entity: Entity, event: Event, maximum: int) -> Entity:
    """The entity after one more record of its own, at most so many; the same object if it had that record."""
    if any(event.digest == known.digest for known in entity.own):
        return entity
    own = sorted((*entity.own, event), key=standing_order)[:maximum]
    return entity if own == list(entity.own) else entity._replace(own=tuple(own))


def with_message(entity: Entity, message: Message) -> Entity:
    """The entity after a statement; the same object if it holds that one or a newer one.

    "Nothing" is kept like any statement, also from a sender not heard before: what it said earlier may still
    be on its way, through another worker.
    """
    topic, key = message.address.topic, (message.sender, message.address.subject)
    known = entity.said.get(topic, {}).get(key)
    if known is not None and known.version >= message.version:
        return entity
    statements = {**entity.said.get(topic, {}), key: Said(message.version, message.content)}
    return entity._replace(said={**entity.said, topic: statements})


class _Stored(Struct, array_like=True):
    own: list[Event]
    said: list[tuple[str, str, str, int, Content | None]]
    former: list[tuple[str, str, str]]
    cut: dict[str, Rank] = {}


_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(_Stored)


def encode(entity: Entity) -> bytes:
    """The stored form, without the version (the store keeps that in front)."""
    said = [
        (topic, sender, subject, statement.version, statement.content)
        for topic, statements in entity.said.items()
        for (sender, subject), statement in statements.items()
    ]
    return _encoder.encode(_Stored(list(entity.own), said, sorted(entity.former), dict(entity.cut)))


def decode(version: int, blob: bytes) -> Entity:
    """The entity of a stored form. Raises `msgspec.DecodeError` on foreign bytes."""
    stored = _decoder.decode(blob)
    said: dict[str, dict[SaidKey, Said]] = {}
    for topic, sender, subject, sent_version, content in stored.said:
        said.setdefault(topic, {})[(sender, subject)] = Said(sent_version, content)
    return Entity(version, tuple(stored.own), said, _addresses(stored.former), stored.cut)


def _addresses(stored: Iterable[tuple[str, str, str]]) -> frozenset[Address]:
    return frozenset(Address(*address) for address in stored)


def key_of(kind: str, identity: str) -> str:
    """The key of an entity: `retrieval:r1`."""
    return f"{kind}:{identity}"


def split_key(key: str) -> tuple[str, str]:
    """(kind, identity) of a key."""
    kind, _, identity = key.partition(":")
    return kind, identity
