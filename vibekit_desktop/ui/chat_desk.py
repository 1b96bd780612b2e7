"""Connect the chat list, the header and the keys to what can be done with chats; keep the list true.

Whoever asks, it is the same action. What an action does is in `operations.chats`. UI thread only.
"""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject, QPoint, QTimer, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.chats import ChatView
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import ChatArchived, HistoryGrew, LiveTurnEnded, SettingChanged, WorkspaceRestored
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui import actions
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.chats import ChatOperations
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.chat_header import ChatHeader
from vibekit_desktop.ui.views.chat_menus import ChatFacts, chat_menu
from vibekit_desktop.ui.views.sidebar import Sidebar

CHAT_ACTIONS = ("rename", "pin", "archive", "export", "delete")
"""Actions of the window that are about one chat: that of the row with the focus, or the open one."""
_COUNT_AGAIN_MS = 3000
"""Captures come in crowds; how full the store is nobody needs to know at once."""
_WRITES = frozenset({"rename", "pin", "archive", "merge", "promote", "export"})
"""These need a chat file that can be read whole."""
_LIST_KEYS: Mapping[str, str] = {"archive": "Del", "delete": "Shift+Del"}
"""These are keys of the list alone: everywhere else they delete text."""


class ChatDesk(QObject):
    """What is asked of chats in one window. Signals: ``chat_wanted(chat)``: it is to be shown; ``rescan_wanted``: histories are
    to be looked for again; ``store_counted(size)``: how full the store is now.

    Invariant: the list knows which chat is open, and what of it is read.
    """

    chat_wanted = Signal(object)
    rescan_wanted = Signal()
    store_counted = Signal(object)

    def __init__(
        self,
        core: Core,
        hub: ThemeHub,
        bridge: Bridge,
        notifier: Notifier,
        window: QWidget,
        opened: OpenChat,
        sidebar: Sidebar,
        header: ChatHeader,
        chats: ChatListModel,
    ) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._open = opened
        self._sidebar = sidebar
        self._header = header
        self._chats = chats
        self.work = ChatOperations(core, hub, bridge, notifier, window, chats)
        self._begun = False
        self._recount = QTimer(self)
        self._recount.setSingleShot(True)
        self._recount.setInterval(_COUNT_AGAIN_MS)
        self._recount.timeout.connect(self._count_store)
        self._connect()

    def _connect(self) -> None:
        rows = self._sidebar.list
        rows.archive_wanted.connect(lambda chat: self.work.archive(ChatId(chat)))
        rows.delete_wanted.connect(lambda chat: self.work.delete(ChatId(chat)))
        rows.menu_wanted.connect(self._open_row_menu)
        self._chats.renamed.connect(lambda chat, name: self.work.rename(ChatId(chat), name))
        self._chats.seen.connect(self.work.note_seen)
        self._chats.touched_wanted.connect(self.work.find_touched)
        self._chats.loaded.connect(self.work.read_seen)
        self._chats.counted.connect(self._begin)
        self._header.menu_wanted.connect(self._open_header_menu)
        self._header.renamed.connect(self._renamed)
        self._header.path_copied.connect(lambda: self._notifier.toast(tr("Copied the path"), "done"))
        self.work.chat_wanted.connect(self.chat_wanted)
        self.work.leaving.connect(self._leave)
        self._open.opened.connect(self._opened)
        self._open.read_again.connect(self._opened)
        self._open.not_opened.connect(lambda _text: self._chats.set_open(None))
        self._bridge.subscribe(self, ChatArchived, lambda _event: self.work.read_archive())
        for news in (HistoryGrew, LiveTurnEnded, WorkspaceRestored, SettingChanged):
            self._bridge.subscribe(self, news, lambda _event: self._recount.start())

    def _begin(self) -> None:
        """The chats are listed: now there is time for what nobody waits for."""
        if not self._begun:
            self._begun = True
            self.work.read_archive()
            self._count_store()

    def _count_store(self) -> None:
        async def work() -> None:
            try:
                size = await self._core.library.store_size()
            except CoreError:
                return  # what is wrong with the library is told by whoever lists the chats
            self._sidebar.set_store(size)
            self.store_counted.emit(size)

        self._bridge.spawn(self, work(), name="count the store")

    def _opened(self, view: ChatView) -> None:
        self._chats.set_open(view.header.id)
        self._recount.start()  # a history that was read for the first time has filled it

    def _renamed(self, name: str) -> None:
        if self._open.chat is not None:
            self.work.rename(self._open.chat, name)

    def _leave(self, chat: ChatId, following: ChatId | None) -> None:
        """A chat went out of sight: whoever looked at it goes on with the one whose row follows."""
        if chat == self._open.chat and following is not None:
            self._sidebar.list.go_to(following)
            if following != self._sidebar.list.current:
                self.chat_wanted.emit(following)  # it has no row, as things are filtered

    # The same actions, of the open chat or of a row.

    def act(self, name: str, chat: ChatId) -> None:
        """Do what an action of a menu is called, with one chat; of a damaged one only what its file is not needed for."""
        if name in _WRITES and self.work.is_damaged(chat):
            return
        known: Mapping[str, Callable[[], object]] = {
            "open": lambda: self.chat_wanted.emit(chat),
            "rename": lambda: self.rename(chat),
            "pin": lambda: self.pin(chat),
            "archive": lambda: self.work.archive(chat),
            "unarchive": lambda: self.work.unarchive(chat),
            "merge": lambda: self.work.merge(chat),
            "promote": lambda: self.work.promote(chat),
            "discard": lambda: self.work.discard(chat),
            "export": lambda: self.work.export(chat),
            "open-workspace": lambda: self.work.open_workspace(chat),
            "copy-link": lambda: self.work.copy_link(chat),
            "rescan": self.rescan_wanted.emit,
            "delete": lambda: self.work.delete(chat),
        }
        known[name]()

    def act_on_open(self, name: str) -> None:
        """As `act`, with the row that has the focus, else with the chat that is open; nothing if there is none."""
        rows = self._sidebar.list
        chat = (rows.current if rows.hasFocus() else None) or self._open.chat
        if chat is not None:
            self.act(name, chat)

    def unarchive_open(self) -> None:
        """Bring the open chat back from the archive."""
        if self._open.chat is not None:
            self.work.unarchive(self._open.chat)

    def rename(self, chat: ChatId) -> None:
        """Let a person type another name: where they are, in the row or in the header."""
        rows = self._sidebar.list
        in_header = chat == self._open.chat and self._header.isVisible() and not rows.hasFocus()
        if in_header or not rows.isVisible() or not rows.rename(chat):
            self._header.rename()

    def pin(self, chat: ChatId) -> None:
        """Pin a chat, or unpin it."""
        header = self._chats.header(chat)
        if header is not None and not header.archived:
            self.work.pin(chat, not header.pinned_at)

    # Menus.

    def menu(self, chat: ChatId, *, in_list: bool) -> QMenu | None:
        """What can be done with a chat; a fresh menu, or None if nothing is known of it."""
        header = self._chats.header(chat)
        if header is None and self._open.view is not None and self._open.view.header.id == chat:
            header = self._open.view.header
        if header is None:
            return None
        facts = ChatFacts(
            header=header,
            running=self.work.running_turn(chat),
            in_list=in_list,
            is_open=chat == self._open.chat,
            parent_known=self.work.parent_of(chat) is not None,
        )
        return chat_menu(self._window, self._hub, facts, partial(self._act_on, chat), partial(_keys, in_list=in_list))

    def _act_on(self, chat: ChatId, name: str) -> None:
        # The menu is still open inside of its own signal, and what takes the focus would lose it to it.
        QTimer.singleShot(0, self, lambda: self.act(name, chat))

    def _open_row_menu(self, chat: str, place: QPoint) -> None:
        menu = self.menu(ChatId(chat), in_list=True)
        if menu is not None:
            self._sidebar.list.mark_target(ChatId(chat))
            menu.aboutToHide.connect(lambda: self._sidebar.list.mark_target(None))
            menu.popup(place)

    def _open_header_menu(self, place: QPoint) -> None:
        menu = self.menu(self._open.chat, in_list=False) if self._open.chat is not None else None
        if menu is not None:
            menu.popup(place - QPoint(menu.sizeHint().width(), 0))


def _keys(name: str, *, in_list: bool) -> QKeySequence:
    """The keys that do what an entry of a chat's menu does."""
    if name in _LIST_KEYS:
        return QKeySequence(_LIST_KEYS[name]) if in_list else QKeySequence()
    spec = next((one for one in actions.table() if one.id == name), None)
    keys = actions.sequences(spec, mac=actions.on_mac()) if spec is not None else []
    return keys[0] if keys else QKeySequence()
