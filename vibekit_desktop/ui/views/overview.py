"""The strip at the right of a diff: where the changes are, and what is in sight; a click or a drag goes there.

Deletions in its left half, additions in its right. Put together bit by bit once per layout and kept, so that scrolling
costs an outline. UI thread only.
"""

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff import DiffView
from vibekit_desktop.ui.views.diff_steps import Steps

_LEAST = 2
_MARKS = 400


class OverviewStrip(QWidget):
    """Shows one `DiffView` and moves it."""

    def __init__(self, hub: ThemeHub, view: DiffView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._view = view
        self._kept: QPixmap | None = None
        self._stale = True
        self._steps = Steps(self)
        self.setFixedWidth(hub.theme.size("overview-strip"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(tr("Overview of the changes"))
        view.moved.connect(self.update)
        view.rebuilt.connect(self._forget)
        hub.changed.connect(self._forget)

    def _forget(self) -> None:
        self._steps.stop()
        self._stale = True
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

    # The picture.

    def _wanted(self) -> QSize:
        ratio = self.devicePixelRatioF()
        return QSize(round(self.width() * ratio), round(self.height() * ratio))

    def _look(self) -> Iterator[None]:
        """Put the picture together, some changes with every step."""
        rows, scale = self._view.rows, self._scale()
        deleted: list[list[float]] = []
        added: list[list[float]] = []
        for count, mark in enumerate(rows.marks() if rows is not None else (), 1):
            top = mark.top * scale
            bottom = max(top + _LEAST, mark.bottom * scale)
            for spans, wanted in ((deleted, mark.deleted), (added, mark.added)):
                if not wanted:
                    continue
                if spans and top <= spans[-1][1]:
                    spans[-1][1] = bottom
                else:
                    spans.append([top, bottom])
            if not count % _MARKS:
                yield
        self._paint_spans(deleted, added)

    def _paint_spans(self, deleted: list[list[float]], added: list[list[float]]) -> None:
        theme = self._hub.theme
        picture = QPixmap(self._wanted())
        picture.setDevicePixelRatio(self.devicePixelRatioF())
        picture.fill(theme.color("bg.raised"))
        painter = QPainter(picture)
        painter.fillRect(QRectF(0, 0, 1, self.height()), theme.color("line.hair"))
        half = (self.width() - 5) / 2
        for left, token, spans in ((2.5, "diff.overview-del", deleted), (2.5 + half, "diff.overview-add", added)):
            for top, bottom in spans:
                painter.fillRect(QRectF(left, top, half, bottom - top), theme.color(token))
        painter.end()
        self._kept = picture

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
        if self._stale or self._kept is None or self._kept.size() != self._wanted():
            self._stale = False
            self._steps.start(self._look(), self.update)
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.raised"))
        if self._kept is not None:
            painter.drawPixmap(0, 0, self._kept)
        if self._view.rows is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.control"), 1))
        painter.drawRoundedRect(self.viewport_box().adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
