"""5a. What is true of one retrieval (contract, section 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.second_reading.failures import counted, signals_of
from tests.second_reading.labels import Judgements
from tests.second_reading.records import Record
from tests.second_reading.resolving import Resolved
from tests.second_reading.rules import AGENT_VERBS, ROLES, STANDARD, Rules
from tests.second_reading.scores import Scores, scores_of
from tests.second_reading.world import Act, World


@dataclass(frozen=True, eq=False)
class Judged:
    """One retrieval and all that its evidence says, whenever that came."""

    record: Record
    labels: tuple[str, str]  # role, surface
    action_ids: list[str]
    positive: dict[str, bool]  # U, by definition
    standard: bool  # U by `standard`
    agent_consumed: bool  # A
    delegated: bool  # D
    failure_signals: list[str]  # all that hold, the shadow one included
    failed: bool  # F
    corrected: bool
    ranks: dict[str, int]
    clicks: int
    completed: bool  # the task of its role
    reached: bool | None  # the goal, if that was labelled
    intents: int | None  # of its request's prompt, if that was labelled
    scores: Scores | None  # where it is judged
    credited: tuple[Record, ...] = ()  # the records of the actions credited to it

    @property
    def ts(self) -> int:
        return self.record.ts

    @property
    def is_used(self) -> bool:
        return self.standard or self.agent_consumed or self.delegated

    @property
    def is_misrouted(self) -> bool:
        return self.intents == 0

    @property
    def is_null(self) -> bool:
        """Nothing was found; an empty page only says that there is no more."""
        return self.record["returned_asset_ids"] == [] and not self.record.is_page

    def has_evidence(self, definition: str) -> bool:
        return self.positive[definition] or self.agent_consumed or self.delegated or self.failed


def is_positive(act: Act, definition: dict[str, list[str]]) -> bool:
    if act.actor != "user":
        return False
    if "any_but" in definition:
        return act.verb not in definition["any_but"]
    return act.verb in definition["actions"]


def standard_of(rules: Rules) -> dict[str, list[str]]:
    return rules.definitions.get("standard", {"actions": STANDARD})


def judge_all(resolved: Resolved, world: World, judgements: Judgements, rules: Rules) -> list[Judged]:
    uses = first_uses(resolved, world, rules)
    return [judge(r, resolved, uses, world, judgements, rules) for r in world.retrievals.values()]


def judge(
    retrieval: Record,
    resolved: Resolved,
    uses: dict[str, int],
    world: World,
    judgements: Judgements,
    rules: Rules,
) -> Judged:
    credited = [(act, res) for act, res in resolved if retrieval.identity in res.credits]
    acts = [act for act, _ in credited]
    agent_acts = [act for act in acts if act.actor == "agent" and act.verb in AGENT_VERBS]
    signals = signals_of(retrieval, resolved, uses, world)
    in_request = [is_agent_consumption(act, retrieval, world) for act in agent_acts]
    return Judged(
        record=retrieval,
        labels=(role_of(retrieval), surface_of(retrieval, rules)),
        action_ids=sorted(act.id for act in acts),
        positive={
            name: any(is_positive(act, definition) for act in acts)
            for name, definition in rules.definitions.items()
        },
        standard=any(is_positive(act, standard_of(rules)) for act in acts),
        agent_consumed=any(in_request),
        delegated=not all(in_request),
        failure_signals=signals,
        failed=bool(counted(signals, rules)),
        corrected=any(act.actor == "user" and act.verb == "correct" for act in acts),
        ranks=ranks_of(retrieval, credited, world, rules),
        clicks=sum(act.actor == "user" and act.verb == "click" for act in acts),
        completed=any(completes(act, role_of(retrieval), rules) for act in acts),
        reached=judgements.reached(retrieval),
        intents=judgements.intents(retrieval.request),
        scores=scores_of(retrieval, judgements.grades(retrieval), rules.gain),
        credited=tuple(act.record for act in acts if act.placed is None),
    )


def first_uses(resolved: Resolved, world: World, rules: Rules) -> dict[str, int]:
    """When each retrieval first had a U by `standard` or an A, if ever."""
    first: dict[str, int] = {}
    for act, resolution in sorted(resolved, key=lambda pair: pair[0].ts):
        used_by_user = is_positive(act, standard_of(rules))
        used_by_agent = act.actor == "agent" and act.verb in AGENT_VERBS
        for identity in resolution.credits:
            if used_by_user or (
                used_by_agent and is_agent_consumption(act, world.retrievals[identity], world)
            ):
                first.setdefault(identity, act.ts)
    return first


def is_agent_consumption(act: Act, retrieval: Record, world: World) -> bool:
    """A, not D: within the retrieval's own request, and not after its response was first shown."""
    if act.record["request_id"] != retrieval.request:
        return False
    shown = world.first_show(retrieval)
    return shown is None or act.ts <= shown


def ranks_of(retrieval: Record, credited: Resolved, world: World, rules: Rules) -> dict[str, int]:
    """The position of every asset that was consumed from a logged list, as good as any use of it knows."""
    returned = retrieval["returned_asset_ids"]
    if returned is None:
        return {}
    ranks: dict[str, int] = {}
    for act, resolution in credited:
        used_by_agent = act.actor == "agent" and act.verb in AGENT_VERBS
        if not (used_by_agent or is_positive(act, standard_of(rules))):
            continue
        for asset in resolution.credits[retrieval.identity]:
            names = {asset} if asset in returned else world.ancestors(asset, act.document, act.ts)
            positions = [returned.index(name) + 1 for name in names if name in returned]
            if positions:
                ranks[asset] = min([*positions, *([ranks[asset]] if asset in ranks else [])])
    return ranks


def completes(act: Act, role: str, rules: Rules) -> bool:
    return act.verb in rules.completions.get(role, rules.other_completions).get(act.actor, [])


def role_of(retrieval: Record) -> str:
    return retrieval["role"] if retrieval["role"] in ROLES else "unspecified"


def surface_of(record: Record, rules: Rules) -> str:
    surface = record["surface"] or "unknown"
    return surface if surface in rules.surfaces else "other"


def outcomes_of(standing: Iterable[Record], retrievals: Iterable[Judged]) -> dict[str, dict[str, Any]]:
    outcomes: dict[str, dict[str, Any]] = {
        r.identity: {"excluded": True} for r in standing if r.type == "retrieval"
    }
    for r in retrievals:
        outcomes[r.record.identity] = {
            "excluded": False,
            "positive": r.positive,
            "agent_consumed": r.agent_consumed,
            "delegated": r.delegated,
            "failure_signals": r.failure_signals,
            "corrected": r.corrected,
            "action_ids": r.action_ids,
            "ranks": r.ranks,
        }
    return outcomes
