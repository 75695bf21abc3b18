"""The values that labels may have, in the order in which they are printed; definitions are known later."""

from collections.abc import Mapping, Sequence
from typing import Final

from attribution.diagnosis import VERDICTS

RESOLUTIONS: Final = (
    *("explicit", "inherited", "document", "request", "inferred"),
    *("none", "refuted", "dangling"),
)

# The values of the labels that are a figure's own, in the order in which they are printed.
VOCABULARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "signal": ("rejected", "researched", "substituted", "researched_inferred"),
    "resolution": RESOLUTIONS,
    "k": ("1", "5", "10"),
    "verdict": VERDICTS,
    "attribution": ("session", "lineage"),
    "stage": ("retrieval", "action"),
    "route": ("retrieve", "generate", "edit", "answer", "other"),  # unless configured otherwise
    "field": ("returned_asset_ids", "role", "request_id", "consumed_asset_id", "source_retrieval_id"),
}


def with_routes(routes: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The vocabularies of a deployment that configured these routes."""
    return {**VOCABULARIES, "route": (*routes, "other")}
