"""The list of a review's comments: where each one stands, the words, whether it was sent; with Edit and Delete beside it.

Paints a `CommentListModel`. Enter goes to the lines, F2 or E edits, Delete deletes. UI thread only.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip, QWidget

from vibekit_desktop.ui.models.comments import COMMENT_ROLE, CommentListModel, CommentRow
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.row_paint import draw_icon_button, draw_text, text_width
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import file_name, shown_path

_HEIGHT = 68
_BUTTON = 24
_ICONS = (("edit", "edit"), ("delete", "trash"))


class CommentDelegate(QStyledItemDelegate):
    """Paints `CommentRow`. ``hover`` is the row and the button under the pointer."""

    def __init__(self, hub: ThemeHub) -> None:
        super().__init__()
        self._hub = hub
        self.hover: tuple[int, str] = (-1, "")
        self.ring = False

    def buttons(self, row: QRectF) -> list[tuple[str, QRectF]]:
        """Where the buttons of a row are."""
        box = row.adjusted(8, 0, -8, 0)
        left = box.right() - 4 - _BUTTON * len(_ICONS)
        return [(name, QRectF(left + _BUTTON * n, box.top() + 4, _BUTTON, _BUTTON)) for n, (name, _) in enumerate(_ICONS)]

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        row = index.data(COMMENT_ROLE)
        if not isinstance(row, CommentRow):
            return
        theme = self._hub.theme
        state: QStyle.StateFlag = option.state
        box = QRectF(option.rect).adjusted(8, 1, -8, -1)
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            active = state & QStyle.StateFlag.State_Active
            fill = theme.color("bg.selected" if active else "bg.selected-inactive")
            rounded(painter, box, theme.radius("control"), fill=fill)
        elif state & QStyle.StateFlag.State_MouseOver:
            rounded(painter, box, theme.radius("control"), fill=theme.color("bg.hover"))
        self._words(painter, row, box)
        for (name, place), (_, icon) in zip(self.buttons(QRectF(option.rect)), _ICONS, strict=True):
            draw_icon_button(painter, theme, icon, place, hovered=self.hover == (index.row(), name), pressed=False)
        if self.ring and state & QStyle.StateFlag.State_HasFocus:
            focus_ring(painter, theme, box, theme.radius("control"))
        painter.restore()

    def _words(self, painter: QPainter, row: CommentRow, box: QRectF) -> None:
        theme = self._hub.theme
        zoom = theme.zoom
        left, width = box.left() + 12, box.width() - 24
        head = QRectF(left, box.top() + 5 * zoom, width - _BUTTON * len(_ICONS), 18 * zoom)
        name = file_name(shown_path(row.comment.path))
        room = head.width() - text_width(theme, "small", row.where) - 8
        used = draw_text(
            painter,
            theme,
            QRectF(head.left(), head.top(), max(40.0, room), head.height()),
            name,
            style="small",
            weight=500,
            elide=Qt.TextElideMode.ElideMiddle,
        )
        draw_text(painter, theme, head.adjusted(used + 8, 0, 0, 0), row.where, style="small", token="text.tertiary")
        text = one_line(row.comment.text)
        first, rest = _two_lines(text, width, theme.metrics("body").horizontalAdvance)
        line = QRectF(left, head.bottom() + 1, width, 18 * zoom)
        draw_text(painter, theme, line, first)
        second = QRectF(left, line.bottom(), width, 18 * zoom)
        if row.state:
            token = "warning.text" if row.is_gone else "text.tertiary"
            draw_text(painter, theme, second, row.state, style="small", token=token, right=True)
            second.adjust(0, 0, -text_width(theme, "small", row.state) - 8, 0)
        if rest:
            draw_text(painter, theme, second, rest)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, round(_HEIGHT * self._hub.theme.zoom))


class CommentList(PaintedList):
    """``go_requested(comment)``: its lines are wanted; ``edit_requested(comment)``; ``delete_requested(comment)``."""

    go_requested = Signal(object)
    edit_requested = Signal(object)
    delete_requested = Signal(object)

    def __init__(self, hub: ThemeHub, model: CommentListModel, parent: QWidget) -> None:
        self._model = model
        self._delegate = CommentDelegate(hub)
        super().__init__(hub, model, self._delegate, name=tr("Comments"), parent=parent)
        self.setUniformItemSizes(True)

    def button_at(self, point: QPointF) -> tuple[int, str]:
        """The row and the button at a place of the viewport; -1 and nothing."""
        index = self.indexAt(point.toPoint())
        if not index.isValid():
            return -1, ""
        for name, box in self._delegate.buttons(QRectF(self.visualRect(index))):
            if box.contains(point):
                return index.row(), name
        return index.row(), ""

    def act(self, number: int, what: str) -> None:
        """Do what a button says with the comment of a row; empty goes to its lines."""
        row = self._model.row_at(number)
        if row is None:
            return
        signal = {"edit": self.edit_requested, "delete": self.delete_requested}.get(what, self.go_requested)
        signal.emit(row.comment)

    # Qt's names below.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.ring = True
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.act(self.currentIndex().row(), "")
        elif key in (Qt.Key.Key_F2, Qt.Key.Key_E):
            self.act(self.currentIndex().row(), "edit")
        elif key == Qt.Key.Key_Delete:
            self.act(self.currentIndex().row(), "delete")
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number, button = self.button_at(event.position())
        super().mousePressEvent(event)
        if event.button() is Qt.MouseButton.LeftButton and number >= 0:
            self.act(number, button)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.button_at(event.position()))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover((-1, ""))
        super().leaveEvent(event)

    def _hover(self, place: tuple[int, str]) -> None:
        if place != self._delegate.hover:
            self._delegate.hover = place
            self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            number, button = self.button_at(QPointF(event.pos()))
            row = self._model.row_at(number)
            text = row.comment.text if row is not None else ""
            names = {"edit": tr("Edit this comment"), "delete": tr("Delete this comment")}
            QToolTip.showText(event.globalPos(), plain_tip(names.get(button, text)), self.viewport())
            return True
        return super().viewportEvent(event)


def _two_lines(text: str, width: float, measure: Callable[[str], float]) -> tuple[str, str]:
    """As many words as fit in one line, and the rest."""
    words = text[:400].split(" ")
    count = 1
    while count < len(words) and measure(" ".join(words[: count + 1])) <= width:
        count += 1
    return " ".join(words[:count]), " ".join(words[count:])
