"""Paint a fenced code block: language and Copy in its head, coloured lines, folded when long. UI thread only."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath

from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.block_view import LEFT, Hit, PaintState, TextButton
from vibekit_desktop.ui.views.code_cells import Line, line_of
from vibekit_desktop.ui.views.code_line import LinePainter, runs_of
from vibekit_desktop.ui.views.row_paint import text_width

FOLD_OVER = 24
_HEAD = 28
_PAD_X, _PAD_Y = 12, 8


class CodeBlockView:
    """One code block at one width. ``styles`` are the colours, None until they have come. Invariant: never wraps."""

    def __init__(
        self,
        theme: Theme,
        language: str,
        text: str,
        width: int,
        key: str,
        *,
        opened: bool = False,
        styles: StyleRuns | None = None,
        shift: int = 0,
        earlier: "CodeBlockView | None" = None,
    ) -> None:
        """``earlier``: how the same block was laid out while less of it was there; what is the same is not prepared again."""
        self._theme = theme
        self._width = width
        self._language = language
        self._styles = styles
        self.copy_text = text
        lines = text.split("\n")
        self._all = len(lines)
        folded = not opened and self._all > FOLD_OVER + 4
        shown = lines[:FOLD_OVER] if folded else lines
        known = earlier.same_lines(text) if earlier is not None else 0
        self._lines = [line_of(line) for line in shown[known:]]
        if earlier is not None and known:
            self._lines = earlier.first_lines(min(known, len(shown))) + self._lines
        self._code = LinePainter(theme)
        self._line = theme.line_height("code")
        body = 2 * _PAD_Y + self._line * len(self._lines)
        self._fold = 28 if folded or (opened and self._all > FOLD_OVER + 4) else 0
        self.height = _HEAD + body + self._fold
        longest = max((line.columns for line in self._lines), default=0) * self._code.advance
        self.most_shift = max(0, round(longest - (width - 2 * _PAD_X)))
        self.shift = min(shift, self.most_shift)
        copy = TextButton(theme, tr("Copy"), width - 4, _HEAD / 2, icon="copy")
        self._copy = copy
        hits = [Hit(copy.box, "copy", tr("Copy this code"), text)]
        if self._fold:
            box = QRectF(0, self.height - self._fold, width, self._fold)
            hits.append(Hit(box, "fold", self._fold_text(opened=opened), key))
        self._opened = opened
        self.hits = tuple(hits)

    def same_lines(self, text: str) -> int:
        """How many of the lines that are shown are the same, in their place, in a text that goes on from this one."""
        if not text.startswith(self.copy_text):
            return 0
        whole = self._all == len(self._lines)
        return len(self._lines) - 1 if whole and text != self.copy_text else len(self._lines)

    def first_lines(self, count: int) -> list[Line]:
        """Lines as they were prepared."""
        return self._lines[:count]

    def end(self) -> QPointF:
        """Where the last line that is shown ends: its x, and the middle of the line."""
        if self._fold:
            return QPointF(
                _PAD_X + text_width(self._theme, "small", self._fold_text(opened=self._opened), weight=500) + 10,
                self.height - self._fold / 2,
            )
        last = self._lines[-1].columns if self._lines else 0
        x = min(_PAD_X + last * self._code.advance - self.shift, self._width - 2.0 * _PAD_X)
        return QPointF(x, _HEAD + _PAD_Y + (len(self._lines) - 0.5) * self._line)

    def _fold_text(self, *, opened: bool) -> str:
        return tr("Show fewer lines") if opened else tr("Show {n} more lines", n=self._all - FOLD_OVER)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        box = QRectF(0, 0, self._width, self.height)
        rounded(painter, box, theme.radius("card"), fill=theme.color("bg.raised"), line=theme.color("line.hair"))
        painter.fillRect(QRectF(1, _HEAD - 1, self._width - 2, 1), theme.color("line.hair"))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.secondary"))
        name = self._language or tr("text")
        painter.drawText(QRectF(_PAD_X, 0, self._width - 120, _HEAD - 1), LEFT, name)
        self._copy.paint(painter, state, 0)
        self._paint_lines(painter, state)
        if self._fold:
            self._paint_fold(painter, state)

    def _paint_fold(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        top = self.height - self._fold
        painter.fillRect(QRectF(1, top, self._width - 2, 1), theme.color("line.hair"))
        text = self._fold_text(opened=self._opened)
        box = QRectF(_PAD_X - 6, top + 2, text_width(theme, "small", text, weight=500) + 12, self._fold - 4)
        if state.hover == 1 or state.pressed == 1:
            rounded(painter, box, theme.radius("small"), fill=theme.color("bg.pressed" if state.pressed == 1 else "bg.hover"))
        if state.focus == 1:
            rounded(painter, box, theme.radius("small"), line=theme.color("line.focus"))
        painter.setFont(theme.font("small", weight=500))
        painter.setPen(theme.color("accent.text"))
        painter.drawText(QRectF(_PAD_X, top, self._width, self._fold), LEFT, text)

    def _paint_lines(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        painter.save()
        clip = QPainterPath()
        clip.addRect(QRectF(_PAD_X, _HEAD, self._width - 2 * _PAD_X, self.height - _HEAD - self._fold - 1))
        painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
        first, last = 0, len(self._lines)
        if state.clip is not None:
            first = max(0, int((state.clip.top() - _HEAD - _PAD_Y) // self._line))
            last = min(last, int((state.clip.bottom() - _HEAD - _PAD_Y) // self._line) + 1)
        for number in range(first, last):
            line = self._lines[number]
            box = QRectF(_PAD_X, _HEAD + _PAD_Y + number * self._line, self._width - 2 * _PAD_X, self._line)
            runs = runs_of(self._styles, number, line.length)
            self._code.draw(painter, box, line, runs, (), scroll=self.shift, mark_token="diff.add-word")
        painter.restore()
        if self.most_shift:
            room = self._width - 2 * _PAD_X
            part = room / (room + self.most_shift)
            left = _PAD_X + (room - room * part) * self.shift / self.most_shift
            bar = QRectF(left, self.height - self._fold - 6, room * part, 4)
            rounded(painter, bar, 2, fill=theme.color("line.strong"))
