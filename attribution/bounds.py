"""How much one entity may remember, and what it forgets first.

Real traffic stays below the bound; a robot, a loop or a hostile producer may not make one entity grow without
end, nor make everybody wait for it. At the bound:

- Under each topic of `KEPT` an entity keeps at most `maximum_statements`: those first by (time, sender,
  subject), of a query's askers those last. What is left out depends on time and identity, not on arrival.
- The place of the first one left out stays noted (`Entity.cut`) and never rises: nothing at or beyond it is
  kept again. So what is kept is a function of what was said, as long as nothing kept is taken back later.
- A statement that is not kept counts as never said, except that those of `ANSWERED` are answered when they
  come, and keep their answer when they are left out later: the action learns where it belongs, and is in no
  evidence. `lara_bound_hits_total` counts them all.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from attribution.entities import Entity, Rank, Said, SaidKey
from attribution.statements import Address, Content, Message

Time: TypeAlias = Callable[[Any], int]

# Topic -> the time by which its statements are kept; negative where the newest are.
KEPT: Final[Mapping[str, Time]] = {
    "offer": lambda content: content.act.ts,
    "act": lambda content: content.ts,
    "acted": lambda content: content.act.ts,
    "seen": lambda content: content.act.ts,
    "unresolved": lambda content: content.act.ts,
    "show": lambda content: content.ts,
    "outcome": lambda content: content.ts,
    "placement": lambda content: content.record.ts,
    "record": lambda content: content.ts,
    "lists": lambda content: 0,
    "listed": lambda content: content.ts,
    "fired": lambda content: content.ts,
    "ended": lambda content: content.ts,
    "reformulated": lambda content: content.ts,
    "asks": lambda content: -content.ts,
    "grade": lambda content: content.ts,
    "label": lambda content: content.ts,
    "asked": lambda content: 0,
    "named": lambda content: 0,
    "placing": lambda content: 0,
    "linked": lambda content: 0,
}
RECORDS: Final = "records"  # what is met where an identity has too many of its own
ANSWERED: Final = frozenset({"offer", "act", "seen", "unresolved"})


def rank_of(topic: str, key: SaidKey, content: Content) -> Rank:
    """What a statement is ordered by."""
    return (KEPT[topic](content), *key)


def is_cut(entity: Entity, message: Message) -> bool:
    """Is this statement at or beyond the place from which the entity keeps nothing?"""
    topic = message.address.topic
    cut = entity.cut.get(topic)
    if cut is None or message.content is None:
        return False
    return rank_of(topic, (message.sender, message.address.subject), message.content) >= cut


def bounded(entity: Entity, topic: str, maximum: int) -> Entity:
    """The entity with at most so many statements under a topic; the same object if it has no more."""
    statements = entity.said.get(topic, {})
    if len(statements) <= maximum or topic not in KEPT:
        return entity
    ranks = sorted(
        rank_of(topic, key, said.content) for key, said in statements.items() if said.content is not None
    )
    if len(ranks) <= maximum:
        return entity
    cut = ranks[maximum]
    kept = {key: said for key, said in statements.items() if _within(topic, key, said, cut)}
    return entity._replace(said={**entity.said, topic: kept}, cut={**entity.cut, topic: cut})


def _within(topic: str, key: SaidKey, said: Said, cut: Rank) -> bool:
    return said.content is None or rank_of(topic, key, said.content) < cut


class Out(NamedTuple):
    """What an entity kept and does not keep any more: who said it, and what it is about."""

    senders: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()

    def concerns(self, address: Address) -> bool:
        """Is this said to, or about, what is left out?"""
        return address.receiver in self.senders or address.subject in self.subjects


def left_out(before: Entity, after: Entity, topics: Collection[str]) -> Out:
    """What was left out between two states, of some topics."""
    if before.cut == after.cut:
        return Out()
    gone = [
        key
        for topic, cut in after.cut.items()
        if topic in topics
        for key, said in before.said.get(topic, {}).items()
        if not _within(topic, key, said, cut)
    ]
    return out_of(gone)


def out_of(keys: Iterable[SaidKey]) -> Out:
    """Some statements, by who said them and what they are about; "" is about the sender."""
    keys = list(keys)
    return Out(frozenset(sender for sender, _ in keys), frozenset(subject for _, subject in keys) - {""})
