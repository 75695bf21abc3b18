"""The file of values: typed, complete, reachable, and shortened in its durations only."""

import re
from pathlib import Path

import pytest
import yaml

from deploy.generate.promql import bounds
from deploy.generate.values import SHORT, VALUES, ValuesError, merge, read_values, seconds
from metrics.intervals import wilson

DURATION = re.compile(r"\d+(ms|s|m|h|d)")


def changed(tmp_path: Path, **alerts: object) -> tuple[Path, Path]:
    """The values, and a file that changes some alerts."""
    file = tmp_path / "changed.yaml"
    file.write_text(yaml.safe_dump({"alerts": alerts}))
    return VALUES, file


@pytest.mark.parametrize(
    ("alert", "given", "said"),
    [
        (
            "LaraNullRateSpike",
            {"treshold": 0.2},
            "LaraNullRateSpike: Object contains unknown field `treshold`",
        ),
        ("LaraNullRateSpike", {"threshold": 1.5}, "LaraNullRateSpike: Expected `float` < 1.0"),
        ("LaraNullRateSpike", {"long": "2h"}, "LaraNullRateSpike: Expected `str` matching regex"),
        ("LaraNullRateSpike", {"for": "soon"}, "LaraNullRateSpike: Expected `str` matching regex"),
        ("LaraNullRateSpike", {"minimum": 5}, "5 of 5 do not reach"),
        ("LaraNullRateSpike", {"highest_baseline": 0.99}, "do not reach"),
        ("LaraPositivesCollapse", {"minimum": 10}, "0 of 10 do not reach"),
        ("LaraPositivesCollapse", {"left": 0.1}, "do not reach"),
        ("LaraNullRateSpike", {"threshold": 0.7}, "LaraNullsAtLowVolume: 8 cases do not reach 0.7"),
        ("LaraNoPositives", {"count": 3}, "LaraNoPositives: 3 cases do not reach"),
        ("LaraNobody", {"for": "5m"}, "unknown ['LaraNobody']"),
    ],
)
def test_a_wrong_value_is_refused_in_a_sentence(tmp_path, alert, given, said):
    """Unknown keys, wrong types, alerts that do not exist, and thresholds that could never be reached."""
    with pytest.raises(ValuesError, match=re.escape(said)):
        read_values(*changed(tmp_path, **{alert: given}))


def test_an_alert_without_numbers_is_refused(tmp_path):
    """Every row of the table has its numbers in the file."""
    given = yaml.safe_load(VALUES.read_text())
    del given["alerts"]["LaraWatchdog"]
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(given))
    with pytest.raises(ValuesError, match=r"missing \['LaraWatchdog'\]"):
        read_values(file)


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def test_the_short_values_only_shorten_durations():
    """Not a threshold, minimum or window differs between the live test and production."""
    whole = dict(leaves(yaml.safe_load(VALUES.read_text())))
    short = dict(leaves(yaml.safe_load(SHORT.read_text())))
    assert short
    for path, value in short.items():
        assert DURATION.fullmatch(value) and DURATION.fullmatch(whole[path]), path
        assert seconds(value) <= seconds(whole[path]), path
        assert path[-1] not in ("long", "short", "window"), path


def test_a_file_changes_what_it_names_and_nothing_else():
    """At any depth."""
    assert merge({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 7}}) == {"a": {"b": 7, "c": 2}, "d": 3}


@pytest.mark.parametrize(
    ("text", "length"), [("500ms", 0.5), ("90s", 90), ("2m", 120), ("3h", 10800), ("1d", 86400)]
)
def test_durations_are_read_as_prometheus_reads_them(text, length):
    """A number and a unit."""
    assert seconds(text) == length


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 7), (50, 1000), (9, 9)])
def test_bounds_of_a_share_are_those_of_its_counts(hits, n):
    """What PromQL computes is what the exporter prints."""
    assert bounds(hits / n, n) == pytest.approx(wilson(hits, n))
