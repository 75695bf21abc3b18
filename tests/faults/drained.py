"""Once all is read: all is as one batch of the same records leaves it.

Compared are the buckets, and so every figure at any time; the newest version of every output record; that no
version of a record ever said two things; and that every mark is taken back and every watermark is at its end.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from attribution.entities import split_key
from attribution.semantics import Semantics
from attribution.stages import KINDS
from metrics.buckets import Span
from streams.publisher import Letter
from streams.state.memory import MemoryStore
from tests.faults.checks import Broken
from tests.faults.logs import Logs
from tests.faults.loop import run_at_once
from tests.faults.plan import Plan
from tests.faults.world import World
from tests.properties import running

SEMANTICS: Final = {
    "plain": running.SEMANTICS,
    "credit": replace(running.SEMANTICS, inference="credit"),
    "count": replace(running.SEMANTICS, inferred_research="count", gain="linear"),
}
ALWAYS: Final = Span(None, 10**9)
Record = dict[str, Any]
Records = Mapping[tuple[str, str], Record]


class Expected(NamedTuple):
    """What one batch of everything leaves."""

    store: MemoryStore
    minutes: frozenset[int]
    outputs: Records
    refused: frozenset[str]  # keys of the dead letters of intake


def expected(plan: Plan) -> list[Expected]:
    """What is right after each wave: all records sent until then, settled at once, in the order of the logs."""
    logs = Logs(plan)
    found = [_settled(logs, SEMANTICS[plan.semantics])]
    while logs.next_wave():
        found.append(_settled(logs, SEMANTICS[plan.semantics]))
    return found


def _settled(logs: Logs, semantics: Semantics) -> Expected:
    decoded = logs.decoded()
    store = run_at_once(running.settled([decoded.events], semantics))
    outputs = {
        (topic, key): msgspec.json.decode(msgspec.json.encode(record))
        for topic, records in running.outputs_in(store, semantics).items()
        for key, record in records.items()
    }
    minutes = {
        minute
        for key, entity in store.entities().items()
        for minute, _ in KINDS[split_key(key)[0]].contribute(split_key(key)[1], entity, semantics)
    }
    refused = frozenset(letter.key.decode() for letter in decoded.letters)
    return Expected(store, frozenset(minutes), _plain(outputs), refused)


def check_drained(world: World, wanted: Expected, all_said: bool) -> None:
    """Raise `Broken` where something is not as one batch leaves it; outputs if all of them were said."""
    minutes = sorted(wanted.minutes | {minute for _, minute in world.places})
    spans = [ALWAYS, *(Span(minute, minute + 1) for minute in minutes), *world.server.spans]
    reader = world.server.reader(world.semantics)
    for span, found, right in zip(spans, reader.sums(spans), wanted.store.sums(spans), strict=True):
        _compare(f"counters of {span}", found, right)
    newest, refused = _published(world.letters)
    _compare("dead letters of intake", dict.fromkeys(refused, True), dict.fromkeys(wanted.refused, True))
    if all_said:
        _compare("outputs", _plain(newest), wanted.outputs)


def _published(letters: Iterable[Letter]) -> tuple[Records, set[str]]:
    """The newest version of every record, and what intake refused."""
    said: dict[tuple[str, str, int], Record] = {}
    newest: dict[tuple[str, str], int] = {}
    refused = set()
    for topic, name, value in letters:
        body, key = msgspec.json.decode(value), name.decode()
        if "sha256" in body:
            refused.add(key)
            continue
        version = body.pop("version", 0)
        body.pop("replaces", None)
        if said.setdefault((topic, key, version), body) != body:
            raise Broken(f"version {version} of {topic} {key} was {said[topic, key, version]}, and is {body}")
        newest[topic, key] = max(version, newest.get((topic, key), 0))
    return {(topic, key): said[topic, key, version] for (topic, key), version in newest.items()}, refused


def _plain(records: Records) -> Records:
    """Without what tells of arrival."""
    return {key: {**record, "version": None, "replaces": None} for key, record in records.items()}


def _compare(what: str, found: Mapping[Any, Any], right: Mapping[Any, Any]) -> None:
    wrong = {
        key: (found.get(key), right.get(key)) for key in [*right, *found] if found.get(key) != right.get(key)
    }
    if wrong:
        raise Broken(f"{what}, found and right: {dict(list(wrong.items())[:5])}")
