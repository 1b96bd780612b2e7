"""The surface of a diff: rows in sight painted, scrolled by moving pixels; no mouse, no hunks, no selection.

Two panes scroll as one because they are one painted view. Words and colours are asked for as rows come into sight, and painted
when they arrive; a repaint never moves text. UI thread only.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from vibekit_desktop.core.types.diffs import DiffDocument, StyleRuns, WordSpans
from vibekit_desktop.ui.models.diff_heights import BLOCK
from vibekit_desktop.ui.models.diff_options import USUAL, DiffOptions
from vibekit_desktop.ui.models.diff_rows import DiffRows, Show
from vibekit_desktop.ui.models.diff_runs import NEW, OLD, Runs
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_dress import CommentMark
from vibekit_desktop.ui.views.diff_paint import RowPainter
from vibekit_desktop.ui.views.diff_widths import Widths

_BLOCK = 64
"""Words are asked for in blocks of this many document rows, so that scrolling asks for each row once."""

_SOON_MS = 25


class DiffSurface(QAbstractScrollArea):
    """Invariant: the scroll bars measure ``rows``, and what was at the top stays there whatever is found out about heights.

    Signals: ``words_wanted(first, last)``: document rows in sight whose words are not known; ``lines_seen(side, first, last)``:
    lines (from 0) that came into sight; ``moved()``: scrolled, resized or folded; ``rebuilt()``: other rows, or their heights.
    """

    words_wanted = Signal(int, int)
    lines_seen = Signal(int, int, int)
    moved = Signal()
    rebuilt = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, unified: bool = False) -> None:
        super().__init__(parent)
        self._hub = hub
        self._painter = RowPainter(hub.theme)
        self._geometry = self._painter.geometry
        self._unified = unified
        self._options = USUAL
        self._document: DiffDocument | None = None
        self._runs: Runs | None = None
        self._cursor = -1
        self._side = NEW
        self._apart = [0.0, 0.0]
        self._asked: set[int] = set()
        self._holding = False
        self._place: tuple[int, int] | None = None
        self._widths = Widths(self)
        self._widths.advanced.connect(self._width_known)
        self._ask = QTimer(self)
        self._ask.setSingleShot(True)
        self._ask.setInterval(_SOON_MS)
        self._ask.timeout.connect(self._ask_for_words)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Diff"))
        hub.changed.connect(self._themed)

    # Content.

    @property
    def rows(self) -> DiffRows | None:
        """The row map shown, or None."""
        return self._painter.rows

    @property
    def document(self) -> DiffDocument | None:
        """What is shown."""
        return self._document

    @property
    def unified(self) -> bool:
        """One pane instead of two."""
        return self._unified

    @property
    def options(self) -> DiffOptions:
        """How it is shown."""
        return self._options

    def set_document(self, document: DiffDocument | None, runs: Runs | None = None) -> None:
        """Show another document from its top. ``runs`` are its, where they are known already."""
        self._document = document
        self._runs = runs if runs is not None or document is None else Runs(document)
        self._asked.clear()
        self._cursor = -1
        self._apart = [0.0, 0.0]
        self._lay_out()
        self.horizontalScrollBar().setValue(0)
        self.verticalScrollBar().setValue(0)
        self.viewport().update()

    def set_unified(self, unified: bool) -> None:
        """Change the layout; the line in sight stays in sight."""
        if unified != self._unified:
            self._unified = unified
            self._lay_out_again(self.rows.hidden() if self.rows is not None else None)

    def set_options(self, options: DiffOptions) -> None:
        """Show in another way; the line in sight stays in sight."""
        if options != self._options:
            same = self.rows is not None and options.context == self._options.context
            self._options = options
            self._painter.choose(options)
            self._lay_out_again(self.rows.hidden() if same and self.rows is not None else None)

    def set_words(self, words: Mapping[int, WordSpans]) -> None:
        """Changed words of some document rows; painted at once."""
        self._painter.dress.words.update(words)
        self.viewport().update()

    def set_styles(self, *, old: StyleRuns | None = None, new: StyleRuns | None = None) -> None:
        """Colours of one or both sides; painted at once."""
        for side, styles in ((OLD, old), (NEW, new)):
            if styles is not None:
                self._painter.dress.styles[side] = styles
                self._painter.dress.parts[side].clear()
        self.viewport().update()

    def add_styles(self, side: int, first: int, last: int, styles: StyleRuns) -> None:
        """Colours of the lines ``first`` to ``last`` (from 0) of one side, until `set_styles` has those of all."""
        if self._painter.dress.styles[side] is None:
            self._painter.dress.parts[side].append((first, last, styles))
            self.viewport().update()

    def set_line_ends(self, side: int, crlf: frozenset[int]) -> None:
        """Which lines (from 1) of a side with both kinds of line ends end in CRLF."""
        self._painter.dress.crlf[side] = crlf
        self.viewport().update()

    def set_comments(self, marks: Sequence[CommentMark]) -> None:
        """Mark lines that have comments."""
        self._painter.dress.comments = tuple(marks)
        if self._geometry.commented != bool(marks):
            self._geometry.commented = bool(marks)
            self._measure()
        self.viewport().update()

    def _lay_out(self, hidden: Sequence[tuple[int, int]] | None = None) -> None:
        theme = self._hub.theme
        rows = None
        if self._document is not None:
            line, fold = theme.size("row-code"), theme.size("fold-bar")
            how = {"line": line, "fold": fold}
            context, unified = self._options.context, self._unified
            rows = DiffRows(self._document, unified=unified, context=context, runs=self._runs, hidden=hidden, **how)
        self._painter.show(rows)
        self._widths.begin(self._document, self._options.tab_columns)
        self._measure()

    def _lay_out_again(self, hidden: Sequence[tuple[int, int]] | None) -> None:
        place, cursor, dress = self._top_row(), self._cursor_row(), self._painter.dress
        commented = self._geometry.commented
        self._lay_out(hidden)
        self._painter.dress = dress
        self._geometry.commented = commented
        self._measure()
        if place is not None:
            self._scroll_to_row(*place)
        self._cursor_to_row(cursor)
        self._laid_out_again()
        self.viewport().update()

    def _laid_out_again(self) -> None:
        """The same document has other rows."""

    def _scrolled(self) -> None:
        """Other rows are in sight."""

    def _themed(self) -> None:
        place = self._top_row()
        theme = self._hub.theme
        self._painter.use(theme)
        if self.rows is not None:
            self.rows.resize(line=theme.size("row-code"), fold=theme.size("fold-bar"))
        self._measure()
        if place is not None:
            self._scroll_to_row(*place)
        self.viewport().update()

    # Measuring.

    def _measure(self) -> None:
        """Set the scroll bars to what there is, and wrapping to the width."""
        size = self.viewport().size()
        rows = self.rows
        bar = self.verticalScrollBar()
        bar.setPageStep(max(1, size.height() - self._hub.theme.size("row-code")))
        bar.setSingleStep(self._hub.theme.size("row-code"))
        wrap = self._geometry.wrap_columns(size.width(), self._painter.lines.advance) if self._options.wrap else 0
        self._painter.wrap = wrap
        if rows is not None:
            rows.wrap(self._painter.measure if wrap else None)
            if rows.extra is not None:
                self._widths.measure(rows.extra)
        bar.setRange(0, max(0, (rows.height if rows is not None else 0) - size.height()))
        across = self.horizontalScrollBar()
        room = self._geometry.room(size.width())
        across.setPageStep(round(room))
        across.setSingleStep(round(self._painter.lines.advance * 4))
        self._set_across()
        self._settle()
        self.rebuilt.emit()
        self.moved.emit()

    def _set_across(self) -> None:
        longest = 0 if self._options.wrap else (self._widths.columns + 4) * self._painter.lines.advance
        self.horizontalScrollBar().setRange(0, max(0, round(longest - self._geometry.room(self.viewport().width()))))

    def _width_known(self) -> None:
        """Some more lines were measured: the bars grow, and what is at the top stays there."""
        if self._options.wrap:
            self._hold_place()
            if not self._widths.busy:
                self.rebuilt.emit()
        else:
            self._set_across()

    def _settle(self) -> None:
        """Measure the wrapped rows in sight, and keep what is at the top in its place."""
        rows = self.rows
        if rows is None or rows.extra is None:
            return
        value = self.verticalScrollBar().value()
        first = rows.at(value)
        self._place = (first, rows.top(first) - value)
        changed = True
        while changed:
            last = rows.at(self.verticalScrollBar().value() + self.viewport().height())
            changed = any(rows.extra.look(index) for index in (*range(first, last, BLOCK), last))
            if changed:
                self._hold_place()

    def _hold_place(self) -> None:
        rows = self.rows
        if rows is None:
            return
        self._holding = True
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, rows.height - self.viewport().height()))
        if self._place is not None and self._place[0] < len(rows):
            bar.setValue(rows.top(self._place[0]) - self._place[1])
        self._holding = False
        self.viewport().update()

    # Places.

    def _top_row(self) -> tuple[int, int] | None:
        """The document row at the top and how far it is scrolled out."""
        rows = self.rows
        if rows is None or not len(rows):
            return None
        value = self.verticalScrollBar().value()
        index = rows.at(value)
        while index < len(rows) - 1 and rows.kind(index) in (Show.FOLD, Show.END):
            index += 1
        return rows.ref(index), rows.top(index) - value

    def _scroll_to_row(self, row: int, offset: int) -> None:
        if self.rows is not None:
            self.verticalScrollBar().setValue(self.rows.top(self.rows.index_of(row)) - offset)
            self._settle()

    def visible_span(self) -> tuple[int, int]:
        """First and last display row in sight; (0, -1) if there is nothing."""
        rows = self.rows
        if rows is None or not len(rows):
            return 0, -1
        value = self.verticalScrollBar().value()
        return rows.at(value), rows.at(value + self.viewport().height() - 1)

    def lines_in_sight(self, side: int) -> tuple[int, int] | None:
        """First and last line (from 0) of one side in sight; None if there is none."""
        rows = self.rows
        if rows is None:
            return None
        first, last = self.visible_span()
        seen = [number for index in range(first, last + 1) if (number := rows.sides(index)[side])]
        return (seen[0] - 1, seen[-1] - 1) if seen else None

    def bring_row(self, index: int) -> None:
        """Bring a display row into sight, with a few lines around it where it was far away."""
        rows = self.rows
        if rows is None:
            return
        bar, height = self.verticalScrollBar(), self.viewport().height()
        top, bottom = rows.top(index), rows.top(index + 1)
        if bar.value() <= top and bottom <= bar.value() + height:
            return
        if bottom - top > height:
            if not top - height < bar.value() < bottom:
                bar.setValue(top if bar.value() <= top else bottom - height)
            return
        step = self._hub.theme.size("row-code")
        if 0 < bar.value() - top <= step:
            bar.setValue(top)
        elif 0 < bottom - bar.value() - height <= step:
            bar.setValue(bottom - height)
        else:
            bar.setValue(top - min(height // 3, 160))

    def _cursor_row(self) -> tuple[int, int] | None:
        """The document row of the current line and its side; a fold's first row for a fold."""
        rows = self.rows
        if rows is None or not 0 <= self._cursor < len(rows):
            return None
        ref, kind = rows.ref(self._cursor), rows.kind(self._cursor)
        if kind is Show.FOLD:
            return rows.fold(ref).first, self._side
        return ref, OLD if kind is Show.OLD else NEW if kind is Show.NEW else self._side

    def _cursor_to_row(self, held: tuple[int, int] | None) -> None:
        if held is not None and self.rows is not None:
            self._set_cursor(self.rows.index_of(*held))

    def _set_cursor(self, index: int) -> None:
        self._cursor = index
        self._painter.dress.cursor = (index, self._side) if index >= 0 and self.hasFocus() else None
        self.viewport().update()

    # Words and colours.

    def _ask_for_words(self) -> None:
        rows = self.rows
        if rows is None:
            return
        first, last = self.visible_span()
        shown = [index for index in range(first, last + 1) if rows.kind(index) not in (Show.FOLD, Show.END)]
        wanted = sorted({rows.ref(index) // _BLOCK for index in shown} - self._asked)
        self._asked.update(wanted)
        end = len(rows.document.rows) - 1
        while wanted:
            start = stop = wanted.pop(0)
            while wanted and wanted[0] == stop + 1:
                stop = wanted.pop(0)
            self.words_wanted.emit(start * _BLOCK, min(end, (stop + 1) * _BLOCK - 1))
        for side in (NEW, OLD):
            seen = self.lines_in_sight(side)
            if seen is not None and self._painter.dress.styles[side] is None:
                self.lines_seen.emit(side, *seen)

    # Qt's names below.

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        across = self.horizontalScrollBar()
        for side in (OLD, NEW):
            self._painter.scroll[side] = max(0.0, across.value() + self._apart[side])
        self._painter.paint(painter, event.rect(), self.viewport().width(), self.verticalScrollBar().value())
        painter.end()
        if self.rows is not None and not self._ask.isActive():
            self._ask.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ask.stop()  # nobody looks; the next paint asks again

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if self._holding:
            return
        if dx and not self.horizontalScrollBar().value():
            self._apart = [0.0, 0.0]  # at the very left both sides are as one again
        if dx or self._options.wrap:
            self._settle()
            self.viewport().update()
        else:
            self.viewport().scroll(0, dy)
        self._scrolled()
        self.moved.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        place = self._top_row() if self._options.wrap else None
        self._measure()
        if place is not None:
            self._scroll_to_row(*place)

    def grab_row(self, index: int) -> QRect:
        """Where a display row is in the viewport; for tests and assistive technology."""
        rows = self.rows
        if rows is None or not 0 <= index < len(rows):
            return QRect()
        top = rows.top(index) - self.verticalScrollBar().value()
        return QRect(QPoint(0, top), QPoint(self.viewport().width() - 1, top + rows.row_height(index) - 1))
