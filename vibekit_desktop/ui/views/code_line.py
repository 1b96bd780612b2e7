"""Paint one line of code, in a diff, a card or an answer: coloured runs, marks, hidden characters made visible.

Lines in cells are painted with `drawText` per run, only the columns in sight; every other line goes through a kept
`QTextLayout`. Nothing is made for lines out of sight. UI thread only.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QRawFont, QTextLayout

from vibekit_desktop.core.types.diffs import STYLE_NAMES, Span, StyleRuns
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.code_cells import Line, blanks_of, cell_line
from vibekit_desktop.ui.views.code_layout import LineLayouts, Runs

_COMMENT = STYLE_NAMES.index("comment")
_MARK_HEIGHT = 16
# Below: no letter of a script that joins or turns, no mark that stands on another letter.
_SIMPLE_END, _MARKS = "\u0590", ("\u0300", "\u036f")
_SIMPLE_LATER = (("\u1e00", "\u1fff"), ("\u2010", "\u2027"), ("\u2030", "\u205e"), ("\u20a0", "\u20bf"), ("\u2100", "\u259f"))


class Band(NamedTuple):
    """Characters ``start`` to ``end`` of the original on a ground of colour ``fill``, perhaps with an outline.

    A ``full`` band is as high as the row and has no corners: a selection, not a mark.
    """

    start: int
    end: int
    fill: str
    line: str = ""
    full: bool = False


def runs_of(styles: StyleRuns | None, number: int, length: int) -> Runs:
    """The coloured runs (start, end, kind) of a line, ``number`` counted from 0; one plain run without colours."""
    if styles is None or number < 0 or number + 1 >= len(styles.offsets):
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


def comments_plain_in(runs: Runs, marks: Sequence[Span | Band]) -> Runs:
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

    Invariant: what is kept belongs to the present document and theme; `forget` empties it.
    """

    def __init__(self, theme: Theme, style: str = "code") -> None:
        self._style = style
        self._tab_columns = 4
        self._invisibles = False
        self.use(theme)

    def use(self, theme: Theme) -> None:
        """Paint with another theme from now on."""
        self._theme = theme
        self._font = theme.font(self._style)
        metrics = theme.metrics(self._style)
        self.advance = metrics.horizontalAdvance("M" * 64) / 64
        self._ascent = metrics.ascent()
        self._descent = metrics.descent()
        names = [f"syntax.{name}" for name in STYLE_NAMES]
        self._colors: list[QColor] = [theme.color(name) for name in names]
        self._raw = QRawFont.fromFont(self._font)
        self._single: dict[str, bool] = {}
        self._layouts = LineLayouts(theme, self._font, self.advance, names)
        self.set_blanks(self._tab_columns, invisibles=self._invisibles)

    def set_blanks(self, tab_columns: int, *, invisibles: bool) -> None:
        """How wide tabs are, and whether blanks and tabs are drawn."""
        self._tab_columns = self._layouts.tab_columns = tab_columns
        self._invisibles = self._layouts.invisibles = invisibles
        self.forget()

    def forget(self) -> None:
        """Another document is shown."""
        self._layouts.forget()

    def prepare(self, text: str) -> Line:
        """A line of the document, in cells where the font allows it."""
        return cell_line(text, self._tab_columns, self._all_single)

    def _all_single(self, text: str) -> bool:
        known = self._single
        for character in set(text):
            single = known.get(character)
            if single is None:
                single = known[character] = character < "\x7f" or self._is_single(character)
            if not single:
                return False
        return True

    def _is_single(self, character: str) -> bool:
        simple = character < _SIMPLE_END and not _MARKS[0] <= character <= _MARKS[1]
        if not simple and not any(low <= character <= high for low, high in _SIMPLE_LATER):
            return False
        if not self._raw.supportsCharacter(ord(character)):
            return False
        return abs(self._theme.metrics(self._style).horizontalAdvance(character) - self.advance) < 0.05

    # Measuring. ``columns`` 0: not wrapped.

    def width(self, line: Line) -> float:
        """How wide a line is painted."""
        if line.plain:
            return len(line.shown.text) * self.advance
        return self._layout(line, 0).lineAt(0).naturalTextWidth()

    def rows(self, line: Line, columns: int) -> int:
        """How many rows a line takes when it is wrapped."""
        if line.plain:
            return max(1, -(-len(line.shown.text) // columns))
        return max(1, self._layout(line, columns).lineCount())

    def index_at(self, line: Line, x: float, *, columns: int = 0, row: int = 0) -> int:
        """The character of the original nearest to ``x`` pixels from the left edge of a row."""
        if not line.plain:
            layout = self._layout(line, columns)
            return self._layouts.index_at(line, layout.lineAt(min(row, layout.lineCount() - 1)), x)
        column = max(0, round(x / self.advance)) + row * columns
        if columns:
            column = min(column, (row + 1) * columns)
        starts = line.shown.starts
        if starts is None:
            return min(column, len(line.shown.text))
        place = min(bisect_left(starts, column), len(starts) - 1)
        # Inside a tab or a tag: the nearer end.
        return place - 1 if place and column - starts[place - 1] < starts[place] - column else place

    def place_of(self, line: Line, index: int, *, columns: int = 0) -> tuple[int, float]:
        """In which row a character of the original stands, and its left edge there."""
        if line.plain:
            column = line.shown.at(index)
            row = column // columns if columns else 0
            return row, (column - row * columns) * self.advance
        layout = self._layout(line, columns)
        for row in range(layout.lineCount()):
            found = self._layouts.span(line, layout.lineAt(row), index, index)
            if found is not None:
                return row, found[0]
        return max(0, layout.lineCount() - 1), 0.0

    def _layout(self, line: Line, columns: int, runs: Runs | None = None) -> QTextLayout:
        return self._layouts.get(line, runs or [(0, line.length, 0)], columns * self.advance)

    # Painting.

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
        bands = [Band(mark.start, mark.end, mark_token) for mark in marks]
        self.paint(painter, box, line, comments_plain_in(runs, marks), bands, scroll=scroll)

    def paint(
        self,
        painter: QPainter,
        box: QRectF,
        line: Line,
        runs: Runs,
        bands: Sequence[Band],
        *,
        scroll: float = 0.0,
        columns: int = 0,
        row: int = 0,
    ) -> None:
        """One row of a line on its bands. Wrapped lines have several rows of ``columns`` each and are not scrolled."""
        if line.plain:
            self._plain(painter, box, line, runs, bands, scroll + row * columns * self.advance)
        else:
            self._laid_out(painter, box, line, runs, bands, scroll, columns, row)
        if line.cut and (not columns or row == self.rows(line, columns) - 1):
            self._ending(painter, box, line, box.left() + self.place_of(line, line.length, columns=columns)[1] - scroll)

    def _baseline(self, box: QRectF) -> float:
        return round(box.top() + (box.height() + self._ascent - self._descent) / 2)

    def _band(self, painter: QPainter, box: QRectF, x: float, width: float, band: Band) -> None:
        theme = self._theme
        if band.full:
            painter.fillRect(QRectF(x, box.top(), width, box.height()), theme.color(band.fill))
            return
        height = _MARK_HEIGHT * theme.zoom
        place = QRectF(x, box.top() + round((box.height() - height) / 2), width, height)
        radius = theme.radius("mark")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(theme.color(band.fill))
        if band.line:
            painter.setPen(theme.color(band.line))
            place = place.adjusted(0.5, 0.5, -0.5, -0.5)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(place, radius, radius)

    def _plain(self, painter: QPainter, box: QRectF, line: Line, runs: Runs, bands: Sequence[Band], scroll: float) -> None:
        advance, shown = self.advance, line.shown
        left = box.left() - scroll
        first = int(scroll / advance)
        last = int((scroll + box.width()) / advance) + 1
        for band in bands:
            start, end = max(shown.at(band.start), first - 1), min(shown.at(band.end), last + 1)
            if start < end:
                self._band(painter, box, left + start * advance, (end - start) * advance, band)
        y = self._baseline(box)
        if self._invisibles:
            dots = line.blanks[first:last] or blanks_of(shown.text[first:last])
            painter.setFont(self._font)
            painter.setPen(self._theme.color("diff.line-number"))
            painter.drawText(QPointF(left + first * advance, y), dots)
        painter.setFont(self._font)
        text, starts, colours = shown.text, shown.starts, self._colors
        for start, end, kind in runs:
            if starts is not None:
                start, end = shown.at(start), shown.at(end)
            if end <= first or start >= last:
                continue
            seen = (max(start, first), min(end, last))
            for begin, stop in _around(shown.tags, *seen) if shown.tags else (seen,):
                piece = text[begin:stop]
                if not piece.isspace():
                    painter.setPen(colours[kind])
                    painter.drawText(QPointF(left + begin * advance, y), piece)
        for start, end in shown.tags:
            if start < last and end > first:
                place = QRectF(left + start * advance, box.top(), (end - start) * advance, box.height())
                self._tag(painter, place, shown.text[start:end])

    def _tag(self, painter: QPainter, place: QRectF, text: str) -> None:
        """A hidden character: what it is, in a small box."""
        theme = self._theme
        self._band(painter, place, place.left() + 0.5, place.width() - 1, Band(0, 0, "warning.tint", "warning.line"))
        painter.setFont(theme.font("label", weight=500))
        painter.setPen(theme.color("warning.text"))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text.strip("\u27e8\u27e9"))
        painter.setFont(self._font)

    def _laid_out(
        self,
        painter: QPainter,
        box: QRectF,
        line: Line,
        runs: Runs,
        bands: Sequence[Band],
        scroll: float,
        columns: int,
        row: int,
    ) -> None:
        layout = self._layout(line, columns, runs)
        if row >= layout.lineCount():
            return
        left = box.left() - scroll
        for band in bands:
            found = self._layouts.span(line, layout.lineAt(row), band.start, band.end)
            if found is not None and found[1] > found[0]:
                self._band(painter, box, left + found[0], found[1] - found[0], band)
        self._layouts.draw(painter, layout, row, left, self._baseline(box))

    def _ending(self, painter: QPainter, box: QRectF, line: Line, end: float) -> None:
        """How much was cut off, after the ``end`` of what is shown; in a full row over its last columns."""
        words = f"… +{line.cut:,}"
        x = end + self.advance
        if x < box.right():
            width = self._theme.metrics("small").horizontalAdvance(words)
            if end > box.left() + box.width() - width - self.advance:
                x = box.right() - width - 2
                painter.fillRect(QRectF(x - 4, box.top() + 2, width + 6, box.height() - 4), self._theme.color("bg.chip"))
            painter.setFont(self._theme.font("small"))
            painter.setPen(self._theme.color("text.tertiary"))
            painter.drawText(QPointF(x, self._baseline(box)), words)


def _around(tags: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a run of columns that are no tag."""
    for first, last in tags:
        if last <= start or first >= end:
            continue
        if first > start:
            yield start, first
        start = last
    if start < end:
        yield start, end
