"""The characters of a document that is painted: which one is at a place, where one stands, what is between two. UI thread only.

Qt counts a character beyond the basic plane as two; here and everywhere else it is one.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextLine,
)

_FROM_RIGHT = re.compile(
    "[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


class Ground(NamedTuple):
    """Characters ``start`` to ``end`` of a block stand on a ground of this colour: they are chosen, or were looked for."""

    start: int
    end: int
    fill: str


def within(grounds: Sequence[Ground], start: int, length: int) -> list[Ground]:
    """Those of some grounds that touch a part, counted from where the part begins."""
    return [
        Ground(max(0, one.start - start), min(length, one.end - start), one.fill)
        for one in grounds
        if one.start < start + length and one.end > start
    ]


def line_boxes(block: QTextBlock, origin: QPointF, ranges: Iterable[tuple[int, int]]) -> Iterator[list[QRectF]]:
    """Where characters ``start`` to ``end`` of a block at ``origin`` stand: for each of some ranges one box per line."""
    layout = block.layout()
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    places = [(line.textStart(), line.textStart() + line.textLength(), line.y(), line.height()) for line in lines]
    for start, end in ranges:
        boxes: list[QRectF] = []
        for line, (first, last, y, height) in zip(lines, places, strict=True):
            left_at, right_at = max(start, first), min(end, last)
            if left_at < right_at:
                left, right = x_of(line, left_at), x_of(line, right_at)
                boxes.append(QRectF(min(left, right), y, abs(right - left), height).translated(origin))
        yield boxes


def x_of(line: QTextLine, at: int) -> float:
    """Where the character of an index of a block begins in a line: `cursorToX` gives that, and in some versions the cursor
    with it."""
    found: object = line.cursorToX(at)
    x = found[0] if isinstance(found, tuple) else found
    return float(x) if isinstance(x, (int, float)) else 0.0


class TextPlaces:
    """Invariant: the document does not change. Places are in the document's own coordinates."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self.text = document.toPlainText()
        """What is shown; a line end for every border of a paragraph or a cell."""
        self._from_right: bool | None = None
        self._units: list[int] | None = None
        if self.text and max(self.text) > "\uffff":
            self._units = list(accumulate((2 if character > "\uffff" else 1 for character in self.text), initial=0))

    def _unit(self, index: int) -> int:
        return index if self._units is None else self._units[min(index, len(self._units) - 1)]

    def _index(self, unit: int) -> int:
        return min(unit, len(self.text)) if self._units is None else bisect_left(self._units, unit)

    def index_at(self, place: QPointF) -> int:
        """The border between two characters that is nearest to a place."""
        found = self._document.documentLayout().hitTest(place, Qt.HitTestAccuracy.FuzzyHit)
        return min(self._index(max(0, found)), len(self.text))

    def box_of(self, index: int) -> QRectF:
        """Where the character of an index begins: a box without width, as high as its line."""
        unit = self._unit(index)
        block = self._document.findBlock(unit)
        layout = block.layout()
        origin = self._document.documentLayout().blockBoundingRect(block).topLeft()
        line = layout.lineForTextPosition(unit - block.position())
        if not line.isValid():
            return QRectF(origin.x(), origin.y(), 0, 1)
        return QRectF(origin.x() + x_of(line, unit - block.position()), origin.y() + line.y(), 0, line.height())

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(self._unit(index))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        return self._index(cursor.selectionStart()), self._index(cursor.selectionEnd())

    @property
    def from_right(self) -> bool:
        """Whether some of it is written from right to left: then what is together in the text need not stand together."""
        if self._from_right is None:
            self._from_right = _FROM_RIGHT.search(self.text) is not None
        return self._from_right

    def boxes(self, ground: Ground, top: float, bottom: float) -> Iterator[QRectF]:
        """Where a ground stands, a box per line, of the lines between two heights. Not for text from right to left."""
        start, end = self._unit(ground.start), self._unit(ground.end)
        block = self._document.findBlock(start)
        while block.isValid() and block.position() < end:
            place = self._document.documentLayout().blockBoundingRect(block)
            if place.top() > bottom:
                return
            if place.bottom() >= top:
                at = block.position()
                yield from next(line_boxes(block, place.topLeft(), ((start - at, end - at),)))
            block = block.next()

    def selections(self, grounds: Sequence[Ground], colors: Sequence[QColor]) -> list[QAbstractTextDocumentLayout.Selection]:
        """Grounds as Qt paints them, each in its colour: the whole text once for each, so only where `boxes` cannot."""
        made: list[QAbstractTextDocumentLayout.Selection] = []
        for ground, color in zip(grounds, colors, strict=True):
            one = QAbstractTextDocumentLayout.Selection()
            cursor = QTextCursor(self._document)
            cursor.setPosition(self._unit(ground.start))
            cursor.setPosition(self._unit(ground.end), QTextCursor.MoveMode.KeepAnchor)
            shape = QTextCharFormat()
            shape.setBackground(color)
            one.cursor = cursor
            one.format = shape
            made.append(one)
        return made
