"""A deterministic simulator: the real pipeline, engine and stores, driven through seeded schedules of faults.

`plan.py` what happens, as data · `plans.py` plans with a name · `records.py` what is sent · `world.py` logs,
workers and the order of effects · `befalls.py` what each fault does · `worker.py` the real pipeline between a gate
and a Kafka of lists · `servers.py` the twin, or a real Redis · `checks.py`, `drained.py` what must hold ·
`happened.py` what really happened · `run.py` one plan · `shrink.py` the smallest plan that still fails ·
`mutations.py` protections taken out, and the test that then fails.

`python -m tests.faults 17` runs seed 17 and prints what it did; `--redis` on a real Redis, `--without NAME` with a
protection taken out.
"""
