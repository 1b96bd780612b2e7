"""The timeline of the inspector: what every turn changed, with Diff and Undo beside each file.

Paints a `TimelineModel` and emits intents; computes nothing about files. Enter on a turn shows its review; on a file, its diff.
UI thread only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.types.checkpoints import AfterTurn, AtEntry, BeforeTurn, Now, Point
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.models.timeline import TimelineModel
from vibekit_desktop.ui.models.timeline_rows import Button, Key, RowKind, TimelineRow
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views import row_keys
from vibekit_desktop.ui.views.button_list import ButtonList
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.views.timeline_menus import Chooser, coverage_menu, file_menu, point_menu
from vibekit_desktop.ui.views.timeline_paint import TimelineDelegate
from vibekit_desktop.ui.when import local_now_ms
from vibekit_desktop.ui.wording import shown_path

_BATCH = 300
_OF_A_POINT = (RowKind.TURN, RowKind.RESTORE, RowKind.ENTRY, RowKind.PIN)


class TimelineView(ButtonList[TimelineRow, Button]):
    """Signals: ``diff_requested(path, old point, new point)``, ``undo_file_requested(path, point)``,
    ``restore_requested(point)``, ``undo_requested()``, ``redo_requested()``, ``open_chat_requested(chat)``,
    ``review_requested(old point, new point)``, ``pin_requested(point, its name now)``, ``unpin_requested(point)``,
    ``editor_requested(path, state)``, ``writers_requested(path)``: which chats changed a file."""

    diff_requested = Signal(object, object, object)
    undo_file_requested = Signal(object, object)
    restore_requested = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()
    open_chat_requested = Signal(object)
    review_requested = Signal(object, object)
    pin_requested = Signal(object, str)
    unpin_requested = Signal(object)
    editor_requested = Signal(object, object)
    writers_requested = Signal(object)

    def __init__(
        self,
        hub: ThemeHub,
        model: TimelineModel,
        parent: QWidget | None = None,
        *,
        now_ms: Callable[[], int] = local_now_ms,
    ) -> None:
        self._delegate = TimelineDelegate(hub, model)
        places = self._delegate.places
        super().__init__(hub, model, model, places, self._delegate, name=tr("Timeline"), batch=_BATCH, parent=parent)
        self._model = model
        self.pulse = self._delegate.pulse = Pulse(hub, self.viewport(), now_ms)
        self.verticalScrollBar().setSingleStep(hub.theme.size("row-file"))
        self.button_pressed.connect(self._pressed)

    @contextmanager
    def place_kept(self) -> Iterator[None]:
        """News comes at the top: whoever has scrolled down goes on seeing the same rows while they change."""
        bar = self.verticalScrollBar()
        top = self.indexAt(QPoint(self.viewport().width() // 2, 0)) if bar.value() else QModelIndex()
        held, before = QPersistentModelIndex(top), self.visualRect(top).top()
        yield
        if held.isValid():
            self.executeDelayedItemsLayout()
            bar.setValue(bar.value() + self.visualRect(held).top() - before)

    @contextmanager
    def news_lit(self) -> Iterator[None]:
        """What is undone, redone or restored while the rows change is lit, if they go on being those of one chat."""
        chat, before = self._model.chat, _done(self._model.rows)
        yield
        if chat is not None and chat == self._model.chat:
            after = _done(self._model.rows)
            self.light([key for key, state in after.items() if before.get(key, state if key[0] == "file" else None) != state])

    def light(self, keys: Iterable[Key]) -> None:
        """Light rows that were just undone or jumped to."""
        self._delegate.flash.light(keys)
        self.viewport().update()

    @property
    def lit(self) -> frozenset[object]:
        """The keys of the rows that are lit."""
        return self._delegate.flash.lit

    def show_turn(self, turn: int) -> bool:
        """Go to a turn, and light it; whether it is there."""
        number = self._model.row_of_key(("turn", turn, ""))
        if number < 0:
            return False
        self.setCurrentIndex(self._model.index(number))
        self.scrollTo(self._model.index(number), self.ScrollHint.PositionAtTop)
        self.light([("turn", turn, "")])
        return True

    # Doing.

    def _pressed(self, number: int, button: Button) -> None:
        found = self._model.row_at(number)
        if found is None:
            return
        match button:
            case Button.DIFF:
                self.diff_requested.emit(found.path, found.old, found.new)
            case Button.UNDO:
                self.undo_file_requested.emit(found.path, found.undo_to)
            case Button.RESTORE:
                self.restore_requested.emit(found.undo_to)
            case Button.TAKE_BACK:
                self.undo_requested.emit()
            case Button.REDO if found.kind is RowKind.FILE:
                # The row's own undo is the newest entry in force: taking that back is the file's redo.
                self.undo_requested.emit()
            case Button.REDO:
                self.redo_requested.emit()
            case Button.TOGGLE:
                self._model.toggle(number)
            case Button.OPEN_CHAT:
                self.open_chat_requested.emit(found.branch)
            case Button.COVERAGE if found.coverage is not None:
                menu = coverage_menu(self, found.button_name(Button.COVERAGE), found.coverage)
                menu.popup(self.viewport().mapToGlobal(self.button_rect(number, button).bottomLeft() + QPoint(0, 4)))
            case _:
                pass

    def review(self, row: TimelineRow, *, since: bool = False) -> None:
        """Show all that a turn changed, or with ``since`` all that changed from there on; nothing for a row without a point."""
        turn = row.kind is RowKind.TURN
        if row.kind not in _OF_A_POINT or not (row.number or row.kind is RowKind.PIN):
            return
        old = BeforeTurn(row.number) if turn else AtEntry(row.number) if row.kind is RowKind.ENTRY else row.undo_to
        ended = turn and row.running_since < 0 and not since
        self.review_requested.emit(old, AfterTurn(row.number) if ended else Now())

    def _copy(self, path: WorkspacePath) -> None:
        QGuiApplication.clipboard().setText(shown_path(path))

    def _pin(self, point: Point) -> None:
        pins = self._model.beside.pins
        self.pin_requested.emit(point, next((pin.name for pin in pins if pin.point == point), ""))

    def _restore(self, point: Point) -> None:
        if not self._why_not_restore():
            self.restore_requested.emit(point)

    def _why_not_restore(self) -> str:
        timeline = self._model.timeline
        if timeline is not None and not timeline.workspace_found:
            return tr("The workspace was not found where it was.")
        return self._model.held

    # What `ButtonList` asks.

    def main_button(self, row: TimelineRow) -> Button | None:
        """What Enter does when no button was chosen."""
        order = (Button.DIFF, Button.RESTORE, Button.TOGGLE, Button.TAKE_BACK, Button.REDO, Button.COVERAGE)
        return next((button for button in order if button in row.buttons), None)

    def opens(self, number: int, row: TimelineRow) -> bool:
        """A turn opens as a review."""
        if row.kind is RowKind.TURN:
            self.review(row)
        return row.kind is RowKind.TURN

    def row_actions(self, number: int, row: TimelineRow) -> Mapping[str, Callable[[], None]]:
        """What the keys for rows do here."""
        found: dict[str, Callable[[], None]] = {}
        path, point, change = row.path, row.point, row.change
        if path is not None and change is not None:
            found[row_keys.UNDO] = lambda: self.act(number, Button.UNDO)
            found[row_keys.COPY_PATH] = lambda: self._copy(path)
            found[row_keys.EDITOR] = lambda: self.editor_requested.emit(path, change.after)
        if point is not None:
            found[row_keys.RESTORE] = lambda: self._restore(point)
        return found

    def other_key(self, number: int, row: TimelineRow, event: QKeyEvent) -> bool:
        """Space opens and closes; F2 and Delete are for pinned points."""
        if event.key() == Qt.Key.Key_Space and Button.TOGGLE in row.buttons:
            self.act(number, Button.TOGGLE)
        elif event.key() == Qt.Key.Key_F2 and row.kind is RowKind.PIN:
            self._pin(row.undo_to)
        elif event.key() == Qt.Key.Key_Delete and row.kind is RowKind.PIN:
            self.unpin_requested.emit(row.undo_to)
        else:
            return False
        return True

    def steps_out(self, number: int, row: TimelineRow, step: int) -> None:
        """Right opens what is closed, Left closes what is open."""
        if Button.TOGGLE in row.buttons and row.open is (step < 0):
            self.act(number, Button.TOGGLE)

    def is_open(self, row: TimelineRow) -> bool | None:
        """Whether the files of a group are shown."""
        return row.open if Button.TOGGLE in row.buttons else None

    def tip(self, row: TimelineRow) -> str:
        """What was cut off."""
        if row.kind is RowKind.TURN:
            return row.prompt
        if row.kind is RowKind.NOW:
            return row.detail
        return row.title if row.kind in (RowKind.FILE, RowKind.PIN) else ""

    def button_tip(self, row: TimelineRow, button: Button) -> str:
        """Why a button is off, or its phrase and its keys."""
        if button is Button.TOGGLE:
            return row.title if row.kind in (RowKind.BETWEEN, RowKind.ENTRY) else ""
        text = super().button_tip(row, button)
        if button is Button.UNDO and not self.rows.why_off(row, button):
            return f"{text} · {row_keys.keys_of(row_keys.UNDO)}"
        return text

    def menu(self, number: int, row: TimelineRow) -> QMenu | None:
        """The menu of a file, a turn, a restore or a pinned point."""
        chooser = Chooser(
            act=lambda button: self.act(number, button),
            is_off=lambda button: bool(self.rows.why_off(row, button)),
            review=lambda since: self.review(row, since=since),
            restore=self._restore,
            why_not_restore=self._why_not_restore(),
            pin=self._pin,
            unpin=self.unpin_requested.emit,
            copy=self._copy,
            editor=self.editor_requested.emit,
            writers=self.writers_requested.emit,
        )
        theme = self.hub.theme
        if row.kind is RowKind.FILE and row.path is not None:
            return file_menu(self, theme, row, chooser)
        return point_menu(self, theme, row, chooser, pins=self._model.beside.pins) if row.kind in _OF_A_POINT else None


def _done(rows: Iterable[TimelineRow]) -> dict[Key, bool]:
    """Whether what files and restores did is undone, by row."""
    return {row.key: row.undone for row in rows if row.kind in (RowKind.FILE, RowKind.ENTRY)}
