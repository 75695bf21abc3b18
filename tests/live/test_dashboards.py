"""Every panel of every dashboard, over a live Prometheus that scrapes a worker and an exporter at work."""

import json
import math
import time
from pathlib import Path

import pytest

from deploy.generate.queries import FIGURES, ask, lower, n, upper, value
from deploy.preview.asking import Moment, answers, asked, choices_of, filled, panels_of
from deploy.preview.scene import observed
from deploy.preview.traffic import healthy
from metrics.intervals import wilson

from .conftest import ROOT
from .fleet import settings_for

pytestmark = pytest.mark.prove
BOARDS = sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))
HOUR = 3600
HISTORY_SECONDS = 26 * HOUR
PROMPTS = 2_500


@pytest.fixture(scope="module")
def watching(kafka_server, redis_server, tmp_path_factory):
    """A Prometheus over 26 hours of traffic, all of it counted."""
    redis_url = f"redis://{redis_server.address}"
    settings = settings_for(kafka_server.address, redis_url, "test-dashboards")
    now = int(time.time())
    records = healthy((now - HISTORY_SECONDS) * 1000, now * 1000, prompts=PROMPTS)
    with observed(settings, records, tmp_path_factory.mktemp("observed")) as service:
        yield service


def numbers(result) -> list[float]:
    return [float(text) for one in result for _, text in one.get("values") or [one["value"]]]


@pytest.mark.parametrize("file", BOARDS, ids=lambda file: file.stem)
def test_every_query_of_every_panel_has_data(watching, file: Path):
    """Each query parses and answers with numbers, none of them NaN."""
    board = json.loads(file.read_text("utf-8"))
    now = time.time()
    found = answers(board, watching.address, Moment(now - HOUR / 6, now))
    silent = [
        f"{panel['title']} {target['refId']}: {target['expr']}"
        for panel in panels_of(board)
        for target, result in zip(panel["targets"], found[str(panel["id"])], strict=True)
        if not numbers(result) or any(map(math.isnan, numbers(result)))
    ]
    assert not silent, "\n".join(silent)


def test_the_variables_of_a_dashboard_have_values(watching):
    """What their queries ask for is there."""
    board = json.loads(BOARDS[0].read_text("utf-8"))
    asking = [one["query"]["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    for query in asking:
        metric, label = query.removeprefix("label_values(").removesuffix(")").split(", ")
        assert asked(watching.address, "query", query=f"count by ({label}) ({metric})"), query


@pytest.mark.parametrize(
    "name", ["lara_null_ratio", "lara_orf_ratio", "lara_gpr_ratio", "lara_misroute_ratio"]
)
def test_bounds_are_those_of_the_exporter(watching, name):
    """For one role and surface nothing is added up: the share and its bounds are what the exporter prints."""
    labels = 'role="browse", surface="chat", window="24h"'
    labels += ', cohort="settled"' if FIGURES[name].scope.cohorts else ""
    labels += ', definition="standard"' if "definition" in FIGURES[name].label_names else ""
    moment = time.time()
    chosen = {**choices_of(json.loads(BOARDS[0].read_text("utf-8"))), "role": "browse", "surface": "chat"}

    def one(query: str) -> float:
        written = filled(query, chosen, Moment(moment - 60, moment))
        (number,) = numbers(asked(watching.address, "query", query=written, time=moment))
        return number

    shown = ask(name)
    trials = round(one(n(shown)))
    expected = wilson(round(one(value(shown)) * trials), trials)
    for query, suffix, bound in (
        (lower(shown), "_lower", expected.lower),
        (upper(shown), "_upper", expected.upper),
    ):
        assert one(query) == pytest.approx(bound, abs=1e-8)
        assert one(query) == pytest.approx(one(f"{name}{suffix}{{{labels}}}"), abs=1e-8)


def test_an_exemplar_names_a_retrieval(watching):
    """With the setting on, a bucket of the evidence delay names a retrieval behind it."""
    now = time.time()
    given = {"query": "lara_evidence_delay_seconds_bucket", "start": now - HOUR, "end": now}
    found = asked(watching.address, "query_exemplars", **given)
    assert any(one["labels"].get("retrieval_id") for series in found for one in series["exemplars"])
