"""List the files of a review: one answer at a time, asked for again when something changed, and while the disk is looked at.

A newer request supersedes the older one; news during an answer is asked for once it is there, so that a stream of news never
starves it. UI thread only.
"""

import logging
import time

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Diffs
from vibekit_desktop.core.types.checkpoints import Now, Point
from vibekit_desktop.core.types.diffs import Compare
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence

Wanted = tuple[ChatId, Point, Point, Compare]

LOOK_MS = 2_000
"""The disk is looked at so often at most."""
_SHARE = 20
"""And so much less often than looking takes, so that looking never is more than a small part of the work."""
_PATIENCE = 5
"""After a failure so many times less often."""

_log = logging.getLogger(__name__)


class ReviewFiles(QObject):
    """``listed(wanted, diffs)``: every file that differs; ``failed(text)``: it could not be told.

    Invariant: what is listed was asked for last. What was listed stays good when it cannot be told once more."""

    listed = Signal(object, object)
    failed = Signal(object)

    def __init__(self, bridge: Bridge, diffs: Diffs, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._diffs = diffs
        self._wanted: Wanted | None = None
        self._token = 0
        self._asking = False
        self._news = False
        self._known = False
        """Whether what is wanted was listed already."""
        self._look = QTimer(self)
        self._look.setSingleShot(True)
        self._look.setInterval(LOOK_MS)
        self._look.timeout.connect(self._look_again)

    @property
    def wanted(self) -> Wanted | None:
        """What was asked for last."""
        return self._wanted

    @property
    def goes_on(self) -> bool:
        """Whether the same is asked once more, because there was news meanwhile."""
        return self._news

    def ask(self, wanted: Wanted) -> None:
        """List other files, or with something else ignored."""
        self._wanted = wanted
        self._known = False
        self._start()

    def again(self) -> None:
        """Something changed: the same once more."""
        if self._asking:
            self._news = True
        elif self._wanted is not None:
            self._start()

    def stop(self) -> None:
        """Nothing is wanted any more."""
        self._wanted = None
        self._token += 1
        self._asking = self._news = False
        self._look.stop()

    def _start(self) -> None:
        assert self._wanted is not None
        self._token += 1
        self._asking, self._news = True, False
        self._look.stop()
        self._bridge.spawn(self, self._ask(self._wanted, self._token), name="list changed files")

    async def _ask(self, wanted: Wanted, token: int) -> None:
        chat, old, new, compare = wanted
        began = time.monotonic()
        try:
            found = await self._diffs.files(chat, old, new, (), compare=compare)
        except CoreError as error:
            if token == self._token:
                self._asking = False
                if self._known:
                    _log.info("changed files not listed again: %s", error.code)
                    self._look.start(LOOK_MS * _PATIENCE)
                else:
                    self.failed.emit(sentence(error))
            return
        finally:
            if token == self._token:
                self._asking = False
        if token != self._token:
            return
        self._known = True
        took_ms = round((time.monotonic() - began) * 1000)
        self.listed.emit(wanted, found)
        if token != self._token:
            return
        if self._news:
            self._start()
        elif new == Now():
            self._look.start(max(LOOK_MS, took_ms * _SHARE))

    def _look_again(self) -> None:
        page = self.parent()
        if isinstance(page, QWidget) and page.isVisible() and not page.window().isMinimized():
            self.again()
        else:
            self._look.start()
