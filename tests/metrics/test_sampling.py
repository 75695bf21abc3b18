"""A sample for labelling: which items are drawn, and that weighted shares of it are right on average."""

import random
from math import sqrt

from hypothesis import given
from hypothesis import strategies as st

from metrics.sampling import HIGHEST_SEED, Sample

POPULATION = [
    *(("browse", f"b{number}", number % 5 == 0) for number in range(200)),
    *(("act_on", f"a{number}", number % 5 < 3) for number in range(90)),
    *(("task_step", f"t{number}", True) for number in range(10)),
]
SHARE = sum(holds for _, _, holds in POPULATION) / len(POPULATION)


def drawn(population, number=15, seed=1):
    found = Sample(number, seed)
    for stratum, identity, holds in population:
        found.offer(stratum, identity, (stratum, identity, holds))
    return list(found.drawn())


def test_each_stratum_gives_the_same_number_or_all_it_has():
    """And says how many it had."""
    found = drawn(POPULATION)
    sizes = {one.item[0]: (one.drawn, one.stratum_size) for one in found}
    assert sizes == {"act_on": (15, 90), "browse": (15, 200), "task_step": (10, 10)}
    assert len({one.item[1] for one in found}) == len(found) == 40


def test_probability_and_weight_are_exact_and_inverse():
    """15 of 90: one in six; a whole stratum stands for itself."""
    found = {one.item[0]: (one.probability, one.weight) for one in drawn(POPULATION)}
    assert found == {"act_on": (1 / 6, 6.0), "browse": (0.075, 200 / 15), "task_step": (1.0, 1.0)}


def test_the_order_in_which_items_come_changes_nothing():
    """Neither what is drawn nor the order of the sample."""
    mixed = POPULATION.copy()
    random.Random(3).shuffle(mixed)
    assert drawn(mixed) == drawn(POPULATION)


def test_another_seed_draws_others():
    """As far as one may expect of 15 of 200."""
    assert {one.item for one in drawn(POPULATION)} != {one.item for one in drawn(POPULATION, seed=2)}
    assert drawn(POPULATION, seed=0) != drawn(POPULATION, seed=HIGHEST_SEED)


def test_a_larger_sample_holds_the_smaller_one():
    """So that a sheet can be made longer without labelling anew."""
    small, large = ({one.item for one in drawn(POPULATION, number)} for number in (5, 15))
    assert small < large


def test_what_a_seed_draws_does_not_change_with_the_version():
    """Sheets that are with judges now must still be those of their seed tomorrow."""
    found = drawn([("", f"r{number}", False) for number in range(100)], number=5, seed=7)
    assert [one.item[1] for one in found] == ["r87", "r93", "r81", "r34", "r77"]


@given(st.sets(st.text(max_size=5), max_size=30), st.integers(1, 40), st.integers(0, HIGHEST_SEED))
def test_weights_add_up_to_the_population(ids, number, seed):
    """Whatever is drawn stands for all there is."""
    found = drawn([("", identity, False) for identity in ids], number, seed)
    assert len(found) == min(number, len(ids))
    assert round(sum(one.weight for one in found)) == len(ids)


def test_the_weighted_share_is_right_on_average_and_the_plain_one_is_not():
    """Horvitz-Thompson over 400 seeds: within four standard errors of the share of all (37 %).

    The error is that of theory: of each stratum (1 − n/N)·p(1 − p)·N/(N − 1)/n, by the square of its part.
    """
    seeds = 400
    weighted, plain = 0.0, 0.0
    for seed in range(seeds):
        found = drawn(POPULATION, seed=seed)
        total = sum(one.weight for one in found)
        weighted += sum(one.weight * one.item[2] for one in found) / total / seeds
        plain += sum(one.item[2] for one in found) / len(found) / seeds
    variance = sum(
        (size / 300) ** 2 * (1 - 15 / size) * share * (1 - share) * size / (size - 1) / 15
        for size, share in ((200, 0.2), (90, 0.6))
    )
    allowed = 4 * sqrt(variance / seeds)
    assert allowed < 0.02
    assert abs(weighted - SHARE) < allowed
    assert abs(plain - SHARE) > 5 * allowed


def test_every_item_is_drawn_as_often_as_its_probability_says():
    """Over 2,000 seeds, 5 of 20: within four standard errors for each of them."""
    population = [("", f"r{number}", False) for number in range(20)]
    seeds = 2_000
    times = dict.fromkeys((identity for _, identity, _ in population), 0)
    for seed in range(seeds):
        for one in drawn(population, 5, seed):
            times[one.item[1]] += 1
    allowed = 4 * sqrt(0.25 * 0.75 / seeds)
    assert all(abs(count / seeds - 0.25) < allowed for count in times.values())
