"""Small facts in grey boxes inside a painted block: what went with a prompt. UI thread only."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.block_view import LEFT
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import text_width

_GAP = 6
_WIDEST = 240
_MOST = 40


class Chips:
    """Names in rows at one width; ``height`` is 0 if there are none."""

    def __init__(self, theme: Theme, names: Sequence[tuple[str, bool]], width: int) -> None:
        self._theme = theme
        self._boxes: list[tuple[QRectF, str, str]] = []
        chip = theme.size("chip")
        x = y = 0.0
        shown = [(name, "image" if picture else "file") for name, picture in names[:_MOST]]
        if len(names) > _MOST:
            shown.append((f"+{len(names) - _MOST}", "attach"))
        for name, icon in shown:
            room = min(_WIDEST, width) - 30
            text = theme.metrics("small").elidedText(name, Qt.TextElideMode.ElideMiddle, room)
            wide = text_width(theme, "small", text) + 30
            if x and x + wide > width:
                x, y = 0.0, y + chip + _GAP
            self._boxes.append((QRectF(x, y, wide, chip), text, icon))
            x += wide + _GAP
        self.height = round(y + chip) if self._boxes else 0

    def paint(self, painter: QPainter, origin: QPointF) -> None:
        """Paint them with their top left corner at ``origin``."""
        theme = self._theme
        for place, text, icon in self._boxes:
            box = place.translated(origin)
            rounded(painter, box, theme.radius("small"), fill=theme.color("bg.chip"))
            draw_icon(painter, theme, icon, "text.secondary", box.x() + 6, round(box.center().y() - 7), 14)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text.secondary"))
            painter.drawText(box.adjusted(24, 0, 0, 0), LEFT, text)
