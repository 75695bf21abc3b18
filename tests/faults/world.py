"""The scheduler of a run: it takes one call after the other, and lets faults happen where the plan has them.

Order, without faults: the task that went last goes on; else the one that waits longest. With `turns`, always
the one that waits longest. Only when nobody can go on does time pass: to the next waking; after a round of
idle sweeps comes the next wave of records, then the next fault.

A limit: once a clock was set back, no restart loses the floor of the one before. A floor is above all that
was published if the clock or the floor noted before it is; nothing helps if both are lost.
"""

import asyncio
from typing import Any, Final

from aiokafka import TopicPartition
from aiokafka.errors import KafkaConnectionError
from redis import ConnectionError as RedisConnectionError
from redis import RedisError

from attribution.semantics import Semantics
from streams.publisher import Letter
from streams.state.redis_store import DAY_SECONDS
from streams.state.store import Partition, Refused
from streams.transport import Fetched
from tests.faults.checks import Broken, check_bucket
from tests.faults.logs import Logs
from tests.faults.loop import StepLoop
from tests.faults.plan import Fault, Plan
from tests.faults.servers import Server
from tests.faults.worker import Call, Worker

START_SECONDS: Final = 1_772_445_600.0
STEP_SECONDS: Final = 0.001
MOST_STEPS: Final = 30_000
SWEEPS: Final = 6  # of every worker in quiet, until all marks are old and published
QUIET: Final = frozenset(
    {"restarted", "watermarks", "due", "look", "logs"}
)  # calls of a sweep that finds nothing
KAFKA: Final = frozenset({"publish", "bounds", "since"})
UNFETCHED: Final = frozenset({"error", "lost", "late", "torn"})  # what cannot befall a fetch


class World:
    """One run of one plan."""

    def __init__(self, plan: Plan, server: Server, semantics: Semantics) -> None:
        self.plan, self.server, self.semantics = plan, server, semantics
        self.loop, self.logs = StepLoop(), Logs(plan)
        self.calls: list[Call] = []
        self.letters: list[Letter] = []
        self.trace: list[str] = []
        self.places: set[tuple[int, int]] = set()  # (shard, minute) of every bucket that was written
        self.step = 0
        self._sleeping: list[tuple[float, int, Worker, asyncio.Future[None]]] = []
        self._seconds = 0.0
        self._skew = [0.0] * plan.workers
        self._faults = sorted(plan.faults)
        self._dropping = self._set_back = False
        self._wanted = sorted(one.at - one.amount for one in plan.faults if one.what == "restart")
        self._points: list[tuple[int, Any]] = [(0, server.point())]
        self._last, self._quiet, self._born = "", 0, 0
        self._owners = {one: number % plan.workers for number, one in enumerate(self.logs.partitions)}
        self._workers = [self._worker(number) for number in range(plan.workers)]
        for worker in self._workers:
            self._assign(worker)

    # --- what a worker finds around it ---------------------------------------------------------------

    def wake(self, worker: Worker, seconds: float) -> asyncio.Future[None]:
        """Done once so many seconds are over."""
        waking: asyncio.Future[None] = self.loop.create_future()
        self._sleeping.append((self._seconds + seconds, len(self.trace), worker, waking))
        return waking

    def end(self, partition: TopicPartition) -> int:
        """The end of a log."""
        return self.logs.end(partition)

    def fetch(self, partition: TopicPartition, position: int) -> tuple[Fetched, bool]:
        """The next batch, and whether it arrives."""
        fetched = self.logs.fetch(partition, position)
        if self._dropping and not self.logs.is_last(fetched):
            self._dropping = False
            return fetched, False
        return fetched, True

    # --- the run -------------------------------------------------------------------------------------

    def run(self) -> None:
        """Until all is read and nothing is left to publish. Raises `Broken`."""
        while self._goes_on():
            if self.step > MOST_STEPS:
                raise Broken(f"no end after {MOST_STEPS} steps")
        self.check_buckets(self.places)

    def _goes_on(self) -> bool:
        self._settle()
        self._note_points()
        call = self._next()
        if call is None:
            return self._pass_time()
        while (fault := self._due(call)) is not None and fault.what in _OF_WORLD:
            self._note(str(fault.what))
            _OF_WORLD[fault.what](self, fault)
            self._settle()
        if call not in self.calls:  # its worker is gone
            return True
        if fault is not None and fault.what == "hold":
            call.not_before = self.step + fault.amount
            self._note(f"{call} hold")
            return True
        self._take(call, fault)
        return True

    def _note_points(self) -> None:
        """Where later restarts go back to: what was written before so many steps."""
        while self._wanted and self._wanted[0] <= self.step:
            self._wanted.pop(0)
            self._points.append((self.step, self.server.point()))

    def _jump(self, step: int) -> None:
        """Nothing happens until then."""
        if self._wanted and self._wanted[0] <= step:
            self._points.append((self.step, self.server.point()))
            self._wanted = [one for one in self._wanted if one > step]
        self.step = step

    def _settle(self) -> None:
        """Let every task run up to its next call, and look whether one has ended."""
        self.loop.run_ready()
        for worker in self._workers:
            for task in worker.tasks:
                if task.done() and (error := task.exception()) is not None:
                    raise Broken(
                        f"{worker.name} {task.get_name()} ended at step {self.step}: {error!r}"
                    ) from error

    def _next(self) -> Call | None:
        able = [call for call in self.calls if call.ready()]
        now = [call for call in able if call.not_before <= self.step]
        if able and not now:
            self._jump(min(call.not_before for call in able))
            return self._next()
        going_on = [] if self.plan.turns else [call for call in now if call.task == self._last]
        return next(iter(going_on or now), None)

    def _due(self, call: Call | None) -> Fault | None:
        """The next fault whose step has come and that can befall this call."""
        for fault in self._faults:
            if fault.at > self.step:
                break
            if call is None or call.name != "fetch" or fault.what not in UNFETCHED:
                self._faults.remove(fault)
                return fault
        return None

    def _note(self, text: str) -> None:
        self.trace.append(f"{self.step} {text}")

    def _take(self, call: Call, fault: Fault | None) -> None:
        self.calls.remove(call)
        self._last = call.task
        self._note(f"{call} {fault.what if fault else ''}")
        self.step += 1
        self._seconds += STEP_SECONDS
        if call.name not in QUIET:
            self._quiet = 0
        if fault is None:
            self._answer(call)
        elif fault.what == "crash":
            self._crash(call, fault.amount)
        else:
            _OF_CALL[fault.what](self, call, fault.amount)
            self._fail(call)

    # --- effects -------------------------------------------------------------------------------------

    def _answer(self, call: Call) -> None:
        try:
            answer = self.server.do(call.effect())
        except (Refused, RedisError) as error:
            self._note(repr(error))
            if call.done is not None:
                call.done.set_exception(error)
        else:
            self.check_buckets(call.places)
            if call.name == "open" and self._set_back:
                self._points = [(self.step, self.server.point())]
            if call.done is not None:
                call.done.set_result(answer)

    def _fail(self, call: Call) -> None:
        if call.done is not None:
            call.done.set_exception(KafkaConnectionError() if call.name in KAFKA else RedisConnectionError())

    def _nothing(self, call: Call, amount: int) -> None: ...

    def _unanswered(self, call: Call, amount: int) -> None:
        done, call.done = call.done, None
        self._answer(call)
        call.done = done

    def _later(self, call: Call, amount: int) -> None:
        """The call is on its way, whatever becomes of its worker."""
        self.calls.append(call.on_its_way(self.step + amount))

    def _torn(self, call: Call, amount: int) -> None:
        if call.name == "publish":
            self.server.do(call.effect(amount))
        elif call.name not in KAFKA:
            with self.server.tearing(amount):
                self._unanswered(call, amount)

    def check_buckets(self, places: set[tuple[int, int]]) -> None:
        """At every moment: no counter below 0, no share outside [0, 1], and the classes add up."""
        self.places |= places
        for minute, counters in self.server.counters(places) if places else ():
            check_bucket(counters, minute, self.semantics)

    # --- faults of the world -------------------------------------------------------------------------

    def _worker(self, number: int) -> Worker:
        self._born += 1

        def clock() -> float:
            return START_SECONDS + self._seconds + self._skew[number]

        store = self.server.store(self.semantics, clock)
        return Worker(
            self, f"w{number}.{self._born}", number, store, self.semantics, clock, self.logs.partitions
        )

    def _assign(self, worker: Worker) -> None:
        worker.assign([one for one, owner in self._owners.items() if owner == worker.number])

    def _crash(self, call: Call, amount: int) -> None:
        worker = call.worker
        if amount and call.name != "fetch":
            self._later(call, amount)
        for task in worker.tasks:
            task.cancel()
        self.calls = [one for one in self.calls if one.worker is not worker or one.done is None]
        self._sleeping = [one for one in self._sleeping if one[2] is not worker]
        if worker in self._workers:
            self.loop.run_ready()
            self._workers[worker.number] = self._worker(worker.number)
            self._assign(self._workers[worker.number])

    def _drop(self, fault: Fault) -> None:
        self._dropping = True

    def _restart(self, fault: Fault) -> None:
        if fault.amount == 0:
            self._points.append((self.step, self.server.point()))
        self._points = [one for one in self._points if one[0] <= self.step - fault.amount] or self._points[:1]
        self.server.restart(self._points[-1][1])

    def _rebalance(self, fault: Fault) -> None:
        self._owners = {
            one: (owner + fault.amount) % self.plan.workers for one, owner in self._owners.items()
        }
        for worker in self._workers:
            self._assign(worker)

    def _expel(self, fault: Fault) -> None:
        heir = (fault.worker + 1) % self.plan.workers
        moved = [one for one, owner in self._owners.items() if owner == fault.worker]
        self._owners |= dict.fromkeys(moved, heir)
        self._assign(self._workers[heir])

    def _step_clock(self, fault: Fault) -> None:
        self._skew[fault.worker] += fault.amount
        self._set_back = self._set_back or fault.amount < 0

    def _days(self, fault: Fault) -> None:
        self._seconds += fault.amount * DAY_SECONDS
        self.server.days(fault.amount)

    # --- when nobody can go on -----------------------------------------------------------------------

    def _pass_time(self) -> bool:
        """To the next waking; False once all is done."""
        if self._quiet <= len(self._workers):
            return self._wake()
        if self.logs.next_wave():
            self._quiet = 0
            return True
        if self._faults:
            fault = self._faults[0]
            self._jump(max(self.step, fault.at))
            if fault.what in _OF_WORLD:
                self._faults.pop(0)
                self._note(f"idle {fault.what}")
                _OF_WORLD[fault.what](self, fault)
            self._quiet = 0
            return True
        left = self.left()
        if not left:
            return False
        if self._quiet == SWEEPS * len(self._workers):  # a clock was set back: marks look young for as long
            self._seconds += 60 + sum(abs(one.amount) for one in self.plan.faults if one.what == "clock")
        if self._quiet > 2 * SWEEPS * len(self._workers):
            raise Broken(f"it never ends: {left}")
        return self._wake()

    def _wake(self) -> bool:
        self._quiet += 1
        first = min(self._sleeping, key=lambda one: one[:2])
        self._sleeping.remove(first)
        self._seconds = max(self._seconds, first[0])
        first[3].set_result(None)
        return True

    def left(self) -> str:
        """What is not done yet: unread records, unpublished marks."""
        store = self.server.store(self.semantics, lambda: START_SECONDS)
        ends = {Partition(*one): self.logs.end(one) for one in self.logs.partitions}
        marks = self.server.do(store.watermarks(list(ends)))
        unread = {tuple(one): (marks.get(one), end) for one, end in ends.items() if marks.get(one, 0) != end}
        due = self.server.do(store.due(1000))
        return f"watermarks {unread}, marks {due}" if unread or due else ""


_OF_WORLD: Final = {
    "drop": World._drop,
    "restart": World._restart,
    "rebalance": World._rebalance,
    "expel": World._expel,
    "clock": World._step_clock,
    "days": World._days,
}
_OF_CALL: Final = {
    "error": World._nothing,
    "lost": World._unanswered,
    "late": World._later,
    "torn": World._torn,
}
