"""A list of painted blocks whose places can be pressed: pointer, keyboard and focus, and what assistive technology is told.

Knows nothing of chats: a block's hits say what there is to press, `do` is told what was. UI thread only.
"""

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
)
from PySide6.QtWidgets import QToolTip, QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.block_list import BlockList
from vibekit_desktop.ui.views.block_view import Hit, PaintState

NONE = (-1, -1)


class HitList(BlockList):
    """The list. A subclass says what the blocks are, what a press does (`do`) and what a row is in words (`words`).

    Invariant: at most one row is current, and at most one of its buttons.
    """

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(hub, parent)
        self._hover = NONE
        self._pressed: tuple[int, Hit | None] = (-1, None)
        self._current = self._button = -1
        self._ring = False

    # What a subclass says

    def do(self, hit: Hit) -> None:
        """Somebody pressed this."""

    def words(self, row: int) -> str:
        """A row for assistive technology."""
        return "" if row >= 0 else str(row)

    def explains(self, hit: Hit) -> bool:
        """Whether the pointer is told the whole phrase of a place."""
        return bool(hit.name)

    # What a subclass tells

    def nothing_aimed_at(self) -> None:
        """Other rows altogether, or rows at other places."""
        self._hover, self._pressed = NONE, (-1, None)

    def rows_inserted(self, first: int, count: int) -> None:
        """Rows came at ``first``: what is aimed at above stays so, what the keyboard is on moves with its row."""
        self._aim_above(first)
        if self._current >= first:
            self._current += count

    def rows_removed(self, first: int, last: int) -> None:
        """Rows went."""
        self._aim_above(first)
        if self._current > last:
            self._current -= last - first + 1
        elif self._current >= first:
            self._current, self._button = max(0, first - 1), -1

    def _aim_above(self, first: int) -> None:
        if self._hover[0] >= first:
            self._hover = NONE
        if self._pressed[0] >= first:
            self._pressed = (-1, None)

    def paint_state(self, row: int, clip: QRectF) -> PaintState:
        return PaintState(
            hover=self._hover[1] if self._hover[0] == row else -1,
            pressed=self._hover[1] if self._pressed[0] == row and _same(self._hit(self._hover), self._pressed[1]) else -1,
            focus=self._button if self._ring and self._current == row and self.hasFocus() else -1,
            clip=clip,
        )

    def paint_over(self, painter: QPainter, row: int, box: QRectF) -> None:
        if self._ring and self._current == row and self._button < 0 and self.hasFocus():
            focus_ring(painter, self.hub.theme, box.adjusted(-6, -3, 6, 3), self.hub.theme.radius("card"))

    # Pointer

    def _hit_at(self, point: QPointF) -> tuple[int, int]:
        """The row under a point and the smallest hit of it there, -1 for none."""
        row = self.row_at(point.y())
        if row < 0:
            return NONE
        place = self._place_in(row, point)
        hits = self.lay_out(row).hits
        inside = [i for i, hit in enumerate(hits) if hit.box.contains(place)]
        best = min(inside, key=lambda i: hits[i].box.width() * hits[i].box.height()) if inside else -1
        return row, best

    def _place_in(self, row: int, point: QPointF) -> QPointF:
        return QPointF(point.x() - self.column_left(), point.y() - self.row_top(row) - self.gap(row))

    def _hit(self, at: tuple[int, int]) -> Hit | None:
        row, index = at
        if not 0 <= row < self.count or index < 0:
            return None
        hits = self.lay_out(row).hits
        return hits[index] if index < len(hits) else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self._hit_at(event.position())
        if at != self._hover:
            self._hover = at
            link = (hit := self._hit(at)) is not None and hit.action in ("link", "file")
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover = NONE
        self.viewport().update()
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._ring = False
        at = self._hit_at(event.position())
        self._current, self._button = at[0], -1
        self._hover = at
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed = (at[0], self._hit(at))
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row, was = self._pressed
        at = self._hit_at(event.position())
        hit = self._hit(at)
        self._pressed = (-1, None)
        # The block may have been laid out anew meanwhile: what counts is that the place still does the same.
        if event.button() is Qt.MouseButton.LeftButton and at[0] == row and hit is not None and _same(hit, was):
            self.do(hit)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            hit = self._hit(self._hit_at(QPointF(event.pos())))
            if hit is not None and self.explains(hit):
                QToolTip.showText(event.globalPos(), plain_tip(hit.name), self.viewport())
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def _activate(self, at: tuple[int, int]) -> None:
        hit = self._hit(at)
        if hit is not None:
            self.do(hit)

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        self._ring = True
        page = self.viewport().height() - 40
        match key:
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self._step_block(-1 if key == Qt.Key.Key_Up else 1)
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown:
                self.scroll_by(-page if key == Qt.Key.Key_PageUp else page)
            case Qt.Key.Key_Home if self.count:
                self.go_to(0)
            case Qt.Key.Key_End:
                self._current, self._button = self.count - 1, -1
                self.scroll_to_end()
            case Qt.Key.Key_Left | Qt.Key.Key_Right:
                self._step_button(-1 if key == Qt.Key.Key_Left else 1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Space:
                self._enter()
            case Qt.Key.Key_Escape if self._button >= 0:
                self._button = -1
                self.viewport().update()
            case _:
                super().keyPressEvent(event)

    def go_to(self, row: int) -> None:
        """Put the keyboard on a row and bring it to the top."""
        self._current, self._button = row, -1
        self.scroll_to_row(row)
        self._announce()

    def _step_block(self, step: int) -> None:
        if not self.count:
            return
        if self._current < 0:
            self._current = self.top_row
        else:
            top = self.row_top(self._current)
            bottom = top + self.heights[self._current]
            # A block taller than the screen is walked through before the next one gets its turn.
            if step > 0 and bottom > self.viewport().height() + 4 and top < self.viewport().height():
                self.scroll_by(60)
                return
            if step < 0 and top < -4 and bottom > 0:
                self.scroll_by(-60)
                return
            self._current = min(max(0, self._current + step), self.count - 1)
        self._button = -1
        self.reveal(self._current)
        self._announce()

    def _step_button(self, step: int) -> None:
        if not self.count:
            return
        self._current = self._current if self._current >= 0 else self.top_row
        hits = self.lay_out(self._current).hits
        if hits:
            self._button = min(max(-1 if step < 0 else 0, self._button + step), len(hits) - 1)
        self.viewport().update()
        self._announce()

    def _enter(self) -> None:
        if self._current < 0:
            return
        if self._button >= 0:
            self._activate((self._current, self._button))
        elif self.lay_out(self._current).hits:
            self._button = 0
            self._announce()
        self.viewport().update()

    def _announce(self) -> None:
        """Tell assistive technology where the keyboard is now."""
        if not 0 <= self._current < self.count:
            return
        hit = self._hit((self._current, self._button))
        text = hit.name if hit is not None else self.words(self._current)
        self.setAccessibleDescription(text)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._ring = event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        )
        self.viewport().update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.viewport().update()
        super().focusOutEvent(event)


def _same(hit: Hit | None, other: Hit | None) -> bool:
    """Whether two places do the same."""
    if hit is None or other is None:
        return False
    return (hit.action, hit.text, hit.number) == (other.action, other.text, other.number)
