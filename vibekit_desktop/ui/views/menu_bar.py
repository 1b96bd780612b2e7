"""The menu bar, made from the table of actions: native on macOS; elsewhere hidden, and over the window while Alt is held.

It lies over the panes instead of above them, so that nothing moves under the pointer when Alt is pressed. It covers their heads
as a whole. UI thread only.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QMenu, QMenuBar, QWidget

from vibekit_desktop.ui.actions import Actions, menus, on_mac
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.key_menu import KeyMenu

_EXCLUSIVE = ("theme-system", "theme-light", "theme-dark")


class _Cover(QWidget):
    """What the bar stands on while it lies over the heads of the panes: as high as they are."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.surface"))
        painter.fillRect(QRect(0, self.height() - 1, self.width(), 1), theme.color("line.hair"))


class WindowMenu(QObject):
    """The menu bar of one window and when it is seen. ``always_changed``: whether it is always shown is decided anew.

    Invariant: a menu without an action that can be seen is not there.
    """

    always_changed = Signal()

    def __init__(self, window: QWidget, hub: ThemeHub, *, native: bool | None = None) -> None:
        super().__init__(window)
        self._window = window
        self._native = on_mac() if native is None else native
        self._hub = hub
        self.always = False
        self.cover = _Cover(hub, window)
        """Under the bar while Alt is held."""
        self.bar = QMenuBar(window)
        self.bar.setNativeMenuBar(self._native)
        self.bar.setAccessibleName(tr("Menu bar"))
        self._menus: list[QMenu] = []
        self._review: QMenu | None = None
        if not self._native:
            self.bar.hide()
            window.installEventFilter(self)

    def fill(self, actions: Actions, review: Sequence[QAction] = ()) -> None:
        """Make the menus anew. ``review``: what can be done while changes are reviewed."""
        self.bar.clear()
        self._menus.clear()
        for spec in menus():
            menu = self._add(spec.title)
            for group in spec.groups:
                if menu.actions():
                    menu.addSeparator()
                for name in group:
                    menu.addAction(actions[name])
            if spec.title == tr("&Go"):
                self._review = self._add(tr("&Review"))
                for action in review:
                    self._review.addAction(action)
                self._review.menuAction().setVisible(False)
        looks = QActionGroup(self)
        for name in _EXCLUSIVE:
            actions[name].setCheckable(True)
            looks.addAction(actions[name])
        self._refresh()

    def _add(self, title: str) -> QMenu:
        menu = KeyMenu(title, self.bar)  # the titles are ours; what is in them too
        menu.aboutToHide.connect(lambda: QTimer.singleShot(0, self, self._settle))
        self.bar.addMenu(menu)
        self._menus.append(menu)
        return menu

    def show_review(self, shown: bool) -> None:
        """Whether changes are being reviewed: then the keys of that page are in a menu of their own."""
        if self._review is not None:
            self._review.menuAction().setVisible(shown)
            self.place()

    def _refresh(self) -> None:
        for menu in self._menus:
            if menu is not self._review:
                menu.menuAction().setVisible(any(one.isVisible() and not one.isSeparator() for one in menu.actions()))

    # When it is seen.

    def set_always(self, always: bool) -> None:
        """Whether it stands above the panes all the time."""
        if always == self.always or self._native:
            return
        self.always = always
        self.bar.setVisible(always)
        self.cover.hide()
        self.place()
        self.always_changed.emit()

    @property
    def height(self) -> int:
        """How much room it takes from the panes."""
        return self.bar.sizeHint().height() if self.always and not self._native else 0

    def place(self) -> None:
        """Stand where it belongs: at the top, as wide as the window."""
        if self._native:
            return
        self._window.setContentsMargins(0, self.height, 0, 0)
        width, height, head = self._window.width(), self.bar.sizeHint().height(), self._hub.theme.size("header")
        self.cover.setGeometry(0, 0, width, max(head, height + 1))
        self.cover.raise_()
        self.bar.setGeometry(0, 0 if self.always else (self.cover.height() - height) // 2, width, height)
        self.bar.raise_()

    def alt(self, event: QKeyEvent, *, pressed: bool) -> bool:
        """A key that nobody else wanted; whether it was Alt alone."""
        if self._native or event.key() != Qt.Key.Key_Alt or event.isAutoRepeat():
            return False
        if pressed:
            self._show()
        else:
            self._settle()
        return True

    def _show(self) -> None:
        if not self.always:
            self._refresh()
            self.place()
            self.cover.show()
            self.bar.show()

    def _settle(self) -> None:
        """It goes when Alt is not held any more and no menu of it is open."""
        open_menu = QApplication.activePopupWidget()
        if not self.always and open_menu not in self._menus:
            self.bar.hide()
            self.cover.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.Resize:
            self.place()
        elif kind == QEvent.Type.WindowDeactivate:
            self._settle()
        return super().eventFilter(watched, event)
