"""The inspector: the tabs Timeline and Files of the chat that is shown.

Arranges views and passes their intents on; owns the two models. UI thread only.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from vibekit_desktop.core.types.agents import LiveState
from vibekit_desktop.core.types.checkpoints import EntryKind, Timeline
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.error_text import ErrorText
from vibekit_desktop.ui.models.files import FileEntry, FileListModel
from vibekit_desktop.ui.models.running import BUSY
from vibekit_desktop.ui.models.timeline import TimelineModel
from vibekit_desktop.ui.models.timeline_rows import NOW, START, Running
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.controls import badge_width, draw_badge
from vibekit_desktop.ui.views.fields import SearchField
from vibekit_desktop.ui.views.file_list import FileList
from vibekit_desktop.ui.views.held_line import HeldLine
from vibekit_desktop.ui.views.row_paint import draw_text
from vibekit_desktop.ui.views.timeline import TimelineView
from vibekit_desktop.ui.when import local_now_ms


class Tab(QAbstractButton):
    """One tab: a word, perhaps a count, and a 2 px line under the current one. Signals are `QAbstractButton`'s."""

    def __init__(self, hub: ThemeHub, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._count = ""
        self.setText(text)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(text)
        hub.changed.connect(self.updateGeometry)

    def set_count(self, count: int | None) -> None:
        """Show how many there are behind the tab, or no number."""
        self._count = "" if count is None else f"{count:,}"
        self.setAccessibleName(f"{self.text()}, {self._count}" if self._count else self.text())
        self.updateGeometry()
        self.update()

    # Qt's names below.

    def sizeHint(self) -> QSize:
        theme = self._hub.theme
        width = theme.metrics("body-strong").horizontalAdvance(self.text())
        width += 6 + badge_width(theme, self._count) if self._count else 0
        return QSize(round(width + 0.5), 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        on = self.isChecked()
        token = "text.primary" if on or self.underMouse() else "text.secondary"
        box = QRectF(0, 4, self.width(), self.height() - 8)
        width = draw_text(painter, theme, box, self.text(), style="body-strong", token=token, elide=None)
        if self._count:
            draw_badge(painter, theme, self._count, width + 6, box.top() + (box.height() - 18) / 2)
        if on:
            painter.fillRect(QRectF(0, self.height() - 2, self.width(), 2), theme.color("accent.text"))


class Inspector(QWidget):
    """Timeline and files of one chat.

    Signals: those of `TimelineView`, passed on: ``diff_requested(path, old point, new point)``,
    ``undo_file_requested(path, point)``, ``restore_requested(point)``, ``undo_requested()``, ``redo_requested()``,
    ``open_chat_requested(chat)``, ``review_requested(old point, new point)``; ``files_wanted()``: the Files tab is shown and
    its list is not known yet, or out of date;
    ``retry_requested()``: Try again in the place of a failed timeline.
    """

    diff_requested = Signal(object, object, object)
    undo_file_requested = Signal(object, object)
    restore_requested = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()
    open_chat_requested = Signal(object)
    review_requested = Signal(object, object)
    files_wanted = Signal()
    retry_requested = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, now_ms: Callable[[], int] = local_now_ms) -> None:
        super().__init__(parent)
        self._hub = hub
        self.timeline_model = TimelineModel(self, now_ms=now_ms)
        self.files_model = FileListModel(self)
        self._files_known = self._failed = False
        self._live: LiveState | None = None
        self._held_by_others = ""
        self.timeline = TimelineView(hub, self.timeline_model, self, now_ms=now_ms)
        self._tabs = QButtonGroup(self)
        self._pages = QStackedWidget(self)
        self._timeline_tab = Tab(hub, tr("Timeline"), self)
        self._files_tab = Tab(hub, tr("Files"), self)
        self._blank = Blank(hub, self)
        self._skeleton = Skeleton(hub, self)
        self._blank.acted.connect(self.retry_requested)
        self._timeline_page = QStackedWidget(self)
        for widget in (self.timeline, self._blank, self._skeleton):
            self._timeline_page.addWidget(widget)
        self._held = HeldLine(hub, self)
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._held)
        column.addWidget(self._timeline_page, 1)
        self._pages.addWidget(page)
        self._pages.addWidget(self._make_files_page())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._make_tabs())
        layout.addWidget(self._pages, 1)
        self._tabs.idClicked.connect(self._show_page)
        for name in ("diff_requested", "undo_file_requested", "restore_requested", "undo_requested", "redo_requested"):
            getattr(self.timeline, name).connect(getattr(self, name))
        self.timeline.open_chat_requested.connect(self.open_chat_requested)
        self.timeline.review_requested.connect(self.review_requested)
        hub.changed.connect(self.update)
        self.show_timeline(None)

    def focus_stops(self) -> list[QWidget]:
        """What Tab goes to, in order: the tabs, then what they show."""
        tabs: list[QWidget] = [self._timeline_tab, self._files_tab]
        rest = [one for one in self.findChildren(QWidget) if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one not in tabs]
        return [*tabs, *rest]

    def _make_tabs(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(16, 16, 12, 0)
        row.setSpacing(20)
        for number, tab in enumerate((self._timeline_tab, self._files_tab)):
            self._tabs.addButton(tab, number)
            row.addWidget(tab)
        row.addStretch(1)
        self._timeline_tab.setChecked(True)
        return row

    def _make_files_page(self) -> QWidget:
        page = QWidget(self)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(8)
        self._filter = SearchField(self._hub, tr("Filter files"), page)
        self._filter.textChanged.connect(self._filtered)
        field = QHBoxLayout()
        field.setContentsMargins(12, 0, 12, 0)
        field.addWidget(self._filter)
        layout.addLayout(field)
        self.files = FileList(self._hub, self.files_model, tall=False, name=tr("Changed files"), parent=page)
        self.files.opened.connect(self._open_file)
        self._files_blank = Blank(self._hub, page)
        self._files_skeleton = Skeleton(self._hub, page, row=28)
        self._files_stack = QStackedWidget(page)
        for widget in (self.files, self._files_blank, self._files_skeleton):
            self._files_stack.addWidget(widget)
        layout.addWidget(self._files_stack, 1)
        return page

    # Showing.

    def show_timeline(self, timeline: Timeline | None) -> None:
        """Show a chat's timeline; None while no chat is open. Marks the Files list as out of date."""
        self._skeleton.end()
        with self.timeline.place_kept():
            self.timeline_model.set_timeline(timeline)
        self._failed = False
        self._hold()
        self._files_known = False
        if timeline is None:
            self._files_tab.set_count(None)
            self._blank.show_nothing()
            self._timeline_page.setCurrentWidget(self._blank)
        else:
            self._show_rows()
        if timeline is not None:
            self._files_tab.set_count(len({change.path for entry in timeline.entries for change in entry.files}))
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
            self._held.say(tr("Undo and Restore wait until turn {turn} ends.", turn=running.turn))
        else:
            self._held.say(why)
        if running != self.timeline_model.running:
            with self.timeline.place_kept():
                self.timeline_model.set_running(running)
        if why != self.timeline_model.held:
            self.timeline_model.set_held(why)
            self.timeline.viewport().update()

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

    def show_files(self, entries: Sequence[FileEntry]) -> None:
        """The net change of every file against the start of the chat."""
        self._files_known = True
        self._files_skeleton.end()
        self.files_model.set_entries(entries)
        self._files_tab.set_count(len(entries))
        self._filtered(self._filter.text())

    def _filtered(self, text: str) -> None:
        self.files_model.set_filter(text)
        if self.files_model.rowCount():
            self._files_stack.setCurrentWidget(self.files)
            return
        if self.files_model.entries:
            self._files_blank.say("search", tr("Nothing found for “{text}”", text=text), "")
        else:
            self._files_blank.say(
                "file", tr("No changes yet"), tr("When a turn changes files, they appear here with Diff and Undo.")
            )
        self._files_stack.setCurrentWidget(self._files_blank)

    def show_tab(self, number: int) -> None:
        """0 shows the timeline, 1 the files."""
        button = self._tabs.button(number)
        if button is not None:
            button.setChecked(True)
            self._show_page(number)

    def shown_list(self) -> QWidget:
        """What takes the focus: the list of the tab that is shown, or the tab itself while there is no list."""
        found = (self.timeline, self.files)[self._pages.currentIndex()]
        return found if found.isVisible() else self._tabs.button(self._pages.currentIndex())

    def _show_page(self, number: int) -> None:
        self._pages.setCurrentIndex(number)
        self._want_files()

    def _want_files(self) -> None:
        if self._pages.currentIndex() == 1 and not self._files_known and self.timeline_model.chat is not None:
            if not self.files_model.entries:
                self._files_skeleton.begin()
                self._files_stack.setCurrentWidget(self._files_skeleton)
            self.files_wanted.emit()

    def _open_file(self, path: WorkspacePath) -> None:
        self.diff_requested.emit(path, START, NOW)

    # Qt's names below.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focus = self.focusWidget()
        if isinstance(focus, Tab) and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            number = 1 - self._pages.currentIndex()
            self.show_tab(number)
            self._tabs.button(number).setFocus(Qt.FocusReason.TabFocusReason)
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._hub.theme
        painter.fillRect(self.rect(), theme.color("bg.inspector"))
        painter.fillRect(QRectF(0, theme.size("header") - 1, self.width(), 1), theme.color("line.hair"))
