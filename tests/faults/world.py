"""The scheduler of a run: it takes one call after the other, and lets faults happen where the plan has them.

Order, without faults: the task that went last goes on; else the one that waits longest. With `turns`, always
the one that waits longest. Only when nobody can go on does time pass: to the next waking; after a round of
idle sweeps comes the next wave of records, then, once no marks are left, the next fault.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from aiokafka import TopicPartition
from redis import RedisError

from attribution.semantics import Semantics
from streams.publisher import Letter
from streams.state.store import Due, Partition, Refused
from streams.transport import Fetched
from tests.faults.befalls import OF_CALL, OF_WORLD
from tests.faults.checks import Broken, check_bucket
from tests.faults.happened import Happened
from tests.faults.logs import Logs
from tests.faults.loop import StepLoop
from tests.faults.plan import Fault, Plan
from tests.faults.servers import Server
from tests.faults.worker import Call, Worker

START_SECONDS: Final = 1_772_445_600.0
STEP_SECONDS: Final = 0.001
MOST_STEPS: Final = 30_000
SWEEPS: Final = 6  # of every worker in quiet, until all marks are old and published
QUIET: Final = frozenset({"restarted", "watermarks", "due", "look", "logs"})  # of a sweep that finds nothing
WORK: Final = frozenset({"load", "save", "publish", "advance", "clear"})
UNFETCHED: Final = frozenset({"error", "lost", "late", "torn"})  # what cannot befall a fetch


class Point(NamedTuple):
    """Where a restart may go back to: as the state was at a step, after so many saves."""

    step: int
    at: Any
    saves: int


class World:
    """One run of one plan. `drained(marks)` is called whenever all is read; marks are outputs still due."""

    def __init__(
        self,
        plan: Plan,
        server: Server,
        semantics: Semantics,
        drained: Callable[["World", Sequence[Due]], None],
    ) -> None:
        self.plan, self.server, self.semantics = plan, server, semantics
        self.loop, self.logs, self.happened = StepLoop(), Logs(plan), Happened(plan.sent)
        self.calls: list[Call] = []
        self.letters: list[Letter] = []
        self.trace: list[str] = []
        self.places: set[tuple[int, int]] = set()  # (shard, minute) of every bucket that was written
        self.step, self.seconds = 0, 0.0
        self.skew = [0.0] * plan.workers
        self.dropping = self.stepped = False  # is the next batch lost? was a clock set?
        self.points: list[Point] = []
        self._drained = drained
        self._sleeping: list[tuple[float, int, Worker, asyncio.Future[None]]] = []
        self._faults = sorted(plan.faults)
        self._wanted = sorted(one.at - one.amount for one in plan.faults if one.what == "restart")
        self._last, self._quiet, self._born = "", 0, 0
        self.note_point()
        self.owners = {one: number % plan.workers for number, one in enumerate(self.logs.partitions)}
        self._workers = [self._worker(number) for number in range(plan.workers)]
        for number in range(plan.workers):
            self.assign(number)

    # --- what a worker finds around it ---------------------------------------------------------------

    def wake(self, worker: Worker, seconds: float) -> asyncio.Future[None]:
        """Done once so many seconds are over."""
        waking: asyncio.Future[None] = self.loop.create_future()
        self._sleeping.append((self.seconds + seconds, len(self.trace), worker, waking))
        return waking

    def end(self, partition: TopicPartition) -> int:
        """The end of a log."""
        return self.logs.end(partition)

    def fetch(self, partition: TopicPartition, position: int) -> tuple[Fetched, bool]:
        """The next batch, and whether it arrives."""
        fetched = self.logs.fetch(partition, position)
        arrives = not self.dropping or self.logs.is_last(fetched)
        self.dropping = self.dropping and arrives
        self.happened.fetched(fetched, arrives)
        return fetched, arrives

    @property
    def busy(self) -> bool:
        """Is a worker in the middle of a batch?"""
        return any(call.name in WORK for call in self.calls)

    # --- the run -------------------------------------------------------------------------------------

    def run(self) -> None:
        """Until all is read and nothing is left to publish. Raises `Broken`."""
        while self._goes_on():
            if self.step > MOST_STEPS:
                raise Broken(f"no end after {MOST_STEPS} steps")
        self.check_buckets(self.places)

    def _goes_on(self) -> bool:
        self._settle()
        while self._wanted and self._wanted[0] <= self.step:
            self._wanted.pop(0)
            self.note_point()
        call = self._next()
        if call is None:
            return self._pass_time()
        while (fault := self._due(call)) is not None and fault.what in OF_WORLD:
            self._befall(fault)
            self._settle()
        if call not in self.calls:  # its worker is gone
            return True
        if fault is not None and fault.what == "hold":
            call.not_before = self.step + fault.amount
            self._note(f"{call} hold")
            return True
        self._take(call, fault)
        return True

    def note_point(self) -> None:
        """What is written now survives a restart that goes back to here."""
        self.points.append(Point(self.step, self.server.point(), self.happened.saves))

    def _jump(self, step: int) -> None:
        """Nothing happens until then."""
        if self._wanted and self._wanted[0] <= step:
            self.note_point()
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

    def _due(self, call: Call) -> Fault | None:
        """The next fault whose step has come and that can befall this call."""
        for fault in self._faults:
            if fault.at > self.step:
                break
            able = call.name != "fetch" or fault.what not in UNFETCHED
            if able and fault.effect in ("", call.name):
                self._faults.remove(fault)
                return fault
        return None

    def _befall(self, fault: Fault) -> None:
        self._note(fault.what if self.busy else f"idle {fault.what}")
        self.happened.count(fault.what)
        OF_WORLD[fault.what](self, fault)

    def _note(self, text: str) -> None:
        self.trace.append(f"{self.step} {text}")

    def _take(self, call: Call, fault: Fault | None) -> None:
        self.calls.remove(call)
        self._last = call.task
        what = fault.what if fault else ""
        self._note(f"{call} {what}")
        self.happened.took(call, what)
        self.step += 1
        self.seconds += STEP_SECONDS
        if call.name not in QUIET:
            self._quiet = 0
        if fault is None:
            self.answer(call)
        else:
            OF_CALL[fault.what](self, call, fault.amount)

    def answer(self, call: Call) -> None:
        """Its effect is done, and whoever waits for it gets the answer."""
        try:
            answer = self.server.do(call.effect())
        except (Refused, RedisError) as error:
            self._note(repr(error))
            self.happened.refused(call)
            if call.done is not None:
                call.done.set_exception(error)
        else:
            self.check_buckets(call.places)
            zombie = any(self.owners[one] != call.worker.number for one in call.worker.positions)
            self.happened.did(call, answer, zombie, dead=call.worker not in self._workers)
            if call.done is not None:
                call.done.set_result(answer)

    def check_buckets(self, places: set[tuple[int, int]]) -> None:
        """At every moment: no counter below 0, no share outside [0, 1], and the classes add up."""
        self.places |= places
        for minute, counters in self.server.counters(places) if places else ():
            check_bucket(counters, minute, self.semantics)

    # --- workers -------------------------------------------------------------------------------------

    def _worker(self, number: int) -> Worker:
        self._born += 1

        def clock() -> float:
            return START_SECONDS + self.seconds + self.skew[number]

        store = self.server.store(self.semantics, clock)
        return Worker(
            self,
            f"w{number}.{self._born}",
            number,
            store,
            self.semantics,
            clock,
            self.logs.partitions,
            whole=self.plan.whole,
        )

    def assign(self, number: int) -> None:
        """Tell a worker which partitions are its own now."""
        worker = self._workers[number]
        worker.assign([one for one, owner in self.owners.items() if owner == number])

    def replace(self, worker: Worker) -> None:
        """The worker dies, and another begins anew in its place. What it has on its way stays so."""
        for task in worker.tasks:
            task.cancel()
        self.calls = [one for one in self.calls if one.worker is not worker or one.done is None]
        self._sleeping = [one for one in self._sleeping if one[2] is not worker]
        if worker in self._workers:
            self.loop.run_ready()
            self._workers[worker.number] = self._worker(worker.number)
            self.assign(worker.number)

    # --- when nobody can go on -----------------------------------------------------------------------

    def _pass_time(self) -> bool:
        """To the next waking; False once all is done."""
        if self._quiet <= len(self._workers):
            return self._wake()
        unread, marks = self.left()
        if not unread and self._quiet == len(self._workers) + 1:
            self._drained(self, marks)
        if self.logs.next_wave():
            self._quiet = 0
            return True
        tired = SWEEPS * len(self._workers)
        if self._faults and (not marks or self._quiet >= tired):
            self._next_fault()
            return True
        if not (unread or marks):
            return False
        if self._quiet == tired:  # a clock was set back: marks look young for as long
            self.seconds += 60 + sum(abs(one.amount) for one in self.plan.faults if one.what == "clock")
        if self._quiet > 2 * tired:
            raise Broken(f"it never ends: watermarks {unread}, marks {marks}")
        return self._wake()

    def _next_fault(self) -> None:
        """While idle too: the world's faults at once, the others at the next sweep's call."""
        fault = self._faults[0]
        self._jump(max(self.step, fault.at))
        if fault.what in OF_WORLD:
            self._faults.pop(0)
            self._befall(fault)
        elif fault.effect:
            self._faults[0] = fault._replace(effect="")
        self._quiet = 0

    def _wake(self) -> bool:
        self._quiet += 1
        first = min(self._sleeping, key=lambda one: one[:2])
        self._sleeping.remove(first)
        self.seconds = max(self.seconds, first[0])
        first[3].set_result(None)
        return True

    def left(self) -> tuple[dict[Partition, tuple[int | None, int]], list[Due]]:
        """What is not done yet: unread records (watermark and end), and marks not published."""
        store = self.server.store(self.semantics, lambda: START_SECONDS)
        ends = {Partition(*one): self.logs.end(one) for one in self.logs.partitions}
        marks = self.server.do(store.watermarks(list(ends)))
        unread = {one: (marks.get(one), end) for one, end in ends.items() if marks.get(one, 0) != end}
        return unread, self.server.do(store.due(1000))
