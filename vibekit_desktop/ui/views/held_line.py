"""The line on top of the timeline that says why nothing can be undone at the moment. UI thread only."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text

_HEIGHT = 32
_BELOW = 4


class HeldLine(QWidget):
    """A lock and one sentence over a hairline; hidden while there is nothing to say."""

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text = ""
        self.hide()
        hub.changed.connect(self._fit)
        self._fit()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def say(self, text: str) -> None:
        """Show a sentence; empty hides the line."""
        self._text = text
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self.update()

    def _fit(self) -> None:
        self.setFixedHeight(round(_HEIGHT * max(1.0, self._hub.theme.zoom)) + _BELOW)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        height = self.height() - _BELOW
        draw_icon(painter, theme, "lock", "text.secondary", 16, (height - 14) // 2, 14)
        box = QRectF(38, 0, self.width() - 54, height - 1)
        draw_text(painter, theme, box, self._text, style="small", token="text.secondary")
        painter.fillRect(QRectF(0, height - 1, self.width(), 1), theme.color("line.hair"))
