"""A painted diff for assistive technology: a list whose rows say which line they are, what became of it and what is in it.

Nothing is made before it is asked for. UI thread only.
"""

from functools import cache

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget
from shiboken6 import isValid

from vibekit_desktop.core.types.diffs import RowKind
from vibekit_desktop.ui.models.diff_rows import DiffRows, Show
from vibekit_desktop.ui.models.diff_runs import NEW, OLD
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.views.diff import DiffView
from vibekit_desktop.ui.views.diff_folds import end_note, fold_text
from vibekit_desktop.ui.visible import show

_SPOKEN = 500


class DiffFace(QAccessibleWidget):
    """The list. Invariant: it has as many children as the view has display rows."""

    def __init__(self, view: DiffView) -> None:
        super().__init__(view, QAccessible.Role.List, view.accessibleName())
        self._view = view
        self._rows: dict[int, RowFace] = {}

    def childCount(self) -> int:
        """How many display rows there are."""
        return len(self._view.rows) if isValid(self._view) and self._view.rows is not None else 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """One display row."""
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
        viewport, rows = self._view.viewport(), self._view.rows
        point = viewport.mapFromGlobal(QPoint(x, y))
        if rows is None or not viewport.rect().contains(point):
            return None
        return self.child(rows.at(point.y() + self._view.verticalScrollBar().value()))

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """The current row, while the view has the focus."""
        return self.child(self._view.current_row) if self._view.hasFocus() else None


class RowFace(QAccessibleInterface):
    """One row. It stays as long as the program runs: Qt may ask for it by its number after the view is gone."""

    _kept: "list[RowFace]" = []

    def __init__(self, view: DiffView, index: int) -> None:
        super().__init__()
        self._view = view
        self.index = index
        self._kept.append(self)

    def isValid(self) -> bool:
        """Whether the view still has this row."""
        return isValid(self._view) and self._view.rows is not None and self.index < len(self._view.rows)

    def object(self) -> QObject | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """It is painted: there is no object."""
        return None

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """The list."""
        return QAccessible.queryAccessibleInterface(self._view) if isValid(self._view) else None

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """A row has no parts."""
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # Qt allows none; its stubs do not say so
        """A row has no parts."""
        return None

    def childCount(self) -> int:
        """A row has no parts."""
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """A row has no parts."""
        return -1

    def text(self, kind: QAccessible.Text) -> str:
        """Its words as its name."""
        if kind != QAccessible.Text.Name or not self.isValid() or self._view.rows is None:
            return ""
        return row_words(self._view.rows, self.index)

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """A diff is only read."""

    def rect(self) -> QRect:
        """Where it is on the screen."""
        if not self.isValid():
            return QRect()
        place = self._view.grab_row(self.index)
        return QRect(self._view.viewport().mapToGlobal(place.topLeft()), place.size())

    def role(self) -> QAccessible.Role:
        """A row of a list."""
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        """Which one is current, and which are out of sight."""
        state = QAccessible.State()
        if not self.isValid():
            return state
        first, last = self._view.visible_span()
        state.focusable = True
        state.focused = self._view.hasFocus() and self._view.current_row == self.index
        state.offscreen = not first <= self.index <= last
        return state


def row_words(rows: DiffRows, index: int) -> str:
    """ "line 35, deleted: rows = list"; both sides of a changed pair; what a fold bar hides."""
    match rows.kind(index):
        case Show.FOLD:
            fold = rows.fold(rows.ref(index))
            return ", ".join(part for part in (fold_text(fold), fold.heading.strip()) if part)
        case Show.END:
            return "; ".join(dict.fromkeys(note for side in (OLD, NEW) if (note := end_note(rows, side))))
    old, new = rows.sides(index)
    if new is not None and rows.row_kind(index) is RowKind.SAME:
        return tr("line {n}: {text}", n=new, text=_text(rows, NEW, new))
    words = []
    if old is not None:
        words.append(tr("line {n}, deleted: {text}", n=old, text=_text(rows, OLD, old)))
    if new is not None:
        words.append(tr("line {n}, added: {text}", n=new, text=_text(rows, NEW, new)))
    return "; ".join(words)


def _text(rows: DiffRows, side: int, line: int) -> str:
    lines = (rows.document.old if side == OLD else rows.document.new).lines
    return show(lines[line - 1][:_SPOKEN].strip()).text or tr("blank")


@cache
def install() -> None:
    """Give every diff view its face from now on."""
    QAccessible.installFactory(_face)


def _face(_name: str, thing: QObject | None) -> QAccessibleInterface | None:
    return DiffFace(thing) if isinstance(thing, DiffView) else None


def say_row(view: DiffView, index: int) -> None:
    """Tell assistive technology that another row is current."""
    if QAccessible.isActive() and index >= 0:
        event = QAccessibleEvent(view, QAccessible.Event.Focus)
        event.setChild(index)
        QAccessible.updateAccessibility(event)
