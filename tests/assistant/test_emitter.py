"""Events leave without ever holding the host up."""

import asyncio
import json
import socket
import threading
import time

from assistant.emitter import Emitter, judged
from assistant.sinks import FileSink, KafkaSink
from attribution.parsing import Rejected, parse


class Memory:
    """A sink that keeps records; the first `failures` attempts fail."""

    def __init__(self, failures=0):
        self.records, self.failures = [], failures

    async def send(self, records):
        if self.failures:
            self.failures -= 1
            raise OSError("out of reach")
        self.records += records

    async def close(self):
        pass


class Slow(Memory):
    """A sink that takes a while."""

    async def send(self, records):
        await asyncio.sleep(0.1)
        await super().send(records)


class Stuck(Memory):
    """A sink that never answers."""

    async def send(self, records):
        await asyncio.sleep(3600)


def events(memory):
    return [json.loads(record.value) for record in memory.records]


def test_lineage_goes_from_turn_to_export():
    """Every event is one of the contract, and names what it came from."""
    memory = Memory()
    emitter = Emitter(memory, now=lambda: 1_000)
    turn = emitter.turn("s1", "q1", text="hello", user_id="u1", surface="chat")
    fired = turn.retrieval(["a1", None, "a2"], query="hello", need_id="n1", retrieval_id="r1")
    placed = fired.placed("a2", "d1", placement_id="p1")
    fired.acted("agent", "use", "a2")
    turn.shown(["a2", "a1"])
    placed.acted("user", "export", session_guid="s2")
    judged(emitter, "hello", "a2", 2)
    emitter.close()
    assert not any(isinstance(parse(record.value), Rejected) for record in memory.records)
    prompt, retrieval, placement, use, show, export, judgement = events(memory)
    assert prompt["text"] == "hello" and retrieval["returned_asset_ids"] == ["a1", None, "a2"]
    assert placement["source_retrieval_id"] == use["source_retrieval_id"] == "r1"
    assert (export["placement_id"], export["document_id"], export["session_guid"]) == ("p1", "d1", "s2")
    assert "request_id" not in export and show["request_id"] == "q1" and judgement["kind"] == "relevance"


def test_the_list_is_that_of_the_moment_it_fired():
    """What the host does with its list afterwards changes nothing."""
    memory, shown = Memory(), ["a1", "a2", "a3"]
    emitter = Emitter(memory)
    emitter.turn("s1").retrieval(shown)
    shown.reverse()
    shown.pop()
    emitter.close()
    assert events(memory)[1]["returned_asset_ids"] == ["a1", "a2", "a3"]


def test_what_fails_is_sent_again_in_order(monkeypatch):
    """A sink out of reach loses nothing while there is room."""
    monkeypatch.setattr("assistant.emitter.RETRY_SECONDS", 0.01)
    memory = Memory(failures=3)
    emitter = Emitter(memory)
    for number in range(5):
        emitter.turn("s1", f"q{number}")
    emitter.close()
    assert [one["request_id"] for one in events(memory)] == [f"q{number}" for number in range(5)]
    assert emitter.counts == {"taken": 5, "sent": 5, "retried": 3, "dropped": 0, "refused": 0}


def test_a_full_buffer_drops_and_counts():
    """And closing ends in time, with the rest counted too."""
    emitter = Emitter(Stuck(), capacity=10)
    for _ in range(25):
        emitter.turn("s1")
    started = time.monotonic()
    emitter.close(0.1)
    assert time.monotonic() - started < 1
    assert (emitter.counts["taken"], emitter.counts["dropped"], emitter.counts["sent"]) == (25, 25, 0)


def test_nothing_of_the_host_raises():
    """Unknown fields, objects that are no JSON, broken iterators, calls after the end: counted, not raised."""
    memory = Memory()
    emitter = Emitter(memory)
    turn = emitter.turn("s1", nonsense=1)
    turn.retrieval(iter(lambda: 1 / 0, 1))
    turn.retrieval(["a1"], query=object())
    emitter.close()
    emitter.turn("s1")
    assert emitter.counts["refused"] == 3 and emitter.counts["sent"] == 1
    assert "returned_asset_ids" not in events(memory)[0]


def test_threads_share_an_emitter():
    """Every event of every thread is sent once."""
    memory = Memory()
    emitter = Emitter(memory)
    host = [threading.Thread(target=lambda: [emitter.turn("s1") for _ in range(200)]) for _ in range(4)]
    for one in host:
        one.start()
    for one in host:
        one.join()
    emitter.close()
    assert len({one["request_id"] for one in events(memory)}) == 800 == emitter.counts["sent"]


async def test_coroutines_go_on_while_it_closes():
    """`aclose` waits beside the loop, not in it."""
    memory = Slow()
    emitter = Emitter(memory)
    emitter.turn("s1")
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    ticking = asyncio.create_task(tick())
    await emitter.aclose()
    ticking.cancel()
    assert ticks > 10 and len(memory.records) == 1


def test_a_file_holds_lines_that_lara_reads(tmp_path):
    """One event a line."""
    emitter = Emitter(FileSink(tmp_path / "events.jsonl"))
    emitter.turn("s1").retrieval(["a1"])
    emitter.close()
    lines = (tmp_path / "events.jsonl").read_bytes().splitlines()
    assert len(lines) == 2 and not any(isinstance(parse(line), Rejected) for line in lines)


def call_seconds(calls: int) -> list[float]:
    """How long calls of a host take, sorted, with nobody at Kafka's address; a fifth find the buffer full."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        emitter = Emitter(KafkaSink(f"127.0.0.1:{nobody.getsockname()[1]}"), capacity=calls * 4 // 5)
        turn, ids, seconds = emitter.turn("s1"), [f"a{number}" for number in range(20)], []
        for _ in range(calls):
            started = time.perf_counter()
            turn.retrieval(ids, query="refund times")
            seconds.append(time.perf_counter() - started)
            time.sleep(0.0002)  # so that the emitter's own thread is at work in between
        emitter.close(0.1)
        assert emitter.counts["sent"] == 0 and emitter.counts["dropped"] == calls + 1
    return sorted(seconds)


def test_a_call_takes_less_than_a_millisecond_with_kafka_down():
    """The 99th percentile of 5,000."""
    assert call_seconds(5000)[4950] < 0.001
