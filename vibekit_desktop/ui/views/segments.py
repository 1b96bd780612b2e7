"""A switch of a few words or icons, one of which is on; and a button that opens a menu.

Ordinary buttons for keyboard and assistive technology, painted from the tokens. UI thread only.
"""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QMenu, QSizePolicy, QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text

_INSET = 2


class Segment(NamedTuple):
    """One choice: its words (may be empty), its icon (may be empty), its whole phrase, and whether it opens a menu."""

    text: str
    icon: str = ""
    name: str = ""
    menu: bool = False


class _Piece(QAbstractButton):
    """One choice of a `Segments`."""

    def __init__(self, hub: ThemeHub, segment: Segment, *, small: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._small = small
        self.segment = segment
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_text(segment.text)

    def set_text(self, text: str) -> None:
        """Say something else."""
        self.setText(text.replace("&", "&&"))
        self.segment = self.segment._replace(text=text)
        self.setAccessibleName(self.segment.name or text)
        if not text:
            self.setToolTip(plain_tip(self.segment.name))
        self.updateGeometry()
        self.update()

    def _style(self) -> str:
        return "small" if self._small else "body"

    def _icon_size(self) -> int:
        return 14 if self._small else 16

    def sizeHint(self) -> QSize:
        theme = self._hub.theme
        width = 18.0 if self._small else 20.0
        if self.segment.text:
            width += theme.metrics(self._style(), weight=500).horizontalAdvance(self.segment.text)
        if self.segment.icon:
            width += self._icon_size() + (6 if self.segment.text else 0)
        if self.segment.menu:
            width += 20
        return QSize(round(width + 0.5), round((20 if self._small else 24) * max(1.0, theme.zoom)))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        if self.isChecked():
            rounded(
                painter,
                QRectF(self.rect()),
                theme.radius("small"),
                fill=theme.color("bg.button"),
                line=theme.color("line.strong"),
            )
        token = "text.disabled" if not self.isEnabled() else "text.primary" if self.isChecked() else "text.secondary"
        if self.underMouse() and self.isEnabled():
            token = "text.primary"
        x = 9 if self._small else 10
        size = self._icon_size()
        if self.segment.icon:
            draw_icon(painter, theme, self.segment.icon, token, x, (self.height() - size) // 2, size)
            x += size + 6
        if self.segment.text:
            box = QRectF(x, 0, self.width() - x, self.height())
            width = draw_text(painter, theme, box, self.segment.text, style=self._style(), weight=500, token=token, elide=None)
            x += round(width) + 6
        if self.segment.menu:
            draw_icon(painter, theme, "chevron-down", "text.secondary", x, (self.height() - 14) // 2, 14)


class Segments(QWidget):
    """One of a few. ``chosen(index)``: the person chose; ``menu_wanted(index)``: they pressed the one that was on and has a
    menu."""

    chosen = Signal(int)
    menu_wanted = Signal(int)

    def __init__(
        self, hub: ThemeHub, segments: Sequence[Segment], *, name: str, small: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._group = QButtonGroup(self)
        self._pieces: list[_Piece] = []
        self._index = 0
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_INSET, _INSET, _INSET, _INSET)
        layout.setSpacing(0)
        for number, segment in enumerate(segments):
            piece = _Piece(hub, segment, small=small, parent=self)
            self._group.addButton(piece, number)
            self._pieces.append(piece)
            layout.addWidget(piece)
        self._pieces[0].setChecked(True)
        self._group.idClicked.connect(self._clicked)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        for piece in self._pieces:
            piece.updateGeometry()
        self.update()

    @property
    def index(self) -> int:
        """Which one is on."""
        return self._index

    def set_index(self, index: int) -> None:
        """Switch without saying so."""
        self._index = index
        self._pieces[index].setChecked(True)

    def set_text(self, index: int, text: str) -> None:
        """Other words on one of them."""
        self._pieces[index].set_text(text)

    def piece(self, index: int) -> QAbstractButton:
        """The button of one of them."""
        return self._pieces[index]

    def _clicked(self, index: int) -> None:
        if index == self._index:
            if self._pieces[index].segment.menu:
                self.menu_wanted.emit(index)
            return
        self._index = index
        self.chosen.emit(index)

    # Qt's names below.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not step:
            super().keyPressEvent(event)
            return
        index = max(0, min(len(self._pieces) - 1, self._index + step))
        self._pieces[index].setFocus(Qt.FocusReason.TabFocusReason)
        if index != self._index:
            self.set_index(index)
            self.chosen.emit(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        rounded(QPainter(self), QRectF(self.rect()), theme.radius("control"), fill=theme.color("bg.chip"))


class PickButton(QAbstractButton):
    """A button with a chevron that opens a menu of choices. ``picked(value)``: what was given with the choice."""

    picked = Signal(object)

    def __init__(self, hub: ThemeHub, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._name = name
        self._choices: list[tuple[str, object]] = []
        self._value: object = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(self._open)
        hub.changed.connect(self.updateGeometry)

    def set_choices(self, choices: Sequence[tuple[str, object]], value: object) -> None:
        """The menu's words with their values; ``value`` is the present one."""
        self._choices = list(choices)
        self._value = value
        text = next((words for words, each in self._choices if each == value), "")
        self.setText(text)
        self.setAccessibleName(f"{self._name}: {text}")
        self.updateGeometry()
        self.update()

    def _open(self) -> None:
        pop_up(self, self._choices, self._value, self.picked.emit)

    def sizeHint(self) -> QSize:
        theme = self._hub.theme
        width = theme.metrics("body", weight=500).horizontalAdvance(self.text()) + 42
        return QSize(round(width + 0.5), theme.size("control"))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        fill = "bg.pressed" if self.isDown() else "bg.button-hover" if self.underMouse() else "bg.button"
        box = QRectF(self.rect())
        rounded(painter, box, theme.radius("control"), fill=theme.color(fill), line=theme.color("line.strong"))
        draw_text(painter, theme, box.adjusted(11, 0, -24, 0), self.text(), weight=500, elide=None)
        draw_icon(painter, theme, "chevron-down", "text.secondary", self.width() - 25, (self.height() - 14) // 2, 14)


def pop_up(anchor: QWidget, choices: Sequence[tuple[str, object]], value: object, picked: object) -> QMenu:
    """A menu under ``anchor`` with the present choice ticked; ``picked`` is called with the value chosen."""
    menu = QMenu(anchor)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for words, each in choices:
        action = QAction(words.replace("&", "&&"), menu)
        action.setCheckable(True)
        action.setChecked(each == value)
        action.triggered.connect(lambda _=False, chosen=each: picked(chosen) if callable(picked) else None)
        menu.addAction(action)
    menu.popup(anchor.mapToGlobal(QPoint(0, anchor.height() + 4)))
    return menu
