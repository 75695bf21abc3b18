"""Plans with a name: what was found once and must never come back, and what seeds meet too seldom.

Each was made small by `shrink.py`; `test_faults.py` runs them all.
"""

from collections.abc import Mapping
from typing import Final

from tests.faults.plan import Fault, Plan, Sent, plan_of

RETRIEVAL: Final = '{"type":"retrieval","ts":1772445660000,"retrieval_id":"r1","session_guid":"s1"}'
LATER: Final = (
    '{"type":"retrieval","ts":1772445720000,"retrieval_id":"r1","session_guid":"s1","surface":"gallery"}'
)
PROMPT: Final = '{"type":"prompt","ts":1772445660000,"request_id":"q1","session_guid":"s1"}'
PROBE: Final = '{"type":"prompt","ts":1772445300000,"request_id":"q1","session_guid":"probe-1"}'
SHOW: Final = '{"type":"action","ts":1772445960001,"actor":"agent","action":"show","session_guid":"s2","request_id":"q1"}'
STANDING: Final = '{"type":"action","ts":1772445900000,"event_id":"export","actor":"user","action":"export","session_guid":"s1"}'
SENT_MS: Final = 1_772_446_000_000


def act(verb: str) -> str:
    """A user's action on the retrieval."""
    return (
        f'{{"type":"action","ts":1772445960000,"event_id":"{verb}","actor":"user","action":"{verb}",'
        '"session_guid":"s1","source_retrieval_id":"r1"}'
    )


def sent(*values: str, partition: int = 0, wave: int = 0) -> tuple[Sent, ...]:
    """These records, one after the other."""
    return tuple(Sent(partition, value, SENT_MS, wave) for value in values)


PLANS: Final[Mapping[str, Plan]] = {
    # A batch, a new term that says again what was lost, and a sweep that publishes what a crash left.
    "every effect": Plan(
        (*sent(RETRIEVAL, act("export")), *sent(act("reject"), wave=1)),
        (Fault(0, "crash", effect="clear"), Fault(50, "restart", 20), Fault(60, "crash", effect="clear")),
        sizes=(1, 2),
    ),
    "two workers at once": Plan(
        (*sent(RETRIEVAL, act("export")), *sent(LATER, act("share"), partition=1)),
        workers=2,
        partitions=2,
        turns=True,
    ),
    # One worker saves the later record and is held; the other saves the one that stands, and tells the session.
    "an older statement that arrives late": Plan(
        (*sent(LATER), *sent(RETRIEVAL, partition=1)), (Fault(16, "hold", 60),), workers=2, partitions=2
    ),
    # Read again in one batch, the retrieval is written seldomer than before; the letter holds the higher count.
    "a letter of lost state that arrives late": Plan(
        sent(act("export"), act("share"), act("download"), RETRIEVAL, act("reject")),
        (Fault(53, "crash", 300, effect="publish"), Fault(54, "restart", 37)),
        sizes=(1, 1, 1, 1, 100),
    ),
    # The export was credited; read again in one batch with the record that stands, it never is. Nobody but the
    # new term says so; with a version below what was published, if only the clock gives it.
    "what lost state had said": Plan(
        sent(RETRIEVAL, act("export"), STANDING),
        (Fault(32, "restart", 12, effect="fetch"),),
        sizes=(1, 1, 1, 100),
    ),
    "a clock that was set back before a restart": Plan(
        sent(RETRIEVAL, act("export"), STANDING),
        (Fault(0, "clock", -20, effect="fetch"), Fault(32, "restart", 32, effect="fetch")),
        sizes=(1, 1, 1, 100),
    ),
    "a server that restarts in the middle of a batch": Plan(
        sent(RETRIEVAL, act("export"), act("reject")),
        (Fault(34, "restart", 12),),
        workers=2,
        partitions=2,
        sizes=(1,),
    ),
    # One worker is held before it takes its mark back; another renews the mark, and dies before it publishes.
    "a mark that is renewed meanwhile": Plan(
        (*sent(RETRIEVAL), *sent(act("export"), partition=1)),
        (Fault(0, "hold", 60, effect="clear"), Fault(25, "crash", effect="publish")),
        workers=2,
        partitions=2,
    ),
    "a restart while idle": Plan(sent(RETRIEVAL), (Fault(60, "restart", 40),)),
    "a crash before the dead letters": Plan(sent("{"), (Fault(0, "crash", effect="publish"),)),
    "days between two records": Plan(
        (*sent(RETRIEVAL), *sent(act("export"), wave=1)), (Fault(30, "days", 9),)
    ),
    # The action is told of its request, which is excluded, by a worker that dies before its record is saved.
    "a show that was never announced": Plan(
        (*sent(PROMPT), *sent(SHOW, PROMPT, PROBE, partition=1)),
        (Fault(16, "crash", worker=1), Fault(24, "crash")),
        workers=2,
        partitions=2,
        sizes=(100,),
        turns=True,
    ),
}


def plan_called(name: str) -> Plan:
    """The plan of a seed, or of that name."""
    return plan_of(int(name)) if is_seed(name) else PLANS[name]


def is_seed(name: str) -> bool:
    """Is it the number of a seed?"""
    return name.isdecimal()
