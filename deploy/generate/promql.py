"""Pieces of PromQL, and the same formulas in Python, so that tests can say what Prometheus will find."""

from collections.abc import Mapping
from math import sqrt
from typing import Final

from metrics.intervals import Interval, Z

SQUARE: Final = Z * Z


def lower(share: str, n: str) -> str:
    """Wilson's lower bound of a share of n, both instant vectors with the same labels."""
    return _bound(share, n, "-")


def upper(share: str, n: str) -> str:
    """Wilson's upper bound."""
    return _bound(share, n, "+")


def _bound(share: str, n: str, sign: str) -> str:
    root = f"sqrt(({share} * (1 - {share}) + {SQUARE / 4!r} / {n}) / {n})"
    return f"({share} + {SQUARE / 2!r} / {n} {sign} {Z!r} * {root})\n/ (1 + {SQUARE!r} / {n})"


def bounds(share: float, n: float) -> Interval:
    """Both bounds; the share need not be one of whole counts, so that a mean from 0 to 1 has them too.

    Of all values from 0 to 1 with one mean, those that are 0 or 1 vary most: for a mean the bounds are wide
    enough.
    """
    centre, divisor = share + SQUARE / 2 / n, 1 + SQUARE / n
    margin = Z * sqrt((share * (1 - share) + SQUARE / 4 / n) / n)
    return Interval((centre - margin) / divisor, (centre + margin) / divisor)


def selector(name: str, **labels: str) -> str:
    """A series with these labels."""
    inside = ", ".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{inside}}}"


def expanded(expression: str, records: Mapping[str, str]) -> str:
    """An expression with the recorded series in it replaced by what they record."""
    for name in sorted(records, key=len, reverse=True):
        if name in expression:
            inner = expanded(records[name], records)
            expression = expression.replace(name, f"({inner})")
    return expression
