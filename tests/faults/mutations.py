"""Every protection taken out of the product, one at a time, and the named test that then fails.

Rules:
- A row edits one function or `lara.lua` (`edits.py`). Two rows edit two, where either alone protects.
- Its plan is a seed of `test_faults.py` or a named plan of `plans.py`. It passes, and with the row's edit in
  force it fails: `test_mutations.py` and, where Redis does the work, `tests/live/test_faults.py` run both.
"""

from collections.abc import Mapping
from typing import Final

from attribution.engine import _Batch
from attribution.entities import with_message, with_record
from attribution.outputs import _is_withdrawn
from attribution.visits import Visit
from streams.pipeline import StatePipeline
from streams.saying import say_again, say_again_since_loss
from streams.state.memory import MemoryStore
from streams.state.redis_store import RedisStore, entity_ttl
from tests.faults.edits import Edit
from tests.faults.mutation import REDIS, Mutation, one

PUBLISH: Final = 'await self._timed("publish", lambda: self._publisher.publish([*decoded.letters, *letters]))'
ADVANCED: Final = "self._in_vain = {}\n    self._points.raised(marks)"
COMMIT_FLOOR: Final = (
    "writes, deltas, due = unpack(cmsgpack.unpack(args[shard]))\n    if floor_of(base) ~= floor then"
)
ADVANCE_FLOOR: Final = "marks, fresh = unpack(cmsgpack.unpack(args[1]))\n  if floor_of(base) ~= floor then"
ADVANCE: Final = """logs = self._points.logs_of({Partition(*one.source): 0 for one in batches})
    await self._store.advance({Partition(*one.source): one.next_position for one in batches}, term, logs=logs)
    """


VERSIONS: Final = "the version comparison"
DUPLICATES: Final = "the duplicate check"
RESTATING: Final = "re-stating on every touch"
SENDER: Final = "the sender's version at the receiver"
FLOOR: Final = "the floor"
ORDER: Final = "the watermark's order"
LIFE: Final = "the TTL"
REWIND: Final = "the rewind"
OUTPUTS: Final = "the marks of outputs"
PROTECTIONS: Final = (VERSIONS, DUPLICATES, RESTATING, SENDER, FLOOR, ORDER, LIFE, REWIND, OUTPUTS)

MUTATIONS: Final[Mapping[str, Mutation]] = {
    "version-comparison": one(
        VERSIONS,
        "a save compares no versions",
        5,
        MemoryStore._moved,
        {'self._shard(write.key).entities.get(write.key, (0, b""))[0] != write.expected': "False"},
    ),
    "lost-comparison": one(
        VERSIONS,
        "what was lost to another worker is not settled again",
        92,
        _Batch._run,
        {"lost = frozenset((yield Save(writes)))": "yield Save(writes)"},
    ),
    "version-comparison-redis": one(
        VERSIONS,
        "`commit` in `lara.lua` compares no versions",
        "two workers at once",
        None,
        {"if version_of(base, writes[i]) ~= writes[i + 1] then": "if false then"},
        REDIS,
    ),
    "duplicate-digest": one(
        DUPLICATES,
        "a record that is there already is kept once more",
        128,
        with_record,
        {"if any(event.digest == known.digest for known in entity.own):": "if False:"},
    ),
    "duplicate-order": one(
        DUPLICATES,
        "of several records with one identity the first to arrive stands",
        12,
        with_record,
        {"sorted((*entity.own, event), key=standing_order)": "[*entity.own, event]"},
    ),
    "restating-records": one(
        RESTATING,
        "a record that comes again lets nothing be said again",
        40,
        _Batch._apply,
        {"if event.digest in known or dropped:": "if False:"},
    ),
    "restating-statements": one(
        RESTATING,
        "a statement that comes again lets nothing be said again",
        275,
        Visit.hear,
        {"if message.heal or after is entity:": "if False:"},
    ),
    "restating-lost": one(
        RESTATING,
        "what was settled again after a lost comparison says only what changed",
        97,
        _Batch._run,
        {"visits[key].heal = ALL": "pass"},
    ),
    "restating-former": one(
        RESTATING,
        "those who are told nothing any more do not hear that again",
        97,
        _Batch._speak,
        {"{address for address in stored.former if address.topic in layer.says}": "set()"},
    ),
    "sender-version": one(
        SENDER,
        "a receiver keeps the statement that came last",
        "an older statement that arrives late",
        with_message,
        {"if known is not None and known.version >= message.version:": "if False:"},
    ),
    "floor-check": Mutation(
        FLOOR,
        "a worker of before a restart writes into the state of after it: neither its connection nor the floor "
        "it names is looked at",
        (
            Edit(
                MemoryStore._greet, {"self._run is not None and self._run != self._state.restarts": "False"}
            ),
            Edit(MemoryStore._check, {"term.floors[number] != self._shards[number].floor": "False"}),
        ),
        "12",
    ),
    "floor-rise": one(
        FLOOR,
        "the floor stays where it was when the server restarts",
        "a letter of lost state that arrives late",
        MemoryStore._floor,
        {"if shard.floor is None or shard.run != self._state.restarts:": "if shard.floor is None:"},
    ),
    "floor-versions": one(
        FLOOR,
        "a new version is one above the old, whatever the floor",
        "a letter of lost state that arrives late",
        _Batch._renewed,
        {"max(self._held[key].stored.version + 1, self._floor(key))": "self._held[key].stored.version + 1"},
    ),
    "floor-rise-redis": one(
        FLOOR,
        "`term` in `lara.lua` leaves the floor where it was when the server restarts",
        "a letter of lost state that arrives late",
        None,
        {"if noted[1] ~= args[1] and meaning == args[3] then": "if not noted[2] and meaning == args[3] then"},
        REDIS,
    ),
    "floor-check-redis": Mutation(
        FLOOR,
        "the same in Redis: `commit` and `advance` compare no floor, and a new connection is not refused",
        (
            Edit(None, {COMMIT_FLOOR: COMMIT_FLOOR.replace("floor_of(base) ~= floor", "false")}),
            Edit(None, {ADVANCE_FLOOR: ADVANCE_FLOOR.replace("floor_of(base) ~= floor", "false")}),
            Edit(RedisStore._connected, {"self._run_id is not None and run_id != self._run_id": "False"}),
        ),
        "a server that restarts in the middle of a batch",
        REDIS,
    ),
    "order-settle": one(
        ORDER,
        "the watermark moves before the batch is settled",
        20,
        StatePipeline._commit,
        {"settled = await self._timed(": f"{ADVANCE}settled = await self._timed("},
    ),
    "order-publish": one(
        ORDER,
        "the watermark moves before outputs and dead letters are published",
        "a crash before the dead letters",
        StatePipeline._commit,
        {PUBLISH: "pass", ADVANCED: f"{ADVANCED}\n    {PUBLISH}"},
    ),
    "life-none": one(
        LIFE,
        "entities are written without a time to live",
        "two workers at once",
        None,
        {", 'EX', entity_ttl)": ")"},
        REDIS,
    ),
    "life-short": one(
        LIFE,
        "entities live for a day",
        "days between two records",
        entity_ttl,
        {"STATE_HORIZON_SECONDS + slack_days * DAY_SECONDS": "DAY_SECONDS"},
        REDIS,
    ),
    "life-buckets": one(
        LIFE,
        "buckets live for a day",
        "days between two records",
        None,
        {"redis.call('EXPIRE', key, bucket_ttl)": "redis.call('EXPIRE', key, 86400)"},
        REDIS,
    ),
    "rewind": one(
        REWIND,
        "nothing is read again: neither after a gap nor after a restart",
        2,
        StatePipeline._go_back,
        {"await self._shell(positions)": "pass"},
    ),
    "rewind-gap": one(
        REWIND,
        "a batch from behind the watermark counts like any other",
        12,
        StatePipeline._whole,
        {"if one.position > marks[one.source]": "if False"},
    ),
    "rewind-idle": one(
        REWIND,
        "nobody looks while idle whether the server restarted",
        "a restart while idle",
        StatePipeline.watch,
        {"await self._patiently(lambda: self._sweep(term))": "pass"},
    ),
    "outputs-mark": one(
        OUTPUTS,
        "a mark is taken back whatever happened meanwhile",
        "a mark that is renewed meanwhile",
        MemoryStore.clear,
        {
            'if shard.due.get(key) == mark and shard.entities.get(key, (0, b""))[0] == version:': "if key in shard.due:"
        },
    ),
    "outputs-mark-redis": one(
        OUTPUTS,
        "the same in Redis: `clear` in `lara.lua` looks at neither text nor version",
        "a mark that is renewed meanwhile",
        None,
        {
            "if redis.call('HGET', base .. ':due', key) == token and version_of(base, key) == version then": "if true then"
        },
        REDIS,
    ),
    "outputs-sweep": one(
        OUTPUTS,
        "what a crash left is not published by anybody",
        8,
        StatePipeline._sweep,
        {"if left:": "if False:"},
    ),
    "outputs-said": one(
        OUTPUTS,
        "what was published from lost state is not said again",
        "what lost state had said",
        say_again_since_loss,
        {"await say_again(store, versions, term)": "pass"},
    ),
    "outputs-versions": one(
        OUTPUTS,
        "what is said again is given a version above the floor only, wherever the clock is",
        "a clock that was set back before a restart",
        say_again,
        {
            "max(entity.version + 1, versions[key] + 1, term.floor(key))": "max(entity.version + 1, term.floor(key))"
        },
    ),
    "outputs-records": one(
        OUTPUTS,
        "an action that was told of its request before its record came is withdrawn",
        "a show that was never announced",
        _is_withdrawn,
        {'"request_excluded" not in entity.said and ': ""},
    ),
}
