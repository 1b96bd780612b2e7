"""The prompts that wait for the turn that runs, over the composer. Emits intents; UI thread only."""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from vibekit_desktop.core.types.agents import QueuedPrompt
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.attachments import tab_anchor
from vibekit_desktop.ui.views.controls import IconButton, draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.visible import one_line

MOST_ROWS = 5
_REST = 24


class _Row(QWidget):
    """One prompt that waits, with its buttons; a focus stop of its own. Signals without an argument."""

    edit_requested = Signal()
    send_requested = Signal()
    remove_requested = Signal()

    def __init__(self, hub: ThemeHub, queued: QueuedPrompt, number: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.id = queued.id
        self._first = number == 0
        self._text = _words(queued)
        self.setAccessibleName(tr("Queued message {n}: {text}", n=number + 1, text=self._text))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.edit_button = IconButton(hub, "edit", tr("Edit queued message {n}", n=number + 1), parent=self)
        self.send_button = IconButton(hub, "arrow-up", tr("Send queued message {n} now", n=number + 1), parent=self)
        self.remove_button = IconButton(hub, "close", tr("Remove queued message {n}", n=number + 1), parent=self)
        self.edit_button.clicked.connect(self.edit_requested)
        self.send_button.clicked.connect(self.send_requested)
        self.remove_button.clicked.connect(self.remove_requested)

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        right = self.width() - 4
        for button in (self.remove_button, self.send_button, self.edit_button):
            size = button.sizeHint()
            right -= size.width()
            button.setGeometry(right, (self.height() - size.height()) // 2, size.width(), size.height())
            right -= 8

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and not event.isAutoRepeat():
            self.remove_requested.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            (self.send_requested if held else self.edit_requested).emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        x = 12.0
        if self._first:
            draw_icon(painter, theme, "queue", "text.secondary", 12, (self.height() - 16) // 2)
            label = tr("Next")
            place = QRectF(36, 0, 100, self.height())
            draw_text(painter, theme, place, label, style="small", weight=500, elide=None)
        x = 36 + text_width(theme, "small", tr("Next"), weight=500) + 8
        box = QRectF(x, 0, self.edit_button.x() - x - 8, self.height())
        draw_text(painter, theme, box, self._text, style="small", token="text.secondary")
        if self.hasFocus():
            focus_ring(painter, theme, QRectF(self.rect()).adjusted(1, 1, -1, -1), theme.radius("control"))


def _words(queued: QueuedPrompt) -> str:
    text = one_line(queued.prompt.text)
    more = len(queued.prompt.attachments)
    if not more:
        return text
    files = tr_n("{n} attachment", "{n} attachments", more)
    return f"{text} · {files}" if text else files


class QueueStrip(QWidget):
    """The strip. ``edit_requested``, ``send_requested``, ``remove_requested`` carry the id of a queued prompt;
    ``height_changed`` and ``focus_left`` (it had the focus and nothing waits any more) have no argument."""

    edit_requested = Signal(str)
    send_requested = Signal(str)
    remove_requested = Signal(str)
    height_changed = Signal()
    focus_left = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._queue: tuple[QueuedPrompt, ...] = ()
        self._most = MOST_ROWS
        self._rows: list[_Row] = []
        self._anchor = tab_anchor(self)
        self.hide()
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.height_changed.emit()
        self.update()

    def show_queue(self, queue: Sequence[QueuedPrompt]) -> None:
        """What waits, the next one first."""
        if tuple(queue) != self._queue:
            self._queue = tuple(queue)
            self._fill()

    def set_most(self, rows: int) -> None:
        """How many rows there is room for now; the others are counted."""
        most = max(1, min(MOST_ROWS, rows))
        if most != self._most:
            shown = min(self._most, len(self._queue)), min(most, len(self._queue))
            self._most = most
            if shown[0] != shown[1]:
                self._fill()

    def _fill(self) -> None:
        queue = self._queue
        place = next((n for n, row in enumerate(self._rows) if row.isAncestorOf(self._focus() or self) or row.hasFocus()), -1)
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = [_Row(self._hub, one, number, self) for number, one in enumerate(queue[: self._most])]
        for row in self._rows:
            row.edit_requested.connect(lambda which=row.id: self.edit_requested.emit(which))
            row.send_requested.connect(lambda which=row.id: self.send_requested.emit(which))
            row.remove_requested.connect(lambda which=row.id: self.remove_requested.emit(which))
            row.show()
        stops = [stop for row in self._rows for stop in (row, row.edit_button, row.send_button, row.remove_button)]
        for before, after in pairwise([self._anchor, *stops]):
            QWidget.setTabOrder(before, after)
        self._place()
        self.setVisible(bool(queue))
        self.height_changed.emit()
        if place >= 0 and self._rows:
            self._rows[min(place, len(self._rows) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        elif place >= 0:
            self.focus_left.emit()

    def _focus(self) -> QWidget | None:
        focus = QApplication.focusWidget()
        return focus if focus is not None and self.isAncestorOf(focus) else None

    @property
    def rows(self) -> tuple[_Row, ...]:
        """The rows shown, the next one first."""
        return tuple(self._rows)

    @property
    def rest(self) -> str:
        """What is said of those that are not shown."""
        more = len(self._queue) - len(self._rows)
        return tr("{n} more", n=more) if more else ""

    def height_for(self, rows: int = MOST_ROWS) -> int:
        """The height wanted where there is room for so many rows."""
        shown = min(max(1, rows), MOST_ROWS, len(self._queue))
        return shown * self._hub.theme.size("queue-row") + (_REST if len(self._queue) > shown else 0)

    def _place(self) -> None:
        height = self._hub.theme.size("queue-row")
        for number, row in enumerate(self._rows):
            row.setGeometry(0, number * height, self.width(), height)

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        rounded(
            painter,
            QRectF(self.rect()),
            theme.radius("card"),
            fill=theme.color("bg.raised"),
            line=theme.color("line.hair"),
        )
        for row in self._rows[1:]:
            painter.fillRect(QRectF(1, row.y(), self.width() - 2, 1), theme.color("line.hair"))
        if self.rest:
            box = QRectF(12, self.height() - _REST, self.width() - 24, 22)
            draw_text(painter, theme, box, self.rest, style="small", token="text.tertiary")
