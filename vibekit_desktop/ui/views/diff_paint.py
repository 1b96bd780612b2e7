"""Paint the lines of a diff, side by side or unified, with all that belongs to them.

Only the rows that are exposed; `DiffView` owns scrolling, selection and input. UI thread only.
"""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QFont, QPainter, QPen, QPixmap

from vibekit_desktop.core.types.diffs import DiffSide, RowKind, Span
from vibekit_desktop.ui.models.diff_options import USUAL, DiffOptions
from vibekit_desktop.ui.models.diff_rows import DiffRows, Show
from vibekit_desktop.ui.models.diff_runs import NEW, OLD
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.code_cells import Line
from vibekit_desktop.ui.views.code_line import Band, LinePainter, comments_plain_in, runs_of
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.diff_dress import Dress, Moves
from vibekit_desktop.ui.views.diff_folds import paint_end_note, paint_fold
from vibekit_desktop.ui.views.diff_geometry import Columns, Geometry
from vibekit_desktop.ui.views.row_paint import text_width
from vibekit_desktop.ui.wording import MINUS

_NO_MARKS: tuple[Span, ...] = ()
_KEPT_LINES = 4000


class RowPainter:
    """Paints display rows. Invariant: everything it needs to know of the document is in ``rows`` and ``dress``.

    ``scroll`` are the pixels hidden at the left of each side; ``wrap`` the columns of a wrapped row, 0 where lines are whole.
    """

    def __init__(self, theme: Theme) -> None:
        self.lines = LinePainter(theme)
        self.geometry = Geometry(theme)
        self.rows: DiffRows | None = None
        self.dress = Dress()
        self.options = USUAL
        self.scroll = [0.0, 0.0]
        self.wrap = 0
        self._lines: dict[tuple[int, int], Line] = {}
        self._exposed = QRect()
        self.use(theme)

    def use(self, theme: Theme) -> None:
        """Paint with another theme from now on."""
        self.theme = theme
        self.lines.use(theme)
        self.geometry.use(theme)
        self._lines.clear()  # which lines are in cells depends on the font
        self._hatch = _hatch(theme, 1.0)
        self._sign_font = QFont(theme.font("code"))
        self._sign_font.setWeight(QFont.Weight.Bold)

    def choose(self, options: DiffOptions) -> None:
        """Paint in another way from now on."""
        self.options = options
        self.lines.set_blanks(options.tab_columns, invisibles=options.invisibles)
        self._lines.clear()

    def show(self, rows: DiffRows | None) -> None:
        """Paint another document; everything of the former is forgotten."""
        self.rows = self.geometry.rows = rows
        self.dress = Dress(moves=Moves(rows.document.moves if rows is not None else ()))
        self.geometry.commented = False
        self._lines.clear()
        self.lines.forget()

    # Lines.

    def side(self, side: int) -> DiffSide:
        """One side of the document."""
        assert self.rows is not None
        return self.rows.document.old if side == OLD else self.rows.document.new

    def line(self, side: int, number: int) -> Line:
        """A line (from 1) ready for painting, kept until another document is shown."""
        key = (side, number)
        found = self._lines.get(key)
        if found is None:
            if len(self._lines) > _KEPT_LINES:
                self._lines.clear()
            found = self._lines[key] = self.lines.prepare(self.side(side).lines[number - 1])
        return found

    def measure(self, index: int, exact: bool) -> int:
        """How many rows beyond its first a display row takes when wrapped."""
        rows = self.rows
        assert rows is not None
        return (
            max((self._rows_of(side, number, exact) for side, number in enumerate(rows.sides(index)) if number), default=1) - 1
        )

    def _rows_of(self, side: int, number: int, exact: bool) -> int:
        text = self.side(side).lines[number - 1]
        if len(text) <= self.wrap and text.isascii() and text.isprintable():
            return 1
        line = self.line(side, number)
        if exact or line.plain:
            return self.lines.rows(line, self.wrap)
        wide = sum(unicodedata.east_asian_width(character) in "WF" for character in line.shown.text)
        return max(1, -(-(line.columns + wide) // self.wrap))

    # Painting.

    def paint(self, painter: QPainter, exposed: QRect, width: int, scroll_y: int) -> None:
        """Every row that ``exposed`` touches, in a viewport of ``width`` scrolled down by ``scroll_y``."""
        theme = self.theme
        self._exposed = exposed
        painter.fillRect(exposed, theme.color("bg.surface"))
        rows = self.rows
        if rows is None or not len(rows):
            return
        painter.setBrushOrigin(0, -scroll_y % 8)
        columns = self.geometry.columns()
        panes = self.geometry.panes(width)
        index = rows.at(scroll_y + max(0, exposed.top()))
        while index < len(rows):
            top = rows.top(index) - scroll_y
            if top > exposed.bottom():
                break
            height = rows.row_height(index)
            if rows.kind(index) is Show.FOLD:
                paint_fold(painter, self.geometry, index, QRectF(0, top, width, height), self.dress.hovered)
            else:
                for side, pane in panes:
                    self._row(painter, index, side, QRectF(pane.left(), top, pane.width(), height), columns)
            self._cursor(painter, index, QRectF(0, top, width, height))
            index += 1
        if len(panes) > 1:
            painter.fillRect(QRectF(panes[1][1].left() - 1, exposed.top(), 1, exposed.height()), theme.color("line.hair"))

    def _row(self, painter: QPainter, index: int, side: int, box: QRectF, columns: Columns) -> None:
        rows, theme = self.rows, self.theme
        assert rows is not None
        if rows.kind(index) is Show.END:
            paint_end_note(painter, theme, rows, side, box, columns)
            return
        numbers = rows.sides(index)
        source = self.geometry.source(index, side)
        number = numbers[source]
        if number is None:
            painter.fillRect(box, theme.color("diff.filler"))
            painter.fillRect(box, self._hatch)
        else:
            same = rows.row_kind(index) is RowKind.SAME
            changed = "" if same else "del" if source == OLD else "add"
            moved = self.dress.moves.at(source, number) if changed else None
            if changed:
                # A moved block says so through the columns before its text only: it was not written anew.
                tinted = box if moved is None else QRectF(box.left(), box.top(), columns.text, box.height())
                painter.fillRect(tinted, theme.color(f"diff.{changed}-line"))
                gutter = QRectF(box.left(), box.top(), columns.sign, box.height())
                painter.fillRect(gutter, theme.color(f"diff.{changed}-gutter"))
            first = QRectF(box.left(), box.top(), box.width(), theme.size("row-code"))
            shown = numbers if rows.unified else (number,)
            self._numbers(painter, first, columns, shown, changed=bool(changed))
            self._comment(painter, source, number, box, first, columns)
            if changed:
                self._sign(painter, first, columns, changed)
            text = QRectF(box.left() + columns.text, box.top(), box.width() - columns.text, box.height())
            self._text(painter, text, index, source, number, changed)
            if moved is not None and (words := self.label_of(source, number)):
                self._label(painter, first, words)
        if self.dress.current is not None and self.dress.current[0] <= index <= self.dress.current[1]:
            bar = QRectF(box.left(), box.top(), theme.size("diff-current-bar"), box.height())
            painter.fillRect(bar, theme.color("diff.current"))

    def _text(self, painter: QPainter, box: QRectF, index: int, side: int, number: int, changed: str) -> None:
        assert self.rows is not None
        line = self.line(side, number)
        row = self.rows.ref(index)
        marks: Sequence[Span] = _NO_MARKS
        if changed:
            spans = self.dress.words.get(row)
            if spans is not None:
                marks = spans.old if side == OLD else spans.new
        bands = [
            Band(mark.start, mark.end, f"diff.{changed}-word", f"diff.{changed}-mark" if self.options.stronger else "")
            for mark in marks
        ]
        chosen = self._chosen(side, number, line)
        if chosen is not None:
            bands.append(Band(chosen[0], chosen[1], "bg.selected", full=True))
        bands += self._found(row, side, changed)
        styles, place = self.dress.colours(side, number)
        runs = comments_plain_in(runs_of(styles, place, line.length), marks)
        painter.save()
        painter.setClipRect(box)
        if self.wrap:
            step = self.theme.size("row-code")
            # A line of a few megabytes has tens of thousands of rows: only those in sight are painted.
            first = max(0, int(self._exposed.top() - box.top()) // step)
            end = min(round(box.height()) // step, int(self._exposed.bottom() - box.top()) // step + 1)
            for part in range(first, end):
                place_box = QRectF(box.left(), box.top() + part * step, self.wrap * self.lines.advance, step)
                painter.setClipRect(place_box.adjusted(0, 0, 1, 0))
                self.lines.paint(painter, place_box, line, runs, bands, columns=self.wrap, row=part)
            painter.setClipRect(box)
        elif line.shown.text or line.cut:
            self.lines.paint(painter, box, line, runs, bands, scroll=self.scroll[side])
        self._line_end(painter, box, side, number, line, chosen=chosen is not None and chosen[2])
        painter.restore()

    def _line_end(self, painter: QPainter, box: QRectF, side: int, number: int, line: Line, *, chosen: bool) -> None:
        """The end of a line where it is chosen, and its sign where such are wanted."""
        if not chosen and not self.options.invisibles:
            return
        row, x = self.lines.place_of(line, line.length, columns=self.wrap)
        step = self.theme.size("row-code")
        left = box.left() + x - (0 if self.wrap else self.scroll[side])
        place = QRectF(left, box.top() + row * step, self.lines.advance, step)
        if chosen:
            painter.fillRect(place, self.theme.color("bg.selected"))
        of = self.side(side)
        if self.options.invisibles and (number < len(of.lines) or of.final_newline):
            painter.setFont(self.theme.font("code"))
            painter.setPen(self.theme.color("diff.line-number"))
            sign = "CR\u21b5" if self.dress.ends_in_crlf(side, number, of.line_ending) else "\u21b5"
            painter.drawText(place.adjusted(0, 0, 60, 0), Qt.AlignmentFlag.AlignVCenter, sign)

    def _chosen(self, side: int, number: int, line: Line) -> tuple[int, int, bool] | None:
        selection = self.dress.selection
        if selection is None or selection.side != side:
            return None
        return selection.within(number, line.length)

    def _found(self, row: int, side: int, changed: str) -> list[Band]:
        hits = self.dress.hits
        if hits is None or not len(hits) or self.rows is None:
            return []
        found = list(hits.in_row(row))
        if not changed and any(hit.side != side for _, hit in found):
            # A line that is the same on both sides was counted once, and is marked on both.
            old, new = (self.rows.runs.line(which, row) for which in (OLD, NEW))
            if old and new and self.side(OLD).lines[old - 1] == self.side(NEW).lines[new - 1]:
                side = found[0][1].side
        return [
            Band(hit.start, hit.end, "find.hit-current" if at == self.dress.hit else "find.hit")
            for at, hit in found
            if hit.side == side
        ]

    def _numbers(
        self, painter: QPainter, box: QRectF, columns: Columns, numbers: tuple[int | None, ...], *, changed: bool
    ) -> None:
        theme = self.theme
        painter.setFont(theme.font("code-small"))
        painter.setPen(theme.color("diff.line-number-changed" if changed else "diff.line-number"))
        metrics = theme.metrics("code-small")
        y = round(box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2)
        for (_, right), number in zip(columns.numbers, numbers, strict=True):
            if number is not None:
                text = str(number)
                painter.drawText(QPointF(box.left() + right - len(text) * self.geometry.number_advance, y), text)

    def _sign(self, painter: QPainter, box: QRectF, columns: Columns, changed: str) -> None:
        painter.setFont(self._sign_font)
        painter.setPen(self.theme.color(f"diff.{changed}-mark"))
        place = QRectF(box.left() + columns.sign, box.top(), columns.text - columns.sign, box.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, MINUS if changed == "del" else "+")

    def _comment(self, painter: QPainter, side: int, number: int, box: QRectF, first: QRectF, columns: Columns) -> None:
        mark = self.dress.comment_at(side, number) if self.dress.comments else None
        if mark is None:
            return
        bar = QRectF(box.left() + columns.sign - 2, box.top(), 2, box.height())
        painter.fillRect(bar, self.theme.color("accent.text"))
        if number == mark.first:
            y = round(first.top() + (first.height() - 14) / 2)
            draw_icon(painter, self.theme, "chat", "accent.text", round(box.left() + 5), y, 14)

    def label_of(self, side: int, number: int) -> str:
        """What the first line of a moved block says of its other end; empty for every other line."""
        move = self.dress.moves.at(side, number)
        if move is None or number != (move.old_first if side == OLD else move.new_first):
            return ""
        if side == NEW:
            return tr("moved from line {n}", n=move.old_first)
        return tr("moved to line {n}", n=move.new_first)

    def label_width(self, words: str) -> float:
        """How much of the right end of a row a label takes."""
        return text_width(self.theme, "label", words, weight=400) + 20

    def _label(self, painter: QPainter, box: QRectF, words: str) -> None:
        theme = self.theme
        width = self.label_width(words)
        place = QRectF(box.right() - width, box.top() + 2, width - 8, box.height() - 4)
        rounded(painter, place, theme.radius("mark"), fill=theme.color("bg.chip"))
        painter.setFont(theme.font("label", weight=400))
        painter.setPen(theme.color("text.secondary"))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words)

    def _cursor(self, painter: QPainter, index: int, box: QRectF) -> None:
        cursor = self.dress.cursor
        if cursor is None or cursor[0] != index:
            return
        assert self.rows is not None
        if self.rows.kind(index) is not Show.FOLD:
            pane = self.geometry.pane(round(box.width()), cursor[1])
            box = QRectF(pane.left(), box.top(), pane.width(), box.height())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(self.theme.color("line.focus"), 1))
        inner = box.adjusted(0.5, 0.5, -0.5, -0.5)
        frame = [inner.topLeft(), inner.topRight(), inner.bottomRight(), inner.bottomLeft(), inner.topLeft()]
        for one, other in pairwise(frame):
            painter.drawLine(one, other)


def _hatch(theme: Theme, ratio: float) -> QBrush:
    """The 8 x 8 tile that says "nothing here on this side"."""
    tile = QPixmap(round(8 * ratio), round(8 * ratio))
    tile.fill(theme.color("diff.filler"))
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color("diff.filler-hatch"), 1))
    for shift in (-8, 0, 8):
        painter.drawLine(QPointF(shift - 1, 9), QPointF(shift + 9, -1))
    painter.end()
    return QBrush(tile)
