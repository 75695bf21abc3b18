"""Dead letters on real Kafka and real Redis: listed, shown, and sent again."""

import json
import time

from redis import Redis

from attribution.outputs import OUTCOMES
from streams.commands.replay import Record
from streams.settings import Settings
from streams.topic_logs import Logs
from streams.topics import input_topics
from tests.building import encoded, retrieval
from tests.live.fleet import Fleet, ended, figures_of, lara, newest_outputs, records_of, row, settings_for

LONGEST = 1_048_380  # bytes of a value with which a record is still within the 1 MiB of brokers and producers


def now_ms(days: float = 0) -> int:
    return int((time.time() - 86_400 * days) * 1000)


async def test_dead_letters_are_listed_shown_and_sent_again(bootstrap, redis_url, prefix, tmp_path):
    """Late events count once they are sent as on time, once only; what is no event stays refused."""
    own = settings_for(bootstrap, redis_url, prefix)
    found = {**retrieval("r1", ["a1"]), "ts": now_ms(10), "surface": "chat"}
    broken = Record("actions", b'{"type":"action","actor":"nobody"}', now_ms())
    reused = {**retrieval("r1", ["a9"], event_id="other"), "ts": now_ms(9)}
    async with Fleet(own, tmp_path) as fleet:
        fleet.start()
        await fleet.settle([*records_of(found, behind_ms=8 * 86_400_000), broken])
        code, printed, said = await ended(own, "deadletters", "list", "--json")
        assert code == 0, said
        listed = json.loads(printed)
        assert {(one["reason"], one["type"], one["topic"], one["count"]) for one in listed["counts"]} == {
            ("late", "retrieval", f"{prefix}.retrievals", 1),
            ("out_of_range", "action", f"{prefix}.actions", 1),
        }
        key = next(one["key"] for one in listed["letters"] if one["reason"] == "late")
        code, printed, _ = await ended(own, "deadletters", "list", "--reason", "late")
        assert ("late" in printed, "out_of_range" in printed, key[:40] in printed) == (True, False, True)
        code, printed, _ = await ended(own, "deadletters", "list", "--since", str(now_ms() + 60_000))
        assert printed == "no dead letters\n"

        code, printed, _ = await ended(own, "deadletters", "show", key[:12])
        assert ("still there, with the same SHA-256" in printed, "returned_asset_ids" in printed) == (
            True,
            False,
        )
        code, printed, _ = await ended(own, "deadletters", "show", key[:12], "--payload")
        assert encoded(found).decode() in printed
        code, _, said = await ended(own, "deadletters", "show", "nothing")
        assert (code, "lara deadletters list" in said) == (1, True)

        count = await records_in(own, "retrievals")
        code, printed, _ = await ended(own, "deadletters", "replay")
        assert "1  not sent: would be late again" in printed
        assert "1  not sent: would be refused again" in printed
        code, printed, _ = await ended(own, "deadletters", "replay", "--as-on-time", "--dry-run")
        assert ("1  sent again" in printed, "nothing was sent" in printed) == (True, True)
        assert await records_in(own, "retrievals") == count
        for time_sent in (1, 2):
            code, printed, said = await ended(
                own, "deadletters", "replay", "--reason", "late", "--as-on-time"
            )
            assert (code, "1  sent again" in printed) == (0, True), said
            assert await records_in(own, "retrievals") == count + time_sent
        await fleet.until_drained(await all_ends(own))
        rows = figures_of(lara(own, "report", "--json"))
        assert (
            rows[row("lara_retrievals", window="all", cohort="live", role="unspecified", surface="chat")] == 1
        )

        await fleet.settle(records_of(reused))
        code, printed, _ = await ended(own, "deadletters", "replay", "--reason", "retrieval_id_reused")
        assert "1  not sent: its id belongs to another event" in printed
        with Redis.from_url(redis_url) as client:  # as if the state had begun long ago
            client.hset(f"{prefix}:{{s00}}:meta", "began", 1)
        code, printed, _ = await ended(own, "deadletters", "replay", "--reason", "late", "--as-on-time")
        assert "1  sent again" in printed
        state = own.model_copy(update={"outage_days": 1})
        code, printed, _ = await ended(state, "deadletters", "replay", "--reason", "late", "--as-on-time")
        assert "1  not sent: so old that" in printed


async def test_an_event_as_long_as_kafka_allows_stops_nothing(bootstrap, redis_url, prefix, tmp_path):
    """What is told of it must fit into a record too: else it would be tried for ever."""
    query = b'{"type":"retrieval","retrieval_id":"r1","session_guid":"s1","ts":%d,"query":"%s"}'
    verb = b'{"type":"action","event_id":"x1","session_guid":"s1","actor":"user","ts":%d,"action":"%s"}'
    own = settings_for(bootstrap, redis_url, prefix).model_copy(update={"deadletter_payloads": True})
    kinds, ts = (("retrievals", query), ("actions", verb)), now_ms()
    records = [Record(kind, form % (ts, b"q" * LONGEST), ts) for kind, form in kinds]
    async with Fleet(own, tmp_path) as fleet:
        fleet.start()
        await fleet.settle([*records, Record("actions", b"\xff" * LONGEST, ts)])
        assert fleet.workers[0].process.poll() is None
        assert (await newest_outputs(own))[OUTCOMES]["r1"]["left_out"] == ["query"]


async def records_in(settings: Settings, kind: str) -> int:
    ends = await all_ends(settings)
    return sum(end for (topic, _), end in ends.items() if topic == f"{settings.prefix}.{kind}")


async def all_ends(settings: Settings) -> dict[tuple[str, int], int]:
    async with Logs(settings.bootstrap) as logs:
        found = await logs.whole(input_topics(settings.prefix).values())
    return {tuple(one): bound.end for one, bound in found.items()}
