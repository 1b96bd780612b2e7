"""Hunks and folds of a painted diff, and how it stays where a person looks when the file is shown again. UI thread only."""

from bisect import bisect_left
from dataclasses import dataclass

from PySide6.QtCore import QPointF, Signal
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.types.diffs import DiffDocument, StyleRuns
from vibekit_desktop.ui.models.diff_follow import Follow, common_ends, hunk_again, kept_words
from vibekit_desktop.ui.models.diff_rows import Show, gaps
from vibekit_desktop.ui.models.diff_runs import NEW, OLD, Runs
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_dress import Dress
from vibekit_desktop.ui.views.diff_surface import DiffSurface

_AROUND = 3


@dataclass(frozen=True, slots=True)
class _Looked:
    """What a person looked at: a line of one side and where it was in the viewport, the current hunk, and what was opened."""

    document: DiffDocument
    side: int
    line: int
    offset: int
    hunk: int
    opened: tuple[tuple[int, int], ...]
    across: int
    current: bool
    dress: Dress


class HunkSurface(DiffSurface):
    """Invariant: the current hunk is in sight or none is.

    Signals: ``hunk_changed(index, count)``: the current hunk, from 0 (-1 if there is none); ``place_lost()``: the hunk that
    was current is not in the document that took the place of the former.
    """

    hunk_changed = Signal(int, int)
    place_lost = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, unified: bool = False) -> None:
        super().__init__(hub, parent, unified=unified)
        self._hunk = -1

    @property
    def hunk(self) -> int:
        """The current hunk from 0, or -1."""
        return self._hunk

    def set_document(self, document: DiffDocument | None, runs: Runs | None = None, *, keep_place: bool = False) -> None:
        """Show another document from its first hunk. ``keep_place``: the same file again, whose line in sight stays there."""
        looked = self._looked_at() if keep_place and document is not None else None
        self._hunk = -1
        super().set_document(document, runs)
        if looked is not None:
            self._look_again(looked)
            return
        self._set_hunk(0 if document is not None and document.hunks else -1)
        if self._hunk == 0:
            self._bring(0)

    # The same file again.

    def _looked_at(self) -> _Looked | None:
        rows, runs, document = self.rows, self._runs, self._document
        if rows is None or runs is None or document is None or not len(rows):
            return None
        first, last = self.visible_span()
        index = first
        if 0 <= self._hunk < len(rows.hunks) and first <= rows.hunk_span(self._hunk)[0] <= last:
            index = rows.hunk_span(self._hunk)[0]
        if self.hasFocus() and first <= self._cursor <= last:
            index = self._cursor
        while index < len(rows) - 1 and rows.kind(index) in (Show.FOLD, Show.END):
            index += 1
        row = rows.ref(index) if rows.kind(index) not in (Show.FOLD, Show.END) else 0
        side = NEW if runs.line(NEW, row) else OLD
        hidden = rows.hidden()
        usual = gaps(document, self._options.context)
        closed = tuple(usual) == hidden
        opened = [] if closed else [part for whole in usual for part in _without(whole, hidden)]
        offset = rows.top(index) - self.verticalScrollBar().value()
        spans = tuple((runs.line(NEW, first) or 1, runs.line(NEW, last) or 1) for first, last in opened)
        across = self.horizontalScrollBar().value()
        return _Looked(
            document, side, runs.line(side, row), offset, self._hunk, spans, across, self._cursor >= 0, self._painter.dress
        )

    def _look_again(self, looked: _Looked) -> None:
        rows, runs, document = self.rows, self._runs, self._document
        if rows is None or runs is None or document is None or not len(rows):
            self._set_hunk(-1)
            return
        before, after = looked.document, document
        self._wear_again(looked)
        new = Follow(before.new.lines, after.new.lines)
        which = new if looked.side == NEW else Follow(before.old.lines, after.old.lines)
        spans = [(runs.row_of(NEW, new.near(first)), runs.row_of(NEW, new.near(last))) for first, last in looked.opened]
        row = runs.row_of(looked.side, which.near(looked.line))
        rows.open_rows(spans)
        if rows.kind(rows.index_of(row, looked.side)) is Show.FOLD:
            rows.open_rows([*spans, (row - _AROUND, row + _AROUND)])
        self._measure()
        self.verticalScrollBar().setValue(rows.top(rows.index_of(row, looked.side)) - looked.offset)
        self.horizontalScrollBar().setValue(looked.across)
        self._settle()
        if looked.current:
            self._set_cursor(rows.index_of(row, looked.side))
        again = hunk_again(before, looked.hunk, after, row) if looked.hunk >= 0 else None
        if again is not None:
            self._set_hunk(again)
            return
        self._set_hunk(rows.hunk_at(rows.index_of(row)) if after.hunks else None)
        if looked.hunk >= 0:
            self.place_lost.emit()

    def _wear_again(self, looked: _Looked) -> None:
        """Words and colours of what is the same stay: nothing flickers while those of the rest are on their way."""
        before, after, dress = looked.document, self._document, self._painter.dress
        if after is None:
            return
        for side, (one, other) in enumerate(((before.old.lines, after.old.lines), (before.new.lines, after.new.lines))):
            styles = looked.dress.styles[side]
            if styles is None:
                continue
            head, tail = common_ends(one, other)
            if head == len(one) == len(other):
                dress.styles[side] = styles
                continue
            rest = StyleRuns(styles.offsets[len(one) - tail :], styles.starts, styles.kinds)
            dress.parts[side] = [(0, head - 1, styles), (len(other) - tail, len(other) - 1, rest)]
        dress.words = kept_words(before, after, looked.dress.words)

    # Hunks.

    def go_to_hunk(self, hunk: int) -> None:
        """Make a hunk (from 0) the current one and bring it into sight."""
        if self._document is None or not 0 <= hunk < len(self._document.hunks):
            return
        self._set_hunk(hunk)
        self._bring(hunk)
        if self.rows is not None:
            self._set_cursor(self.rows.hunk_span(hunk)[0])

    def next_hunk(self) -> None:
        """The hunk below, if there is one."""
        self.go_to_hunk(self._hunk + 1)

    def previous_hunk(self) -> None:
        """The hunk above, if there is one."""
        self.go_to_hunk(self._hunk - 1)

    def _bring(self, hunk: int) -> None:
        rows = self.rows
        if rows is None:
            return
        first, last = rows.hunk_span(hunk)
        bar = self.verticalScrollBar()
        top, bottom = rows.top(first), rows.top(last + 1)
        height = self.viewport().height()
        if top < bar.value() or bottom > bar.value() + height:
            # At least its context above it, also before the view has its size.
            bar.setValue(max(0, top - max(rows.top(min(3, first)), min(height // 4, 160))))

    def _set_hunk(self, hunk: int | None) -> None:
        self._hunk = hunk if hunk is not None else -1
        self._mark_current()
        count = len(self._document.hunks) if self._document is not None else 0
        self.hunk_changed.emit(self._hunk, count)
        self.setAccessibleDescription(self._hunk_words())
        self.viewport().update()

    def _mark_current(self) -> None:
        known = self.rows is not None and 0 <= self._hunk < len(self.rows.hunks)
        self._painter.dress.current = self.rows.hunk_span(self._hunk) if known and self.rows is not None else None

    def _hunk_words(self) -> str:
        if self._runs is None or self._document is None or not 0 <= self._hunk < len(self._document.hunks):
            return ""
        hunk = self._document.hunks[self._hunk]
        first, last = self._runs.hunk_runs[self._hunk]
        runs = self._runs.runs[first : last + 1]
        line = self._runs.line
        ends = [line(NEW, row) or line(OLD, row) for row in (hunk.first_change, hunk.last_change)]
        return tr(
            "Hunk {n} of {count}, lines {first} to {last}, {deleted} deleted, {added} added",
            n=self._hunk + 1,
            count=len(self._document.hunks),
            first=min(ends),
            last=max(ends),
            deleted=sum(run.old_count for run in runs),
            added=sum(run.new_count for run in runs),
        )

    def _laid_out_again(self) -> None:
        self._mark_current()

    def _scrolled(self) -> None:
        """After scrolling: if the current hunk went out of sight, the first one in sight is current."""
        rows = self.rows
        if rows is None or not rows.hunks:
            return
        first, last = self.visible_span()
        if 0 <= self._hunk < len(rows.hunks):
            start, end = rows.hunk_span(self._hunk)
            if start <= last and end >= first:
                return
        candidate = rows.hunk_at(first)
        if candidate is not None and candidate != self._hunk and rows.hunk_span(candidate)[0] <= last:
            self._set_hunk(candidate)

    # Folds.

    def open_fold(self, index: int, which: str) -> None:
        """Open the fold bar in display row ``index``: ``up``, ``down`` or ``all``. Lines above it stay where they are."""
        rows = self.rows
        if rows is None or rows.kind(index) is not Show.FOLD:
            return
        bar = self.verticalScrollBar()
        fold = rows.fold(rows.ref(index))
        below = fold.last + 1
        # Showing lines at the lower end would push what is under the bar down: keep that in place instead.
        keep_below = which == "up" and below < len(rows.document.rows)
        before = rows.top(rows.index_of(below)) - bar.value() if keep_below else 0
        # On the fold bar that is left, so that one key opens more and more.
        held = fold.last if which == "down" else fold.first
        on_fold = self._cursor == index
        cursor = self._cursor_row()
        if which == "all":
            rows.show_all(rows.ref(index))
        else:
            rows.show_more(rows.ref(index), up=which == "up")
        self._mark_current()
        self._measure()
        if keep_below:
            bar.setValue(rows.top(rows.index_of(below)) - before)
        self._cursor_to_row((held, self._side) if on_fold else cursor)
        self.viewport().update()

    def show_row(self, row: int) -> None:
        """Open the fold that hides a document row, if one does."""
        if self.rows is not None and self.rows.kind(self.rows.index_of(row)) is Show.FOLD:
            cursor = self._cursor_row()
            self.rows.reveal(row)
            self._mark_current()
            self._measure()
            self._cursor_to_row(cursor)

    def fold_buttons_at(self, index: int) -> list[str]:
        """Which buttons a fold bar has: ``up``, ``down``, ``all``."""
        return [name for name, _ in self._geometry.fold_buttons(index, self.viewport().width(), 0)]

    def _fold_under(self, point: QPointF) -> tuple[int, str] | None:
        rows = self.rows
        if rows is None or not len(rows):
            return None
        y = int(point.y()) + self.verticalScrollBar().value()
        if y >= rows.height:
            return None
        index = rows.at(y)
        top = rows.top(index) - self.verticalScrollBar().value()
        for which, box in self._geometry.fold_buttons(index, self.viewport().width(), top):
            if box.contains(point):
                return index, which
        return None


def _without(whole: tuple[int, int], hidden: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """The parts of a run of rows that are not hidden."""
    first, last = whole
    parts: list[tuple[int, int]] = []
    for start, end in hidden[bisect_left(hidden, first, key=lambda span: span[1]) :]:
        if start > last:
            break
        if start > first:
            parts.append((first, start - 1))
        first = end + 1
    if first <= last:
        parts.append((first, last))
    return parts
