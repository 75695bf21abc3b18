"""Simulated counts a minute: what the buckets of a deployment could hold.

Rules:
- Sessions come with a daily cycle and fewer at weekends. Their retrievals succeed or fail together: of every
  share each session draws its own (a beta distribution), so counts vary more than by the toss of a coin.
- The share that sessions draw around drifts from hour to hour (an autoregressive walk of its log odds).
- A change moves one share, in all cells, for some hours.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp, log, pi, sin
from random import Random
from typing import Final, NamedTuple

DAY: Final = 1440
HOUR: Final = 60
ROLES: Final = {"browse": 0.4, "act_on": 0.3, "direct_lookup": 0.2, "generation_reference": 0.1}
SURFACES: Final = {"chat": 0.7, "editor": 0.3}
RETRIEVALS_A_SESSION: Final = 3.0
ACTIONS_A_RETRIEVAL: Final = 2
CORRELATION: Final = 0.1  # of two retrievals of one session
DRIFT: Final = 0.1  # standard deviation of the hourly step of the log odds
HOLD: Final = 0.9  # of it that stays for the next hour: all in all a deviation of 0.23, a fifth up or down
WEEKEND: Final = 0.6
LABELLED: Final = 0.05  # retrievals and prompts that somebody judges

# The shares of a product that does as it usually does.
USUAL: Final[Mapping[str, float]] = {
    **{"null": 0.05, "failed": 0.08, "positive": 0.3, "consumed": 0.4, "masked": 0.1},
    **{"missed": 0.05, "dangling": 0.005, "refuted": 0.005, "role": 0.97, "sourced": 0.6, "ndcg": 0.75},
}
OF_ACTIONS: Final = ("dangling", "refuted", "sourced")
OF_LABELLED: Final = ("masked", "missed", "ndcg")


class Change(NamedTuple):
    """From one minute to another, a share is another one."""

    share: str
    start: int
    end: int
    becomes: float


class Cell:
    """Counts a minute of one role on one surface; `n`, `actions` and `labelled` are the denominators."""

    def __init__(self, length: int) -> None:
        self.counts: dict[str, list[int]] = {
            name: [0] * length for name in ("n", "actions", "labelled", *USUAL)
        }


def simulate(
    seed: int, days: int, retrievals_a_day: int, changes: Sequence[Change]
) -> dict[tuple[str, str], Cell]:
    """The cells, by role and surface."""
    return {
        (role, surface): _cell(
            Random(f"{seed} {role} {surface}"), days * DAY, retrievals_a_day * weight * part, changes
        )
        for role, weight in ROLES.items()
        for surface, part in SURFACES.items()
    }


def _cell(chance: Random, length: int, a_day: float, changes: Sequence[Change]) -> Cell:
    cell, share = Cell(length), _shares(chance, length, changes)
    for minute in range(length):
        for _ in range(_poisson(chance, a_day / DAY / RETRIEVALS_A_SESSION * _cycle(minute))):
            _session(chance, cell, minute, length, share)
    return cell


def _cycle(minute: int) -> float:
    """More by day than by night, and less at weekends."""
    day = 1 + 0.8 * sin(2 * pi * (minute % DAY / DAY - 0.3))
    return day * (WEEKEND if minute // DAY % 7 >= 5 else 1.0)


def _session(
    chance: Random, cell: Cell, minute: int, length: int, share: Callable[[str, int], float]
) -> None:
    own = {name: _beta(chance, share(name, minute)) for name in USUAL}
    while minute < length:
        _retrieval(chance, cell.counts, minute, own)
        if chance.random() < 1 / RETRIEVALS_A_SESSION:
            return
        minute += chance.randrange(3)


def _retrieval(
    chance: Random, counts: Mapping[str, list[int]], minute: int, own: Mapping[str, float]
) -> None:
    labelled = chance.random() < LABELLED
    times = {"actions": ACTIONS_A_RETRIEVAL, "labelled": int(labelled)}
    counts["n"][minute] += 1
    for name, number in times.items():
        counts[name][minute] += number
    for name, probability in own.items():
        tries = ACTIONS_A_RETRIEVAL if name in OF_ACTIONS else int(labelled or name not in OF_LABELLED)
        for _ in range(tries):
            counts[name][minute] += chance.random() < probability


def _beta(chance: Random, share: float) -> float:
    weight = (1 - CORRELATION) / CORRELATION
    return chance.betavariate(share * weight, (1 - share) * weight)


def _poisson(chance: Random, mean: float) -> int:
    """Knuth's way: fine for the small means of a minute."""
    limit, product, found = exp(-mean), chance.random(), 0
    while product > limit:
        product *= chance.random()
        found += 1
    return found


def _shares(chance: Random, length: int, changes: Sequence[Change]) -> Callable[[str, int], float]:
    """Every share at every minute: usual or changed, and drifted."""
    hours = length // HOUR + 1
    drift = {name: _walk(chance, hours) for name in USUAL}

    def share(name: str, minute: int) -> float:
        usual = USUAL[name]
        for change in changes:
            if change.share == name and change.start <= minute < change.end:
                usual = change.becomes
        odds = log(usual / (1 - usual)) + drift[name][minute // HOUR]
        return 1 / (1 + exp(-odds))

    return share


def _walk(chance: Random, hours: int) -> list[float]:
    found = [0.0]
    for _ in range(hours):
        found.append(HOLD * found[-1] + chance.gauss(0, DRIFT))
    return found
