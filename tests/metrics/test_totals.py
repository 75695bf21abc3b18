import pytest

from metrics.figures import figures
from metrics.intervals import wilson
from metrics.totals import Share, Totals, View
from tests.metrics.traffic import NOW_MS, STANDARD, buckets

SETTLED_HOUR = View("1h", "settled")
HOUR = View("1h")


@pytest.fixture
def totals():
    """Two roles and two surfaces, 45 minutes ago."""
    counters = {
        **{"retrievals|browse|chat": 2, "retrievals|browse|editor": 3, "retrievals|act_on|chat": 5},
        **{"consumed_assets|browse|chat": 1, "consumed_rank_sum|browse|chat": 1},
        **{"consumed_assets|act_on|chat": 3, "consumed_rank_sum|act_on|chat": 15},
    }
    return Totals(figures(buckets((45, counters)), NOW_MS, (STANDARD,)))


def test_a_count_is_summed_over_the_labels_not_asked_about(totals):
    """By role, by surface, in all."""
    assert totals.sum(SETTLED_HOUR, "lara_retrievals", role="browse") == 5
    assert totals.sum(SETTLED_HOUR, "lara_retrievals", surface="chat") == 7
    assert totals.sum(SETTLED_HOUR, "lara_retrievals") == 10
    assert totals.sum(SETTLED_HOUR, "lara_retrievals", role="task_step") == 0


def test_a_mean_of_a_total_is_weighted_by_its_counts(totals):
    """One asset at rank 1 and three at rank 5 on average make 4."""
    assert totals.mean(HOUR, "lara_consumed_rank", "lara_consumed_assets") == 4.0
    assert totals.mean(HOUR, "lara_consumed_rank", "lara_consumed_assets", role="act_on") == 5.0
    assert totals.mean(View("5m"), "lara_consumed_rank", "lara_consumed_assets") is None


def test_label_values_stand_in_the_order_of_the_figures(totals):
    """They are those that were printed, each once."""
    assert totals.label_values(SETTLED_HOUR, "lara_retrievals", "role") == ["act_on", "browse"]


def test_a_window_is_empty_if_all_it_says_is_0(totals):
    """The last 5 minutes print zeros for what the week remembers."""
    assert totals.windows == ["5m", "1h", "6h", "24h", "7d", "all"]
    assert [window for window in totals.windows if totals.is_empty(window)] == ["5m"]


def test_windows_with_the_same_content_say_the_same(totals):
    """Nothing is older than a day, so the week has nothing to add."""
    assert totals.content("24h") == totals.content("7d")
    assert totals.content("5m") != totals.content("7d")


def test_a_share_knows_its_value_and_its_bounds():
    """Without trials it has neither; what is no share has no bounds."""
    assert (Share(1, 4).value, Share(1, 4).interval) == (0.25, wilson(1, 4))
    assert (Share(0, 0).value, Share(0, 0).interval) == (None, None)
    assert Share(2, 1).interval is None
