"""Planner routing: is a retrieval fired where one is needed, and only there?"""

from deploy.generate.boards.commands import DOCTOR, REPORT, SAMPLE_SURFACES
from deploy.generate.panels import Board, Panel, Row
from deploy.generate.queries import ask
from deploy.generate.shapes import by_label, counted, headline, trend, trends, with_bounds
from deploy.generate.thresholds import Limits


def planner(_: Limits) -> Board:
    """Layer 0."""
    return Board(
        "lara-planner",
        "lara · Planner routing",
        "Is a retrieval fired where one is needed, and only there?",
        (
            Row("Layer 0", _headlines()),
            Row("By surface and role", _tables()),
            Row("In time", _trends()),
            Row("Routes", _routes()),
        ),
    )


def _headlines() -> tuple[Panel, ...]:
    return (
        headline(ask("lara_invocation_ratio"), "Prompts that retrieve", REPORT, "invoked", 8),
        headline(
            ask("lara_misroute_ratio"), "Retrieved, though none was needed", SAMPLE_SURFACES, "misrouted", 8
        ),
        headline(ask("lara_multi_intent_ratio"), "Prompts that need several", SAMPLE_SURFACES, "multi", 8),
    )


def _tables() -> tuple[Panel, ...]:
    prompts = {
        "invoked": ask("lara_invocation_ratio", "surface"),
        "multi-intent": ask("lara_multi_intent_ratio", "surface"),
        "missed": ask("lara_missed_retrieval_ratio", "surface"),
        "sessions": ask("lara_sessions", "surface"),
    }
    misrouted = ask("lara_misroute_ratio", "role")
    return (
        by_label(prompts, "Prompts by surface", SAMPLE_SURFACES, 12),
        with_bounds(misrouted, "misrouted", "Misrouted retrievals by role", SAMPLE_SURFACES, 12),
    )


def _trends() -> tuple[Panel, ...]:
    missed = {"missed": ask("lara_missed_retrieval_ratio", "surface")}
    name = "lara_missed_retrieval_ratio"
    return (
        trends({"invoked": ask("lara_invocation_ratio")}, "Prompts that retrieve", REPORT, 8),
        trend(ask("lara_misroute_ratio"), "Misrouted retrievals", SAMPLE_SURFACES, "misrouted", 8),
        trends(missed, "Missed retrievals by surface", SAMPLE_SURFACES, 8, "{{surface}}", name),
    )


def _routes() -> tuple[Panel, ...]:
    routes = ask("lara_prompts_by_route", "route")
    return (
        counted(routes, "Prompts by route", REPORT),
        trends({"prompts": routes}, "Prompts by route, in time", DOCTOR, legend="{{route}}"),
    )
