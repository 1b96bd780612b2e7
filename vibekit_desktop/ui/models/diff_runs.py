"""Where a document's rows change, and which row a line stands in, without an object per row.

The row map comes packed in two arrays where the engine made it; other sequences are packed here. Pure; no Qt.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, runtime_checkable

from vibekit_desktop.core.types.diffs import DiffDocument, Hunk, Row, RowKind

OLD, NEW = 0, 1
_SAME, _CHANGED, _DELETED, _ADDED = range(4)
_NOTHING = -(1 << 31)
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


class Stretch(NamedTuple):
    """Changed rows of one kind."""

    first: int
    last: int
    kind: RowKind


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
        for hunk in document.hunks:
            before = len(self.runs)
            self._scan(hunk)
            self.hunk_runs.append((before, len(self.runs) - 1))

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

    def _scan(self, hunk: Hunk) -> None:
        first, end = hunk.first_change, hunk.last_change + 1
        since, kind = first, _SAME
        start = -1
        for row, (old, new) in enumerate(zip(self._old[first:end], self._new[first:end], strict=True), first):
            here = _SAME if row in self._alone else _kind(old, new)
            if here == kind:
                continue
            if kind != _SAME:
                self.stretches.append(Stretch(since, row - 1, _KINDS[kind]))
                if here == _SAME:
                    self._add(start, row - 1)
            if kind == _SAME:
                start = row
            since, kind = row, here
        if kind != _SAME:
            self.stretches.append(Stretch(since, end - 1, _KINDS[kind]))
            self._add(start, end - 1)

    def _add(self, first: int, last: int) -> None:
        old = [number for number in self._old[first : last + 1] if number]
        new = [abs(number) for number in self._new[first : last + 1] if number]
        self.runs.append(Run(first, last, old[0] if old else 0, len(old), new[0] if new else 0, len(new)))


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
        if not old or min(old) >= 0:
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
