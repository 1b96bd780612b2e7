"""Lists of changed files: one line per file in the inspector, two lines in the review page.

Paint a `FileListModel` and say which file was chosen. UI thread only.
"""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from vibekit_desktop.ui.models.files import FILE_ROLE, FileEntry, FileListModel
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.row_paint import (
    LETTER_WIDTH,
    counts_width,
    draw_counts,
    draw_letter,
    draw_path,
    draw_text,
)
from vibekit_desktop.ui.wording import file_name, folder_name, shown_path


class FileDelegate(QStyledItemDelegate):
    """Paints `FileEntry` rows. ``tall``: name above folder, as the review page has them."""

    def __init__(self, hub: ThemeHub, *, tall: bool) -> None:
        super().__init__()
        self._hub = hub
        self._tall = tall
        self.ring = False

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        entry = index.data(FILE_ROLE)
        if not isinstance(entry, FileEntry):
            return
        theme = self._hub.theme
        state: QStyle.StateFlag = option.state
        box = QRectF(option.rect).adjusted(8, 0, -8, 0)
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        radius = theme.radius("control")
        if chosen:
            active = state & QStyle.StateFlag.State_Active
            rounded(painter, box, radius, fill=theme.color("bg.selected" if active else "bg.selected-inactive"))
        elif state & QStyle.StateFlag.State_MouseOver:
            rounded(painter, box, radius, fill=theme.color("bg.hover"))
        if self._tall:
            self._two_lines(painter, entry, box, chosen=chosen)
        else:
            self._one_line(painter, entry, box)
        if self.ring and state & QStyle.StateFlag.State_HasFocus:
            focus_ring(painter, theme, box, radius)
        painter.restore()

    def _numbers(self, painter: QPainter, entry: FileEntry, line: QRectF) -> float:
        """The counts or the remark at the right end of a line; returns the room they leave."""
        theme = self._hub.theme
        counts = (entry.added, entry.removed)
        width = counts_width(theme, counts)
        if width:
            draw_counts(painter, theme, counts, QRectF(line.right() - width, line.top(), width, line.height()))
        elif entry.remark:
            width = theme.metrics("small").horizontalAdvance(entry.remark)
            draw_text(painter, theme, line, entry.remark, style="small", token="text.tertiary", right=True)
        return line.width() - width - 8

    def _two_lines(self, painter: QPainter, entry: FileEntry, box: QRectF, *, chosen: bool) -> None:
        theme = self._hub.theme
        zoom = theme.zoom
        path = shown_path(entry.path, entry.old_path)
        first = QRectF(box.left() + 12, box.top() + 5 * zoom, box.width() - 22, 18 * zoom)
        second = QRectF(first.left(), first.bottom(), first.width(), 16 * zoom)
        letter = QRectF(first.right() - LETTER_WIDTH + 2, first.top(), LETTER_WIDTH, first.height())
        draw_letter(painter, theme, entry.letter, letter)
        name = first.adjusted(0, 0, -LETTER_WIDTH - 6, 0)
        draw_text(
            painter,
            theme,
            name,
            file_name(path),
            weight=500 if chosen else None,
            elide=Qt.TextElideMode.ElideMiddle,
        )
        room = self._numbers(painter, entry, second)
        folder = QRectF(second.left(), second.top(), room, second.height())
        draw_path(painter, theme, folder, folder_name(path), style="small", token="text.tertiary")

    def _one_line(self, painter: QPainter, entry: FileEntry, box: QRectF) -> None:
        theme = self._hub.theme
        draw_letter(painter, theme, entry.letter, QRectF(box.left() + 8, box.top(), LETTER_WIDTH, box.height()))
        line = QRectF(box.left() + 8 + LETTER_WIDTH + 8, box.top(), box.width() - 16 - LETTER_WIDTH - 8, box.height())
        room = self._numbers(painter, entry, line)
        draw_path(painter, theme, QRectF(line.left(), line.top(), room, line.height()), shown_path(entry.path, entry.old_path))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        theme = self._hub.theme
        return QSize(100, theme.size("row-file-tall" if self._tall else "row-file"))


class FileList(PaintedList):
    """``chosen(path)``: the file in the current row, on every move. ``opened(path)``: Enter or a double click."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, hub: ThemeHub, model: FileListModel, *, tall: bool, name: str, parent: QWidget | None = None) -> None:
        self._model = model
        self._delegate = FileDelegate(hub, tall=tall)
        super().__init__(hub, model, self._delegate, name=name, parent=parent)
        self.setUniformItemSizes(True)
        self.doubleClicked.connect(self._open)

    def _open(self, index: QModelIndex) -> None:
        entry = self._model.entry_at(index.row())
        if entry is not None:
            self.opened.emit(entry.path)

    # Qt's names below.

    def currentChanged(
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().currentChanged(current, previous)
        entry = self._model.entry_at(current.row())
        if entry is not None:
            self.chosen.emit(entry.path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.ring = True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
            return
        super().keyPressEvent(event)
