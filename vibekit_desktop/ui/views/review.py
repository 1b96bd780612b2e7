"""Review changes: the files that differ between two points of a chat, and the diff of the chosen one.

Arranges the bar, the file list and the diff pane; asks through `operations.diffs` and emits intents. UI thread only.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from vibekit_desktop.core.api import Diffs
from vibekit_desktop.core.types.checkpoints import AfterTurn, Now, Point, Start, Timeline
from vibekit_desktop.core.types.diffs import Compare, DiffRequest, FileDiff, Ignore
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import WorkspaceRestored
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui import when
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.files import FileListModel, entry_of
from vibekit_desktop.ui.models.sides import new_points, old_points, side_label
from vibekit_desktop.ui.operations.diffs import DiffPresenter, Labels
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.controls import IconButton, draw_icon
from vibekit_desktop.ui.views.diff_pane import DiffPane
from vibekit_desktop.ui.views.fields import SearchField
from vibekit_desktop.ui.views.file_list import FileList
from vibekit_desktop.ui.views.review_head import FileHead, ListHead, TitleBlock
from vibekit_desktop.ui.views.segments import PickButton, Segment, Segments, pop_up
from vibekit_desktop.ui.wording import point_label

_NOW = Now()
_BAR_TIGHT = 900
"""Below this width the bar says the layout by icons only, and the title elides."""


class ReviewPage(QWidget):
    """Signals: ``back_requested()``; ``undo_file_requested(path, point)``: put a file back as it was at the left side."""

    back_requested = Signal()
    undo_file_requested = Signal(object, object)

    def __init__(
        self,
        hub: ThemeHub,
        bridge: Bridge,
        diffs: Diffs,
        parent: QWidget | None = None,
        *,
        now_ms: Callable[[], int] = when.local_now_ms,
    ) -> None:
        super().__init__(parent)
        self._now_ms = now_ms
        self._hub = hub
        self._bridge = bridge
        self._diffs = diffs
        self._chat: ChatId | None = None
        self._timeline: Timeline | None = None
        self._old: Point = Start()
        self._new: Point = _NOW
        self._point: Point = _NOW
        self._wanted: WorkspacePath | None = None
        self._token = 0
        self._layouts = ((tr("Side by side"), "split"), (tr("Unified"), "unified"))
        self.pane = DiffPane(hub, self)
        self.presenter = DiffPresenter(hub, bridge, diffs, self.pane)
        self.model = FileListModel(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._make_bar())
        across = QHBoxLayout()
        across.setSpacing(0)
        across.addWidget(self._make_list())
        across.addWidget(self._make_right(), 1)
        layout.addLayout(across, 1)
        self.presenter.shown.connect(self._shown)
        self.pane.hunk_changed.connect(self._head.set_hunk)
        self._make_keys()
        bridge.subscribe(self, WorkspaceRestored, self._restored)
        hub.changed.connect(self.update)

    # Building.

    def _make_bar(self) -> QWidget:
        bar = QWidget(self)
        bar.setFixedHeight(self._hub.theme.size("header"))
        row = QHBoxLayout(bar)
        row.setContentsMargins(8, 0, 12, 1)
        row.setSpacing(8)
        self._back = IconButton(self._hub, "arrow-left", tr("Back to chat"), large=True, parent=bar)
        self._back.clicked.connect(self.back_requested)
        self._title = TitleBlock(self._hub, bar)
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(self._back)
        head.addWidget(self._title)
        row.addLayout(head)
        row.addSpacing(6)
        self._from = PickButton(self._hub, tr("Left side"), bar)
        self._from.picked.connect(self._pick_old)
        self._to = Segments(
            self._hub,
            (Segment(tr("After turn {turn}", turn=0), menu=True), Segment(tr("On disk"))),
            name=tr("Right side"),
            parent=bar,
        )
        self._to.chosen.connect(self._switch_new)
        self._to.menu_wanted.connect(lambda _: self._open_new_menu())
        row.addWidget(self._from)
        row.addWidget(_Arrow(self._hub, bar))
        row.addWidget(self._to)
        row.addStretch(1)
        self._white = QCheckBox(tr("Ignore whitespace"), bar)
        self._white.toggled.connect(lambda _: self._load())
        row.addWidget(self._white)
        row.addSpacing(8)
        self._layout_switch = Segments(
            self._hub,
            [Segment(words, icon, name=words) for words, icon in self._layouts],
            name=tr("Layout of the diff"),
            parent=bar,
        )
        self._layout_switch.chosen.connect(lambda index: self.pane.set_unified(index == 1))
        row.addWidget(self._layout_switch)
        return bar

    def _make_list(self) -> QWidget:
        side = _Side(self._hub, self)
        side.setFixedWidth(self._hub.theme.size("review-list-default"))
        layout = QVBoxLayout(side)
        layout.setContentsMargins(0, 8, 1, 0)
        layout.setSpacing(0)
        self._filter = SearchField(self._hub, tr("Filter files"), side)
        self._filter.textChanged.connect(self._filtered)
        field = QHBoxLayout()
        field.setContentsMargins(12, 0, 12, 8)
        field.addWidget(self._filter)
        layout.addLayout(field)
        self._list_head = ListHead(self._hub, side)
        layout.addWidget(self._list_head)
        self.files = FileList(self._hub, self.model, tall=True, name=tr("Changed files"), parent=side)
        self.files.chosen.connect(self._choose)
        self.files.opened.connect(lambda _: self.pane.view.setFocus(Qt.FocusReason.OtherFocusReason))
        self._list_blank = Blank(self._hub, side)
        self._list_blank.acted.connect(self._load)
        self._list_skeleton = Skeleton(self._hub, side)
        self._list_stack = QStackedWidget(side)
        for widget in (self.files, self._list_blank, self._list_skeleton):
            self._list_stack.addWidget(widget)
        layout.addWidget(self._list_stack, 1)
        return side

    def _make_right(self) -> QWidget:
        right = QWidget(self)
        layout = QVBoxLayout(right)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._head = FileHead(self._hub, right)
        self._head.previous_hunk.connect(self.pane.view.previous_hunk)
        self._head.next_hunk.connect(self.pane.view.next_hunk)
        self._head.undo_file.connect(self._undo_file)
        layout.addWidget(self._head)
        layout.addWidget(self.pane, 1)
        return right

    def _make_keys(self) -> None:
        for keys, call in (
            ("F7", self.pane.view.next_hunk),
            ("Shift+F7", self.pane.view.previous_hunk),
            ("Ctrl+PgDown", lambda: self._step_file(1)),
            ("Ctrl+PgUp", lambda: self._step_file(-1)),
            ("Ctrl+Shift+Backspace", self._undo_file),
            ("Esc", self.back_requested.emit),
        ):
            action = QAction(self)
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(call)
            self.addAction(action)

    # Showing.

    @property
    def chat(self) -> ChatId | None:
        """Whose changes are shown."""
        return self._chat

    def open(
        self,
        title: str,
        timeline: Timeline,
        old: Point | None = None,
        new: Point | None = None,
        path: WorkspacePath | None = None,
    ) -> None:
        """Show a chat's changes between two points (default: from its start to the disk), beginning with a file."""
        self._chat = timeline.chat
        self._timeline = timeline
        self._old = old or Start()
        self._new = new or _NOW
        if self._new != _NOW:
            self._point = self._new
        else:
            points = new_points(timeline, _NOW)
            if not isinstance(self._point, AfterTurn) or self._point not in points:
                self._point = points[-1] if points else _NOW
        self._wanted = path
        self._title.set_title(title)
        self.presenter.stop()
        self.model.set_entries(())
        self._head.clear()
        self._show_sides()
        self._load()

    def refresh(self, timeline: Timeline) -> None:
        """The chat's timeline changed; the sides stay."""
        self._timeline = timeline
        self._show_sides()
        self._load()

    def close_chat(self) -> None:
        """Forget the chat, for example because another one is shown."""
        self._chat = None
        self._token += 1
        self.presenter.stop()
        self.model.set_entries(())

    def _show_sides(self) -> None:
        self._from.set_choices([(point_label(point), point) for point in old_points(self._timeline, self._old)], self._old)
        self._to.set_text(0, point_label(self._point) if self._point != _NOW else tr("After turn"))
        self._to.piece(0).setVisible(self._point != _NOW)
        self._to.set_index(1 if self._new == _NOW else 0)

    def _pick_old(self, point: Point) -> None:
        self._old = point
        self._show_sides()
        self._load()

    def _pick_new(self, point: Point) -> None:
        self._new = self._point = point
        self._show_sides()
        self._load()

    def _switch_new(self, index: int) -> None:
        self._new = _NOW if index == 1 else self._point
        self._load()

    def _open_new_menu(self) -> None:
        choices = [(point_label(point), point) for point in new_points(self._timeline, self._new)]
        pop_up(self._to, choices, self._new, self._pick_new)

    # Loading.

    def _load(self) -> None:
        if self._chat is None:
            return
        self._token += 1
        if not self.model.entries:
            self._list_skeleton.begin()
            self._list_stack.setCurrentWidget(self._list_skeleton)
        job = self._load_files(self._chat, self._old, self._new, self._token, self._compare())
        self._bridge.spawn(self, job, name="list changed files")

    def _compare(self) -> Compare:
        return Compare(Ignore.ALL if self._white.isChecked() else Ignore.NOTHING)

    async def _load_files(self, chat: ChatId, old: Point, new: Point, token: int, compare: Compare) -> None:
        try:
            found = await self._diffs.files(chat, old, new, (), compare=compare)
        except CoreError as error:
            if token == self._token:
                text = sentence(error)
                self._list_skeleton.end()
                self._list_blank.say("warning", text.title, text.detail, tr("Try again"), failed=True)
                self._list_stack.setCurrentWidget(self._list_blank)
            return
        if token == self._token:
            self._show_files(found)

    def _show_files(self, found: Sequence[FileDiff]) -> None:
        self._list_skeleton.end()
        self._list_stack.setCurrentWidget(self.files)
        if self.hasFocus():
            self.files.setFocus(Qt.FocusReason.OtherFocusReason)
        current = self.model.entry_at(self.files.currentIndex().row())
        self.model.set_entries([entry_of(diff) for diff in found])
        self._list_head.set_entries(self.model.entries)
        self._filtered(self._filter.text())
        if not found:
            self.presenter.stop()
            self._head.clear()
            self.pane.show_nothing_to_review()
            return
        row = self.model.row_of(self._wanted) if self._wanted is not None else -1
        if row < 0 and current is not None:
            row = self.model.row_of(current.path)
        row = max(row, 0)
        self._wanted = None
        if self.files.currentIndex().row() == row:
            entry = self.model.entry_at(row)
            if entry is not None:
                self._choose(entry.path, at_once=True)
        else:
            self.files.setCurrentIndex(self.model.index(row))

    def _filtered(self, text: str) -> None:
        self.model.set_filter(text)
        missing = bool(self.model.entries) and not self.model.shown
        if missing:
            self._list_blank.say("search", tr("Nothing found for “{text}”", text=text), "")
        if self.model.entries:
            self._list_stack.setCurrentWidget(self._list_blank if missing else self.files)

    def _choose(self, path: WorkspacePath, *, at_once: bool = False) -> None:
        if self._chat is None:
            return
        entry = self.model.entry_at(self.model.row_of(path))
        if entry is not None:
            why = ""
            if self._timeline is not None and not self._timeline.workspace_found:
                why = tr("The workspace was not found where it was.")
            self._head.set_file(entry, why_no_undo=why)
        request = DiffRequest(self._chat, path, self._old, self._new, self._compare())
        self.presenter.ask(request, self._labels(), at_once=at_once)

    def _labels(self) -> Labels:
        now_ms = self._now_ms()
        return side_label(self._timeline, self._old, now_ms), side_label(self._timeline, self._new, now_ms)

    def _shown(self, diff: FileDiff) -> None:
        self._head.set_counts(entry_of(diff))

    def _step_file(self, step: int) -> None:
        row = self.files.currentIndex().row() + step
        if 0 <= row < self.model.rowCount():
            self.files.setCurrentIndex(self.model.index(row))

    def _undo_file(self) -> None:
        entry = self.model.entry_at(self.files.currentIndex().row())
        if entry is not None and self._head.can_undo:
            self.undo_file_requested.emit(entry.path, self._old)

    def _restored(self, event: WorkspaceRestored) -> None:
        if self._chat is not None and self.isVisible():
            self._load()

    def _fit_bar(self) -> None:
        words = self.width() >= _BAR_TIGHT * max(1.0, self._hub.theme.zoom)
        for number, (text, _) in enumerate(self._layouts):
            self._layout_switch.set_text(number, text if words else "")

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_bar()

    def showEvent(self, event: QShowEvent) -> None:
        # The list gets the focus as soon as it is there; until then the page has it, not the first button of the bar.
        listed = self._list_stack.currentWidget() is self.files
        (self.files if listed else self).setFocus(Qt.FocusReason.OtherFocusReason)
        super().showEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.surface"))
        painter.fillRect(QRectF(0, theme.size("header") - 1, self.width(), 1), theme.color("line.hair"))


class _Arrow(QWidget):
    """The arrow between the two sides; decorative."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setFixedSize(16, 16)
        hub.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_icon(QPainter(self), self._hub.theme, "arrow-right", "text.secondary", 0, 0)


class _Side(QWidget):
    """The ground of the file list with the line at its right."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        hub.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._hub.theme.color("bg.inspector"))
        painter.fillRect(QRectF(self.width() - 1, 0, 1, self.height()), self._hub.theme.color("line.hair"))
