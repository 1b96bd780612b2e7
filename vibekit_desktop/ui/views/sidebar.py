"""The chat list's pane: workspace, filter, list, new chat, import. Paints a model, emits intents. UI thread only."""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.models.chat_rows import FILE_SIGN, Filter
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.archive_switch import ArchiveSwitch
from vibekit_desktop.ui.views.chat_list_view import ChatListView
from vibekit_desktop.ui.views.chat_menus import filter_menu
from vibekit_desktop.ui.views.controls import Button, Hairline, IconButton
from vibekit_desktop.ui.views.fields import SearchField
from vibekit_desktop.ui.views.store_line import StoreLine
from vibekit_desktop.ui.views.workspace_button import WorkspaceButton
from vibekit_desktop.ui.wording import workspace_name

_IMPORT_ICON_ONLY = 260
_INSET, _BETWEEN_BUTTONS = 12, 6


class Sidebar(QWidget):
    """The pane. ``chat_chosen`` carries a chat id; ``import_requested`` a path to read; ``folder_requested`` a folder to work
    in; ``hide_requested`` asks to hide or show the pane; ``new_chat_requested`` and ``storage_requested`` have no argument.
    What is asked of single chats are the signals of ``list``.
    """

    chat_chosen = Signal(str)
    import_requested = Signal(str)
    folder_requested = Signal(str)
    hide_requested = Signal()
    new_chat_requested = Signal()
    storage_requested = Signal()

    def __init__(self, hub: ThemeHub, model: ChatListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._model = model
        self._workspaces: Sequence[str] = ()
        self._workspace = ""
        self.picker = WorkspaceButton(hub, self)
        self.picker.clicked.connect(self.open_workspace_menu)
        self._hide = IconButton(hub, "sidebar-left", tr("Hide chats"), large=True, parent=self)
        self._hide.clicked.connect(self.hide_requested)
        self.opener = IconButton(hub, "sidebar-left", tr("Show chats"), large=True)
        """The way back while the pane is closed; give it to `MainWindow.install_sidebar`."""
        self.opener.clicked.connect(self.hide_requested)
        self.search = SearchField(hub, tr("Search chats"), self)
        self.search.textChanged.connect(self._search)
        self.search.installEventFilter(self)
        self.switch = ArchiveSwitch(hub, self)
        self.switch.switched.connect(self._switched)
        self.filter = IconButton(hub, "filter", tr("Filter"), large=True, parent=self)
        self.filter.clicked.connect(self.open_filter_menu)
        self.list = ChatListView(hub, model, self)
        self.list.chosen.connect(self.chat_chosen)
        self.list.typed.connect(self._type_on)
        self.list.meant.connect(self.search.setText)
        self.list.elsewhere_wanted.connect(lambda: self.switch.set_archived(not self.switch.archived))
        self.new_chat = Button(hub, tr("New chat"), size="large", icon="plus", parent=self)
        self.new_chat.clicked.connect(self.new_chat_requested)
        self.new_chat.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._import = Button(hub, tr("Import…"), size="large", icon="import", parent=self)
        self._import.clicked.connect(self.open_import_menu)
        self.store = StoreLine(hub, self)
        self.store.clicked.connect(self.storage_requested)
        self._build()
        for news in (model.counted, model.archived_counted):
            news.connect(self._counted)
        hub.changed.connect(self._themed)
        self._counted()
        self.set_workspaces((), "")
        self.picker.setText(tr("All workspaces"))  # until they are known, nobody says that there is none
        self._minute = QTimer(self)
        self._minute.setInterval(60_000)
        self._minute.timeout.connect(model.clock_moved)
        self._minute.start()

    def _build(self) -> None:
        space = self._hub.theme.space
        head = QHBoxLayout()
        head.setContentsMargins(space("s12"), 0, space("s8"), 0)
        head.setSpacing(space("s8"))
        head.addWidget(self.picker, 1)
        head.addWidget(self._hide)
        self._head = QWidget(self)
        self._head.setLayout(head)
        self._head.setFixedHeight(self._hub.theme.size("header"))
        sides = QHBoxLayout()
        sides.setContentsMargins(0, 0, 0, 0)
        sides.setSpacing(space("s6"))
        sides.addWidget(self.switch)
        sides.addStretch(1)
        sides.addWidget(self.filter)
        tools = QVBoxLayout()
        tools.setContentsMargins(space("s12"), 0, space("s12"), space("s4"))
        tools.setSpacing(space("s8"))
        tools.addWidget(self.search)
        tools.addLayout(sides)
        buttons = QHBoxLayout()
        buttons.setSpacing(_BETWEEN_BUTTONS)
        buttons.addWidget(self.new_chat, 1)
        buttons.addWidget(self._import)
        foot = QVBoxLayout()
        foot.setContentsMargins(_INSET, space("s10"), _INSET, space("s10"))
        foot.setSpacing(space("s10"))
        foot.addLayout(buttons)
        foot.addWidget(self.store)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self._head)
        whole.addLayout(tools)
        whole.addWidget(self.list, 1)
        whole.addWidget(Hairline(self._hub, self))
        whole.addLayout(foot)
        chats, archived = self.switch.side(archived=False), self.switch.side(archived=True)
        top = (self.picker, self._hide, self.search, chats, archived, self.filter)
        order = (*top, self.list, self.new_chat, self._import, self.store)
        for first, second in pairwise(order):
            self.setTabOrder(first, second)
        self.last_stop: QWidget = self.store
        """What Tab goes to last in it."""

    def _themed(self) -> None:
        self._head.setFixedHeight(self._hub.theme.size("header"))
        self._fit()
        self.update()

    def _fit(self) -> None:
        """Import keeps only its icon where the pane is narrow, or where both words have no room."""
        wanted, shown = tr("Import…"), self._import.text()
        advance = self._hub.theme.metrics("body-strong", weight=500).horizontalAdvance
        needed = self._import.sizeHint().width() + advance(wanted) - advance(shown) + (0 if shown else _BETWEEN_BUTTONS)
        room = self.width() - 2 * _INSET - _BETWEEN_BUTTONS - self.new_chat.sizeHint().width()
        words = wanted if self.width() >= _IMPORT_ICON_ONLY and needed <= room else ""
        if words != shown:
            self._import.setText(words)

    def _counted(self) -> None:
        chats, archived = self._model.chats, self._model.archived_chats
        self.switch.set_counts(chats, archived)
        self.search.setEnabled(chats > 0 or archived > 0 or bool(self.search.text()))
        self.filter.setEnabled(chats > 0 or archived > 0)

    def set_store(self, size: StoreSize) -> None:
        """How much the store takes now."""
        self.store.set_size(size)

    # What the list shows

    def _search(self, text: str) -> None:
        self._model.set_filter(text)
        self.list.say_what_is_missing()  # another text that nothing fits changes no row

    def _type_on(self, text: str) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.insert(text)

    def _switched(self, archived: bool) -> None:
        self._model.show_archived(archived)
        self.list.setAccessibleName(tr("Archived chats") if archived else tr("Chats"))

    def toggle_archived(self) -> None:
        """Show the archive, or the chats again."""
        self.switch.set_archived(not self.switch.archived)
        self.focus_list()

    def filter_menu(self) -> QMenu:
        """The menu of the filter; a fresh one at every call."""
        return filter_menu(self, self._model.filter, self._model.agents, self._narrow, self._filter_by_file)

    def open_filter_menu(self) -> None:
        """Open the menu under its button."""
        menu = self.filter_menu()
        menu.popup(self.filter.mapToGlobal(QPoint(self.filter.width() - menu.sizeHint().width(), self.filter.height() + 4)))

    def _narrow(self, wanted: Filter) -> None:
        self._model.narrow(wanted)
        self.list.say_what_is_missing()
        self.filter.setCheckable(wanted.narrows)
        self.filter.setChecked(wanted.narrows)
        self.filter.set_icon("filter", tr("Filter: some chats are left out") if wanted.narrows else tr("Filter"))

    def _filter_by_file(self, _text: str) -> None:
        if FILE_SIGN not in self.search.text():
            self.search.setText(f"{self.search.text()} {FILE_SIGN}".lstrip())
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.end(False)

    def show_chat(self, chat: ChatId | None) -> None:
        """Mark the chat that is open."""
        self.list.show_chat(chat)

    def focus_search(self) -> None:
        """Put the cursor into the field of the filter."""
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
        self._fit()
        super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(QRect(self.rect()), self._hub.theme.color("bg.sidebar"))


def _menu_text(workspace: str) -> str:
    """Name and path in one entry; an ampersand is not a mnemonic here."""
    return f"{workspace_name(workspace)}\t{workspace}".replace("&", "&&")
