"""What is written for each chat and not sent: kept in memory as it is typed, stored a moment later, brought back on opening.

Text is stored, what was sent and waits to be said before what is being written; attachments live as long as the window. One
thing at a time is stored, the newest text of each chat. UI thread.
"""

import asyncio
import logging
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.views.composer import NOTHING, Written

STORE_AFTER_MS = 500

_log = logging.getLogger(__name__)


class Drafts(QObject):
    """Drafts of one window. ``known(chat, Written)``: what was stored of a chat that was asked for and not known yet.

    Invariant: what was typed is never replaced by what was stored before."""

    known = Signal(object, object)

    def __init__(self, core: Core, bridge: Bridge, notifier: Notifier, parent: QObject) -> None:
        super().__init__(parent)
        self._core = core
        self._bridge = bridge
        self._notifier = notifier
        self._kept: dict[ChatId, Written] = {}
        self._waiting: dict[ChatId, str] = {}
        self._unstored: dict[ChatId, None] = {}
        self._storing: asyncio.Task[None] | None = None
        self._failed: dict[ChatId, CoreError] = {}
        """Why what is written for a chat is not stored."""
        self._told: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(STORE_AFTER_MS)
        self._timer.timeout.connect(self.store_now)

    def of(self, chat: ChatId) -> Written | None:
        """What is written for a chat; None if nobody has looked yet: then ``known`` tells it."""
        kept = self._kept.get(chat)
        if kept is None:
            self._bridge.spawn(self, self._read(chat), name="read a draft")
        return kept

    def keep(self, chat: ChatId, written: Written) -> None:
        """This is written for the chat now."""
        former = self._kept.get(chat)
        self._kept[chat] = written
        if former is None or former.text != written.text:
            self._unstored[chat] = None
            self._timer.start()

    def wait(self, chat: ChatId, texts: Sequence[str]) -> None:
        """These were sent and wait to be said: they are stored too, so that the end of the program does not lose them."""
        waiting = "\n\n".join(text for text in texts if text.strip())
        if waiting != self._waiting.get(chat, ""):
            self._waiting[chat] = waiting
            self._unstored[chat] = None
            self._timer.start()

    def forget(self, chat: ChatId) -> None:
        """It was sent: nothing is written."""
        self.keep(chat, NOTHING)
        self.store_now()

    def drop(self, chat: ChatId) -> None:
        """The chat is gone."""
        for known in (self._kept, self._waiting, self._unstored, self._failed):
            known.pop(chat, None)

    def store_now(self) -> None:
        """Store what is not stored yet, without waiting for more."""
        self._timer.stop()
        if self._unstored and self._storing is None:
            self._storing = self._bridge.spawn(self, self._store(), name="store a draft", lasting=True)

    async def flush(self) -> CoreError | None:
        """Store everything, what failed before too; why something that is written could not be stored, if that is so."""
        self._unstored |= dict.fromkeys(self._failed)
        self._failed.clear()
        while self._unstored or self._storing is not None:
            self.store_now()
            if self._storing is not None:
                await asyncio.wait({self._storing})
        lost = (error for chat, error in self._failed.items() if self._waiting.get(chat) or self._kept.get(chat, NOTHING).text)
        return next(lost, None)

    async def _read(self, chat: ChatId) -> None:
        try:
            text = await self._core.chats.draft(chat)
        except CoreError as error:
            _log.info("the draft of a chat can't be read: %s", error.code)
            text = ""
        if chat not in self._kept:
            self._kept[chat] = Written(text)
            self.known.emit(chat, self._kept[chat])

    async def _store(self) -> None:
        try:
            while self._unstored:
                chat = next(iter(self._unstored))
                del self._unstored[chat]
                if chat not in self._kept:
                    await self._read(chat)  # what was written before is not lost for what waits
                waiting, written = self._waiting.get(chat, ""), self._kept.get(chat, NOTHING).text
                try:
                    await self._core.chats.set_draft(chat, "\n\n".join(one for one in (waiting, written) if one))
                except CoreError as error:
                    self._not_stored(chat, error)
                else:
                    self._failed.pop(chat, None)
        finally:
            self._storing = None

    def _not_stored(self, chat: ChatId, error: CoreError) -> None:
        _log.info("a draft was not stored: %s", error.code)
        self._failed[chat] = error
        if chat not in self._told:
            self._told.add(chat)  # once: it would be said again at every word
            self._notifier.toast(sentence(error).sentence, "error")
