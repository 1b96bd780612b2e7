"""Lines of code that are not all one column a character, laid out by Qt: wide signs, marks on letters, right to left.

Layouts are kept as long as the same document and theme are shown. UI thread only.
"""

from collections import OrderedDict
from collections.abc import Sequence

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QPainter, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.code_cells import TAB_COLUMNS, Line

_KEPT = 600
_WIDE = 1e7

Runs = list[tuple[int, int, int]]


class LineLayouts:
    """Invariant: what is kept belongs to the present theme and tab width; `forget` empties it."""

    def __init__(self, theme: Theme, font: QFont, advance: float, colours: Sequence[str]) -> None:
        self._theme = theme
        self._font = font
        self._advance = advance
        self._colours = [theme.color(name) for name in colours]
        self.tab_columns = TAB_COLUMNS
        self.invisibles = False
        self.forget()

    def forget(self) -> None:
        """Another document is shown, or in another way."""
        self._layouts: OrderedDict[tuple[object, ...], QTextLayout] = OrderedDict()

    def get(self, line: Line, runs: Runs, width: float = 0.0) -> QTextLayout:
        """The layout of a line, wrapped at ``width`` unless that is 0."""
        text = line.shown.text
        key = (text, tuple(runs), width)
        layout = self._layouts.get(key)
        if layout is not None:
            self._layouts.move_to_end(key)
            return layout
        layout = QTextLayout(text, self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAnywhere if width else QTextOption.WrapMode.NoWrap)
        option.setTabStopDistance(self.tab_columns * self._advance)
        # Code reads from the left whatever its first strong letter is; the rows of both panes would part otherwise.
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        if self.invisibles:
            option.setFlags(QTextOption.Flag.ShowTabsAndSpaces)
        layout.setTextOption(option)
        layout.setFormats(self._formats(line, runs))
        layout.beginLayout()
        while True:
            row = layout.createLine()
            if not row.isValid():
                break
            row.setLineWidth(width or _WIDE)
        layout.endLayout()
        self._layouts[key] = layout
        if len(self._layouts) > _KEPT:
            self._layouts.popitem(last=False)
        return layout

    def draw(self, painter: QPainter, layout: QTextLayout, number: int, x: float, baseline: float) -> None:
        """One row of a layout with its left edge at ``x``."""
        row = layout.lineAt(number)
        painter.setPen(self._colours[0])
        row.draw(painter, QPointF(x - row.x(), baseline - row.ascent() - row.y()))

    def span(self, line: Line, row: QTextLine, start: int, end: int) -> tuple[float, float] | None:
        """From where to where characters of the original stand in a row; None if they do not."""
        text = line.shown.text
        first = max(_utf16(text, line.shown.at(start)), row.textStart())
        last = min(_utf16(text, line.shown.at(end)), row.textStart() + row.textLength())
        if first > last or (first == last and start != end):
            return None
        # PySide gives (x, cursor position).
        left, right = sorted((_x(row.cursorToX(first)), _x(row.cursorToX(last))))
        return left - row.x(), right - row.x()

    def index_at(self, line: Line, row: QTextLine, x: float) -> int:
        """The character of the original whose left edge is nearest to ``x``."""
        units = int(_x(row.xToCursor(x + row.x())))
        shown = len(line.shown.text.encode("utf-16-le", "surrogatepass")[: units * 2].decode("utf-16-le", "replace"))
        starts = line.shown.starts
        if starts is None:
            return shown
        return next((index for index, start in enumerate(starts) if start >= shown), len(starts) - 1)

    def _formats(self, line: Line, runs: Runs) -> list[QTextLayout.FormatRange]:
        text = line.shown.text
        formats = []
        for start, end, kind in runs:
            look = QTextCharFormat()
            look.setForeground(self._colours[kind])
            formats.append(_range(text, line.shown.at(start), line.shown.at(end), look))
        for start, end in line.shown.tags:
            look = QTextCharFormat()
            look.setForeground(self._theme.color("warning.text"))
            look.setBackground(self._theme.color("warning.tint"))
            formats.append(_range(text, start, end, look))
        return formats


def _range(text: str, start: int, end: int, look: QTextCharFormat) -> QTextLayout.FormatRange:
    found = QTextLayout.FormatRange()
    first = _utf16(text, start)
    found.start = first
    found.length = _utf16(text, end) - first
    found.format = look
    return found


def _utf16(text: str, column: int) -> int:
    """Where Qt counts a code point: characters beyond the basic plane are two of its units."""
    head = text[:column]
    return column + sum(1 for character in head if ord(character) > 0xFFFF) if not head.isascii() else column


def _x(value: object) -> float:
    if isinstance(value, tuple):
        value = value[0]
    return float(value) if isinstance(value, (int, float)) else 0.0
