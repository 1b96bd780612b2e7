"""Tie subscriptions to the lives of Qt objects, and start tasks that cannot fail silently.

A subscription and a task belong to an owner and end with it. UI thread only, under the running event loop.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TypeVar

from PySide6.QtCore import QObject

from vibekit_desktop.core.api import Events, Subscription
from vibekit_desktop.core.types.events import Event

E = TypeVar("E", bound=Event)
T = TypeVar("T")

Report = Callable[[str, BaseException], None]

_log = logging.getLogger(__name__)


class Bridge:
    """What ties the window to the core. Invariant: nothing runs for an owner that is gone.

    ``report`` is told the task's name and the error of every task that fails; without one the error is logged. After `close` no
    news comes and nothing begins: a task of the window must not outlive the loop.
    """

    def __init__(self, events: Events, *, report: Report | None = None) -> None:
        self._events = events
        self.report = report
        self._tasks: set[asyncio.Task[object]] = set()
        self._lasting: set[asyncio.Task[object]] = set()
        self._by_owner: dict[int, set[asyncio.Task[object]]] = {}
        self._subscriptions: dict[int, Subscription] = {}
        self._closed = False

    def subscribe(self, owner: QObject, kind: type[E], handler: Callable[[E], None]) -> None:
        """Call ``handler`` for every event of ``kind`` until ``owner`` is destroyed."""
        subscription = self._events.subscribe(kind, handler)
        key = id(subscription)
        self._subscriptions[key] = subscription
        owner.destroyed.connect(lambda: self._unsubscribe(key))

    def _unsubscribe(self, key: int) -> None:
        subscription = self._subscriptions.pop(key, None)
        if subscription is not None:
            subscription.close()

    def spawn(
        self, owner: QObject, coro: Coroutine[object, object, T], *, name: str, lasting: bool = False
    ) -> "asyncio.Task[T]":
        """Run ``coro``; its error is reported, and it is cancelled when ``owner`` is destroyed. ``lasting``: the end of the
        program waits for it a while."""
        task = asyncio.get_event_loop().create_task(coro, name=name)
        key = id(owner)
        mine = self._by_owner.get(key)
        if mine is None:
            mine = self._by_owner[key] = set()
            owner.destroyed.connect(lambda: self._owner_gone(key))
        mine.add(task)
        self._tasks.add(task)
        if lasting:
            self._lasting.add(task)
        task.add_done_callback(lambda done: self._finished(key, done))
        if self._closed:
            task.cancel()
        return task

    def close(self) -> None:
        """The window is gone: no news comes any more, and nothing new begins. What runs goes on; see `cancel_all`."""
        self._closed = True
        for key in tuple(self._subscriptions):
            self._unsubscribe(key)

    def cancel_all(self, *, lasting: bool = False) -> None:
        """Cancel every task that still runs, those that are to be waited for only with ``lasting``; for the end of the
        program."""
        for task in tuple(self._tasks if lasting else self._tasks - self._lasting):
            task.cancel()

    @property
    def running(self) -> int:
        """How many tasks have not ended."""
        return len(self._tasks)

    def _owner_gone(self, key: int) -> None:
        for task in self._by_owner.pop(key, set()):
            if not task.get_loop().is_closed():  # else it was destroyed with the program, and nobody could be told
                task.cancel()

    def _finished(self, key: int, task: "asyncio.Task[object]") -> None:
        self._tasks.discard(task)
        self._lasting.discard(task)
        self._by_owner.get(key, set()).discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        if self.report is not None:
            self.report(task.get_name(), error)
        else:
            _log.error("task %s failed", task.get_name(), exc_info=error)
