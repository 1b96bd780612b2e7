"""The button at the head of the chat list that says whose chats are shown. UI thread only."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.controls import draw_icon, pressed_by


class WorkspaceButton(QAbstractButton):
    """Which workspace's chats are shown; a click opens the menu."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        hub.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(80, round(36 * max(1.0, self._hub.theme.zoom)))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not pressed_by(self, event):
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        metrics = theme.metrics("heading")
        text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width() - 4 - 24 - 24 - 6)
        width = metrics.horizontalAdvance(text)
        if self.underMouse() or self.isDown():
            token = "bg.pressed" if self.isDown() else "bg.hover-sidebar"
            box = QRectF(0, 0, min(self.width(), 4 + 24 + width + 8 + 16 + 6), self.height())
            rounded(painter, box, theme.radius("control"), fill=theme.color(token))
        middle = (self.height() - 16) // 2
        draw_icon(painter, theme, "folder", "text.primary", 4, middle)
        painter.setFont(theme.font("heading"))
        painter.setPen(theme.color("text.primary"))
        painter.drawText(QRectF(28, 0, width + 2, self.height()), int(Qt.AlignmentFlag.AlignVCenter), text)
        draw_icon(painter, theme, "chevrons-up-down", "text.secondary", round(28 + width + 8), middle)
