"""Which state of a deployment is the live one: noted in Redis under `<prefix>:live`.

Rules:
- Of two output records the newer version is the truth, so versions must rise also when another state becomes
  the live one, and when the first one does again. Then the floors of that state rise above every version
  handed out before, by forgetting on which server process it last lived.
- Only workers make a state live. A rebuild beside it does not, and must not touch the one that is.
"""

from typing import Any

from streams.state.keys import Keys


async def live_state(client: Any, deployment: str) -> str:
    """The name of the live state; the deployment's own until another was made live."""
    noted = await client.get(_key(deployment))
    return deployment if noted is None else str(noted.decode())


async def go_live(client: Any, deployment: str, state: str, shards: int) -> bool:
    """Note that this state is the live one, to be opened next. True if another was."""
    if await live_state(client, deployment) == state:
        return False
    keys = Keys(state, shards)
    for number in range(shards):
        await client.hdel(f"{keys.base(number)}:meta", "run_id")
    await client.set(_key(deployment), state)
    return True


def _key(deployment: str) -> str:
    return f"{deployment}:live"
