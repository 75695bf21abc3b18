"""Sessions, lineage and cost: what stands beside the layers."""

from typing import Final

from metrics.reading import Layer, Moves, Reading

_LINEAGE: Final = (
    *("action.source_retrieval_id", "action.placement_id", "action.document_id", "action.consumed_asset_id"),
    "placement.source_retrieval_id",
)

SESSIONS: Final = Layer(
    "Sessions",
    "What a session measure says, beside what lineage says of the same sessions.",
    (
        Reading(
            title="Sessions abandoned",
            figures=("lara_sessions", "lara_session_abandonment_ratio"),
            population="Sessions with a retrieval, by time and surface of the earliest. The ratio is of "
            "mature ones.",
            numerator="`session`: no user outcome with its `session_guid` within 30 days from that "
            "retrieval on. `lineage`: no outcome credited to one of its retrievals, wherever it happened.",
            denominator="Mature sessions with a retrieval.",
            moves=Moves(
                product="`session` up when work moves to another tool; `lineage` does not",
                logging="`session` up with a new `session_guid` on another host; `lineage` up with lost "
                "sources",
                model="down with answers that need no second visit",
            ),
            misuses=(
                "Abandonment, where exports cross sessions: `session` overstates it.",
                "What users did without search: for `lineage` an outcome that credits none of the session's "
                "retrievals does not count.",
                "Sessions without a retrieval: they are not in it.",
            ),
            fields=(
                "retrieval.session_guid",
                "action.session_guid",
                "action.actor",
                "action.action",
                *_LINEAGE,
            ),
            published="Chat looks abandoned by session, because its exports happen in other sessions. That "
            "overstates abandonment; the distance between both values is the bias.",
        ),
    ),
)

LINEAGE: Final = Layer(
    "Lineage",
    "How actions found their retrieval. Look here before anybody touches a ranking.",
    (
        Reading(
            title="Resolutions",
            figures=("lara_actions",),
            population="All actions but `show`, of users and agents, by their own time. The first `place` "
            "record of a placement with an `actor` is one of them.",
            numerator="Actions decided by this rule. `refuted`, `dangling` and `none` credit nothing; "
            "`inferred` appears only where inference credits.",
            denominator="None: a count. Divide by the sum over all resolutions for a share.",
            moves=Moves(
                product="`none` up with actions that have no search behind them",
                logging="`dangling` up with ids that were never logged as retrievals; `refuted` up with "
                "lists that are logged cut off",
                model="`refuted` up with a model that makes up sources",
            ),
            misuses=("Counting `none` as errors: most editing has no retrieval behind it.",),
            fields=("action.request_id", *_LINEAGE),
        ),
        Reading(
            title="Lineage coverage",
            figures=("lara_lineage_coverage_ratio",),
            population="For `returned_asset_ids`, `role`, `request_id`: retrievals. For `consumed_asset_id`: "
            "actions but `show`. For `source_retrieval_id`: those with an asset, placement or document.",
            numerator="Those that carry the field. `source_retrieval_id`: those resolved by rules 1 to 3.",
            denominator="All that should carry it.",
            moves=Moves(
                product="down with a new client that does not send the field yet",
                logging="it measures just this",
                model="moves little",
            ),
            misuses=(
                "Correctness: a field that is there can still be wrong, see `refuted` and `dangling`.",
                "A target of 100 %: not every action has a search behind it.",
            ),
            fields=(
                *("retrieval.returned_asset_ids", "retrieval.role", "retrieval.request_id"),
                *_LINEAGE,
            ),
        ),
        Reading(
            title="Inference against lineage",
            figures=("lara_inference_disagreement_ratio",),
            population="Actions with an asset, credited to exactly one retrieval by rule 1, 2 or 4, for "
            "which time and session (rule 5) name one too.",
            numerator="Those for which rule 5 names another retrieval.",
            denominator="All these actions.",
            moves=Moves(
                product="up with repeated searches in one session that return the same assets",
                logging="it needs lineage to compare with: where that is missing, nothing is compared",
                model="up with several queries for one need",
            ),
            misuses=("The error of inference at large: what lineage cannot resolve is not in it.",),
            fields=(*_LINEAGE, "action.session_guid", "retrieval.returned_asset_ids", "retrieval.user_id"),
        ),
    ),
)

COST: Final = Layer(
    "Cost",
    "Latency and tokens, where they are logged. In report and backtest only.",
    (
        Reading(
            title="Latency and tokens",
            figures=(
                "lara_latency_ms_sum",
                "lara_latency_ms_logged",
                "lara_tokens_sum",
                "lara_tokens_logged",
                "lara_completed_latency_ms_sum",
                "lara_completed_latency_ms_logged",
                "lara_completed_tokens_sum",
                "lara_completed_tokens_logged",
            ),
            population="Retrievals, and the actions credited to them, by the retrieval's time, role and "
            "surface.",
            numerator="Sums of milliseconds or tokens by stage, and how many logged them. Completed: what "
            "was spent on retrievals whose task was completed.",
            denominator="None: sums and counts. Mean: sum / logged. Per completed task: sum / "
            "`lara_completed_retrievals`.",
            moves=Moves(
                product="up with longer chains of actions on one result",
                logging="sums fall where the field is not sent; compare `…_logged` with the number of "
                "retrievals",
                model="up with longer contexts, another tokenizer, more thinking",
            ),
            misuses=(
                "Adding up to a bill: an action credited to two retrievals counts with both.",
                "A percentile: there are only sums.",
            ),
            fields=("retrieval.latency_ms", "retrieval.tokens", "action.latency_ms", "action.tokens"),
        ),
    ),
)
