"""5c. The figures, window by window (contract, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tests.second_reading.diagnosis import diagnosis_rows
from tests.second_reading.judging import Judged, surface_of
from tests.second_reading.layer0 import Prompt, prompt_rows
from tests.second_reading.layer1 import list_rows, routing_rows
from tests.second_reading.layer3 import click_rows, consumption_rows, spend_rows, task_rows
from tests.second_reading.resolving import Resolved, inferred_for, is_cross_session
from tests.second_reading.rows import (
    Labels,
    Row,
    acts_within,
    by_labels,
    count,
    ratio,
    row,
    within,
)
from tests.second_reading.rules import MATURITY, OUTCOMES, RESOLUTIONS, ROLES, SIGNALS, WINDOWS, Rules
from tests.second_reading.sessions import Session, session_rows
from tests.second_reading.world import Act, World


def figures(
    retrievals: Sequence[Judged],
    prompts: Sequence[Prompt],
    sessions: Sequence[Session],
    resolved: Resolved,
    world: World,
    end: int,
    rules: Rules,
) -> Iterator[Row]:
    for window in WINDOWS:
        for cohort, cohort_end in (("live", end), ("settled", end - MATURITY)):
            for labels, group in by_labels(retrievals, ("role", "surface"), window, end, cohort_end):
                yield from evidence_rows(labels | {"cohort": cohort}, group, end, rules)
        for labels, group in by_labels(retrievals, ("role", "surface"), window, end):
            yield from list_rows(labels, group)
            yield from routing_rows(labels, group)
            yield from diagnosis_rows(labels, group, end)
            yield from task_rows(labels, group)
            yield from consumption_rows(labels, group)
            yield from click_rows(labels, group)
            yield from spend_rows(labels, group)
        for labels, turns in by_labels(prompts, ("surface",), window, end):
            yield from prompt_rows(labels, turns, rules)
        for labels, visits in by_labels(sessions, ("surface",), window, end):
            yield from session_rows(labels, visits, end)
        labels = {"window": window}
        yield from outcome_rows(labels, resolved, world, end, rules)
        yield from action_rows(labels, resolved, end)
        yield from inference_rows(labels, acts_within(resolved, window, end), world)
        yield from coverage_rows(labels, within(retrievals, window, end), acts_within(resolved, window, end))


def evidence_rows(labels: Labels, group: Sequence[Judged], end: int, rules: Rules) -> Iterator[Row]:
    """The figures with a cohort: Layers 2 and 3."""
    live = labels["cohort"] == "live"
    yield row("lara_retrievals", labels, len(group))
    for definition in rules.definitions:
        named = labels | {"definition": definition}
        positive = [r.positive[definition] for r in group]
        silent = [r for r in group if not r.has_evidence(definition)]
        unobserved = [r for r in silent if r.ts < end - MATURITY]
        pending = [r for r in silent if r.ts >= end - MATURITY]
        yield count("lara_retrievals_positive", named, positive)
        yield from ratio("lara_gpr_ratio", named, positive, group)
        yield count("lara_retrievals_unobserved", named, unobserved)
        if live:
            yield count("lara_retrievals_pending", named, pending)
            yield from ratio("lara_pending_ratio", named, pending, group)
        else:
            yield from ratio("lara_uor_ratio", named, unobserved, group)
    consumed = [r for r in group if r.agent_consumed]
    delegated = [r for r in group if r.delegated]
    failed = [r for r in group if r.failed]
    yield count("lara_retrievals_agent_consumed", labels, consumed)
    yield from ratio("lara_acr_ratio", labels, consumed, group)
    yield count("lara_retrievals_delegated", labels, delegated)
    yield from ratio("lara_delegated_ratio", labels, delegated, group)
    yield count("lara_retrievals_failed", labels, failed)
    yield from ratio("lara_orf_ratio", labels, failed, group)
    not_failed = [r for r in group if not r.failed]
    yield from ratio("lara_no_observed_failure_ratio", labels, not_failed, group)
    for signal in SIGNALS:
        signalled = [r for r in group if signal in r.failure_signals]
        yield count("lara_retrievals_failed_by_signal", labels | {"signal": signal}, signalled)
    yield count("lara_retrievals_corrected", labels, [r.corrected for r in group])
    yield from ratio("lara_agent_use_confirmed_ratio", labels, [r.standard for r in consumed], consumed)


def outcome_rows(labels: Labels, resolved: Resolved, world: World, end: int, rules: Rules) -> Iterator[Row]:
    """User exports, shares and downloads, each counted once, by its own time and surface."""

    def key_of(act: Act) -> tuple[str, str]:
        return surface_of(act.record, rules), act.verb

    outcomes = [(act, res) for act, res in resolved if act.actor == "user" and act.verb in OUTCOMES]
    chosen = acts_within(outcomes, labels["window"], end)
    keys = {key_of(act) for act, _ in chosen} | {key_of(act) for act, _ in acts_within(outcomes, "7d", end)}
    for surface, verb in sorted(keys):
        group = [(act, res) for act, res in chosen if key_of(act) == (surface, verb)]
        attributed = [res.credits for _, res in group]
        crossing = [is_cross_session(act, res, world) for act, res in group]
        named = labels | {"surface": surface, "action": verb}
        yield row("lara_outcomes", named, len(group))
        yield count("lara_attributed_outcomes", named, attributed)
        yield count("lara_cross_session_outcomes", named, crossing)
        yield from ratio("lara_attributed_outcome_ratio", named, attributed, group)


def action_rows(labels: Labels, resolved: Resolved, end: int) -> Iterator[Row]:
    chosen = acts_within(resolved, labels["window"], end)
    if chosen or acts_within(resolved, "7d", end):
        for name in RESOLUTIONS:
            named = labels | {"resolution": name}
            yield count("lara_actions", named, [resolution.name == name for _, resolution in chosen])


def inference_rows(labels: Labels, acts: Resolved, world: World) -> Iterator[Row]:
    """How often rule 5 would have named another retrieval than lineage did."""
    credited = [
        (next(iter(resolution.credits)), inferred_for(act, world))
        for act, resolution in acts
        if resolution.name in ("explicit", "inherited", "request") and len(resolution.credits) == 1
    ]
    named = [(lineage, inferred) for lineage, inferred in credited if inferred is not None]
    differ = [lineage != inferred for lineage, inferred in named]
    yield from ratio("lara_inference_disagreement_ratio", labels, differ, named)


def coverage_rows(labels: Labels, retrievals: Sequence[Judged], acts: Resolved) -> Iterator[Row]:
    """How much of the lineage is logged at all."""

    def coverage(name: str, part: Iterable[object], whole: Sequence[object]) -> Iterator[Row]:
        return ratio("lara_lineage_coverage_ratio", labels | {"field": name}, part, whole)

    for name in ("returned_asset_ids", "request_id"):
        yield from coverage(name, [r.record[name] is not None for r in retrievals], retrievals)
    yield from coverage("role", [r.record["role"] in ROLES for r in retrievals], retrievals)
    yield from coverage("consumed_asset_id", [act.asset is not None for act, _ in acts], acts)
    traceable = [
        resolution.name in ("explicit", "inherited", "document")
        for act, resolution in acts
        if act.asset is not None or act.document is not None or act.record["placement_id"] is not None
    ]
    yield from coverage("source_retrieval_id", traceable, traceable)
