"""An event loop without time, threads or input: it runs what is ready, in order, and says when nothing is.

So a task that waits, waits for the scheduler alone, and the same decisions give the same run.
"""

import asyncio
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any


class StepLoop(asyncio.AbstractEventLoop):
    """Enough of a loop for tasks, futures and locks."""

    def __init__(self) -> None:
        self._ready: deque[asyncio.Handle] = deque()

    def run_ready(self) -> None:
        """Run until every task waits for a future that somebody else must resolve."""
        events._set_running_loop(self)
        try:
            while self._ready:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            events._set_running_loop(None)

    def call_soon(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, Any], **_: Any) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=self)

    def get_debug(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Tasks are asked for their errors; what else is reported here is a mistake of the simulator."""
        if "task" not in context and "future" not in context:
            raise RuntimeError(context["message"]) from context.get("exception")


def run_at_once(effect: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits."""
    try:
        effect.send(None)
    except StopIteration as finished:
        return finished.value
    raise RuntimeError("an effect on the twin waited")
