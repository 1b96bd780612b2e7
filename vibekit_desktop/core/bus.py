"""Deliver typed events, in order, on the loop thread; a bad handler harms only itself.

An event that a handler publishes is delivered after the present one. Publishing from another thread is a `BugError`.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from vibekit_desktop.core.types.errors import BugError
from vibekit_desktop.core.types.events import Event

E = TypeVar("E", bound=Event)

_log = logging.getLogger(__name__)


class _Subscribed:
    """One handler of one event type. Invariant: called only while it is open."""

    def __init__(self, bus: "Bus", kind: type[object], call: Callable[[Event], None]) -> None:
        self._bus = bus
        self.kind = kind
        self.call = call
        self.open = True

    def close(self) -> None:
        if self.open:
            self.open = False
            self._bus._drop(self)


class Bus:
    """Handlers by event type, and a queue. Invariant: all handlers of one event run before any of the next."""

    def __init__(self) -> None:
        self._handlers: dict[type[object], list[_Subscribed]] = {}
        self._queue: deque[Event] = deque()
        self._delivering = False
        self._thread = threading.get_ident()

    def adopt_thread(self) -> None:
        """The calling thread is the loop thread from now on."""
        self._thread = threading.get_ident()

    @property
    def subscriptions(self) -> int:
        """How many subscriptions are open; tests check that none is left behind."""
        return sum(len(handlers) for handlers in self._handlers.values())

    def subscribe(self, kind: type[E], handler: Callable[[E], None]) -> _Subscribed:
        """Call ``handler`` for every event of exactly ``kind`` until the subscription is closed."""

        def call(event: Event) -> None:
            if isinstance(event, kind):
                handler(event)

        subscribed = _Subscribed(self, kind, call)
        self._handlers.setdefault(kind, []).append(subscribed)
        return subscribed

    def publish(self, event: Event) -> None:
        """Deliver ``event`` to its handlers; only on the loop thread, only after the change it tells of is durable."""
        if threading.get_ident() != self._thread:
            raise BugError("published outside the loop thread")
        self._queue.append(event)
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._queue:
                self._deliver(self._queue.popleft())
        finally:
            self._delivering = False

    def _deliver(self, event: Event) -> None:
        for subscribed in tuple(self._handlers.get(type(event), ())):
            if not subscribed.open:
                continue
            try:
                subscribed.call(event)
            except Exception:
                # One face's fault must not keep the news from the others; the log record fails tests.
                _log.exception("handler of %s failed", type(event).__name__)

    def _drop(self, subscribed: _Subscribed) -> None:
        handlers = self._handlers.get(subscribed.kind, [])
        if subscribed in handlers:
            handlers.remove(subscribed)
