"""What is this project's own reading (†): where the published framework, or the contract, leaves a gap.

Rules:
- A reading marks the figures that exist only by it, as the catalogue does; other families it moves in part.
- What decides where an action belongs moves all that is made of evidence; named are the families moved first.
- `numbers` are those of the list in docs/decisions.md, where the reading is told to the end.
"""

from typing import Final, NamedTuple


class OwnReading(NamedTuple):
    """One gap, and how it is filled."""

    title: str
    says: str
    marks: tuple[str, ...] = ()  # figures that are this reading
    moves: tuple[str, ...] = ()  # titles of the families that it moves in part
    numbers: tuple[int, ...] = ()


OWN_READINGS: Final = (
    OwnReading(
        "Place as an action",
        "The first `place` record of a placement, if it names an `actor`, is an action of that actor too.",
        moves=("Resolutions", "Genuine positives (GPR)", "Agent consumption (ACR)"),
        numbers=(7,),
    ),
    OwnReading(
        "Clock skew",
        "A claim holds though its retrieval is stamped up to 5 minutes after the action.",
        moves=("Resolutions",),
        numbers=(1,),
    ),
    OwnReading(
        "The asset itself",
        "By the request alone (rule 4) an action credits lists that hold its asset, not an ancestor.",
        moves=("Resolutions",),
        numbers=(6,),
    ),
    OwnReading(
        "Positive before shown",
        "A user action is a genuine positive also before the answer's `show` was seen.",
        moves=("Genuine positives (GPR)",),
        numbers=(12,),
    ),
    OwnReading(
        "Delegated use",
        "Agent use after the answer was shown, or under another request, is D: no A, and not unobserved.",
        marks=("lara_retrievals_delegated", "lara_delegated_ratio"),
        moves=("Unobserved (UOR)", "Pending"),
        numbers=(27,),
    ),
    OwnReading(
        "Substituted",
        "The agent was to take something from the list, and took what no list of the request holds: F.",
        moves=("Observable failures (ORF)",),
        numbers=(16,),
    ),
    OwnReading(
        "Diagnosis",
        "Of its cells only `masked` is published; the others, and what is a bad list, are ours.",
        marks=("lara_diagnosis_retrievals",),
        moves=("Diagnosis and masked failures",),
        numbers=(22,),
    ),
    OwnReading(
        "Stages of latency and tokens",
        "There are two, `retrieval` and `action`; an action counts with every retrieval that it credits.",
        marks=(
            *("lara_latency_ms_sum", "lara_latency_ms_logged", "lara_tokens_sum", "lara_tokens_logged"),
            *("lara_completed_latency_ms_sum", "lara_completed_latency_ms_logged"),
            *("lara_completed_tokens_sum", "lara_completed_tokens_logged"),
        ),
        numbers=(25,),
    ),
)
