"""What to do when an alert fires: one runbook an alert, under its name."""

from collections.abc import Mapping
from typing import Final

from metrics.runbooks.lists import LISTS
from metrics.runbooks.pipeline import PIPELINE
from metrics.runbooks.runbook import Runbook
from metrics.runbooks.state import STATE
from metrics.runbooks.traffic import TRAFFIC
from metrics.runbooks.use import USE

RUNBOOKS: Final[Mapping[str, Runbook]] = {**LISTS, **USE, **TRAFFIC, **PIPELINE, **STATE}
