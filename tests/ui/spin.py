"""Run a coroutine while Qt's events are processed, and wait for a condition instead of for time."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TypeVar

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget

T = TypeVar("T")


@contextmanager
def own_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop for one test: widgets may start tasks at any moment of it. What still runs at the end is cancelled."""
    # A policy of its own: other tests' loops are neither seen nor lost.
    former = asyncio.get_event_loop_policy()
    asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield loop
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()
        asyncio.set_event_loop_policy(former)


def bury(widget: QWidget) -> None:
    """Destroy a widget now: a closed one would still have timers that start tasks in a later test."""
    widget.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


async def until(condition: Callable[[], bool], *, limit_s: float = 10.0) -> None:
    """Let Qt and asyncio work until ``condition`` holds."""
    end = time.monotonic() + limit_s
    while True:
        QApplication.processEvents()
        await asyncio.sleep(0)
        if condition():
            return
        if time.monotonic() > end:
            raise AssertionError("the condition did not come true")


async def settle(rounds: int = 12) -> None:
    """Let everything that is due run."""
    for _ in range(rounds):
        QApplication.processEvents()
        await asyncio.sleep(0)


def run(job: Coroutine[object, object, T]) -> T:
    """Run one coroutine to its end on the test's loop; widgets given up in it are gone afterwards."""
    result = asyncio.get_event_loop().run_until_complete(job)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QApplication.processEvents()
    return result
