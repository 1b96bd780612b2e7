"""Notice that files of the open chat changed on disk while somebody looks at the window: Now must not lie.

Sizes and times are asked for every few seconds, by a thread of the core; on a large chat less often, so that looking never
takes more than a small part of the time. UI thread only.
"""

import time
from collections.abc import Callable, Coroutine

from PySide6.QtCore import QObject, QTimer, Signal

from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge

MarkOf = Callable[[ChatId], Coroutine[object, object, int]]

EVERY_MS = 2000
SHARE = 20
"""One part of so many is spent looking, at most."""


class DiskWatch(QObject):
    """Looks at a chat's files until it is stopped. ``mark_of`` is `Checkpoints.disk_mark`; ``seen`` says whether somebody can
    see what would change. ``changed()``: the files may be others than at the mark it was started with; it is told once, and it
    looks on after the next `start`."""

    changed = Signal()

    def __init__(
        self,
        bridge: Bridge,
        mark_of: MarkOf,
        seen: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._mark_of = mark_of
        self._bridge = bridge
        self._seen = seen
        self._chat: ChatId | None = None
        self._mark = 0
        self._turn = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.look)

    def start(self, chat: ChatId, mark: int) -> None:
        """Look from now on whether ``mark`` still holds."""
        self._turn += 1
        self._chat, self._mark = chat, mark
        self._timer.start()

    def stop(self) -> None:
        """Nobody wants to know."""
        self._turn += 1
        self._chat = None
        self._timer.stop()

    def look(self) -> None:
        """Look now, if somebody can see what would change."""
        if self._chat is None:
            return
        if self._seen():
            self._bridge.spawn(self, self._compare(self._chat, self._mark, self._turn), name="look at the files")
        else:
            self._timer.start(EVERY_MS)

    async def _compare(self, chat: ChatId, mark: int, turn: int) -> None:
        begun = time.monotonic()
        try:
            now = await self._mark_of(chat)
        except CoreError:
            now = mark  # whoever reads it whole says what is wrong
        if turn != self._turn:
            return
        if now != mark:
            self._chat = None
            self.changed.emit()
        else:
            self._timer.start(max(EVERY_MS, round((time.monotonic() - begun) * 1000 * SHARE)))
