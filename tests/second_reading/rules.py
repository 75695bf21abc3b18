"""The numbers and names of the contract, and what a deployment configures."""

from __future__ import annotations

from dataclasses import dataclass, field

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

HORIZON = 30 * DAY  # section 2: only what happened in the 30 days before an action exists for it
SKEW = 5 * MINUTE  # rule 1: a claimed retrieval may be stamped this much after the action
MATURITY = 30 * MINUTE  # section 5: without evidence, older is unobserved and younger is pending
MAX_STEPS = 16  # rule 2: how far the source of a placement is followed
INFERENCE_WITHIN = 30 * MINUTE  # rule 5: only so long after a retrieval an action is taken for its own
INFERRED_RESEARCH_WITHIN = 10 * MINUTE  # section 3: so soon a similar query may be a re-search
Z = 1.959963984540054

WINDOWS = {"5m": 5 * MINUTE, "1h": HOUR, "6h": 6 * HOUR, "24h": DAY, "7d": 7 * DAY, "all": None}
ROLES = {"direct_lookup", "browse", "act_on", "generation_reference", "task_step", "contextual"}
RESOLUTIONS = ("explicit", "inherited", "document", "request", "inferred", "none", "refuted", "dangling")
SIGNALS = ("rejected", "researched", "substituted", "researched_inferred")
OUTCOMES = ("export", "share", "download")
AGENT_VERBS = {"select", "edit", "use", "generate", "place", "export", "share", "download"}

STRICT = ["export", "share", "download"]
STANDARD = [*STRICT, "select", "place", "edit", "follow_up"]


def _definitions() -> dict[str, dict[str, list[str]]]:
    return {
        "strict": {"actions": STRICT},
        "standard": {"actions": STANDARD},
        "broad": {"any_but": ["reject", "correct", "not_helpful"]},
    }


def _completions() -> dict[str, dict[str, list[str]]]:
    found = {"user": ["select", "place", *STRICT]}
    return {
        "direct_lookup": found,
        "browse": found,
        "act_on": {"user": ["select", "place", "edit", *STRICT]},
        "generation_reference": {"agent": ["generate", "use"], "user": STRICT},
    }


@dataclass(frozen=True)
class Rules:
    """What a deployment configures."""

    surfaces: tuple[str, ...] = ("chat", "gallery", "editor", "unknown")
    definitions: dict[str, dict[str, list[str]]] = field(default_factory=_definitions)
    completions: dict[str, dict[str, list[str]]] = field(default_factory=_completions)  # role → actor → verbs
    other_completions: dict[str, list[str]] = field(default_factory=lambda: {"user": STRICT})  # other roles
    synthetic_session_prefixes: tuple[str, ...] = ()
    synthetic_user_ids: tuple[str, ...] = ()
    synthetic_queries: tuple[str, ...] = ()
    routes: tuple[str, ...] = ("retrieve", "generate", "edit", "answer")
    gain: str = "exponential"  # or "linear"
    inference: str = "shadow"  # or "credit": then rule 5 credits
    inferred_research: str = "shadow"  # or "count": then it is in F
