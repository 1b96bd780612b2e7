"""The chat list's pane: workspace, filter, list, new chat, import. Paints a model, emits intents. UI thread only."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.chat_list import ChatListModel, Role
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.chat_row import ChatRowDelegate
from vibekit_desktop.ui.views.controls import Button, Hairline, IconButton, draw_icon
from vibekit_desktop.ui.views.fields import SearchField
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.wording import workspace_name

_IMPORT_ICON_ONLY = 260
_BATCH = 400


class _WorkspaceButton(QAbstractButton):
    """Which workspace's chats are shown; a click opens the menu."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        hub.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(80, round(36 * max(1.0, self._hub.theme.zoom)))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        metrics = theme.metrics("heading")
        text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width() - 4 - 24 - 24 - 6)
        width = metrics.horizontalAdvance(text)
        if self.underMouse() or self.isDown():
            token = "bg.pressed" if self.isDown() else "bg.hover-sidebar"
            box = QRectF(0, 0, min(self.width(), 4 + 24 + width + 8 + 16 + 6), self.height())
            rounded(painter, box, theme.radius("control"), fill=theme.color(token))
        middle = (self.height() - 16) // 2
        draw_icon(painter, theme, "folder", "text.primary", 4, middle)
        painter.setFont(theme.font("heading"))
        painter.setPen(theme.color("text.primary"))
        painter.drawText(QRectF(28, 0, width + 2, self.height()), int(Qt.AlignmentFlag.AlignVCenter), text)
        draw_icon(painter, theme, "chevrons-up-down", "text.secondary", round(28 + width + 8), middle)


class ChatListView(PaintedList):
    """The list itself. ``chosen`` carries the chat that was clicked, or reached by keyboard."""

    chosen = Signal(str)

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
        self._skeleton = Skeleton(hub, self, row=hub.theme.size("row-chat"))
        for widget in (self._blank, self._skeleton):
            widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._skeleton.begin()
        for news in (model.loaded, model.rowsInserted, model.rowsRemoved):
            news.connect(self.say_what_is_missing)
        model.settled.connect(self._mark_again)
        self.say_what_is_missing()

    def say_what_is_missing(self) -> None:
        """Where there are no rows: say why."""
        loaded, text = self._chats.is_loaded, self._chats.filter_text
        if loaded:
            self._skeleton.end()
        self._skeleton.setVisible(not loaded)
        self._blank.setVisible(loaded and not self._chats.rowCount())
        if text:
            self._blank.say("search", tr("Nothing found for “{text}”", text=text), tr("Only titles are searched here."))
        else:
            name = workspace_name(self._chats.workspace)
            title = tr("No chats in {name} yet", name=name) if name else tr("No chats yet")
            self._blank.say("chat", title, tr("Chats you start or open appear here, newest first."))

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

    def rowsAboutToBeRemoved(self, parent: QModelIndex | QPersistentModelIndex, start: int, end: int) -> None:
        # Qt goes on to a neighbour of a row that goes; that is nobody's choice.
        self._changing = True
        super().rowsAboutToBeRemoved(parent, start, end)
        self._changing = False

    def step(self, by: int) -> None:
        """Go to the next chat (1) or the one before (-1); group headers are stepped over, the ends stay."""
        row = self.currentIndex().row() if self.currentIndex().isValid() else (-1 if by > 0 else self._chats.rowCount())
        while 0 <= row + by < self._chats.rowCount():
            row += by
            if self._chats.index(row).data(Role.CHAT):
                self.setCurrentIndex(self._chats.index(row))
                return

    def _moved(self, current: QModelIndex, _previous: QModelIndex) -> None:
        chat = current.data(Role.CHAT)
        if isinstance(chat, str) and not self._changing:
            self.chosen.emit(chat)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.ring = True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            chat = self.currentIndex().data(Role.CHAT)
            if isinstance(chat, str):
                self.chosen.emit(chat)
            return
        super().keyPressEvent(event)
        # Group headers take no selection; step over them.
        if not self.currentIndex().data(Role.CHAT) and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._delegate.ring = False
        super().mousePressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for widget in (self._blank, self._skeleton):
            widget.setGeometry(self.viewport().geometry())


class Sidebar(QWidget):
    """The pane. ``chat_chosen`` carries a chat id; ``import_requested`` a path to read; ``folder_requested`` a folder to work
    in; ``hide_requested`` asks to hide or show the pane; ``new_chat_requested`` has no argument.
    """

    chat_chosen = Signal(str)
    import_requested = Signal(str)
    folder_requested = Signal(str)
    hide_requested = Signal()
    new_chat_requested = Signal()

    def __init__(self, hub: ThemeHub, model: ChatListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._model = model
        self._workspaces: Sequence[str] = ()
        self._workspace = ""
        self.picker = _WorkspaceButton(hub, self)
        self.picker.clicked.connect(self.open_workspace_menu)
        self._hide = IconButton(hub, "sidebar-left", tr("Hide chats"), large=True, parent=self)
        self._hide.clicked.connect(self.hide_requested)
        self.opener = IconButton(hub, "sidebar-left", tr("Show chats"), large=True)
        """The way back while the pane is closed; give it to `MainWindow.install_sidebar`."""
        self.opener.clicked.connect(self.hide_requested)
        self.search = SearchField(hub, tr("Filter chats"), self)
        self.search.textChanged.connect(self._search)
        self.search.installEventFilter(self)
        self._count_name = QLabel(tr("Chats"), self)
        self._count = QLabel(self)
        self.list = ChatListView(hub, model, self)
        self.list.chosen.connect(self.chat_chosen)
        self.new_chat = Button(hub, tr("New chat"), size="large", icon="plus", parent=self)
        self.new_chat.clicked.connect(self.new_chat_requested)
        self.new_chat.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._import = Button(hub, tr("Import…"), size="large", icon="import", parent=self)
        self._import.clicked.connect(self.open_import_menu)
        self._build()
        model.counted.connect(self._counted)
        hub.changed.connect(self._themed)
        self._themed()
        self._counted(model.chats)
        self.set_workspaces((), "")
        self._minute = QTimer(self)
        self._minute.setInterval(60_000)
        self._minute.timeout.connect(model.clock_moved)
        self._minute.start()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 8, 0)
        head.setSpacing(8)
        head.addWidget(self.picker, 1)
        head.addWidget(self._hide)
        self._head = QWidget(self)
        self._head.setLayout(head)
        self._head.setFixedHeight(self._hub.theme.size("header"))
        counts = QHBoxLayout()
        counts.setContentsMargins(4, 0, 0, 0)
        counts.setSpacing(6)
        counts.addWidget(self._count_name)
        counts.addWidget(self._count)
        counts.addStretch(1)
        tools = QVBoxLayout()
        tools.setContentsMargins(12, 0, 12, 4)
        tools.setSpacing(8)
        tools.addWidget(self.search)
        tools.addLayout(counts)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 10, 12, 12)
        foot.setSpacing(6)
        foot.addWidget(self.new_chat, 1)
        foot.addWidget(self._import)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self._head)
        whole.addLayout(tools)
        whole.addWidget(self.list, 1)
        whole.addWidget(Hairline(self._hub, self))
        whole.addLayout(foot)
        self.setTabOrder(self.picker, self._hide)
        self.setTabOrder(self._hide, self.search)
        self.setTabOrder(self.search, self.list)
        self.setTabOrder(self.list, self.new_chat)
        self.setTabOrder(self.new_chat, self._import)
        self.last_stop: QWidget = self._import
        """What Tab goes to last in it."""

    def _themed(self) -> None:
        theme = self._hub.theme
        for label, style, token in ((self._count_name, "body-strong", "text.primary"), (self._count, "body", "text.tertiary")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setFont(theme.font(style))
            palette = label.palette()
            palette.setColor(label.foregroundRole(), theme.color(token))
            label.setPalette(palette)
        self.update()

    def _counted(self, count: int) -> None:
        self._count.setText(f"{count:,}")
        self._count_name.setVisible(count > 0)
        self._count.setVisible(count > 0)
        self.search.setEnabled(count > 0 or bool(self.search.text()))

    def _search(self, text: str) -> None:
        self._model.set_filter(text)
        self.list.say_what_is_missing()  # another text that nothing fits changes no row

    def show_chat(self, chat: ChatId | None) -> None:
        """Mark the chat that is open."""
        self.list.show_chat(chat)

    def focus_search(self) -> None:
        """Put the cursor into the filter field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def focus_list(self) -> None:
        """Put the focus on the list."""
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # Workspace

    def set_workspaces(self, workspaces: Sequence[str], chosen: str) -> None:
        """The workspaces for the menu, most recently used first, and the one that is chosen (empty = all)."""
        self._workspaces = tuple(workspaces)
        self._workspace = chosen
        if chosen:
            self.picker.setText(workspace_name(chosen))
        else:
            self.picker.setText(tr("All workspaces") if workspaces else tr("No workspace yet"))
        self.picker.setAccessibleName(tr("Workspace: {name}", name=self.picker.text()))
        self.picker.setToolTip(plain_tip(chosen))

    def workspace_menu(self) -> QMenu:
        """The menu of the picker; a fresh one at every call."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._workspaces:
            self._add_workspace(menu, tr("All workspaces"), "")
            for workspace in self._workspaces[:12]:
                self._add_workspace(menu, _menu_text(workspace), workspace)
            menu.addSeparator()
        menu.addAction(tr("Open folder…"), self.choose_folder)
        return menu

    def _add_workspace(self, menu: QMenu, text: str, workspace: str) -> None:
        action = QAction(text, menu)
        action.setCheckable(True)
        action.setChecked(workspace == self._workspace)
        action.triggered.connect(lambda: self.choose_workspace(workspace))
        menu.addAction(action)

    @property
    def workspace(self) -> str:
        """The workspace whose chats are shown, or empty for all."""
        return self._workspace

    def choose_workspace(self, workspace: str) -> None:
        """Show the chats of one workspace; empty shows all."""
        self.set_workspaces(self._workspaces, workspace)
        self._model.set_workspace(workspace)
        self.list.say_what_is_missing()

    def open_workspace_menu(self) -> None:
        """Open the menu under the picker."""
        self.workspace_menu().popup(self.picker.mapToGlobal(QPoint(0, self.picker.height())))

    # Dialogs

    def choose_folder(self) -> None:
        """Ask for a folder to work in."""
        self._ask(tr("Choose a folder to work in"), QFileDialog.FileMode.Directory, self.folder_requested)

    def open_import_menu(self) -> None:
        """Ask whether a file or a folder is to be imported, above the button."""
        menu = self.import_menu()
        menu.popup(self._import.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def import_menu(self) -> QMenu:
        """The menu of the Import button; a fresh one at every call."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Import a folder…"), self.import_folder)
        menu.addAction(tr("Import a file…"), self.import_file)
        return menu

    def import_folder(self) -> None:
        """Ask for a folder with histories."""
        self._ask(tr("Import a folder with histories"), QFileDialog.FileMode.Directory, self.import_requested)

    def import_file(self) -> None:
        """Ask for one history file."""
        self._ask(tr("Import a history"), QFileDialog.FileMode.ExistingFile, self.import_requested)

    def _ask(self, title: str, mode: QFileDialog.FileMode, answer: object) -> None:
        dialog = QFileDialog(self.window(), title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(mode)
        if self._workspace:
            dialog.setDirectory(self._workspace)
        if mode is QFileDialog.FileMode.Directory:
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(answer)
        dialog.open()

    # Qt's names from here on

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape and self.search.text():
                self.search.clear()
                return True
            if event.key() == Qt.Key.Key_Down:
                self.focus_list()
                return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._import.setText("" if self.width() < _IMPORT_ICON_ONLY else tr("Import…"))
        super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(QRect(self.rect()), self._hub.theme.color("bg.sidebar"))


def _menu_text(workspace: str) -> str:
    """Name and path in one entry; an ampersand is not a mnemonic here."""
    return f"{workspace_name(workspace)}\t{workspace}".replace("&", "&&")
