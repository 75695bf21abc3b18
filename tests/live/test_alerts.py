"""Alerts, live: simulator → Kafka → workers → exporter → Prometheus → Alertmanager → webhook.

The rules, routes and thresholds are those of production; `deploy/values-short.yaml` shortens durations alone.
Windows stay as long as they are: what happens is stamped so that it soon leaves, or enters, its window.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from streams.commands.replay import KINDS, Record
from streams.commands.simulator import DEMO, simulate
from streams.services import free_port
from tests.live.fleet import Fleet, settings_for, start_lara
from tests.live.monitoring import Webhook, firing, listening, monitoring, short_values, silenced

MINUTE_MS = 60_000
SOON = 60.0  # seconds from a cause to its message
SPIKE = 80
# A product that does well: nothing is refused, dangles or is judged.
WELL = replace(
    DEMO,
    **{"retrieving_at_chat": 0.9, "retrieving_elsewhere": 0.9, "agent_acts": 0.8, "synthetic": 0.0},
    **{"turned_down": 0.01, "dangling": 0.0, "refuted": 0.0, "baseless": 0.0, "excluded": 0.0},
    **{"invalid": 0.0, "conflicting": 0.0, "judged": 0.0, "intended": 0.0, "skewed": 0.0},
    **{"silence": 2.0, "claimed": 12.0, "substituted": 0.0, "reformulated": 0.1, "needed": 0.0},
)


def stamped(events: list[dict]) -> list[Record]:
    """Records that reach the broker now, whenever their events happened."""
    now = int(time.time() * 1000)
    return [Record(KINDS[one["type"]], json.dumps(one).encode(), now) for one in events]


def background(seed: int) -> list[Record]:
    """An hour of a product that does well, until now."""
    now = int(time.time() * 1000)
    made, _ = simulate(seed=seed, start_ms=now - 60 * MINUTE_MS, end_ms=now, prompts=1500, rates=WELL)
    return [Record(one.topic_type + "s", one.value, now, one.key) for one in made]


def retrievals(role: str, ts: int, number: int, found: bool) -> Iterator[dict]:
    """Retrievals of one role on chat, all of one moment."""
    for n in range(number):
        one = f"{role}-{ts}-{n}"
        yield {
            **{
                "type": "retrieval",
                "retrieval_id": one,
                "request_id": f"q-{one}",
                "session_guid": f"s-{one}",
            },
            **{"ts": ts, "role": role, "surface": "chat", "query": f"words {n}"},
            "returned_asset_ids": [f"a{n}", f"b{n}"] if found else [],
        }


def rejections(searched: list[dict]) -> Iterator[dict]:
    """Every one of them refused by its user."""
    for one in searched:
        yield {
            **{
                "type": "action",
                "event_id": f"no-{one['retrieval_id']}",
                "actor": "user",
                "action": "reject",
            },
            **{"ts": one["ts"] + 2000, "session_guid": one["session_guid"], "request_id": one["request_id"]},
            **{"source_retrieval_id": one["retrieval_id"], "consumed_asset_id": one["returned_asset_ids"][0]},
            **{"surface": "chat", "placement_id": None},
        }


def used(searched: list[dict]) -> Iterator[dict]:
    """Every one of them selected by its user and used by the agent."""
    for one in searched:
        for actor, action in (("agent", "use"), ("user", "select")):
            yield {
                **{"type": "action", "event_id": f"{action}-{one['retrieval_id']}", "actor": actor},
                **{"action": action, "ts": one["ts"] + 1000, "session_guid": one["session_guid"]},
                **{"request_id": one["request_id"], "source_retrieval_id": one["retrieval_id"]},
                **{"consumed_asset_id": one["returned_asset_ids"][0], "surface": "chat"},
            }


def minute_that_leaves(window_minutes: int) -> int:
    """A time in the oldest minute of such a window, or in the next one if that leaves too soon to be seen."""
    now = time.time()
    oldest = int(now // 60) + 1 - window_minutes + (60 - now % 60 < 30)
    return oldest * MINUTE_MS + 20_000


async def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for it, and fail if it does not come."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.2)
    print(what)


async def until_heard(webhook: Webhook, status: str, names: set[str], since: float, seconds: float) -> None:
    """Exactly these alerts are told, each within the time."""
    try:
        await until(lambda: set(webhook.of(status, since)) >= names, seconds, "")
    except TimeoutError:
        pytest.fail(f"{status} in {seconds} s: {set(webhook.of(status, since))}, not {names}")
    await asyncio.sleep(3)  # whatever else comes with it
    found = webhook.of(status, since)
    assert set(found) == names
    print(f"{status}: " + ", ".join(f"{name} after {one.at - since:.1f} s" for name, one in found.items()))


@pytest.mark.prove
async def test_spikes_are_told_and_a_killed_fleet_silences_them(bootstrap, redis_url, prefix, tmp_path):
    """Quiet while all is well; two spikes fire their own alerts and end; a killed fleet is the only message."""
    began = time.monotonic()
    exporter, prometheus, alertmanager = free_port(), free_port(), free_port()
    settings = settings_for(bootstrap, redis_url, prefix).model_copy(
        update={"maturity_minutes": 1, "exporter_port": exporter}
    )
    with listening() as webhook, start_lara(settings, "exporter", log=tmp_path / "exporter.log"):
        async with Fleet(settings, tmp_path) as fleet:
            fleet.start(), fleet.start()
            await fleet.until_shared()
            await fleet.settle(background(seed=61))
            values = short_values(
                [worker.port for worker in fleet.workers], exporter, alertmanager, webhook.port
            )
            with monitoring(tmp_path, values, prometheus, alertmanager):
                await check_quiet(webhook, prometheus)
                await check_spikes(fleet, webhook, prometheus)
                await check_killed(fleet, webhook, prometheus, alertmanager)
    print(f"the whole took {time.monotonic() - began:.0f} s")
    assert time.monotonic() - began < 240


async def check_quiet(webhook: Webhook, prometheus: int) -> None:
    """Nothing fires but the watchdog, which is heard by its own receiver."""
    await until(lambda: any(one.receiver == "none" for one in webhook.heard), 30, "the watchdog is heard")
    for _ in range(15):
        assert firing(prometheus) == set()
        await asyncio.sleep(1)
    assert {(one.name, one.receiver) for one in webhook.heard} == {("LaraWatchdog", "none")}


async def check_spikes(fleet: Fleet, webhook: Webhook, prometheus: int) -> None:
    """Null results in one role, failures in another: their alerts, with numbers, and their end."""
    since = time.time()
    nulls = list(retrievals("browse", minute_that_leaves(5), SPIKE, found=False))
    refused = list(retrievals("act_on", minute_that_leaves(6), SPIKE, found=True))
    await fleet.settle(stamped([*nulls, *refused, *rejections(refused)]))
    names = {"LaraNullRateSpike", "LaraFailureRateSpike"}
    await until_heard(webhook, "firing", names, since, SOON)
    for name, role in (("LaraNullRateSpike", "browse"), ("LaraFailureRateSpike", "act_on")):
        one = webhook.of("firing", since)[name]
        assert (one.labels["role"], one.labels["surface"], one.receiver) == (role, "chat", "warning")
        assert "95 % interval" in one.annotations["summary"]
        print(one.annotations["summary"])
    recovered = time.time()
    now = int(recovered * 1000)
    fine = [
        one for role in ("browse", "act_on") for one in retrievals(role, now - 100_000, SPIKE, found=True)
    ]
    await fleet.settle(stamped([*fine, *used(fine)]))
    await until_heard(webhook, "resolved", names, since, 150)
    assert set(webhook.of("firing", since)) == names
    assert firing(prometheus) == set()


async def check_killed(fleet: Fleet, webhook: Webhook, prometheus: int, alertmanager: int) -> None:
    """Nobody reads; what then comes into the windows fires in Prometheus, and is told to nobody."""
    coming = (int(time.time() + 25) // 60 + 1) * MINUTE_MS  # the next minute that is not too near
    await fleet.settle(stamped(list(retrievals("browse", coming, 2 * SPIKE, found=False))))
    since = time.time()
    for worker in fleet.workers:
        worker.kill()
    await until_heard(webhook, "firing", {"LaraPipelineStalled"}, since, SOON)
    await until(lambda: "LaraNullRateSpike" in firing(prometheus), 100, "nulls fire in Prometheus")
    await until(lambda: "LaraNullRateSpike" in silenced(alertmanager), 10, "and are held back")
    await asyncio.sleep(4)
    assert set(webhook.of("firing", since)) == {"LaraPipelineStalled"}
