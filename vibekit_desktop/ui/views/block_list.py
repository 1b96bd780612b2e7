"""A list of painted blocks of any length: only those on the screen are laid out.

Heights are guessed, then corrected when a block is laid out; the list holds on to the block at its top, never to a pixel, so
that a correction moves nothing under the pointer. At another width what is in sight is laid out at once, the rest is guessed
anew in slices. Knows nothing of chats. UI thread only.
"""

from collections.abc import Iterator

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.block_view import BlockView, PaintState
from vibekit_desktop.ui.views.diff_steps import Steps
from vibekit_desktop.ui.views.heights import Heights

_EDGE = 32
_PAD = 14
_KEEP = 120
_FAR = 1.5
"""What is more screens away is gone to by the guessed heights."""
_RING = 8
"""A ring around a block reaches so far out of it."""
_SLICE = 8_000
"""So many rows are guessed without a look at the clock."""


class BlockList(QAbstractScrollArea):
    """The scrolling part. A subclass says what the blocks are: `guess_heights`, `make_block`, `gap`, and how they are painted.

    Invariant: ``top_row`` and ``_offset`` say which block is at the top of the viewport and how much of it is above.
    """

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.heights = Heights()
        self.views: dict[int, BlockView] = {}
        self.former: dict[int, BlockView] = {}
        """Rows that are about to be laid out anew, as they were: what is the same in them is taken over, and the former ones
        are not painted any more."""
        self.top_row = 0
        self._offset = 0
        self._at_end = False
        self._syncing = False
        self._laid_out_at = 0
        self._guessed_at = (0, 0.0)
        self._stale = False
        self._guessing = Steps(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.verticalScrollBar().setSingleStep(40)
        self.verticalScrollBar().valueChanged.connect(self._bar_moved)
        hub.changed.connect(self._themed)

    # What a subclass says

    def guess_heights(self, first: int = 0, end: int | None = None) -> list[int]:
        """A height for every row from ``first`` on, up to ``end`` or to the last one, its gap included."""
        return [] if first >= 0 else [first, end or 0]

    def make_block(self, row: int) -> BlockView:
        """Lay one row out."""
        raise LookupError(row)

    def gap(self, row: int) -> int:
        """The distance of a row from the one before."""
        return 0 if row >= 0 else -1

    def paint_state(self, row: int, clip: QRectF) -> PaintState:
        """What pointer and keyboard are on in this row."""
        return PaintState(clip=clip) if row >= 0 else PaintState()

    def placed(self) -> None:
        """What stands on the screen may be something else now."""

    def paint_over(self, painter: QPainter, row: int, box: QRectF) -> None:
        """Paint something on top of a row, like the focus ring."""

    # What can be asked and told

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.heights)

    @property
    def laid_out(self) -> int:
        """How many rows are laid out at the moment; tests look at it."""
        return len(self.views)

    @property
    def is_at_end(self) -> bool:
        """Whether the last block's end is on the screen."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum()

    def scroll_to_end(self) -> None:
        """Show the end, and stay there."""
        self._at_end = True
        self.fill()

    def scroll_to_row(self, row: int) -> None:
        """Bring a row to the top."""
        self._at_end = False
        self.top_row, self._offset = row, 0
        self.fill()

    def scroll_by(self, pixels: int) -> None:
        """Move by pixels; blocks that come in are laid out first, so nothing jumps."""
        if not self.count:
            return
        self._at_end, down = False, pixels > 0
        if abs(pixels) > _FAR * self.viewport().height():
            # By the guesses: laying out all that lies between would stall the window.
            place = max(0, self.heights.top(self.top_row) + self._offset + pixels)
            self.top_row = self.heights.row_at(place)
            self._offset, pixels = place - self.heights.top(self.top_row), 0
        self._offset += pixels
        if self.top_row == 0 and self._offset < 0:
            self._offset = 0
        self.fill()
        self._at_end = self.is_at_end and down

    def hold_still(self) -> None:
        """Do not follow the end any more; for what the person opens or folds."""
        self._at_end = False

    def start_over(self) -> None:
        """Other rows altogether: forget everything and show the end."""
        self.views.clear()
        self._laid_out_at = self.column_width()
        self.top_row = self._offset = 0
        self._guess()
        self.scroll_to_end()

    def rows_replaced(self, first: int) -> None:
        """Rows from ``first`` on are others now, or more, or fewer. Those before keep their heights, laid out or guessed."""
        end = self._at_end or self.is_at_end
        self.drop_rows(first, max(self.views, default=0))
        self.heights.cut(first)
        self.heights.add(self.guess_heights(first))
        if self._guessing.busy:
            self._guess_in_slices()
        self.top_row = min(self.top_row, max(0, self.count - 1))
        self._at_end = end
        self.fill()

    def anchor(self) -> tuple[int, int]:
        """A row that the viewport shows and that stays when rows come above it, counted from the end, and where it begins."""
        row = min(max(self.top_row, 1), self.count - 1)
        return self.count - row, self.row_top(row) if self.count else 0

    def rows_came_above(self, anchor: int, top: int) -> None:
        """There are other rows above the one that is ``anchor`` rows from the end; that one begins at ``top`` as before, and so
        nothing in sight moves."""
        self.views.clear()
        self._guess()
        self.top_row = min(max(0, self.count - anchor), max(0, self.count - 1))
        self._offset = -top
        self._at_end = False
        self.fill()

    def drop_rows(self, first: int, last: int) -> None:
        """Rows that must be laid out again."""
        for row in [row for row in self.views if first <= row <= last]:
            del self.views[row]

    def lay_out_anew(self) -> None:
        """Another width or size of text: the block at the top stays where it is."""
        share = self._offset / max(1, self.heights[self.top_row]) if self.count else 0.0
        self.former, self.views = self.views, {}
        self._laid_out_at, self._stale = self.column_width(), False
        if self.count:
            self.top_row = min(self.top_row, self.count - 1)
            self.lay_out(self.top_row)
            self._offset = int(share * self.heights[self.top_row])
        self.fill()
        self.former.clear()
        self._guess_in_slices()

    def _guess(self) -> None:
        """Guess every height, now."""
        self._guessing.stop()
        self._guessed_at = (self.column_width(), self.hub.theme.zoom)
        self.heights = Heights(self.guess_heights())

    def _guess_in_slices(self) -> None:
        """Guess every height of what is not laid out; until that is done the former ones do."""
        self._guessing.start(self._guess_all())

    def _guess_all(self) -> Iterator[None]:
        guessed_at, found = (self.column_width(), self.hub.theme.zoom), list[int]()
        while len(found) < self.count:
            found += self.guess_heights(len(found), min(len(found) + _SLICE, self.count))
            yield
        self._guessed_at, self.heights = guessed_at, Heights(found)
        for row, view in self.views.items():
            self.heights.set(row, self.gap(row) + view.height)
        self._sync()

    def _themed(self) -> None:
        """Other colours leave the heights as they are; what is not seen is laid out when it is seen again."""
        self.views.clear()
        self._stale = not self.isVisible()
        if not self._stale:
            self._catch_up_with_theme()

    def _catch_up_with_theme(self) -> None:
        if self._guessed_at != (self.column_width(), self.hub.theme.zoom):
            self.lay_out_anew()
        else:
            self.fill()

    # Geometry

    def column_width(self) -> int:
        """How wide a block is laid out."""
        return max(200, min(self.hub.theme.size("reading-max"), self.width() - 2 * _EDGE))

    def column_left(self) -> int:
        """Where the column begins: centred in the pane, not beside the scroll bar, so in line with the row under it."""
        return (self.width() - self.column_width()) // 2

    def row_top(self, row: int) -> int:
        """Where a row begins in the viewport."""
        return self.heights.top(row) - self.heights.top(self.top_row) - self._offset

    def row_at(self, y: float) -> int:
        """The row at a height of the viewport, or -1 below the last."""
        row, top = self.top_row, -self._offset
        while row < self.count and top <= y:
            top += self.heights[row]
            if y < top:
                return row
            row += 1
        return -1

    def lay_out(self, row: int) -> BlockView:
        """The row, laid out now if it was not."""
        view = self.views.get(row)
        if view is None:
            view = self.views[row] = self.make_block(row)
            self.heights.set(row, self.gap(row) + view.height)
        return view

    def is_far(self, row: int) -> bool:
        """Whether laying out all that lies between a row and the viewport would take too long."""
        return abs(self.row_top(row)) > _FAR * self.viewport().height()

    def reveal(self, row: int) -> None:
        """Bring a row into the viewport, by as little as possible; one that is far away to its top."""
        self.lay_out(row)
        if self.is_far(row):
            self.scroll_to_row(row)
            return
        top, height = self.row_top(row), self.heights[row]
        room = self.viewport().height()
        if top < 0 or height > room:
            self.scroll_by(top)
        elif top + height > room - _PAD:
            self.scroll_by(top + height - room + _PAD)
        self.viewport().update()

    def fill(self) -> None:
        """Lay out what the viewport shows, from the block at its top down, and bring the scroll bar in line."""
        self.viewport().update()
        if not self.count:
            self._sync()
            return
        height = self.viewport().height()
        if self._at_end:
            self._stand_on_end(height)
        self._normalise()
        row, y = self.top_row, -self._offset
        while row < self.count and y < height:
            self.lay_out(row)
            y += self.heights[row]
            row += 1
        if row == self.count and y + _PAD < height and not self._at_end:
            # The end came up from below: stand on it, unless everything fits.
            self._stand_on_end(height)
            self._normalise()
        if len(self.views) > _KEEP:
            near = range(self.top_row - 20, row + 20)
            for far in [far for far in self.views if far not in near]:
                del self.views[far]
        self._sync()

    def _stand_on_end(self, height: int) -> None:
        row, room = self.count, height - _PAD
        while row > 0 and room > 0:
            row -= 1
            self.lay_out(row)
            room -= self.heights[row]
        self.top_row, self._offset = row, max(0, -room)

    def _normalise(self) -> None:
        """Make the block at the top the one that really covers the viewport's first line."""
        while self._offset < 0 and self.top_row > 0:
            self.top_row -= 1
            self.lay_out(self.top_row)
            self._offset += self.heights[self.top_row]
        self._offset = max(0, self._offset)
        self.lay_out(self.top_row)
        while self._offset >= self.heights[self.top_row] and self.top_row < self.count - 1:
            self._offset -= self.heights[self.top_row]
            self.top_row += 1
            self.lay_out(self.top_row)

    def _sync(self) -> None:
        bar = self.verticalScrollBar()
        self._syncing = True
        height = self.viewport().height()
        bar.setPageStep(height)
        bar.setRange(0, max(0, self.heights.total + _PAD - height))
        bar.setValue(self.heights.top(self.top_row) + self._offset if self.count else 0)
        self._syncing = False
        self.placed()

    def _bar_moved(self, value: int) -> None:
        if self._syncing or not self.count:
            return
        self._at_end = value >= self.verticalScrollBar().maximum()
        self.top_row = self.heights.row_at(value)
        self._offset = value - self.heights.top(self.top_row)
        self.fill()

    # Qt's names from here on

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Qt's own pixel scrolling is not used: the bar's value is mapped to a block."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self.column_width() != self._laid_out_at:
            self.lay_out_anew()
        else:
            self.fill()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._stale = False
            self._catch_up_with_theme()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        try:
            painter.fillRect(event.rect(), self.hub.theme.color("bg.surface"))
            self._paint_rows(painter, event.rect())
        finally:
            # Were it left open by an error, Qt would end the program instead of reporting it.
            painter.end()

    def _paint_rows(self, painter: QPainter, part: QRect) -> None:
        left, bottom, width = self.column_left(), part.bottom() + 1, self.column_width()
        row, y = self.top_row, -self._offset
        while row < self.count and y < bottom:
            view = self.lay_out(row)
            top = y + self.gap(row)
            if top + view.height + _RING > part.top():
                painter.save()
                painter.translate(left, top)
                view.paint(painter, self.paint_state(row, QRectF(0, part.top() - top, width, part.height())))
                painter.restore()
                self.paint_over(painter, row, QRectF(left, top, width, view.height))
            y += self.heights[row]
            row += 1
