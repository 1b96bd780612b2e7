"""The characters of a document that is painted: which one is at a place, where one stands, what is between two. UI thread only.

Qt counts a character beyond the basic plane as two; here and everywhere else it is one.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QAbstractTextDocumentLayout, QColor, QTextCharFormat, QTextCursor, QTextDocument


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


class TextPlaces:
    """Invariant: the document does not change. Places are in the document's own coordinates."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self.text = document.toPlainText()
        """What is shown; a line end for every border of a paragraph or a cell."""
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
        found: object = line.cursorToX(unit - block.position())
        # `cursorToX` gives the x, and in some versions the cursor with it.
        x = found[0] if isinstance(found, tuple) else found
        left = float(x) if isinstance(x, (int, float)) else 0.0
        return QRectF(origin.x() + left, origin.y() + line.y(), 0, line.height())

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(self._unit(index))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        return self._index(cursor.selectionStart()), self._index(cursor.selectionEnd())

    def selections(self, grounds: Sequence[Ground], colors: Sequence[QColor]) -> list[QAbstractTextDocumentLayout.Selection]:
        """Grounds as Qt paints them, each in its colour."""
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
