"""Layer 3: tasks, goals, outcomes and clicks."""

from typing import Final

from metrics.reading import Layer, Moves, Reading

_LINEAGE: Final = (
    *("action.source_retrieval_id", "action.placement_id", "action.document_id"),
    "placement.source_retrieval_id",
)
_VERBS: Final = ("action.actor", "action.action")

OUTCOMES: Final = Layer(
    "Layer 3: outcomes",
    "Did the task get done? These have no cohorts: young windows are still filling up.",
    (
        Reading(
            title="Task completion",
            figures=("lara_completed_retrievals", "lara_task_completion_ratio"),
            population="All retrievals of the window, young ones too.",
            numerator="Retrievals with an attributed action that completes the task of their role. Which "
            "ones do is configured (`LARA_COMPLETION`); a generation is completed by the agent, a lookup "
            "by the user.",
            denominator="All retrievals of the role and surface.",
            moves=Moves(
                product="up with shorter ways to select and export",
                logging="down without `role`: `unspecified` needs an export, share or download",
                model="`generation_reference` rises with a model that generates more, good or bad",
            ),
            misuses=(
                "Comparing roles: each has its own bar.",
                "Short windows: an export of tomorrow completes the task of today.",
            ),
            fields=("retrieval.role", *_VERBS, *_LINEAGE),
        ),
        Reading(
            title="Goals",
            figures=("lara_goal_labelled_retrievals", "lara_goal_ratio"),
            population="Retrievals with a label of goal: their own, else their request's.",
            numerator="Those labelled as reached. A human's label beats a model's, then the newest, then "
            "the higher.",
            denominator="All labelled retrievals.",
            moves=Moves(
                product="up with anything that helps to reach the goal, search or not",
                logging="a label on the request counts for each of its retrievals",
                model="moves with the judge",
            ),
            misuses=(
                "The success of search: a goal can be reached without it. Labelled is no sample of all.",
            ),
            fields=(
                *("judgement.kind", "judgement.retrieval_id", "judgement.request_id", "judgement.reached"),
                "judgement.judge",
            ),
        ),
        Reading(
            title="Outcomes and what they credit",
            figures=(
                "lara_outcomes",
                "lara_attributed_outcomes",
                "lara_attributed_outcome_ratio",
                "lara_cross_session_outcomes",
            ),
            population="User exports, shares and downloads, by their own time and surface.",
            numerator="Attributed: those that credit one retrieval or more. Cross-session: one of these has "
            "another `session_guid`. Each outcome counts once.",
            denominator="All outcomes of the surface and action.",
            moves=Moves(
                product="down with documents made without any search; cross-session up with an editor of "
                "its own",
                logging="down when placements do not name their source, or exports no document",
                model="up with an agent that builds on what it retrieved",
            ),
            misuses=(
                "Adding up over retrievals: one outcome may credit several.",
                "The effect of search: it says that search took part, not that it was needed.",
            ),
            fields=(*_VERBS, "action.session_guid", "retrieval.session_guid", *_LINEAGE),
        ),
        Reading(
            title="Clicks",
            figures=("lara_clicks_per_grid", "lara_ctr_ratio"),
            population="Retrievals with a non-empty list (grids).",
            numerator="Clicks per grid: attributed user clicks. CTR: grids with at least one.",
            denominator="All grids.",
            moves=Moves(
                product="up with grids that are shown at all",
                logging="down if clicks carry neither a source nor a `request_id`: time alone credits "
                "nothing",
                model="down with an agent that picks for the user",
            ),
            misuses=(
                "Quality of an assistant: CTR misreads an agent that reads the list first and shows one "
                "result.",
                "Genuine positives: a click is in `broad` only.",
            ),
            fields=("retrieval.returned_asset_ids", *_VERBS, "action.request_id", *_LINEAGE),
        ),
    ),
)
