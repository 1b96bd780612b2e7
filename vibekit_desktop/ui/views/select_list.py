"""A list of painted blocks whose text can be chosen across all of them, with the mouse or with Shift and the arrows.

A block without text of its own is chosen as a whole. Only where the choice begins and ends is laid out for it, so that all of a
hundred thousand rows can be chosen. Knows nothing of chats. UI thread only.
"""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.block_view import Hit, PaintState, TextView
from vibekit_desktop.ui.views.hit_list import HitList
from vibekit_desktop.ui.views.text_places import Ground

_PULL_MS = 40
_PULL_MOST = 60
_MOVES = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -1,
    Qt.Key.Key_PageDown: 1,
    Qt.Key.Key_Home: -1,
    Qt.Key.Key_End: 1,
}


class Spot(NamedTuple):
    """A border between two characters of a row. A row without text has two: 0 before it and 1 after it."""

    row: int
    at: int


class SelectList(HitList):
    """The list. A subclass says whether a row without text has something to copy (`is_copied`), and what else of a row's text
    stands on a ground (`marks`).

    Invariant: what is chosen is what lies between ``_anchor``, where it began, and ``_head``, which moves; both or none."""

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(hub, parent)
        self._anchor: Spot | None = None
        self._head = Spot(0, 0)
        self._goal: float | None = None
        """The x that going up and down keeps to."""
        self._drag_from: QPointF | None = None
        self._dragged = False
        self._twice_at = (0, QPointF())
        self._pull = QTimer(self)
        self._pull.setInterval(_PULL_MS)
        self._pull.timeout.connect(self._pulled)
        self._pointer = QPointF()

    # What a subclass says

    def is_copied(self, row: int) -> bool:
        """Whether a row without text of its own has something to copy."""
        return row >= 0

    def marks(self, row: int) -> Sequence[Ground]:
        """What was found in a row that is laid out."""
        return () if row >= 0 else (Ground(0, 0, ""),)

    # What is chosen

    @property
    def selection(self) -> tuple[Spot, Spot] | None:
        """Where what is chosen begins and ends; None if nothing is."""
        anchor = self._anchor
        if anchor is None or anchor == self._head or not self.count:
            return None
        last = self.count - 1
        first, end = sorted((anchor, self._head))
        return Spot(min(first.row, last), first.at), Spot(min(end.row, last), end.at)

    def select(self, anchor: Spot, head: Spot) -> None:
        """Choose what lies between two places."""
        self._anchor, self._head = anchor, head
        self.viewport().update()

    def select_all(self) -> None:
        """Choose everything that is loaded."""
        if self.count:
            self.select(Spot(0, 0), Spot(self.count - 1, self.length(self.count - 1)))

    def select_nothing(self) -> None:
        """Choose nothing."""
        self._anchor = None
        self.viewport().update()

    def shift_selection(self, rows: int) -> None:
        """So many rows came above everything."""
        if self._anchor is not None:
            self._anchor = Spot(max(0, self._anchor.row + rows), self._anchor.at)
            self._head = Spot(max(0, self._head.row + rows), self._head.at)

    def length(self, row: int) -> int:
        """How many characters of a row can be chosen."""
        text = self._text(row)
        return len(text.text) if text is not None else int(self.is_copied(row))

    def chosen_in(self, row: int) -> tuple[int, int] | None:
        """The part of a row that is chosen; None for none of it. For a row that is not laid out the end is not known (-1)."""
        found = self.selection
        if found is None or not found[0].row <= row <= found[1].row:
            return None
        start = found[0].at if row == found[0].row else 0
        end = found[1].at if row == found[1].row else -1
        return start, end

    def _text(self, row: int) -> TextView | None:
        view: object = self.lay_out(row)
        return view if isinstance(view, TextView) and view.text else None

    # Rows come and go

    def rows_inserted(self, first: int, count: int) -> None:
        super().rows_inserted(first, count)
        if self._anchor is not None:
            self._anchor = _after_insert(self._anchor, first, count)
            self._head = _after_insert(self._head, first, count)

    def rows_removed(self, first: int, last: int) -> None:
        super().rows_removed(first, last)
        if self._anchor is not None:
            self._anchor = _after_removal(self._anchor, first, last)
            self._head = _after_removal(self._head, first, last)

    # Painting

    def paint_state(self, row: int, clip: QRectF) -> PaintState:
        state = super().paint_state(row, clip)
        grounds = list(self.marks(row))
        part = self.chosen_in(row)
        text = self._text(row) if part is not None else None
        if part is not None and text is not None:
            end = len(text.text) if part[1] < 0 else part[1]
            if part[0] < end:
                grounds.insert(0, Ground(part[0], end, "bg.selected"))
        state.grounds = grounds
        return state

    def paint_over(self, painter: QPainter, row: int, box: QRectF) -> None:
        super().paint_over(painter, row, box)
        part = self.chosen_in(row)
        if part is None or not self.is_copied(row) or part[0] > 0 or part[1] == 0:
            return
        if row in self.views and self._text(row) is None:
            theme = self.hub.theme
            rounded(painter, box.adjusted(-4, -2, 4, 2), theme.radius("card"), line=theme.color("line.focus"))

    # Pointer

    def spot_at(self, point: QPointF) -> Spot:
        """The border between two characters that is nearest to a point of the viewport."""
        y = min(max(0.0, point.y()), self.viewport().height() - 1.0)
        row = self.row_at(y)
        if row < 0:
            return Spot(self.count - 1, self.length(self.count - 1))
        place = self._place_in(row, QPointF(point.x(), y))
        text = self._text(row)
        if text is not None:
            return Spot(row, text.index_at(place) if place.y() >= 0 else 0)
        return Spot(row, self.length(row) if place.y() >= self.lay_out(row).height / 2 else 0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() is not Qt.MouseButton.LeftButton or not self.count:
            return
        hit, point = self._pressed[1], event.position()
        extends = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) and self._anchor is not None
        if _takes_press(hit):
            return
        self._goal, self._dragged = None, False
        self._drag_from = self._pointer = point
        if extends:
            self._pressed = (-1, None)
            self._head = self.spot_at(point)
        elif self._is_third_press(event):
            row = self.spot_at(point).row
            self.select(Spot(row, 0), Spot(row, self.length(row)))
        else:
            self._anchor = self._head = self.spot_at(point)
        self.viewport().update()

    def _is_third_press(self, event: QMouseEvent) -> bool:
        at, point = self._twice_at
        quick = at > 0 and event.timestamp() - at < QGuiApplication.styleHints().mouseDoubleClickInterval()
        return quick and (event.position() - point).manhattanLength() < QGuiApplication.styleHints().startDragDistance()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        at = self._hit_at(event.position())
        if event.button() is not Qt.MouseButton.LeftButton or _takes_press(self._hit(at)) or not self.count:
            self.mousePressEvent(event)
            return
        spot = self.spot_at(event.position())
        text = self._text(spot.row)
        first, end = text.word_at(spot.at) if text is not None else (0, self.length(spot.row))
        self._pressed = (-1, None)
        self._twice_at = (event.timestamp(), event.position())
        self.select(Spot(spot.row, first), Spot(spot.row, end))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        start = self._drag_from
        if start is None or not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
            self._show_cursor(event.position())
            return
        point = self._pointer = event.position()
        if not self._dragged and (point - start).manhattanLength() < QGuiApplication.styleHints().startDragDistance():
            return
        self._dragged = True
        self._pressed = (-1, None)  # whoever drags over a link does not want to follow it
        self.hold_still()
        self._head = self.spot_at(point)
        if 0 <= point.y() < self.viewport().height():
            self._pull.stop()
        elif not self._pull.isActive():
            self._pull.start()
        self.viewport().update()

    def _pulled(self) -> None:
        """The pointer is held above or below the list: more comes in sight, the faster the farther it is away."""
        y, height = self._pointer.y(), self.viewport().height()
        by = y if y < 0 else y - height if y >= height else 0
        if self._drag_from is None or not by:
            self._pull.stop()
            return
        self.scroll_by(round(max(-_PULL_MOST, min(_PULL_MOST, by))))
        self._head = self.spot_at(self._pointer)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag_from = None
        self._pull.stop()
        super().mouseReleaseEvent(event)

    def _show_cursor(self, point: QPointF) -> None:
        if self._hit(self._hover) is not None:
            return
        row = self.row_at(point.y())
        over = row in self.views and self._text(row) is not None
        over = over and 0 <= self._place_in(row, point).x() <= self.column_width()
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor if over else Qt.CursorShape.ArrowCursor)

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers, key = event.modifiers(), Qt.Key(event.key())
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif key == Qt.Key.Key_Escape and self.selection is not None:
            self.select_nothing()
        elif modifiers & Qt.KeyboardModifier.ShiftModifier and key in _MOVES and self.count:
            self._extend(key, far=bool(modifiers & Qt.KeyboardModifier.ControlModifier))
        else:
            super().keyPressEvent(event)

    def _extend(self, key: Qt.Key, *, far: bool) -> None:
        if self._anchor is None:
            self._anchor = self._head = Spot(max(0, self._current if self._current >= 0 else self.top_row), 0)
        step, head = _MOVES[key], self._head
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._goal = None
            self._head = self._beside(head, step)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._goal = None
            row = head.row if not far else (0 if step < 0 else self.count - 1)
            self._head = Spot(row, 0 if step < 0 else self.length(row))
        else:
            lines = max(1, self.viewport().height() // self.hub.theme.line_height("reading") - 2)
            for _ in range(lines if key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown) else 1):
                self._head = self._line_away(self._head, step)
        self._show_head()

    def _beside(self, spot: Spot, step: int) -> Spot:
        index = spot.at + step
        if 0 <= index <= self.length(spot.row):
            return Spot(spot.row, index)
        row = spot.row + step
        if not 0 <= row < self.count:
            return spot
        return Spot(row, 0 if step > 0 else self.length(row))

    def _line_away(self, spot: Spot, step: int) -> Spot:
        text = self._text(spot.row)
        if text is not None:
            box = text.box_of(spot.at)
            if self._goal is None:
                self._goal = box.x()
            y = box.top() - 2 if step < 0 else box.bottom() + 2
            found = text.index_at(QPointF(self._goal, y))
            if 0 <= y < self.lay_out(spot.row).height and found != spot.at and (found > spot.at) == (step > 0):
                return Spot(spot.row, found)
        elif (spot.at == 0) == (step > 0) and self.length(spot.row):
            return Spot(spot.row, self.length(spot.row) if step > 0 else 0)
        row = spot.row + step
        if not 0 <= row < self.count:
            return Spot(spot.row, 0 if step < 0 else self.length(spot.row))
        other = self._text(row)
        if other is None:
            return Spot(row, self.length(row) if step > 0 else 0)
        y = 1.0 if step > 0 else self.lay_out(row).height - 1.0
        return Spot(row, other.index_at(QPointF(self._goal or 0.0, y)))

    def _show_head(self) -> None:
        """Bring the end that moves into sight."""
        row = self._head.row
        text = self._text(row)
        if text is None:
            self.reveal(row)
            return
        box = text.box_of(self._head.at)
        self.show_part(row, box)

    def show_part(self, row: int, box: QRectF) -> None:
        """Bring a part of a row into sight, by as little as possible; one that is far away near the top."""
        self.lay_out(row)
        if self.is_far(row):
            self.scroll_to_row(row)
        top = self.row_top(row) + self.gap(row) + box.top()
        bottom, height, edge = top + box.height(), self.viewport().height(), 16
        if top < edge:
            self.scroll_by(round(top - edge))
        elif bottom > height - edge:
            self.scroll_by(round(bottom - height + edge))
        self.viewport().update()


def _takes_press(hit: Hit | None) -> bool:
    """Whether a press does something else than to choose text."""
    return hit is not None and hit.action not in ("link", "file")


def _after_insert(spot: Spot, first: int, count: int) -> Spot:
    return Spot(spot.row + count, spot.at) if spot.row >= first else spot


def _after_removal(spot: Spot, first: int, last: int) -> Spot:
    if spot.row > last:
        return Spot(spot.row - (last - first + 1), spot.at)
    return Spot(max(0, first - 1), 0) if spot.row >= first else spot
