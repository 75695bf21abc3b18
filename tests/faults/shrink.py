"""The smallest plan that still fails: until no record, no fault and no setting of it can go.

Parts are left out in halves, quarters and so on (delta debugging), then one by one until none can go. What is
left is made plainer: one worker, one partition, no turns, small amounts.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from tests.faults.plan import Plan

T = TypeVar("T")
Fails = Callable[[Plan], bool]


def shrunk(plan: Plan, fails: Fails) -> Plan:
    """The smallest failing plan found from one that fails."""
    while True:
        before = plan
        plan = plan._replace(faults=_without(plan.faults, partial(_fails_with, plan, fails, "faults")))
        plan = plan._replace(sent=_without(plan.sent, partial(_fails_with, plan, fails, "sent")))
        plan = _plainer(plan, fails)
        if plan == before:
            return plan


def _fails_with(plan: Plan, fails: Fails, name: str, parts: tuple[T, ...]) -> bool:
    return fails(plan._replace(**{name: parts}))


def _without(parts: tuple[T, ...], fails: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """The parts without any that can go; at the end each was tried alone."""
    size = max(1, len(parts) // 2)
    while parts:
        start, gone = 0, False
        while start < len(parts):
            left = parts[:start] + parts[start + size :]
            if fails(left):
                parts, gone = left, True
            else:
                start += size
        if size == 1 and not gone:
            break
        size = max(1, size // 2)
    return parts


def _plainer(plan: Plan, fails: Fails) -> Plan:
    """The plan after every change that makes it plainer and lets it fail."""
    for change in _CHANGES:
        for other in change(plan):
            if other != plan and fails(other):
                plan = other
                break
    return plan


def _settings(plan: Plan) -> Iterator[Plan]:
    yield plan._replace(turns=False)
    yield plan._replace(whole=False)


def _workers(plan: Plan) -> Iterator[Plan]:
    for workers in range(1, plan.workers):
        faults = tuple(one._replace(worker=one.worker % workers) for one in plan.faults)
        yield plan._replace(workers=workers, faults=faults)


def _partitions(plan: Plan) -> Iterator[Plan]:
    for partitions in range(1, plan.partitions):
        sent = tuple(one._replace(partition=one.partition % partitions) for one in plan.sent)
        yield plan._replace(partitions=partitions, sent=sent)


def _sizes(plan: Plan) -> Iterator[Plan]:
    plainer = ((100,), (1,))
    for sizes in plainer[: plainer.index(plan.sizes) if plan.sizes in plainer else None]:
        yield plan._replace(sizes=sizes)


def _waves(plan: Plan) -> Iterator[Plan]:
    yield plan._replace(sent=tuple(one._replace(wave=0) for one in plan.sent))


def _semantics(plan: Plan) -> Iterator[Plan]:
    yield plan._replace(semantics="plain")


def _earlier(plan: Plan) -> Iterator[Plan]:
    """All faults from one on, so many steps earlier: what lay between went with a record."""
    for number, fault in enumerate(plan.faults):
        least = plan.faults[number - 1].at if number else 0
        for at in sorted({least, (least + fault.at) // 2, fault.at - 1} - {fault.at}):
            if at >= least:
                moved = tuple(one._replace(at=one.at - fault.at + at) for one in plan.faults[number:])
                yield plan._replace(faults=plan.faults[:number] + moved)


def _less(plan: Plan) -> Iterator[Plan]:
    """A smaller amount of one fault."""
    for number, fault in enumerate(plan.faults):
        for amount in (0, 1, fault.amount // 2):
            if abs(amount) < abs(fault.amount):
                less = fault._replace(amount=amount)
                yield plan._replace(faults=(*plan.faults[:number], less, *plan.faults[number + 1 :]))


_CHANGES: Sequence[Callable[[Plan], Iterator[Plan]]] = (
    *(_settings, _workers, _partitions, _sizes, _waves, _semantics),
    *(_earlier, _less) * 3,
)
