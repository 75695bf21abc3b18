"""How sure a share of counts can be: Wilson's score interval.

Rules:
- 95 %, two-sided; bounds lie in [0, 1] and hold the share itself.
- Nothing counted, nothing known: no interval.

Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
"""

from math import sqrt
from typing import Final, NamedTuple

Z: Final = 1.959963984540054  # the 97.5 % point of the normal distribution


class Interval(NamedTuple):
    """Both bounds of a share."""

    lower: float
    upper: float


def wilson(hits: int, trials: int) -> Interval | None:
    """The 95 % interval of `hits / trials`, or None without trials.

    Raises ValueError unless `0 <= hits <= trials`.
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} of {trials} is no share")
    if trials == 0:
        return None
    centre = hits + Z * Z / 2
    margin = Z * sqrt(hits * (trials - hits) / trials + Z * Z / 4)
    divisor = trials + Z * Z
    # Without hits, centre and margin are the same number; without misses, rounding leaves 1 by a trace.
    upper = (centre + margin) / divisor if hits < trials else 1.0
    return Interval((centre - margin) / divisor, upper)
