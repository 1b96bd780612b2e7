"""Paint the rows of a diff, side by side or unified, and say where things are in them.

Geometry and painting of the rows in sight; `DiffView` owns scrolling, selection and input. UI thread only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QFont, QPainter, QPen, QPixmap

from vibekit_desktop.core.types.diffs import DiffSide, RowKind, Span, StyleRuns, WordSpans
from vibekit_desktop.ui.long_text import MAX_LINE
from vibekit_desktop.ui.models.diff_rows import STEP, DiffRows, Fold, Show
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.code_line import TAB_COLUMNS, Line, LinePainter, line_of, runs_of
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text
from vibekit_desktop.ui.wording import MINUS

OLD, NEW = 0, 1
_NO_MARKS: tuple[Span, ...] = ()


@dataclass(slots=True)
class Dress:
    """What arrives later than the rows: words and colours. Keys of ``words`` are document rows."""

    words: dict[int, WordSpans] = field(default_factory=dict)
    styles: list[StyleRuns | None] = field(default_factory=lambda: [None, None])


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a pane's columns begin, relative to the pane: numbers (one or two), sign, text."""

    numbers: tuple[tuple[float, float], ...]
    sign: float
    text: float


class RowPainter:
    """Paints display rows. Invariant: everything it needs to know of the document is in ``rows`` and ``dress``."""

    def __init__(self, theme: Theme) -> None:
        self.lines = LinePainter(theme)
        self.rows: DiffRows | None = None
        self.dress = Dress()
        self.current: tuple[int, int] | None = None
        self.chosen: tuple[int, int, int] | None = None
        self.hovered: tuple[int, str] | None = None
        self.scroll_x = 0.0
        self._lines: dict[tuple[int, int], Line] = {}
        self._longest = -1
        self.use(theme)

    def use(self, theme: Theme) -> None:
        """Paint with another theme from now on."""
        self.theme = theme
        self.lines.use(theme)
        self._hatch = _hatch(theme, 1.0)
        self._sign_font = QFont(theme.font("code"))
        self._sign_font.setWeight(QFont.Weight.Bold)
        self._note_font = QFont(theme.font("small"))
        self._note_font.setItalic(True)
        self._number_advance = theme.metrics("code-small").horizontalAdvance("0" * 16) / 16

    def show(self, rows: DiffRows | None) -> None:
        """Paint another document; colours and words of the former are forgotten."""
        self.rows = rows
        self.dress = Dress()
        self.current = None
        self.chosen = None
        self.hovered = None
        self._longest = -1
        self._lines.clear()
        self.lines.forget()

    # Geometry.

    def columns(self) -> Columns:
        """The columns of a pane, wide enough for the largest line number."""
        theme = self.theme
        sign = theme.size("diff-sign-column") * 1.0
        longest = 1
        if self.rows is not None:
            document = self.rows.document
            longest = len(str(max(len(document.old.lines), len(document.new.lines), 1)))
        need = longest * self._number_advance
        if self.rows is not None and self.rows.unified:
            first, second = max(36.0, need + 14), max(36.0, need + 16)
            return Columns(((0, first - 6), (first, first + second - 8)), first + second, first + second + sign - 2)
        width = max(theme.size("diff-number-column"), need + 18)
        return Columns(((0, width - 10),), width, width + sign)

    def panes(self, width: int) -> list[tuple[int, QRectF]]:
        """The sides and their strips (left and width only) in a viewport of ``width``."""
        if self.rows is not None and self.rows.unified:
            return [(NEW, QRectF(0, 0, width, 0))]
        half = width // 2
        return [(OLD, QRectF(0, 0, half, 0)), (NEW, QRectF(half + 1, 0, width - half - 1, 0))]

    def text_width(self) -> float:
        """How wide the longest line is painted, at most 10,000 characters."""
        if self.rows is None:
            return 0.0
        if self._longest < 0:
            sides = (self.rows.document.old, self.rows.document.new)
            longest = max(max(map(len, side.lines), default=0) for side in sides)
            # A tab is one character and up to four columns; only files that have any pay for counting them.
            tabs = max((line.count("\t") for side in sides for line in side.lines if "\t" in line), default=0)
            self._longest = min(longest, MAX_LINE) + tabs * (TAB_COLUMNS - 1)
        return (self._longest + 4) * self.lines.advance

    def line(self, side: int, number: int) -> Line:
        """A line (from 1) ready for painting, kept until another document is shown."""
        key = (side, number)
        found = self._lines.get(key)
        if found is None:
            if len(self._lines) > 4000:
                self._lines.clear()
            found = self._lines[key] = line_of(self.side(side).lines[number - 1])
        return found

    def side(self, side: int) -> DiffSide:
        """One side of the document."""
        assert self.rows is not None
        return self.rows.document.old if side == OLD else self.rows.document.new

    def fold_buttons(self, index: int, width: int, top: float) -> list[tuple[str, QRectF]]:
        """Where the buttons of a fold bar are: ``up``, ``down``, ``all``."""
        if self.rows is None or self.rows.kind(index) is not Show.FOLD:
            return []
        fold = self.rows.folds[self.rows.ref(index)]
        height = self.rows.row_height(index)
        metrics = self.theme.metrics("small", weight=500)
        parts: list[tuple[str, float]] = []
        if fold.count > STEP:
            step = 18 + metrics.horizontalAdvance(_step_text())
            if not fold.at_start:
                parts.append(("down", step))
            if not fold.at_end:
                parts.insert(0, ("up", step))
        parts.append(("all", metrics.horizontalAdvance(tr("Show all"))))
        total = sum(part for _, part in parts) + 16 * (len(parts) - 1)
        x = width - total - 24 if self.rows.unified else self.panes(width)[1][1].left() + self.columns().text
        places: list[tuple[str, QRectF]] = []
        for which, part in parts:
            places.append((which, QRectF(x - 6, top + 2, part + 12, height - 4)))
            x += part + 16
        return places

    # Painting.

    def paint(self, painter: QPainter, exposed: QRect, width: int, scroll_y: int) -> None:
        """Every row that ``exposed`` touches, in a viewport of ``width`` scrolled down by ``scroll_y``."""
        theme = self.theme
        painter.fillRect(exposed, theme.color("bg.surface"))
        rows = self.rows
        if rows is None or not len(rows):
            return
        painter.setBrushOrigin(0, -scroll_y % 8)
        columns = self.columns()
        panes = self.panes(width)
        index = rows.at(scroll_y + max(0, exposed.top()))
        while index < len(rows):
            top = rows.top(index) - scroll_y
            if top > exposed.bottom():
                break
            height = rows.row_height(index)
            if rows.kind(index) is Show.FOLD:
                self._fold(painter, index, QRectF(0, top, width, height), columns)
            else:
                for side, pane in panes:
                    self._row(painter, index, side, QRectF(pane.left(), top, pane.width(), height), columns)
            index += 1
        if len(panes) > 1:
            painter.fillRect(QRectF(panes[1][1].left() - 1, exposed.top(), 1, exposed.height()), theme.color("line.hair"))

    def _row(self, painter: QPainter, index: int, side: int, box: QRectF, columns: Columns) -> None:
        rows, theme = self.rows, self.theme
        assert rows is not None
        if rows.kind(index) is Show.END:
            self._end_note(painter, side, box, columns)
            return
        kind = rows.row_kind(index)
        numbers = rows.sides(index)
        unified = rows.unified
        if not unified and numbers[side] is None:
            painter.fillRect(box, theme.color("diff.filler"))
            painter.fillRect(box, self._hatch)
        else:
            changed = "" if kind is RowKind.SAME else "del" if (numbers[1] is None if unified else side == OLD) else "add"
            if changed:
                painter.fillRect(box, theme.color(f"diff.{changed}-line"))
                gutter = QRectF(box.left(), box.top(), columns.sign, box.height())
                painter.fillRect(gutter, theme.color(f"diff.{changed}-gutter"))
            shown = numbers if unified else (numbers[side],)
            self._numbers(painter, box, columns, shown, changed=bool(changed))
            if changed:
                self._sign(painter, box, columns, changed)
            source = (NEW if numbers[1] is not None else OLD) if unified else side
            number = numbers[source]
            if number is not None:
                text = QRectF(box.left() + columns.text, box.top(), box.width() - columns.text, box.height())
                if self._is_chosen(index, side):
                    painter.fillRect(text, theme.color("bg.selected"))
                self._text(painter, text, rows.ref(index), source, number, changed)
        if self.current is not None and self.current[0] <= index <= self.current[1]:
            bar = QRectF(box.left(), box.top(), theme.size("diff-current-bar"), box.height())
            painter.fillRect(bar, theme.color("diff.current"))

    def _is_chosen(self, index: int, side: int) -> bool:
        return self.chosen is not None and self.chosen[0] == side and self.chosen[1] <= index <= self.chosen[2]

    def _text(self, painter: QPainter, box: QRectF, row: int, side: int, number: int, changed: str) -> None:
        line = self.line(side, number)
        if not line.shown.text and not line.cut:
            return
        marks: Sequence[Span] = _NO_MARKS
        if changed:
            spans = self.dress.words.get(row)
            if spans is not None:
                marks = spans.old if side == OLD else spans.new
        runs = runs_of(self.dress.styles[side], number - 1, line.length)
        painter.save()
        painter.setClipRect(box)
        self.lines.draw(painter, box, line, runs, marks, scroll=self.scroll_x, mark_token=f"diff.{changed or 'add'}-word")
        painter.restore()

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
                painter.drawText(QPointF(box.left() + right - len(text) * self._number_advance, y), text)

    def _sign(self, painter: QPainter, box: QRectF, columns: Columns, changed: str) -> None:
        painter.setFont(self._sign_font)
        painter.setPen(self.theme.color(f"diff.{changed}-mark"))
        place = QRectF(box.left() + columns.sign, box.top(), columns.text - columns.sign, box.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, MINUS if changed == "del" else "+")

    def _end_note(self, painter: QPainter, side: int, box: QRectF, columns: Columns) -> None:
        assert self.rows is not None
        text = end_note(self.rows, side)
        if not text:
            return
        theme = self.theme
        icon = columns.sign / 2 - 7
        draw_icon(painter, theme, "info", "text.tertiary", round(box.left() + icon), round(box.top() + 3), 14)
        painter.setFont(self._note_font)
        painter.setPen(theme.color("text.tertiary"))
        place = QRectF(box.left() + columns.text, box.top(), box.width() - columns.text, box.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)

    def _fold(self, painter: QPainter, index: int, box: QRectF, columns: Columns) -> None:
        assert self.rows is not None
        theme = self.theme
        fold = self.rows.folds[self.rows.ref(index)]
        painter.fillRect(box, theme.color("diff.fold"))
        draw_icon(painter, theme, "more", "text.secondary", round(columns.sign / 2 - 7), round(box.center().y() - 7), 14)
        buttons = self.fold_buttons(index, round(box.width()), box.top())
        left = box.left() + columns.text
        edge = buttons[0][1].left() - 8 if self.rows.unified else self.panes(round(box.width()))[0][1].width() - 12
        place = QRectF(left, box.top(), edge - left, box.height())
        text = fold_text(fold)
        width = draw_text(painter, theme, place, text, style="small", token="text.secondary")
        rest = QRectF(left + width + 8, box.top(), edge - left - width - 8, box.height())
        if fold.heading and rest.width() > 24:
            draw_text(painter, theme, rest, fold.heading.strip().rstrip(" :{"), style="small", token="text.tertiary")
        for which, button in buttons:
            if self.hovered == (index, which):
                rounded(painter, button, theme.radius("small"), fill=theme.color("bg.pressed"))
            inner = button.adjusted(6, 0, -6, 0)
            if which != "all":
                name = "arrow-up" if which == "up" else "arrow-down"
                draw_icon(painter, theme, name, "text.secondary", round(inner.left()), round(inner.center().y() - 7), 14)
                inner.setLeft(inner.left() + 18)
            words = tr("Show all") if which == "all" else _step_text()
            inner.setRight(inner.right() + 6)
            draw_text(painter, theme, inner, words, style="small", weight=500, token="text.secondary", elide=None)


def _step_text() -> str:
    return tr_n("{n} line", "{n} lines", STEP)


def fold_text(fold: Fold) -> str:
    """ "24 unchanged lines"."""
    return tr_n("{n} unchanged line", "{n} unchanged lines", fold.count)


def end_note(rows: DiffRows, side: int) -> str:
    """What the note under the last line says on one side; unified has one note for both."""
    old, new = rows.document.old, rows.document.new
    none = tr("No newline at end of file")
    if rows.unified:
        if not new.exists or old.final_newline == new.final_newline:
            return none
        return tr("Newline added at end of file") if new.final_newline else none
    mine, other = (old, new) if side == OLD else (new, old)
    if not mine.exists or not mine.lines:
        return ""
    if not mine.final_newline:
        return none
    return tr("Newline added at end of file") if side == NEW and other.exists and other.lines else ""


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
