"""A deterministic simulator: the real pipeline, engine and stores, driven through seeded schedules of faults.

`plan.py` what happens, as data · `records.py` what is sent · `world.py` logs, workers and the order of effects
· `worker.py` the real pipeline between a gate and a Kafka of lists · `servers.py` the twin, or a real Redis
· `checks.py` what must hold · `run.py` one plan, many seeds · `shrink.py` the smallest plan that still fails.

`python -m tests.faults 17` runs seed 17 and prints what it did; `--redis` on a real Redis.
"""
