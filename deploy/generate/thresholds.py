"""From which values on a figure is worth a look, and broken: `thresholds` of `values.yaml`.

Rules:
- Dashboards colour by these and by nothing else.
- What is no pair of two different numbers is an error.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import yaml

VALUES: Final = Path(__file__).parents[1] / "values.yaml"


class Limit(NamedTuple):
    """From which value on a figure is worth a look, and from which on it is broken."""

    warning: float
    critical: float

    @property
    def high_is_bad(self) -> bool:
        """Is it bad when it rises?"""
        return self.critical > self.warning


Limits = Mapping[str, Limit]


class _File(msgspec.Struct):
    thresholds: dict[str, Limit]


def thresholds(path: Path = VALUES) -> Limits:
    """The limit of every figure that has one. Raises msgspec.ValidationError or ValueError."""
    limits = msgspec.convert(yaml.safe_load(path.read_text("utf-8")), _File).thresholds
    for name, limit in limits.items():
        if limit.warning == limit.critical:
            raise ValueError(f"thresholds.{name}: the two must differ, or no side is the bad one")
    return limits
