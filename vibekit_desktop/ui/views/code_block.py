"""Paint a fenced code block: language and Copy in its head, coloured lines, folded when long. UI thread only."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath

from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.block_view import LEFT, Hit, PaintState, TextButton, tall
from vibekit_desktop.ui.views.code_cells import Line, line_of
from vibekit_desktop.ui.views.code_line import Band, LinePainter, runs_of
from vibekit_desktop.ui.views.row_paint import text_width
from vibekit_desktop.ui.views.text_places import Ground

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
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
        self._head = tall(theme, _HEAD)
        self._fold = tall(theme, 28) if folded or (opened and self._all > FOLD_OVER + 4) else 0
        self.height = self._head + body + self._fold
        longest = max((line.columns for line in self._lines), default=0) * self._code.advance
        self.most_shift = max(0, round(longest - (width - 2 * _PAD_X)))
        self.shift = min(shift, self.most_shift)
        copy = TextButton(theme, tr("Copy"), width - 4, self._head / 2, icon="copy")
        self._copy = copy
        hits = [Hit(copy.box, "copy", tr("Copy this code"), text)]
        if self._fold:
            box = QRectF(0, self.height - self._fold, width, self._fold)
            hits.append(Hit(box, "fold", self._fold_text(opened=opened), key))
        self._opened = opened
        self.hits = tuple(hits)
        self._begins: list[int] | None = None

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
        return QPointF(x, self._head + _PAD_Y + (len(self._lines) - 0.5) * self._line)

    # Its characters

    @property
    def text(self) -> str:
        """All of it, folded or not."""
        return self.copy_text

    @property
    def _starts(self) -> list[int]:
        """Where each line begins."""
        if self._begins is None:
            self._begins = [0]
            for line in self.copy_text.split("\n"):
                self._begins.append(self._begins[-1] + len(line) + 1)
        return self._begins

    def index_at(self, place: QPointF) -> int:
        """The border between two characters that is nearest to a place."""
        if not self._lines or place.y() < self._head:
            return 0
        if place.y() >= self.height - self._fold:
            return len(self.copy_text)
        number = min(max(0, int((place.y() - self._head - _PAD_Y) // self._line)), len(self._lines) - 1)
        return self._starts[number] + self._code.index_at(self._lines[number], place.x() - _PAD_X + self.shift)

    def box_of(self, index: int) -> QRectF:
        """Where the character of an index begins; of one that is folded away the end of what is shown."""
        number = bisect_right(self._starts, index) - 1
        if number >= len(self._lines):
            return QRectF(_PAD_X, self.height - max(self._fold, 1), 0, max(self._fold, 1))
        _, x = self._code.place_of(self._lines[number], index - self._starts[number])
        return QRectF(_PAD_X + x - self.shift, self._head + _PAD_Y + number * self._line, 0, self._line)

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""
        number = bisect_right(self._starts, index) - 1
        start, end = self._starts[number], self._starts[number + 1] - 1
        for found in _WORD.finditer(self.copy_text[start:end]):
            if found.end() + start > index or found.end() + start == end:
                return found.start() + start, found.end() + start
        return index, index

    def _bands(self, number: int, grounds: Sequence[Ground]) -> list[Band]:
        """The grounds of one line."""
        start = self._starts[number]
        length = self._lines[number].length
        found = [(max(0, one.start - start), min(length, one.end - start), one.fill) for one in grounds]
        return [Band(first, end, fill, full=True) for first, end, fill in found if first < end]

    def _fold_text(self, *, opened: bool) -> str:
        return tr("Show fewer lines") if opened else tr("Show {n} more lines", n=self._all - FOLD_OVER)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        box = QRectF(0, 0, self._width, self.height)
        rounded(painter, box, theme.radius("card"), fill=theme.color("bg.raised"), line=theme.color("line.hair"))
        painter.fillRect(QRectF(1, self._head - 1, self._width - 2, 1), theme.color("line.hair"))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.secondary"))
        name = self._language or tr("text")
        painter.drawText(QRectF(_PAD_X, 0, self._width - 120, self._head - 1), LEFT, name)
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
        clip.addRect(QRectF(_PAD_X, self._head, self._width - 2 * _PAD_X, self.height - self._head - self._fold - 1))
        painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
        first, last = 0, len(self._lines)
        if state.clip is not None:
            first = max(0, int((state.clip.top() - self._head - _PAD_Y) // self._line))
            last = min(last, int((state.clip.bottom() - self._head - _PAD_Y) // self._line) + 1)
        for number in range(first, last):
            line = self._lines[number]
            box = QRectF(_PAD_X, self._head + _PAD_Y + number * self._line, self._width - 2 * _PAD_X, self._line)
            runs = runs_of(self._styles, number, line.length)
            bands = self._bands(number, state.grounds) if state.grounds else ()
            self._code.paint(painter, box, line, runs, bands, scroll=self.shift)
        painter.restore()
        if self.most_shift:
            room = self._width - 2 * _PAD_X
            part = room / (room + self.most_shift)
            left = _PAD_X + (room - room * part) * self.shift / self.most_shift
            bar = QRectF(left, self.height - self._fold - 6, room * part, 4)
            rounded(painter, bar, 2, fill=theme.color("line.strong"))
