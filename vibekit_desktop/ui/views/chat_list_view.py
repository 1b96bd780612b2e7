"""The list of chats itself: rows that are chosen, renamed in place, put away and asked for their menu. UI thread only."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QWidget

from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.chat_list import ChatListModel, Role
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.chat_row import ChatRowDelegate
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.wording import workspace_name

_BATCH = 400
_OPEN_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class ChatListView(PaintedList):
    """The list. ``chosen(chat)``: it was clicked, or reached by keyboard; ``archive_wanted(chat)`` and ``delete_wanted(chat)``:
    its keys were pressed; ``menu_wanted(chat, place)``: its menu is to open at a place of the screen; ``typed(text)``: somebody
    types, which the filter is for; ``elsewhere_wanted`` without argument: nothing was found here, and the other side of the
    switch is to be searched; ``meant(word)``: this is to be searched for instead.
    """

    chosen = Signal(str)
    archive_wanted = Signal(str)
    delete_wanted = Signal(str)
    menu_wanted = Signal(str, QPoint)
    typed = Signal(str)
    elsewhere_wanted = Signal()
    meant = Signal(str)

    def __init__(self, hub: ThemeHub, model: ChatListModel, parent: QWidget) -> None:
        self._chats = model
        self._delegate = ChatRowDelegate(hub)
        super().__init__(hub, model, self._delegate, name=tr("Chats"), batch=_BATCH, parent=parent)
        self.pulse = self._delegate.pulse = Pulse(hub, self.viewport())
        self.verticalScrollBar().setSingleStep(20)
        self.selectionModel().currentChanged.connect(self._moved)
        self._open: ChatId | None = None
        self._changing = False
        self._blank = Blank(hub, self)
        self._blank.acted.connect(self._go_on)
        self._meant = ""
        self._skeleton = Skeleton(hub, self, row=hub.theme.size("row-chat"))
        self._skeleton.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._skeleton.begin()
        for news in (model.loaded, model.rowsInserted, model.rowsRemoved, model.settled):
            news.connect(self.say_what_is_missing)
        model.settled.connect(self._mark_again)
        self.say_what_is_missing()

    # Where there are no rows

    def say_what_is_missing(self) -> None:
        """Where there are no rows: say why."""
        model = self._chats
        loaded = model.is_loaded
        if loaded:
            self._skeleton.end()
        self._skeleton.setVisible(not loaded)
        empty = loaded and not model.rowCount()
        self._blank.setVisible(empty)
        if not empty:
            return
        if model.looking:
            looking = tr_n("Looking at the files of 1 chat", "Looking at the files of {n} chats", model.looking)
            self._blank.say("search", looking, "")
        elif model.filter.is_set:
            self._say_nothing_found()
        elif model.archived:
            self._blank.say("archive", tr("No archived chats"), tr("What you archive is kept here, out of sight."))
        else:
            name = workspace_name(model.workspace)
            title = tr("No chats in {name} yet", name=name) if name else tr("No chats yet")
            self._blank.say("chat", title, tr("Chats you start or open appear here, newest first."))

    def _say_nothing_found(self) -> None:
        model = self._chats
        text = model.filter_text
        title = tr("Nothing found for “{text}”", text=text) if text else tr("No chat fits the filter")
        meant = model.meant() if text else ""
        said = [tr("Did you mean {word}?", word=meant)] if meant else []
        self._meant, action = meant, tr("Search for {word}", word=meant) if meant else ""
        if model.matches_elsewhere():
            self._meant = ""
            if model.archived:
                said.append(tr("Only archived chats were searched."))
                action = tr("Search the others")
            else:
                said.append(tr("Archived chats were not searched."))
                action = tr("Search archived too")
        self._blank.say("search", title, " ".join(said), action)

    def _go_on(self) -> None:
        if self._meant:
            self.meant.emit(self._meant)
        else:
            self.elsewhere_wanted.emit()

    # What is open

    def show_chat(self, chat: ChatId | None) -> None:
        """Mark a chat as the one that is open, without asking to open it."""
        self._open = chat
        self._mark(chat, scroll=True)

    def _mark(self, chat: ChatId | None, *, scroll: bool) -> None:
        row = self._chats.row_of(chat) if chat is not None else -1
        blocked = self.blockSignals(True)
        if row < 0:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        else:
            self.setCurrentIndex(self._chats.index(row))
            if scroll:
                self.scrollTo(self._chats.index(row))
        self.blockSignals(blocked)
        self.viewport().update()

    def _mark_again(self) -> None:
        """The rows are other ones: what is open is marked where it stands now, and nothing if it is not among them."""
        if self.currentIndex().data(Role.CHAT) != self._open:
            self._mark(self._open, scroll=False)

    @property
    def current(self) -> ChatId | None:
        """The chat of the current row."""
        chat = self.currentIndex().data(Role.CHAT)
        return ChatId(chat) if isinstance(chat, str) else None

    def step(self, by: int) -> None:
        """Go to the next chat (1) or the one before (-1); group headers are stepped over, the ends stay."""
        row = self.currentIndex().row() if self.currentIndex().isValid() else (-1 if by > 0 else self._chats.rowCount())
        while 0 <= row + by < self._chats.rowCount():
            row += by
            if self._chats.index(row).data(Role.CHAT):
                self.setCurrentIndex(self._chats.index(row))
                return

    def _go_to_end(self, by: int) -> None:
        """The first chat (1) or the last (-1). Qt would stop at the group header before them."""
        rows = range(self._chats.rowCount())
        found = next((row for row in rows[::by] if self._chats.index(row).data(Role.CHAT)), None)
        if found is not None:
            self.setCurrentIndex(self._chats.index(found))

    def go_to(self, chat: ChatId) -> None:
        """Choose a chat, as a person would; nothing if it has no row."""
        row = self._chats.row_of(chat)
        if row >= 0:
            self.setCurrentIndex(self._chats.index(row))

    def rename(self, chat: ChatId) -> bool:
        """Let a person type another name into the row of a chat; whether there is such a row."""
        row = self._chats.row_of(chat)
        index = self._chats.index(row) if row >= 0 else QModelIndex()
        if not index.flags() & Qt.ItemFlag.ItemIsEditable:
            return False
        self.scrollTo(index)
        self.edit(index)
        return True

    def mark_target(self, chat: ChatId | None) -> None:
        """The menu of this chat is open, or none."""
        row = self._chats.row_of(chat) if chat is not None else -1
        self._delegate.target = QPersistentModelIndex(self._chats.index(row)) if row >= 0 else None
        self.viewport().update()

    def _moved(self, current: QModelIndex, _previous: QModelIndex) -> None:
        chat = current.data(Role.CHAT)
        if isinstance(chat, str) and not self._changing:
            self.chosen.emit(chat)

    # Qt's names from here on

    def rowsAboutToBeRemoved(self, parent: QModelIndex | QPersistentModelIndex, start: int, end: int) -> None:
        # Qt goes on to a neighbour of a row that goes; that is nobody's choice.
        self._changing = True
        super().rowsAboutToBeRemoved(parent, start, end)
        self._changing = False

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        # Tab ends the edit; it does not begin that of the next row.
        super().closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.ring = True
        chat, key = self.current, event.key()
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if chat is not None and key in _OPEN_KEYS and plain:
            self.chosen.emit(chat)
        elif chat is not None and key == Qt.Key.Key_F2 and plain:
            self.rename(chat)
        elif (
            chat is not None and key == Qt.Key.Key_Delete and (plain or event.modifiers() == Qt.KeyboardModifier.ShiftModifier)
        ):
            # Delete is the key of what can be taken back: in the archive there is nothing left of that kind.
            gone = not plain or self._chats.archived
            (self.delete_wanted if gone else self.archive_wanted).emit(chat)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and plain:
            self._go_to_end(1 if key == Qt.Key.Key_Home else -1)
        else:
            super().keyPressEvent(event)
            # Group headers take no selection; step over them.
            if self.current is None and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        # Qt would jump about among the rows, which opens chats.
        self.typed.emit(search)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._delegate.ring = False
        if event.button() == Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)  # another button chooses nothing

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.currentIndex() if event.reason() == QContextMenuEvent.Reason.Keyboard else self.indexAt(event.pos())
        chat = index.data(Role.CHAT) if index.isValid() else None
        if not isinstance(chat, str):
            return
        place = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self.scrollTo(index)
            place = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft() + QPoint(28, -8))
        # After the event: a menu that opens inside of it keeps some platforms' grab.
        QTimer.singleShot(0, self, lambda: self.menu_wanted.emit(chat, place))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for widget in (self._blank, self._skeleton):
            widget.setGeometry(self.viewport().geometry())
