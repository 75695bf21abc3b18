"""The shares and means that alerts watch: which figure, by which labels, and out of how many.

Rules:
- A row names figures of the catalogue; without one of them nothing is generated.
- `n` is PromQL with `{window}`: the denominator, with exactly the labels of `by`. `value` is given where no
  figure has it.
- Several exporters show the same: `max by` reads one of them, and drops what a scrape added.
- Masked failures ask for labels: n is that of the labelled, for without labels only null results are judged.
- GPR, ACR and ORF are read `settled`: evidence had time to come.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

DEFINITION: Final = "standard"
NONE: Final[Mapping[str, str]] = {}


class Watched(NamedTuple):
    """One share (or mean of values from 0 to 1) that is watched."""

    key: str  # in the names of its recorded series
    words: str  # begins the sentence of its alerts
    figure: str  # the value and, where they are exported, its bounds
    by: tuple[str, ...]
    n: str
    counted: tuple[str, ...]  # the figures in `n` and `value`
    where: Mapping[str, str] = NONE  # further labels of the figure
    value: str = ""


CELL: Final = ("role", "surface")
SETTLED: Final = {"cohort": "settled"}
SETTLED_N: Final = 'max by (role, surface) (lara_retrievals{window="{window}", cohort="settled"})'
ALL_ACTIONS: Final = 'sum(max by (resolution) (lara_actions{window="{window}"}))'
ALL_RETRIEVALS: Final = 'sum(max by (role, surface) (lara_retrievals{window="{window}", cohort="live"}))'
OF_ACTIONS: Final = "consumed_asset_id|source_retrieval_id"
COVERAGE: Final = (
    f'max by (field) (lara_lineage_coverage_ratio{{window="{{window}}", field%s"{OF_ACTIONS}"}})'
)
CLAIMS: Final = (
    'sum(max by (resolution) (lara_actions{window="{window}", '
    'resolution=~"explicit|inherited|document|dangling|refuted"}))'
)
BROKEN_CLAIMS: Final = 'max by (resolution) (lara_actions{window="{window}", resolution=~"dangling|refuted"})'

WATCHED: Final = {
    one.key: one
    for one in (
        Watched(
            "null",
            "Null results",
            "lara_null_ratio",
            CELL,
            'max by (role, surface) (lara_layer1_retrievals{window="{window}"})',
            ("lara_layer1_retrievals",),
        ),
        Watched(
            "orf",
            "Observable failures (ORF)",
            "lara_orf_ratio",
            CELL,
            SETTLED_N,
            ("lara_retrievals",),
            SETTLED,
        ),
        Watched(
            "masked",
            "Masked failures",
            "lara_masked_failure_ratio",
            CELL,
            'max by (role, surface) (lara_judged_retrievals{window="{window}"})',
            ("lara_judged_retrievals",),
        ),
        Watched(
            "missed",
            "Missed retrievals",
            "lara_missed_retrieval_ratio",
            ("surface",),
            'max by (surface) (lara_intent_labelled_prompts{window="{window}"})',
            ("lara_intent_labelled_prompts",),
        ),
        Watched(
            "claims",
            "Broken claims of a source",
            "lara_actions",
            ("resolution",),
            f"{BROKEN_CLAIMS} * 0 + on () group_left () {CLAIMS}",
            ("lara_actions",),
            value=f"{BROKEN_CLAIMS} / on () group_left () ({CLAIMS} > 0)",
        ),
        Watched(
            "gpr",
            "Genuine positives (GPR)",
            "lara_gpr_ratio",
            CELL,
            SETTLED_N,
            ("lara_retrievals",),
            {**SETTLED, "definition": DEFINITION},
        ),
        Watched(
            "acr",
            "Agent consumption (ACR)",
            "lara_acr_ratio",
            CELL,
            SETTLED_N,
            ("lara_retrievals",),
            SETTLED,
        ),
        Watched(
            "ndcg",
            "NDCG@10",
            "lara_ndcg_at_k",
            CELL,
            'max by (role, surface) (lara_ranked_retrievals{window="{window}"})',
            ("lara_ranked_retrievals",),
            {"k": "10"},
        ),
        Watched(
            "coverage",
            "Lineage coverage",
            "lara_lineage_coverage_ratio",
            ("field",),
            f"{COVERAGE % '!~'} * 0 + on () group_left () {ALL_RETRIEVALS}\n"
            f"or {COVERAGE % '=~'} * 0 + on () group_left () {ALL_ACTIONS}",
            ("lara_retrievals", "lara_actions"),
        ),
    )
}
