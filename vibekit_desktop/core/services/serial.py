"""One operation at a time per vault, never cancelled half-way.

The kernels are plain blocking code without locks; this is where they get a thread and an order. Loop thread only.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


async def durably(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread. If the caller is cancelled, wait for the thread first and then raise the cancellation.

    A bare ``await to_thread`` lets go of the caller's lock while the thread still writes.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            try:
                await asyncio.wait({running})
            except asyncio.CancelledError:
                continue  # a second cancellation changes nothing: the write must end first
        if not running.cancelled():
            running.exception()  # retrieved, so that it is not reported as lost
        raise


class Serial:
    """Locks by key (a vault's id). Invariant: the holders of one key never overlap."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Wait for the turn of ``key``. Never await the user while holding it."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            yield
