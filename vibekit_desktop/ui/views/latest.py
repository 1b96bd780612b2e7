"""The pill "Latest" at the foot of the transcript: something came below, and this is the way to it. UI thread only."""

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.controls import draw_icon

_RIGHT, _BOTTOM = 20, 14
_PAD, _ICON, _GAP = 10, 14, 6


class LatestPill(QAbstractButton):
    """Stands in the bottom right corner of its parent; hidden at first. Signals are `QAbstractButton`'s, and ``moved_away``
    without an argument: it had the focus and is hidden now."""

    moved_away = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._under = parent
        self.setText(tr("Latest"))
        self.setAccessibleName(tr("Go to the latest"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.hide()
        parent.installEventFilter(self)
        hub.changed.connect(self._place)

    def show_if(self, wanted: bool) -> None:
        """Show or hide it."""
        if wanted == self.isVisibleTo(self._under):
            return
        focused = self.hasFocus()
        self.setVisible(wanted)
        if wanted:
            self._place()
            self.raise_()
        elif focused:
            self.moved_away.emit()

    def _place(self) -> None:
        self.resize(self.sizeHint())
        self.move(self._under.width() - _RIGHT - self.width(), self._under.height() - _BOTTOM - self.height())

    # Qt's names from here on

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QResizeEvent):
            self._place()
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        theme = self._hub.theme
        width = theme.metrics("small", weight=500).horizontalAdvance(self.text()) + 2 * _PAD + _ICON + _GAP
        return QSize(round(width + 0.5), theme.size("control"))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        fill = "bg.pressed" if self.isDown() else "bg.button-hover" if self.underMouse() else "bg.button"
        box = QRectF(self.rect())
        rounded(painter, box, box.height() / 2, fill=theme.color(fill), line=theme.color("line.strong"))
        draw_icon(painter, theme, "arrow-down", "accent.text", _PAD, (self.height() - _ICON) // 2, _ICON)
        painter.setFont(theme.font("small", weight=500))
        painter.setPen(theme.color("text.primary"))
        text = QRectF(_PAD + _ICON + _GAP, 0, self.width(), self.height())
        painter.drawText(text, int(Qt.AlignmentFlag.AlignVCenter), self.text())
