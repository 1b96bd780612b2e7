"""Where a document's rows change, and which row a line stands in, without an object per row.

The row map comes packed in two arrays where the engine made it; other sequences are packed here. Pure; no Qt.
"""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, runtime_checkable

from vibekit_desktop.core.types.diffs import DiffDocument, Row, RowKind

OLD, NEW = 0, 1
_SAME, _CHANGED, _DELETED, _ADDED = range(4)
_NOTHING = -(1 << 31)
_POSITIVE = bytes(range(0x80))
_KINDS = (RowKind.SAME, RowKind.CHANGED, RowKind.DELETED, RowKind.ADDED)


@runtime_checkable
class _Packed(Protocol):
    """Row maps that give their arrays: line numbers from 1, 0 for none, a negative new line for a changed pair. A negative old
    line is one that is the same though the other side has none; the least number there is stands for none."""

    @property
    def packed(self) -> tuple[bytes, bytes]: ...


class Run(NamedTuple):
    """Rows ``first`` to ``last`` are all changed. The counts say how many lines of each side they hold, from which one on."""

    first: int
    last: int
    old_first: int
    old_count: int
    new_first: int
    new_count: int


Stretch = tuple[int, int, RowKind]
"""First and last of some changed rows of one kind."""


class Runs:
    """The changed rows of a document. Invariant: runs and stretches rise and cover exactly the rows that are not the same."""

    def __init__(self, document: DiffDocument) -> None:
        self.document = document
        self._old, self._new, self._alone = _arrays(document.rows)
        self._reached: dict[int, list[int]] = {}
        self.runs: list[Run] = []
        self.stretches: list[Stretch] = []
        self.hunk_runs: list[tuple[int, int]] = []
        """First and last position in ``runs`` of each hunk."""
        self._scan()

    def __len__(self) -> int:
        return len(self._old)

    def kind(self, row: int) -> RowKind:
        """What changed in a row."""
        if row in self._alone:
            return RowKind.SAME
        return _KINDS[_kind(self._old[row], self._new[row])]

    def line(self, side: int, row: int) -> int:
        """The line (from 1) of one side in a row; 0 if it has none."""
        return self._old[row] if side == OLD else abs(self._new[row])

    def lines(self, first: int, end: int) -> list[tuple[int, int]]:
        """The lines of both sides in the rows ``first`` to ``end``, not included; 0 for none, negative as in the row map."""
        return list(zip(self._old[first:end], self._new[first:end], strict=True))

    def row_of(self, side: int, line: int) -> int:
        """The row in which a line stands; the nearest one if there is no such line."""
        most = max(0, len(self) - 1)
        if self._alone:
            return min(bisect_left(self._all_reached(side), line), most)
        # The row above a run is the same on both sides, so it tells how many lines of each are above the run.
        above = bisect_left(self.runs, line, key=lambda run: self._above(side, run)) - 1
        if above < 0:
            return max(0, min(line - 1, most))
        run = self.runs[above]
        place = line - self._above(side, run)
        count = run.old_count if side == OLD else run.new_count
        if place > count:
            return min(run.last + place - count, most)
        row = run.first + place - 1
        if row <= run.last and self.line(side, row) == line:
            return row
        numbers = self._old if side == OLD else self._new
        reached = list(accumulate(map(abs, numbers[run.first : run.last + 1]), max))
        return min(run.first + bisect_left(reached, line), run.last)

    def _all_reached(self, side: int) -> list[int]:
        """The highest line up to each row; only for the rare maps in which a row of one side alone is no change."""
        if side not in self._reached:
            self._reached[side] = list(accumulate(map(abs, self._old if side == OLD else self._new), max))
        return self._reached[side]

    def _above(self, side: int, run: Run) -> int:
        return self.line(side, run.first - 1) if run.first else 0

    def _scan(self) -> None:
        """Find stretches and runs. One loop without calls: a large file has tens of thousands of them."""
        alone, olds, news = self._alone, self._old, self._new
        runs, stretches = self.runs, self.stretches
        for hunk in self.document.hunks:
            before = len(runs)
            first, end = hunk.first_change, hunk.last_change + 1
            since, kind, start = first, _SAME, first
            old_first = old_count = new_first = new_count = 0
            row = first
            # A row that is the same ends the last stretch.
            for old, new in zip((*olds[first:end], 1), (*news[first:end], 1), strict=True):
                here = _CHANGED if new < 0 else _ADDED if not old else _SAME if new else _DELETED
                if here != kind and alone and row in alone:
                    here = _SAME
                if here != kind:
                    if kind != _SAME:
                        count = row - since
                        stretches.append((since, row - 1, _KINDS[kind]))
                        if kind != _ADDED:
                            old_first = old_first or olds[since]
                            old_count += count
                        if kind != _DELETED:
                            new_first = new_first or abs(news[since])
                            new_count += count
                        if here == _SAME:
                            runs.append(Run(start, row - 1, old_first, old_count, new_first, new_count))
                            old_first = old_count = new_first = new_count = 0
                    else:
                        start = row
                    since, kind = row, here
                row += 1
            self.hunk_runs.append((before, len(runs) - 1))


def _kind(old: int, new: int) -> int:
    if new < 0:
        return _CHANGED
    if not old:
        return _ADDED
    return _SAME if new else _DELETED


def _arrays(rows: Sequence[Row]) -> "tuple[array[int], array[int], frozenset[int]]":
    """Both sides, and the rows that are the same though only one side has a line there."""
    if isinstance(rows, _Packed):
        packed_old, packed_new = rows.packed
        old, new = array("i", packed_old), array("i", packed_new)
        # Deleting all bytes of positive numbers from the highest ones tells in one go whether there are others.
        highest = packed_old[3 if sys.byteorder == "little" else 0 :: 4]
        if not highest.translate(None, _POSITIVE):
            return old, new, frozenset()
        alone = frozenset(row for row, number in enumerate(old) if number < 0)
        for row in alone:
            old[row] = 0 if old[row] == _NOTHING else -old[row]
        return old, new, alone
    one_sided = (row for row, of in enumerate(rows) if of.kind is RowKind.SAME and (of.old_line is None or of.new_line is None))
    return (
        array("i", [row.old_line or 0 for row in rows]),
        array("i", [-(row.new_line or 0) if row.kind is RowKind.CHANGED else row.new_line or 0 for row in rows]),
        frozenset(one_sided),
    )
