"""One fact about the chat, under the header, with at most one button. UI thread only."""

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button, draw_icon

_TONES = {
    "info": ("accent.tint", "accent.text"),
    "warning": ("warning.tint", "warning.text"),
    "error": ("danger.tint", "danger.text"),
}
_BEFORE_TEXT, _BESIDE, _AROUND_BUTTON = 44, 12, 4


class Banner(QWidget):
    """One fact about the chat, under the header, with at most one button; hidden while there is none. ``tone``: ``info``,
    ``warning`` or ``error``. ``acted`` has no argument: the button was pressed."""

    acted = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text, self._tone, self._icon = "", "info", "info"
        self._button = Button(hub, "", parent=self)
        self._button.clicked.connect(self.acted)
        self._button.hide()
        self.hide()
        hub.changed.connect(self._themed)

    def say(self, text: str, tone: str = "info", icon: str = "info", *, action: str = "") -> None:
        """Show a fact; an empty text hides the banner. Without an ``action`` there is no button."""
        self._text, self._tone, self._icon = text, tone, icon
        self.setAccessibleName(text)
        self._button.setText(action)
        self._button.setAccessibleName(action)
        self._button.setVisible(bool(action))
        self.setVisible(bool(text))
        self._fit()
        self.update()

    def _themed(self) -> None:
        self._fit()
        self.update()

    @property
    def _room(self) -> int:
        """How wide the text may be."""
        button = self._button.sizeHint().width() + _BESIDE if self._button.text() else 0
        return max(100, self.width() - _BEFORE_TEXT - _BESIDE - button)

    def _fit(self) -> None:
        flags = int(Qt.TextFlag.TextWordWrap)
        box = self._hub.theme.metrics("body").boundingRect(QRectF(0, 0, self._room, 400), flags, self._text)
        hint = self._button.sizeHint()
        least = hint.height() + 2 * _AROUND_BUTTON if self._button.text() else 0
        self.setFixedHeight(max(36, int(box.height()) + 16, least))
        left, top = self.width() - _BESIDE - hint.width(), (self.height() - hint.height()) // 2
        self._button.setGeometry(left, top, hint.width(), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        ground, ink = _TONES[self._tone]
        painter.fillRect(self.rect(), theme.color(ground))
        draw_icon(painter, theme, self._icon, ink, 20, (self.height() - 16) // 2)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text.primary"))
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap)
        painter.drawText(QRect(_BEFORE_TEXT, 0, self._room, self.height()), flags, self._text)
