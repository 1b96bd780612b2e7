"""The diff view: a painted diff with mouse and keyboard.

F7 and Alt+Down go to the next hunk; arrows move a current line, with Shift they choose; Enter opens a fold. Copied text is the
file's, not what is painted. UI thread only.
"""

import re
import time

from PySide6.QtCore import QEvent, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.types.diffs import RowKind
from vibekit_desktop.ui.models.diff_rows import Show
from vibekit_desktop.ui.models.diff_runs import NEW, OLD
from vibekit_desktop.ui.models.diff_select import Place, Selection
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_choose import ChoosingSurface

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_DRAG = 4
_SCROLL_MS = 40
_SHIFT, _CTRL, _ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
_NONE = Qt.KeyboardModifier.NoModifier
_OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class DiffView(ChoosingSurface):
    """Signals, beside those of the surfaces: ``find_requested()``, ``find_stepped(step)``: the next or former place;
    ``undo_hunk_requested(index)``; ``comment_requested(side, first, last)``: lines from 1, side 0 is the old one;
    ``comment_activated(id)``: its sign was pressed; ``copy_path_requested()``.
    """

    find_requested = Signal()
    find_stepped = Signal(int)
    undo_hunk_requested = Signal(int)
    comment_requested = Signal(int, int, int)
    comment_activated = Signal(str)
    copy_path_requested = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, unified: bool = False) -> None:
        super().__init__(hub, parent, unified=unified)
        self._anchor: Place | None = None
        self._by_lines = False
        self._pressed = QPointF()
        self._doubled = 0.0
        self._dragged = QPointF()
        self._scrolling = QTimer(self)
        self._scrolling.setInterval(_SCROLL_MS)
        self._scrolling.timeout.connect(self._scroll_while_choosing)

    # Keys.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if not (self._key_of_text(event) or self._key_of_place(key, modifiers) or self._key_of_hunk(key, modifiers)):
            super().keyPressEvent(event)

    def _key_of_text(self, event: QKeyEvent) -> bool:
        standard = QKeySequence.StandardKey
        if event.matches(standard.Copy):
            self.copy()
        elif event.matches(standard.SelectAll):
            self.choose_all()
        elif event.matches(standard.Find):
            self.find_requested.emit()
        elif event.matches(standard.FindNext):
            self.find_stepped.emit(1)
        elif event.matches(standard.FindPrevious):
            self.find_stepped.emit(-1)
        elif event.key() == Qt.Key.Key_C and event.modifiers() == (_CTRL | _SHIFT):
            self.copy_path_requested.emit()
        else:
            return False
        return True

    def _key_of_place(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> bool:
        if modifiers not in (_NONE, _SHIFT):
            if modifiers == _CTRL and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
                self.set_side(OLD if key == Qt.Key.Key_Left else NEW)
                return True
            return False
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._scroll_sideways(-1 if key == Qt.Key.Key_Left else 1, alone=modifiers == _SHIFT)
            return True
        rows = self.rows
        if rows is None:
            return False
        start = self._cursor if self._cursor >= 0 else self.visible_span()[0]
        page = self.page_rows()
        places = {
            Qt.Key.Key_Up: start - 1,
            Qt.Key.Key_Down: start + 1 if self._cursor >= 0 else start,
            Qt.Key.Key_PageUp: start - page,
            Qt.Key.Key_PageDown: start + page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: len(rows) - 1,
        }
        if key not in places:
            return False
        if self._within_tall_row(start, key):
            return True
        self.move_to(places[key], choosing=modifiers == _SHIFT)
        return True

    def _within_tall_row(self, index: int, key: Qt.Key) -> bool:
        """A wrapped line may be higher than the view: then keys go through it before they leave it."""
        rows, bar, height = self.rows, self.verticalScrollBar(), self.viewport().height()
        if rows is None or not 0 <= index < len(rows) or rows.row_height(index) <= height:
            return False
        step = bar.pageStep() if key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown) else bar.singleStep()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_PageDown) and bar.value() + height < rows.top(index + 1):
            bar.setValue(min(bar.value() + step, rows.top(index + 1) - height))
            return True
        if key in (Qt.Key.Key_Up, Qt.Key.Key_PageUp) and bar.value() > rows.top(index):
            bar.setValue(max(bar.value() - step, rows.top(index)))
            return True
        return False

    def _scroll_sideways(self, steps: int, *, alone: bool) -> None:
        bar = self.horizontalScrollBar()
        if alone and not self._unified:
            self.scroll_apart(self._side, steps * bar.singleStep())
        else:
            bar.setValue(bar.value() + steps * bar.singleStep())

    def _key_of_hunk(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> bool:
        if (key == Qt.Key.Key_F7 and not modifiers) or (key == Qt.Key.Key_Down and modifiers == _ALT):
            self.next_hunk()
        elif (key == Qt.Key.Key_F7 and modifiers == _SHIFT) or (key == Qt.Key.Key_Up and modifiers == _ALT):
            self.previous_hunk()
        elif (key in _OPENING or (key == Qt.Key.Key_Space and self._on_fold())) and modifiers in (_NONE, _SHIFT):
            self._open_near_fold("all" if modifiers == _SHIFT else "down")
        elif key == Qt.Key.Key_Backspace and modifiers == _CTRL and self._hunk >= 0:
            self.undo_hunk_requested.emit(self._hunk)
        elif key == Qt.Key.Key_C and not modifiers:
            self._ask_for_comment()
        else:
            return False
        return True

    def _on_fold(self) -> bool:
        rows = self.rows
        return rows is not None and 0 <= self._cursor < len(rows) and rows.kind(self._cursor) is Show.FOLD

    def _open_near_fold(self, which: str) -> None:
        """The fold that is current, else the first in sight."""
        rows = self.rows
        if rows is None or not len(rows):
            return
        first, last = self.visible_span()
        candidates = [self._cursor] if self._on_fold() else [n for n in range(first, last + 1) if rows.kind(n) is Show.FOLD]
        if candidates:
            names = self.fold_buttons_at(candidates[0])
            self.open_fold(candidates[0], which if which in names else names[0])

    def _ask_for_comment(self) -> None:
        lines = self.chosen_lines()
        if lines is not None:
            self.comment_requested.emit(*lines)

    # The mouse.

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton or self.rows is None or not len(self.rows):
            super().mousePressEvent(event)
            return
        point = event.position()
        fold = self._fold_under(point)
        if fold is not None:
            self.open_fold(*fold)
            return
        index = self.rows.at(int(point.y()) + self.verticalScrollBar().value())
        pane = self._geometry.side_at(self.viewport().width(), point.x())
        side = self._geometry.source(index, pane)
        if self._press_sign(index, side, point):
            return
        if event.modifiers() & _SHIFT and self._anchor is not None and not self._pressed.isNull():
            self._drag_to(point)
            return
        self._side = side
        self._choose(None)
        self._anchor = self.place_at(point, side)
        self._by_lines = point.x() < self._geometry.pane(self.viewport().width(), pane).left() + self._geometry.columns().text
        self._pressed = point
        if time.monotonic() - self._doubled < QGuiApplication.styleHints().mouseDoubleClickInterval() / 1000:
            self._choose_line()
        self._set_cursor(index)

    def _press_sign(self, index: int, side: int, point: QPointF) -> bool:
        """The sign of a comment, or a label that leads to the other end of a moved block."""
        rows, dress = self.rows, self._painter.dress
        line = rows.sides(index)[side] if rows is not None else None
        if rows is None or line is None:
            return False
        pane = self._geometry.pane(self.viewport().width(), side)
        mark = dress.comment_at(side, line)
        if mark is not None and line == mark.first and point.x() < pane.left() + 22:
            self.comment_activated.emit(mark.ids[0])
            return True
        words = self._painter.label_of(side, line) if rows.row_kind(index) is not RowKind.SAME else ""
        move = dress.moves.at(side, line)
        if not words or move is None or point.x() < pane.right() - self._painter.label_width(words):
            return False
        self.go_to_line(1 - side, move.new_first if side == OLD else move.old_first)
        return True

    def go_to_line(self, side: int, line: int) -> None:
        """Make a line (from 1) of one side the current one, in sight; its fold is opened."""
        if self.rows is None or self._runs is None:
            return
        row = self._runs.row_of(side, line)
        self.show_row(row)
        self._side = side if not self._unified else self._side
        self.move_to(self.rows.index_of(row, side))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        if event.buttons() & Qt.MouseButton.LeftButton and self._anchor is not None and self.rows is not None:
            if self.selection is None and (point - self._pressed).manhattanLength() < _DRAG:
                return
            self._dragged = point
            self._drag_to(point)
            # Held outside, the view scrolls on, also while the pointer rests.
            if self.viewport().rect().contains(point.toPoint()):
                self._scrolling.stop()
            elif not self._scrolling.isActive():
                self._scrolling.start()
            return
        hovered = self._fold_under(point)
        if hovered != self._painter.dress.hovered:
            self._painter.dress.hovered = hovered
            self.viewport().update()

    def _drag_to(self, point: QPointF) -> None:
        place = self.place_at(point, self._side)
        if place is None or self._anchor is None:
            return
        if self._by_lines:
            self.choose_lines(self._side, self._anchor.line, place.line)
        else:
            self._choose(Selection(self._side, self._anchor, place))

    def _scroll_while_choosing(self) -> None:
        bar, point = self.verticalScrollBar(), self._dragged
        step = bar.singleStep()
        bar.setValue(bar.value() + (-step if point.y() < 0 else step if point.y() > self.viewport().height() else 0))
        if not self._painter.wrap and not self._by_lines:
            pane = self._geometry.pane(self.viewport().width(), self._side)
            way = -1 if point.x() < pane.left() else 1 if point.x() > pane.right() else 0
            self._scroll_sideways(way, alone=False)
        self._drag_to(point)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._by_lines and self._anchor is not None and self.selection is None and self.rows is not None:
            self._choose_line()
        self._by_lines = False
        self._scrolling.stop()
        event.accept()

    def _choose_line(self) -> None:
        if self._anchor is not None:
            self.choose_lines(self._side, self._anchor.line, self._anchor.line)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        rows = self.rows
        if rows is None or not len(rows) or self._fold_under(event.position()) is not None:
            self.mousePressEvent(event)
            return
        index = rows.at(int(event.position().y()) + self.verticalScrollBar().value())
        if rows.kind(index) is Show.FOLD:
            self.open_fold(index, "all")
            return
        self._doubled = time.monotonic()
        side = self._geometry.source(index, self._geometry.side_at(self.viewport().width(), event.position().x()))
        place = self.place_at(event.position(), side)
        if place is not None:
            self._choose_word(side, place)

    def _choose_word(self, side: int, place: Place) -> None:
        text = self._text(side).lines[place.line - 1]
        start = max(0, place.column - 2000)
        for found in _WORD.finditer(text, start, place.column + 2000):
            if found.start() <= place.column < found.end():
                first, last = Place(place.line, found.start()), Place(place.line, found.end())
                self._side, self._anchor = side, first
                self._choose(Selection(side, first, last))
                return

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Shift, sideways in the pane under the pointer alone; else as in every view."""
        if not event.modifiers() & _SHIFT:
            super().wheelEvent(event)
            return
        bar, pixels, angle = self.horizontalScrollBar(), event.pixelDelta(), event.angleDelta()
        move = float(pixels.x() or pixels.y()) or (angle.x() or angle.y()) / 120 * bar.singleStep() * 3
        if self._unified:
            bar.setValue(round(bar.value() - move))
        else:
            self.scroll_apart(self._geometry.side_at(self.viewport().width(), event.position().x()), -move)
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        self._painter.dress.hovered = None
        self.viewport().update()
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        rows = self.rows
        if self._cursor < 0 and rows is not None and len(rows):
            self._cursor = rows.hunk_span(self._hunk)[0] if self._hunk >= 0 else self.visible_span()[0]
        self._set_cursor(self._cursor)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._painter.dress.cursor = None
        self.viewport().update()

    # The menu.

    def menu(self) -> QMenu:
        """What can be done with what is chosen; a fresh one at every call."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction(tr("Copy"))
        copy.setEnabled(self.selection is not None and not self.selection.empty)
        copy.triggered.connect(self.copy)
        menu.addAction(tr("Select all of this side")).triggered.connect(self.choose_all)
        menu.addSeparator()
        comment = menu.addAction(tr("Comment on these lines…"))
        comment.setEnabled(self.chosen_lines() is not None)
        comment.triggered.connect(self._ask_for_comment)
        undo = menu.addAction(tr("Undo hunk"))
        undo.setEnabled(self._hunk >= 0)
        undo.triggered.connect(lambda: self.undo_hunk_requested.emit(self._hunk))
        menu.addSeparator()
        menu.addAction(tr("Find…")).triggered.connect(self.find_requested)
        menu.addAction(tr("Copy path")).triggered.connect(self.copy_path_requested)
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.rows is not None and len(self.rows):
            self.menu().popup(event.globalPos())
