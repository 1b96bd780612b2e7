"""The painted parts of the restore preview: head, name of the file, reassurance, grounds.

Text and colour only; no decisions. UI thread only.
"""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import Counts, counts_width, draw_counts, draw_text
from vibekit_desktop.ui.wording import MINUS, fit_path, shown_path


class Ground(QWidget):
    """A part of the card with its colour (empty: the card's own) and hairlines. ``foot`` rounds the lower corners."""

    def __init__(
        self,
        hub: ThemeHub,
        parent: QWidget,
        token: str,
        *,
        top: bool = False,
        right: bool = False,
        bottom: bool = False,
        foot: bool = False,
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._token = token
        self._top = top
        self._right = right
        self._bottom = bottom
        self._foot = foot
        hub.changed.connect(self.update)
        if token and not foot:
            self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # the window behind it need not be painted for it

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        line = theme.color("line.hair")
        if self._foot:
            radius = theme.radius("dialog") - 1
            path = QPainterPath()
            path.addRoundedRect(QRectF(0, -2 * radius, self.width(), self.height() + 2 * radius), radius, radius)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setClipRect(self.rect())
            painter.fillPath(path, theme.color(self._token))
        elif self._token:
            painter.fillRect(self.rect(), theme.color(self._token))
        if self._bottom:
            painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), line)
        if self._top:
            painter.fillRect(QRectF(0, 0, self.width(), 1), line)
        if self._right:
            painter.fillRect(QRectF(self.width() - 1, 0, 1, self.height()), line)


class HeadWords(QWidget):
    """The question and the summary under it, which wraps where it must."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        self._title, self._summary = QLabel(self), QLabel(self)
        for label in (self._title, self._summary):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            layout.addWidget(label)
        hub.changed.connect(self._dress)
        self._dress()

    def set_texts(self, title: str, summary: str) -> None:
        """What is asked, and what would happen."""
        self._title.setText(title)
        self._summary.setText(summary)

    @property
    def texts(self) -> tuple[str, str]:
        """The question and the summary."""
        return self._title.text(), self._summary.text()

    def _dress(self) -> None:
        theme = self._hub.theme
        self._title.setFont(theme.font("title"))
        self._title.setMinimumHeight(theme.line_height("title"))
        self._summary.setFont(theme.font("body"))
        self._summary.setMinimumHeight(theme.line_height("body"))
        ink(self._title, theme, "text.primary")
        ink(self._summary, theme, "text.secondary")


class FileWords(QWidget):
    """The file whose diff is shown, its counts, and what the two signs mean."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._path = ""
        self._counts: Counts = (None, None)
        hub.changed.connect(self.update)

    def set_file(self, path: str, counts: Counts) -> None:
        """Which file, and how many lines restoring adds and removes."""
        self._path = shown_path(path)
        self._counts = counts
        self.setAccessibleName(self._path)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        height = self.height()
        metrics = theme.metrics("small")
        now, after = tr("now"), tr("after restoring")
        sign = theme.metrics("small", weight=600).horizontalAdvance("+")
        legend = 2 * sign + metrics.horizontalAdvance(now) + metrics.horizontalAdvance(after) + 24
        x = self.width() - legend - 8
        right = x - 16
        for text, token, weight, gap in (
            (MINUS, "diff.del-mark", 600, 6),
            (now, "text.secondary", None, 12),
            ("+", "diff.add-mark", 600, 6),
            (after, "text.secondary", None, 0),
        ):
            box = QRectF(x, 0, 200, height)
            x += draw_text(painter, theme, box, text, style="small", weight=weight, token=token, elide=None) + gap
        code = theme.metrics("code", weight=500)
        room = right - counts_width(theme, self._counts) - 8
        shown = fit_path(self._path, room, code.horizontalAdvance)
        used = draw_text(painter, theme, QRectF(0, 0, room + 2, height), shown, style="code", weight=500, elide=None)
        draw_counts(painter, theme, self._counts, QRectF(used + 8, 0, 120, height))


class Line(QWidget):
    """One line of text in a token's colour; ``right`` puts it at the right edge."""

    def __init__(self, hub: ThemeHub, parent: QWidget, text: str, style: str, token: str, *, right: bool = False) -> None:
        super().__init__(parent)
        self._hub = hub
        self._style = style
        self._token = token
        self._right = right
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.set_text(text)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def set_text(self, text: str) -> None:
        """Say something else."""
        self._text = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = self._hub.theme.metrics(self._style).horizontalAdvance(self._text)
        return QSize(round(width + 1.5), self._hub.theme.line_height(self._style))

    def paintEvent(self, event: QPaintEvent) -> None:
        box = QRectF(self.rect())
        draw_text(QPainter(self), self._hub.theme, box, self._text, style=self._style, token=self._token, right=self._right)


class Assurance(QWidget):
    """The shield and what it promises; or, in amber, what changed a moment ago."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text = ""
        self._warns = False
        hub.changed.connect(self.update)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def set_text(self, text: str, *, warns: bool) -> None:
        """The promise, or a warning."""
        self._text = text
        self._warns = warns
        self.setAccessibleName(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        icon, token = ("warning", "warning.text") if self._warns else ("shield", "success.text")
        draw_icon(painter, theme, icon, token, 0, (self.height() - 16) // 2)
        words = "warning.text" if self._warns else "text.secondary"
        draw_text(painter, theme, QRectF(24, 0, self.width() - 24, self.height()), self._text, token=words)
