"""Esc twice stops what runs: an Esc that nobody else wants arms it, a second one soon after does it. UI thread only."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent

from vibekit_desktop.ui.views.main_window import MainWindow

TWICE_MS = 1500
"""A second Esc within this time stops what runs."""


class EscapeTwice(QObject):
    """Waits for Esc in a window. ``armed(bool)``: whether one more Esc stops what runs; ``pressed()``: it came.

    Invariant: an Esc that closes a drawer, or that a child of the window took, is not counted."""

    armed = Signal(bool)
    pressed = Signal()

    def __init__(self, window: MainWindow, wanted: Callable[[], bool], parent: QObject) -> None:
        """``wanted``: whether there is something to stop now."""
        super().__init__(parent)
        self._window = window
        self._wanted = wanted
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(TWICE_MS)
        self._timer.timeout.connect(lambda: self.armed.emit(False))
        window.installEventFilter(self)

    def forget(self) -> None:
        """Begin anew."""
        self._timer.stop()

    def _escape(self) -> bool:
        """Esc came to the window itself; whether it is used up."""
        if self._window.panes.has_drawer or not self._wanted():
            return False
        if not self._timer.isActive():
            self._timer.start()
            self.armed.emit(True)
            return True
        self._timer.stop()
        self.armed.emit(False)
        self.pressed.emit()
        return True

    # Qt's name below.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            plain = event.key() == Qt.Key.Key_Escape and not event.modifiers() and not event.isAutoRepeat()
            if plain and self._escape():
                event.accept()
                return True
        return super().eventFilter(watched, event)
