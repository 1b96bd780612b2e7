"""The chat that is open: read it, read its timeline, and read both again when something changed.

A newer opening supersedes an older one by token; what comes late is dropped. Knows no view: what was read is told by signals.
UI thread only.
"""

import asyncio
import logging

from PySide6.QtCore import QObject, QTimer, Signal

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.chats import ChatHeader, ChatView
from vibekit_desktop.core.types.checkpoints import Now, Start, Timeline
from vibekit_desktop.core.types.errors import ChatDamaged, CoreError
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.timeline_facts import MANY, facts_of

EARLIER = 200
"""So many earlier messages are read at a time."""
_GATHER_S = 0.1
"""News comes in crowds: a turn that ends is a row, a log and a chat file. They are read once."""
_GATHER_RUNNING_S = 0.4
"""While a turn of ours runs every capture is news, and only the timeline has any."""
_SLOW_MS = 200
"""What takes longer is told: until then the former chat stands there."""

_log = logging.getLogger(__name__)


class OpenChat(QObject):
    """Invariant: ``chat``, ``view`` and ``timeline`` are of one chat; ``view`` is None exactly if ``chat`` is. While a turn of
    ours runs in it (`set_running`) its file is not read again: what is said comes by events.

    Signals: ``opening(chat)``: it is being read; ``slow(chat)``: that takes its time; ``opened(view)``: another chat is open;
    ``read_again(view)``: the same chat may have grown; ``not_opened(text)``: it could not be read, nothing is open;
    ``timeline_read(timeline)``; ``timeline_not_read(text)``; ``files_listed(diffs)``: every file that differs from the start of
    the chat; ``earlier_read(chat, upto, messages, turns)``: the messages that end before index ``upto``, and where turns stand.
    """

    opening = Signal(object)
    slow = Signal(object)
    opened = Signal(object)
    read_again = Signal(object)
    not_opened = Signal(object)
    timeline_read = Signal(object)
    timeline_not_read = Signal(object)
    files_listed = Signal(object)
    earlier_read = Signal(object, int, object, object)

    def __init__(self, core: Core, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._core = core
        self._bridge = bridge
        self._token = 0
        self.chat: ChatId | None = None
        self.wanted: ChatId | None = None
        """The chat that is to be open: ``chat``, or the one that is being read."""
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(_SLOW_MS)
        self._slow.timeout.connect(lambda: self.slow.emit(self.wanted))
        self.view: ChatView | None = None
        self.timeline: Timeline | None = None
        self.mark = 0
        """How the disk was just before ``timeline`` was read (`Checkpoints.disk_mark`)."""
        self._gathering = self._running = False
        self._counting = 0
        """The token of the chat whose lines are being counted, or 0."""
        self._earlier = False
        self._history_grew = self._whole = self._disagree = False
        self._row: ChatHeader | None = None
        """The open chat's row as it was told last, until what it tells is read."""

    @property
    def last_turn(self) -> int:
        """The last turn that has a checkpoint, or 0."""
        return self.timeline.last_turn if self.timeline is not None else 0

    # What the window asks for.

    def start_open(self, chat: ChatId) -> None:
        """Open a chat; one that is being opened meanwhile is forgotten."""
        # The token is taken here: the newest wish counts, whichever task begins first.
        self.wanted = chat
        self._bridge.spawn(self, self._open(chat, self._next_token()), name="open a chat")

    async def open(self, chat: ChatId) -> None:
        """Open a chat and wait until its timeline is read."""
        self.wanted = chat
        await self._open(chat, self._next_token())

    def refresh(self) -> None:
        """Read the timeline anew: the disk or the log changed."""
        if self.chat is not None:
            self._bridge.spawn(self, self._read_timeline(self.chat, self._token), name="read the timeline")

    def look_again(self) -> None:
        """Somebody came back to the window: people and programs may have been at work meanwhile."""
        if self.view is not None and (self.view.header.source or self.view.damage is not None):
            self.reload()  # the program it came from may have gone on with it; or a copy of a damaged file was put back
        else:
            self.refresh()

    def history_grew(self, chat: ChatId, workspace: str) -> None:
        """Somebody added to a chat's log: what the open chat shows of itself or of the disk may be old."""
        if self.view is not None and (chat == self.chat or workspace == self.view.vault_workspace):
            self._history_grew = True
            self._gather()

    def workspace_moved(self, workspace: str) -> None:
        """A folder is not where it was, or is there again: if it is the open chat's, everything is read anew."""
        if self.view is not None and workspace == self.view.vault_workspace:
            self._whole = self._history_grew = True
            self._gather()

    def row_changed(self, header: ChatHeader) -> None:
        """A chat's row changed; if it is the open chat's, its transcript may have grown."""
        if self.view is not None and header.id == self.chat and _differs(self.view.header, header):
            self._row = header
            self._gather()

    def set_running(self, running: bool) -> None:
        """Whether a turn of ours runs in the open chat: then its messages come by events and nobody reads its file again."""
        former, self._running = self._running, running
        if former and not running and self._has_news:
            self._gather()

    def turn_ended(self) -> None:
        """A turn of ours ended in the open chat: what came by events is read once, as it was stored."""
        self._running = False
        self._history_grew = self._whole = True
        self._gather()

    def reload(self) -> None:
        """Read the transcript and the timeline anew."""
        if self._running:
            self.refresh()
        elif self.chat is not None:
            self._bridge.spawn(self, self._read_again(self.chat, self._token), name="read the chat")

    def list_files(self) -> None:
        """List the files that differ from the start of the chat."""
        if self.chat is not None:
            self._bridge.spawn(self, self._list_files(self.chat, self._token), name="list the files")

    def read_earlier(self, upto: int) -> None:
        """Read some of the messages before the one of index ``upto``."""
        if self.chat is not None and upto > 0 and not self._earlier:
            self._earlier = True
            self._bridge.spawn(self, self._read_earlier(self.chat, upto, self._token), name="read earlier messages")

    def let_go(self) -> None:
        """The open chat is gone: nothing is open."""
        self._token += 1
        self.chat = self.wanted = self.view = self.timeline = None
        self._slow.stop()
        self._bridge.spawn(self, self._core.chats.hold_open(None), name="show no chat")

    def forget_wishes(self) -> None:
        """What is being read is not wanted any more."""
        self._token += 1
        self.wanted = self.chat
        self._slow.stop()

    # How.

    def _gather(self) -> None:
        if not self._gathering:
            self._gathering = True
            self._bridge.spawn(self, self._read_news(), name="read the news")

    @property
    def _has_news(self) -> bool:
        """Whether something is to be read now; of a chat in which a turn of ours runs that is the timeline alone."""
        return self._history_grew or (not self._running and (self._whole or self._row is not None))

    async def _read_news(self) -> None:
        """Read what there is news of, and what comes meanwhile: two readers at once would read the same twice."""
        try:
            while self._has_news:
                await asyncio.sleep(_GATHER_RUNNING_S if self._running else _GATHER_S)
                grew, self._history_grew = self._history_grew, False
                if self.chat is None or self.view is None:
                    self._row, self._whole = None, False
                elif self._running:
                    await self._read_timeline(self.chat, self._token)
                else:
                    row, self._row = self._row, None
                    whole, self._whole = self._whole, False
                    if whole or (row is not None and _differs(self.view.header, row)):
                        await self._read_again(self.chat, self._token)
                    elif grew:
                        await self._read_timeline(self.chat, self._token)
        finally:
            self._gathering = False

    def _next_token(self) -> int:
        self._token += 1
        return self._token

    async def _open(self, chat: ChatId, token: int) -> None:
        if token == self._token:
            self._slow.start()
        self.opening.emit(chat)
        try:
            view = await self._view_of(chat)
        except CoreError as error:
            if token == self._token:
                self._slow.stop()
                self.chat = self.wanted = self.view = self.timeline = None
                self.not_opened.emit(sentence(error))
            return
        if token != self._token:
            return
        self._slow.stop()
        self.chat, self.view, self.timeline = chat, view, None
        self._history_grew = self._whole = self._running = self._disagree = False  # they were the former chat's
        self._row = None
        self.opened.emit(view)
        await self._core.chats.hold_open(chat)
        await self._read_timeline(chat, token)

    async def _view_of(self, chat: ChatId) -> ChatView:
        """The chat, or what of it can be read if it is damaged."""
        try:
            return await self._core.chats.open(chat)
        except ChatDamaged:
            return await self._core.chats.open_damaged(chat)

    async def _read_timeline(self, chat: ChatId, token: int) -> None:
        try:
            mark = await self._core.checkpoints.disk_mark(chat)
            timeline = await self._core.checkpoints.timeline(chat, counted=False)
            if len(timeline.entries) >= MANY:
                await asyncio.to_thread(facts_of, timeline)
        except CoreError as error:
            if token == self._token:
                self.timeline_not_read.emit(sentence(error))
            return
        if token == self._token and chat == self.chat:
            self.timeline, self.mark = timeline, mark
            self.timeline_read.emit(timeline)
            before, self._disagree = self._disagree, self._differs_from_view(timeline)
            if self._disagree and not before:  # once: to read it again and again would tell no more
                self._whole = True
                self._gather()
            if timeline.counting and self._counting != token:
                self._counting = token
                self._bridge.spawn(self, self._count_on(chat, token), name="count lines")

    async def _count_on(self, chat: ChatId, token: int) -> None:
        """What is shown is there before all its lines are counted; it is read once more when they are."""
        try:
            while token == self._token and await self._core.checkpoints.count_on(chat):
                pass
        except CoreError as error:
            _log.info("the lines of chat %s were not counted: %s", chat, error.code)
            return
        finally:
            if self._counting == token:
                self._counting = 0
        if token == self._token:
            await self._read_timeline(chat, token)

    def _differs_from_view(self, timeline: Timeline) -> bool:
        """Whether the chat was read before its folder went or came."""
        return self.view is not None and timeline.workspace_found != self.view.workspace_found

    async def _read_again(self, chat: ChatId, token: int) -> None:
        view = await self._view_of(chat)
        if token == self._token and chat == self.chat:
            self.view = view
            self.read_again.emit(view)
            await self._core.chats.hold_open(chat)
            await self._read_timeline(chat, token)

    async def _read_earlier(self, chat: ChatId, upto: int, token: int) -> None:
        try:
            messages = await self._core.chats.earlier(chat, upto, EARLIER)
            turns = await self._core.chats.turns(chat)
        finally:
            self._earlier = False
        if token == self._token:
            self.earlier_read.emit(chat, upto, messages, turns)

    async def _list_files(self, chat: ChatId, token: int) -> None:
        diffs = await self._core.diffs.files(chat, Start(), Now(), ())
        if token == self._token:
            self.files_listed.emit(diffs)


def _differs(shown: ChatHeader, now: ChatHeader) -> bool:
    """Whether what is shown of the chat is older."""
    one, other = ((row.message_count, row.updated_at, row.archived, row.status) for row in (shown, now))
    return one != other
