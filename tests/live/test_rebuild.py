"""A state that is rebuilt beside the live one, on real Kafka and real Redis; switching over, and back."""

import asyncio
import json
import os
import time

import pytest

from streams.commands.replay import Record, send
from streams.connections import store_of
from tests.building import prompt, retrieval
from tests.live.fleet import (
    LARA,
    Fleet,
    ended,
    environment_of,
    newest_outputs,
    records_of,
    settings_for,
    start_lara,
)
from tests.live.test_main_job import simulated

END = 1_772_445_600_000 + 26 * 3_600_000
SEARCH = retrieval("r1", ["a1"])


async def test_a_rebuilt_state_says_the_same_and_one_setting_switches_over_and_back(
    bootstrap, redis_url, prefix, tmp_path
):
    """Figures equal row by row, no output published again; the outputs of both are in order of their versions."""
    some = simulated(seed=12, prompts=300)
    half = len(some) // 2
    own = settings_for(bootstrap, redis_url, prefix)
    rebuilt = own.model_copy(update={"state_prefix": f"{prefix}-rebuilt"})
    async with Fleet(own, tmp_path) as fleet:
        old = fleet.start()
        await fleet.settle(some[:half])
        before = await newest_outputs(own)
        code, printed, said = await ended(own, "rebuild")
        assert code == 0, said
        assert f"rebuilding {prefix} into {prefix}-rebuilt: {half:,} records in the log\n" in said
        assert f"caught up: {half:,} of {half:,} records (100.0 %)" in said
        assert f"LARA_STATE_PREFIX={prefix}-rebuilt" in printed
        code, printed, _ = await ended(own, "report", "--compare", f"{prefix}-rebuilt", "--as-of", str(END))
        assert (code, printed.endswith(" rows are equal, 0 differ\n")) == (0, True)
        assert await newest_outputs(own) == before, "nothing is published by a rebuild"
        assert old.terminate() == 0

        for state in (rebuilt, own, rebuilt):  # over, back, and over again
            fleet.settings, fleet.store = state, store_of(state)
            versions = newest_version(await newest_outputs(own))
            worker = fleet.start()
            await fleet.settle(unseen())
            assert newest_version(await newest_outputs(own)) > versions
            assert worker.terminate() == 0
        code, printed, said = await ended(rebuilt, "audit")
        assert code == 0, printed + said


def newest_version(outputs) -> int:
    return max(body["version"] for body in outputs["outcomes"].values())


def unseen() -> list[Record]:
    """A retrieval that nobody has seen."""
    now = int(time.time() * 1000)
    return records_of({**retrieval(f"new-{now}", ["a"]), "ts": now})


async def test_a_rebuild_that_is_stopped_goes_on_where_it_was(bootstrap, redis_url, prefix, tmp_path):
    """Code 1 when it is stopped, and the second run reads only what the first did not."""
    some = simulated(seed=13, prompts=2500)
    own = settings_for(bootstrap, redis_url, prefix)
    async with Fleet(own, tmp_path) as fleet:
        ends = await send(bootstrap, prefix, some)
        fleet.store = store_of(own.model_copy(update={"state_prefix": f"{prefix}-new"}))
        with (tmp_path / "rebuild.log").open("wb") as out:
            first = await asyncio.create_subprocess_exec(
                *LARA, "rebuild", "--prefix", f"{prefix}-new",
                env={**os.environ, **environment_of(own)}, stdout=out, stderr=out,
            )  # fmt: skip
            async with asyncio.timeout(60):
                while await fleet.settled() < 500:
                    await asyncio.sleep(0.05)
            first.terminate()
            assert await first.wait() == 1
        done = await fleet.settled()
        assert 500 <= done < len(some)
        code, _, said = await ended(own, "rebuild", "--prefix", f"{prefix}-new")
        assert code == 0, said
        left = len(some) - done
        assert f"caught up: {left:,} of {left:,} records" in said
        await fleet.until_drained(ends)
        code, _, said = await ended(own, "report", "--compare", f"{prefix}-new")
        assert (code, f"there is no state {prefix}\n" in said) == (1, True), (
            "nothing was written to the live one"
        )


async def test_a_rebuild_that_follows_and_publishes_is_a_worker_beside_the_others(
    bootstrap, redis_url, prefix, tmp_path
):
    """Every output once more with a higher version, new events too, and code 0 when it is asked to stop."""
    own = settings_for(bootstrap, redis_url, prefix)
    async with Fleet(own, tmp_path) as fleet:
        fleet.start()
        await fleet.settle(records_of(SEARCH))
        before = (await newest_outputs(own))["outcomes"]["r1"]
        log = tmp_path / "rebuild.log"
        with start_lara(own, "rebuild", "--publish", "--follow", log=log) as following:
            fleet.store = store_of(own.model_copy(update={"state_prefix": f"{prefix}-rebuilt"}))
            await fleet.until_drained(fleet.ends)
            again = (await newest_outputs(own))["outcomes"]["r1"]
            assert again["version"] > before["version"]
            assert {**again, "version": 0} == {**before, "version": 0}
            await fleet.settle(unseen())
            following.terminate()
            assert following.wait(timeout=15) == 0
    assert "caught up" in log.read_text()


@pytest.mark.parametrize("name", ["", "-live"])
async def test_a_rebuild_into_the_live_state_is_refused(bootstrap, redis_url, prefix, tmp_path, name):
    """Neither into that of the settings nor into that of the workers: outputs would be swallowed."""
    own = settings_for(bootstrap, redis_url, prefix)
    async with Fleet(own.model_copy(update={"state_prefix": f"{prefix}{name}"}), tmp_path) as fleet:
        fleet.start()
        fleet.store = store_of(fleet.settings)
        await fleet.settle(records_of(SEARCH))
        code, _, said = await ended(own, "rebuild", "--prefix", f"{prefix}{name}")
        assert (code, f"{prefix}{name} is the live state" in said) == (2, True)


async def test_a_comparison_says_what_differs_and_under_which_meaning(bootstrap, redis_url, prefix, tmp_path):
    """A state that was counted by another rule: the rule is named, the rows that it moved are listed."""
    own = settings_for(bootstrap, redis_url, prefix)
    other = own.model_copy(update={"surfaces": ("chat",)})
    async with Fleet(own, tmp_path) as fleet:
        fleet.start()
        await fleet.settle(records_of(prompt(), retrieval("r1", ["a1"], surface="gallery")))
        changed = {**environment_of(own), "LARA_SURFACES": "chat"}
        process = await asyncio.create_subprocess_exec(
            *LARA, "rebuild", env={**os.environ, **changed}, stderr=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert await process.wait() == 0
        arguments = ("report", "--compare", f"{prefix}-rebuilt", "--as-of", "2026-03-03", "--json")
        code, printed, said = await ended(own, *arguments)
        found = json.loads(printed)
        assert code == 1
        assert '`surfaces` was ["chat"], is' in said
        rows = {(one["figure"], one["labels"].get("surface")) for one in found["differing"]}
        assert {("lara_retrievals", "gallery"), ("lara_retrievals", "other")} <= rows
        assert found["equal"] > 0
    assert other.semantics != own.semantics
