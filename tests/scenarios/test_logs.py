"""Public logs of people and agents, which lie beside the project, give their right totals by `lara backtest`."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from streams.commands.cli import main

DATA = Path(__file__).parents[3] / "shared" / "data"

CASES = {
    "chorus_ubi.jsonl": {
        "N": 84,
        "null": 6,
        "U standard": 35,
        "U strict": 0,
        "A": 0,
        "unobserved": 49,
        "actions": {"explicit": 390, "refuted": 24, "dangling": 40},
    },
    "tau_airline.jsonl": {
        "N": 179,
        "null": 28,
        "U standard": 30,
        "A": 12,
        "D": 76,
        "unobserved": 88,
        "actions": {"explicit": 154, "none": 65},
    },
    "react_webshop.jsonl": {"N": 501, "null": 2, "A": 494, "unobserved": 7, "actions": {"explicit": 1517}},
}
# The dispositions that the README of the logs states; the rest is what is read.
INTAKE = {"chorus_ubi.jsonl": {"invalid": 2, "conflict": 14}}
FIGURES = {
    "N": ("lara_retrievals", {}),
    "null": ("lara_retrievals_null", {}),
    "U standard": ("lara_retrievals_positive", {"definition": "standard"}),
    "U strict": ("lara_retrievals_positive", {"definition": "strict"}),
    "A": ("lara_retrievals_agent_consumed", {}),
    "D": ("lara_retrievals_delegated", {}),
    "unobserved": ("lara_retrievals_unobserved", {"definition": "standard"}),
}


def total(metrics, name, labels):
    """The sum over labels in the window `all`, settled where the figure has cohorts."""
    found = 0
    for metric in metrics:
        of = metric["labels"]
        chosen = of["window"] == "all" and of.get("cohort", "settled") == "settled"
        if metric["name"] == name and chosen and labels.items() <= of.items():
            found += metric["value"]
    return found


def actions(metrics):
    rows = [one for one in metrics if one["name"] == "lara_actions" and one["labels"]["window"] == "all"]
    return {one["labels"]["resolution"]: one["value"] for one in rows if one["value"]}


def intake(line):
    """What `read 1,046 records: applied 1,030 · …` says, and how many records it accounts for."""
    read, rest = re.search(r"read ([\d,]+) records: ([^;(]*)", line).groups()
    counts = {name: number(count) for name, count in re.findall(r"(\w+) ([\d,]+)", rest)}
    return number(read), counts


def number(text):
    return int(text.replace(",", ""))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_public_log_has_its_right_totals(name):
    """As of 2026-11-01, over all time, settled; the line of intake accounts for every record."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(
            f"{path} is not here: the public logs lie beside the project and are never copied into it"
        )
    found = CliRunner().invoke(main, ["backtest", str(path), "--json", "--as-of", "2026-11-01"])
    assert found.exit_code == 0, found.output
    printed = json.loads(found.stdout)
    assert printed["as_of"].startswith("2026-11-01T00:00:00")
    expected = CASES[name]
    metrics = printed["metrics"]
    totals = {label: total(metrics, *FIGURES[label]) for label in expected if label != "actions"}
    assert totals | {"actions": actions(metrics)} == expected
    read, counts = intake(found.stderr)
    assert read == sum(counts.values()) == len(path.read_bytes().splitlines())
    assert INTAKE.get(name, {}).items() <= counts.items()
    assert {"invalid", "conflict"} & counts.keys() == INTAKE.get(name, {}).keys()
