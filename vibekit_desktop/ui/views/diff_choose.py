"""The current line of a painted diff, what is chosen in it, and copying that exactly as it is in the file. UI thread only."""

import re
from collections.abc import Iterator

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.types.diffs import DiffDocument, DiffSide
from vibekit_desktop.ui.models.diff_find import Hit, Hits
from vibekit_desktop.ui.models.diff_follow import Follow
from vibekit_desktop.ui.models.diff_rows import Show
from vibekit_desktop.ui.models.diff_runs import OLD, Runs
from vibekit_desktop.ui.models.diff_select import Place, Selection, everything, parts_of, text_of, whole_lines
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_hunks import HunkSurface
from vibekit_desktop.ui.views.diff_steps import Steps

_PART = 4_000
"""So many lines are copied at a time: nobody waits for hundreds of thousands of them."""
_NO_TEXT = re.compile("[\ud800-\udfff]")


class ChoosingSurface(HunkSurface):
    """Invariant: what is chosen is a run of text of one side. ``cursor_moved(index)``: another display row is current."""

    cursor_moved = Signal(int)

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None, *, unified: bool = False) -> None:
        super().__init__(hub, parent, unified=unified)
        self._from_line = 0
        self._copying = Steps(self)

    def set_document(self, document: DiffDocument | None, runs: Runs | None = None, *, keep_place: bool = False) -> None:
        """Show another document; what was chosen stays chosen only if the same file is shown again and still has it."""
        former, chosen = self._document, self.selection
        super().set_document(document, runs, keep_place=keep_place)
        if keep_place and former is not None and document is not None and chosen is not None:
            self._choose(_again(chosen, former, document))

    # What is chosen.

    @property
    def selection(self) -> Selection | None:
        """What is chosen, or None."""
        return self._painter.dress.selection

    def selected_text(self) -> str:
        """What is chosen, exactly as it is in the file."""
        chosen = self.selection
        if self.rows is None or chosen is None:
            return ""
        return text_of(self._text(chosen.side), chosen, self._painter.dress.crlf[chosen.side])

    def words_of_a_line(self) -> str:
        """What is chosen, if it is a part of one line; else empty."""
        chosen = self.selection
        return self.selected_text() if chosen is not None and chosen.first.line == chosen.last.line else ""

    def copy(self) -> None:
        """Put what is chosen on the clipboard, a few thousand lines at once, more a moment later; bytes that are not text
        are told by the sign for that."""
        chosen = self.selection
        if self.rows is None or chosen is None or chosen.empty:
            return
        parts: list[str] = []
        side, crlf = self._text(chosen.side), self._painter.dress.crlf[chosen.side]

        def gather() -> Iterator[None]:
            for number, part in enumerate(parts_of(chosen, _PART)):
                if number:
                    yield
                text = text_of(side, part, crlf)
                parts.append(text if text.isascii() else _NO_TEXT.sub("\ufffd", text))

        def put() -> None:
            if text := "".join(parts):
                QGuiApplication.clipboard().setText(text)

        self._copying.start(gather(), put)

    def chosen_lines(self) -> tuple[int, int, int] | None:
        """Side, first and last line (from 1) of what is chosen, else of the current line; None if there is neither."""
        chosen = self.selection
        if chosen is not None and not chosen.empty:
            first, last = chosen.lines()
            return chosen.side, first, min(last, len(self._text(chosen.side).lines))
        line = self._line_at(self._cursor)
        return (line[0], line[1], line[1]) if line is not None else None

    def choose_all(self) -> None:
        """Choose the whole of the current side."""
        if self.rows is not None and self._text(self._side).lines:
            self._choose(everything(self._text(self._side), self._side))

    def choose_lines(self, side: int, first: int, last: int) -> None:
        """Choose whole lines (from 1) of one side and make the last one current."""
        self._choose(whole_lines(self._text(side), side, first, last))

    def _choose(self, selection: Selection | None) -> None:
        self._painter.dress.selection = selection
        self.viewport().update()

    def _text(self, side: int) -> DiffSide:
        return self._painter.side(side)

    # What is looked for.

    def set_hits(self, hits: Hits | None, current: int = -1) -> None:
        """Mark the places of a text; ``current`` is the position of the one that was gone to."""
        self._painter.dress.hits = hits
        self._painter.dress.hit = current
        self.viewport().update()

    def show_hit(self, hit: Hit) -> None:
        """Bring a place into sight, out of its fold if it is in one."""
        rows = self.rows
        if rows is None:
            return
        self.show_row(hit.row)
        index = rows.index_of(hit.row, hit.side)
        self.bring_row(index)
        self.scroll_to_column(index, hit.side, hit.start, hit.end)
        self._side = hit.side if not self._unified else self._side
        self._set_cursor(index)

    def row_in_sight(self) -> int:
        """The document row from which on a text is looked for: that of the current line in sight, else the first in sight."""
        first, last = self.visible_span()
        held = self._cursor_row() if first <= self._cursor <= last else self._top_row()
        return held[0] if held is not None else 0

    @property
    def runs(self) -> Runs | None:
        """Where the document changes."""
        return self._runs

    # The current line.

    @property
    def current_row(self) -> int:
        """The display row of the current line, or -1."""
        return self._cursor

    @property
    def side(self) -> int:
        """The side that is chosen in and copied from."""
        return self._side

    def move_to(self, index: int, *, choosing: bool = False) -> None:
        """Make a display row the current one, in sight; ``choosing`` chooses whole lines from where that began."""
        rows = self.rows
        if rows is None or not len(rows):
            return
        step = 1 if index >= self._cursor else -1
        index = max(0, min(index, len(rows) - 1))
        if rows.kind(index) is Show.END:
            index -= 1
        if choosing:
            self._extend(index, step)
        elif self.selection is not None:
            self._choose(None)
        self.bring_row(index)
        self._set_cursor(index)
        hunk = rows.hunk_at(index)
        if hunk is not None and hunk != self._hunk and rows.hunk_span(hunk)[0] <= index <= rows.hunk_span(hunk)[1]:
            self._set_hunk(hunk)
        self.cursor_moved.emit(index)

    def set_side(self, side: int) -> None:
        """Go to the other side, where there are two."""
        if not self._unified and side != self._side:
            self._side = side
            self._choose(None)
            self._set_cursor(self._cursor)
            self.cursor_moved.emit(self._cursor)

    def _extend(self, index: int, step: int) -> None:
        """Choose whole lines up to a row; rows that have none of that side are passed over."""
        rows = self.rows
        assert rows is not None
        chosen = self.selection
        if chosen is None:
            start = self._line_at(self._cursor)
            if start is None:
                return
            self._side, self._from_line = start
        line = None
        while 0 <= index < len(rows) and line is None:
            line = rows.sides(index)[self._side]
            index += step
        if line is not None:
            self._choose(whole_lines(self._text(self._side), self._side, self._from_line, line))

    def _line_at(self, index: int) -> tuple[int, int] | None:
        """Side and line of a display row: the current side's, in a unified view the one that is shown."""
        rows = self.rows
        if rows is None or not 0 <= index < len(rows):
            return None
        side = self._geometry.source(index, self._side)
        line = rows.sides(index)[side]
        return (side, line) if line is not None else None

    def page_rows(self) -> int:
        """How many rows a page has."""
        return max(1, self.viewport().height() // self._hub.theme.size("row-code") - 1)

    # Places under a point.

    def place_at(self, point: QPointF, side: int) -> Place | None:
        """The character of one side nearest to a point in the viewport; None where that side has no lines."""
        rows = self.rows
        if rows is None or not len(rows) or not self._text(side).lines:
            return None
        y = int(point.y()) + self.verticalScrollBar().value()
        index = rows.at(y)
        if y >= rows.height:
            return Place(len(self._text(side).lines), len(self._text(side).lines[-1]))
        line = rows.sides(index)[side]
        if line is None:
            return self._nearest(index, side)
        pane = self._geometry.pane(self.viewport().width(), side)
        x = point.x() - pane.left() - self._geometry.columns().text
        wrap = self._painter.wrap
        part = max(0, y - rows.top(index)) // self._hub.theme.size("row-code") if wrap else 0
        across = 0.0 if wrap else self._painter.scroll[side]
        shown = self._painter.line(side, line)
        return Place(line, self._painter.lines.index_at(shown, x + across, columns=wrap, row=part))

    def _nearest(self, index: int, side: int) -> Place:
        """The end of the nearest line above a row that has none of that side."""
        rows = self.rows
        assert rows is not None
        while index > 0 and rows.sides(index)[side] is None:
            index -= 1
        line = rows.sides(index)[side]
        return Place(line, len(self._text(side).lines[line - 1])) if line is not None else Place(1, 0)

    def scroll_to_column(self, index: int, side: int, start: int, end: int) -> None:
        """Scroll until some characters of the line in a display row are in sight: sideways, or to their row where it wraps."""
        rows = self.rows
        line = rows.sides(index)[side] if rows is not None else None
        if rows is None or line is None:
            return
        shown = self._painter.line(side, line)
        if self._painter.wrap:
            step, height = self._hub.theme.size("row-code"), self.viewport().height()
            y = rows.top(index) + step * self._painter.lines.place_of(shown, start, columns=self._painter.wrap)[0]
            if not self.verticalScrollBar().value() <= y <= self.verticalScrollBar().value() + height - step:
                self.verticalScrollBar().setValue(y - height // 3)
            return
        left = self._painter.lines.place_of(shown, start)[1]
        right = self._painter.lines.place_of(shown, end)[1]
        bar, room = self.horizontalScrollBar(), self._geometry.room(self.viewport().width())
        if left < bar.value() or right > bar.value() + room - 16:
            bar.setMaximum(max(bar.maximum(), round(right - room + 32)))
            bar.setValue(round(left - room / 3) if right > room - 16 else 0)

    def scroll_apart(self, side: int, pixels: float) -> None:
        """Scroll one side alone sideways."""
        across = self.horizontalScrollBar()
        least, most = -across.value(), across.maximum() - across.value()
        self._apart[side] = max(least, min(most, self._apart[side] + pixels))
        self.viewport().update()


def _again(chosen: Selection, before: DiffDocument, after: DiffDocument) -> Selection | None:
    """The same lines in another document; None if an end of them is gone."""
    one, other = (before.old, after.old) if chosen.side == OLD else (before.new, after.new)
    follow = Follow(one.lines, other.lines)
    ends = [follow.line(place.line) for place in (chosen.anchor, chosen.head)]
    if ends[0] is None or ends[1] is None:
        return None
    return Selection(chosen.side, Place(ends[0], chosen.anchor.column), Place(ends[1], chosen.head.column))
