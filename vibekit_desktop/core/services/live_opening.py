"""The starts of an agent that are under way: several may wait for one, and only who says so ends it. Loop thread."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from vibekit_desktop.core.types.agent_errors import AgentFailed

T = TypeVar("T")


class Openings:
    """Those of one agent. Invariant: each is ended at most once, so that it can clear up behind itself."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def begin(self, work: Coroutine[None, None, T], name: str) -> "asyncio.Task[T]":
        """Start something that goes on also if nobody waits for it any more."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # whoever asked may have gone
        return task

    def cancel(self) -> set[asyncio.Task[object]]:
        """End all; those that are being ended now."""
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        return tasks


async def wait_for(task: "asyncio.Task[T]", name: str) -> T:
    """What comes of a start; `AgentFailed` if somebody ended it."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        me = asyncio.current_task()
        if task.cancelled() and (me is None or not me.cancelling()):
            raise AgentFailed(name, "start", "stopped") from None
        raise
