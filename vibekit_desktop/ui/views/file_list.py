"""Lists of changed files: one line per file in the inspector, two lines in the review page.

Paint a `FileListModel` and say which file was chosen; in the review also whether it is reviewed. UI thread only.
"""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from vibekit_desktop.ui.models.files import FILE_ROLE, FileEntry, FileListModel, Mark
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.row_paint import (
    LETTER_WIDTH,
    counts_width,
    draw_counts,
    draw_letter,
    draw_path,
    draw_text,
    text_width,
)
from vibekit_desktop.ui.wording import file_name, folder_name, shown_path

_MARK_LEFT, _MARK_SIZE, _TEXT_LEFT = 8, 16, 32
"""In a row of the review: where the mark stands, and the words."""


class FileDelegate(QStyledItemDelegate):
    """Paints `FileEntry` rows. ``tall``: the mark, and the name above the folder, as the review page has them."""

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

    def mark_box(self, row: QRectF) -> QRectF:
        """Where the mark of a row of the review can be pressed."""
        return QRectF(row.left() + 8, row.top(), _TEXT_LEFT - 2, row.height())

    def _two_lines(self, painter: QPainter, entry: FileEntry, box: QRectF, *, chosen: bool) -> None:
        theme = self._hub.theme
        zoom = theme.zoom
        done = entry.mark is Mark.REVIEWED
        first = QRectF(box.left() + _TEXT_LEFT, box.top() + 5 * zoom, box.width() - _TEXT_LEFT - 10, 18 * zoom)
        second = QRectF(first.left(), first.bottom(), first.width(), 16 * zoom)
        icon, token = ("check-circle", "success.text") if done else ("circle", "line.control")
        draw_icon(painter, theme, icon, token, box.left() + _MARK_LEFT, round(first.center().y()) - _MARK_SIZE // 2)
        letter = QRectF(first.right() - LETTER_WIDTH + 2, first.top(), LETTER_WIDTH, first.height())
        draw_letter(painter, theme, entry.letter, letter)
        name = first.adjusted(0, 0, -LETTER_WIDTH - 6 - self._comments(painter, entry, first), 0)
        draw_text(
            painter,
            theme,
            name,
            shown_name(entry),
            token="text.secondary" if done and not chosen else "text.primary",
            weight=500 if chosen else None,
            elide=Qt.TextElideMode.ElideMiddle,
        )
        room = self._numbers(painter, entry, second)
        folder = QRectF(second.left(), second.top(), room, second.height())
        if entry.mark is Mark.CHANGED:
            words = tr("changed again")
            used = draw_text(painter, theme, folder, words, style="small", token="warning.text")
            folder = folder.adjusted(used + 8, 0, 0, 0)
        if folder.width() > 0:
            draw_path(painter, theme, folder, folder_name(shown_path(entry.path)), style="small", token="text.tertiary")

    def _comments(self, painter: QPainter, entry: FileEntry, line: QRectF) -> float:
        """How many comments there are, left of the letter; returns the room they take."""
        if not entry.comments:
            return 0.0
        theme = self._hub.theme
        text = f"{entry.comments:,}"
        width = text_width(theme, "small", text) + 18
        x = line.right() - LETTER_WIDTH - 6 - width
        draw_icon(painter, theme, "chat", "text.tertiary", x, round(line.center().y()) - 7, 14)
        box = QRectF(x + 17, line.top(), width, line.height())
        draw_text(painter, theme, box, text, style="small", token="text.tertiary", elide=None)
        return width + 6

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
    """``chosen(path)``: the file in the current row, on every move. ``opened(path)``: Enter or a double click.
    ``mark_pressed(path)``: the mark of a row of the review was pressed, or Space in it."""

    chosen = Signal(object)
    opened = Signal(object)
    mark_pressed = Signal(object)

    def __init__(self, hub: ThemeHub, model: FileListModel, *, tall: bool, name: str, parent: QWidget | None = None) -> None:
        self._model = model
        self._tall = tall
        self._delegate = FileDelegate(hub, tall=tall)
        super().__init__(hub, model, self._delegate, name=name, parent=parent)
        self.setUniformItemSizes(True)
        self.doubleClicked.connect(self._open)

    def _open(self, index: QModelIndex) -> None:
        entry = self._model.entry_at(index.row())
        if entry is not None:
            self.opened.emit(entry.path)

    def _mark_at(self, point: QPointF) -> FileEntry | None:
        """The file whose mark is at a place of the viewport."""
        index = self.indexAt(point.toPoint()) if self._tall else QModelIndex()
        if not index.isValid() or not self._delegate.mark_box(QRectF(self.visualRect(index))).contains(point):
            return None
        return self._model.entry_at(index.row())

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
        entry = self._model.entry_at(self.currentIndex().row())
        if self._tall and event.key() == Qt.Key.Key_Space and entry is not None:
            self.mark_pressed.emit(entry.path)
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        entry = self._mark_at(event.position())
        if entry is not None and event.button() is Qt.MouseButton.LeftButton:
            self.mark_pressed.emit(entry.path)  # the row that is shown stays
            return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._mark_at(event.position()) is not None:
            self.mousePressEvent(event)
            return
        super().mouseDoubleClickEvent(event)


def shown_name(entry: FileEntry) -> str:
    """The name of the file, and the one it had before; a file that only went to another folder has one."""
    name = file_name(shown_path(entry.path))
    before = name if entry.old_path is None else file_name(shown_path(entry.old_path))
    return name if before == name else f"{before} → {name}"
