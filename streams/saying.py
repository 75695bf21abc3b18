"""Outputs that a lost piece of state had said are said again, as they are now.

Theory. A server that restarts may lose its last writes, after outputs made from them were published. Read
again, the same records need not pass through the same states: what was published in between may stay the
newest of its key, and be wrong. So every key published since the state's last surviving commit is given a
new version, above the floor and above all that were published, and its output is due again. (The floor alone
is above them only if the clock is: another worker's may have been ahead.)

Rules:
- The need is noted in the state when its floor rises, and taken back when all has been said again: a worker
  that dies half way leaves it to the next.
- An action that is not there any more is said to be withdrawn. A retrieval comes again with its record.
"""

from collections.abc import Mapping
from typing import Final

from attribution.engine import Write
from attribution.entities import NOBODY, key_of
from attribution.outputs import ATTRIBUTIONS, OUTCOMES
from streams.publisher import Publisher
from streams.state.store import Store, Term

PAGE: Final = 500  # entities
SKEW_MS: Final = 600_000  # by which clocks of workers may differ, and a batch may take
KINDS: Final[Mapping[str, str]] = {ATTRIBUTIONS: "action", OUTCOMES: "retrieval"}
SPOKEN: Final = tuple(f"{kind}:" for kind in KINDS.values())
SWEPT_NEXT: Final = "0/again"  # a mark so old that the next sweep publishes it


async def say_again_since_loss(store: Store, publisher: Publisher, term: Term) -> int:
    """Make everything due that may have been said in vain; returns how many keys. Raises `Refused`."""
    since = await store.unsaid()
    if since is None:
        return 0
    versions: dict[str, int] = {}
    async for topic, name, version in publisher.since(max(0, since - SKEW_MS)):
        if topic in KINDS:
            key = key_of(KINDS[topic], name)
            versions[key] = max(version, versions.get(key, 0))
    await say_again(store, versions, term)
    await store.said(term)
    return len(versions)


async def say_again(store: Store, versions: Mapping[str, int], term: Term) -> None:
    """Give these entities a version above the published one, and make their outputs due. Raises `Refused`."""
    waiting = sorted(versions)
    while waiting:
        page, waiting = waiting[:PAGE], waiting[PAGE:]
        known = await store.load(page)
        writes = []
        for key in page:
            entity = known.get(key, NOBODY)
            version = max(entity.version + 1, versions[key] + 1, term.floor(key))
            writes.append(Write(key, entity.version, entity._replace(version=version), {}, due=True))
        waiting += await store.save(writes, term, SWEPT_NEXT)
