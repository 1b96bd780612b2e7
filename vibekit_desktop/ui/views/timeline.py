"""The timeline of the inspector: what every turn changed, with Diff and Undo beside each file.

Paints a `TimelineModel` and emits intents; computes nothing about files. One stop for the keyboard: Up and Down walk the rows,
Left and Right the row's buttons, Enter does what the button says (Diff, if none is chosen; of a turn, its review). UI thread
only.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QGuiApplication, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from vibekit_desktop.core.types.checkpoints import AfterTurn, AtEntry, BeforeTurn, Now
from vibekit_desktop.ui.models.timeline import TimelineModel
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind, TimelineRow
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.views.timeline_paint import NOTHING, Aim, TimelineDelegate
from vibekit_desktop.ui.when import local_now_ms
from vibekit_desktop.ui.wording import doubt_text, shown_path, size_text, skip_text

_BATCH = 300


class TimelineView(PaintedList):
    """Signals: ``diff_requested(path, old point, new point)``, ``undo_file_requested(path, point)``,
    ``restore_requested(point)``, ``undo_requested()``, ``redo_requested()``, ``open_chat_requested(chat)``,
    ``review_requested(old point, new point)``."""

    diff_requested = Signal(object, object, object)
    undo_file_requested = Signal(object, object)
    restore_requested = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()
    open_chat_requested = Signal(object)
    review_requested = Signal(object, object)

    _STEPS: ClassVar = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}

    def __init__(
        self,
        hub: ThemeHub,
        model: TimelineModel,
        parent: QWidget | None = None,
        *,
        now_ms: Callable[[], int] = local_now_ms,
    ) -> None:
        self._delegate = TimelineDelegate(hub, model)
        super().__init__(hub, model, self._delegate, name=tr("Timeline"), batch=_BATCH, parent=parent)
        self._hub = hub
        self._model = model
        self._chosen: Button | None = None
        self.pulse = self._delegate.pulse = Pulse(hub, self.viewport(), now_ms)
        self.verticalScrollBar().setSingleStep(hub.theme.size("row-file"))

    # What is where.

    def aim_at(self, point: QPointF) -> Aim:
        """The row and the button at a position in the viewport."""
        index = self.indexAt(point.toPoint())
        row = self._model.row_at(index.row()) if index.isValid() else None
        if row is None:
            return NOTHING
        box = QRectF(self.visualRect(index))
        for button, place in self._delegate.places.buttons(row, box):
            if place.contains(point):
                return Aim(index.row(), button)
        return Aim(index.row() if self._delegate.places.body(row, box).contains(point) else -1, None)

    def button_rect(self, row: int, button: Button) -> QRect:
        """Where a button is in the viewport; empty if the row has no such button."""
        found = self._model.row_at(row)
        if found is None:
            return QRect()
        for which, place in self._delegate.places.buttons(found, QRectF(self.visualRect(self._model.index(row)))):
            if which is button:
                return place.toAlignedRect()
        return QRect()

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

    # Doing.

    def act(self, row: int, button: Button) -> None:
        """Do what a button says; nothing if it is off."""
        found = self._model.row_at(row)
        if found is None or button not in found.buttons or self._model.is_off(found, button):
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
                self._model.toggle(row)
            case Button.OPEN_CHAT:
                self.open_chat_requested.emit(found.branch)
            case Button.COVERAGE:
                self._show_coverage(row, found)

    def review(self, row: TimelineRow, *, since: bool = False) -> None:
        """Show all that a turn changed, or with ``since`` all that changed from there on; nothing for a row without a point."""
        turn = row.kind is RowKind.TURN
        if not row.number or row.kind not in (RowKind.TURN, RowKind.RESTORE, RowKind.ENTRY):
            return
        old = BeforeTurn(row.number) if turn else AtEntry(row.number) if row.kind is RowKind.ENTRY else row.undo_to
        ended = turn and row.running_since < 0 and not since
        self.review_requested.emit(old, AfterTurn(row.number) if ended else Now())

    def _show_coverage(self, number: int, row: TimelineRow) -> None:
        if row.coverage is None:
            return
        menu = QMenu(self)
        menu.setAccessibleName(row.button_name(Button.COVERAGE))
        for reason in dict.fromkeys(skipped.reason for skipped in row.coverage.skipped if not skipped.path):
            menu.addAction(doubt_text(reason))
        for skipped in [skipped for skipped in row.coverage.skipped if skipped.path][:40]:
            size = f", {size_text(skipped.size)}" if skipped.size else ""
            text = f"{shown_path(skipped.path)}: {skip_text(skipped.reason)}{size}"
            action = menu.addAction(text.replace("&", "&&"))
            action.setToolTip(tr("Copy path"))
            action.triggered.connect(lambda _=False, path=skipped.path: QGuiApplication.clipboard().setText(shown_path(path)))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(self.button_rect(number, Button.COVERAGE).bottomLeft() + QPoint(0, 4)))

    # Qt's names below.

    def currentChanged(
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().currentChanged(current, previous)
        self._chosen = None
        if self._delegate.focus.row >= 0:
            self._delegate.focus = Aim(current.row(), None)
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        number = self.currentIndex().row()
        row = self._model.row_at(number)
        key = Qt.Key(event.key())
        if row is not None and key in self._STEPS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self._step(row, self._STEPS[key])
        elif row is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if row.kind is RowKind.TURN and self._chosen is None:
                self.review(row)
            else:
                self.act(number, self._chosen or _main_button(row))
        elif row is not None and key == Qt.Key.Key_Space and Button.TOGGLE in row.buttons:
            self.act(number, Button.TOGGLE)
        elif row is not None and key == Qt.Key.Key_Backspace and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.act(number, Button.UNDO)
        else:
            super().keyPressEvent(event)
        self._delegate.focus = Aim(self.currentIndex().row(), self._chosen)
        self.viewport().update()

    def _step(self, row: TimelineRow, step: int) -> None:
        stops: list[Button | None] = [None, *row.buttons]
        position = stops.index(self._chosen) if self._chosen in stops else 0
        self._chosen = stops[max(0, min(len(stops) - 1, position + step))]

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            if not self.currentIndex().isValid() and self._model.rowCount():
                self.setCurrentIndex(self._model.index(0))
            self._delegate.focus = Aim(self.currentIndex().row(), self._chosen)
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._delegate.focus = NOTHING
        super().focusOutEvent(event)
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._delegate.focus = NOTHING
        aim = self.aim_at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and aim.button is not None:
            self._delegate.down = aim
            self.viewport().update()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        down, self._delegate.down = self._delegate.down, NOTHING
        self.viewport().update()
        super().mouseReleaseEvent(event)
        if down.button is not None and self.aim_at(event.position()) == down:
            self.act(down.row, down.button)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        aim = self.aim_at(event.position())
        if aim.button is not None:
            # The second press of two quick clicks on a button is a press like the first.
            self.mousePressEvent(event)
            return
        super().mouseDoubleClickEvent(event)
        row = self._model.row_at(aim.row)
        if row is not None and row.kind is RowKind.TURN:
            self.review(row)
        elif row is not None and Button.DIFF in row.buttons:
            self.act(aim.row, Button.DIFF)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.aim_at(event.position()))
        if self._delegate.down is NOTHING:
            super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(NOTHING)
        super().leaveEvent(event)

    def _hover(self, aim: Aim) -> None:
        if aim != self._delegate.hover:
            self._delegate.hover = aim
            self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            aim = self.aim_at(QPointF(event.pos()))
            row = self._model.row_at(aim.row)
            text = ""
            if row is not None and aim.button is not None and aim.button is not Button.TOGGLE:
                text = self._model.why_off(row, aim.button) or row.button_name(aim.button)
            elif row is not None and row.kind is RowKind.FILE:
                text = row.title
            elif row is not None and row.kind is RowKind.TURN:
                text = row.prompt
            QToolTip.showText(event.globalPos(), plain_tip(text), self.viewport())
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        aim = self.aim_at(QPointF(event.pos()))
        number = aim.row if aim.row >= 0 else self.currentIndex().row()
        row = self._model.row_at(number)
        if row is not None and row.kind in (RowKind.TURN, RowKind.RESTORE, RowKind.ENTRY):
            self._point_menu(row).popup(event.globalPos())
            return
        if row is None or row.kind is not RowKind.FILE or row.path is None:
            return
        path = row.path
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        theme = self._hub.theme
        for button, icon, text in (
            (Button.DIFF, "diff", tr("Show diff")),
            (Button.UNDO, "undo", tr("Undo in this file")),
            (Button.REDO, "redo", tr("Redo in this file")),
        ):
            if button in row.buttons:
                action = menu.addAction(icons.icon(theme, icon), text)
                action.setEnabled(not self._model.is_off(row, button))
                action.triggered.connect(lambda _=False, which=button: self.act(number, which))
        menu.addSeparator()
        copy = menu.addAction(icons.icon(theme, "copy"), tr("Copy path"))
        copy.triggered.connect(lambda: QGuiApplication.clipboard().setText(shown_path(path)))
        menu.popup(event.globalPos())

    def _point_menu(self, row: TimelineRow) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if row.kind is RowKind.TURN:
            menu.addAction(tr("Review turn {turn}", turn=row.number)).triggered.connect(lambda: self.review(row))
        menu.addAction(tr("Review everything since then")).triggered.connect(lambda: self.review(row, since=True))
        return menu


def _main_button(row: TimelineRow) -> Button:
    """What Enter does when no button was chosen."""
    order = (Button.DIFF, Button.RESTORE, Button.TOGGLE, Button.TAKE_BACK, Button.REDO, Button.COVERAGE)
    return next((button for button in order if button in row.buttons), Button.DIFF)
