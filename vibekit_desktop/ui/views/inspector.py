"""The inspector: the tabs Timeline, Files and Conflicts of the chat that is shown.

Arranges views and passes their intents on; owns their models. UI thread only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QVBoxLayout, QWidget

from vibekit_desktop.core.types.agents import LiveState
from vibekit_desktop.core.types.checkpoints import EntryKind, PinnedPoint, PlacedConflict, Timeline
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.error_text import ErrorText
from vibekit_desktop.ui.models.changed_files import changed_files, count_changed
from vibekit_desktop.ui.models.conflicts import ConflictMarks, ConflictModel, card_of, open_conflicts
from vibekit_desktop.ui.models.files import FileEntry
from vibekit_desktop.ui.models.files_tree import FilesTreeModel
from vibekit_desktop.ui.models.running import BUSY
from vibekit_desktop.ui.models.timeline import TimelineModel
from vibekit_desktop.ui.models.timeline_rows import Running
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views import list_access
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.conflicts_tab import ConflictsTab
from vibekit_desktop.ui.views.files_tab import FilesTab
from vibekit_desktop.ui.views.held_line import HeldLine
from vibekit_desktop.ui.views.inspector_bar import CONFLICTS, FILES, TIMELINE, InspectorBar
from vibekit_desktop.ui.views.timeline import TimelineView
from vibekit_desktop.ui.when import local_now_ms
from vibekit_desktop.ui.wording import file_name, shown_path

_AT_ONCE = 500
"""From more files on their rows are made in a step of the loop of their own."""


class Inspector(QWidget):
    """Timeline, files and conflicts of one chat.

    Signals, passed on from the views: ``diff_requested(path, old point, new point)``, ``undo_file_requested(path, point)``,
    ``restore_requested(point)``, ``undo_requested()``, ``redo_requested()``, ``open_chat_requested(chat)``,
    ``review_requested(old point, new point)``, ``pin_requested(point, its name now)``, ``unpin_requested(point)``,
    ``editor_requested(path, state)``, ``writers_requested(path)``, ``settle_requested(card, settled)``,
    ``bring_back_requested(card)``, ``rescan_requested()``. Its own: ``files_wanted()``: the Files tab is shown and its
    differences are not known yet, or out of date; ``retry_requested()``: Try again in the place of a failed timeline;
    ``tab_changed(number)``; ``layout_chosen(as tree)``.
    """

    diff_requested = Signal(object, object, object)
    undo_file_requested = Signal(object, object)
    restore_requested = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()
    open_chat_requested = Signal(object)
    review_requested = Signal(object, object)
    pin_requested = Signal(object, str)
    unpin_requested = Signal(object)
    editor_requested = Signal(object, object)
    writers_requested = Signal(object)
    settle_requested = Signal(object, bool)
    bring_back_requested = Signal(object)
    rescan_requested = Signal()
    files_wanted = Signal()
    retry_requested = Signal()
    tab_changed = Signal(int)
    layout_chosen = Signal(bool)

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, now_ms: Callable[[], int] = local_now_ms) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._now_ms = now_ms
        self.timeline_model = TimelineModel(self, now_ms=now_ms)
        self.files_model = FilesTreeModel(self)
        self.conflicts_model = ConflictModel(self)
        self._net: dict[WorkspacePath, FileEntry] | None = None
        self._placed: tuple[PlacedConflict, ...] = ()
        self._files_known = self._files_old = self._failed = False
        self._files_count = 0
        self._files_later = QTimer(self)
        self._files_later.setSingleShot(True)
        self._files_later.setInterval(0)
        self._files_later.timeout.connect(self._make_files)
        self._live: LiveState | None = None
        self._held_by_others = ""
        self.bar = InspectorBar(hub, self)
        self._files_tab = self.bar.tabs[FILES]
        self.timeline = TimelineView(hub, self.timeline_model, self, now_ms=now_ms)
        self.files = FilesTab(hub, self.files_model, self)
        self.conflicts = ConflictsTab(hub, self.conflicts_model, self)
        self.held = HeldLine(hub, self)
        self._pages = QStackedWidget(self)
        for page in (self._make_timeline_page(), self.files, self.conflicts):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self._pages, 1)
        self._connect()
        hub.changed.connect(self.update)
        self.show_timeline(None)

    def focus_stops(self) -> list[QWidget]:
        """What Tab goes to, in order: the tabs, what they show, the menu."""
        ends: list[QWidget] = [*self.bar.tabs, self.bar.more]
        every = [one for one in self.findChildren(QWidget) if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one not in ends]
        files = [self.files.filter, *(one for one in every if self.files.layout_switch.isAncestorOf(one)), self.files.list]
        known = [self.timeline, *files, self.conflicts.list]
        return [*self.bar.tabs, *known, *(one for one in every if one not in known), self.bar.more]

    def _make_timeline_page(self) -> QWidget:
        self._blank = Blank(self._hub, self)
        self._skeleton = Skeleton(self._hub, self)
        self._blank.acted.connect(self.retry_requested)
        self._timeline_page = QStackedWidget(self)
        for widget in (self.timeline, self._blank, self._skeleton):
            self._timeline_page.addWidget(widget)
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.held)
        column.addWidget(self._timeline_page, 1)
        return page

    def _connect(self) -> None:
        for name in (
            "diff_requested",
            "undo_file_requested",
            "restore_requested",
            "undo_requested",
            "redo_requested",
            "open_chat_requested",
            "review_requested",
            "pin_requested",
            "unpin_requested",
            "editor_requested",
            "writers_requested",
        ):
            getattr(self.timeline, name).connect(getattr(self, name))
        self.files.diff_requested.connect(self.diff_requested)
        self.files.undo_file_requested.connect(self.undo_file_requested)
        self.files.layout_chosen.connect(self.layout_chosen)
        self.files.list.editor_requested.connect(self.editor_requested)
        self.files.list.writers_requested.connect(self.writers_requested)
        cards = self.conflicts.list
        cards.compare_requested.connect(self.diff_requested)
        cards.settle_requested.connect(self.settle_requested)
        cards.bring_back_requested.connect(self.bring_back_requested)
        list_access.install()
        for view in (self.timeline, self.files.list, self.conflicts.list):
            view.focus_moved.connect(partial(list_access.say_focus, view))
        self.bar.chosen.connect(self._show_page)
        self.bar.rescan_requested.connect(self.rescan_requested)
        self.bar.fold_requested.connect(self._fold)
        self.bar.only_changes_requested.connect(self._show_only_changes)
        self.bar.settled_requested.connect(self._show_settled)

    # Showing the timeline.

    def show_timeline(self, timeline: Timeline | None) -> None:
        """Show a chat's timeline; None while no chat is open. Marks the differences of the files as out of date."""
        self._skeleton.end()
        if timeline is None or timeline.chat != self.timeline_model.chat:
            self._net, self._placed = None, ()
        with self.timeline.place_kept(), self.timeline.news_lit():
            self.timeline_model.set_timeline(timeline)
        self._failed = False
        self._hold()
        self._files_known = False
        self._show_files()
        self._show_conflicts()
        if timeline is None:
            self._blank.show_nothing()
            self._timeline_page.setCurrentWidget(self._blank)
            return
        self._show_rows()
        self._want_files()

    def _show_rows(self) -> None:
        """The rows, or that there are none yet."""
        timeline = self.timeline_model.timeline
        if timeline is None:
            return
        if self._running is not None or any(one.kind is not EntryKind.NOW or one.files for one in timeline.entries):
            self._timeline_page.setCurrentWidget(self.timeline)
            return
        self._blank.say(
            "checkpoint", tr("No changes yet"), tr("When a turn changes files, they appear here with Diff and Undo.")
        )
        self._timeline_page.setCurrentWidget(self._blank)

    def show_loading(self) -> None:
        """The timeline is being read; nothing for 200 ms, then a skeleton."""
        self._skeleton.begin()
        self._timeline_page.setCurrentWidget(self._skeleton)

    def show_error(self, error: ErrorText) -> None:
        """The timeline could not be read: say why, in its place."""
        self._skeleton.end()
        self._failed = True
        self._blank.say("warning", error.title, error.detail, tr("Try again"), failed=True)
        self._timeline_page.setCurrentWidget(self._blank)

    # What stands beside it.

    def show_beside(
        self, pins: Sequence[PinnedPoint], placed: Sequence[PlacedConflict], names: Mapping[ChatId, str] | None = None
    ) -> None:
        """The named points of the chat that is shown, its conflicts, oldest first, settled ones too, and how other chats are
        called, if that is said: all of it in one change of the rows."""
        self._placed = tuple(placed)
        called = self.timeline_model.beside.names if names is None else dict(names)
        self._set_beside(pins=tuple(pins), conflicts=ConflictMarks(self._placed), names=called)
        self._show_conflicts()
        self._show_files()

    def show_pins(self, pins: Sequence[PinnedPoint]) -> None:
        """The named points of the chat that is shown."""
        self._set_beside(pins=tuple(pins))

    def show_conflicts(self, placed: Sequence[PlacedConflict]) -> None:
        """The conflicts of the chat that is shown, oldest first, settled ones too."""
        self.show_beside(self.timeline_model.beside.pins, placed)

    @property
    def placed(self) -> tuple[PlacedConflict, ...]:
        """The conflicts of the chat that is shown."""
        return self._placed

    def show_writers(self, path: WorkspacePath, chats: Sequence[tuple[ChatId, str]]) -> None:
        """Which chats changed a file, the newest first; choosing another one opens it."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName(tr("Every chat that changed {path}", path=shown_path(path)))
        menu.addSection(file_name(shown_path(path)).replace("&", "&&"))
        for chat, name in chats:
            action = menu.addAction(name.replace("&", "&&"))
            action.setEnabled(chat != self.timeline_model.chat)
            action.triggered.connect(lambda _=False, which=chat: self.open_chat_requested.emit(which))
        if not chats:
            menu.addAction(tr("No chat is known to have changed it.")).setEnabled(False)
        menu.popup(self._menu_place())

    def _menu_place(self) -> QPoint:
        """Under the current row of the list that is shown."""
        found = (self.timeline, self.files.list, self.conflicts.list)[self.bar.current]
        row = found.visualRect(found.currentIndex())
        return found.viewport().mapToGlobal(row.bottomLeft() + QPoint(48, 4))

    def set_names(self, names: Mapping[ChatId, str]) -> None:
        """How other chats are called."""
        if names != self.timeline_model.beside.names:
            self._set_beside(names=dict(names))
            self._show_conflicts()
            self._show_files()

    def _set_beside(self, **news: object) -> None:
        with self.timeline.place_kept():
            self.timeline_model.set_beside(replace(self.timeline_model.beside, **news))  # type: ignore[arg-type]  # fields of it

    def _show_conflicts(self) -> None:
        names, now = self.timeline_model.beside.names, self._now_ms()
        self.conflicts_model.set_cards(card_of(one, names, now) for one in self._placed)
        count = open_conflicts(self._placed)
        self.bar.tabs[CONFLICTS].set_count(count or None, alarm=True)
        self.bar.settled = self.conflicts_model.settled
        self.conflicts.show_cards()

    # What can't be done at the moment.

    @property
    def _running(self) -> Running | None:
        live = self._live
        if live is None or not live.turn or live.phase not in BUSY or live.chat != self.timeline_model.chat:
            return None
        return Running(live.turn, live.turn_began_at)

    def set_live(self, state: LiveState | None) -> None:
        """What the chat that is shown is doing: a turn that runs stands on top, and nothing can be undone until it ends."""
        self._live = state
        self._hold()
        if self._timeline_page.currentWidget() is not self._skeleton and not self._failed:
            self._show_rows()

    def set_held(self, why: str) -> None:
        """Undo and Restore wait for somebody else in this workspace, and why, as a sentence; empty frees them."""
        self._held_by_others = why
        self._hold()

    def _hold(self) -> None:
        running = self._running
        why = self._held_by_others
        if running is not None:
            why = tr("Wait until turn {turn} ends, or stop it", turn=running.turn)
            self.held.say(tr("Undo and Restore wait until turn {turn} ends.", turn=running.turn))
        else:
            self.held.say(why, counting=self.timeline_model.counting)
        if running != self.timeline_model.running:
            with self.timeline.place_kept():
                self.timeline_model.set_running(running)
        if why != self.timeline_model.held:
            for model in (self.timeline_model, self.files_model, self.conflicts_model):
                model.set_held(why)
            for view in (self.timeline, self.files.list, self.conflicts.list):
                view.viewport().update()

    # Files.

    def show_files(self, entries: Sequence[FileEntry]) -> None:
        """The net change of every file that differs from the start of the chat."""
        self._files_known = True
        self._net = {entry.path: entry for entry in entries}
        self._show_files()

    def _show_files(self) -> None:
        """Say how many there are; their rows wait until somebody looks at them."""
        timeline = self.timeline_model.timeline
        self._files_count = count_changed(timeline) if timeline is not None else 0
        self._files_tab.set_count(self._files_count if timeline is not None else None)
        self._files_old = True
        self._see_to_files()

    def _see_to_files(self) -> None:
        if self._files_old and self._files_count <= _AT_ONCE and (self.bar.current == FILES or not self._files_count):
            self._make_files()
        elif self._files_old and self.bar.current == FILES:
            self._files_later.start()

    def _make_files(self) -> None:
        timeline, self._files_old = self.timeline_model.timeline, False
        self._files_later.stop()
        if timeline is None:
            self.files_model.set_files(())
            return
        beside = self.timeline_model.beside
        open_paths = frozenset(one.conflict.path for one in self._placed if not one.settled)
        files = changed_files(timeline, net=self._net, names=beside.names, conflicts=open_paths)
        why = "" if timeline.workspace_found else tr("The workspace was not found where it was.")
        self.files_model.set_files(files, why_off=why)
        self.files.show_rows()

    def _want_files(self) -> None:
        if self.bar.current == FILES and not self._files_known and self.timeline_model.chat is not None:
            self.files_wanted.emit()

    # Tabs and their menu.

    def tab(self) -> int:
        """Which tab is shown: 0 the timeline, 1 the files, 2 the conflicts."""
        return self.bar.current

    def show_tab(self, number: int) -> None:
        """Show a tab by its number."""
        if 0 <= number < len(self.bar.tabs):
            self.bar.choose(number)
            self._show_page(number)

    def shown_list(self) -> QWidget:
        """What takes the focus: the list of the tab that is shown, or the tab itself while there is no list."""
        number = self.bar.current
        found = (self.timeline, self.files.list, self.conflicts.list)[number]
        return found if found.isVisible() else self.bar.tabs[number]

    def _show_page(self, number: int) -> None:
        changed = number != self._pages.currentIndex()
        self._pages.setCurrentIndex(number)
        self._see_to_files()
        self._want_files()
        if changed:
            self.tab_changed.emit(number)

    def _fold(self, folded: bool) -> None:
        if self.bar.current == TIMELINE:
            with self.timeline.place_kept():
                self.timeline_model.fold_all(folded)
        elif self.bar.current == FILES:
            self.files_model.fold_all(folded)

    def _show_only_changes(self, on: bool) -> None:
        self.bar.only_changes = on
        self._set_beside(only_changes=on)

    def _show_settled(self, on: bool) -> None:
        self.bar.with_settled = on
        self.conflicts_model.show_settled(on)
        self.conflicts.show_cards()

    # Qt's names below.

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._hub.theme
        painter.fillRect(self.rect(), theme.color("bg.inspector"))
        painter.fillRect(QRectF(0, theme.size("header") - 1, self.width(), 1), theme.color("line.hair"))
