"""Wait for work that a person asked for; where it takes long, say so and offer to wait no longer.

What is quick shows nothing. UI thread only.
"""

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import TypeVar

from PySide6.QtCore import QObject

from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.notify import Notifier, Waiting

T = TypeVar("T")

QUICK_S = 0.2
"""Up to this nothing is shown: it would only flash."""


class GivenUp(Exception):
    """Cancel was pressed. The work may still run to its end; its answer is wanted by nobody."""


class LongWork:
    """What is at work inside of a ``with``; told from `QUICK_S` on, with a Cancel that calls ``stop`` if there is one."""

    def __init__(self, notifier: Notifier, text: str, stop: Callable[[], None] | None = None) -> None:
        self._notifier = notifier
        self._text = text
        self._stop = stop
        self._waiting: Waiting | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> "LongWork":
        self._timer = asyncio.get_running_loop().call_later(QUICK_S, self._show)
        return self

    def _show(self) -> None:
        self._waiting = self._notifier.wait(self._text, self._stop)

    def say(self, text: str) -> None:
        """How far it is."""
        self._text = text
        if self._waiting is not None:
            self._waiting.say(text)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._waiting is not None:
            self._waiting.end()


async def patiently(bridge: Bridge, owner: QObject, notifier: Notifier, work: Coroutine[object, object, T], text: str) -> T:
    """The answer of ``work``, which changes nothing for anybody; ``text`` says what it does. Raises `GivenUp`, and what
    ``work`` raises."""
    answered: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    async def ask() -> None:
        try:
            found = await work
        except CoreError as error:
            if not answered.done():
                answered.set_exception(error)
        else:
            if not answered.done():
                answered.set_result(found)
        finally:
            answered.cancel()

    def give_up() -> None:
        if not answered.done():
            answered.set_exception(GivenUp())

    task = bridge.spawn(owner, ask(), name="look at files")
    try:
        with LongWork(notifier, text, give_up):
            return await answered
    finally:
        task.cancel()
