"""The strip at the right of a diff: where the changes are, and what is in sight; a click jumps there.

Deletions in its left half, additions in its right. UI thread only.
"""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff import DiffView


class OverviewStrip(QWidget):
    """Shows one `DiffView` and moves it."""

    def __init__(self, hub: ThemeHub, view: DiffView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._view = view
        self.setFixedWidth(hub.theme.size("overview-strip"))
        self.setAccessibleName(tr("Overview of the changes"))
        view.moved.connect(self.update)
        hub.changed.connect(self.update)

    def _scale(self) -> float:
        """Pixels of the strip per pixel of the diff."""
        rows = self._view.rows
        content = max(rows.height if rows is not None else 0, self._view.viewport().height(), 1)
        return self.height() / content

    def viewport_box(self) -> QRectF:
        """The outline of what is in sight."""
        scale = self._scale()
        top = self._view.verticalScrollBar().value() * scale
        return QRectF(1, top, self.width() - 1, min(self.height() - top, max(12.0, self._view.viewport().height() * scale)))

    def _jump(self, point: QPointF) -> None:
        middle = point.y() / self._scale()
        self._view.verticalScrollBar().setValue(round(middle - self._view.viewport().height() / 2))

    # Qt's names below.

    def sizeHint(self) -> QSize:
        return QSize(self._hub.theme.size("overview-strip"), 100)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._jump(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._jump(event.position())

    def wheelEvent(self, event: QWheelEvent) -> None:
        QApplication.sendEvent(self._view.viewport(), event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.raised"))
        painter.fillRect(QRectF(0, 0, 1, self.height()), theme.color("line.hair"))
        rows = self._view.rows
        if rows is None:
            return
        scale = self._scale()
        half = (self.width() - 5) / 2
        for mark in rows.marks():
            top = mark.top * scale
            height = max(2.0, (mark.bottom - mark.top) * scale)
            if mark.deleted:
                painter.fillRect(QRectF(2.5, top, half, height), theme.color("diff.overview-del"))
            if mark.added:
                painter.fillRect(QRectF(2.5 + half, top, half, height), theme.color("diff.overview-add"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.control"), 1))
        painter.drawRoundedRect(self.viewport_box().adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
