"""A painted list whose rows have buttons: what is under the pointer, what the keyboard is on, what is pressed.

The list is one stop for the keyboard: Up and Down walk the rows, Left and Right the row's buttons, Enter does what the button
says, or the row's main one if none is chosen. What a button does is up to the list that is made of this. UI thread only.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QStyledItemDelegate, QToolTip, QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.row_keys import row_action

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)
B = TypeVar("B", bound=StrEnum)


class Aim(NamedTuple):
    """What the pointer or the keyboard is on: a row, and a button in it or None."""

    row: int
    button: StrEnum | None


NOTHING = Aim(-1, None)


class ButtonModel(Protocol[R, B]):
    """What the list asks a model of rows with buttons."""

    def row_at(self, row: int) -> R | None: ...
    def buttons_of(self, row: R) -> tuple[B, ...]: ...
    def button_name(self, row: R, button: B) -> str: ...
    def why_off(self, row: R, button: B) -> str: ...


class RowPlaces(Protocol[R_contra, B]):
    """Where things are in a row: the part that takes clicks, and its buttons in the order of Left and Right."""

    def body(self, row: R_contra, box: QRectF) -> QRectF: ...
    def buttons(self, row: R_contra, box: QRectF) -> list[tuple[B, QRectF]]: ...


class ButtonDelegate(QStyledItemDelegate):
    """Paints the rows. The list tells what is under the pointer (``hover``, ``down``) and, once the keyboard was used, what the
    keyboard is on (``focus``)."""

    def __init__(self) -> None:
        super().__init__()
        self.hover = NOTHING
        self.down = NOTHING
        self.focus = NOTHING


class ButtonList(PaintedList, Generic[R, B]):
    """Signals: ``button_pressed(row, button)``: a button that is not off; ``focus_moved()``: the keyboard is on another row, or
    on another button.

    Invariant: a button that is off does nothing, however it is pressed."""

    button_pressed = Signal(int, object)
    focus_moved = Signal()

    _STEPS: ClassVar = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}

    def __init__(
        self,
        hub: ThemeHub,
        model: QAbstractItemModel,
        rows: ButtonModel[R, B],
        places: RowPlaces[R, B],
        delegate: ButtonDelegate,
        *,
        name: str,
        batch: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        """``rows`` is the ``model`` as the one that knows the buttons."""
        self.hub = hub
        self.rows = rows
        self._places = places
        self._painter = delegate
        self._chosen: B | None = None
        super().__init__(hub, model, delegate, name=name, batch=batch, parent=parent)

    # What a list that is made of this may say of its rows.

    def main_button(self, row: R) -> B | None:
        """What Enter and a double click do when no button was chosen."""
        return next(iter(self.rows.buttons_of(row)), None)

    def tip(self, row: R) -> str:
        """What a tool tip says of a row, apart from its buttons."""
        return ""

    def button_tip(self, row: R, button: B) -> str:
        """What a tool tip says of a button: why it is off, or its whole phrase."""
        return self.rows.why_off(row, button) or self.rows.button_name(row, button)

    def opens(self, number: int, row: R) -> bool:
        """Enter or a double click on the row itself; whether that was all that is to be done."""
        return False

    def walked(self, row: R) -> tuple[B, ...]:
        """The buttons that Left and Right walk; a row that only opens and closes does that by these keys."""
        return self.rows.buttons_of(row) if self.is_open(row) is None else self.rows.buttons_of(row)[1:]

    def steps_out(self, number: int, row: R, step: int) -> None:
        """Left or Right with nothing more to walk to on that side."""

    def row_actions(self, number: int, row: R) -> Mapping[str, Callable[[], None]]:
        """What the keys of the table for rows (`row_keys`) do in a row, by the ids of the actions."""
        return {}

    def other_key(self, number: int, row: R, event: QKeyEvent) -> bool:
        """Any other key; whether it was used."""
        return False

    def menu(self, number: int, row: R) -> QMenu | None:
        """The menu of a row, or None."""
        return None

    def is_open(self, row: R) -> bool | None:
        """Whether a row that opens and closes is open; None for any other."""
        return None

    @property
    def is_tree(self) -> bool:
        """Whether rows stand inside of others."""
        return False

    # What is where.

    def aim_at(self, point: QPointF) -> Aim:
        """The row and the button at a position in the viewport."""
        index = self.indexAt(point.toPoint())
        row = self.rows.row_at(index.row()) if index.isValid() else None
        if row is None:
            return NOTHING
        box = QRectF(self.visualRect(index))
        for button, place in self._places.buttons(row, box):
            if place.contains(point):
                return Aim(index.row(), button)
        return Aim(index.row() if self._places.body(row, box).contains(point) else -1, None)

    def button_rect(self, number: int, button: B) -> QRect:
        """Where a button is in the viewport; empty if the row has no such button."""
        row = self.rows.row_at(number)
        if row is None:
            return QRect()
        box = QRectF(self.visualRect(self.model().index(number, 0)))
        places = self._places.buttons(row, box)
        return next((place.toAlignedRect() for which, place in places if which is button), QRect())

    @property
    def focused(self) -> Aim:
        """The row and the button that the keyboard is on."""
        return Aim(self.currentIndex().row(), self._chosen)

    # Doing.

    def act(self, number: int, button: B | None) -> None:
        """Do what a button says; nothing if it is off or the row has no such button."""
        row = self.rows.row_at(number)
        if (
            row is not None
            and button is not None
            and button in self.rows.buttons_of(row)
            and not self.rows.why_off(row, button)
        ):
            self.button_pressed.emit(number, button)

    def _open(self, number: int, row: R) -> None:
        if not self.opens(number, row):
            self.act(number, self.main_button(row))

    # Qt's names below.

    def currentChanged(
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().currentChanged(current, previous)
        self._chosen = None
        if self._painter.focus.row >= 0:
            self._painter.focus = Aim(current.row(), None)
        self.viewport().update()
        self.focus_moved.emit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and row_action(event):
            number = self.currentIndex().row()
            row = self.rows.row_at(number)
            if row is not None and row_action(event) in self.row_actions(number, row):
                event.accept()  # the row's own meaning of these keys comes before the window's
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        number = self.currentIndex().row()
        row = self.rows.row_at(number)
        if row is None or not self._row_key(number, row, event):
            super().keyPressEvent(event)
        self._painter.focus = self.focused
        self.viewport().update()

    def _row_key(self, number: int, row: R, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        action = self.row_actions(number, row).get(row_action(event))
        if action is not None:
            action()
            return True
        if plain and key in self._STEPS:
            self._step(number, row, self._STEPS[key])
            return True
        if plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._chosen is None:
                self._open(number, row)
            else:
                self.act(number, self._chosen)
            return True
        return self.other_key(number, row, event)

    def _step(self, number: int, row: R, step: int) -> None:
        stops: list[B | None] = [None, *self.walked(row)]
        position = stops.index(self._chosen) if self._chosen in stops else 0
        wanted = position + step
        if 0 <= wanted < len(stops):
            self._chosen = stops[wanted]
            self.focus_moved.emit()
        else:
            self.steps_out(number, row, step)

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            if not self.currentIndex().isValid() and self.model().rowCount():
                self.setCurrentIndex(self.model().index(0, 0))
            self._painter.focus = self.focused
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._painter.focus = NOTHING
        super().focusOutEvent(event)
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._painter.focus = NOTHING
        aim = self.aim_at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and aim.button is not None:
            self._painter.down = aim
            self.viewport().update()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        down, self._painter.down = self._painter.down, NOTHING
        self.viewport().update()
        super().mouseReleaseEvent(event)
        if down.button is not None and self.aim_at(event.position()) == down:
            self._press_at(down)

    def _press_at(self, aim: Aim) -> None:
        row = self.rows.row_at(aim.row)
        if row is not None:
            self.act(aim.row, next((button for button in self.rows.buttons_of(row) if button is aim.button), None))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        aim = self.aim_at(event.position())
        if aim.button is not None:
            # The second press of two quick clicks on a button is a press like the first.
            self.mousePressEvent(event)
            return
        super().mouseDoubleClickEvent(event)
        row = self.rows.row_at(aim.row)
        if row is not None and event.button() is Qt.MouseButton.LeftButton:
            self._open(aim.row, row)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.aim_at(event.position()))
        if self._painter.down is NOTHING:
            super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(NOTHING)
        super().leaveEvent(event)

    def _hover(self, aim: Aim) -> None:
        if aim != self._painter.hover:
            self._painter.hover = aim
            self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            aim = self.aim_at(QPointF(event.pos()))
            row = self.rows.row_at(aim.row)
            text = ""
            if row is not None:
                button = next((one for one in self.rows.buttons_of(row) if one is aim.button), None)
                text = self.tip(row) if button is None else self.button_tip(row, button)
            QToolTip.showText(event.globalPos(), plain_tip(text), self.viewport())
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_keys = event.reason() is QContextMenuEvent.Reason.Keyboard
        aim = self.aim_at(QPointF(event.pos()))
        number = aim.row if aim.row >= 0 and not by_keys else self.currentIndex().row()
        row = self.rows.row_at(number)
        menu = self.menu(number, row) if row is not None else None
        if menu is None:
            return
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        place = event.globalPos()
        if by_keys:
            place = self.viewport().mapToGlobal(self.visualRect(self.model().index(number, 0)).topLeft() + QPoint(48, 24))
        menu.popup(place)
