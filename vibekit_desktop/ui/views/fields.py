"""Text fields with an icon, painted from the tokens. UI thread only."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from vibekit_desktop.ui.actions import keys_text
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.controls import IconButton, draw_icon


class SearchField(QLineEdit):
    """A field of 32 px with a magnifier, a hint of its shortcut, and a button to clear it. Signals are `QLineEdit`'s."""

    def __init__(self, hub: ThemeHub, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._hint = ""
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._clear = IconButton(hub, "close", tr("Clear"), parent=self)
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.clicked.connect(self.clear)
        self._clear.hide()
        self.textChanged.connect(self._typed)
        self.setTextMargins(24, 0, 0, 0)
        hub.changed.connect(self.update)

    def set_shortcut(self, keys: QKeySequence) -> None:
        """Show the keys that lead here."""
        self._hint = keys_text(keys)
        self._typed(self.text())

    def sizeHint(self) -> QSize:
        return QSize(160, self._hub.theme.size("control-large"))

    def _typed(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        hint = self._hub.theme.metrics("label").horizontalAdvance(self._hint) + 18 if self._hint else 0
        self.setTextMargins(24, 0, 24 if text else int(hint), 0)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._clear.resize(self._clear.sizeHint())
        self._clear.move(self.width() - 28, (self.height() - self._clear.height()) // 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._hub.theme
        painter = QPainter(self)
        token = "text.primary" if self.text() or self.hasFocus() else "text.secondary"
        draw_icon(painter, theme, "search", token, 9, (self.height() - 16) // 2)
        if not self._hint or self.text():
            return
        font = theme.font("label", weight=400)
        painter.setFont(font)
        width = painter.fontMetrics().horizontalAdvance(self._hint) + 10
        if 32 + self.fontMetrics().horizontalAdvance(self.placeholderText()) + 8 > self.width() - 9 - width:
            return
        height = theme.line_height("label")
        box = QRectF(self.width() - 9 - width, (self.height() - height) / 2, width, height)
        rounded(painter, box, theme.radius("mark"), fill=theme.color("bg.chip"))
        painter.setPen(theme.color("text.tertiary"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._hint)
