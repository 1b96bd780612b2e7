"""What moves while something runs: the arc that turns, the caret that blinks, seconds that count.

Whoever paints such a thing says where; that place is painted again at the next beat. What is not on the screen is not
painted, so nothing beats for it, and where nothing runs there is no timer. Under reduced motion only seconds count. UI
thread only.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui import when
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded

_BEAT_MS = 40
_SECOND_MS = 1000
_SWEEP = 270
CARET_WIDTH, CARET_HEIGHT = 8, 16


class Pulse(QObject):
    """The beat of one painted surface. Invariant: its timers run only while something was painted since the last beat. Signal:
    ``second`` without an argument, once a second while something counts."""

    second = Signal()

    def __init__(self, hub: ThemeHub, surface: QWidget, now_ms: Callable[[], int] = when.local_now_ms) -> None:
        super().__init__(surface)
        self._hub = hub
        self._surface = surface
        self.now_ms = now_ms
        self._turning: list[QRect] = []
        self._counting: list[QRect] = []
        self._beats = self._timer(_BEAT_MS, self.beat)
        self._seconds = self._timer(_SECOND_MS, self.tick)

    def _timer(self, interval_ms: int, does: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(interval_ms)
        timer.timeout.connect(does)
        return timer

    @property
    def beats(self) -> bool:
        """Whether a timer runs."""
        return self._beats.isActive() or self._seconds.isActive()

    def _moves(self) -> bool:
        return self._hub.theme.motion("spinner-turn") > 0

    def _repaint(self, places: list[QRect], timer: QTimer) -> None:
        if not places:
            timer.stop()
        for place in places:
            self._surface.update(place)
        places.clear()

    def beat(self) -> None:
        """Paint what turns; what was not painted since the last beat does not turn any more."""
        self._repaint(self._turning, self._beats)

    def tick(self) -> None:
        """A second has passed: paint what counts."""
        self._repaint(self._counting, self._seconds)
        self.second.emit()

    def turns(self, painter: QPainter, box: QRectF) -> None:
        """Something in ``box`` moves: paint it again soon."""
        if self._moves():
            self._turning.append(painter.worldTransform().mapRect(box).toAlignedRect().adjusted(-1, -1, 1, 1))
            if not self._beats.isActive():
                self._beats.start()

    def counts(self, painter: QPainter, box: QRectF) -> None:
        """A time in ``box`` goes on: paint it again in a second."""
        self._counting.append(painter.worldTransform().mapRect(box).toAlignedRect().adjusted(-1, -1, 1, 1))
        if not self._seconds.isActive():
            self._seconds.start()

    def elapsed(self, since_ms: int) -> str:
        """How long ago a moment is, in whole seconds; empty if it is not known."""
        if since_ms <= 0:
            return ""
        return when.duration(max(1000, (self.now_ms() - since_ms) // 1000 * 1000))

    def draw_arc(self, painter: QPainter, box: QRectF, token: str = "accent.text") -> None:
        """An arc that turns once a second."""
        theme = self._hub.theme
        turn_ms = theme.motion("spinner-turn")
        angle = time.monotonic_ns() // 1_000_000 % turn_ms * 360 / turn_ms if turn_ms else 0.0
        width = box.width() / 10
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color(token), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        inset = width / 2 + box.width() * 0.09
        painter.drawArc(box.adjusted(inset, inset, -inset, -inset), round((90 - angle) * 16), -_SWEEP * 16)
        painter.restore()
        self.turns(painter, box)

    def draw_caret(self, painter: QPainter, x: float, middle: float) -> None:
        """The block at the end of a text that grows."""
        theme = self._hub.theme
        box = QRectF(round(x), round(middle - CARET_HEIGHT / 2), CARET_WIDTH, CARET_HEIGHT)
        half_ms = theme.motion("caret-blink")
        if not half_ms or time.monotonic_ns() // 1_000_000 // half_ms % 2 == 0:
            rounded(painter, box, 1, fill=theme.color("accent.text"))
        self.turns(painter, box)
