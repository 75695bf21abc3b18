"""Settle a batch of events: states in, new states, bucket differences and outputs due out. No I/O.

Theory. `settle` is a generator: it yields `Load` and `Save` and is sent what a store answers, so the same
code runs against Redis, against memory, and against a simulator that stops between any two of them.

Rules (each is needed; the simulator fails without it):
- Layer by layer in the order of `STAGES`: senders are saved before their receivers hear of it.
- What changed is stated to whom it concerns. What came again is stated again, changed or not ("heal"):
  a crash between two saves is repaired by redelivery.
- A save compares versions. What was lost is loaded again, settled again, and from then on healed.
- Where the store can save a whole batch at once (`whole`), nothing is saved before the end: each entity is
  counted and written once. If that is lost, somebody else writes at the same time: settle layer by layer.
- A new version is above the old one and at least the floor, so that no version number comes back with other
  content after a store was rolled back.
"""

from collections import Counter as Tally
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from attribution.bounds import ANSWERED, KEPT, RECORDS, left_out, out_of
from attribution.contribution import Counter, difference
from attribution.corrections import Correction, correction
from attribution.derived import LAYERS, Derived
from attribution.entities import NOBODY, Entity, key_of, split_key, with_message, with_record
from attribution.events import Event, Prompt, Retrieval, identity, request_of, type_of
from attribution.exclusion import excluded_by_itself
from attribution.outputs import Output, conflicts
from attribution.semantics import Semantics
from attribution.stages import HOMES, KINDS, STAGES, SUMS, Layer
from attribution.statements import Address, Message, Named
from attribution.visits import ALL, NOTHING, Heal, Visit


class Load(NamedTuple):
    """Asks for the entities of these keys; answered with a mapping of those that exist."""

    keys: Sequence[str]


class Write(NamedTuple):
    """One entity to be written if the stored version is still `expected`."""

    key: str
    expected: int
    entity: Entity
    deltas: Mapping[tuple[int, Counter], int]
    due: bool
    correction: Correction | None = None


class Save(NamedTuple):
    """Asks for these writes; answered with the keys that were not written.

    Each shard is all or nothing; if `whole`, all shards are together.
    """

    writes: Sequence[Write]
    whole: bool = False


class Settlement(NamedTuple):
    """The disposition of each event, in order, and how often a bound was met, by topic."""

    dispositions: list[str]
    bounded: Mapping[str, int]


Settling: TypeAlias = Generator[Load | Save, Any, Settlement]


class _Held(NamedTuple):
    """An entity in hand: as it was when first loaded in this batch, and as last saved or loaded."""

    baseline: Entity
    stored: Entity


def settle(
    events: Sequence[Event], semantics: Semantics, floor: Callable[[str], int], *, whole: bool = False
) -> Settling:
    """Settle events.

    `floor(key)` is the least version a write to that key may have. Sent to the generator: for `Load` a
    mapping of keys to entities, for `Save` a collection of the keys that were not written.
    """
    if whole:
        batch = _Batch(events, semantics, floor, whole=True)
        yield from batch.layers()
        writes = batch.writes()
        if not writes or not (yield Save(writes, whole=True)):
            return batch.settlement()
    batch = _Batch(events, semantics, floor, whole=False)
    yield from batch.layers()
    return batch.settlement()


class _Batch:
    def __init__(
        self, events: Sequence[Event], semantics: Semantics, floor: Callable[[str], int], *, whole: bool
    ) -> None:
        self._semantics = semantics
        self._floor = floor
        self._whole = whole
        self._held: dict[str, _Held] = {}
        self._visits: list[dict[str, Visit]] = [{} for _ in STAGES]
        self._healed: set[tuple[str, str]] = set()  # all was restated once: enough for one batch
        self._told: dict[tuple[str, str], Entity] = {}  # as of what a layer last spoke, in this batch
        self._bounded: Tally[str] = Tally()  # topic -> statements that came and were not kept
        self._derived = Derived(semantics)
        self._dispositions = ["applied"] * len(events)
        for number, event in enumerate(events):
            self._receive(number, event)

    def layers(self) -> Generator[Load | Save, Any, None]:
        """Settle layer after layer."""
        for layer in range(len(STAGES)):
            yield from self._run(layer)

    def settlement(self) -> Settlement:
        """What became of the events."""
        return Settlement(self._dispositions, self._bounded)

    def writes(self) -> list[Write]:
        """All that changed, where nothing was saved yet."""
        changed = (one for one in self._held.items() if one[1].stored is not one[1].baseline)
        return [self._write(key, held.baseline, held.stored) for key, held in changed]

    def _receive(self, number: int, event: Event) -> None:
        kind = HOMES[type_of(event)]
        key = key_of(kind, identity(event))
        self._visit(LAYERS[kind][0], key).records.append((number, event))
        request = _named_request(event)
        if request is not None:
            address = Address(key_of("request", request), "named", key)
            self._deliver(Message(address, key, 1, Named(), heal=False))

    def _visit(self, layer: int, key: str) -> Visit:
        visits = self._visits[layer]
        if key not in visits:
            visits[key] = Visit()
        return visits[key]

    def _deliver(self, message: Message) -> None:
        receiver = message.address.receiver
        self._visit(_HEARS[(split_key(receiver)[0], message.address.topic)], receiver).messages.append(
            message
        )

    def _run(self, layer: int) -> Generator[Load | Save, Any, None]:
        """Settle one layer: load, apply and save until nothing is lost, and speak for what was saved."""
        visits = self._taken(layer)
        while visits:
            yield from self._load([key for key in visits if key not in self._held])
            afters = {key: self._apply(key, visit) for key, visit in visits.items()}
            changed = {
                key: self._renewed(key, after)
                for key, after in afters.items()
                if after is not self._held[key].stored or visits[key].passing
            }
            lost: frozenset[str] = frozenset()
            if changed and not self._whole:
                writes = [self._write(key, self._held[key].stored, after) for key, after in changed.items()]
                changed = {write.key: write.entity for write in writes}
                lost = frozenset((yield Save(writes)))
            for key, visit in visits.items():
                if key not in lost:
                    self._settled(layer, key, visit, changed.get(key))
            for key in lost:
                del self._held[key]
                visits[key].heal = ALL
                self._visit(layer, key).add(visits[key])
            visits = self._taken(layer)

    def _taken(self, layer: int) -> dict[str, Visit]:
        """What waits for a layer, which may speak to itself (a retrieval to one that names it)."""
        taken, self._visits[layer] = self._visits[layer], {}
        return taken

    def _load(self, keys: Sequence[str]) -> Generator[Load | Save, Any, None]:
        if keys:
            found: Mapping[str, Entity] = yield Load(keys)
            for key in keys:
                entity = found.get(key, NOBODY)
                self._held[key] = _Held(entity, entity)

    def _apply(self, key: str, visit: Visit) -> Entity:
        """The entity after everything that reached it; notes dispositions and what must be restated."""
        entity = self._held[key].stored
        entity, met = visit.hear(entity, self._semantics.maximum_statements)
        self._bounded.update(met)
        heal = set(visit.heal)
        known = {record.digest for record in entity.own}
        for number, event in visit.records:
            before, entity = entity, with_record(entity, event, self._semantics.maximum_variants)
            self._dispositions[number] = self._disposition(key, before, entity, event)
            dropped = all(event.digest != record.digest for record in entity.own)
            self._bounded.update([RECORDS] * dropped)
            if event.digest in known or dropped:
                heal |= ALL
        visit.heal = frozenset(heal)
        return entity

    def _disposition(self, key: str, before: Entity, after: Entity, event: Event) -> str:
        standing = after.own[0]
        if excluded_by_itself(standing, self._semantics.exclusion):
            return "synthetic"
        if not before.own:
            return "applied"
        other = before.own[0] if standing is event else standing
        if KINDS[split_key(key)[0]].conflicts and conflicts(event, other):
            return "duplicate" if any(event.digest == one.digest for one in before.own) else "conflict"
        return "duplicate"

    def _renewed(self, key: str, after: Entity) -> Entity:
        version = max(self._held[key].stored.version + 1, self._floor(key))
        return after._replace(version=version)

    def _write(self, key: str, before: Entity, after: Entity) -> Write:
        counted = difference(*(self._derived.contribution(key, one) for one in (before, after)))
        said, says = (self._derived.outputs(key, one) for one in (before, after))
        entity = after._replace(former=self._former(key, before, after))
        due = said != says
        corrected = self._correction(key, after, says) if due else None
        return Write(key, before.version, entity, counted, due, corrected)

    def _correction(self, key: str, after: Entity, says: Sequence[Output]) -> Correction | None:
        """From what was said before this batch: what was said in between was announced to nobody."""
        baseline = self._held[key].baseline
        said = self._derived.outputs(key, baseline)
        return correction(baseline, after, [one.record for one in said], [one.record for one in says])

    def _former(self, key: str, before: Entity, after: Entity) -> frozenset[Address]:
        """Addresses that some layer of the entity once told something, and now tells nothing."""
        former = set(before.former)
        for layer in LAYERS[split_key(key)[0]]:
            told, tells = (self._derived.statements(STAGES[layer], key, one) for one in (before, after))
            if told is not tells:
                former = (former | told.keys()) - tells.keys()
        out = left_out(before, after, KEPT)
        return frozenset(address for address in former if not out.concerns(address))

    def _settled(self, layer: int, key: str, visit: Visit, written: Entity | None) -> None:
        """Speak for an entity that is saved or unchanged, and wake its later layers."""
        if written is not None:
            self._held[key] = _Held(self._held[key].baseline, written)
        elif not visit.heal and not visit.woken:
            return
        self._speak(STAGES[layer], key, visit.heal)
        if visit.passing:
            self._answer(STAGES[layer], key, visit.passing)
        for later in LAYERS[STAGES[layer].kind]:
            if later > layer:
                waking = self._visit(later, key)
                waking.woken = True
                waking.heal |= visit.heal

    def _speak(self, layer: Layer, key: str, heal: Heal) -> None:
        heal = NOTHING if (layer.name, key) in self._healed else heal
        if None in heal:
            self._healed.add((layer.name, key))
        baseline, stored = self._held[key]
        after = self._derived.statements(layer, key, stored)
        last = self._told.get((layer.name, key), baseline)
        before = self._derived.statements(layer, key, last)
        answered = left_out(last, stored, ANSWERED)
        self._told[layer.name, key] = stored
        former = {address for address in stored.former if address.topic in layer.says}
        for address in before.keys() | after.keys() | former:
            content = after.get(address)
            if content is None and answered.concerns(address):
                continue
            again = None in heal or address.subject in heal or (bool(heal) and address.topic in SUMS)
            if again or content != before.get(address):
                self._deliver(Message(address, key, stored.version, content, again))

    def _answer(self, layer: Layer, key: str, passing: Sequence[Message]) -> None:
        """Say what concerns statements that are not kept, as if they were."""
        stored = self._held[key].stored
        view = stored._replace(cut={})
        for message in passing:
            view = with_message(view, message)
        asked = out_of((message.sender, message.address.subject) for message in passing)
        for address, content in layer.speak(split_key(key)[1], view, self._semantics).items():
            if asked.concerns(address):
                self._deliver(Message(address, key, stored.version, content, heal=True))


def _named_request(event: Event) -> str | None:
    """The request an event names: a retrieval one of its own by default; a prompt is the request."""
    if isinstance(event, Prompt):
        return None
    return request_of(event) if isinstance(event, Retrieval) else event.request_id


_HEARS: Final[Mapping[tuple[str, str], int]] = {
    (layer.kind, topic): number for number, layer in enumerate(STAGES) for topic in layer.hears
}
