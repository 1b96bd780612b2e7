"""The left column of the review: filter, sums, the files with their marks, and how far the review is.

Shows a `FileListModel`; knows no core. UI thread only.
"""

from PySide6.QtCore import QItemSelectionModel, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.error_text import ErrorText
from vibekit_desktop.ui.models.files import FileListModel
from vibekit_desktop.ui.models.review_marks import next_to_review, reviewed_count
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.fields import SearchField
from vibekit_desktop.ui.views.file_list import FileList
from vibekit_desktop.ui.views.review_head import ListHead
from vibekit_desktop.ui.views.row_paint import draw_text

_FOOT, _WORDS = 49, 24


class ReviewList(QWidget):
    """Signals: ``chosen(path)``, ``opened(path)`` and ``mark_pressed(path)`` of `FileList`; ``retry()``: Try again after a
    failure. ``files`` is the list, ``filter`` the field over it."""

    chosen = Signal(object)
    opened = Signal(object)
    mark_pressed = Signal(object)
    retry = Signal()

    def __init__(self, hub: ThemeHub, model: FileListModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._model = model
        self.setFixedWidth(hub.theme.size("review-list-default"))
        space = hub.theme.space
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, space("s8"), space("s1"), 0)
        layout.setSpacing(0)
        self.filter = SearchField(hub, tr("Filter files"), self)
        self.filter.textChanged.connect(self._filtered)
        field = QHBoxLayout()
        field.setContentsMargins(space("s12"), 0, space("s12"), space("s8"))
        field.addWidget(self.filter)
        layout.addLayout(field)
        self._head = ListHead(hub, self)
        layout.addWidget(self._head)
        self.files = FileList(hub, model, tall=True, name=tr("Changed files"), parent=self)
        self.files.chosen.connect(self.chosen)
        self.files.opened.connect(self.opened)
        self.files.mark_pressed.connect(self.mark_pressed)
        self._blank = Blank(hub, self)
        self._blank.acted.connect(self.retry)
        self._skeleton = Skeleton(hub, self)
        self._stack = QStackedWidget(self)
        for widget in (self.files, self._blank, self._skeleton):
            self._stack.addWidget(widget)
        layout.addWidget(self._stack, 1)
        self._foot = _Foot(hub, self)
        self._foot.next.clicked.connect(self.go_to_next)
        layout.addWidget(self._foot)
        hub.changed.connect(self._themed)
        self._themed()
        self.show_entries()

    def _themed(self) -> None:
        self.filter.setFixedHeight(self._hub.theme.size("control"))  # lower than the fields of dialogs
        self.update()

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What can have the focus, from the top."""
        return (self.filter, self.files, self._foot.next)

    @property
    def is_listed(self) -> bool:
        """Whether the files are shown and not that there are none."""
        return self._stack.currentWidget() is self.files

    @property
    def is_filtered(self) -> bool:
        """Whether some files are left out."""
        return len(self._model.shown) < len(self._model.entries)

    @property
    def current(self) -> WorkspacePath | None:
        """The file of the current row."""
        entry = self._model.entry_at(self.files.currentIndex().row())
        return entry.path if entry is not None else None

    # Showing.

    def show_loading(self) -> None:
        """Nothing is known yet: quiet for 200 ms, then a skeleton."""
        self._skeleton.begin()
        self._stack.setCurrentWidget(self._skeleton)
        self._foot.hide()

    def show_error(self, text: ErrorText) -> None:
        """The files could not be listed."""
        self._skeleton.end()
        self._blank.say("warning", text.title, text.detail, tr("Try again"), failed=True)
        self._stack.setCurrentWidget(self._blank)
        self._foot.hide()

    def show_entries(self) -> None:
        """The model's entries are other ones now."""
        self._skeleton.end()
        self._head.set_entries(self._model.entries)
        self._stack.setCurrentWidget(self.files)
        self._filtered(self.filter.text())
        self._foot.setVisible(bool(self._model.entries))
        self.show_progress()

    def show_progress(self) -> None:
        """How far the review is, and whether it goes on somewhere."""
        self._foot.set_progress(reviewed_count(self._model.entries), len(self._model.entries))
        self._foot.next.setEnabled(next_to_review(self._model.shown, self.current) is not None)

    def select(self, path: WorkspacePath) -> bool:
        """Make a file current; False if it is not in the list."""
        row = self._model.row_of(path)
        if row >= 0:
            # Not only current: Qt makes a row current by itself when the list gets the focus, and chooses none.
            how = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.files.selectionModel().setCurrentIndex(self._model.index(row), how)
        return row >= 0

    def go_to_next(self) -> None:
        """The next file that is not reviewed."""
        path = next_to_review(self._model.shown, self.current)
        if path is not None:
            self.select(path)

    def _filtered(self, text: str) -> None:
        kept = self.current
        self._model.set_filter(text)
        if kept is not None and self.current != kept:
            self.select(kept)
        missing = bool(self._model.entries) and not self._model.shown
        if missing:
            self._blank.say("search", tr("Nothing found for “{text}”", text=text), "")
        if self._model.entries:
            self._stack.setCurrentWidget(self._blank if missing else self.files)

    # Qt's names below.

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._hub.theme.color("bg.inspector"))
        painter.fillRect(QRectF(self.width() - 1, 0, 1, self.height()), self._hub.theme.color("line.hair"))


class _Foot(QWidget):
    """ "2 of 7 reviewed" with a meter, and Next file."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._done = self._total = 0
        under = hub.theme.space("s16")
        row = QHBoxLayout(self)
        row.setContentsMargins(under, 5, 9, under)
        row.addStretch(1)
        self.next = Button(hub, tr("Next file"), kind="link", size="small", parent=self)
        self.next.setToolTip(tr("The next file that is not reviewed"))
        row.addWidget(self.next, 0, Qt.AlignmentFlag.AlignTop)
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self.setFixedHeight(_FOOT - _WORDS + self._high())
        self.update()

    def _high(self) -> int:
        return round(_WORDS * max(1.0, self._hub.theme.zoom))

    def set_progress(self, done: int, total: int) -> None:
        """So many of the files are reviewed."""
        self._done, self._total = done, total
        self.setAccessibleName(self._words())
        self.update()

    def _words(self) -> str:
        return tr("{done} of {total} reviewed", done=self._done, total=self._total)

    # Qt's names below.

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(QRectF(0, 0, self.width(), 1), theme.color("line.hair"))
        box = QRectF(16, 7, self.next.x() - 16 - 4, self._high())
        draw_text(painter, theme, box, self._words(), style="small", token="text.secondary")
        meter = QRectF(16, self.height() - 16, self.width() - 32, 4)
        rounded(painter, meter, 2, fill=theme.color("bg.track"))
        if self._done:
            part = QRectF(meter.left(), meter.top(), meter.width() * self._done / self._total, meter.height())
            rounded(painter, part, 2, fill=theme.color("success.text"))
