"""Ready or not, idle or stalled, and giving up, on clocks that only move when told."""

import asyncio
import subprocess
import sys

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import KafkaConnectionError, KafkaTimeoutError, MessageSizeTooLargeError
from aiokafka.structs import ConsumerRecord
from redis import ConnectionError as RedisConnectionError
from redis import OutOfMemoryError, ResponseError

from metrics.worker_metrics import WorkerMetrics
from streams import progress as module
from streams.progress import Progress, Stalled, told
from streams.transport import Fetched

P, Q = TopicPartition("lara.actions", 0), TopicPartition("lara.actions", 1)


class Clocked:
    """A progress and its clock, in seconds since it began."""

    def __init__(self):
        self.now = 0.0
        self.metrics = WorkerMetrics()
        self.progress = Progress(self.metrics, lambda: 1000 + self.now, lambda: self.now)

    def beat(self, seconds, lag):
        """So much later the worker answers its services, and beats."""
        self.now += seconds
        self.progress.reached()
        self.progress.beat(lag)

    def value(self, name, **labels):
        return self.metrics.registry.get_sample_value(name, labels)

    def age(self, partition):
        return self.value("lara_lag_seconds", topic=partition.topic, partition=str(partition.partition))


@pytest.fixture
def one():
    return Clocked()


def handled(partition, stamp_seconds):
    record = ConsumerRecord(
        partition.topic, partition.partition, 0, stamp_seconds * 1000, 0, None, b"", None, 0, 0, ()
    )
    return Fetched(partition.topic, partition.partition, 0, 1, (record,))


# --- ready and live ---------------------------------------------------------------------------------


def test_a_worker_is_ready_once_it_has_partitions_and_knows_its_lag(one):
    """Each missing part is named."""
    one.beat(1, {})
    assert one.progress.ready() == (False, "no partition is assigned: still joining, or a spare worker")
    one.beat(1, {P: None, Q: 0})
    assert one.progress.ready() == (False, "lag is not known yet of 1 of 2 partitions")
    one.beat(1, {P: 0, Q: 0})
    assert one.progress.ready() == (True, "idle: 2 partitions are read to their end")


def test_behind_is_told_apart_from_idle(one):
    """How far, and for how long nothing got on."""
    one.beat(1, {P: 0})
    one.beat(7, {P: 40, Q: 2})
    assert one.progress.ready() == (True, "42 records behind, last progress 7 s ago")


def test_a_worker_that_waits_is_not_ready_and_says_for_what(one):
    """Until it gets an answer."""
    one.beat(1, {P: 0})
    one.progress.failed(RedisConnectionError("nobody there"))
    assert one.progress.ready() == (False, "Redis does not do its part: ConnectionError: nobody there")
    assert one.value("lara_out_of_reach", service="Redis") == 1
    one.progress.reached()
    assert one.progress.ready().ok
    assert one.value("lara_out_of_reach", service="Redis") == 0
    one.progress.failed(KafkaConnectionError())
    assert one.progress.ready().reason.startswith("Kafka")


def test_a_service_that_hangs_is_noticed_though_nothing_fails(one):
    """A paused server gives no error."""
    one.beat(1, {P: 0})
    one.now += 31
    one.progress.beat({P: 0})
    assert one.progress.ready() == (False, "Redis and Kafka have answered nothing for 31 s")


def test_a_worker_that_stops_is_not_ready(one):
    """From the signal on, however well it is."""
    one.beat(1, {P: 0})
    one.progress.stopping = lambda: True
    assert one.progress.ready() == (False, "stopping")


def test_a_stuck_event_loop_is_neither_live_nor_ready(one):
    """Only a beat mends it."""
    one.beat(1, {P: 0})
    assert one.progress.live().ok
    one.now += 16
    assert one.progress.live() == (False, "the event loop has not answered for 16 s")
    assert one.progress.ready() == one.progress.live()
    one.beat(1, {P: 0})
    assert one.progress.live().ok


STUCK = """
import asyncio, time
from metrics.worker_metrics import WorkerMetrics
from streams.progress import Progress

async def main():
    progress = Progress(WorkerMetrics(), time.time)
    beating = asyncio.create_task(progress.beats(dict, 1.5))
    await asyncio.sleep({pause})
    blocked()
    beating.cancel()

def blocked():
    time.sleep({block})

asyncio.run(main())
print("ended by itself")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("pause", "block", "code"), [(0.1, 60, 1), (2.5, 0.1, 0)], ids=["stuck", "busy"])
def test_a_loop_that_stays_stuck_is_ended_from_outside_with_its_stacks(pause, block, code):
    """Nothing inside of it could; one that beats may run for as long as it likes."""
    program = STUCK.format(pause=pause, block=block)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert done.returncode == code
    assert ("in blocked" in done.stderr) == (code == 1)
    assert ("ended by itself" in done.stdout) == (code == 0)


# --- lag and stalls ---------------------------------------------------------------------------------


def test_only_what_is_left_can_stall(one):
    """Idle counts nothing, to the last digit; something to read counts until a watermark rises."""
    one.beat(100, {P: 0})
    assert one.value("lara_stalled_seconds") == 0
    one.beat(60, {P: 5})
    assert one.value("lara_stalled_seconds") == 60
    one.progress.handled(handled(P, 900))
    one.beat(10, {P: 4})
    assert one.value("lara_stalled_seconds") == 10
    one.beat(10, {P: None})
    assert one.value("lara_stalled_seconds") == 20
    one.beat(10, {P: 0})
    assert one.value("lara_stalled_seconds") == 0


def test_the_age_of_what_is_left_grows_until_it_is_read(one):
    """And is 0 at the end of the log, however old the newest record is."""
    one.progress.handled(handled(P, 900))
    one.beat(10, {P: 3})
    assert one.age(P) == 110
    one.beat(10, {P: 3})
    assert one.age(P) == 120
    one.beat(1, {P: 0})
    assert one.age(P) == 0


def test_a_partition_that_was_given_up_has_no_age(one):
    """Its new owner tells it."""
    one.progress.handled(handled(P, 900))
    one.beat(1, {P: 3, Q: 0})
    one.beat(1, {Q: 0})
    assert one.age(P) is None
    assert one.age(Q) == 0


# --- giving up --------------------------------------------------------------------------------------


@pytest.fixture
def quick(one, monkeypatch):
    """Sleeping moves the clock, and has `meanwhile` happen; after 1,000 s the world ends."""
    one.meanwhile = lambda: None

    async def sleep(seconds):
        one.now += seconds
        one.meanwhile()
        if one.now > 1000:
            raise EOFError

    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    return one


async def answering():
    return None


async def out_of_reach():
    raise RedisConnectionError


def guarded(one, probe=answering):
    asyncio.run(one.progress.guard(probe, 300))


def test_a_worker_that_gets_on_with_nothing_gives_up(quick):
    """After the stall limit, with what is left."""
    quick.beat(1, {P: 5})
    with pytest.raises(Stalled, match=r"5 records are left in 1 partitions.*for 300 s"):
        guarded(quick)
    assert quick.now == 300


def test_an_idle_worker_never_gives_up(quick):
    """However long it has nothing to do."""
    quick.meanwhile = lambda: quick.progress.beat({P: 0})
    with pytest.raises(EOFError):
        guarded(quick)


def test_a_worker_does_not_give_up_while_a_service_is_out_of_reach(quick):
    """Ending would mend nothing."""
    quick.beat(1, {P: 5})
    with pytest.raises(EOFError):
        guarded(quick, out_of_reach)


@pytest.mark.parametrize(
    "outage",
    [RedisConnectionError(), OutOfMemoryError(), KafkaConnectionError(), KafkaTimeoutError(), OSError()],
)
def test_an_outage_that_goes_on_is_waited_for(quick, outage):
    """Also where the service answers, but does not do what it must."""
    quick.beat(1, {P: 5})
    quick.meanwhile = lambda: quick.progress.failed(outage)
    with pytest.raises(EOFError):
        guarded(quick)


def test_an_outage_that_nobody_met_since_is_no_excuse(quick):
    """What is tried again hangs, and the services answer."""
    quick.beat(1, {P: 5})
    quick.progress.failed(RedisConnectionError())
    with pytest.raises(Stalled):
        guarded(quick)


@pytest.mark.parametrize("error", [ResponseError("no such function"), MessageSizeTooLargeError()])
def test_what_waiting_does_not_mend_is_given_up_with_its_reason(quick, error):
    """A supervisor sees it, and the log says why."""
    quick.beat(1, {P: 5})
    quick.progress.failed(error)
    with pytest.raises(Stalled, match=type(error).__name__):
        guarded(quick)


@pytest.mark.parametrize("error", [ResponseError("Function not found"), KafkaConnectionError()])
def test_a_probe_tells_an_outage_from_a_service_that_refuses(quick, error):
    """Only the first is waited for."""
    quick.beat(1, {P: 5})

    async def probe():
        raise error

    with pytest.raises(Stalled if isinstance(error, ResponseError) else EOFError):
        guarded(quick, probe)


def test_an_error_is_told_without_the_command_that_met_it():
    """redis-py puts the arguments of a pipelined call into its errors; ours hold events."""
    error = ResponseError(
        "Command # 1 (FCALL f 1 base said\nby a user) of pipeline caused error: no such function"
    )
    assert told(error) == "ResponseError: no such function"
    assert told(OSError("nobody there")) == "OSError: nobody there"


def test_after_an_outage_a_worker_has_its_time_again(quick):
    """What was lost waiting does not count against it."""
    quick.beat(1, {P: 5})
    quick.progress.failed(RedisConnectionError())
    quick.now = 500
    quick.progress.reached()
    with pytest.raises(Stalled):
        guarded(quick)
    assert quick.now == 800
