"""5c. Sessions: did anything come of the visit? (contract, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.second_reading.judging import surface_of
from tests.second_reading.resolving import Resolved
from tests.second_reading.rows import Labels, Row, ratio, row
from tests.second_reading.rules import HORIZON, MATURITY, OUTCOMES, Rules
from tests.second_reading.world import World, grouped


@dataclass(frozen=True, eq=False)
class Session:
    """A session with a retrieval; the earliest one gives it its time and surface."""

    ts: int
    labels: tuple[str]  # surface
    abandoned: dict[str, bool]  # as far as each attribution can see


def all_sessions(world: World, resolved: Resolved, rules: Rules) -> list[Session]:
    outcomes = [(act, res) for act, res in resolved if act.actor == "user" and act.verb in OUTCOMES]
    sessions = []
    for session, retrievals in grouped(world.retrievals.values(), lambda r: r["session_guid"]).items():
        earliest = min(retrievals, key=lambda r: r.order)
        identities = {r.identity for r in retrievals}
        within_session = [
            act
            for act, _ in outcomes
            if act.record["session_guid"] == session and earliest.ts <= act.ts <= earliest.ts + HORIZON
        ]
        by_lineage = [act for act, res in outcomes if identities & res.credits.keys()]
        abandoned = {"session": not within_session, "lineage": not by_lineage}
        sessions.append(Session(earliest.ts, (surface_of(earliest, rules),), abandoned))
    return sessions


def session_rows(labels: Labels, group: Sequence[Session], end: int) -> Iterator[Row]:
    mature = [s for s in group if s.ts < end - MATURITY]
    yield row("lara_sessions", labels, len(group))
    for attribution in ("session", "lineage"):
        named = labels | {"attribution": attribution}
        abandoned = [s.abandoned[attribution] for s in mature]
        yield from ratio("lara_session_abandonment_ratio", named, abandoned, mature)
