"""Seeded schedules of faults over the real pipeline, core and stores: `make test` runs 2,000, `make prove` all."""

import pytest

import attribution.visits
from streams.state import memory
from tests.faults.plan import Plan, plan_of
from tests.faults.run import failing, over_processes, run
from tests.faults.shrink import shrunk

DAILY, ALL = 2_000, 10_000


def assert_none(seeds: list[int]) -> None:
    """Print the first failing plan, made as small as it can be."""
    if seeds:
        smallest = shrunk(plan_of(seeds[0]), lambda plan: bool(run(plan).broken))
        pytest.fail(f"seeds {seeds}; the first, made small: {smallest!r}\n{run(smallest).broken}")


@pytest.mark.slow
def test_two_thousand_schedules_of_faults_leave_what_one_batch_leaves():
    """Crashes, zombies, lost answers, rebalances, restarts that lose writes, clocks that jump: still exact."""
    assert_none(over_processes(failing, DAILY))


@pytest.mark.prove
def test_ten_thousand_schedules_of_faults_leave_what_one_batch_leaves():
    """The same, five times as often."""
    assert_none(over_processes(failing, ALL))


@pytest.mark.parametrize("seed", range(5))
def test_the_same_seed_is_the_same_run(seed):
    """Step by step, and letter by letter."""
    assert run(plan_of(seed)) == run(plan_of(seed))


@pytest.mark.slow
def test_a_planted_mistake_is_found_and_made_small(monkeypatch):
    """A receiver that forgets to compare the sender's version: a few records and faults are left of it."""

    def hasty(entity, message):
        topic, key = message.address.topic, (message.sender, message.address.subject)
        statements = {
            **entity.said.get(topic, {}),
            key: attribution.entities.Said(message.version, message.content),
        }
        return entity._replace(said={**entity.said, topic: statements})

    monkeypatch.setattr(attribution.visits, "with_message", hasty)
    found = next(seed for seed in range(400) if run(plan_of(seed)).broken)
    smallest = shrunk(plan_of(found), lambda plan: bool(run(plan).broken))
    assert len(smallest.sent) + len(smallest.faults) <= 12, smallest


@pytest.mark.slow
def test_a_save_that_does_not_compare_versions_is_found(monkeypatch):
    """Two workers read the same version and both write."""

    def blind(self, writes, number, term, token):
        shard = self._shards[number]
        self._check(number, term)
        for write in writes:
            shard.entities[write.key] = (write.entity.version, memory.encode(write.entity))
            for (minute, counter), delta in write.deltas.items():
                shard.buckets.add(minute, counter, delta)
            if write.due:
                shard.due[write.key] = memory.due_of(write, token).mark
        return True

    monkeypatch.setattr(memory.MemoryStore, "_save", blind)
    assert any(run(plan_of(seed)).broken for seed in range(100))


def test_a_plan_without_faults_is_what_one_batch_leaves():
    """The simulator itself changes nothing."""
    plan: Plan = plan_of(1)._replace(faults=())
    assert not run(plan).broken
