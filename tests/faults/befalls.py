"""What each fault does: to one call of a worker, or to the world before it. `plan.FAULTS` says it in words."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from aiokafka.errors import KafkaConnectionError
from redis import ConnectionError as RedisConnectionError

from streams.state.redis_store import DAY_SECONDS
from tests.faults.plan import Fault
from tests.faults.worker import Call

if TYPE_CHECKING:
    from tests.faults.world import World

KAFKA: Final = frozenset({"publish", "bounds", "since"})  # calls of the broker; the others are the store's


def _fail(call: Call) -> None:
    if call.done is not None:
        call.done.set_exception(KafkaConnectionError() if call.name in KAFKA else RedisConnectionError())


def _error(world: "World", call: Call, amount: int) -> None:
    _fail(call)


def _lost(world: "World", call: Call, amount: int) -> None:
    world.answer(call.unheard())
    _fail(call)


def _late(world: "World", call: Call, amount: int) -> None:
    """The call is on its way, whatever becomes of its worker."""
    world.calls.append(call.unheard(world.step + amount))
    _fail(call)


def _torn(world: "World", call: Call, amount: int) -> None:
    if call.name == "publish":
        world.server.do(call.effect(amount))
    elif call.name not in KAFKA:
        with world.server.tearing(0 if call.whole else amount):
            world.answer(call.unheard())
    _fail(call)


def _crash(world: "World", call: Call, amount: int) -> None:
    if amount and call.name != "fetch":
        world.calls.append(call.unheard(world.step + amount))
    world.replace(call.worker)


def _drop(world: "World", fault: Fault) -> None:
    world.dropping = True


def _restart(world: "World", fault: Fault) -> None:
    if fault.amount == 0:
        world.note_point()
    world.points = [one for one in world.points if one.step <= world.step - fault.amount] or world.points[:1]
    point = world.points[-1]
    world.server.restart(point.at)
    world.happened.restarted(point.saves, world.busy, world.stepped)


def _rebalance(world: "World", fault: Fault) -> None:
    world.happened.count("rebalance in the middle of a batch", world.busy)
    workers = world.plan.workers
    world.owners = {one: (owner + fault.amount) % workers for one, owner in world.owners.items()}
    for number in range(workers):
        world.assign(number)


def _expel(world: "World", fault: Fault) -> None:
    heir = (fault.worker + 1) % world.plan.workers
    moved = [one for one, owner in world.owners.items() if owner == fault.worker]
    world.owners |= dict.fromkeys(moved, heir)
    world.assign(heir)


def _clock(world: "World", fault: Fault) -> None:
    world.skew[fault.worker] += fault.amount
    world.stepped = True
    world.happened.count("clock set forward" if fault.amount > 0 else "clock set back")


def _days(world: "World", fault: Fault) -> None:
    world.seconds += fault.amount * DAY_SECONDS
    world.server.days(fault.amount)


OF_CALL: Final[Mapping[str, Callable[["World", Call, int], None]]] = {
    "crash": _crash,
    "error": _error,
    "lost": _lost,
    "late": _late,
    "torn": _torn,
}
OF_WORLD: Final[Mapping[str, Callable[["World", Fault], None]]] = {
    "drop": _drop,
    "restart": _restart,
    "rebalance": _rebalance,
    "expel": _expel,
    "clock": _clock,
    "days": _days,
}
