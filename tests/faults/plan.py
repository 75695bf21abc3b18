"""What a run is, as data: records in logs, and faults at numbered steps. The same plan gives the same run.

Rules:
- A step is one effect of one worker: a fetch, or a call of the store, the broker or the publisher. Sleeping
  is none. Steps are counted over the whole run, from 0.
- A fault befalls the first effect from its step on that it can befall; if it names an effect, the first such.
- Nothing is drawn at random while a plan runs, so any record or fault can be taken out and the rest stays.
- Left alone, a task goes on until it waits; every change to another one is a fault of its own (`hold`),
  unless the plan takes `turns`.
"""

from random import Random
from typing import Any, Final, NamedTuple

from tests.faults import records

FAULTS: Final = {
    # what happens to the effect of that step
    "crash": "the worker dies before it, and begins anew; with an amount, its call is still done that much later",
    "error": "it fails and nothing is done",
    "lost": "it is done and its answer is lost",
    "late": "it fails, and is done so many steps later all the same",
    "torn": "it reaches only the shards below the amount, or so many letters, and fails",
    "hold": "it waits until so many steps are over",
    # what happens to the world before that step
    "drop": "the next batch fetched, if it is not the log's last, is lost on its way",
    "restart": "the state's server restarts without the last so many steps",
    "rebalance": "partitions move on by so many workers, and everyone is told at once",
    "expel": "the partitions of a worker go to the next one; the worker is not told and goes on",
    "clock": "the clock of a worker jumps by so many seconds",
    "days": "so many days go by",
}
WEIGHTS: Final = {
    **{"crash": 8, "error": 2, "lost": 4, "late": 4, "torn": 4, "hold": 8},
    **{"drop": 2, "restart": 5, "rebalance": 3, "expel": 3, "clock": 2, "days": 1},
}
# The effect that a fault waits for; "" is any. The rarer and the more it matters, the more often it is named.
EFFECTS: Final = {
    **{"": 12, "save": 6, "publish": 4, "advance": 3, "clear": 2, "load": 1, "fetch": 1},
    **{"restarted": 2, "watermarks": 1, "look": 1, "due": 1},
    **{"open": 1, "unsaid": 1, "since": 1, "said": 1, "logs": 1, "bounds": 1, "begin": 1},
}
HOUR_SECONDS: Final = 3600
MOST_RECORDS, MOST_FAULTS = 80, 20  # a hundred events


class Sent(NamedTuple):
    """One offset of one partition's log. A hole takes an offset and holds no record."""

    partition: int
    value: str | None
    timestamp: int
    wave: int = 0  # not there before everything of the waves before is read
    hole: bool = False


class Fault(NamedTuple):
    """One fault at one step; see `FAULTS`."""

    at: int
    what: str
    amount: int = 0
    worker: int = 0
    effect: str = ""  # the name of a worker's call; "": any


class Plan(NamedTuple):
    """Everything that a run depends on."""

    sent: tuple[Sent, ...]
    faults: tuple[Fault, ...] = ()
    workers: int = 1
    partitions: int = 1
    sizes: tuple[int, ...] = (5,)  # offsets of the first fetch, of the second, …, and again
    turns: bool = False  # after each step another task goes on, if there is one
    semantics: str = "plain"
    whole: bool = False  # is a batch saved whole?

    def __str__(self) -> str:
        """As a Python expression, to be pasted into a test."""
        lines = [f"    {name}={value!r}," for name, value in self._asdict().items() if name not in _ROWS]
        rows = (
            line
            for name in _ROWS
            for line in (f"    {name}=(", *(f"        {row!r}," for row in getattr(self, name)), "    ),")
        )
        return "\n".join(["Plan(", *rows, *lines, ")"])


_ROWS: Final = ("sent", "faults")


def plan_of(seed: int) -> Plan:
    """The plan of a seed."""
    chance = Random(seed)
    workers, partitions = chance.choice((1, 2, 2, 3)), chance.choice((1, 2, 2, 3))
    count = min(MOST_RECORDS, 1 + int(chance.expovariate(1 / 18)))
    waves = chance.choice((1, 1, 2, 4))
    sent = _sent(chance, count, partitions, waves)
    return Plan(
        sent,
        _faults(chance, steps=30 + 6 * count, workers=workers),
        workers,
        partitions,
        tuple(chance.choices((1, 2, 3, 5, 8, 30), k=chance.randint(1, 4))),
        chance.random() < 0.4,
        chance.choice(("plain", "plain", "credit", "count")),
        chance.random() < 0.5,
    )


def _sent(chance: Random, count: int, partitions: int, waves: int) -> tuple[Sent, ...]:
    """Records, some of them sent again, with holes between them."""
    sent: list[Sent] = []
    for number in range(count):
        place, wave = chance.randrange(partitions), number * waves // count
        if sent and chance.random() < 0.15:
            again = chance.choice(sent)
            sent.append(again._replace(partition=place, wave=wave))
        elif chance.random() < 0.05:
            sent.append(Sent(place, None, 0, wave, hole=True))
        else:
            value = records.value(chance)
            sent.append(Sent(place, value, records.timestamp(chance, value), wave))
    return tuple(sent)


def _faults(chance: Random, steps: int, workers: int) -> tuple[Fault, ...]:
    count = min(MOST_FAULTS, int(chance.expovariate(1 / 7)))
    kinds = chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count)
    drawn = (
        Fault(
            chance.randrange(steps),
            kind,
            _amount(chance, kind),
            chance.randrange(workers),
            chance.choices(list(EFFECTS), list(EFFECTS.values()))[0],
        )
        for kind in kinds
    )
    return tuple(sorted(drawn))


def _amount(chance: Random, what: str) -> int:
    choices: dict[str, Any] = {
        "crash": (0, 0, chance.randint(1, 40)),
        "late": (chance.randint(1, 60),),
        "torn": (chance.randrange(8),),
        "hold": (chance.randint(1, 12), chance.randint(1, 120)),
        "restart": (0, chance.randint(1, 12), chance.randint(1, 120)),
        "rebalance": (1, 2),
        "clock": (-HOUR_SECONDS, -20, -1, 20, HOUR_SECONDS),
        "days": (chance.randint(1, 12),),
    }
    found: int = chance.choice(choices.get(what, (0,)))
    return found
