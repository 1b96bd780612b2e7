"""Painted lists with buttons for assistive technology: each row says what it is, and has its buttons as children.

Nothing is made before it is asked for. UI thread only.
"""

from enum import StrEnum
from functools import cache
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget
from shiboken6 import isValid

from vibekit_desktop.ui.views.button_list import Aim, ButtonList

AnyList = ButtonList[Any, Any]
"""One of any rows: what a face asks, all of them answer."""


class ListFace(QAccessibleWidget):
    """The list, or the tree. Invariant: it has as many children as its model has rows."""

    def __init__(self, view: AnyList) -> None:
        role = QAccessible.Role.Tree if view.is_tree else QAccessible.Role.List
        super().__init__(view, role, view.accessibleName())
        self._view = view
        self._rows: dict[int, RowFace] = {}

    def childCount(self) -> int:
        """How many rows there are."""
        return self._view.model().rowCount() if isValid(self._view) else 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """One row."""
        if not 0 <= index < self.childCount():
            return None
        if index not in self._rows:
            self._rows[index] = RowFace(self._view, index)
        return self._rows[index]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """Which row an interface stands for."""
        return child.index if isinstance(child, RowFace) else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """The row at a place on the screen."""
        viewport = self._view.viewport()
        point = viewport.mapFromGlobal(QPoint(x, y))
        return self.child(self._view.indexAt(point).row()) if viewport.rect().contains(point) else None

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """The current row, or the button in it that the keyboard is on."""
        aim = self._view.focused if self._view.hasFocus() else Aim(-1, None)
        row = self.child(aim.row)
        if isinstance(row, RowFace) and aim.button is not None:
            return row.of_button(aim.button)
        return row


class _Face(QAccessibleInterface):
    """What rows and buttons have in common. It stays as long as the program runs: Qt may ask for it by its number after the
    view is gone."""

    _kept: "list[_Face]" = []

    def __init__(self, view: AnyList, index: int) -> None:
        super().__init__()
        self._view = view
        self.index = index
        self._kept.append(self)

    def _row(self) -> object | None:
        return self._view.rows.row_at(self.index) if isValid(self._view) else None

    def _model_index(self) -> QModelIndex:
        return self._view.model().index(self.index, 0)

    def isValid(self) -> bool:
        """Whether the view still has this row."""
        return self._row() is not None

    def object(self) -> QObject | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """It is painted: there is no object."""
        return None

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """No parts."""
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """No parts."""
        return None

    def childCount(self) -> int:
        """No parts."""
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """No parts."""
        return -1

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """It is only read."""


class RowFace(_Face):
    """One row."""

    def __init__(self, view: AnyList, index: int) -> None:
        super().__init__(view, index)
        self._buttons: dict[StrEnum, ButtonFace] = {}

    def _names(self) -> tuple[StrEnum, ...]:
        row = self._row()
        return self._view.rows.buttons_of(row) if row is not None else ()

    def of_button(self, button: StrEnum) -> "ButtonFace":
        """The part that stands for a button."""
        if button not in self._buttons:
            self._buttons[button] = ButtonFace(self._view, self.index, button)
        return self._buttons[button]

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """The list."""
        return QAccessible.queryAccessibleInterface(self._view) if isValid(self._view) else None

    def childCount(self) -> int:
        """How many buttons it has."""
        return len(self._names())

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """One button."""
        names = self._names()
        return self.of_button(names[index]) if 0 <= index < len(names) else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """Which button an interface stands for."""
        names = self._names()
        return names.index(child.button) if isinstance(child, ButtonFace) and child.button in names else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """The button at a place on the screen."""
        return next(
            (face for number in range(self.childCount()) if (face := self.child(number)) and face.rect().contains(x, y)), None
        )

    def text(self, kind: QAccessible.Text) -> str:
        """Its whole phrase as its name."""
        if kind != QAccessible.Text.Name or not self.isValid():
            return ""
        return str(self._model_index().data(int(Qt.ItemDataRole.AccessibleTextRole)) or "")

    def rect(self) -> QRect:
        """Where it is on the screen."""
        if not self.isValid():
            return QRect()
        place = self._view.visualRect(self._model_index())
        return QRect(self._view.viewport().mapToGlobal(place.topLeft()), place.size())

    def role(self) -> QAccessible.Role:
        """A row of a list or a tree."""
        return QAccessible.Role.TreeItem if isValid(self._view) and self._view.is_tree else QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        """Which one is current, which are out of sight, which are open."""
        state = QAccessible.State()
        row = self._row()
        if row is None:
            return state
        index = self._model_index()
        state.focusable = state.selectable = True
        state.selected = self._view.selectionModel().isSelected(index)
        state.focused = self._view.hasFocus() and self._view.focused == Aim(self.index, None)
        state.offscreen = not self._view.viewport().rect().intersects(self._view.visualRect(index))
        is_open = self._view.is_open(row)
        state.expandable = is_open is not None
        state.expanded = is_open is True
        state.collapsed = is_open is False
        return state


class ButtonFace(_Face):
    """One painted button of a row."""

    def __init__(self, view: AnyList, index: int, button: StrEnum) -> None:
        super().__init__(view, index)
        self.button = button

    def isValid(self) -> bool:
        """Whether the row still has this button."""
        row = self._row()
        return row is not None and self.button in self._view.rows.buttons_of(row)

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """The row."""
        face = QAccessible.queryAccessibleInterface(self._view) if isValid(self._view) else None
        return face.child(self.index) if face is not None else None

    def text(self, kind: QAccessible.Text) -> str:
        """Its whole phrase as its name; why it is off as its description."""
        row = self._row()
        if row is None:
            return ""
        if kind == QAccessible.Text.Name:
            return self._view.rows.button_name(row, self.button)
        return self._view.rows.why_off(row, self.button) if kind == QAccessible.Text.Description else ""

    def rect(self) -> QRect:
        """Where it is on the screen."""
        if not self.isValid():
            return QRect()
        place = self._view.button_rect(self.index, self.button)
        return QRect(self._view.viewport().mapToGlobal(place.topLeft()), place.size())

    def role(self) -> QAccessible.Role:
        """A button."""
        return QAccessible.Role.Button

    def state(self) -> QAccessible.State:
        """Whether the keyboard is on it, and whether it is off."""
        state = QAccessible.State()
        row = self._row()
        if row is None:
            return state
        state.focusable = True
        state.focused = self._view.hasFocus() and self._view.focused == Aim(self.index, self.button)
        state.disabled = bool(self._view.rows.why_off(row, self.button))
        return state


@cache
def install() -> None:
    """Give every list with painted buttons its face from now on."""
    QAccessible.installFactory(_face)


def _face(_name: str, thing: QObject | None) -> QAccessibleInterface | None:
    return ListFace(thing) if isinstance(thing, ButtonList) else None


def say_focus(view: AnyList) -> None:
    """Tell assistive technology that the keyboard is on another row, or on another button of it."""
    if QAccessible.isActive() and view.focused.row >= 0:
        event = QAccessibleEvent(view, QAccessible.Event.Focus)
        event.setChild(view.focused.row)
        QAccessible.updateAccessibility(event)
