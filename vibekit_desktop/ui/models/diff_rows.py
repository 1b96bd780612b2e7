"""Lay a `DiffDocument` out as display rows: lines, fold bars and end-of-file notes, side by side or unified.

Pure arithmetic on arrays: 200,000 rows are laid out in milliseconds and nothing is made per row. No Qt. The view asks for
the rows in sight only. Document rows are counted from 0; ``hidden`` ranges never touch a hunk's context.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from vibekit_desktop.core.types.diffs import DiffDocument, Hunk, RowKind

STEP = 20
"""How many lines one press on a fold bar shows."""

MIN_HIDDEN = 2
"""A fold bar that would hide fewer lines is not worth its height."""


class Show(IntEnum):
    """What a display row is."""

    PAIR = 0
    """Side by side: both sides of one document row. Unified: a line that is the same on both."""
    OLD = 1
    """Unified: the old side of a changed row."""
    NEW = 2
    """Unified: the new side of a changed row."""
    FOLD = 3
    END = 4
    """The note that an end of file has no newline."""


@dataclass(frozen=True, slots=True)
class Fold:
    """One run of hidden rows, ``first`` to ``last`` included, between the hunks."""

    first: int
    last: int
    heading: str = ""
    at_start: bool = False
    at_end: bool = False

    @property
    def count(self) -> int:
        """How many lines it hides."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Mark:
    """A run of changed rows in pixels from the top, for the overview strip."""

    top: int
    bottom: int
    deleted: bool
    added: bool


class DiffRows:
    """The row map. Invariant: every document row is in exactly one display row (in unified, changed rows in one for each side
    they have) or hidden in exactly one fold.

    Heights are given by the view: ``line`` for lines and notes, ``fold`` for fold bars.
    """

    def __init__(self, document: DiffDocument, *, unified: bool, line: int = 20, fold: int = 28) -> None:
        self.document = document
        self.unified = unified
        self._line = line
        self._fold_height = fold
        self._hidden: list[tuple[int, int]] = _gaps(document)
        self._build()

    # Asking.

    def __len__(self) -> int:
        return len(self._kinds)

    @property
    def height(self) -> int:
        """Of all rows together."""
        return self.top(len(self))

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The fold bars in order."""
        return tuple(self._folds)

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        """The document's hunks."""
        return self.document.hunks

    def kind(self, index: int) -> Show:
        """What display row ``index`` is."""
        return Show(self._kinds[index])

    def ref(self, index: int) -> int:
        """The document row of a line, or the position in `folds` of a fold bar."""
        value = self._refs[index]
        return value if value >= 0 else -1 - value

    def top(self, index: int) -> int:
        """Where display row ``index`` begins, in pixels; ``len(self)`` gives the end."""
        folds_above = bisect_right(self._fold_at, index - 1)
        return index * self._line + folds_above * (self._fold_height - self._line)

    def row_height(self, index: int) -> int:
        """How high display row ``index`` is."""
        return self._fold_height if self._kinds[index] == Show.FOLD else self._line

    def at(self, y: int) -> int:
        """The display row at ``y`` pixels from the top, kept inside."""
        if not self._kinds:
            return 0
        low, high = 0, len(self) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.top(middle) <= y:
                low = middle
            else:
                high = middle - 1
        return low

    def index_of(self, row: int) -> int:
        """The display row that shows a document row (its old side first), or the fold bar that hides it."""
        for position, fold in enumerate(self._folds):
            if fold.first <= row <= fold.last:
                return self._fold_at[position]
        try:
            return self._refs.index(row)
        except ValueError:
            return max(0, len(self) - 1)

    def hunk_span(self, hunk: int) -> tuple[int, int]:
        """First and last display row of a hunk's changed lines."""
        return self._hunk_spans[hunk]

    def hunk_at(self, index: int) -> int | None:
        """The hunk whose changed lines are at display row ``index``, else the next below, else the last; None without hunks."""
        if not self._hunk_spans:
            return None
        number = bisect_left(self._hunk_spans, index, key=lambda span: span[1])
        return min(number, len(self._hunk_spans) - 1)

    def sides(self, index: int) -> tuple[int | None, int | None]:
        """The line numbers (from 1) that display row ``index`` shows, old and new; None where that side has none here."""
        kind = self._kinds[index]
        if kind in (Show.FOLD, Show.END):
            return None, None
        row = self.document.rows[self._refs[index]]
        if kind == Show.OLD:
            return row.old_line, None
        if kind == Show.NEW:
            return None, row.new_line
        return row.old_line, row.new_line

    def row_kind(self, index: int) -> RowKind | None:
        """What changed in a line, as it is painted; None for fold bars and notes."""
        match self._kinds[index]:
            case Show.PAIR:
                return self.document.rows[self._refs[index]].kind
            case Show.OLD:
                return RowKind.DELETED
            case Show.NEW:
                return RowKind.ADDED
            case _:
                return None

    def marks(self) -> Iterator[Mark]:
        """Runs of changed rows for the overview strip, top down."""
        for first, last, deleted, added in self._marks:
            yield Mark(self.top(first), self.top(last + 1), deleted, added)

    # Opening.

    def show_more(self, fold: int, *, up: bool, count: int = STEP) -> None:
        """Show ``count`` more lines of a fold: ``up`` from its lower end, else from its upper end."""
        first, last = self._folds[fold].first, self._folds[fold].last
        position = self._hidden.index((first, last))
        if up:
            last -= count
        else:
            first += count
        if last - first + 1 < MIN_HIDDEN:
            del self._hidden[position]
        else:
            self._hidden[position] = (first, last)
        self._build()

    def show_all(self, fold: int) -> None:
        """Show every line of a fold."""
        self._hidden.remove((self._folds[fold].first, self._folds[fold].last))
        self._build()

    def reveal(self, row: int) -> None:
        """Open the fold that hides a document row, if one does."""
        for position, fold in enumerate(self._folds):
            if fold.first <= row <= fold.last:
                self.show_all(position)
                return

    def resize(self, *, line: int, fold: int) -> None:
        """Other heights (text zoom)."""
        self._line = line
        self._fold_height = fold

    # Building.

    def _build(self) -> None:
        self._kinds = bytearray()
        self._refs = array("i")
        self._folds: list[Fold] = []
        self._fold_at = array("i")
        self._marks: list[tuple[int, int, bool, bool]] = []
        self._hunk_spans: list[tuple[int, int]] = []
        self._next_hunk = 0
        rows = len(self.document.rows)
        position = 0
        for first, last in self._hidden:
            self._lines(position, first)
            self._fold_at.append(len(self._kinds))
            self._refs.append(-1 - len(self._folds))
            self._kinds.append(Show.FOLD)
            self._folds.append(Fold(first, last, self._heading_after(last), at_start=first == 0, at_end=last == rows - 1))
            position = last + 1
        self._lines(position, rows)
        if self._has_end_note():
            self._refs.append(0)
            self._kinds.append(Show.END)

    def _heading_after(self, row: int) -> str:
        # Called right after the hunks above the fold were laid out, so the next one is the one below it.
        hunks = self.document.hunks
        below = next((hunk for hunk in hunks[self._next_hunk : self._next_hunk + 1] if hunk.first_row > row), None)
        return below.heading if below else ""

    def _has_end_note(self) -> bool:
        old, new = self.document.old, self.document.new
        return any(side.exists and side.lines and not side.final_newline for side in (old, new))

    def _lines(self, first: int, end: int) -> None:
        """Append document rows ``first`` to ``end`` (not included); hunks tell where the changed ones are."""
        position = first
        hunks = self.document.hunks
        while self._next_hunk < len(hunks) and hunks[self._next_hunk].first_change < end:
            hunk = hunks[self._next_hunk]
            self._next_hunk += 1
            self._same(position, hunk.first_change)
            start = len(self._kinds)
            self._changed(hunk.first_change, hunk.last_change + 1)
            self._hunk_spans.append((start, len(self._kinds) - 1))
            position = hunk.last_change + 1
        self._same(position, end)

    def _same(self, first: int, end: int) -> None:
        if end > first:
            self._refs.extend(range(first, end))
            self._kinds.extend(bytes(end - first))

    def _changed(self, first: int, end: int) -> None:
        rows = self.document.rows
        run: list[int] = []
        for row in range(first, end):
            kind = rows[row].kind
            if kind is RowKind.SAME:
                self._run(run)
                run = []
                self._same(row, row + 1)
            elif self.unified:
                run.append(row)
            else:
                self._mark(len(self._kinds), kind is not RowKind.ADDED, kind is not RowKind.DELETED)
                self._same(row, row + 1)
        self._run(run)

    def _run(self, run: list[int]) -> None:
        """Unified: first every old line of a run of changed rows, then every new one."""
        rows = self.document.rows
        for show, has in ((Show.OLD, RowKind.ADDED), (Show.NEW, RowKind.DELETED)):
            for row in run:
                if rows[row].kind is not has:
                    self._mark(len(self._kinds), show is Show.OLD, show is Show.NEW)
                    self._refs.append(row)
                    self._kinds.append(show)

    def _mark(self, index: int, deleted: bool, added: bool) -> None:
        if self._marks and self._marks[-1][1:] == (index - 1, deleted, added):
            self._marks[-1] = (self._marks[-1][0], index, deleted, added)
        else:
            self._marks.append((index, index, deleted, added))


def _gaps(document: DiffDocument) -> list[tuple[int, int]]:
    """The runs of rows outside every hunk that are worth a fold bar."""
    gaps: list[tuple[int, int]] = []
    position = 0
    for hunk in document.hunks:
        gaps.append((position, hunk.first_row - 1))
        position = hunk.last_row + 1
    gaps.append((position, len(document.rows) - 1))
    return [(first, last) for first, last in gaps if last - first + 1 >= MIN_HIDDEN]
