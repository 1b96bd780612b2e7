"""What an agent offers to be chosen, as buttons with menus: in the bar of the composer and as chips of the header.

Names and descriptions are the agent's words: plain, on one line, cut. UI thread only.
"""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QWidget

from vibekit_desktop.core.types.agents import AgentOption, OptionKind
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text
from vibekit_desktop.ui.visible import one_line

_NAME_CHARS = 48
ON, OFF = "true", "false"
Picked = Callable[[str, str], None]
"""Called with an option's id and the value chosen."""


def of_kind(options: Sequence[AgentOption], kind: OptionKind) -> AgentOption | None:
    """The first option of a kind that has something to choose from."""
    return next((one for one in options if one.kind is kind and one.choices), None)


def further(options: Sequence[AgentOption]) -> tuple[AgentOption, ...]:
    """What stands in the menu of further options: everything but the mode and the model."""
    shown = (of_kind(options, OptionKind.MODE), of_kind(options, OptionKind.MODEL))
    return tuple(one for one in options if one not in shown)


def value_words(option: AgentOption) -> str:
    """The name of what is chosen now."""
    found = next((one.name for one in option.choices if one.id == option.value), option.value)
    return one_line(found, _NAME_CHARS)


def fill_menu(menu: QMenu, option: AgentOption, picked: Picked) -> None:
    """Put an option's values into a menu, the present one marked."""
    group = QActionGroup(menu)
    menu.setToolTipsVisible(True)
    for one in option.choices:
        action = QAction(one_line(one.name, _NAME_CHARS).replace("&", "&&"), menu)
        action.setCheckable(True)
        action.setChecked(one.id == option.value)
        action.setToolTip(plain_tip(one_line(one.description)))
        action.triggered.connect(partial(_pick, picked, option.id, one.id))
        group.addAction(action)
        menu.addAction(action)


def fill_further(menu: QMenu, options: Sequence[AgentOption], picked: Picked) -> None:
    """Put several options into one menu: a switch for what is on or off, a menu of its own for the others."""
    menu.setToolTipsVisible(True)
    for option in options:
        name = one_line(option.name, _NAME_CHARS).replace("&", "&&")
        if option.choices:
            below = menu.addMenu(f"{name}: {value_words(option).replace('&', '&&')}")
            fill_menu(below, option, picked)
            continue
        action = QAction(name, menu)
        action.setCheckable(True)
        action.setChecked(option.value == ON)
        action.setToolTip(plain_tip(one_line(option.description)))
        action.triggered.connect(partial(_pick, picked, option.id, OFF if option.value == ON else ON))
        menu.addAction(action)


def _pick(picked: Picked, option: str, value: str, _checked: bool = False) -> None:
    picked(option, value)


class Pick(QAbstractButton):
    """A choice in the bar of the composer: icon, what is chosen, a chevron; a click opens the menu. ``picked(option, value)``.

    Hidden while there is nothing to choose."""

    picked = Signal(str, str)

    def __init__(self, hub: ThemeHub, icon: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._icon = icon
        self._name = name
        self._option: AgentOption | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(self.open_menu)
        self.hide()

    def set_option(self, option: AgentOption | None) -> None:
        """What can be chosen, or that nothing can."""
        self._option = option
        self.setVisible(option is not None)
        if option is not None:
            self.setText(value_words(option))
            self.setAccessibleName(tr("{name}: {value}", name=self._name, value=self.text()))
            self.updateGeometry()
            self.update()

    def menu(self) -> QMenu:
        """The menu; a fresh one at every call."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._option is not None:
            fill_menu(menu, self._option, self.picked.emit)
        return menu

    def open_menu(self) -> None:
        """Open the menu over the button."""
        if self._option is not None and self.isEnabled():
            menu = self.menu()
            menu.popup(self.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))

    def wanted_width(self) -> int:
        """How wide it is with all of its words."""
        return round(8 + 16 + 6 + self._hub.theme.metrics("small", weight=500).horizontalAdvance(self.text()) + 6 + 14 + 8.5)

    # Qt's names below.

    def sizeHint(self) -> QSize:
        return QSize(self.wanted_width(), self._hub.theme.size("control"))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        if self.isDown() or (self.underMouse() and self.isEnabled()):
            fill = "bg.pressed" if self.isDown() else "bg.hover"
            rounded(painter, QRectF(self.rect()), theme.radius("control"), fill=theme.color(fill))
        middle = self.height() // 2
        draw_icon(painter, theme, self._icon, "text.secondary", 8, middle - 8)
        box = QRectF(30, 0, self.width() - 30 - 28, self.height())
        draw_text(painter, theme, box, self.text(), style="small", weight=500, token="text.secondary")
        draw_icon(painter, theme, "chevron-down", "text.secondary", self.width() - 22, middle - 7, 14)


class ChipButton(QAbstractButton):
    """A fact in a grey box of 20 px that can be pressed for a menu: icon and text."""

    def __init__(self, hub: ThemeHub, icon: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._icon = icon
        self._name = name
        self._pressable = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.set_text("", pressable=False)
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.updateGeometry()
        self.update()

    def set_text(self, text: str, *, pressable: bool) -> None:
        """Say another fact; ``pressable``: there is something to choose."""
        self._pressable = pressable
        self.setText(text)
        self.setAccessibleName(tr("{name}: {value}", name=self._name, value=text) if text else "")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if pressable else Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not pressable)
        self._themed()

    # Qt's names below.

    def sizeHint(self) -> QSize:
        theme = self._hub.theme
        width = theme.metrics("small").horizontalAdvance(self.text()) + 12 + 18
        return QSize(int(width + 0.999), theme.size("chip"))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        over = self._pressable and self.underMouse()
        fill = "bg.pressed" if self.isDown() or over else "bg.chip"
        rounded(painter, QRectF(self.rect()), theme.radius("small"), fill=theme.color(fill))
        draw_icon(painter, theme, self._icon, "text.secondary", 6, (self.height() - 14) // 2, 14)
        box = QRectF(24, 0, self.width() - 24, self.height())
        draw_text(painter, theme, box, self.text(), style="small", token="text.secondary", elide=None)
