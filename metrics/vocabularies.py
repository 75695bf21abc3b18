"""The values that labels may have, in the order in which they are printed; definitions are known later."""

from collections.abc import Mapping, Sequence
from typing import Final

from attribution.contribution import LINEAGE_FIELDS, RESOLUTIONS
from attribution.diagnosis import VERDICTS
from attribution.semantics import DEFAULT_ROUTES, FAILURE_SIGNALS, OTHER

# The values of the labels that are a figure's own, in the order in which they are printed.
VOCABULARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "signal": FAILURE_SIGNALS,
    "resolution": RESOLUTIONS,
    "k": ("1", "5", "10"),
    "verdict": VERDICTS,
    "attribution": ("session", "lineage"),
    "stage": ("retrieval", "action"),
    "route": (*DEFAULT_ROUTES, OTHER),  # unless configured otherwise
    "field": LINEAGE_FIELDS,
}


def with_routes(routes: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The vocabularies of a deployment that configured these routes."""
    return {**VOCABULARIES, "route": (*routes, OTHER)}
