"""The line on top of the timeline: why nothing can be undone at the moment, or that lines are being counted. UI thread only."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text

_HEIGHT = 32
_BELOW = 4


class HeldLine(QWidget):
    """A lock and one sentence over a hairline, an arc where something is being done; hidden while there is nothing to say."""

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text, self._icon = "", "lock"
        self.hide()
        hub.changed.connect(self._fit)
        self._fit()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def say(self, why: str, *, counting: bool = False) -> None:
        """Show why nothing can be undone, as a sentence, or if there is nothing that lines are being counted; without both the
        line is hidden."""
        self._icon = "lock" if why else "spinner"
        self._text = why or (tr("Counting lines…") if counting else "")
        self.setAccessibleName(self._text)
        self.setVisible(bool(self._text))
        self.update()

    def _fit(self) -> None:
        self.setFixedHeight(round(_HEIGHT * max(1.0, self._hub.theme.zoom)) + _BELOW)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        height = self.height() - _BELOW
        draw_icon(painter, theme, self._icon, "text.secondary", 16, (height - 14) // 2, 14)
        box = QRectF(38, 0, self.width() - 54, height - 1)
        draw_text(painter, theme, box, self._text, style="small", token="text.secondary")
        painter.fillRect(QRectF(0, height - 1, self.width(), 1), theme.color("line.hair"))
