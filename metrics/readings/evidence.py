"""Layer 2: what became of a retrieval. All shares are of all retrievals, and overlap."""

from typing import Final

from metrics.reading import Layer, Moves, Reading

_LINEAGE: Final = (
    *("action.source_retrieval_id", "action.placement_id", "action.document_id", "action.consumed_asset_id"),
    *("action.request_id", "placement.source_retrieval_id", "placement.derived_from_asset_id"),
)
_VERBS: Final = ("action.actor", "action.action")
_N: Final = "All retrievals of the window, labelled or not, with or without a list"

EVIDENCE: Final = Layer(
    "Layer 2: evidence",
    "What became of the retrieval? The shares overlap, and do not add up to 100 %. Read them from `settled`.",
    (
        Reading(
            title="Retrievals",
            figures=("lara_retrievals",),
            population=f"{_N}, by the time at which they fired.",
            numerator="Retrievals, one for each `retrieval_id`; synthetic ones are left out.",
            denominator="None: a count. It is the n of every share of this layer.",
            moves=Moves(
                product="up with traffic, with paging, and with more searches for one prompt",
                logging="down if a producer uses a `retrieval_id` twice: the second is a conflict",
                model="up with a planner that splits one need into several queries",
            ),
            misuses=("Demand: count prompts for that.",),
            fields=("retrieval.retrieval_id", "retrieval.role", "retrieval.surface", "retrieval.synthetic"),
        ),
        Reading(
            title="Genuine positives (GPR)",
            figures=("lara_retrievals_positive", "lara_gpr_ratio"),
            population=f"{_N}; cohort `settled` for headlines.",
            numerator="Retrievals to which a user action of the definition is attributed (U), whenever it "
            "comes. `strict`: export, share, download. `standard`: also select, place, edit, follow_up. "
            "`broad`: any user action but reject, correct and not_helpful.",
            denominator="All retrievals of the same role, surface and cohort.",
            moves=Moves(
                product="up where users can act on a result; down where the agent acts for them",
                logging="down as soon as placements or exports lose their source: see lineage coverage",
                model="down with more retrievals for one need: each is in n, few are used",
            ),
            misuses=(
                "Recall or relevance: it counts use, and an unused good list is none.",
                "Comparing values of different definitions, or of products with other buttons.",
                "Satisfaction.",
            ),
            fields=(*_VERBS, *_LINEAGE),
            published="From under 10 % to over 40 %, by definition alone. So the report prints all "
            "definitions side by side, with their spread.",
        ),
        Reading(
            title="Agent consumption (ACR)",
            figures=("lara_retrievals_agent_consumed", "lara_acr_ratio", "lara_agent_use_confirmed_ratio"),
            population=f"{_N}. Confirmed: those in A.",
            numerator="A: an agent select, edit, use, generate, place, export, share or download of the same "
            "request is attributed to it, at or before the answer's first `show` (or there is none). "
            "Confirmed: A with a U by `standard`.",
            denominator="All retrievals. Confirmed: retrievals in A.",
            moves=Moves(
                product="up where the agent finishes the work itself",
                logging="up if `show` is not logged: later use then counts as A too; down without agent "
                "actions",
                model="up with a model that takes what it gets, fitting or not",
            ),
            misuses=(
                "Proof that the list was good: ACR alone hides a model that covers for bad lists.",
                "Adding it to GPR: a retrieval can be in both.",
            ),
            fields=(*_VERBS, "retrieval.request_id", *_LINEAGE),
        ),
        Reading(
            title="Delegated use",
            figures=("lara_retrievals_delegated", "lara_delegated_ratio"),
            population=f"{_N}.",
            numerator="D: the same agent verbs, attributed to it, but after its answer was shown or under "
            "another request.",
            denominator="All retrievals.",
            moves=Moves(
                product="up with work that goes on in the background or over several turns",
                logging="up if agent actions carry no `request_id`, or a new one",
                model="up with an agent that comes back to earlier results",
            ),
            misuses=("Adding it to ACR: a retrieval can be in both.",),
            fields=(*_VERBS, "retrieval.request_id", *_LINEAGE),
        ),
        Reading(
            title="Observable failures (ORF)",
            figures=(
                "lara_retrievals_failed",
                "lara_orf_ratio",
                "lara_retrievals_failed_by_signal",
                "lara_no_observed_failure_ratio",
            ),
            population=f"{_N}.",
            numerator="F, any of: `rejected` by a user; `researched`, its need searched for again before "
            "it was used; `substituted`, the agent took an asset that no list of the request holds. "
            "`researched_inferred` (similar words soon after) is shown and not in F, unless configured.",
            denominator="All retrievals. By signal there is none, and one retrieval may have several.",
            moves=Moves(
                product="up with a visible reject button",
                logging="down without `need_id` and `reformulates_retrieval_id`: a re-search is then not "
                "seen",
                model="down with a model that rewrites its query silently within one request",
            ),
            misuses=(
                "Satisfaction, as 1 − ORF: silence is in it.",
                "Comparing products, one of which has a reject button.",
            ),
            fields=(
                *_VERBS,
                *("retrieval.need_id", "retrieval.reformulates_retrieval_id", "retrieval.conversation_id"),
                *("retrieval.request_id", "retrieval.returned_asset_ids", *_LINEAGE),
            ),
        ),
        Reading(
            title="Corrected results",
            figures=("lara_retrievals_corrected",),
            population=f"{_N}.",
            numerator="Retrievals with an attributed user `correct`: the asset stays, the edit is changed.",
            denominator="None: a count.",
            moves=Moves(
                product="up with easy ways to correct",
                logging="a `correct` that is sent as `reject` becomes a failure of search",
                model="up with weaker edits and generations",
            ),
            misuses=("Failure of search: it is neither failure nor evidence.",),
            fields=(*_VERBS, *_LINEAGE),
        ),
        Reading(
            title="Unobserved (UOR)",
            figures=("lara_retrievals_unobserved", "lara_uor_ratio"),
            population=f"{_N}; older than the maturity horizon (30 minutes). The ratio is of `settled` only.",
            numerator="Mature retrievals in none of U, A, D and F. Evidence that comes later takes them "
            "out again.",
            denominator="All retrievals, all of them mature.",
            moves=Moves(
                product="up where results are only looked at",
                logging="up with every lineage field that is not sent: look here first",
                model="up with retrievals fired on suspicion",
            ),
            misuses=(
                "A failure rate: nothing was seen, in either direction.",
                "A share of the live window: only its mature part is in the count.",
                "A verdict while evidence takes longer than the horizon: see `lara_evidence_delay_seconds`.",
            ),
            fields=(*_VERBS, *_LINEAGE),
        ),
        Reading(
            title="Pending",
            figures=("lara_retrievals_pending", "lara_pending_ratio"),
            population=f"{_N}; cohort `live` only.",
            numerator="Retrievals in none of U, A, D and F that are not mature yet.",
            denominator="All retrievals of the live window.",
            moves=Moves(
                product="up whenever traffic rises, and in short windows",
                logging="up while evidence arrives late",
                model="moves little",
            ),
            misuses=("A quality figure: it is a clock. It says how much of the live window is still open.",),
            fields=(*_VERBS, *_LINEAGE),
        ),
    ),
)
