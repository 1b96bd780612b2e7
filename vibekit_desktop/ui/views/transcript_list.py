"""A chat's transcript as a list that follows its model: what is laid out, what is open, where the view stands when rows come.

Emits nothing but wishes for colours; what a person wants is `views.transcript`'s. UI thread only.
"""

from PySide6.QtCore import QModelIndex, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.models.blocks import CardsBlock
from vibekit_desktop.ui.models.copying import is_copied
from vibekit_desktop.ui.models.transcript import GROWING, TranscriptModel
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.answer import AnswerView
from vibekit_desktop.ui.views.asked_once import CodeColours, FragmentPlaces, Places
from vibekit_desktop.ui.views.block_view import BlockView, PaintState
from vibekit_desktop.ui.views.block_views import gap_before, guess_all, make_view
from vibekit_desktop.ui.views.latest import LatestPill
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.views.select_list import SelectList
from vibekit_desktop.ui.views.tool_cards import CardsView, is_open_card

_FEW = 64
_SPOKEN = 2_000
_FOLDS = ("card", "fold", "conflict")


class TranscriptList(SelectList):
    """The list. ``colours_wanted`` (key, file name, lines): `set_colours` is to answer. ``places_wanted`` (key, turn, path,
    fragments): `set_places` is.

    Invariant: what is laid out is what the model says; the pill is there only while something came out of sight."""

    colours_wanted = Signal(str, str, tuple)
    places_wanted = Signal(str, int, str, tuple)

    def __init__(self, hub: ThemeHub, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(hub, parent)
        self._model = model
        self._opened: set[str] = set()
        self._closed: set[str] = set()
        """Keys of cards that open by themselves, and that somebody closed."""
        self.pulse = Pulse(hub, self.viewport(), model.now_ms)
        self.pulse.second.connect(self._catch_up)
        self._news = False
        """Something came at the end while it was out of sight."""
        self._colours = CodeColours(self)
        self._colours.wanted.connect(lambda code: self.colours_wanted.emit(*code))
        self._places = FragmentPlaces(self)
        self._places.wanted.connect(lambda card: self.places_wanted.emit(*card))
        self._shifts: dict[str, int] = {}
        self._files: frozenset[str] = frozenset()
        self._below = (-1, -1, -1, 0)
        """While earlier messages come: what is current, its button, what stands at the top (rows from the end), and where."""
        self._rows_before = 0
        self._moving: dict[str, BlockView] = {}
        """Rows that went or moved and may come again at once, by what names them."""
        self.setAccessibleName(tr("Transcript"))
        self._latest = LatestPill(hub, self.viewport())
        self._latest.clicked.connect(self._go_to_end)
        self._latest.moved_away.connect(self.setFocus)
        model.modelReset.connect(self._reset)
        model.dataChanged.connect(self._changed)
        model.rowsAboutToBeInserted.connect(self._keep_from)
        model.rowsAboutToBeRemoved.connect(self._keep_from)
        model.rowsInserted.connect(self._rows_came)
        model.rowsRemoved.connect(self._rows_went)
        model.earlier_coming.connect(self._earlier_coming)
        model.earlier_came.connect(self._earlier_came)
        model.answered.connect(self._say_answer)
        self._reset()

    # What comes in

    def set_colours(self, key: str, styles: StyleRuns | None) -> None:
        """The colours of the code that `colours_wanted` named; None = there are none."""
        self._colours.styles[key] = styles
        self._dress_anew(key)

    def set_places(self, key: str, places: Places) -> None:
        """Where the fragments that `places_wanted` named stand."""
        self._places.places[key] = places
        self._dress_anew(key)

    def _dress_anew(self, key: str) -> None:
        dressed = [row for row, view in self.views.items() if isinstance(view, AnswerView | CardsView) and view.holds(key)]
        for row in dressed:
            self.former[row] = self.views.pop(row)
        self.fill()

    def set_files(self, files: frozenset[str]) -> None:
        """Paths that can be opened where an answer names them."""
        if files != self._files:
            self._files = files
            for row in [row for row, view in self.views.items() if isinstance(view, AnswerView)]:
                self.former[row] = self.views.pop(row)
            self.fill()

    def show_turn(self, turn: int) -> None:
        """Bring the checkpoint line of a turn to the top."""
        row = self._model.row_of_turn(turn)
        if row >= 0:
            self.go_to(row)

    def _reset(self) -> None:
        for memory in (self._opened, self._closed, self._shifts, self.former, self._moving, self._colours, self._places):
            memory.clear()
        self._news = False
        self._current = self._button = -1
        self.select_nothing()
        self.nothing_aimed_at()
        self.start_over()

    def _changed(self, first: QModelIndex, last: QModelIndex) -> None:
        low, high = first.row(), last.row()
        self.former = {row: view for row, view in self.views.items() if low <= row <= high}
        self._moving.clear()
        self._came(low, high)
        self.drop_rows(low, high)
        self.fill()
        self.former.clear()
        if high - low <= _FEW:
            self._guess_again(low, high)

    def _catch_up(self) -> None:
        """Lay out what was left as it was because it had grown by little."""
        stale = {row: view for row, view in self.views.items() if isinstance(view, AnswerView) and view.stale}
        for row, view in stale.items():
            view.catch_up()
            self.former[row] = self.views.pop(row)
        if stale:
            if self.is_at_end:
                self._at_end = True
            self.fill()
            self.former.clear()

    def _came(self, first: int, last: int) -> None:
        """Rows are others now, or there are more: where the end is looked at, it is looked at on."""
        if self._model.running and last >= len(self._model.kinds()) - 2 and first >= max(1, self.top_row - GROWING):
            if self.is_at_end:
                self._at_end = True
            else:
                self._news = True

    def _guess_again(self, first: int, last: int) -> None:
        """A text that grows out of sight takes more room."""
        for row in range(first, last + 1):
            if row not in self.views:
                self.heights.set(row, self.guess_heights(row, row + 1)[0])
        self._sync()

    def _go_to_end(self) -> None:
        self.scroll_to_end()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def placed(self) -> None:
        if self.is_at_end:
            self._news = False
        self._latest.show_if(self._news)

    def _say_answer(self, text: str) -> None:
        """A new answer is announced once, when it is whole."""
        if self.isVisible() and text.strip():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text[:_SPOKEN]))

    def _earlier_coming(self) -> None:
        current = self.count - self._current if self._current >= 0 else -1
        self._below = (current, self._button, *self.anchor())
        self._rows_before = self.count

    def _earlier_came(self) -> None:
        current, button, anchor, top = self._below
        self._below = (-1, -1, -1, 0)
        # The row that said how many there are is another one now, or none.
        self._current, self._button = (self.count - current, button) if 0 < current <= anchor else (-1, -1)
        self.nothing_aimed_at()
        self.rows_came_above(anchor, top)
        self.shift_selection(self.count - self._rows_before)

    def _keep_from(self, _parent: QModelIndex, first: int, _last: int) -> None:
        """Rows will move or go. One that is there again when others came is taken over from how it was laid out."""
        if self._below[2] < 0:
            self._moving.update((self.name_of(row), view) for row, view in self.views.items() if row >= first)

    def _rows_came(self, _parent: QModelIndex, first: int, last: int) -> None:
        if self._below[2] >= 0:
            return  # all of it at once, when the rows are complete
        self.rows_inserted(first, last - first + 1)
        self._came(first, last)
        self.rows_replaced(first)
        self._moving.clear()

    def _rows_went(self, _parent: QModelIndex, first: int, last: int) -> None:
        if self._below[2] >= 0:
            return
        self.rows_removed(first, last)
        self.rows_replaced(first)

    # What the list asks

    def guess_heights(self, first: int = 0, end: int | None = None) -> list[int]:
        kinds, weights = self._model.kinds(), self._model.weights()
        before = kinds[first - 1] if first else -1
        return guess_all(self.hub.theme, kinds[first:end], weights[first:end], self.column_width(), before)

    def name_of(self, row: int) -> str:
        """What names a row among what is opened and coloured."""
        return ".".join(str(part) for part in self._model.key(row))

    def make_block(self, row: int) -> BlockView:
        name = self.name_of(row)
        view = make_view(
            self.hub.theme,
            self._model.block(row),
            self.column_width(),
            name,
            opened=self._opened,
            styles=self._colours.styles,
            places=self._places.places,
            shifts=self._shifts,
            closed=self._closed,
            earlier=self.former.pop(row, None) or self._moving.pop(name, None),
            files=self._files,
        )
        if isinstance(view, AnswerView | CardsView):
            self._colours.ask(view.wanted)
        if isinstance(view, CardsView):
            self._places.ask(view.unplaced)
        return view

    def is_copied(self, row: int) -> bool:
        return is_copied(self._model.kind(row))

    def gap(self, row: int) -> int:
        before = self._model.kind(row - 1) if row else -1
        return gap_before(before, self._model.kind(row))

    def paint_state(self, row: int, clip: QRectF) -> PaintState:
        state = super().paint_state(row, clip)
        state.pulse = self.pulse
        return state

    def wheelEvent(self, event: QWheelEvent) -> None:
        pixels, angle = event.pixelDelta(), event.angleDelta()
        sideways = pixels.x() or angle.x() / 2
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not sideways:
            sideways = pixels.y() or angle.y() / 2
        event.accept()
        if sideways and self._shift_code(event.position(), -round(sideways)):
            return
        step = pixels.y() if not pixels.isNull() else round(angle.y() / 120 * 3 * self.hub.theme.line_height("reading"))
        if step:
            self.nothing_aimed_at()
            self.scroll_by(-step)

    def _shift_code(self, point: QPointF, by: int) -> bool:
        """Move the code block under the pointer sideways; False where there is none that could move."""
        row = self.row_at(point.y())
        view = self.lay_out(row) if row >= 0 else None
        if not isinstance(view, AnswerView):
            return False
        place = self._place_in(row, point)
        for key, box, most in view.code:
            if box.contains(place):
                self._shifts[key] = min(max(0, self._shifts.get(key, 0) + by), most)
                del self.views[row]
                self.viewport().update()
                return True
        return False

    def toggle(self, key: str) -> None:
        """Open what is closed, close what is open."""
        rows = [row for row, view in self.views.items() if any(hit.text == key and hit.action in _FOLDS for hit in view.hits)]
        if any(self._is_open(row, key) for row in rows):
            self._opened.discard(key)
            self._closed.add(key)
        else:
            self._closed.discard(key)
            self._opened.add(key)
        for row in rows:
            self.former[row] = self.views.pop(row)
        self.hold_still()
        self.fill()

    def _is_open(self, row: int, key: str) -> bool:
        block = self._model.block(row)
        if isinstance(block, CardsBlock) and (mine := [card for card in block.cards if card.key == key]):
            return is_open_card(mine[0], self._opened, self._closed)
        return key in self._opened
