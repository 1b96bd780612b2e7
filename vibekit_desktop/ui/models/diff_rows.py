"""Lay a `DiffDocument` out as display rows: lines, fold bars and end-of-file notes, side by side or unified.

Nothing is made per row: the map is a list of pieces, each a run of display rows that stand for consecutive lines, so that
200,000 rows are laid out in milliseconds. No Qt. Document rows are counted from 0; ``hidden`` ranges never touch a change.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from vibekit_desktop.core.types.diffs import DiffDocument, Hunk, RowKind
from vibekit_desktop.ui.models.diff_heights import ExtraLines
from vibekit_desktop.ui.models.diff_runs import NEW, OLD, Run, Runs

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


class Mark(NamedTuple):
    """A run of changed rows in pixels from the top, for the overview strip."""

    top: int
    bottom: int
    deleted: bool
    added: bool


class DiffRows:
    """The row map. Invariant: every document row is in exactly one display row (in unified, changed rows in one for each side
    they have) or hidden in exactly one fold.

    Heights are given by the view: ``line`` for lines and notes, ``fold`` for fold bars. ``context`` is how many lines are shown
    around a change, None for all. ``runs`` and ``hidden`` are the document's runs and the hidden rows, where they are known.
    """

    def __init__(
        self,
        document: DiffDocument,
        *,
        unified: bool,
        line: int = 20,
        fold: int = 28,
        context: int | None = 3,
        runs: Runs | None = None,
        hidden: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        self.document = document
        self.unified = unified
        self.runs = runs or Runs(document)
        self._line = line
        self._fold_height = fold
        self._hidden: list[tuple[int, int]] = gaps(document, context) if hidden is None else list(hidden)
        self._measure: Callable[[int, bool], int] | None = None
        self.extra: ExtraLines | None = None
        self._build()

    # Asking.

    def __len__(self) -> int:
        return self._count

    @property
    def height(self) -> int:
        """Of all rows together."""
        return self.top(len(self))

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The fold bars in order."""
        return tuple(self.fold(number) for number in range(len(self._hidden)))

    def fold(self, number: int) -> Fold:
        """One fold bar."""
        first, last = self._hidden[number]
        hunks = self.document.hunks
        below = bisect_left(hunks, first, key=lambda hunk: hunk.first_change)
        heading = hunks[below].heading if below < len(hunks) else ""
        return Fold(first, last, heading, at_start=first == 0, at_end=last == len(self.runs) - 1)

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        """The document's hunks."""
        return self.document.hunks

    def _piece(self, index: int) -> int:
        return bisect_right(self._starts, index) - 1

    def kind(self, index: int) -> Show:
        """What display row ``index`` is."""
        return Show(self._kinds[self._piece(index)])

    def ref(self, index: int) -> int:
        """The document row of a line, or the position in `folds` of a fold bar."""
        piece = self._piece(index)
        value = self._values[piece] + index - self._starts[piece]
        kind = self._kinds[piece]
        return self.runs.row_of(OLD if kind == Show.OLD else NEW, value) if kind in (Show.OLD, Show.NEW) else value

    def top(self, index: int) -> int:
        """Where display row ``index`` begins, in pixels; ``len(self)`` gives the end."""
        folds_above = bisect_right(self._fold_at, index - 1)
        extra = self.extra.above(index) if self.extra is not None else 0
        return (index + extra) * self._line + folds_above * (self._fold_height - self._line)

    def row_height(self, index: int) -> int:
        """How high display row ``index`` is."""
        if self.kind(index) is Show.FOLD:
            return self._fold_height
        return self._line * (1 + (self.extra.of(index) if self.extra is not None else 0))

    def at(self, y: int) -> int:
        """The display row at ``y`` pixels from the top, kept inside."""
        low, high = 0, max(0, len(self) - 1)
        while low < high:
            middle = (low + high + 1) // 2
            if self.top(middle) <= y:
                low = middle
            else:
                high = middle - 1
        return low

    def index_of(self, row: int, side: int | None = None) -> int:
        """The display row that shows a document row (of ``side``, else its old side first), or the fold bar that hides it."""
        if not self._count:
            return 0
        piece = max(0, bisect_right(self._rows, row) - 1)
        kind = self._kinds[piece]
        if kind == Show.FOLD:
            return self._starts[piece]
        if kind == Show.END:
            return self._starts[piece - 1 if piece else 0]
        if kind == Show.PAIR:
            return min(self._starts[piece] + row - self._values[piece], self._ends(piece))
        if piece and self._kinds[piece - 1] == Show.OLD and self._rows[piece - 1] == self._rows[piece]:
            old = self.runs.line(OLD, row)
            if old and (side != NEW or not self.runs.line(NEW, row)):
                piece -= 1
        which = OLD if self._kinds[piece] == Show.OLD else NEW
        place = self._starts[piece] + self.runs.line(which, row) - self._values[piece]
        return max(self._starts[piece], min(place, self._ends(piece)))

    def _ends(self, piece: int) -> int:
        return (self._starts[piece + 1] if piece + 1 < len(self._starts) else self._count) - 1

    def hunk_span(self, hunk: int) -> tuple[int, int]:
        """First and last display row of a hunk's changed lines."""
        one = self.document.hunks[hunk]
        return self.index_of(one.first_change), self.index_of(one.last_change, NEW)

    def hunk_at(self, index: int) -> int | None:
        """The hunk whose changed lines are at display row ``index``, else the next below, else the last; None without hunks."""
        hunks = range(len(self.document.hunks))
        if not hunks:
            return None
        number = bisect_left(hunks, index, key=lambda hunk: self.hunk_span(hunk)[1])
        return min(number, len(hunks) - 1)

    def sides(self, index: int) -> tuple[int | None, int | None]:
        """The line numbers (from 1) that display row ``index`` shows, old and new; None where that side has none here."""
        piece = self._piece(index)
        kind, place = self._kinds[piece], self._values[piece] + index - self._starts[piece]
        if kind == Show.PAIR:
            return self.runs.line(OLD, place) or None, self.runs.line(NEW, place) or None
        if kind == Show.OLD:
            return place, None
        return (None, place) if kind == Show.NEW else (None, None)

    def row_kind(self, index: int) -> RowKind | None:
        """What changed in a line, as it is painted; None for fold bars and notes."""
        piece = self._piece(index)
        match self._kinds[piece]:
            case Show.PAIR:
                return self.runs.kind(self._values[piece] + index - self._starts[piece])
            case Show.OLD:
                return RowKind.DELETED
            case Show.NEW:
                return RowKind.ADDED
            case _:
                return None

    def marks(self) -> Iterator[Mark]:
        """Runs of changed rows for the overview strip, top down."""
        if self.unified:
            yield from self._unified_marks()
            return
        piece = folds = 0
        for first, last, kind_of in self.runs.stretches:
            while piece + 1 < len(self._rows) and self._rows[piece + 1] <= first:
                folds += self._kinds[piece] == Show.FOLD
                piece += 1
            start = self._starts[piece] + first - self._values[piece]
            end = start + last - first + 1
            top, bottom = self._pixels(start, end, folds)
            yield Mark(top, bottom, kind_of is not RowKind.ADDED, kind_of is not RowKind.DELETED)

    def _unified_marks(self) -> Iterator[Mark]:
        folds = 0
        for kind, start, end in zip(self._kinds, self._starts, (*self._starts[1:], self._count), strict=True):
            if kind in (Show.OLD, Show.NEW):
                top, bottom = self._pixels(start, end, folds)
                yield Mark(top, bottom, kind == Show.OLD, kind == Show.NEW)
            folds += kind == Show.FOLD

    def _pixels(self, start: int, end: int, folds: int) -> tuple[int, int]:
        """Where some display rows with ``folds`` fold bars above them begin and end."""
        shift = folds * (self._fold_height - self._line)
        if self.extra is None:
            return start * self._line + shift, end * self._line + shift
        above, below = self.extra.above(start), self.extra.above(end)
        return (start + above) * self._line + shift, (end + below) * self._line + shift

    # Opening.

    def show_more(self, fold: int, *, up: bool, count: int = STEP) -> None:
        """Show ``count`` more lines of a fold: ``up`` from its lower end, else from its upper end."""
        first, last = self._hidden[fold]
        if up:
            last -= count
        else:
            first += count
        if last - first + 1 < MIN_HIDDEN:
            del self._hidden[fold]
        else:
            self._hidden[fold] = (first, last)
        self._build()

    def show_all(self, fold: int) -> None:
        """Show every line of a fold."""
        del self._hidden[fold]
        self._build()

    def reveal(self, row: int) -> None:
        """Open the fold that hides a document row, if one does."""
        self.reveal_span(row, row)

    def reveal_span(self, first: int, last: int) -> None:
        """Open every fold that hides one of some document rows."""
        kept = [(start, end) for start, end in self._hidden if end < first or start > last]
        if len(kept) != len(self._hidden):
            self._hidden = kept
            self._build()

    def open_rows(self, spans: Sequence[tuple[int, int]]) -> None:
        """Show some runs of document rows (first and last of each) and leave the rest of their folds closed."""
        kept = list(self._hidden)
        for first, last in spans:
            at = bisect_left(kept, first, key=lambda span: span[1])
            end = bisect_right(kept, last, key=lambda span: span[0])
            parts = [part for start, stop in kept[at:end] for part in ((start, first - 1), (last + 1, stop))]
            kept[at:end] = [(start, stop) for start, stop in parts if stop - start + 1 >= MIN_HIDDEN]
        if kept != self._hidden:
            self._hidden = kept
            self._build()

    def hidden(self) -> tuple[tuple[int, int], ...]:
        """The document rows that are hidden: first and last of each run."""
        return tuple(self._hidden)

    def resize(self, *, line: int, fold: int) -> None:
        """Other heights (text zoom)."""
        self._line = line
        self._fold_height = fold

    def wrap(self, measure: Callable[[int, bool], int] | None) -> None:
        """Let rows take more than one line: ``measure(index, exact)`` gives how many more. None: one line each."""
        self._measure = measure
        self.extra = ExtraLines(self._count, measure) if measure is not None else None

    # Building.

    def _build(self) -> None:
        self._starts = array("i")
        self._kinds = bytearray()
        self._values = array("i")
        self._rows = array("i")
        self._fold_at = array("i")
        self._count = 0
        self._next = 0
        lines = self._lines if self.unified else self._pairs
        position = 0
        fold = int(Show.FOLD)
        for number, (first, last) in enumerate(self._hidden):
            if first > position:
                lines(position, first)
            self._fold_at.append(self._count)
            self._add(fold, number, first, 1)
            position = last + 1
        lines(position, len(self.runs))
        if self._has_end_note():
            self._add(Show.END, 0, len(self.runs), 1)
        self.wrap(self._measure)

    def _has_end_note(self) -> bool:
        old, new = self.document.old, self.document.new
        return any(side.exists and side.lines and not side.final_newline for side in (old, new))

    def _add(self, kind: int, value: int, row: int, count: int) -> None:
        if count > 0:
            self._starts.append(self._count)
            self._kinds.append(kind)
            self._values.append(value)
            self._rows.append(row)
            self._count += count

    def _pairs(self, first: int, end: int) -> None:
        """Side by side: document rows ``first`` to ``end`` (not included)."""
        self._add(0, first, first, end - first)

    def _lines(self, first: int, end: int) -> None:
        """Unified: document rows ``first`` to ``end`` (not included)."""
        runs = self.runs.runs
        position = first
        while self._next < len(runs) and runs[self._next].first < end:
            run = runs[self._next]
            self._next += 1
            self._add(Show.PAIR, position, position, run.first - position)
            self._changed(run)
            position = run.last + 1
        self._add(Show.PAIR, position, position, end - position)

    def _changed(self, run: Run) -> None:
        """Unified: first every old line of a run of changed rows, then every new one."""
        self._add(Show.OLD, run.old_first, run.first, run.old_count)
        self._add(Show.NEW, run.new_first, run.first, run.new_count)


def gaps(document: DiffDocument, context: int | None) -> list[tuple[int, int]]:
    """The runs of rows away from every change that are worth a fold bar."""
    if context is None:
        return []
    found: list[tuple[int, int]] = []
    position = 0
    for hunk in document.hunks:
        found.append((position, hunk.first_change - context - 1))
        position = hunk.last_change + context + 1
    found.append((position, len(document.rows) - 1))
    return [(first, last) for first, last in found if last - first + 1 >= MIN_HIDDEN]
