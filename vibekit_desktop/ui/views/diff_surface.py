"""The surface of a diff: rows in sight painted, scrolled by moving pixels, with hunks and folds; no mouse, no selection.

Two panes scroll as one because they are one painted view. Words and colours are asked for as rows come into sight, and painted
when they arrive; a repaint never moves text. UI thread only.
"""

from collections.abc import Mapping

from PySide6.QtCore import QPoint, QPointF, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from vibekit_desktop.core.types.diffs import DiffDocument, StyleRuns, WordSpans
from vibekit_desktop.ui.models.diff_rows import DiffRows, Show
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_paint import NEW, OLD, RowPainter

_BLOCK = 64
"""Words are asked for in blocks of this many document rows, so that scrolling asks for each row once."""

_SOON_MS = 25


class DiffSurface(QAbstractScrollArea):
    """Invariant: the scroll bars measure ``rows``; the current hunk is in sight or none is.

    Signals: ``words_wanted(first, last)``: document rows in sight whose words are not known; ``hunk_changed(index, count)``:
    the current hunk, from 0 (-1 if there is none); ``moved()``: scrolled, resized or folded.
    """

    words_wanted = Signal(int, int)
    hunk_changed = Signal(int, int)
    moved = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, unified: bool = False) -> None:
        super().__init__(parent)
        self._hub = hub
        self._painter = RowPainter(hub.theme)
        self._unified = unified
        self._document: DiffDocument | None = None
        self._hunk = -1
        self._asked: set[int] = set()
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
    def unified(self) -> bool:
        """One pane instead of two."""
        return self._unified

    @property
    def hunk(self) -> int:
        """The current hunk from 0, or -1."""
        return self._hunk

    def set_document(self, document: DiffDocument | None, *, keep_place: bool = False) -> None:
        """Show another document from its first hunk; ``keep_place`` stays at the line in sight (the file changed on disk)."""
        place = self._top_row() if keep_place else None
        self._document = document
        self._asked.clear()
        self._hunk = -1
        self._lay_out()
        self.horizontalScrollBar().setValue(0)
        if place is not None and self.rows is not None:
            self._scroll_to_row(*place)
            self._follow_hunk()
        else:
            self.verticalScrollBar().setValue(0)
            self._set_hunk(0 if document is not None and document.hunks else -1)
            if self._hunk == 0:
                self._bring(0)
        self.viewport().update()

    def set_unified(self, unified: bool) -> None:
        """Change the layout; the line in sight stays in sight."""
        if unified == self._unified:
            return
        place = self._top_row()
        words, styles = self._painter.dress.words, self._painter.dress.styles
        self._unified = unified
        self._lay_out()
        self._painter.dress.words, self._painter.dress.styles = words, styles
        if place is not None:
            self._scroll_to_row(*place)
        self._mark_current()
        self.viewport().update()

    def set_words(self, words: Mapping[int, WordSpans]) -> None:
        """Changed words of some document rows; painted at once."""
        self._painter.dress.words.update(words)
        self.viewport().update()

    def set_styles(self, *, old: StyleRuns | None = None, new: StyleRuns | None = None) -> None:
        """Colours of one or both sides; painted at once."""
        styles = self._painter.dress.styles
        if old is not None:
            styles[OLD] = old
        if new is not None:
            styles[NEW] = new
        self.viewport().update()

    def _lay_out(self) -> None:
        theme = self._hub.theme
        rows = None
        if self._document is not None:
            heights = {"line": theme.size("row-code"), "fold": round(theme.size("fold-bar") * theme.zoom)}
            rows = DiffRows(self._document, unified=self._unified, **heights)
        self._painter.show(rows)
        self._measure()

    def _themed(self) -> None:
        place = self._top_row()
        theme = self._hub.theme
        self._painter.use(theme)
        if self.rows is not None:
            self.rows.resize(line=theme.size("row-code"), fold=round(theme.size("fold-bar") * theme.zoom))
        self._measure()
        if place is not None:
            self._scroll_to_row(*place)
        self.viewport().update()

    def _measure(self) -> None:
        size = self.viewport().size()
        rows = self.rows
        bar = self.verticalScrollBar()
        bar.setPageStep(max(1, size.height() - self._hub.theme.size("row-code")))
        bar.setSingleStep(self._hub.theme.size("row-code"))
        bar.setRange(0, max(0, (rows.height if rows is not None else 0) - size.height()))
        panes = self._painter.panes(size.width())
        room = max(1.0, min(pane.width() for _, pane in panes) - self._painter.columns().text)
        across = self.horizontalScrollBar()
        across.setPageStep(round(room))
        across.setSingleStep(round(self._painter.lines.advance * 4))
        across.setRange(0, max(0, round(self._painter.text_width() - room)))
        self.moved.emit()

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

    def visible_span(self) -> tuple[int, int]:
        """First and last display row in sight; (0, -1) if there is nothing."""
        rows = self.rows
        if rows is None or not len(rows):
            return 0, -1
        value = self.verticalScrollBar().value()
        return rows.at(value), rows.at(value + self.viewport().height() - 1)

    # Hunks.

    def go_to_hunk(self, hunk: int) -> None:
        """Make a hunk (from 0) the current one and bring it into sight."""
        if self._document is None or not 0 <= hunk < len(self._document.hunks):
            return
        self._set_hunk(hunk)
        self._bring(hunk)

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

    def _set_hunk(self, hunk: int) -> None:
        self._hunk = hunk
        self._mark_current()
        count = len(self._document.hunks) if self._document is not None else 0
        self.hunk_changed.emit(hunk, count)
        self.setAccessibleDescription(self._hunk_words())
        self.viewport().update()

    def _mark_current(self) -> None:
        known = self.rows is not None and 0 <= self._hunk < len(self.rows.hunks)
        self._painter.current = self.rows.hunk_span(self._hunk) if known and self.rows is not None else None

    def _hunk_words(self) -> str:
        if self._document is None or not 0 <= self._hunk < len(self._document.hunks):
            return ""
        hunk = self._document.hunks[self._hunk]
        rows = self._document.rows[hunk.first_change : hunk.last_change + 1]
        added = sum(1 for row in rows if row.new_line is not None and row.kind != "same")
        deleted = sum(1 for row in rows if row.old_line is not None and row.kind != "same")
        lines = [row.new_line or row.old_line or 0 for row in rows]
        return tr(
            "Hunk {n} of {count}, lines {first} to {last}, {deleted} deleted, {added} added",
            n=self._hunk + 1,
            count=len(self._document.hunks),
            first=min(lines, default=0),
            last=max(lines, default=0),
            deleted=deleted,
            added=added,
        )

    def _follow_hunk(self) -> None:
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
        fold = rows.folds[rows.ref(index)]
        below = fold.last + 1
        # Showing lines at the lower end would push what is under the bar down: keep that in place instead.
        keep_below = which == "up" and below < len(rows.document.rows)
        before = rows.top(rows.index_of(below)) - bar.value() if keep_below else 0
        if which == "all":
            rows.show_all(rows.ref(index))
        else:
            rows.show_more(rows.ref(index), up=which == "up")
        self._painter.chosen = None
        self._mark_current()
        self._measure()
        if keep_below:
            bar.setValue(rows.top(rows.index_of(below)) - before)
        self.viewport().update()

    def _fold_under(self, point: QPointF) -> tuple[int, str] | None:
        rows = self.rows
        if rows is None or not len(rows):
            return None
        y = int(point.y()) + self.verticalScrollBar().value()
        if y >= rows.height:
            return None
        index = rows.at(y)
        top = rows.top(index) - self.verticalScrollBar().value()
        for which, box in self._painter.fold_buttons(index, self.viewport().width(), top):
            if box.contains(point):
                return index, which
        return None

    # Words.

    def _ask_for_words(self) -> None:
        rows = self.rows
        if rows is None:
            return
        first, last = self.visible_span()
        wanted = sorted(
            {rows.ref(index) // _BLOCK for index in range(first, last + 1) if rows.kind(index) not in (Show.FOLD, Show.END)}
            - self._asked
        )
        self._asked.update(wanted)
        end = len(rows.document.rows) - 1
        while wanted:
            start = stop = wanted.pop(0)
            while wanted and wanted[0] == stop + 1:
                stop = wanted.pop(0)
            self.words_wanted.emit(start * _BLOCK, min(end, (stop + 1) * _BLOCK - 1))

    # Qt's names below.

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        self._painter.scroll_x = float(self.horizontalScrollBar().value())
        self._painter.paint(painter, event.rect(), self.viewport().width(), self.verticalScrollBar().value())
        painter.end()
        if self.rows is not None and not self._ask.isActive():
            self._ask.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ask.stop()  # nobody looks; the next paint asks again

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if dx:
            self.viewport().update()
        else:
            self.viewport().scroll(0, dy)
        self._follow_hunk()
        self.moved.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measure()

    def grab_row(self, index: int) -> QRect:
        """Where a display row is in the viewport; for tests and assistive technology."""
        rows = self.rows
        if rows is None or not 0 <= index < len(rows):
            return QRect()
        top = rows.top(index) - self.verticalScrollBar().value()
        return QRect(QPoint(0, top), QPoint(self.viewport().width() - 1, top + rows.row_height(index) - 1))
