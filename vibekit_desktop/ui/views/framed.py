"""A frame for text that is not ours: a command, a path, a change an agent wants to make. Plain, wrapped, scrolled, never cut
silently; characters that cannot be seen are marks. UI thread only.

A long line goes on in the next row, set in by two columns; so whatever begins at the left edge is a line of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.diffs import Span
from vibekit_desktop.ui.models.mini_diff import MiniLine, compare
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.code_cells import Line, line_of
from vibekit_desktop.ui.views.code_line import LinePainter
from vibekit_desktop.ui.wording import MINUS

MOST_CHARS = 64_000
"""More of a text is not laid out; `Framed.cut` says how much that is."""
_PAD_X, _PAD_Y, _SIGN, _SET_IN, _WIDTHS = 12, 8, 18, 2, 6


@dataclass(frozen=True, slots=True)
class _Row:
    """A part of a line that fits into one row."""

    line: Line
    sign: str
    first: bool
    marks: tuple[Span, ...]


def change_lines(subject: Sequence[str], fragments: Sequence[DiffFragment]) -> tuple[MiniLine, ...]:
    """What is changed, and the lines of what an agent says it changes there. Of several fragments each has its path over it."""
    found = [MiniLine("@", line) for line in subject]
    several = len({fragment.path for fragment in fragments}) > 1
    for fragment in fragments:
        if several and fragment.path:
            found.append(MiniLine("@", fragment.path))
        found += compare(fragment.old_text, fragment.new_text)
    return tuple(found)


class _Lines(QAbstractScrollArea):
    """The text inside of the frame. Invariant: every character of what is laid out can be scrolled to."""

    focus_changed = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text: Sequence[MiniLine] = ()
        self._rows: list[_Row] = []
        self._signs = False
        self._by_width: dict[int, list[_Row]] = {}
        """The rows in the widths asked for: with the scroll bar and without, again at every look at the height."""
        self.copied = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.viewport().setAutoFillBackground(False)
        self._code = LinePainter(hub.theme)

    def themed(self) -> None:
        """Another theme is in use."""
        self._code.use(self._hub.theme)
        self._by_width.clear()

    def show_lines(self, lines: Sequence[MiniLine], copied: str) -> None:
        """Show other lines; ``copied`` is what Copy takes: the text as it is."""
        self._text, self.copied = lines, copied
        self._signs = any(line.sign in ("+", "-") for line in lines)
        self._by_width.clear()
        self.verticalScrollBar().setValue(0)
        self.viewport().update()

    def rows_at(self, width: int) -> int:
        """How many rows the text takes in a width."""
        return len(self._lay_out(width))

    @property
    def step(self) -> int:
        """The height of a row."""
        return self._hub.theme.line_height("code")

    def _lay_out(self, width: int) -> list[_Row]:
        rows = self._by_width.get(width)
        if rows is None:
            if len(self._by_width) >= _WIDTHS:
                self._by_width.clear()
            self._code.forget()
            left = _PAD_X + (_SIGN if self._signs else 0)
            room = max(self._code.advance * 12, width - left - _PAD_X)
            rows = self._by_width[width] = [row for line in self._text for row in self._wrap(line, room)]
        return rows

    def _wrap(self, line: MiniLine, room: float) -> Iterator[_Row]:
        text, start = line.text, 0
        whole = max(4, int(room / self._code.advance))
        while True:
            first = start == 0
            columns = whole if first else whole - _SET_IN
            fits = room if first else room - _SET_IN * self._code.advance
            end = min(len(text), start + columns)
            shown = line_of(text[start:end])
            while end > start + 1 and not shown.plain and (width := self._code.width(shown)) > fits:
                end = start + max(1, min(end - start - 1, int((end - start) * fits / width)))
                shown = line_of(text[start:end])
            marks = tuple(
                Span(max(a, start) - start, min(b, end) - start) for a, b in line.marks if max(a, start) < min(b, end)
            )
            yield _Row(shown, line.sign, first, marks)
            start = end
            if start >= len(text):
                return

    def fit(self) -> None:
        """Set the scroll bar to what there is."""
        self._rows = self._lay_out(self.viewport().width())
        bar = self.verticalScrollBar()
        height = self.viewport().height()
        bar.setRange(0, max(0, len(self._rows) * self.step - height))
        bar.setPageStep(height)
        bar.setSingleStep(self.step)

    def copy(self) -> None:
        """Put the text as it is on the clipboard."""
        QGuiApplication.clipboard().setText(self.copied)

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() == Qt.Key.Key_End:
            bar.setValue(bar.maximum())
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        step, top = self.step, self.verticalScrollBar().value()
        first = max(0, top // step)
        last = min(len(self._rows), (top + self.viewport().height()) // step + 1)
        for number in range(first, last):
            self._paint_row(painter, self._rows[number], number * step - top)

    def _paint_row(self, painter: QPainter, row: _Row, y: int) -> None:
        theme = self._hub.theme
        side = {"-": "del", "+": "add"}.get(row.sign, "")
        width = self.viewport().width()
        if side:
            painter.fillRect(QRectF(0, y, width, self.step), theme.color(f"diff.{side}-line"))
        if side and row.first:
            painter.setFont(theme.font("code", weight=600))
            painter.setPen(theme.color(f"diff.{side}-mark"))
            sign = MINUS if row.sign == "-" else "+"
            painter.drawText(QRectF(4, y, _SIGN + 4, self.step), Qt.AlignmentFlag.AlignCenter, sign)
        left = _PAD_X + (_SIGN if self._signs and row.sign != "@" else 0)
        left += 0 if row.first else round(_SET_IN * self._code.advance)
        box = QRectF(left, y, width - left, self.step)
        self._code.draw(
            painter,
            box,
            row.line,
            [(0, row.line.length, 0)],
            row.marks,
            scroll=0,
            mark_token=f"diff.{side or 'add'}-word",
        )


class Framed(QWidget):
    """The frame. ``height_for`` says how high it wants to be; beyond its share of rows it scrolls."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._foot = ""
        self.cut = 0
        """How many characters are not shown."""
        self.lines = _Lines(hub, self)
        self.lines.focus_changed.connect(self.update)
        self.setFocusProxy(self.lines)
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.lines.themed()
        self._place()
        self.update()

    def show_text(self, lines: Sequence[str], *, foot: str = "") -> None:
        """Show lines of text; ``foot`` stands under them, in small letters."""
        self._show([MiniLine("", line) for line in lines], "\n".join(lines), foot)

    def show_change(self, lines: Sequence[MiniLine]) -> None:
        """Show lines of a change."""
        copied = "\n".join(f"{line.sign if line.sign != '@' else ''}{line.text}" for line in lines)
        self._show(lines, copied, "")

    def _show(self, lines: Sequence[MiniLine], copied: str, foot: str) -> None:
        kept: list[MiniLine] = []
        room = MOST_CHARS
        for line in lines:
            if room <= 0:
                break
            # An empty line takes room too: a million of them are a million rows.
            kept.append(line if len(line.text) < room else MiniLine(line.sign, line.text[:room], line.number))
            room -= len(line.text) + 16
        shown = sum(len(line.text) for line in kept)
        self.cut = sum(len(line.text) for line in lines) - shown + (len(lines) - len(kept))
        self._foot = foot
        self.lines.show_lines(kept, copied)
        self._place()
        self.update()

    @property
    def _foot_height(self) -> int:
        return self._hub.theme.line_height("small") + 2 if self._foot else 0

    def height_for(self, width: int, most_rows: int) -> int:
        """The height wanted in a width, with at most so many rows in sight at once."""
        rows = self.lines.rows_at(width - 2)
        if rows > most_rows:  # the bar takes its part
            rows = self.lines.rows_at(width - 2 - self._hub.theme.size("scrollbar"))
        return min(rows, max(1, most_rows)) * self.lines.step + 2 * _PAD_Y + self._foot_height

    @property
    def scrolls(self) -> bool:
        """Whether there is more than is in sight."""
        return self.lines.verticalScrollBar().maximum() > 0

    def _place(self) -> None:
        height = max(0, self.height() - 2 * _PAD_Y - self._foot_height)
        self.lines.setGeometry(1, _PAD_Y, max(0, self.width() - 2), height)
        self.lines.fit()

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        line = "line.focus" if self.lines.hasFocus() else "line.hair"
        rounded(painter, QRectF(self.rect()), theme.radius("control"), fill=theme.color("bg.raised"), line=theme.color(line))
        if self._foot:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text.tertiary"))
            box = QRectF(_PAD_X, self.height() - _PAD_Y - self._foot_height, self.width() - 2 * _PAD_X, self._foot_height)
            text = theme.metrics("small").elidedText(self._foot, Qt.TextElideMode.ElideMiddle, box.width())
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), text)
