"""A button that says beside its words how else it can be pressed, or that it has a menu. UI thread only."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent

from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button, draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text, text_width


class HintButton(Button):
    """A button with something small behind its words: the keys that press it, or a chevron that says it has a menu."""

    def __init__(self, hub: ThemeHub, text: str, *, kind: str = "secondary", hint: str = "", menu: bool = False) -> None:
        self._hint = hint
        self._chevron = menu
        super().__init__(hub, text, kind=kind)

    def set_hint(self, hint: str) -> None:
        """Other keys."""
        self._hint = hint
        self.updateGeometry()
        self.update()

    def _hint_width(self) -> float:
        if self._chevron:
            return 6 + 14
        return 6 + text_width(self._hub.theme, "small", self._hint) if self._hint else 0.0

    def _content_width(self) -> float:
        return super()._content_width() + self._hint_width()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._hub.theme
        painter = QPainter(self)
        right = (self.width() + self._content_width()) / 2
        if self._chevron:
            draw_icon(painter, theme, "chevron-down", "text.secondary", round(right - 14), (self.height() - 14) // 2, 14)
        elif self._hint:
            token = "text.on-accent" if self._kind == "primary" else "text.tertiary"
            width = text_width(theme, "small", self._hint)
            box = QRectF(right - width, 0, width + 1, self.height())
            draw_text(painter, theme, box, self._hint, style="small", token=token, elide=None)
