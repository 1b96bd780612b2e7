"""The strip at the right of a diff: where the changes are, and what is in sight; a click or a drag goes there.

Deletions in its left half, additions in its right. Painted once per layout and kept, so that scrolling costs an outline.
UI thread only.
"""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff import DiffView

_LEAST = 2


class OverviewStrip(QWidget):
    """Shows one `DiffView` and moves it."""

    def __init__(self, hub: ThemeHub, view: DiffView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._view = view
        self._kept: QPixmap | None = None
        self.setFixedWidth(hub.theme.size("overview-strip"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(tr("Overview of the changes"))
        view.moved.connect(self.update)
        view.rebuilt.connect(self._forget)
        hub.changed.connect(self._forget)

    def _forget(self) -> None:
        self._kept = None
        self.update()

    def _scale(self) -> float:
        """Pixels of the strip per pixel of the diff."""
        rows = self._view.rows
        content = max(rows.height if rows is not None else 0, self._view.viewport().height(), 1)
        return self.height() / content

    def viewport_box(self) -> QRectF:
        """The outline of what is in sight."""
        scale = self._scale()
        height = max(12.0, self._view.viewport().height() * scale)
        top = min(self._view.verticalScrollBar().value() * scale, self.height() - height)
        return QRectF(1, max(0.0, top), self.width() - 1, min(float(self.height()), height))

    def _jump(self, point: QPointF) -> None:
        middle = point.y() / self._scale()
        self._view.verticalScrollBar().setValue(round(middle - self._view.viewport().height() / 2))

    def _picture(self) -> QPixmap:
        """Every change, each at least two pixels high; changes on the same pixels are painted once."""
        ratio = self.devicePixelRatioF()
        size = QSize(round(self.width() * ratio), round(self.height() * ratio))
        if self._kept is not None and self._kept.size() == size:
            return self._kept
        theme = self._hub.theme
        picture = QPixmap(size)
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme.color("bg.raised"))
        painter = QPainter(picture)
        painter.fillRect(QRectF(0, 0, 1, self.height()), theme.color("line.hair"))
        half = (self.width() - 5) / 2
        deleted, added = self._spans()
        for left, token, spans in ((2.5, "diff.overview-del", deleted), (2.5 + half, "diff.overview-add", added)):
            for top, bottom in spans:
                painter.fillRect(QRectF(left, top, half, bottom - top), theme.color(token))
        painter.end()
        self._kept = picture
        return picture

    def _spans(self) -> tuple[list[list[float]], list[list[float]]]:
        """From where to where something was deleted, and added; what would touch is one."""
        found: tuple[list[list[float]], list[list[float]]] = ([], [])
        rows = self._view.rows
        if rows is None:
            return found
        scale = self._scale()
        for first, last, deleted, added in rows.marks():
            top = first * scale
            bottom = max(top + _LEAST, last * scale)
            for spans, wanted in zip(found, (deleted, added), strict=True):
                if not wanted:
                    continue
                if spans and top <= spans[-1][1]:
                    spans[-1][1] = bottom
                else:
                    spans.append([top, bottom])
        return found

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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self._view.verticalScrollBar()
        step = {
            Qt.Key.Key_Up: -bar.singleStep(),
            Qt.Key.Key_Down: bar.singleStep(),
            Qt.Key.Key_PageUp: -bar.pageStep(),
            Qt.Key.Key_PageDown: bar.pageStep(),
            Qt.Key.Key_Home: -bar.maximum(),
            Qt.Key.Key_End: bar.maximum(),
        }.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            bar.setValue(bar.value() + step)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture())
        if self._view.rows is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.control"), 1))
        painter.drawRoundedRect(self.viewport_box().adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
