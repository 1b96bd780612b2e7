"""A dialog inside the window: a scrim over everything, one card on it, the focus kept within.

Never a nested event loop: whoever asks awaits the answer. Esc means no. The focus returns to where it was. UI thread only.
"""

import asyncio
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from shiboken6 import isValid

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import draw_shadow, rounded, shadow_reach

T = TypeVar("T")

_MARGIN = 32


class Card(QWidget):
    """The rounded ground of a dialog with its border."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        hub.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        rounded(
            QPainter(self),
            QRectF(self.rect()),
            theme.radius("dialog"),
            fill=theme.color("bg.popup"),
            line=theme.color("line.strong"),
        )


class Overlay(QWidget, Generic[T]):
    """Base of the in-window dialogs. Invariant: at most one question waits for an answer; a destroyed dialog answers no.

    A subclass builds its content in ``card``, sets ``stops`` (the focus order, first the one focused at the start) and calls
    `answer`.
    """

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self.hub = hub
        self._host = parent
        self.stops: list[QWidget] = []
        self.card = Card(hub, self)
        self._bare = False
        self._waiting: asyncio.Future[T | None] | None = None
        self._former: QWidget | None = None
        self.hide()
        parent.installEventFilter(self)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self._themed)
        hub.changed.connect(self._again.start)

    # For subclasses.

    def wanted_size(self, room: QSize) -> QSize:
        """How large the card is in a window that leaves ``room``."""
        return self.card.sizeHint().boundedTo(room)

    def may_close(self) -> bool:
        """Whether Esc works now."""
        return True

    async def wait(self) -> T | None:
        """Show the dialog and wait for an answer; None is no. The dialog stays until `close_now`, except after a no."""
        self._waiting = asyncio.get_running_loop().create_future()
        if self.isHidden():
            self._open()
        try:
            value = await self._waiting
        except asyncio.CancelledError:
            self.close_now()
            raise
        finally:
            self._waiting = None
        if value is None:
            self.close_now()
        return value

    def answer(self, value: T | None) -> None:
        """Give the answer; a second one is ignored."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(value)

    def close_now(self) -> None:
        """Take the dialog away and give the focus back."""
        if not isValid(self) or self.isHidden():  # it may have been destroyed with the window
            return
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        self.hide()
        if self._former is not None:
            self._former.setFocus(Qt.FocusReason.PopupFocusReason)
        self.deleteLater()

    def _open(self) -> None:
        self._former = self.window().focusWidget()
        if self._former is not None:
            self._former.destroyed.connect(self._former_gone)
        app = QApplication.instance()
        if app is not None:
            app.installEventFilter(self)
        self._place()
        # The scrim makes everything under it paint anew; the card waits for the step after, so that neither is long.
        self.card.hide()
        self._bare = True
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def _show_card(self) -> None:
        self.card.show()
        reach = 2 * shadow_reach(self.hub.theme)
        self.update(self.card.geometry().adjusted(-reach, -reach, reach, reach))
        if self.stops:
            self.stops[0].setFocus(Qt.FocusReason.TabFocusReason)

    def _themed(self) -> None:
        """Another theme or size of text, which all parts have by now."""
        if not self.isHidden():
            self._place()

    def _former_gone(self) -> None:
        self._former = None

    def _place(self) -> None:
        area = self._host.rect()
        self.setGeometry(area)
        room = QSize(max(1, area.width() - 2 * _MARGIN), max(1, area.height() - 2 * _MARGIN))
        size = self.wanted_size(room)
        box = QRect((area.width() - size.width()) // 2, (area.height() - size.height()) // 2, size.width(), size.height())
        self.card.setGeometry(box)
        self.update()

    # Qt's names below.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._host and event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        shortcut = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and not self.isHidden()
        if shortcut and isinstance(event, QKeyEvent) and not event.matches(QKeySequence.StandardKey.Quit):
            # The window's shortcuts sleep while the dialog is open; leaving the program does not.
            event.accept()
            return True
        return super().eventFilter(watched, event)

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002
        stops = [stop for stop in self.stops if stop.isVisible() and stop.isEnabled()]
        if not stops:
            return True
        focus = QApplication.focusWidget()
        at = next_stop = 0
        for number, stop in enumerate(stops):
            if focus is not None and (stop is focus or stop.isAncestorOf(focus)):
                at = number
                next_stop = (at + (1 if next else -1)) % len(stops)
                break
        stops[next_stop].setFocus(Qt.FocusReason.TabFocusReason if next else Qt.FocusReason.BacktabFocusReason)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.may_close():
            self.answer(None)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            focus = QApplication.focusWidget()
            if isinstance(focus, QAbstractButton) and self.isAncestorOf(focus):
                focus.click()
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setOpacity(self.hub.theme.opacity("scrim"))
        painter.fillRect(event.rect(), self.hub.theme.color("bg.scrim"))
        painter.setOpacity(1.0)
        if self.card.isVisible():
            draw_shadow(painter, self.hub.theme, QRectF(self.card.geometry()))
        if self._bare:
            self._bare = False
            QTimer.singleShot(0, self, self._show_card)
