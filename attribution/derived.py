"""What follows from the state of an entity: what its layers say, what it counts, what it announces.

Rules:
- All of it is a pure function of what the entity was sent and told; its version and bounds do not matter.
- What a layer says depends on the records, and on the topics that it and the earlier layers of its kind hear.
- So each is worked out once for the same parts, compared by identity: parts that did not change are shared
  between the states of an entity.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar, cast

from attribution.contribution import Contribution
from attribution.entities import NOBODY, Entity, split_key
from attribution.outputs import Output
from attribution.semantics import Semantics
from attribution.stages import KINDS, STAGES, Layer
from attribution.statements import Address, Content

T = TypeVar("T")
Parts: TypeAlias = tuple[object, ...]

# Kind -> the numbers of its layers.
LAYERS: Final[Mapping[str, tuple[int, ...]]] = {
    kind: tuple(number for number, layer in enumerate(STAGES) if layer.kind == kind) for kind in KINDS
}
# Layer -> the topics that it reads: those it hears, and those of the earlier layers of its kind.
READS: Final[Mapping[str, tuple[str, ...]]] = {
    STAGES[number].name: tuple(topic for earlier in numbers[: place + 1] for topic in STAGES[earlier].hears)
    for numbers in LAYERS.values()
    for place, number in enumerate(numbers)
}


class Derived:
    """What follows from states, remembered for as long as this object lives (a batch)."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[tuple[str, str], list[tuple[Parts, Any]]] = {}

    # Half of all states come after one that nobody wrote yet: of that nothing follows.

    def statements(self, layer: Layer, key: str, entity: Entity) -> Mapping[Address, Content]:
        """What a layer says."""
        if entity is NOBODY:
            return {}
        parts = (entity.own, *map(entity.said.get, READS[layer.name]))
        return self._once(
            layer.name, key, parts, lambda: layer.speak(split_key(key)[1], entity, self._semantics)
        )

    def contribution(self, key: str, entity: Entity) -> Contribution:
        """What the entity counts."""
        if entity is NOBODY:
            return {}
        kind, name = split_key(key)
        contribute = KINDS[kind].contribute
        return self._once(
            "contribution",
            key,
            (entity.own, entity.said),
            lambda: contribute(name, entity, self._semantics),
        )

    def outputs(self, key: str, entity: Entity) -> list[Output]:
        """What the output topics should hold of the entity, without its version."""
        if entity is NOBODY:
            return []
        parts = (entity.own, entity.said)
        return self._once("outputs", key, parts, lambda: outputs_of(key, entity, self._semantics))

    def _once(self, what: str, key: str, parts: Parts, make: Callable[[], T]) -> T:
        known = self._known.setdefault((what, key), [])
        for of, found in known:
            if all(map(operator.is_, of, parts)):
                return cast(T, found)
        found = make()
        known.append((parts, found))
        return found


def outputs_of(key: str, entity: Entity, semantics: Semantics) -> list[Output]:
    """The records that the output topics should hold of an entity, without its version."""
    kind, name = split_key(key)
    return KINDS[kind].outputs(name, entity, semantics)
