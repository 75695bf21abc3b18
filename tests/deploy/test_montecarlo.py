"""The Monte-Carlo run: what it simulates, what it writes, and how it counts alarms."""

import io

import pytest

from deploy.generate.promql import expanded
from deploy.montecarlo.__main__ import SEES, SIZES, START_SECONDS, changes
from deploy.montecarlo.evaluated import episodes
from deploy.montecarlo.exported import Sums, write
from deploy.montecarlo.traffic import DAY, HOUR, USUAL, Change, simulate
from metrics.alerts import ALERTS


def share(cells, name, start, end, of="n"):
    """Over all cells, between two minutes."""
    hits = sum(sum(cell.counts[name][start:end]) for cell in cells.values())
    return hits / sum(sum(cell.counts[of][start:end]) for cell in cells.values())


def test_shares_are_what_they_are_set_to_and_change_when_they_are_told():
    """Within what sessions and drift make of it; n follows the amount that was asked for."""
    change = Change("null", DAY, DAY + 12 * HOUR, 0.8)
    cells = simulate(1, 2, 10_000, [change])
    assert share(cells, "null", 0, DAY) == pytest.approx(USUAL["null"], abs=0.02)
    assert share(cells, "null", change.start + 30, change.end) == pytest.approx(0.8, abs=0.06)
    assert share(cells, "positive", 0, 2 * DAY) == pytest.approx(USUAL["positive"], abs=0.05)
    total = sum(sum(cell.counts["n"]) for cell in cells.values())
    assert total == pytest.approx(20_000, rel=0.1)


def test_one_seed_gives_one_month():
    """And another seed another one."""
    first, again, other = (simulate(seed, 1, 500, []) for seed in (1, 1, 2))
    assert [cell.counts for cell in first.values()] == [cell.counts for cell in again.values()]
    assert [cell.counts for cell in first.values()] != [cell.counts for cell in other.values()]


def test_a_window_holds_what_lies_before_its_end():
    """What is not there yet is 0."""
    sums = Sums([1] * 10)
    assert [sums.over("5m", end) for end in (-3, 0, 3, 5, 10)] == [0, 0, 3, 5, 5]


def test_what_is_written_is_openmetrics_with_every_family_once():
    """As promtool wants it."""
    out = io.StringIO()
    write(simulate(1, 1, 200, []), START_SECONDS, out)
    lines = out.getvalue().splitlines()
    families = [line for line in lines if line.startswith("# TYPE")]
    assert lines[-1] == "# EOF"
    assert len(families) == len(set(families)) > 20


@pytest.mark.parametrize(
    ("minutes", "hold", "keep", "fired"),
    [
        ([], 5, 15, []),
        ([10], 5, 15, []),
        ([10, 15], 5, 15, [15]),
        ([10, 15, 20, 40, 45, 50], 5, 15, [15]),
        ([10, 15, 20, 60, 65], 5, 15, [15, 65]),
        ([10, 20, 30], 5, 15, []),
        ([10, 60], 0, 0, [10, 60]),
    ],
)
def test_an_alert_fires_after_for_and_on_for_a_while(minutes, hold, keep, fired):
    """Two crossings that `keep_firing_for` bridges are one alarm; a gap begins `for` anew."""
    assert episodes(minutes, hold, keep) == fired


def test_every_alert_on_a_share_is_tried():
    """Each share that is changed has the alerts that may see it."""
    assert {name for names in SEES.values() for name in names} == {
        alert.name for alert in ALERTS.values() if alert.watches
    }
    assert SEES.keys() == SIZES.keys()
    assert len(changes()) == 3 * len(SIZES)


def test_recorded_series_are_put_in_where_they_are_named():
    """So that one query holds the whole rule, also under a range."""
    records = {"lara:a:n": "x", "lara:a:ratio": "lara:a:n / 2"}
    assert expanded("lara:a:ratio[6d:1h] > lara:a:n", records) == "((x) / 2)[6d:1h] > (x)"
