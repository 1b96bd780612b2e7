"""The diff view: a diff's surface with mouse and keyboard, selection of lines and copying.

F7 and Alt+Down go to the next hunk, Enter opens the first fold in sight. Copied text is the file's, not what is painted. UI
thread only.
"""

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.ui.models.diff_rows import Show
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_paint import NEW, OLD
from vibekit_desktop.ui.views.diff_surface import DiffSurface


class DiffView(DiffSurface):
    """Invariant: the selection is a run of display rows on one side, or nothing. Signals are those of `DiffSurface`."""

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, unified: bool = False) -> None:
        super().__init__(hub, parent, unified=unified)
        self._anchor = -1
        self._pressed = QPointF()
        self._side = NEW

    def set_document(self, document: DiffDocument | None, *, keep_place: bool = False) -> None:
        """Show another document; nothing is selected."""
        self._anchor = -1
        super().set_document(document, keep_place=keep_place)

    # Selection.

    def selected_text(self) -> str:
        """The lines chosen, exactly as they are in the file."""
        rows, chosen = self.rows, self._painter.chosen
        if rows is None or chosen is None:
            return ""
        side, first, last = chosen
        lines: list[str] = []
        for index in range(first, last + 1):
            old, new = rows.sides(index)
            if self._unified:
                number, which = (new, NEW) if new is not None else (old, OLD)
            else:
                number, which = (old, OLD) if side == OLD else (new, NEW)
            if number is not None:
                lines.append(self._painter.side(which).lines[number - 1])
        return "\n".join(lines)

    def copy(self) -> None:
        """Put the chosen lines on the clipboard."""
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)

    def _choose(self, start: int, end: int, side: int) -> None:
        self._painter.chosen = (side, min(start, end), max(start, end))
        self.viewport().update()

    def _side_at(self, x: float) -> int:
        return next((side for side, pane in self._painter.panes(self.viewport().width()) if x < pane.right()), NEW)

    def _index_at(self, y: float) -> int:
        rows = self.rows
        assert rows is not None
        return rows.at(int(y) + self.verticalScrollBar().value())

    # Qt's names below.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        bar = self.verticalScrollBar()
        shift, alt = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll) and self.rows is not None and len(self.rows):
            side = self._painter.chosen[0] if self._painter.chosen else NEW
            self._choose(0, len(self.rows) - 1, side)
        elif (key == Qt.Key.Key_F7 and not modifiers) or (key == Qt.Key.Key_Down and modifiers == alt):
            self.next_hunk()
        elif (key == Qt.Key.Key_F7 and modifiers == shift) or (key == Qt.Key.Key_Up and modifiers == alt):
            self.previous_hunk()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open_first_fold("all" if modifiers == shift else "down")
        elif key == Qt.Key.Key_Home:
            bar.setValue(0)
        elif key == Qt.Key.Key_End:
            bar.setValue(bar.maximum())
        else:
            super().keyPressEvent(event)

    def _open_first_fold(self, which: str) -> None:
        rows = self.rows
        first, last = self.visible_span()
        for index in range(first, last + 1):
            if rows is not None and rows.kind(index) is Show.FOLD:
                top = rows.top(index) - self.verticalScrollBar().value()
                names = [name for name, _ in self._painter.fold_buttons(index, self.viewport().width(), top)]
                self.open_fold(index, which if which in names else names[0])
                return

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton or self.rows is None or not len(self.rows):
            super().mousePressEvent(event)
            return
        fold = self._fold_under(event.position())
        if fold is not None:
            self.open_fold(*fold)
            return
        index, side = self._index_at(event.position().y()), self._side_at(event.position().x())
        chosen = self._painter.chosen
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and chosen is not None and self._anchor >= 0:
            self._choose(self._anchor, index, chosen[0])
            return
        self._anchor = index
        self._painter.chosen = None
        self._side, self._pressed = side, event.position()
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        if event.buttons() & Qt.MouseButton.LeftButton and self._anchor >= 0 and self.rows is not None:
            if self._painter.chosen is None and (point - self._pressed).manhattanLength() < 4:
                return
            self._scroll_while_choosing(point)
            self._choose(self._anchor, self._index_at(point.y()), self._side)
            return
        hovered = self._fold_under(point)
        if hovered != self._painter.hovered:
            self._painter.hovered = hovered
            self.viewport().update()

    def _scroll_while_choosing(self, point: QPointF) -> None:
        bar = self.verticalScrollBar()
        if point.y() < 0:
            bar.setValue(bar.value() - bar.singleStep())
        elif point.y() > self.viewport().height():
            bar.setValue(bar.value() + bar.singleStep())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.rows is None or self._fold_under(event.position()) is not None:
            self.mousePressEvent(event)
            return
        index = self._index_at(event.position().y())
        self._choose(index, index, self._side_at(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        self._painter.hovered = None
        self.viewport().update()
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self.selected_text():
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Copy")).triggered.connect(self.copy)
        menu.popup(event.globalPos())
