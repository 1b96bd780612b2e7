"""The agent's own commands over the composer, while a prompt begins with a slash. Takes no focus: the field gives it its keys.

Names and descriptions are the agent's words: plain, on one line, cut. UI thread only.
"""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.types.agents import AgentCommand
from vibekit_desktop.ui.text import tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.visible import one_line

_MOST_ROWS, _PAD, _NAME_CHARS = 8, 5, 60


class CommandList(QWidget):
    """The list. ``chosen(name)``: this command is wanted. Invariant: while it is visible exactly one command is marked."""

    chosen = Signal(str)

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._commands: Sequence[AgentCommand] = ()
        self._found: list[AgentCommand] = []
        self._at = self._top = 0
        self._typed = ""
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        hub.changed.connect(self.hide)

    def set_commands(self, commands: Sequence[AgentCommand]) -> None:
        """What there is to choose from."""
        self._commands = commands
        if self.isVisible():
            self.offer(self._typed)

    def offer(self, typed: str) -> None:
        """Show the commands that fit what was typed behind the slash; nothing fits: hide."""
        former = self._found[self._at].name if self._found and self.isVisible() else ""
        self._typed = typed
        lower = typed.lower()
        self._found = [one for one in self._commands if one.name.lower().startswith(lower)]
        self._found += [one for one in self._commands if lower and lower in one.name.lower() and one not in self._found]
        self._at = next((n for n, one in enumerate(self._found) if one.name == former), 0)
        self._show_marked()
        self.setVisible(bool(self._found))
        self.raise_()
        self._say()
        self.update()

    def height_wanted(self) -> int:
        """How high it wants to be."""
        return min(_MOST_ROWS, len(self._found)) * self._row + 2 * _PAD

    @property
    def _row(self) -> int:
        return self._hub.theme.size("row-file")

    @property
    def found(self) -> tuple[str, ...]:
        """The names that fit, the marked one among them."""
        return tuple(one.name for one in self._found)

    @property
    def marked(self) -> str:
        """The name of the marked one."""
        return self._found[self._at].name if self._found else ""

    def take_key(self, event: QKeyEvent) -> bool:
        """Whether a key was meant for the list."""
        if not self.isVisible() or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        match event.key():
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                self._at = (self._at + step) % len(self._found)
                self._show_marked()
                self._say()
                self.update()
                return True
            case Qt.Key.Key_Escape:
                self.hide()
                return True
            case Qt.Key.Key_Tab | Qt.Key.Key_Return | Qt.Key.Key_Enter:
                if event.key() != Qt.Key.Key_Tab and self.marked.lower() == self._typed.lower():
                    self.hide()  # it is all there: Enter sends it
                    return False
                self.chosen.emit(self.marked)
                return True
            case _:
                return False

    def _say(self) -> None:
        if self._found:
            one = self._found[self._at]
            count = tr_n("1 command", "{n} commands", len(self._found))
            self.setAccessibleName(f"/{one_line(one.name, _NAME_CHARS)}, {one_line(one.description)}, {count}")

    def _show_marked(self) -> None:
        self._top = max(0, min(self._top, self._at, max(0, len(self._found) - _MOST_ROWS)))
        self._top = max(self._top, self._at - _MOST_ROWS + 1)

    def _row_at(self, place: QPoint) -> int:
        row = self._top + (place.y() - _PAD) // self._row
        return row if _PAD <= place.y() < self.height() - _PAD and row < len(self._found) else -1

    # Qt's names below.

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position().toPoint())
        if row >= 0 and row != self._at:
            self._at = row
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(event.position().toPoint())
        if row >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self._at = row
            self.chosen.emit(self.marked)

    def wheelEvent(self, event: QWheelEvent) -> None:
        step = -1 if event.angleDelta().y() > 0 else 1
        self._top = max(0, min(self._top + step, len(self._found) - _MOST_ROWS))
        self._at = max(self._top, min(self._at, self._top + _MOST_ROWS - 1))
        event.accept()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        box = QRectF(self.rect())
        rounded(painter, box, theme.radius("card"), fill=theme.color("bg.popup"), line=theme.color("line.strong"))
        shown = self._found[self._top : self._top + _MOST_ROWS]
        widest = max((text_width(theme, "code", f"/{one_line(one.name, _NAME_CHARS)}") for one in shown), default=0.0)
        widest = min(widest, self.width() * 0.5)
        for number, one in enumerate(shown):
            row = QRectF(_PAD, _PAD + number * self._row, self.width() - 2 * _PAD, self._row)
            if self._top + number == self._at:
                rounded(painter, row, theme.radius("small"), fill=theme.color("bg.selected"))
            name = QRectF(row.left() + 9, row.top(), widest, row.height())
            draw_text(painter, theme, name, f"/{one_line(one.name, _NAME_CHARS)}", style="code")
            rest = QRectF(name.right() + 14, row.top(), max(0.0, row.right() - name.right() - 24), row.height())
            text = one_line(f"{one.hint} · {one.description}" if one.hint else one.description)
            draw_text(painter, theme, rest, text, style="small", token="text.tertiary")
