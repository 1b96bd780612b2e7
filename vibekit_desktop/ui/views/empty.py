"""What stands where nothing is yet: an icon, a title, a sentence. UI thread only."""

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.views.controls import draw_icon


def draw_empty(painter: QPainter, theme: Theme, box: QRect, icon: str, title: str, text: str, *, strong: bool = True) -> None:
    """Centre the three in ``box``. ``strong`` makes the title 600 instead of 500."""
    width = min(box.width() - 64, 320)
    style = "body-strong"
    font = theme.font(style, weight=600) if strong else theme.font(style)
    flags = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)
    painter.setFont(theme.font("small"))
    small = painter.boundingRect(QRectF(0, 0, width, 400), flags, text)
    painter.setFont(font)
    head = painter.boundingRect(QRectF(0, 0, width, 200), flags, title)
    size = theme.size("icon-large")
    height = size + 8 + head.height() + 6 + small.height()
    x = box.x() + (box.width() - width) / 2
    y = box.y() + max(0.0, (box.height() - height) / 2)
    draw_icon(painter, theme, icon, "text.tertiary", round(box.x() + (box.width() - size) / 2), round(y), size)
    y += size + 8
    painter.setPen(theme.color("text.primary"))
    painter.drawText(QRectF(x, y, width, head.height()), flags, title)
    y += head.height() + 6
    painter.setFont(theme.font("small"))
    painter.setPen(theme.color("text.tertiary"))
    painter.drawText(QRectF(x, y, width, small.height()), flags, text)


class EmptyState(QWidget):
    """A pane that has nothing to show, and says so."""

    def __init__(
        self, hub: ThemeHub, icon: str, title: str, text: str, *, ground: str = "bg.surface", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._icon = icon
        self._title = title
        self._text = text
        self._ground = ground
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        hub.changed.connect(self.update)

    def say(self, icon: str, title: str, text: str) -> None:
        """Say something else from now on."""
        self._icon, self._title, self._text = icon, title, text
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._hub.theme.color(self._ground))
        draw_empty(painter, self._hub.theme, self.rect(), self._icon, self._title, self._text)
