"""`lara doctor`, the coverage ladder: which fields open which figures, from what gives most on.

Rules:
- Every figure of the catalogue stands at exactly one need: what it cannot do without beyond the rungs above.
- A need is a share of the records that should carry something. It is open from `OPEN_FROM` on, and where
  `some` are enough (nobody labels or rejects everything) with the first. Of none, it is closed.
- A rung is open if all its needs are, closed if all are closed, else partly open.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from streams.commands.doctor_notes import Name, Notes

OPEN: Final = "open"
PARTLY: Final = "partly"
CLOSED: Final = "closed"
OPEN_FROM: Final = 0.95  # some records may lack a field for a good reason


class Need(NamedTuple):
    """What should be logged and on what, and the figures that it opens (without `lara_`)."""

    field: str
    logged: Name
    among: Name
    figures: tuple[str, ...]
    some: bool = False


class Rung(NamedTuple):
    """One step: its needs, and how to climb it."""

    name: str
    needs: tuple[Need, ...]
    do: str


# fmt: off
LADDER: Final = (
    Rung("ranked list", (
        Need("returned_asset_ids on retrievals", "lists", "retrievals",
             ("null_ratio", "retrievals", "retrievals_without_list", "layer1_retrievals", "retrievals_null",
              "lineage_coverage_ratio")),
    ), "Log the full ranked list of asset ids the moment a retrieval fires, before anything filters it; [] "
       "for no result."),
    Rung("consumption", (
        Need("source_retrieval_id, placement_id or document_id on actions", "ways", "actions",
             ("gpr_ratio", "acr_ratio", "uor_ratio", "pending_ratio", "agent_use_confirmed_ratio",
              "ctr_ratio", "clicks_per_grid", "attributed_outcome_ratio", "retrievals_positive",
              "retrievals_agent_consumed", "retrievals_unobserved", "retrievals_pending",
              "retrievals_corrected", "actions", "outcomes", "attributed_outcomes")),
        Need("consumed_asset_id on actions", "assets", "actions",
             ("consumed_rank", "inference_disagreement_ratio", "consumed_assets")),
    ), "Log with every action of user and agent which asset it took, and the retrieval that the asset came "
       "from."),
    Rung("placements", (
        Need("placements with the source of their asset", "sources of placements", "placements",
             ("session_abandonment_ratio", "sessions")),
        Need("document_id on exports, shares, downloads of users", "outcomes in documents", "outcomes",
             ("cross_session_outcomes",)),
    ), "Log a placement whenever an asset enters a document, with source_retrieval_id, and the document_id "
       "on what users take away: an export of next week then finds the retrieval of today."),
    Rung("requests", (
        Need("request_id on retrievals", "own requests", "retrievals", ()),
        Need("a prompt for requests that retrieve", "prompted", "requests", ("invocation_ratio", "prompts")),
        Need("an agent show for requests that retrieve", "shown", "requests",
             ("delegated_ratio", "retrievals_delegated")),
    ), "Give a user turn, its retrievals and the agent's actions one request_id, and log a show when the "
       "answer reaches the user: it parts agent consumption (A) from delegated use (D)."),
    Rung("roles", (
        Need("role on retrievals", "roles", "retrievals", ("task_completion_ratio", "completed_retrievals")),
    ), "Log what a retrieval was for (role): figures are broken down by it, and it says what completes a "
       "task."),
    Rung("judgements", (
        Need("relevance labels of retrievals", "judged", "retrievals",
             ("precision_at_k", "recall_at_k", "mrr", "ndcg_at_k", "masked_failure_ratio",
              "judged_coverage_at_k", "diagnosis_retrievals", "judged_retrievals", "ranked_retrievals",
              "judged_without_relevant"), some=True),
        Need("intent labels of prompts", "intents", "prompts",
             ("missed_retrieval_ratio", "misroute_ratio", "multi_intent_ratio", "intent_labelled_prompts",
              "routing_labelled_retrievals", "misrouted_retrievals"), some=True),
        Need("goal labels of retrievals", "goals", "retrievals",
             ("goal_ratio", "goal_labelled_retrievals"), some=True),
    ), "Have a sample judged, by people or by a model, and send it as judgements: relevance of assets, "
       "intents of prompts, goals reached."),
    Rung("failures", (
        Need("reject actions of users", "rejects", "user actions",
             ("orf_ratio", "no_observed_failure_ratio", "retrievals_failed"), some=True),
        Need("need_id or reformulates_retrieval_id on retrievals", "needs", "retrievals",
             ("retrievals_failed_by_signal",), some=True),
    ), "Log a reject when a user refuses a result, and one need_id on all searches for the same need."),
    Rung("costs", (
        Need("latency_ms on retrievals and agent actions", "latencies", "costed",
             ("latency_ms_sum", "latency_ms_logged",
              "completed_latency_ms_sum", "completed_latency_ms_logged")),
        Need("tokens on retrievals and agent actions", "tokens", "costed",
             ("tokens_sum", "tokens_logged", "completed_tokens_sum", "completed_tokens_logged")),
    ), "Log latency_ms and tokens where they are spent."),
    Rung("turns", (
        Need("route on prompts", "routes", "prompts", ("prompts_by_route",)),
        Need("reformulation on prompts", "flags", "prompts",
             ("search_reformulation_ratio", "downstream_correction_ratio")),
        Need("conversation_id on prompts, retrievals, actions", "conversations", "turns", ()),
        Need("user_id on prompts, retrievals, actions", "users", "turns", ()),
    ), "Log the planner's route and whether a prompt asks again; send user_id where there is one, and "
       "conversation_id, on all events or on none, where a conversation is more than one session."),
)
# fmt: on


class Met(Struct, frozen=True):
    """A need as it is met today: by so many of so many records."""

    field: str
    logged: int
    of: int
    state: str
    figures: tuple[str, ...]


class Step(Struct, frozen=True):
    """A rung as it stands today."""

    rung: int
    name: str
    state: str
    fields: tuple[Met, ...]
    do: str


def climb(notes: Notes) -> list[Step]:
    """The ladder as the noted fields have it."""
    return [_step(number, rung, notes) for number, rung in enumerate(LADDER, 1)]


def _step(number: int, rung: Rung, notes: Notes) -> Step:
    fields = tuple(_met(need, notes.counts) for need in rung.needs)
    states = {one.state for one in fields}
    return Step(number, rung.name, states.pop() if len(states) == 1 else PARTLY, fields, rung.do)


def _met(need: Need, counts: Mapping[Name, int]) -> Met:
    logged, of = counts[need.logged], counts[need.among]
    is_open = logged > 0 and (need.some or logged >= OPEN_FROM * of)
    state = OPEN if is_open else PARTLY if logged else CLOSED
    return Met(need.field, logged, of, state, tuple(f"lara_{name}" for name in need.figures))
