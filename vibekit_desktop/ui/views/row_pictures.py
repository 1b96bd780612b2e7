"""Pictures of the rows of a list, kept so that a repaint of the window does not paint every row anew. UI thread only.

A window whose border is dragged, over which a dialog opens or which comes back to the front paints all of itself, while its
rows are what they were. Only a row about which nothing is special is kept: not one under the pointer, in focus, chosen or in
motion.
"""

from collections.abc import Callable, Hashable

from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QPainter, QPixmap

from vibekit_desktop.ui.theme.palette import Theme

_MOST_BYTES = 24_000_000


class RowPictures:
    """``ground``: the token of what the rows stand on. Invariant: all pictures are of one theme."""

    def __init__(self, ground: str) -> None:
        self._ground = ground
        self._theme: Theme | None = None
        self._kept: dict[Hashable, QPixmap] = {}
        self._bytes = 0
        self.made = 0
        """How many pictures were made; tests look at it."""

    def paint(
        self, painter: QPainter, theme: Theme, box: QRect, what: Hashable, draw: Callable[[QPainter, QRectF], None]
    ) -> None:
        """Paint a row into ``box``. ``what``: all that its look follows from beside its size and the theme; ``draw`` paints it,
        and nothing out of the box that it is given."""
        ratio = painter.device().devicePixelRatio()
        if box.isEmpty() or any(round(at * ratio) != at * ratio for at in (box.x(), box.y())):
            draw(painter, QRectF(box))  # between two pixels of the screen a picture would be blurred
            return
        key = (what, box.width(), box.height(), ratio)
        picture = self._kept.get(key) if theme is self._theme else None
        if picture is None:
            picture = self._make(theme, box.size(), ratio, draw)
            self._keep(theme, key, picture)
        painter.drawPixmap(box.topLeft(), picture)

    def _make(self, theme: Theme, size: QSize, ratio: float, draw: Callable[[QPainter, QRectF], None]) -> QPixmap:
        picture = QPixmap(round(size.width() * ratio), round(size.height() * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme.color(self._ground))
        inside = QPainter(picture)
        try:
            draw(inside, QRectF(0, 0, size.width(), size.height()))
        finally:
            inside.end()
        self.made += 1
        return picture

    def _keep(self, theme: Theme, key: Hashable, picture: QPixmap) -> None:
        size = picture.width() * picture.height() * 4
        if theme is not self._theme or self._bytes + size > _MOST_BYTES:
            self._theme, self._bytes = theme, 0
            self._kept.clear()
        self._kept[key] = picture
        self._bytes += size
