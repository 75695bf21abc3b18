import json
from io import StringIO

import pytest
from rich.console import Console

from metrics.figures import Metric, figures
from metrics.report import as_json, report
from metrics.windows import WINDOWS
from tests.metrics.traffic import DEFINITIONS, NOW_MS, STANDARD, STRICT, buckets, busy

A_DAY_OF_BROWSING = {
    **{"retrievals|browse|chat": 8, "layer1_retrievals|browse|chat": 8, "retrievals_null|browse|chat": 2},
    **{"retrievals_positive|strict|browse|chat": 1, "retrievals_positive|standard|browse|chat": 4},
    **{"retrievals_evidenced|strict|browse|chat": 2, "retrievals_evidenced|standard|browse|chat": 5},
    **{"retrievals_failed|browse|chat": 1, "outcomes|chat|export": 4, "attributed_outcomes|chat|export": 3},
    **{"cross_session_outcomes|chat|export": 1, "actions|explicit": 3, "actions|dangling": 1},
    **{"lineage_expected|role": 8, "lineage_logged|role": 8},
}


def printed(reader, definitions=DEFINITIONS, width=160):
    """The report as a wide terminal shows it, line by line."""
    console = Console(width=width, record=True, file=StringIO())
    console.print(report(NOW_MS, figures(reader, NOW_MS, definitions), definitions))
    return [line.rstrip() for line in console.export_text().splitlines()]


def cells(lines, first):
    """The cells of the first line that begins with a word."""
    return next(line.split() for line in lines if line.startswith(first))


def test_json_is_that_of_the_contract():
    """One object: the time asked about, and a list of name, labels and value."""
    metrics = [Metric("lara_gpr_ratio", {"window": "24h", "definition": "standard"}, 0.5)]
    assert as_json(1_772_445_600_000, metrics) == (
        '{"as_of":"2026-03-02T10:00:00.000Z","metrics":'
        '[{"name":"lara_gpr_ratio","labels":{"window":"24h","definition":"standard"},"value":0.5}]}'
    )


def test_json_keeps_every_metric_and_its_order():
    """What is printed is what was evaluated; counts stay whole numbers."""
    metrics = figures(busy(), NOW_MS, DEFINITIONS)
    read = json.loads(as_json(NOW_MS, metrics))["metrics"]
    assert [(row["name"], row["labels"], row["value"]) for row in read] == [
        (metric.name, metric.labels, metric.value) for metric in metrics
    ]


def test_evidence_stands_with_n_and_interval_by_role_and_in_total():
    """Settled shares of n in percent, definitions side by side, 95 % bounds below."""
    lines = printed(buckets((45, A_DAY_OF_BROWSING)), (STRICT, STANDARD))
    heading = cells(lines, "role")
    assert heading == ["role", "n", "strict", "standard", "strict", "standard"]
    # n, GPR strict, GPR standard, ACR, delegated, ORF, 1−ORF, UOR strict, UOR standard
    shares = ["8", "12.5", "50.0", "0.0", "0.0", "12.5", "87.5", "75.0", "37.5"]
    assert cells(lines, "browse") == ["browse", *shares]
    assert cells(lines, "total") == ["total", *shares]
    below = lines[lines.index(next(line for line in lines if line.startswith("browse"))) + 1]
    assert below.split()[:2] == ["2–48", "21–79"]


def test_null_rate_outcomes_and_resolutions_have_their_n():
    """Each share stands beside the counts it is made of."""
    text = "\n".join(" ".join(line.split()) for line in printed(buckets((45, A_DAY_OF_BROWSING))))
    assert "browse 8 25.0 7–60 0 0 –" in text
    assert "export 4 3 75.0 30–96 1 33.3 6–80" in text
    assert "explicit 3 75.0 ████████████" in text
    assert "role 100.0 67–100" in text


def test_what_is_absent_is_shown_as_a_dash():
    """All retrievals are younger than the horizon: no settled share, and all of them are said to be open."""
    lines = printed(buckets((1, {"retrievals|browse|chat": 3})), (STANDARD,))
    assert cells(lines, "browse") == ["browse", "0", *["–"] * 6]
    assert "until now 3 retrievals, pending: 3 (standard); old enough to judge (settled): 0" in lines


def test_windows_that_say_the_same_share_a_block():
    """Traffic of one hour is told once, not five times."""
    titles = [line.rstrip("─ ") for line in printed(buckets((45, A_DAY_OF_BROWSING))) if "──" in line]
    assert [title for title in titles if title.startswith("last")] == [
        "last hour · last 6 hours · last 24 hours · last 7 days · all time"
    ]


def test_old_traffic_is_told_in_all_alone():
    """Windows in which nothing happened are not printed."""
    lines = printed(buckets((20_000, A_DAY_OF_BROWSING)))
    assert [line.split(" ─")[0] for line in lines if " ──" in line and "time" in line] == ["all time"]
    assert not [line for line in lines if line.startswith("last")]


def test_without_any_figure_the_report_says_so():
    """An empty state is no error and no empty table."""
    assert "Nothing was counted yet." in printed(buckets())


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120, 200])
def test_nothing_is_cut_off(width):
    """A narrow terminal gets the evidence in parts; no number and no role is ever shortened."""
    lines = printed(busy(range(1, 500)), width=width)
    assert not [line for line in lines if "…" in line or len(line) > width]
    assert [line for line in lines if line.startswith("generation_reference")]


def test_every_definition_is_named_with_version_and_digest():
    """A reader of the report can tell what was counted."""
    lines = printed(busy())
    assert lines[1].startswith("genuine positive by definition: strict v1 (aaaaaaaaaaaa), standard v1")


@pytest.mark.slow
def test_every_window_of_the_figures_has_a_title():
    """All six windows are told when all differ."""
    lines = printed(busy((1, 45, 300, 1_000, 5_000, 20_000)))
    assert len([line for line in lines if line.startswith(("last ", "all time"))]) == len(WINDOWS)


def test_list_and_evidence_stand_together_with_the_masked_share():
    """The diagnosis by role, and masked over the judged; without a judged retrieval there is no table."""
    found = {
        "diagnosis|working": 2,
        "diagnosis_judged": 2,
        "diagnosis_quiet|masked": 3,
        "diagnosis_quiet_judged": 3,
    }
    of_role = {f"{name}|browse|chat": count for name, count in found.items()} | {"retrievals|browse|chat": 5}
    lines = printed(buckets((45, of_role)))
    table = lines[next(number for number, line in enumerate(lines) if line.startswith("List and evidence")) :]
    # misused, working, unused, retrieval fault, tolerated, masked, unjudged, pending, masked %
    assert cells(table, "browse")[:10] == ["browse", "0", "2", "0", "0", "0", "3", "0", "0", "60.0"]
    assert not [line for line in printed(buckets((45, A_DAY_OF_BROWSING))) if line.startswith("List and")]


def test_cost_has_the_mean_of_those_that_logged_it():
    """By stage and per completed task; a line without anything logged is left out."""
    found = {
        **{"latency_ms_sum|retrieval": 90, "latency_ms_logged|retrieval": 4},
        **{"completed_latency_ms_sum": 33, "completed_latency_ms_logged": 2},
        **{"completed_tokens_sum": 7, "completed_tokens_logged": 1, "retrievals": 5},
    }
    lines = printed(buckets((45, {f"{name}|browse|chat": count for name, count in found.items()})))
    table = lines[next(number for number, line in enumerate(lines) if line.startswith("Cost")) :]
    assert cells(table, "retrieval ") == ["retrieval", "4", "22.5", "0", "–"]
    assert cells(table, "completed task") == ["completed", "task", "2", "16.5", "1", "7.0"]
    assert not [line for line in table if line.startswith("action credited")]
