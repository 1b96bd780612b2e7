"""What stands around a diff: one row per fact, and the heads of its two sides. UI thread only."""

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button, draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text


class NoteRow(QWidget):
    """One fact in a row of 28: icon, words in bold, words, perhaps a link. ``acted``: the link was pressed.

    ``tone``: ``accent``, ``danger`` or empty (plain).
    """

    acted = Signal()

    def __init__(
        self,
        hub: ThemeHub,
        icon: str,
        strong: str,
        text: str,
        *,
        tone: str = "",
        action: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._icon = icon
        self._strong = strong
        self._text = text
        self._tone = tone
        self.setAccessibleName(" ".join(part for part in (strong, text) if part))
        self.setToolTip("")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 12, 1)
        layout.addStretch(1)
        if action:
            button = Button(hub, action, kind="link", size="small", parent=self)
            button.clicked.connect(self.acted)
            layout.addWidget(button)
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self.setFixedHeight(self._hub.theme.size("pane-head"))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self._hub.theme.size("pane-head"))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        if self._tone == "accent":
            painter.fillRect(self.rect(), theme.color("accent.tint"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.color("line.hair"))
        token = "danger.text" if self._tone == "danger" else "text.secondary"
        icon = {"accent": "accent.text", "danger": "danger.text"}.get(self._tone, "text.secondary")
        draw_icon(painter, theme, self._icon, icon, 16, (self.height() - 14) // 2, 14)
        box = QRectF(38, 0, self.width() - 140, self.height() - 1)
        x = 38.0
        if self._strong:
            x += draw_text(painter, theme, box, self._strong, style="small", weight=500) + 4
        draw_text(
            painter, theme, QRectF(x, 0, self.width() - x - 120, self.height() - 1), self._text, style="small", token=token
        )


class SideHeads(QWidget):
    """The row above the panes: which side, when, encoding and line ends."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._sides: tuple[tuple[str, str, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self.setFixedHeight(self._hub.theme.size("diff-note"))
        self.update()

    def set_sides(self, sides: tuple[tuple[str, str, str], ...]) -> None:
        """Label, time and format of each side; two of them, or one text across."""
        self._sides = sides
        self.setAccessibleName(", ".join(" ".join(part for part in side if part) for side in sides))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.raised"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.color("line.hair"))
        half = self.width() // 2
        high = self.height() - 1
        places = (QRectF(0, 0, half, high), QRectF(half + 1, 0, self.width() - half - 1, high))
        for number, (label, time, form) in enumerate(self._sides):
            box = places[number].adjusted(12, 0, -12, 0)
            width = draw_text(painter, theme, box, label, style="small", weight=500, token="text.secondary")
            rest = box.adjusted(width + 8, 0, 0, 0)
            used = draw_text(painter, theme, rest, time, style="small", token="text.tertiary")
            draw_text(painter, theme, rest.adjusted(used + 8, 0, 0, 0), form, style="small", token="text.tertiary", right=True)
        if len(self._sides) > 1:
            painter.fillRect(QRectF(half, 0, 1, self.height()), theme.color("line.hair"))
