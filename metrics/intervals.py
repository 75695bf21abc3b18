"""How sure a share of counts, or a mean of scores from 0 to 1, can be: Wilson's score interval.

Rules:
- 95 %, two-sided; bounds lie in [0, 1] and hold the share itself.
- Nothing counted, nothing known: no interval.
- Of scores in [0, 1], `hits` is their sum: ones and zeros vary most of all, so it is wide enough.

Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
"""

from math import sqrt
from typing import Final, NamedTuple

Z: Final = 1.959963984540054  # the 97.5 % point of the normal distribution


class Interval(NamedTuple):
    """Both bounds of a share."""

    lower: float
    upper: float


def wilson(hits: float, trials: int) -> Interval | None:
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
    # Next to no hits, and without misses, rounding would leave [0, 1] by a trace.
    upper = (centre + margin) / divisor if hits < trials else 1.0
    return Interval(max(0.0, (centre - margin) / divisor), min(1.0, upper))
