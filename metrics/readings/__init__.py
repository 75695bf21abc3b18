"""The readings of all figures, layer by layer."""

from typing import Final

from metrics.reading import Layer
from metrics.readings.evidence import EVIDENCE
from metrics.readings.joint import JOINT
from metrics.readings.lineage import COST, LINEAGE, SESSIONS
from metrics.readings.lists import LISTS
from metrics.readings.outcomes import OUTCOMES
from metrics.readings.prompts import PROMPTS

LAYERS: Final[tuple[Layer, ...]] = (PROMPTS, LISTS, EVIDENCE, JOINT, OUTCOMES, SESSIONS, LINEAGE, COST)
