"""What every store must do: one suite, run on the in-memory twin and on real Redis."""

import random
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from attribution.engine import Write
from attribution.entities import NOBODY, Entity
from attribution.semantics import Semantics
from metrics.buckets import Span
from streams.state.meaning import OtherMeaning
from streams.state.store import Due, Log, Partition, Refused, Term
from tests.properties import running
from tests.properties.schedule import run
from tests.properties.strategies import BASE, DAY, streams
from tests.second_reading import read

ALWAYS = Span(None, 10**9)
PARTITION = Partition("lara.actions", 3)


def write(key: str, expected: int, version: int, counter: str = "", due: bool = False) -> Write:
    deltas = {(60 * 24 * 7, counter): 1} if counter else {}
    return Write(key, expected, NOBODY._replace(version=version), deltas, due)


class StoreSuite:
    """Subclasses give a `stores` fixture, a function that makes a store for given semantics, same state; and
    `expire`, which ends the life of an entity."""

    async def expire(self, store, key):
        raise NotImplementedError

    async def test_what_was_written_is_read_with_its_version(self, stores):
        """An entity comes back as it was written; one that nobody wrote is absent."""
        store = stores(Semantics())
        term = await store.open()
        version = term.floor("action:a") + 1
        assert await store.save([write("action:a", 0, version)], term, "t") == frozenset()
        assert await store.load(["action:a", "action:b"]) == {"action:a": Entity(version)}

    async def test_a_scan_gives_every_entity_of_a_kind_and_no_other(self, stores):
        """Kinds are told apart by the key's first part; what was never written does not come."""
        store = stores(Semantics())
        term = await store.open()
        keys = [f"{kind}:{number}" for kind in ("action", "retrieval") for number in range(50)]
        await store.save([write(key, 0, max(term.floors) + 1) for key in keys], term, "t")
        found = [key async for page in store.scan("action") for key in page]
        assert sorted(set(found)) == sorted(key for key in keys if key.startswith("action:"))

    async def test_a_version_that_moved_loses_and_writes_nothing(self, stores):
        """A lost comparison leaves the entity, its counters and its mark as they were."""
        store = stores(Semantics())
        term = await store.open()
        base = term.floor("action:a") + 1
        await store.save([write("action:a", 0, base, "outcomes|chat|export", due=True)], term, "first")
        lost = await store.save(
            [write("action:a", 0, base, "outcomes|chat|export", due=True)], term, "second"
        )
        assert lost == {"action:a"}
        assert store.sums([ALWAYS]) == [{"outcomes|chat|export": 1}]
        assert await store.due(10) == [Due("action:a", "first")]

    async def test_a_whole_save_is_all_or_nothing_over_all_shards(self, stores):
        """One version that moved, and no shard is written; saved again as it is, all are."""
        store = stores(Semantics())
        term = await store.open()
        version = max(term.floors) + 1
        keys = [f"action:{number}" for number in range(40)]
        await store.save([write(keys[0], 0, version)], term, "t")
        fresh = [write(key, 0, version, "outcomes|chat|export", due=True) for key in keys]
        assert await store.save(fresh, term, "lost", whole=True) == set(keys)
        assert await store.load(keys[1:]) == {}
        assert (store.sums([ALWAYS]), await store.due(100)) == ([{}], [])
        moved = write(keys[0], version, version + 1, "outcomes|chat|export", due=True)
        assert await store.save([moved, *fresh[1:]], term, "won", whole=True) == frozenset()
        assert len(await store.load(keys)) == len(await store.due(100)) == len(keys)
        assert store.sums([ALWAYS]) == [{"outcomes|chat|export": len(keys)}]

    async def test_a_mark_is_cleared_only_if_nothing_happened_meanwhile(self, stores):
        """A publication does not take back the mark of a newer version, nor a renewed one."""
        store = stores(Semantics())
        term = await store.open()
        base = term.floor("action:a") + 1
        await store.save([write("action:a", 0, base, due=True)], term, "t1")
        await store.save([write("action:a", base, base + 1, due=True)], term, "t2")
        await store.clear({Due("action:a", "t1"): base, Due("action:a", "t2"): base})
        assert await store.due(10) == [Due("action:a", "t2")]
        await store.clear({Due("action:a", "t2"): base + 1})
        assert await store.due(10) == []

    async def test_watermarks_never_go_back(self, stores):
        """A late worker's lower watermark changes nothing; an unset one is absent."""
        store = stores(Semantics())
        term = await store.open()
        assert await store.watermarks([PARTITION]) == {}
        await store.advance({PARTITION: 12}, term)
        await store.advance({PARTITION: 7}, term)
        assert await store.watermarks([PARTITION]) == {PARTITION: 12}

    async def test_a_watermark_that_is_set_is_what_it_was_set_to(self, stores):
        """Also back, and in every shard; those of other partitions stay."""
        store = stores(Semantics())
        term = await store.open()
        other = PARTITION._replace(number=4)
        await store.advance({PARTITION: 12, other: 5}, term)
        for offset in (3, 20):
            await store.set_watermark(PARTITION, offset)
            assert await store.watermarks([PARTITION, other]) == {PARTITION: offset, other: 5}
            assert set((await store.marks([PARTITION]))[PARTITION]) == {offset}

    async def test_setting_a_watermark_ends_the_term(self, stores):
        """A batch under way would raise it again, or write what is now read anew: it is refused."""
        store = stores(Semantics())
        term = await store.open()
        await store.advance({PARTITION: 12}, term)
        await store.set_watermark(PARTITION, 3)
        with pytest.raises(Refused):
            await store.advance({PARTITION: 13}, term)
        with pytest.raises(Refused):
            await store.save([write("action:a", 0, 10**16)], term, "t")
        assert await store.watermarks([PARTITION]) == {PARTITION: 3}
        again = await store.open()
        assert all(now > before for now, before in zip(again.floors, term.floors, strict=True))
        await store.advance({PARTITION: 13}, again)
        assert await store.watermarks([PARTITION]) == {PARTITION: 13}

    async def test_a_need_to_say_again_is_noted_until_it_is_met(self, stores):
        """Whoever dies half way leaves it to the next; of an older term nobody takes it back."""
        store = stores(Semantics())
        term = await store.open()
        older = Term(tuple(floor - 1 for floor in term.floors))
        with pytest.raises(Refused):
            await store.said(older)
        await store.said(term)
        assert await store.unsaid() is None

    async def test_marks_are_those_of_every_shard(self, stores):
        """A partition nobody read has none in any."""
        store = stores(Semantics())
        await store.open()
        assert set((await store.marks([PARTITION]))[PARTITION]) == {None}
        assert await store.marks([]) == {}

    async def test_a_log_begun_anew_forgets_its_watermark_once(self, stores):
        """Whoever says the same again changes nothing, and nothing else is forgotten."""
        store, other = stores(Semantics()), PARTITION._replace(number=4)
        term = await store.open()
        old, new = {PARTITION: Log("east/1", 0), other: Log("east/9", 0)}, {PARTITION: Log("east/2", 1)}
        await store.begin(old, term)
        await store.advance({PARTITION: 12, other: 5}, term, logs=old)
        await store.begin(old, term)
        assert await store.watermarks([PARTITION, other]) == {PARTITION: 12, other: 5}
        await store.begin(new, term)
        assert await store.watermarks([PARTITION, other]) == {other: 5}
        await store.advance({PARTITION: 3}, term, logs=new)
        await store.begin(new, term)
        assert await store.watermarks([PARTITION, other]) == {PARTITION: 3, other: 5}
        assert await store.logs([PARTITION, other]) == {**new, other: old[other]}

    async def test_a_worker_of_an_older_log_is_refused(self, stores):
        """It can neither raise the watermark of the newer one, nor bring its own back, and nothing is written."""
        store, other = stores(Semantics()), PARTITION._replace(number=4)
        term = await store.open()
        old, new = {PARTITION: Log("east/1", 0)}, {PARTITION: Log("east/2", 1)}
        await store.begin(new, term)
        for logs in (old, {PARTITION: Log("east/3", 1)}):
            with pytest.raises(Refused):
                await store.begin({other: Log("east/9", 0), **logs}, term)
            with pytest.raises(Refused):
                await store.advance({other: 1, PARTITION: 12}, term, logs=logs)
        with pytest.raises(Refused):
            await store.advance({PARTITION: 12}, term)
        assert await store.watermarks([PARTITION, other]) == {}
        assert await store.logs([PARTITION, other]) == new

    async def test_an_identity_that_becomes_known_forgets_nothing(self, stores):
        """A state of before logs were noted is one of which nothing is known."""
        store = stores(Semantics())
        term = await store.open()
        await store.advance({PARTITION: 12}, term)
        for log in (Log(), Log("east/1")):
            await store.begin({PARTITION: log}, term)
            assert await store.logs([PARTITION]) == {PARTITION: log}
        assert await store.watermarks([PARTITION]) == {PARTITION: 12}

    async def test_a_worker_of_an_older_term_is_refused(self, stores):
        """Under another floor neither entities nor watermarks can be written."""
        store = stores(Semantics())
        term = await store.open()
        old = term._replace(floors=tuple(floor - 1 for floor in term.floors))
        with pytest.raises(Refused):
            await store.save([write("action:a", 0, 10**16)], old, "t")
        with pytest.raises(Refused):
            await store.advance({PARTITION: 1}, old)
        with pytest.raises(Refused):
            await store.begin({PARTITION: Log("east/1", 1)}, old)
        assert await store.load(["action:a"]) == {}

    async def test_a_difference_that_undoes_itself_leaves_no_counter(self, stores):
        """A counter that comes back to zero is gone from every bucket and from the totals."""
        store = stores(Semantics())
        term = await store.open()
        base = term.floor("action:a") + 1
        await store.save([write("action:a", 0, base, "actions|none")], term, "t")
        undo = Write(
            "action:a", base, NOBODY._replace(version=base + 1), {(60 * 24 * 7, "actions|none"): -1}, False
        )
        await store.save([undo], term, "t")
        assert store.sums([ALWAYS, Span(0, 10**9)]) == [{}, {}]

    async def test_sums_are_those_of_naive_minutes(self, stores):
        """Spans that cut hours and days anywhere sum exactly the minutes they hold."""
        store = stores(Semantics())
        term = await store.open()
        chance = random.Random(7)
        minutes = [chance.randrange(0, 4 * 1440) for _ in range(300)]
        version = term.floor("action:a")
        for minute in minutes:
            row = Write(
                "action:a", version if minute is not minutes[0] else 0, Entity(), {(minute, "x|y"): 1}, False
            )
            version = max(version, row.expected) + 1
            assert not await store.save([row._replace(entity=Entity(version))], term, "t")
        spans = [Span(None, 4000), Span(0, 1), *(Span(a, a + chance.randrange(3000)) for a in minutes[:40])]
        expected = [sum(span.holds(minute) for minute in minutes) for span in spans]
        assert [found.get("x|y", 0) for found in store.sums(spans)] == expected

    async def test_the_mark_of_an_entity_that_is_gone_can_be_taken_back(self, stores):
        """Version 0 stands for an entity that does not exist; one that does keeps its mark."""
        store = stores(Semantics())
        term = await store.open()
        await store.save([write("action:a", 0, term.floor("action:a") + 1, due=True)], term, "t")
        await store.clear({Due("action:a", "t"): 0})
        assert await store.due(10) == [Due("action:a", "t")]
        await self.expire(store, "action:a")
        await store.clear({Due("action:a", "t"): 0})
        assert await store.due(10) == []

    async def test_other_semantics_are_refused(self, stores):
        """State counted under one meaning is not continued under another."""
        await stores(Semantics()).open()
        with pytest.raises(OtherMeaning):
            await stores(Semantics(surfaces=("chat",))).open()


# A worker takes back what another is still on the way to say: "nothing" must be kept, too.
OVERTAKEN = [
    b'{"type":"placement","ts":1772445780000,"placement_id":"p1","document_id":"d1","asset_id":"a1","actor":"user"}',
    b'{"type":"action","ts":1772445960000,"actor":"user","action":"export","session_guid":"s1",'
    b'"consumed_asset_id":"a1","source_retrieval_id":"r1"}',
    b'{"type":"retrieval","ts":1772445660000,"retrieval_id":"r1","session_guid":"s1"}',
    b'{"type":"placement","ts":1772445780000,"placement_id":"p1","document_id":"d1","asset_id":"a1"}',
    b'{"type":"action","ts":1772445960000,"actor":"user","action":"export","session_guid":"s1",'
    b'"consumed_asset_id":"a1","source_retrieval_id":"r1"}',
]


def crash_test(make_store: Callable[[Semantics], object], examples: int):
    """A property test: crashes between any two effects, then redelivery, change no figure."""

    @example(OVERTAKEN, 12)
    @given(streams, st.integers(0, 2**32))
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    def crashes_change_nothing(values, seed):
        import asyncio

        from tests.properties.test_law import cut

        async def scenario():
            store = make_store(running.SEMANTICS)
            await run(store, cut(running.accepted(values), seed), running.SEMANTICS, seed)
            return store

        store = asyncio.run(scenario())
        reading = read(values, BASE + 31 * DAY, running.RULES)
        found = running.metrics_of(store, BASE + 31 * DAY)
        assert found == pytest.approx(running.rows_of(reading.metrics), abs=2e-9)

    return crashes_change_nothing
