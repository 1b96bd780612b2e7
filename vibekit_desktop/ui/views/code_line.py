"""Paint one line of code, in a diff, a card or an answer: coloured runs, word marks, hidden characters made visible.

A line is cut at 10,000 characters. Lines of plain ASCII without tabs are painted with `drawText` per run, only the columns in
sight; every other line goes through a cached `QTextLayout`. Nothing is made for lines out of sight. UI thread only.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QTextCharFormat, QTextLayout, QTextOption

from vibekit_desktop.core.types.diffs import STYLE_NAMES, Span, StyleRuns
from vibekit_desktop.ui.long_text import MAX_LINE
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.visible import Shown, show

TAB_COLUMNS = 4
_KEPT = 600
_COMMENT = STYLE_NAMES.index("comment")
_MARK_HEIGHT = 16

Runs = list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Line:
    """One line ready for painting: what is shown, whether every character is one column wide, how much was cut off."""

    shown: Shown
    plain: bool
    cut: int

    @property
    def length(self) -> int:
        """How many characters of the original are shown."""
        return len(self.shown.starts) - 1 if self.shown.starts is not None else len(self.shown.text)

    @property
    def columns(self) -> int:
        """About how many columns it takes; a tab counts as many as it may have."""
        return len(self.shown.text) + self.shown.text.count("\t") * (TAB_COLUMNS - 1)


def line_of(text: str) -> Line:
    """Prepare one line."""
    cut = max(0, len(text) - MAX_LINE)
    kept = text[:MAX_LINE] if cut else text
    if kept.isascii() and "\t" not in kept:
        shown = show(kept)
        return Line(shown, shown.starts is None, cut)
    return Line(show(kept), False, cut)


def runs_of(styles: StyleRuns | None, number: int, length: int) -> Runs:
    """The coloured runs (start, end, kind) of a line, ``number`` counted from 0; one plain run without colours."""
    if styles is None or number + 1 >= len(styles.offsets):
        return [(0, length, 0)]
    first, end = styles.offsets[number], styles.offsets[number + 1]
    runs: Runs = []
    position = 0
    kind = 0
    for k in range(first, end):
        start = min(styles.starts[k], length)
        if start > position:
            runs.append((position, start, kind))
        position, kind = start, styles.kinds[k]
    if length > position:
        runs.append((position, length, kind))
    return runs


def comments_plain_in(runs: Runs, marks: Sequence[Span]) -> Runs:
    """Comments inside a word mark are painted plain, so that they stay readable on its colour."""
    if not marks:
        return runs
    result: Runs = []
    for start, end, kind in runs:
        if kind != _COMMENT:
            result.append((start, end, kind))
            continue
        position = start
        for mark in marks:
            low, high = max(position, mark.start), min(end, mark.end)
            if low < high:
                if position < low:
                    result.append((position, low, kind))
                result.append((low, high, 0))
                position = high
        if position < end:
            result.append((position, end, kind))
    return result


class LinePainter:
    """Paints lines in one theme and one style of code.

    Invariant: the caches hold lines of the present document and theme; `forget` empties them.
    """

    def __init__(self, theme: Theme, style: str = "code") -> None:
        self._style = style
        self.use(theme)

    def use(self, theme: Theme) -> None:
        """Paint with another theme from now on."""
        self._theme = theme
        self._font = theme.font(self._style)
        metrics = theme.metrics(self._style)
        self.advance = metrics.horizontalAdvance("M" * 64) / 64
        self._ascent = metrics.ascent()
        self._descent = metrics.descent()
        self._colors: list[QColor] = [theme.color(f"syntax.{name}") for name in STYLE_NAMES]
        self.forget()

    def forget(self) -> None:
        """Another document is shown."""
        self._layouts: OrderedDict[tuple[object, ...], QTextLayout] = OrderedDict()

    def width(self, line: Line) -> float:
        """How wide a line is painted."""
        if line.plain:
            return len(line.shown.text) * self.advance
        return self._layout(line, [(0, len(line.shown.text), 0)], ()).lineAt(0).naturalTextWidth()

    def draw(
        self,
        painter: QPainter,
        box: QRectF,
        line: Line,
        runs: Runs,
        marks: Sequence[Span],
        *,
        scroll: float,
        mark_token: str,
    ) -> None:
        """One line in ``box``, which must be the painter's clip if ``scroll`` pixels are hidden at its left."""
        if line.plain:
            self._plain(painter, box, line.shown.text, runs, marks, scroll, mark_token)
        else:
            self._laid_out(painter, box, line, runs, marks, scroll, mark_token)
        if line.cut:
            self._ending(painter, box, line, scroll)

    def _baseline(self, box: QRectF) -> float:
        return round(box.top() + (box.height() + self._ascent - self._descent) / 2)

    def _mark(self, painter: QPainter, box: QRectF, x: float, width: float, token: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(token))
        height = _MARK_HEIGHT * self._theme.zoom
        y = box.top() + round((box.height() - height) / 2)
        radius = self._theme.radius("mark")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawRoundedRect(QRectF(x, y, width, height), radius, radius)

    def _plain(
        self, painter: QPainter, box: QRectF, text: str, runs: Runs, marks: Sequence[Span], scroll: float, token: str
    ) -> None:
        advance = self.advance
        left = box.left() - scroll
        first = int(scroll / advance)
        last = int((scroll + box.width()) / advance) + 1
        for mark in marks:
            start, end = max(mark.start, first - 1), min(mark.end, last + 1)
            if start < end:
                self._mark(painter, box, left + start * advance, (end - start) * advance, token)
        painter.setFont(self._font)
        y = self._baseline(box)
        for start, end, kind in comments_plain_in(runs, marks):
            start, end = max(start, first), min(end, last)
            if start >= end:
                continue
            piece = text[start:end]
            if not piece.isspace():
                painter.setPen(self._colors[kind])
                painter.drawText(QPointF(left + start * advance, y), piece)

    def _laid_out(
        self, painter: QPainter, box: QRectF, line: Line, runs: Runs, marks: Sequence[Span], scroll: float, token: str
    ) -> None:
        layout = self._layout(line, comments_plain_in(runs, marks), tuple((mark.start, mark.end) for mark in marks))
        row = layout.lineAt(0)
        left = box.left() - scroll
        for mark in marks:
            x0 = row.cursorToX(_utf16(line.shown.text, line.shown.at(mark.start)))
            x1 = row.cursorToX(_utf16(line.shown.text, line.shown.at(mark.end)))
            # PySide gives (x, cursor position).
            start, end = sorted((_x(x0), _x(x1)))
            if end > start:
                self._mark(painter, box, left + start, end - start, token)
        painter.setPen(self._colors[0])
        layout.draw(painter, QPointF(left, self._baseline(box) - row.ascent()))

    def _layout(self, line: Line, runs: Runs, marks: tuple[tuple[int, int], ...]) -> QTextLayout:
        text = line.shown.text
        key = (text, tuple(runs), marks)
        layout = self._layouts.get(key)
        if layout is not None:
            self._layouts.move_to_end(key)
            return layout
        layout = QTextLayout(text, self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        option.setTabStopDistance(TAB_COLUMNS * self.advance)
        # Code reads from the left whatever its first strong letter is; the rows of both panes would part otherwise.
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        layout.setTextOption(option)
        layout.setFormats(self._formats(line, runs))
        layout.beginLayout()
        layout.createLine().setLineWidth(1e7)
        layout.endLayout()
        self._layouts[key] = layout
        if len(self._layouts) > _KEPT:
            self._layouts.popitem(last=False)
        return layout

    def _formats(self, line: Line, runs: Runs) -> list[QTextLayout.FormatRange]:
        text = line.shown.text
        formats = []
        for start, end, kind in runs:
            look = QTextCharFormat()
            look.setForeground(self._colors[kind])
            formats.append(_range(text, line.shown.at(start), line.shown.at(end), look))
        for start, end in line.shown.tags:
            look = QTextCharFormat()
            look.setForeground(self._theme.color("warning.text"))
            look.setBackground(self._theme.color("warning.tint"))
            formats.append(_range(text, start, end, look))
        return formats

    def _ending(self, painter: QPainter, box: QRectF, line: Line, scroll: float) -> None:
        from_left = self.width(line) + self.advance
        x = box.left() + from_left - scroll
        if x < box.right():
            painter.setFont(self._theme.font("small"))
            painter.setPen(self._theme.color("text.tertiary"))
            painter.drawText(QPointF(x, self._baseline(box)), f"… +{line.cut:,}")


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
